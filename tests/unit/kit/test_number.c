/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exact numbers as text. */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <tracemill/kit/number.h>

#define ROUNDS 50000

typedef const char *(*format_fn)(char text[KIT_NUMBER_MAX], int64_t value, uint32_t flags);

static void test_format(void) {
    static const struct {
        format_fn format;
        int64_t value;
        uint32_t flags;
        const char *text;
    } cases[] = {
        {kit_format_us, 0, 0, "0"},
        {kit_format_us, 1500, 0, "1.5"},
        {kit_format_us, -500, 0, "-0.5"},
        {kit_format_us, 1, 0, "0.001"},
        {kit_format_us, 1000, 0, "1"},
        {kit_format_us, 10010, 0, "10.01"},
        {kit_format_us, 124310000, KIT_GROUP, "124 310"},
        {kit_format_us, 999999, KIT_GROUP, "999.999"},
        {kit_format_us, -1234567891, KIT_GROUP, "-1 234 567.891"},
        {kit_format_us, INT64_MIN, KIT_GROUP, "unknown"},
        {kit_format_us, INT64_MAX, 0, "9223372036854775.807"},
        {kit_format_us, INT64_MIN + 1, KIT_GROUP, "-9 223 372 036 854 775.807"},
        {kit_format_ms, 1, 0, "0.000001"},
        {kit_format_ms, 4190000, 0, "4.19"},
        {kit_format_ms, INT64_MAX, KIT_GROUP, "9 223 372 036 854.775807"},
        {kit_format_ms, INT64_MIN, 0, "unknown"},
        {kit_format_int, 0, KIT_GROUP, "0"},
        {kit_format_int, -100, KIT_GROUP, "-100"},
        {kit_format_int, 1000, KIT_GROUP, "1 000"},
        {kit_format_int, 1000, 0, "1000"},
        {kit_format_int, INT64_MAX, KIT_GROUP, "9 223 372 036 854 775 807"},
        {kit_format_int, INT64_MIN, 0, "unknown"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char text[KIT_NUMBER_MAX];
        g_assert_cmpstr(cases[i].format(text, cases[i].value, cases[i].flags), ==, cases[i].text);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

/* Any size of number, as often small as large. */
static int64_t random_int64(void) {
    uint64_t bits = (uint64_t)(uint32_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();
    int64_t value = (int64_t)bits >> g_test_rand_int_range(0, 63);
    return value == INT64_MIN ? 0 : value;
}

static void test_round_trip(void) {
    for (int i = 0; i < ROUNDS; i++) {
        char text[KIT_NUMBER_MAX];
        int64_t value = random_int64(), back = 0;
        kit_format_us(text, value, 0);
        g_assert_true(kit_parse_us(text, strlen(text), &back));
        g_assert_cmpint(back, ==, value);
        kit_format_ms(text, value, 0);
        strcat(text, "e+3");
        g_assert_true(kit_parse_us(text, strlen(text), &back));
        g_assert_cmpint(back, ==, value);
        kit_format_int(text, value, 0);
        g_assert_true(kit_parse_int(text, strlen(text), false, &back));
        g_assert_cmpint(back, ==, value);
    }
}

/* numerator / 10^decimals µs, written with the point moved by an exponent, against whole-number
 * arithmetic. */
static void test_random_decimals(void) {
    for (int i = 0; i < ROUNDS; i++) {
        int64_t numerator = random_int64() >> 24; /* so that times 1000 fits */
        int decimals = g_test_rand_int_range(0, 12), exponent = g_test_rand_int_range(-9, 10);
        int64_t divisor = 1;
        for (int k = 0; k < decimals; k++)
            divisor *= 10;
        int64_t size = ABS(numerator) * 1000;
        int64_t expected = size / divisor + (size % divisor * 2 >= divisor);

        char digits[32], text[96];
        int places = decimals + exponent; /* digits after the point as written */
        snprintf(digits, sizeof digits, "%0*" G_GINT64_FORMAT, MAX(places, 0) + 1, ABS(numerator));
        int whole = (int)strlen(digits) - MAX(places, 0);
        snprintf(text, sizeof text, "%s%.*s%s%se%d", numerator < 0 ? "-" : "", whole, digits,
                 places > 0 ? "." : "", places > 0 ? digits + whole : "",
                 places > 0 ? exponent : -decimals);

        int64_t ns = 0;
        g_test_message("%s", text);
        g_assert_true(kit_parse_us(text, strlen(text), &ns));
        g_assert_cmpint(ns, ==, numerator < 0 ? -expected : expected);
    }
}

static void test_parse_us(void) {
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"12", 12000},
        {"-0.5", -500},
        {"1.25e3", 1250000},
        {"1.25E+3", 1250000},
        {"1e-3", 1},
        {"+7", 7000},
        {"007.5", 7500},
        {"-0", 0},
        {"0.0005", 1}, /* half, away from zero */
        {"-0.0005", -1},
        {"0.00049999999999999999999999", 0},
        {"-0.00049999999999999999999999", 0},
        {"0.9995", 1000},
        {"1.0014999", 1001},
        {"1.0015", 1002},
        {"1.7404616794713461234e15", 1740461679471346123},
        {"1740461679471346.1235", 1740461679471346124},
        {"0e400", 0},
        {"0.0e99999999999999999999999999", 0},
        {"1e-400", 0},
        {"9e-99999999999999999999999999", 0},
        {"9223372036854775.807", INT64_MAX},
        {"9223372036854775.8074", INT64_MAX},
        {"-9223372036854775.8074", -INT64_MAX},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int64_t ns = -1;
        g_test_message("%s", cases[i].text);
        g_assert_true(kit_parse_us(cases[i].text, strlen(cases[i].text), &ns));
        g_assert_cmpint(ns, ==, cases[i].ns);
    }
}

static void test_not_a_time(void) {
    static const char *const cases[] = {
        "",
        "-",
        "+",
        ".",
        ".5",
        "5.",
        "1.e3",
        "e3",
        "1e",
        "1e+",
        "1e1.5",
        "--1",
        "+-1",
        "1 ",
        " 1",
        "1us",
        "0x10",
        "nan",
        "inf",
        "1,5",
        "1_000",
        "1e400",
        "1e16",
        "-1e30",
        "9223372036854775.8075",
        "-9223372036854775.808",
        "1e99999999999999999999999999",
        "99999999999999999999999999999999",
        "\xff",
        "1\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int64_t ns = 42;
        g_autofree char *shown = g_strescape(cases[i], NULL);
        g_test_message("%s", shown);
        g_assert_false(kit_parse_us(cases[i], strlen(cases[i]), &ns));
        g_assert_cmpint(ns, ==, 42);
    }
    int64_t ns = 42;
    g_assert_false(kit_parse_us("1\0002", 3, &ns));
    g_assert_true(kit_parse_us("123", 2, &ns)); /* the length rules, no NUL is needed */
    g_assert_cmpint(ns, ==, 12000);
}

/* Exponents that make up for very many digits. */
static void test_long_text(void) {
    g_autoptr(GString) text = g_string_new("0.");
    for (int i = 0; i < 100000; i++)
        g_string_append_c(text, '0');
    g_string_append(text, "25e100001");
    int64_t ns = 0;
    g_assert_true(kit_parse_us(text->str, text->len, &ns));
    g_assert_cmpint(ns, ==, 2500);

    g_string_assign(text, "25");
    for (int i = 0; i < 100000; i++)
        g_string_append_c(text, '0');
    g_string_append(text, ".0e-100001");
    g_assert_true(kit_parse_us(text->str, text->len, &ns));
    g_assert_cmpint(ns, ==, 2500);
}

static void test_parse_int(void) {
    static const struct {
        const char *text;
        bool wrap, ok;
        int64_t value;
    } cases[] = {
        {"0", false, true, 0},
        {"-12", false, true, -12},
        {"+012", false, true, 12},
        {"7.0", false, true, 7},
        {"7.000", false, true, 7},
        {"7.5", false, false, 0},
        {"7.0001", false, false, 0},
        {"1e3", false, true, 1000},
        {"1.5e1", false, true, 15},
        {"15e-1", false, false, 0},
        {"150e-1", false, true, 15},
        {"1e-400", false, false, 0},
        {"0e-400", false, true, 0},
        {"9223372036854775807", false, true, INT64_MAX},
        {"-9223372036854775808", false, true, INT64_MIN},
        {"9223372036854775808", false, false, 0},
        {"-9223372036854775809", true, false, 0},
        {"9223372036854775808", true, true, INT64_MIN},
        {"18446744073709551615", true, true, -1},
        {"18446744073709551616", true, false, 0},
        {"1e19", true, true, (int64_t)UINT64_C(10000000000000000000)},
        {"1e20", true, false, 0},
        {"", true, false, 0},
        {"7.", false, false, 0},
        {"abc", false, false, 0},
        {"7x", false, false, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int64_t value = 42;
        g_test_message("%s", cases[i].text);
        bool ok = kit_parse_int(cases[i].text, strlen(cases[i].text), cases[i].wrap, &value);
        g_assert_cmpint(ok, ==, cases[i].ok);
        g_assert_cmpint(value, ==, ok ? cases[i].value : 42);
    }
}

static void test_parse_scaled(void) {
    static const struct {
        const char *text;
        int64_t scale;
        bool ok;
        int64_t value;
    } cases[] = {
        {"1.5", 1000, true, 1500},
        {"-1.5", 1000, true, -1500},
        {"0.025", 60000000000, true, 1500000000},
        {"1.50000000000000000000000000000", 1024, true, 1536},
        {"1.5", 1, false, 0},
        {"0.0000000000001", 1000000000, false, 0},
        {"0", 1000, true, 0},
        {"0.000", 1, true, 0},
        {"0e-999999999", 1, true, 0},
        {"1e-999999999", 1000, false, 0},
        {"15e-1", 2, true, 3},
        {"1e18", 9, true, 9000000000000000000},
        {"9223372036854775807", 1, true, INT64_MAX},
        {"9223372036854775807", 2, false, 0},
        {"-9223372036854775808", 1, false, 0},
        {"3e9", 3600000000000, false, 0},
        {"", 1000, false, 0},
        {"1.", 1000, false, 0},
        {"5ms", 1000, false, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int64_t value = 42;
        g_test_message("%s", cases[i].text);
        bool ok = kit_parse_scaled(cases[i].text, strlen(cases[i].text), cases[i].scale, &value);
        g_assert_cmpint(ok, ==, cases[i].ok);
        g_assert_cmpint(value, ==, ok ? cases[i].value : 42);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/number/format", test_format);
    g_test_add_func("/kit/number/round-trip", test_round_trip);
    g_test_add_func("/kit/number/random-decimals", test_random_decimals);
    g_test_add_func("/kit/number/parse-us", test_parse_us);
    g_test_add_func("/kit/number/not-a-time", test_not_a_time);
    g_test_add_func("/kit/number/long-text", test_long_text);
    g_test_add_func("/kit/number/parse-int", test_parse_int);
    g_test_add_func("/kit/number/parse-scaled", test_parse_scaled);
    return g_test_run();
}
