/* SPDX-License-Identifier: Apache-2.0 */
/* loads.read on arrays: npy and safetensors, every type of number, and files that lie. */
#include "files.h"

#include <math.h>
#include <string.h>

static const double one_to_six[] = {1, 2, 3, 4, 5, 6};

/* ---------------------------------------------------------------- npy */

/* Each type holds 1 … 6 as [2, 3]; the bytes are written here by hand. */
static void test_types(void) {
    static const struct {
        const char *type;
        uint8_t bytes[8]; /* of the number 3 */
        unsigned size;
    } types[] = {
        {"|i1", {3}, 1},
        {"|u1", {3}, 1},
        {"<i2", {3, 0}, 2},
        {">i2", {0, 3}, 2},
        {">u4", {0, 0, 0, 3}, 4},
        {"<i8", {3}, 8},
        {">i8", {0, 0, 0, 0, 0, 0, 0, 3}, 8},
        {"<f2", {0x00, 0x42}, 2},
        {">f2", {0x42, 0x00}, 2},
        {"<f4", {0, 0, 0x40, 0x40}, 4},
        {">f4", {0x40, 0x40, 0, 0}, 4},
        {"<f8", {0, 0, 0, 0, 0, 0, 0x08, 0x40}, 8},
        {">f8", {0x40, 0x08}, 8},
    };
    static const double right[] = {3, 3};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        uint8_t numbers[16];
        memcpy(numbers, types[i].bytes, types[i].size);
        memcpy(numbers + types[i].size, types[i].bytes, types[i].size);
        g_autofree char *header = g_strdup_printf(
            "{'descr': '%s', 'fortran_order': False, 'shape': (1, 2), }\n", types[i].type);
        g_autofree char *path = files_put_npy("a.npy", 1, header, numbers, 2 * types[i].size);
        bench *b = files_good(path, NULL);
        files_same(files_loads(b), 1, 1, 2, right);
        g_assert_cmpuint(files_loads(b)->integral, ==, 1);
        bench_destroy(b);
    }
}

static void test_half(void) {
    static const uint16_t bits[] = {0x3c00, 0x3555, 0x0001, 0x7bff, 0x0400, 0x0000};
    static const double right[] = {1, 0x1.554p-2, 0x1p-24, 65504, 0x1p-14, 0};
    g_autofree char *path =
        files_put_npy("half.npy", 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,3)}",
                      bits, sizeof bits);
    bench *b = files_good(path, NULL);
    files_same(files_loads(b), 1, 2, 3, right);
    g_assert_cmpuint(files_loads(b)->integral, ==, 0);
    bench_destroy(b);
}

/* Versions, order of keys, spaces, quotes, and the order of indices. */
static void test_headers(void) {
    static const struct {
        int version;
        const char *header;
        uint64_t steps;
        uint32_t layers, experts;
        double right[6];
    } cases[] = {
        {1,
         "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }    \n",
         1,
         2,
         3,
         {1, 2, 3, 4, 5, 6}},
        {2,
         "{'shape': (2L,3L), 'fortran_order': True, 'descr': \"|u1\"}",
         1,
         2,
         3,
         {1, 3, 5, 2, 4, 6}},
        {3,
         "{'fortran_order': False, 'descr': '|i1', 'shape': (3,1,2)}",
         3,
         1,
         2,
         {1, 2, 3, 4, 5, 6}},
        {1,
         "{'descr': '|u1', 'fortran_order': True, 'shape': (1,2,3)}",
         1,
         2,
         3,
         {1, 3, 5, 2, 4, 6}},
    };
    static const uint8_t numbers[] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path =
            files_put_npy("a.npy", cases[i].version, cases[i].header, numbers, sizeof numbers);
        bench *b = files_good(path, NULL);
        files_same(files_loads(b), cases[i].steps, cases[i].layers, cases[i].experts,
                   cases[i].right);
        bench_destroy(b);
    }
}

static void test_bad_headers(void) {
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4)}", "found 6 bytes"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2)}", "found 6 bytes"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "shape"},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2147483648, 1073741824)}", "found 6"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 1)}",
         "a smaller dimension"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (6)}", "[6]"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,)}", "[layers, experts]"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 6)}", "found 6"},
        {"{'descr': '|u1', 'fortran_order': True, 'shape': (1,1,2,3)}", "[1, 1, 2, 3]"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,3)}", "a type of numbers"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,3)}", "a type of numbers"},
        {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,3)}", "a type of numbers"},
        {"{'descr': '|u1', 'fortran_order': None, 'shape': (2,3)}", "True or False"},
        {"{'descr': '|u1', 'shape': (2,3)}", "before this"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,3)", "once"},
        {"", "a dictionary"},
    };
    static const uint8_t numbers[] = {1, 2, 3, 4, 5, 6};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        files_bad(files_put_npy("a.npy", 1, cases[i].header, numbers, sizeof numbers), NULL,
                  cases[i].words);
    files_bad(
        files_put_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (0,6)}", "", 0),
        NULL, "no loads");
    files_bad(files_put("a.npy", "\x93NUMPY\1\0\xff\xff{'d", 14), NULL, "cut short");
    files_bad(files_put("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{'d", 16), NULL, "cut short");
    files_bad(files_put("a.npy", "\x93NUMPY\1\0", 8), NULL, "a header");
    files_bad(files_put("a.npy", "\x93NUMPY\x09\0\1\0{}", 12), NULL, "version");
}

/* ---------------------------------------------------------------- assignments */

/* Three tokens in two layers, two choices each; -1 is padding. */
static void test_assignments(void) {
    static const int32_t numbers[] = {0, 1, 2, 2, 1, 0, 2, -1, 1, 3, 0, 2};
    static const double right[] = {2, 3, 0, 1, 1, 0, 4, 0};
    static const double by_step[] = {2, 2, 0, 0, 0, 0, 3, 0, 0, 1, 0, 1, 1, 0, 1, 0};
    const char *all[] = {"content=assignments", NULL};
    const char *steps[] = {"content=assignments", "tokens-per-step=2", "first-layer=3", NULL};
    const char *many[] = {"content=assignments", "experts=5", NULL};
    const char *few[] = {"content=assignments", "experts=3", NULL};
    char *path =
        files_put_npy("a.npy", 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2, 2)}",
                      numbers, sizeof numbers);
    bench *b = files_good(path, all);
    files_same(files_loads(b), 1, 2, 4, right);
    g_assert_nonnull(strstr(look_note(files_report(b), "unassigned")->text, ": 1."));
    g_assert_nonnull(look_note(files_report(b), "experts_seen"));
    g_assert_null(look_note(files_report(b), "absent_loads"));
    bench_destroy(b);
    b = files_good(path, steps);
    files_same(files_loads(b), 2, 2, 4, by_step);
    g_assert_cmpint(files_loads(b)->layer[0], ==, 3);
    bench_destroy(b);
    b = files_good(path, many);
    g_assert_cmpuint(files_loads(b)->experts, ==, 5);
    bench_destroy(b);
    files_bad(path, few, "option experts says 3");
    static const float loads[] = {0.5f, 1, 2, 3};
    files_bad(files_put_npy("a.npy", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,2)}",
                            loads, sizeof loads),
              all, "0.5 is no number of an expert");
    static const int32_t large[] = {70000, 1, 2, 3};
    files_bad(files_put_npy("a.npy", 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,2)}",
                            large, sizeof large),
              all, "70000 is no number of an expert");
}

/* An array with more rows than any model has layers may be one of assignments. */
static void test_maybe_assignments(void) {
    static uint8_t numbers[2 * 200];
    memset(numbers, 1, sizeof numbers);
    g_autofree char *path =
        files_put_npy("a.npy", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (200,2)}",
                      numbers, sizeof numbers);
    bench *b = files_good(path, NULL);
    g_assert_nonnull(look_note(files_report(b), "maybe_assignments"));
    bench_destroy(b);
    b = files_good(path, (const char *[]){"content=loads", NULL});
    g_assert_null(look_note(files_report(b), "maybe_assignments"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- safetensors */

static void test_single_tensor(void) {
    static const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
    static const char *const headers[] = {
        "{\"x\":{\"dtype\":\"I32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}",
        "{\"__metadata__\":{\"a\":\"b\"},\"x\":{\"dtype\":\"I32\",\"shape\":[1,2,3],"
        "\"data_offsets\":[0,24]}}   ",
        "{\"x\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24]},\"logical_count\":{"
        "\"dtype\":\"I32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++) {
        g_autofree char *path =
            files_put_safetensors("a.safetensors", headers[i], numbers, sizeof numbers);
        bench *b = files_good(path, NULL);
        files_same(files_loads(b), 1, 2, 3, one_to_six);
        bench_destroy(b);
    }
    static const uint16_t brain[] = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0};
    g_autofree char *path = files_put_safetensors(
        "a.safetensors", "{\"x\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}",
        brain, sizeof brain);
    bench *b = files_good(path, NULL);
    files_same(files_loads(b), 1, 2, 3, one_to_six);
    bench_destroy(b);
}

#define COUNT(name, from, to)                                                                      \
    "\"" name "\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[" #from "," #to "]}"

static void test_bad_tensors(void) {
    static const int64_t numbers[] = {1, 2};
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"{" COUNT("5_3", 0, 24) "}", "tensor \"5_3\""},
        {"{" COUNT("5_3", 8, 24) "}", "tensor \"5_3\""},
        {"{" COUNT("5_3", 16, 0) "}", "tensor \"5_3\""},
        {"{" COUNT("5_3", -8, 8) "}", "tensor \"5_3\""},
        {"{" COUNT("5_3", 0, 1e300) "}", "tensor \"5_3\""},
        {"{\"5_3\":{\"dtype\":\"I64\",\"shape\":[2.5],\"data_offsets\":[0,16]}}", "tensor \"5_3\""},
        {"{\"5_3\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[0,16]}}", "tensor \"5_3\""},
        {"{\"5_3\":{\"dtype\":\"I64\",\"shape\":[4503599627370496,4503599627370496],"
         "\"data_offsets\":[0,16]}}",
         "tensor \"5_3\""},
        {"{\"5_3\":{\"dtype\":\"C64\",\"shape\":[2],\"data_offsets\":[0,16]}}", "tensor \"5_3\""},
        {"{" COUNT("5_3", 0,
                   16) ",\"5_4\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}",
         "tensor \"5_4\" has 1 experts, the one before it 2"},
        {"{\"5_3\":[]}", "tensor \"5_3\""},
        {"{\"5_3\":7}", "tensor \"5_3\""},
        {"{" COUNT("a", 0, 16) "," COUNT("b", 0, 16) "}", "2 tensors"},
        {"{}", "0 tensors"},
        {"{" COUNT("a", 0, 16) "}", "[layers, experts]"},
        {"{" COUNT("a", 0, 16), "no JSON object"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        files_bad(files_put_safetensors("a.safetensors", cases[i].header, numbers, sizeof numbers),
                  NULL, cases[i].words);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/loads/npy/types", test_types);
    g_test_add_func("/loads/npy/half", test_half);
    g_test_add_func("/loads/npy/headers", test_headers);
    g_test_add_func("/loads/npy/bad-headers", test_bad_headers);
    g_test_add_func("/loads/npy/assignments", test_assignments);
    g_test_add_func("/loads/npy/maybe-assignments", test_maybe_assignments);
    g_test_add_func("/loads/safetensors/single", test_single_tensor);
    g_test_add_func("/loads/safetensors/bad", test_bad_tensors);
    int result = g_test_run();
    files_finish();
    return result;
}
