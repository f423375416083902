/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of values as text. */
#include <glib.h>
#include <math.h>
#include <string.h>
#include <tracemill/kit/value.h>

static void check_int(mill_kind kind, int64_t value, const char *want) {
    char text[KIT_NUMBER_MAX];
    g_assert_cmpstr(kit_format_value(text, kind, (mill_datum){.i = value}), ==, want);
}

static void check_real(mill_kind kind, double value, const char *want) {
    char text[KIT_NUMBER_MAX];
    g_assert_cmpstr(kit_format_value(text, kind, (mill_datum){.d = value}), ==, want);
}

static void test_format(void) {
    check_int(MILL_KIND_COUNT, 1234567, "1 234 567");
    check_int(MILL_KIND_BYTES, -1000, "-1 000");
    check_int(MILL_KIND_ID, 1234567, "1234567");
    check_int(MILL_KIND_NS, 1234567, "1 234.567");
    check_int(MILL_KIND_NS, MILL_UNKNOWN, "unknown");
    check_int(MILL_KIND_ID, MILL_UNKNOWN, "unknown");
    check_int((mill_kind)99, 1, "unknown");
    check_real(MILL_KIND_RATIO, 0.96306, "96.31");
    check_real(MILL_KIND_RATIO, 0.00001, "0.0010");
    check_real(MILL_KIND_RATIO, 0.99999, "99.9990");
    check_real(MILL_KIND_RATIO, 1, "100.00");
    check_real(MILL_KIND_RATIO, -1.5e300, "-1.5e+302");
    check_real(MILL_KIND_RATIO, NAN, "unknown");
    check_real(MILL_KIND_REAL, 1234567.5, "1 234 568");
    check_real(MILL_KIND_REAL, -999999999999999, "-999 999 999 999 999");
    check_real(MILL_KIND_REAL, 123456.7, "123457");
    check_real(MILL_KIND_REAL, -INFINITY, "unknown");
}

static void test_unknown(void) {
    g_assert_true(kit_value_is_unknown(MILL_KIND_TEXT, (mill_datum){.text = NULL}));
    g_assert_false(kit_value_is_unknown(MILL_KIND_TEXT, (mill_datum){.text = ""}));
    g_assert_true(kit_value_is_unknown(MILL_KIND_COUNT, (mill_datum){.i = MILL_UNKNOWN}));
    g_assert_false(kit_value_is_unknown(MILL_KIND_NS, (mill_datum){.i = 0}));
    g_assert_true(kit_value_is_unknown(MILL_KIND_REAL, (mill_datum){.d = INFINITY}));
    g_assert_false(kit_value_is_unknown(MILL_KIND_RATIO, (mill_datum){.d = 0}));
}

static void test_unit(void) {
    g_assert_cmpstr(kit_value_unit(MILL_KIND_NS, NULL), ==, "µs");
    g_assert_cmpstr(kit_value_unit(MILL_KIND_BYTES, NULL), ==, "B");
    g_assert_cmpstr(kit_value_unit(MILL_KIND_RATIO, NULL), ==, "%");
    g_assert_cmpstr(kit_value_unit(MILL_KIND_REAL, "GB/s"), ==, "GB/s");
    g_assert_null(kit_value_unit(MILL_KIND_COUNT, NULL));
}

/* Any number reads back as the same bits; usual ones are short. */
static void test_real(void) {
    char text[KIT_NUMBER_MAX];
    g_assert_cmpstr(kit_format_real(text, 0.1), ==, "0.1");
    g_assert_cmpstr(kit_format_real(text, 0.1 + 0.2), ==, "0.30000000000000004");
    g_assert_cmpstr(kit_format_real(text, -0.0), ==, "-0");
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = (uint64_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        double back = g_ascii_strtod(kit_format_real(text, value), NULL);
        g_assert_cmpmem(&back, sizeof back, &value, sizeof value);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/value/format", test_format);
    g_test_add_func("/kit/value/unknown", test_unknown);
    g_test_add_func("/kit/value/unit", test_unit);
    g_test_add_func("/kit/value/real", test_real);
    return g_test_run();
}
