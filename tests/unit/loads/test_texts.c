/* SPDX-License-Identifier: Apache-2.0 */
/* loads.read on text: CSV of every form, JSON, and what is neither. */
#include "files.h"

#include <string.h>

static const double one_to_six[] = {1, 2, 3, 4, 5, 6};

static bench *read_text(const char *text, const char *const *settings) {
    g_autofree char *path = files_put_text("a.txt", text);
    return files_good(path, settings);
}

static bool has_note(const bench *b, const char *id) {
    return look_note(files_report(b), id) != NULL;
}

/* ---------------------------------------------------------------- CSV */

/* The same loads, [2, 3], however they are written. */
static void test_matrices(void) {
    static const char *const texts[] = {
        "1,2,3\n4,5,6\n",
        "1, 2 ,3\r\n4,5,6",
        "1.0000e+00 2 3\n4   5\t6 \n",
        "1\t2\t3\n4\t5\t6\n",
        "# of 2026\n1;2;3\n\n4;5;6\n",
        "\xef\xbb\xbfx,b,c\n1,2,3\n4,5,6\n",
        "a,b,c\n1,2,3\n4,5,6\n",
        ",0,1,2\n0,1,2,3\n1,4,5,6\n",
        "\"layer\",\"e0\",\"e1\",\"e2\"\n1,4,5,6\n0,1,2,3\n",
        "layer,expert,load\n0,0,1\n0,1,2\n0,2,3\n1,0,4\n1,1,5\n1,2,6\n",
        "# layer expert count\n1 2 6\n1 1 5\n1 0 4\n0 2 3\n0 0 1\n0 1 2\n",
        "Expert;Tokens;Layer\n2;6.0;1\n1;5e0;1\n0;4;1\n2;3;0\n0;1;0\n1;2;0\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        bench *b = read_text(texts[i], NULL);
        files_same(files_loads(b), 1, 2, 3, one_to_six);
        g_assert_null(files_loads(b)->layer);
        g_assert_null(files_loads(b)->step);
        g_assert_cmpuint(files_loads(b)->integral, ==, 1);
        bench_destroy(b);
    }
}

static void test_labels(void) {
    bench *b = read_text("step,layer,expert,load\n7,3,0,1\n7,3,1,2\n7,5,0,3\n7,5,1,4\n"
                         "9,3,0,5\n9,3,1,6\n9,5,0,7\n9,5,1,8\n",
                         NULL);
    static const double right[] = {1, 2, 3, 4, 5, 6, 7, 8};
    files_same(files_loads(b), 2, 2, 2, right);
    g_assert_cmpint(files_loads(b)->step[0], ==, 7);
    g_assert_cmpint(files_loads(b)->step[1], ==, 9);
    g_assert_cmpint(files_loads(b)->layer[0], ==, 3);
    g_assert_cmpint(files_loads(b)->layer[1], ==, 5);
    g_assert_true(has_note(b, "step_gaps"));
    g_assert_true(has_note(b, "layer_gaps"));
    bench_destroy(b);
    b = read_text("1,2\n3,4\n", (const char *[]){"first-layer=3", NULL});
    g_assert_cmpint(files_loads(b)->layer[1], ==, 4);
    g_assert_false(has_note(b, "layer_gaps"));
    bench_destroy(b);
}

/* What a list does not give is 0; a step that lacks a layer is left out. */
static void test_absent(void) {
    bench *b = read_text("layer,expert,load\n0,3,5\n1,0,2\n", NULL);
    static const double right[] = {0, 0, 0, 5, 2, 0, 0, 0};
    files_same(files_loads(b), 1, 2, 4, right);
    g_assert_nonnull(strstr(look_note(files_report(b), "absent_loads")->text, "6 of 8"));
    bench_destroy(b);
    b = read_text("step,layer,expert,load\n0,0,0,1\n0,1,0,2\n1,0,0,3\n2,0,0,4\n2,1,0,5\n", NULL);
    static const double whole[] = {1, 2, 4, 5};
    files_same(files_loads(b), 2, 2, 1, whole);
    g_assert_cmpint(files_loads(b)->step[1], ==, 2);
    g_assert_nonnull(strstr(look_note(files_report(b), "incomplete_steps")->text,
                            "1 of 3, the first is step 1"));
    bench_destroy(b);
    files_bad(files_put_text("a.txt", "step,layer,expert,load\n0,0,0,1\n1,1,0,2\n"), NULL,
              "no step has all 2 layers");
}

static void test_ranks(void) {
    bench *b = read_text("layer,expert,load,rank\n0,0,1,0\n0,1,2,0\n0,0,10,4\n0,1,20,4\n", NULL);
    static const double right[] = {11, 22};
    files_same(files_loads(b), 1, 1, 2, right);
    g_assert_cmpuint(files_loads(b)->ranks, ==, 2);
    bench_destroy(b);
    files_bad(files_put_text("a.txt", "layer,expert,load\n0,0,1\n0,0,1\n"), NULL,
              ":3: step 0, layer 0, expert 0 comes twice");
}

static void test_assignment_columns(void) {
    static const char text[] =
        "token_pos,token_value,layer_3,layer_4\n0,99,1,0\n1,98,1,2\n2,97,-1,2\n";
    static const double right[] = {0, 2, 0, 1, 0, 2};
    bench *b = read_text(text, NULL);
    files_same(files_loads(b), 1, 2, 3, right);
    g_assert_cmpint(files_loads(b)->layer[0], ==, 3);
    g_assert_true(has_note(b, "unassigned"));
    g_assert_cmpstr(files_report(b)->title, ==, "Expert loads");
    bench_destroy(b);
    static const double steps[] = {0, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1};
    b = read_text(text, (const char *[]){"tokens-per-step=2", NULL});
    files_same(files_loads(b), 2, 2, 3, steps);
    bench_destroy(b);
    b = read_text("1 0\n1 2\n-1 2\n", (const char *[]){"content=assignments", NULL});
    files_same(files_loads(b), 1, 2, 3, right);
    bench_destroy(b);
}

static void test_bad_csv(void) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"1,2\n3\n", ":2: 1 columns; the first line has 2"},
        {"1,2\n3,x\n", ":2: column 2 is \"x\""},
        {"1,2\n3,\n", ":2: column 2 is \"\""},
        {"1,2\n3,0x10\n", ":2: column 2 is \"0x10\""},
        {"1;2\n1,5;2\n", ":2: column 1 is \"1,5\""},
        {"layer,expert,load\n0,1.5,2\n", ":2: column 2 is \"1.5\""},
        {"layer,expert,load\n0,-1,2\n", "expert -1 of layer 0"},
        {"layer,expert,load\n0,65536,2\n", "expert 65536 of layer 0"},
        {"layer,expert,load\n0,0,1\n-1,0,2\n", ":3: layer -1; layers are numbered from 0"},
        {"layer,expert,layer_id,load\n0,0,1,2\n",
         ":1: columns 1 and 3, \"layer_id\", say the same: leave one out"},
        {"layer,expert,tokens,load\n0,0,1,2\n", ":1: columns 3 and 4"},
        {"expert,load\n0,1\n", "expected columns layer, expert, load"},
        {"layer,expert,load\n", "no load in it"},
        {"token_pos,layer_0\n0,1\n1,x\n", ":3: column 2 is \"x\""},
        {"# nothing\n\n", "no load in it"},
        {"", "is empty"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        files_bad(files_put_text("a.txt", cases[i].text), NULL, cases[i].words);
}

/* An index without a name stands for layers only where no column does. */
static void test_index(void) {
    static const double right[] = {1, 2};
    bench *b = read_text(",layer,expert,load\n0,0,0,1\n1,0,1,2\n", NULL);
    files_same(files_loads(b), 1, 1, 2, right);
    bench_destroy(b);
}

/* Few loads must not take memory for many. */
static void test_sparse(void) {
    GString *text = g_string_new("step,layer,expert,load\n");
    for (int i = 0; i < 3000; i++)
        g_string_append_printf(text, "%d,%d,0,1\n", i, i);
    files_bad(files_put_text("a.txt", text->str), NULL, "most steps lack most layers");
    g_string_assign(text, "step,layer,expert,load\n");
    for (int i = 0; i < 100; i++)
        g_string_append_printf(text, "%d,0,65000,1\n", i);
    files_bad(files_put_text("a.txt", text->str), NULL, "few experts below it have a load");
    g_string_free(text, TRUE);
}

static void test_list_without_names(void) {
    bench *b = read_text("0,0,5\n0,1,7\n", NULL);
    g_assert_true(has_note(b, "maybe_list"));
    bench_destroy(b);
    b = read_text("a,b,c\n0,0,5\n0,1,7\n", NULL);
    g_assert_false(has_note(b, "maybe_list"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- values */

static void test_invalid(void) {
    static const char *const texts[] = {"layer,expert,load\n3,0,1\n3,1,nan\n3,2,-4\n",
                                        "layer,expert,load\n3,0,1\n3,1,-inf\n3,2,inf\n",
                                        "layer,expert,load\n3,0,1\n3,1,-0.5\n3,2,1e999\n"};
    static const double right[] = {1, 0, 0};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        files_bad(files_put_text("a.txt", texts[i]), NULL,
                  "step 0, layer 3, expert 1: the load is ");
        bench *b = read_text(texts[i], (const char *[]){"invalid=zero", NULL});
        files_same(files_loads(b), 1, 1, 3, right);
        g_assert_nonnull(strstr(look_note(files_report(b), "invalid_loads")->text, ": 2,"));
        bench_destroy(b);
    }
}

static void test_odd(void) {
    bench *b = read_text("1,2\n0,0\n3,4\n", NULL);
    g_assert_nonnull(
        strstr(look_note(files_report(b), "empty_layers")->text, "1 of 3, the first is layer 1"));
    g_assert_false(has_note(b, "one_rank"));
    bench_destroy(b);
    b = read_text("0,0,0,0,1,2,0,0\n0,0,0,0,3,4,0,0\n", NULL);
    g_assert_nonnull(
        strstr(look_note(files_report(b), "one_rank")->text, "Only experts 4 to 5 of 8"));
    bench_destroy(b);
    b = read_text("0,0,0,9,1,2,0,0\n0,0,0,0,3,4,0,0\n", NULL); /* 3 to 5 are no block */
    g_assert_false(has_note(b, "one_rank"));
    bench_destroy(b);
    b = read_text("0,0\n0,0\n", NULL);
    g_assert_cmpstr(files_report(b)->summary, ==, "No expert has any load.");
    bench_destroy(b);
    b = read_text("9007199254740993,1\n", NULL);
    g_assert_true(has_note(b, "large_loads"));
    bench_destroy(b);
}

static void test_report(void) {
    bench *b = read_text("step,layer,expert,load\n0,3,0,1\n0,3,1,3\n1,3,0,2\n1,3,1,2\n", NULL);
    const mill_report *r = files_report(b);
    g_assert_cmpfloat(files_real(b, "imbalance"), ==, 1.25); /* 3 and 5: 5 / 4 */
    g_assert_cmpfloat(files_real(b, "total"), ==, 8);
    g_assert_cmpint(look_int(r, "ranks", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(look_cell(look_table(r, "layers"), 0, "hottest").i, ==, 1);
    g_assert_cmpint(look_cell(look_table(r, "hottest"), 0, "layer").i, ==, 3);
    g_assert_cmpfloat(look_cell(look_table(r, "hottest"), 0, "share").d, ==, 0.625);
    g_assert_cmpuint(r->n_series, ==, 3);
    g_assert_cmpstr(r->series[1]->id, ==, "imbalance");
    g_assert_cmpfloat(r->series[1]->y[0], ==, 1.5);
    g_assert_cmpfloat(r->series[1]->y[1], ==, 1);
    g_assert_cmpfloat(r->series[2]->y[1], ==, 4);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- JSON, and others */

static void test_json(void) {
    static const struct {
        const char *text;
        uint64_t steps;
        uint32_t layers, experts;
    } cases[] = {
        {"[[1,2,3],[4,5,6]]", 1, 2, 3},
        {" [[[1,2,3]],\n [[4,5,6.0]]] \n", 2, 1, 3},
        {"{\"logical_count\": [[1,2],[3,4],[5,6]], \"rank\": 0}", 1, 3, 2},
        {"{\"logical_count\": [[[1],[2]],[[3],[4]],[[5],[6]]]}", 3, 2, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = read_text(cases[i].text, NULL);
        files_same(files_loads(b), cases[i].steps, cases[i].layers, cases[i].experts, one_to_six);
        bench_destroy(b);
    }
}

static void test_bad_json(void) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"[[1,2],[3]]", "an array of 1 experts where the first one has 2"},
        {"[[[1],[2]],[[3]]]", "an array of 1 layers where the first one has 2"},
        {"[[1,2],3]", "an array of 0 experts"},
        {"[[1,2],[3,\"4\"]]", "layer 1, expert 1: expected a number"},
        {"[[1,2],[3,[4]]]", "layer 1, expert 1: expected a number"},
        {"[1,2]", "arrays in arrays"},
        {"[[[[1]]]]", "more than 3 deep"},
        {"[[]]", "no loads"},
        {"[]", "arrays in arrays"},
        {"[[1,NaN]]", "byte 4: no JSON"},
        {"[[1,-1]]", "expert 1: the load is -1"},
        {"[[1,2]] [[3,4]]", "byte 8: the JSON text goes on"},
        {"{\"physical_to_logical_map\": [[1]]}", "neither logical_count"},
        {"{\"logical_count\": 7}", "arrays in arrays"},
        {"{", "no JSON"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        files_bad(files_put_text("a.txt", cases[i].text), NULL, cases[i].words);
    g_autofree char *deep = g_strnfill(100000, '[');
    files_bad(files_put_text("a.txt", deep), NULL, "no JSON");
}

static void test_foreign(void) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *words;
    } cases[] = {
        {"PK\3\4............archive/data.pkl", 32, "torch.load"},
        {"PK\3\4............loads.npy", 25, "npz archive"},
        {"\x80\2}q\0.", 6, "pickle"},
        {"\x1f\x8b\x08\0", 4, "gzip"},
        {"INFO EPLB step: avg_tokens=1.00, max_tokens=2, balancedness=0.5\n", 63,
         "balancedness.read"},
        {"\1\2\0\3", 4, "expected CSV, npy, JSON or safetensors"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        files_bad(files_put("a.bin", cases[i].bytes, cases[i].length), NULL, cases[i].words);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/loads/csv/matrices", test_matrices);
    g_test_add_func("/loads/csv/labels", test_labels);
    g_test_add_func("/loads/csv/absent", test_absent);
    g_test_add_func("/loads/csv/ranks", test_ranks);
    g_test_add_func("/loads/csv/assignments", test_assignment_columns);
    g_test_add_func("/loads/csv/bad", test_bad_csv);
    g_test_add_func("/loads/csv/index", test_index);
    g_test_add_func("/loads/csv/sparse", test_sparse);
    g_test_add_func("/loads/csv/list-without-names", test_list_without_names);
    g_test_add_func("/loads/invalid", test_invalid);
    g_test_add_func("/loads/odd", test_odd);
    g_test_add_func("/loads/report", test_report);
    g_test_add_func("/loads/json", test_json);
    g_test_add_func("/loads/json/bad", test_bad_json);
    g_test_add_func("/loads/foreign", test_foreign);
    int result = g_test_run();
    files_finish();
    return result;
}
