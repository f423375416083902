/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class balancedness.read, on lines as vLLM and SGLang print them. */
#include "files.h"

#include <string.h>

static bench *read_log(const char *text, const char *setting, mill_status right) {
    g_autofree char *path = files_put_text("serve.log", text);
    g_autofree char *file = g_strdup_printf("path=%s", path);
    bench *b = bench_create(loads_module, "balancedness.read");
    bench_option(b, file);
    if (setting)
        bench_option(b, setting);
    g_assert_cmpint(bench_run(b), ==, right);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return b;
}

#define VLLM "(EngineCore_DP0 pid=948) INFO 09-17 17:43:06 [distributed/eplb/eplb_state.py:390] "

static void test_vllm(void) {
    bench *b = read_log("starting\n" VLLM "EPLB step: avg_tokens=10.00, max_tokens=20, "
                        "balancedness=0.5000\n" VLLM
                        "EPLB step: avg_tokens=0.00, max_tokens=0, balancedness=0.0000\n" VLLM
                        "EPLB step: avg_tokens=30.00, max_tokens=40, balancedness=0.7500, "
                        "imbalanceness=0.3\n" VLLM "EPLB step: avg_tok",
                        NULL, MILL_OK);
    const mill_report *r = files_report(b);
    g_assert_cmpint(look_int(r, "steps", "vLLM"), ==, 2);
    g_assert_cmpfloat(look_ratio(r, "mean", "vLLM"), ==, 0.625);
    g_assert_cmpfloat(look_ratio(r, "min", "vLLM"), ==, 0.5);
    g_assert_cmpfloat(look_ratio(r, "p50", "vLLM"), ==, 0.5);
    g_assert_cmpfloat(look_ratio(r, "p90", "vLLM"), ==, 0.75);
    g_assert_cmpfloat(look_ratio(r, "weighted", "vLLM"), ==, 40 / 60.0);
    g_assert_nonnull(strstr(look_note(r, "idle_steps")->text, ": 1."));
    g_assert_nonnull(strstr(look_note(r, "broken_lines")->text, "1 of 4, the first is line 5"));
    g_assert_cmpuint(r->n_series, ==, 1);
    g_assert_cmpuint(r->series[0]->n, ==, 2);
    g_assert_cmpfloat(r->series[0]->x[1], ==, 2); /* the third line of its kind */
    bench_destroy(b);
}

/* Bytes of 0 before a line, and an average above the largest. */
static void test_odd_lines(void) {
    static const char log[] = "\0\0\0" VLLM "EPLB step: avg_tokens=10.00, max_tokens=20, "
                              "balancedness=0.5000\n" VLLM
                              "EPLB step: avg_tokens=30.00, max_tokens=20, balancedness=0.5000\n";
    g_autofree char *path = files_put("odd.log", log, sizeof log - 1);
    g_autofree char *file = g_strdup_printf("path=%s", path);
    bench *b = bench_create(loads_module, "balancedness.read");
    bench_option(b, file);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *r = files_report(b);
    g_assert_cmpint(look_int(r, "steps", "vLLM"), ==, 1);
    g_assert_cmpfloat(look_ratio(r, "weighted", "vLLM"), ==, 0.5);
    g_assert_nonnull(strstr(look_note(r, "broken_lines")->text, "1 of 2, the first is line 2"));
    bench_destroy(b);
}

static char *sglang_line(int pass, double balancedness) {
    char value[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(value, sizeof value, "%.3f", balancedness);
    return g_strdup_printf("[2025-06-01 00:00:00 DP0 TP0 EP0] [Expert Balancedness] "
                           "forward_pass_id=%d current_pass_balancedness=%s "
                           "last_10_average_balancedness=0.111 last_100_average_balancedness=0.222 "
                           "gpu_physical_count_sum=4096\n",
                           pass, value);
}

static void test_sglang(void) {
    GString *log = g_string_new(NULL);
    for (int i = 0; i < 8; i++) {
        g_autofree char *line = sglang_line(100 + i, i < 4 ? 0.5 : 0.75);
        g_string_append(log, line);
    }
    bench *b = read_log(log->str, NULL, MILL_OK);
    const mill_report *r = files_report(b);
    g_assert_cmpint(look_int(r, "steps", "SGLang"), ==, 8);
    g_assert_cmpfloat(look_ratio(r, "mean", "SGLang"), ==, 0.625);
    g_assert_cmpfloat(look_ratio(r, "trend", "SGLang"), ==, 0.25);
    g_assert_cmpfloat(r->series[0]->x[0], ==, 100);
    g_assert_null(look_note(r, "passes_mixed"));
    bench_destroy(b);
    b = read_log(log->str, "warm-up=6", MILL_OK);
    g_assert_cmpint(look_int(files_report(b), "steps", "SGLang"), ==, 2);
    g_assert_nonnull(strstr(look_note(files_report(b), "warm_up")->text, ": 6."));
    bench_destroy(b);
    g_autofree char *again = sglang_line(100, 1);
    g_string_append(log, again);
    b = read_log(log->str, NULL, MILL_OK);
    g_assert_nonnull(look_note(files_report(b), "passes_mixed"));
    bench_destroy(b);
    g_string_free(log, TRUE);
}

static void test_nothing(void) {
    bench *b = read_log("all is well\n", NULL, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "no balancedness in 1 lines"));
    bench_destroy(b);
    b = bench_create(loads_module, "balancedness.read");
    bench_option(b, "path=/nonexistent/file");
    g_assert_cmpint(bench_run(b), ==, MILL_E_NOINPUT);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/balancedness/vllm", test_vllm);
    g_test_add_func("/balancedness/odd-lines", test_odd_lines);
    g_test_add_func("/balancedness/sglang", test_sglang);
    g_test_add_func("/balancedness/nothing", test_nothing);
    int result = g_test_run();
    files_finish();
    return result;
}
