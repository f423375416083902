/* SPDX-License-Identifier: Apache-2.0 */
/* vllm-ascend's own file of an expert map. */
#include "exchange.h"

#include "data.h"

static void test_ascend(void) {
    if (!data_folder()) {
        g_test_skip("no data");
        return;
    }
    static const int32_t right[] = {7, 2, 0, 3, 5, 6, 1, 4, 7, 2};
    g_autofree char *path =
        g_build_filename(data_folder(), "loads", "vllm-ascend-expert_map.json", NULL);
    mill_status status;
    bench *b = exchange_read(path, SETTINGS("format=vllm-ascend", "experts=8"), &status);
    const mill_expert_plan *p = exchange_plan(b);
    g_assert_cmpuint(p->layers, ==, 1);
    g_assert_cmpuint(p->gpus, ==, 2);
    g_assert_cmpuint(p->first[1], ==, 5);
    g_assert_cmpmem(p->expert, p->slots * sizeof *p->expert, right, sizeof right);
    g_assert_cmpuint(p->replicas[7], ==, 2);
    g_assert_cmpstr(bench_log(b), ==, "");
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plans/vllm-ascend", test_ascend);
    return g_test_run();
}
