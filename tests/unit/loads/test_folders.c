/* SPDX-License-Identifier: Apache-2.0 */
/* loads.read on the folder of statistics that TensorRT-LLM writes: a file a rank. */
#include "files.h"

#include <glib/gstdio.h>
#include <string.h>

#define COUNT(name, from, to)                                                                      \
    "\"" name "\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[" #from "," #to "]}"

static char *put_meta(const char *folder, int experts) {
    g_autofree char *name = g_build_filename(folder, "meta_info.json", NULL);
    g_autofree char *text =
        g_strdup_printf("{\"num_experts\": %d, \"num_experts_per_token\": 8}", experts);
    return files_put_text(name, text);
}

static void put_rank(const char *folder, const char *file, const char *header,
                     const int64_t *numbers, size_t n) {
    g_autofree char *name = g_build_filename(folder, file, NULL);
    g_free(files_put_safetensors(name, header, numbers, n * sizeof *numbers));
}

/* Two iterations of layers 3 and 4, two experts, by two ranks. */
static void put_two_ranks(const char *folder) {
    static const int64_t first[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t second[] = {10, 20, 30, 40, 50, 60, 70, 80};
    static const char header[] = "{" COUNT("50_3", 0, 16) "," COUNT("50_4", 16, 32) "," COUNT(
        "51_3", 32, 48) "," COUNT("51_4", 48, 64) "}";
    put_rank(folder, "rank0.safetensors", header, first, 8);
    put_rank(folder, "rank1.safetensors", header, second, 8);
}

static void test_sum(void) {
    put_two_ranks("sum");
    put_rank("sum", "rank0_raw.safetensors", "{}", NULL, 0);
    put_rank("sum", "notes.safetensors", "{}", NULL, 0);
    g_autofree char *meta = put_meta("sum", 2);
    bench *b = files_good(meta, NULL);
    static const double right[] = {11, 22, 33, 44, 55, 66, 77, 88};
    const mill_expert_load *loads = files_loads(b);
    files_same(loads, 2, 2, 2, right);
    g_assert_cmpint(loads->step[0], ==, 50);
    g_assert_cmpint(loads->layer[0], ==, 3);
    g_assert_cmpuint(loads->ranks, ==, 2);
    g_assert_nonnull(strstr(look_note(files_report(b), "raw_files")->text, ": 1."));
    g_assert_null(look_note(files_report(b), "rank_gaps"));
    bench_destroy(b);
}

/* A file alone is a rank. */
static void test_one_file(void) {
    put_two_ranks("one");
    g_autofree char *meta = put_meta("one", 2);
    g_autofree char *folder = g_path_get_dirname(meta);
    g_autofree char *path = g_build_filename(folder, "rank1.safetensors", NULL);
    bench *b = files_good(path, NULL);
    static const double right[] = {10, 20, 30, 40, 50, 60, 70, 80};
    files_same(files_loads(b), 2, 2, 2, right);
    bench_destroy(b);
}

/* Rank 1 is missing, and rank 2 lacks iteration 51. */
static void test_gaps(void) {
    static const int64_t numbers[] = {1, 2, 3, 4};
    put_two_ranks("gaps");
    put_rank("gaps", "rank2.safetensors", "{" COUNT("50_3", 0, 16) "," COUNT("50_4", 16, 32) "}",
             numbers, 4);
    g_autofree char *meta = put_meta("gaps", 2);
    g_autofree char *folder = g_path_get_dirname(meta);
    g_autofree char *gone = g_build_filename(folder, "rank1.safetensors", NULL);
    g_assert_cmpint(g_remove(gone), ==, 0);
    bench *b = files_good(meta, NULL);
    static const double right[] = {2, 4, 6, 8};
    files_same(files_loads(b), 1, 2, 2, right);
    g_assert_nonnull(look_note(files_report(b), "rank_gaps"));
    g_assert_nonnull(look_note(files_report(b), "incomplete_steps"));
    bench_destroy(b);
}

/* The ranks of two pipeline stages have different layers. */
static void test_stages(void) {
    static const int64_t numbers[] = {1, 2};
    put_rank("stages", "rank0.safetensors", "{" COUNT("7_3", 0, 16) "}", numbers, 2);
    put_rank("stages", "rank1.safetensors", "{" COUNT("7_4", 0, 16) "}", numbers, 2);
    g_autofree char *meta = put_meta("stages", 2);
    bench *b = files_good(meta, NULL);
    static const double right[] = {1, 2, 1, 2};
    files_same(files_loads(b), 1, 2, 2, right);
    g_assert_nonnull(look_note(files_report(b), "partial_layers"));
    bench_destroy(b);
}

static void test_bad(void) {
    put_two_ranks("bad");
    mill_status status;
    g_autofree char *meta = put_meta("bad", 4);
    bench *b = files_read(meta, NULL, &status);
    g_assert_cmpint(status, ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "has 2 experts, meta_info.json says 4"));
    bench_destroy(b);
    g_autofree char *lonely = put_meta("lonely", 4);
    b = files_read(lonely, NULL, &status);
    g_assert_cmpint(status, ==, MILL_E_NOINPUT);
    g_assert_nonnull(strstr(bench_causes(b), "no rank<k>.safetensors stands beside it"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/loads/folder/sum", test_sum);
    g_test_add_func("/loads/folder/one-file", test_one_file);
    g_test_add_func("/loads/folder/gaps", test_gaps);
    g_test_add_func("/loads/folder/stages", test_stages);
    g_test_add_func("/loads/folder/bad", test_bad);
    int result = g_test_run();
    files_finish();
    return result;
}
