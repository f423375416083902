/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files as NumPy writes them, byte by byte, and damaged ones. */
#include <glib.h>
#include <math.h>
#include <string.h>
#include <tracemill/kit/npy.h>

/* A file of version 1.0 with a header of its own. */
static GString *file_of(const char *header, const void *data, size_t length) {
    GString *file = g_string_new_len("\x93NUMPY\x01\x00", 8);
    g_string_append_c(file, (char)(strlen(header) & 255));
    g_string_append_c(file, (char)(strlen(header) >> 8));
    g_string_append(file, header);
    g_string_append_len(file, data, (gssize)length);
    return file;
}

#define HEADER(type, shape) "{'descr': '" type "', 'fortran_order': False, 'shape': " shape ", }\n"

static kit_npy read_good(const GString *file) {
    kit_npy npy;
    char error[KIT_NPY_ERROR] = "";
    bool good = kit_npy_read(file->str, file->len, &npy, error);
    g_assert_cmpstr(error, ==, "");
    g_assert_true(good);
    return npy;
}

static void test_types(void) {
    static const uint8_t u1[] = {0, 255};
    static const int16_t i2[] = {-2, 300};
    static const uint64_t u8[] = {1, UINT64_MAX};
    static const uint8_t big[] = {0xff, 0xfe, 1, 0x2c};
    static const float f4[] = {2, -0.5F};
    static const uint16_t f2[] = {0x3c00, 0xc200}; /* 1 and -3 */
    static const double f8[] = {1e15, NAN};
    static const struct {
        const char *header;
        const void *data;
        size_t length;
        double real[2];
        bool whole[2];
    } cases[] = {
        {HEADER("|u1", "(2,)"), u1, sizeof u1, {0, 255}, {true, true}},
        {HEADER("<i2", "(2,)"), i2, sizeof i2, {-2, 300}, {true, true}},
        {HEADER(">i2", "(2,)"), big, sizeof big, {-2, 300}, {true, true}},
        {HEADER("<u8", "(1, 2)"), u8, sizeof u8, {1, 0x1p64}, {true, false}},
        {HEADER("<f4", "(2,)"), f4, sizeof f4, {2, -0.5}, {true, false}},
        {HEADER("<f2", "(2,)"), f2, sizeof f2, {1, -3}, {true, true}},
        {HEADER("<f8", "(2,)"), f8, sizeof f8, {1e15, NAN}, {true, false}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GString *file = file_of(cases[i].header, cases[i].data, cases[i].length);
        kit_npy npy = read_good(file);
        g_assert_cmpuint(npy.count, ==, 2);
        for (uint64_t k = 0; k < 2; k++) {
            double real = kit_npy_real(&npy, k);
            int64_t whole = 0;
            g_assert_true(real == cases[i].real[k] || (isnan(real) && isnan(cases[i].real[k])));
            g_assert_true(kit_npy_int(&npy, k, &whole) == cases[i].whole[k]);
            if (cases[i].whole[k])
                g_assert_cmpint(whole, ==, (int64_t)cases[i].real[k]);
        }
        g_string_free(file, TRUE);
    }
}

static void test_shapes(void) {
    static const int64_t numbers[6] = {0, 1, 2, 3, 4, 5};
    GString *file = file_of("{ 'shape' : (1,2 , 3),'fortran_order':False,'descr':'<i8'}", numbers,
                            sizeof numbers);
    char error[KIT_NPY_ERROR];
    kit_npy npy;
    g_assert_false(kit_npy_read(file->str, file->len, &npy, error)); /* "'shape' :" is none */
    g_string_free(file, TRUE);
    file = file_of("{'shape': (1,2 , 3),'fortran_order':False,'descr':'<i8'}", numbers,
                   sizeof numbers);
    npy = read_good(file);
    g_assert_cmpuint(npy.dimensions, ==, 3);
    g_assert_cmpuint(npy.shape[0], ==, 1);
    g_assert_cmpuint(npy.shape[1], ==, 2);
    g_assert_cmpuint(npy.shape[2], ==, 3);
    g_string_free(file, TRUE);
    file = file_of("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3)}", numbers,
                   sizeof numbers);
    npy = read_good(file);
    static const int64_t rows[6] = {0, 2, 4, 1, 3, 5};
    for (uint64_t i = 0; i < 6; i++) {
        int64_t value = -1;
        g_assert_true(kit_npy_int(&npy, i, &value));
        g_assert_cmpint(value, ==, rows[i]);
    }
    g_string_free(file, TRUE);
    file = file_of(HEADER("<i8", "()"), numbers, 8);
    g_assert_cmpuint(read_good(file).count, ==, 1);
    g_string_free(file, TRUE);
}

/* What is written is 64-byte aligned, ends in a line break, and reads back. */
static void test_head(void) {
    static const uint64_t shape[] = {58, 256, 4};
    for (unsigned d = 1; d <= 3; d++) {
        size_t n = 1;
        for (unsigned i = 0; i < d; i++)
            n *= shape[i];
        GString *file = g_string_new(NULL);
        g_string_set_size(file, KIT_NPY_HEAD + 8 * n);
        memset(file->str, 0, file->len);
        kit_npy_head(file->str, d, shape);
        g_assert_cmpint(file->str[KIT_NPY_HEAD - 1], ==, '\n');
        kit_npy npy = read_good(file);
        g_assert_cmpuint(npy.dimensions, ==, d);
        g_assert_cmpmem(npy.shape, d * sizeof *shape, shape, d * sizeof *shape);
        g_string_free(file, TRUE);
    }
    char head[KIT_NPY_HEAD];
    kit_npy_head(head, 1, shape);
    static const char right[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (58, ), }";
    g_assert_cmpmem(head + 10, sizeof right - 1, right, sizeof right - 1);
}

static void test_damaged(void) {
    static const struct {
        const char *header, *error;
    } cases[] = {
        {HEADER("<c8", "(2,)"), "byte 20: expected a type of numbers, such as '<i8' or '<f4'"},
        {HEADER("<i8", "(3,)"), "byte 68: expected 3 numbers of 8 bytes, found 16 bytes"},
        {HEADER("<i8", "(2"),
         "byte 64: expected at most 8 dimensions, whole numbers in parentheses"},
        {"{'descr': '<i8', 'fortran_order': None, 'shape': (2,), }",
         "byte 44: expected True or False"},
        {"{'descr': '<i8', 'shape': (2,), }",
         "byte 43: expected 'descr', 'fortran_order' and 'shape' before this"},
        {HEADER("<i8", "(99999999999999,)"), "byte 71: expected a smaller dimension"},
    };
    static const int64_t numbers[2] = {1, 2};
    char error[KIT_NPY_ERROR];
    kit_npy npy;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GString *file = file_of(cases[i].header, numbers, sizeof numbers);
        g_assert_false(kit_npy_read(file->str, file->len, &npy, error));
        g_assert_cmpstr(error, ==, cases[i].error);
        g_string_free(file, TRUE);
    }
    GString *file = file_of(HEADER("<i8", "(2,)"), numbers, sizeof numbers);
    for (size_t length = 0; length < file->len; length++) { /* in memory of that size alone */
        g_autofree char *cut = g_memdup2(file->str, length);
        g_assert_false(kit_npy_read(cut, length, &npy, error));
    }
    g_string_free(file, TRUE);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/npy/types", test_types);
    g_test_add_func("/kit/npy/shapes", test_shapes);
    g_test_add_func("/kit/npy/head", test_head);
    g_test_add_func("/kit/npy/damaged", test_damaged);
    return g_test_run();
}
