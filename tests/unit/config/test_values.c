/* SPDX-License-Identifier: Apache-2.0 */
/* Every type of option: values, messages, and back to text. */
#include "config/values.h"

#include <math.h>
#include <string.h>

#include "golden.h"

typedef struct options {
    bool flag;
    int64_t top, free, batch, size;
    double ratio;
    const char *title, *path, *match, *glob, *out;
    int mode;
    mill_list ints, modes, flags, waits, paths, matches, ratios;
} options;

static const char *const modes[] = {"mean", "max", NULL};

/* Indexed by the enum below. */
static const mill_option table[] = {
    {"flag", MILL_OPT_BOOL, .offset = MILL_OPT_OFF(options, flag, BOOL)},
    {"top", MILL_OPT_INT, .offset = MILL_OPT_OFF(options, top, INT), .def = "10", .min = 1,
     .max = 1000},
    {"free", MILL_OPT_INT, .offset = MILL_OPT_OFF(options, free, INT)},
    {"ratio", MILL_OPT_NUM, .offset = MILL_OPT_OFF(options, ratio, NUM), .min = 0, .max = INFINITY},
    {"title", MILL_OPT_STR, .offset = MILL_OPT_OFF(options, title, STR)},
    {"path", MILL_OPT_PATH, .offset = MILL_OPT_OFF(options, path, PATH)},
    {"match", MILL_OPT_REGEX, .offset = MILL_OPT_OFF(options, match, REGEX)},
    {"mode", MILL_OPT_ENUM, .offset = MILL_OPT_OFF(options, mode, ENUM), .choices = modes,
     .def = "mean"},
    {"batch", MILL_OPT_DURATION, .offset = MILL_OPT_OFF(options, batch, DURATION), .min = 0,
     .max = 3.6e12},
    {"size", MILL_OPT_BYTES, .offset = MILL_OPT_OFF(options, size, BYTES), .min = -INFINITY,
     .max = 1 << 30, .def = "64KiB"},
    {"ints", MILL_OPT_LIST, .elem = MILL_OPT_INT, .offset = MILL_OPT_OFF(options, ints, LIST),
     .min = 0, .max = 9},
    {"modes", MILL_OPT_LIST, .elem = MILL_OPT_ENUM, .offset = MILL_OPT_OFF(options, modes, LIST),
     .choices = modes},
    {"flags", MILL_OPT_LIST, .elem = MILL_OPT_BOOL, .offset = MILL_OPT_OFF(options, flags, LIST)},
    {"waits", MILL_OPT_LIST, .elem = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(options, waits, LIST)},
    {"paths", MILL_OPT_LIST, .elem = MILL_OPT_PATH, .offset = MILL_OPT_OFF(options, paths, LIST)},
    {"matches", MILL_OPT_LIST, .elem = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(options, matches, LIST)},
    {"glob", MILL_OPT_PATH, .flags = MILL_OPT_GLOB, .offset = MILL_OPT_OFF(options, glob, PATH)},
    {"out", MILL_OPT_PATH, .flags = MILL_OPT_ITEM, .offset = MILL_OPT_OFF(options, out, PATH)},
    {"ratios", MILL_OPT_LIST, .elem = MILL_OPT_NUM, .offset = MILL_OPT_OFF(options, ratios, LIST)},
};
enum {
    FLAG,
    TOP,
    FREE,
    RATIO,
    TITLE,
    PATH,
    MATCH,
    MODE,
    BATCH,
    SIZE,
    INTS,
    MODES,
    FLAGS,
    WAITS,
    PATHS,
    MATCHES,
    GLOB,
    OUT,
    RATIOS
};

typedef struct example {
    int option;
    const char *value;
    const char *back; /* what values_format gives; NULL: wrong */
    const char *told; /* after "a.ini:7: error: " */
} example;

static const example examples[] = {
    {FLAG, "yes", "yes", ""},
    {FLAG, "False", "no", ""},
    {FLAG, "on", "yes", ""},
    {FLAG, "1", NULL, "[s] flag = \"1\": not yes or no\n  hint: yes or no\n"},

    {TOP, "20", "20", ""},
    {TOP, "\"20\"", "20", ""},
    {TOP, "1", "1", ""},
    {TOP, "1000", "1000", ""},
    {TOP, "many", NULL, "[s] top = \"many\": not a whole number\n  hint: 1 to 1000, default 10\n"},
    {TOP, "5000", NULL, "[s] top = 5000 is over the maximum 1000\n"},
    {TOP, "0", NULL, "[s] top = 0 is under the minimum 1\n"},
    {TOP, "", NULL, "[s] top = \"\": not a whole number\n  hint: 1 to 1000, default 10\n"},
    {TOP, "1\n2", NULL, "[s] top takes one value, 2 lines are given\n  hint: it is not a list\n"},
    {FREE, "-9223372036854775808", "-9223372036854775808", ""},
    {FREE, "+9223372036854775807", "9223372036854775807", ""},
    {FREE, "007", "7", ""},
    {FREE, "9223372036854775808", NULL,
     "[s] free = \"9223372036854775808\": a whole number, but out of range\n"},
    {FREE, "1e3", NULL, "[s] free = \"1e3\": not a whole number\n"},
    {FREE, "0x10", NULL, "[s] free = \"0x10\": not a whole number\n"},
    {FREE, "1.0", NULL, "[s] free = \"1.0\": not a whole number\n"},
    {FREE, "-", NULL, "[s] free = \"-\": not a whole number\n"},
    {FREE, "1 000", NULL, "[s] free = \"1 000\": not a whole number\n"},

    {RATIO, "0.1", "0.1", ""},
    {RATIO, "1e-7", "1e-07", ""},
    {RATIO, ".5", "0.5", ""},
    {RATIO, "0.30000000000000004", "0.30000000000000004", ""},
    {RATIO, "-1", NULL, "[s] ratio = -1 is under the minimum 0\n"},
    {RATIO, "nan", NULL, "[s] ratio = \"nan\": not a number\n  hint: at least 0\n"},
    {RATIO, "inf", NULL, "[s] ratio = \"inf\": not a number\n  hint: at least 0\n"},
    {RATIO, "0x1p3", NULL, "[s] ratio = \"0x1p3\": not a number\n  hint: at least 0\n"},
    {RATIO, "1,5", NULL, "[s] ratio = \"1,5\": not a number\n  hint: at least 0\n"},
    {RATIO, "1e999", NULL,
     "[s] ratio = \"1e999\": a number, but out of range\n  hint: at least 0\n"},
    {RATIO, "1e", NULL, "[s] ratio = \"1e\": not a number\n  hint: at least 0\n"},
    {RATIO, "", NULL, "[s] ratio = \"\": not a number\n  hint: at least 0\n"},

    {TITLE, "a, b = c", "a, b = c", ""},
    {TITLE, "\" a\"", "\" a\"", ""},
    {TITLE, "", "", ""},
    {TITLE, "${item}", NULL, "[s] title can't hold ${item}\n  hint: see: tracemill inspect\n"},
    {PATH, "x/${v}.json", "x/vee.json", ""},
    {PATH, "", NULL, "[s] path = \"\": expected a file name\n"},
    {MATCH, "^nccl.*(Kernel|x)$", "^nccl.*(Kernel|x)$", ""},
    {MODE, "max", "max", ""},
    {MODE, "maen", NULL,
     "[s] mode = \"maen\": not one of mean, max\n  hint: did you mean \"mean\"?\n"},
    {MODE, "zzz", NULL, "[s] mode = \"zzz\": not one of mean, max\n  hint: default mean\n"},
    {MODE, "MAX", NULL,
     "[s] mode = \"MAX\": not one of mean, max\n  hint: did you mean \"max\"?\n"},

    {BATCH, "1.5ms", "1.5ms", ""},
    {BATCH, "250 us", "250us", ""},
    {BATCH, "250µs", "250us", ""},
    {BATCH, "3s", "3s", ""},
    {BATCH, "2min", "2min", ""},
    {BATCH, "1h", "1h", ""},
    {BATCH, "60min", "1h", ""},
    {BATCH, "90s", "90s", ""},
    {BATCH, "0s", "0ns", ""},
    {BATCH, "0.000000001s", "1ns", ""},
    {BATCH, "1.234567891s", "1.234567891s", ""},
    {BATCH, "1.0010ms", "1.001ms", ""},
    {BATCH, "0.25min", "15s", ""},
    {BATCH, "3", NULL, "[s] batch = 3 needs a unit\n  hint: 3us, 3ms or 3s\n"},
    {BATCH, "3m", NULL,
     "[s] batch = \"3m\": unknown unit, expected ns, us, ms, s, min or h\n"
     "  hint: 0ns to 1h\n"},
    {BATCH, "1.5ns", NULL, "[s] batch = \"1.5ns\": finer than 1ns\n  hint: 0ns to 1h\n"},
    {BATCH, "0.0000000000000000001s", NULL,
     "[s] batch = \"0.0000000000000000001s\": finer than 1ns\n  hint: 0ns to 1h\n"},
    {BATCH, "-3s", NULL, "[s] batch = \"-3s\": not a duration\n  hint: 0ns to 1h\n"},
    {BATCH, "fast", NULL, "[s] batch = \"fast\": not a duration\n  hint: 0ns to 1h\n"},
    {BATCH, "1.s", NULL, "[s] batch = \"1.s\": not a duration\n  hint: 0ns to 1h\n"},
    {BATCH, "2h", NULL, "[s] batch = 2h is over the maximum 1h\n"},
    {BATCH, "9999999999h", NULL,
     "[s] batch = \"9999999999h\": a duration, but out of range\n  hint: 0ns to 1h\n"},
    {BATCH, "99999999999999999999s", NULL,
     "[s] batch = \"99999999999999999999s\": a duration, but out of range\n  hint: 0ns to 1h\n"},
    {WAITS, "9223372036854775807ns", "9223372036.854775807s", ""},
    {WAITS, "9223372036.854775808s", NULL,
     "[s] waits = \"9223372036.854775808s\": a duration, but out of range\n"
     "  hint: such as 250us, 1.5ms or 3s\n"},

    {SIZE, "512B", "512B", ""},
    {SIZE, "1.5KiB", "1536B", ""},
    {SIZE, "64KiB", "64KiB", ""},
    {SIZE, "10MB", "10MB", ""},
    {SIZE, "1 GiB", "1GiB", ""},
    {SIZE, "2GiB", NULL, "[s] size = 2GiB is over the maximum 1GiB\n"},
    {SIZE, "64", NULL, "[s] size = 64 needs a unit\n  hint: 64B, 64KiB or 64MiB\n"},
    {SIZE, "64K", NULL,
     "[s] size = \"64K\": unknown unit, expected B, KB, MB, GB, KiB, MiB or GiB\n"
     "  hint: at most 1GiB, default 64KiB\n"},
    {SIZE, "0.3B", NULL,
     "[s] size = \"0.3B\": not a whole number of bytes\n  hint: at most 1GiB, default 64KiB\n"},
    {SIZE, "-1B", NULL, "[s] size = \"-1B\": not a size\n  hint: at most 1GiB, default 64KiB\n"},

    {INTS, "1, 2\n3", "1, 2, 3", ""},
    {INTS, "", "", ""},
    {INTS, "1,x,10", NULL,
     "[s] ints = \"x\": not a whole number\n  hint: 0 to 9\n"
     "a.ini:7: error: [s] ints = 10 is over the maximum 9\n"},
    {MODES, "max, mean, max", "max, mean, max", ""},
    {MODES, "mxa", NULL,
     "[s] modes = \"mxa\": not one of mean, max\n  hint: did you mean \"max\"?\n"},
    {FLAGS, "yes, no,\non", "yes, no, yes", ""},
    {WAITS, "1ms, 2s", "1ms, 2s", ""},
    {RATIOS, "1, 2.5", "1, 2.5", ""},
    {PATHS, "\"a, b\", c, ${args}", "\"a, b\", c, f1, f2", ""},
    {PATHS, "a, \"\"", NULL, "[s] paths = \"\": expected a file name\n"},
    {MATCHES, "a{1,2}\nb$", "a{1,2}\nb$", ""},
    {GLOB, "a*, \"b c\", ${args}", "a*, \"b c\", ${args}", ""},
    {OUT, "${v}/${item}$$", "vee/${item}$$", ""},
};

static void test_example(gconstpointer data) {
    static const char *const args[] = {"f1", "f2", NULL};
    static const char text[] = "[vars]\nv = vee\n";
    const example *e = data;
    g_autoptr(problems) p = problems_create();
    g_autoptr(document) doc = document_read_memory("v.ini", text, strlen(text), NULL, p);
    g_autoptr(vars) v = vars_create(document_section(doc, "vars"), "/data", args);
    const mill_option *o = &table[e->option];
    setting s = {.section = "s", .key = o->name, .value = e->value, .at = {"a.ini", 7, NULL}};

    options opts;
    memset(&opts, 0x5A, sizeof opts);
    options before = opts;
    g_autoptr(GPtrArray) memory = values_memory();
    g_assert_true(values_set(o, &s, v, memory, &opts, p) == (e->back != NULL));
    g_autofree char *told =
        *e->told ? g_strconcat("a.ini:7: error: ", e->told, NULL) : g_strdup("");
    golden_problems(p, told);
    if (!e->back) {
        g_assert_cmpmem(&opts, sizeof opts, &before, sizeof before);
        return;
    }
    g_autofree char *back = values_format(o, &opts);
    g_assert_cmpstr(back, ==, e->back);
}

/* What a stage finds in its struct. */
static void test_fields(void) {
    static const struct {
        int option;
        const char *value;
    } values[] = {{FLAG, "yes"},    {TOP, "3"},        {RATIO, "0.25"}, {TITLE, "t"},
                  {MODE, "max"},    {BATCH, "1.5ms"},  {SIZE, "1KiB"},  {INTS, "4, 5"},
                  {MODES, "max"},   {FLAGS, "no, on"}, {PATHS, "p, q"}, {WAITS, "1us"},
                  {RATIOS, "2, 0"}, {GLOB, "r*"}};
    options opts = {0};
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, NULL, NULL);
    g_autoptr(GPtrArray) memory = values_memory();
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        const mill_option *o = &table[values[i].option];
        setting s = {.section = "s", .key = o->name, .value = values[i].value, .at = {.text = "x"}};
        g_assert_true(values_set(o, &s, v, memory, &opts, p));
    }
    g_assert_true(opts.flag);
    g_assert_cmpint(opts.top, ==, 3);
    g_assert_cmpfloat(opts.ratio, ==, 0.25);
    g_assert_cmpstr(opts.title, ==, "t");
    g_assert_cmpint(opts.mode, ==, 1);
    g_assert_cmpint(opts.batch, ==, 1500000);
    g_assert_cmpint(opts.size, ==, 1024);
    g_assert_cmpuint(opts.ints.n, ==, 2);
    g_assert_cmpint(((const int64_t *)opts.ints.v)[1], ==, 5);
    g_assert_cmpuint(opts.modes.n, ==, 1);
    g_assert_cmpint(((const int *)opts.modes.v)[0], ==, 1);
    g_assert_cmpuint(opts.flags.n, ==, 2);
    g_assert_true(((const bool *)opts.flags.v)[1]);
    g_assert_cmpstr(((const char *const *)opts.paths.v)[1], ==, "q");
    g_assert_cmpint(((const int64_t *)opts.waits.v)[0], ==, 1000);
    g_assert_cmpfloat(((const double *)opts.ratios.v)[0], ==, 2);
    g_assert_cmpstr(opts.glob, ==, "r*");
}

/* The reason is GLib's words, which differ from version to version; the place is not. */
static void test_regex(void) {
    options opts = {0};
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, NULL, NULL);
    g_autoptr(GPtrArray) memory = values_memory();
    setting s = {.section = "s", .key = "match", .value = "a(b at char 9: c", .at = {.text = "x"}};
    g_assert_false(values_set(&table[MATCH], &s, v, memory, &opts, p));
    const char *told = problems_get(p, 0)->text;
    g_assert_true(
        g_str_has_prefix(told, "[s] match = \"a(b at char 9: c\": not a regular expression: "));
    g_assert_true(g_str_has_suffix(told, " at character 17"));
    g_assert_null(opts.match);
}

static void test_unset(void) {
    options opts = {0};
    g_autofree char *title = values_format(&table[TITLE], &opts);
    g_autofree char *ints = values_format(&table[INTS], &opts);
    g_assert_cmpstr(title, ==, "");
    g_assert_cmpstr(ints, ==, "");
    g_assert_null(values_allowed(&table[TITLE]));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *path =
            g_strdup_printf("/config/values/%s/%zu", table[examples[i].option].name, i);
        g_test_add_data_func(path, &examples[i], test_example);
    }
    g_test_add_func("/config/values/fields", test_fields);
    g_test_add_func("/config/values/regex", test_regex);
    g_test_add_func("/config/values/unset", test_unset);
    return g_test_run();
}
