/* SPDX-License-Identifier: Apache-2.0 */
/* The test harness of the SDK reads options on its own. Here each of many texts is given to it and
 * to the host, for every type of option: both take it, with the same value, or both refuse it. */
#include "config/values.h"

#include <math.h>
#include <string.h>

#include "private.h"

typedef struct options {
    bool flag;
    int64_t top, free, batch, size;
    double ratio;
    const char *title, *path, *match, *glob, *out;
    int mode;
    mill_list ints, nums, modes, flags, waits, sizes, paths, matches, titles;
} options;

static const char *const modes[] = {"mean", "max", "Max", NULL};

#define AT(field, KIND) .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(options, field, KIND)
static const mill_option table[] = {
    {"flag", AT(flag, BOOL)},
    {"top", AT(top, INT), .min = 1, .max = 1000},
    {"free", AT(free, INT)},
    {"ratio", AT(ratio, NUM), .min = 0, .max = INFINITY},
    {"title", AT(title, STR)},
    {"path", AT(path, PATH)},
    {"match", AT(match, REGEX)},
    {"mode", AT(mode, ENUM), .choices = modes},
    {"batch", AT(batch, DURATION), .min = 0, .max = 3.6e12},
    {"size", AT(size, BYTES), .min = -INFINITY, .max = 1 << 30},
    {"glob", AT(glob, PATH), .flags = MILL_OPT_GLOB},
    {"out", AT(out, PATH), .flags = MILL_OPT_ITEM},
    {"ints", AT(ints, LIST), .elem = MILL_OPT_INT, .min = 0, .max = 9},
    {"nums", AT(nums, LIST), .elem = MILL_OPT_NUM},
    {"modes", AT(modes, LIST), .elem = MILL_OPT_ENUM, .choices = modes},
    {"flags", AT(flags, LIST), .elem = MILL_OPT_BOOL},
    {"waits", AT(waits, LIST), .elem = MILL_OPT_DURATION},
    {"sizes", AT(sizes, LIST), .elem = MILL_OPT_BYTES},
    {"paths", AT(paths, LIST), .elem = MILL_OPT_PATH},
    {"matches", AT(matches, LIST), .elem = MILL_OPT_REGEX},
    {"titles", AT(titles, LIST), .elem = MILL_OPT_STR},
};

static const char *const texts[] = {
    "",
    " ",
    "yes",
    "No",
    "TRUE",
    "off",
    "ja",
    "1",
    "0",
    "-1",
    "+7",
    "- 1",
    "007",
    "1000",
    "1001",
    "1e3",
    "1E-3",
    "0x10",
    "nan",
    "inf",
    "1e999",
    "1.5",
    ".5",
    "5.",
    "1.",
    "-0.5",
    "1_000",
    "1 000",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "250us",
    "250µs",
    "1.5ms",
    "1.5 ms",
    "1.5\tms",
    "3s",
    "2min",
    "1h",
    "2h",
    "0.0000000005s",
    "0.000000001s",
    "0.0000000010s",
    "1.0ns",
    "1.5ns",
    "-1s",
    "+1s",
    "1",
    "1.5",
    "10 parsecs",
    "s",
    "9223372036854775807ns",
    "9223372036854775808ns",
    "9223372036854775807s",
    "0.1234567890123456789s",
    "0.12345678901234567800000s",
    "2562047h",
    "2562048h",
    "64KiB",
    "10MB",
    "512B",
    "1.5B",
    "1.5KiB",
    "1.25GiB",
    "0.1KB",
    "64kib",
    "64K",
    "1GB",
    "2GB",
    "8 EB",
    "mean",
    "max",
    "Max",
    "MAX",
    "mean, max",
    "mean,max,",
    "mean,,max",
    ",mean",
    "mean\nmax",
    "mean\n\nmax\n",
    "mean,\nmax",
    "\n",
    "\nmean",
    "1, 2, 3",
    "1,2\n3",
    "1 2",
    "9, 10",
    "yes, no",
    "\"a\"",
    "\"a",
    "\"a\" b",
    "\"a\"\"b\"",
    "\"a, b\", c",
    "\"\"",
    "\"\", \"\"",
    "\" a \"",
    "\"a\"\n\"b\"",
    "\"a\nb\"",
    "a \"b\"",
    "  a  ",
    "a;b",
    "a\\b",
    "a{1,2}",
    "a{1,2}\nb",
    "(",
    "[a",
    "(?<x>a)",
    "a++",
    "(?<x",
    "*",
    "\\d+",
    "a|b",
    "µ",
    "$",
    "$$",
    "$$$",
    "a$b",
    "a$$b",
    "$$HOME",
    "${x}",
    "${x:-y}",
    "${x:-}",
    "${x:-a,b}",
    "${x:-${y:-z}}",
    "${x:-${y}}",
    "${x",
    "${",
    "${}",
    "${:-a}",
    "${a:b}",
    "${env:KIT_TEST_SET}",
    "${env:KIT_TEST_SET}/x",
    "${env:KIT_TEST_UNSET}",
    "${env:KIT_TEST_UNSET:-d}",
    "${env:KIT_TEST_EMPTY:-d}",
    "${env:KIT_TEST_EMPTY}",
    "${env:KIT_TEST_DOLLAR}",
    "${tracemill:data}/rules",
    "${tracemill:other}",
    "${item}",
    "${item}.csv",
    "$$${item}",
    "$${item}",
    "a/${item}/${item}",
    "${args}",
    "${args:-a}",
    "${args:-a,b}",
    "${args:-}",
    "${args:-a,,b}",
    "x${args}",
    "${args}, b",
    "${argsx}",
    "${args:-${x:-a}}",
    "${x:-${args}}",
    "a, ${x:-b}",
    "${x:-$$}",
    "\"${x:-a}\"",
    "\"${args:-a}\"",
};

/* The same verdict on one text, and the same value. */
static void compare(const mill_option *o, const char *s) {
    options host = {0}, harness = {0};
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, "/data", NULL);
    g_autoptr(GPtrArray) memory = values_memory();
    setting set = {.section = "a", .key = o->name, .value = s};
    kt_watched *kept = kt_watched_create();
    kt_text wrong = {0};
    bool taken = values_set(o, &set, v, memory, &host, p);
    bool good = kt_option_set(o, s, "/data", kept, &harness, &wrong);
    if (good != taken)
        g_error("%s = %s: the host %s it, the harness %s it (%s)", o->name, s,
                taken ? "takes" : "refuses", good ? "takes" : "refuses", kt_text_of(&wrong));
    g_assert_true(good == (wrong.n == 0));
    if (good) {
        g_autofree char *a = values_format(o, &host), *b = values_format(o, &harness);
        g_assert_cmpstr(a, ==, b);
    }
    kt_text_clear(&wrong);
    kt_watched_destroy(kept);
}

static void test_options(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(texts); k++)
            compare(&table[i], texts[k]);
}

static void test_item(void) {
    static const char *const out[] = {"${item}", "a/${item}.csv", "$$${item}", "$${item}", "$$",
                                      ""};
    kt_watched *kept = kt_watched_create();
    for (size_t i = 0; i < G_N_ELEMENTS(out); i++) {
        g_autofree char *host = vars_item(out[i], "rank0");
        g_assert_cmpstr(kt_option_for_item(out[i], "rank0", kept), ==, host);
    }
    kt_watched_destroy(kept);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_setenv("KIT_TEST_SET", "set", TRUE);
    g_setenv("KIT_TEST_EMPTY", "", TRUE);
    g_setenv("KIT_TEST_DOLLAR", "${x} $$ ${item}", TRUE);
    g_unsetenv("KIT_TEST_UNSET");
    g_test_add_func("/config/harness/options", test_options);
    g_test_add_func("/config/harness/item", test_item);
    return g_test_run();
}
