/* SPDX-License-Identifier: Apache-2.0 */
/* From text to events: values, escapes, the event parser, and the outer shape of the file, whatever
 * the window. */
#include "bench_host.h"
#include "demangle.h"
#include "document.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- values */

static void test_values(void) {
    static const struct {
        const char *text;
        json_kind kind;
        size_t length; /* of the value as the caller sees it */
    } good[] = {
        {"\"a\\\"b\",", JSON_STRING, 4},
        {"\"\",", JSON_STRING, 0},
        {"-12.5e3,", JSON_NUMBER, 7},
        {"+1]", JSON_NUMBER, 2},
        {"null}", JSON_WORD, 4},
        {"NaN,", JSON_NOT_A_NUMBER, 3},
        {"-Infinity}", JSON_NOT_A_NUMBER, 9},
        {"inf ", JSON_NOT_A_NUMBER, 3},
        {"{}", JSON_OBJECT, 2},
        {"[1, {\"a\": [], \"b\": \"]}\"} , 2]", JSON_ARRAY, 29},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        const char *text = good[i].text;
        json_value value;
        json j = {.at = text, .end = text + strlen(text)};
        g_assert_cmpint(json_read(&j, &value), ==, JSON_OK);
        g_assert_cmpint(value.kind, ==, good[i].kind);
        g_assert_cmpuint(value.length, ==, good[i].length);
        for (const char *end = text; end < j.at; end++) { /* every shorter text is not whole */
            json cut = {.at = text, .end = end};
            g_assert_cmpint(json_read(&cut, &value), ==, JSON_MORE);
        }
    }
}

static void test_bad_values(void) {
    static const struct {
        const char *text;
        size_t at; /* where it goes wrong */
    } bad[] = {
        {"nope,", 0},  {"{\"a\" 1} ", 5}, {"{\"a\": 1 \"b\"} ", 8}, {"{1: 2} ", 1}, {"[1 2] ", 3},
        {"[1,] ", 3},  {"{\"a\": } ", 6}, {"{\"a\": 1,} ", 8},      {"[{]} ", 2},   {"- ", 0},
        {"[tru] ", 1}, {"\x01 ", 0},      {"{\"a\": ]} ", 6}};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        json_value value;
        json j = {.at = bad[i].text, .end = bad[i].text + strlen(bad[i].text)};
        g_test_message("%s", bad[i].text);
        g_assert_cmpint(json_read(&j, &value), ==, JSON_BAD);
        g_assert_cmpint(j.at - bad[i].text, ==, (ptrdiff_t)bad[i].at);
    }
}

static json_status read_depth(size_t depth) {
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < depth; i++)
        g_string_append(text, i % 2 ? "{\"a\":" : "[");
    g_string_append(text, "1");
    for (size_t i = depth; i-- > 0;)
        g_string_append_c(text, i % 2 ? '}' : ']');
    json_value value;
    json j = {.at = text->str, .end = text->str + text->len};
    return json_read(&j, &value);
}

static void test_depth(void) {
    g_assert_cmpint(read_depth(100000), ==, JSON_OK);
    g_assert_cmpint(read_depth(JSON_DEPTH_MAX), ==, JSON_OK);
    g_assert_cmpint(read_depth(JSON_DEPTH_MAX + 1), ==, JSON_BAD);
}

static void test_unescape(void) {
    static const struct {
        const char *text, *right;
        bool bad;
    } cases[] = {
        {"plain", "plain", false},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t", false},
        {"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac", false},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80", false},
        {"C:\\work\\x", "C:\\work\\x", true},
        {"\\ud83d", "\\ud83d", true},
        {"\\ud83d\\u0041", "\\ud83dA", true},
        {"\\ude00", "\\ude00", true},
        {"\\u12g4", "\\u12g4", true},
        {"\\u12", "\\u12", true},
        {"\\u0000", "\\u0000", true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char to[64];
        bool bad;
        json_value value = {cases[i].text, strlen(cases[i].text), JSON_STRING, true};
        size_t n = json_unescape(value, to, &bad);
        g_assert_cmpmem(to, n, cases[i].right, strlen(cases[i].right));
        g_assert_cmpint(bad, ==, cases[i].bad);
    }
}

static void test_utf8(void) {
    /* Against GLib, on all short sequences of telling bytes. GLib alone refuses NUL. */
    static const unsigned char bytes[] = {'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0,
                                          0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed,
                                          0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};
    const size_t n = sizeof bytes;
    for (size_t i = 0; i < n * n * n * n; i++) {
        char text[4] = {(char)bytes[i % n], (char)bytes[i / n % n], (char)bytes[i / n / n % n],
                        (char)bytes[i / n / n / n]};
        for (size_t length = 1; length <= 4; length++)
            g_assert_cmpint(json_utf8(text, length), ==,
                            g_utf8_validate(text, (gssize)length, NULL));
    }
}

/* ---------------------------------------------------------------- one event */

static void assert_member(const event *e, event_member member, const char *right) {
    g_assert_cmpmem(e->member[member].at, e->member[member].length, right, strlen(right));
}

static void test_event(void) {
    static const char text[] = "{\"ph\": \"B\", \"ph\" : \"X\", \"id\": [1, {\"name\": "
                               "\"inner\"}], \"c\\u0061t\":\"kernel\", "
                               "\"args\": {\"stream\": 1, \"bw\": inf, \"stream\": 7, \"name\": "
                               "\"n\", \"External id\": 3}, "
                               "\"name\": \"gemm\\n\", \"ts\":1.5,\"dur\": null, \"ar\\u0067s\": "
                               "{\"grid\": [1, 2, 3]}} tail";
    event e;
    json j = {.at = text, .end = text + sizeof text - 1};
    g_assert_cmpint(event_parse(&j, &e), ==, JSON_OK);
    g_assert_cmpstr(j.at, ==, " tail");
    assert_member(&e, EVENT_PH, "X");
    assert_member(&e, EVENT_CAT, "kernel");
    assert_member(&e, EVENT_NAME, "gemm\\n");
    assert_member(&e, EVENT_TS, "1.5");
    g_assert_cmpint(e.member[EVENT_DUR].kind, ==, JSON_WORD);
    g_assert_cmpint(e.member[EVENT_PID].kind, ==, JSON_NONE);
    assert_member(&e, EVENT_ARG_GRID, "[1, 2, 3]");
    g_assert_cmpint(e.member[EVENT_ARG_STREAM].kind, ==, JSON_NONE); /* the second args counts */
    g_assert_cmpuint(e.not_numbers, ==, 1);
    for (const char *end = text; end < j.at; end++) {
        json cut = {.at = text, .end = end};
        g_assert_cmpint(event_parse(&cut, &e), ==, JSON_MORE);
    }
}

/* ---------------------------------------------------------------- mangled names */

/* f of a template whose arguments are twice the one before, n times: 2^n parts. */
static char *demangle_doubled(int n) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    g_autoptr(GString) text = g_string_new("_Z1f1aIiiE");
    for (int i = 0; i < n; i++)
        g_string_append_printf(text, "S_IS%c_S%c_E", digits[i], digits[i]);
    return demangle(text->str);
}

static void test_demangle(void) {
    static const struct {
        const char *mangled, *plain;
    } names[] = {
        {"_Z3addPfS_i", "add(float*, float*, int)"},
        {"_ZN2at3addENS_1aE3S1_S0_", "at::add(at::a, S1_, at::a)"},
        {"_Z7ARGS_S_v", "ARGS_S_()"},
        {"_Z3addPfS000_", NULL}, /* padded with zeros: no compiler writes this */
        {"_Znot", NULL},
        {"gemm", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        char *plain = demangle(names[i].mangled);
        g_assert_cmpstr(plain, ==, names[i].plain);
        free(plain);
    }
    char *some = demangle_doubled(10), *many = demangle_doubled(34);
    g_assert_cmpuint(strlen(some), ==, 34756);
    g_assert_null(many); /* would have 600 GB */
    free(some);
}

/* ---------------------------------------------------------------- the outer shape */

/* What a document told, as text, so that two can be compared. */
typedef struct told {
    const char *text;
    size_t length, at;
    GString *log;
    document_result result;
} told;

static mill_status on_read(void *arg, char *to, size_t room, size_t *ret_length) {
    told *t = arg;
    *ret_length = MIN(room, t->length - t->at);
    memcpy(to, t->text + t->at, *ret_length);
    t->at += *ret_length;
    return MILL_OK;
}

static void on_event(void *arg, const event *e, uint64_t byte) {
    told *t = arg;
    json_value name = e->member[EVENT_NAME];
    g_string_append_printf(t->log, "%.*s@%" G_GUINT64_FORMAT " ", (int)name.length, name.at, byte);
}

static bool on_wants(void *arg, const char *key) {
    (void)arg;
    return !strcmp(key, "fact");
}

static void on_fact(void *arg, const char *key, json_value value) {
    told *t = arg;
    g_string_append_printf(t->log, "%s=%.*s ", key, (int)value.length, value.at);
}

static void on_problem(void *arg, document_problem problem, uint64_t byte) {
    static const char *const names[] = {"malformed", "truncated", "trailing"};
    told *t = arg;
    g_string_append_printf(t->log, "%s@%" G_GUINT64_FORMAT " ", names[problem], byte);
}

static const document_calls calls = {on_read, on_event, NULL, on_wants, on_fact, on_problem};

/* The log, to be freed; it ends with the status if that is not OK, and "incomplete". */
static char *read_text(const char *text, size_t length, size_t window, size_t max_event) {
    bench *b = bench_create(NULL, NULL);
    told t = {.text = text, .length = length, .log = g_string_new(NULL)};
    document_config config = {event_parse, window, max_event};
    mill_status status = document_read(bench_services(b), &config, &calls, &t, &t.result);
    if (status != MILL_OK)
        g_string_append_printf(t.log, "failed %s ", bench_causes(b));
    else
        g_assert_cmpuint(t.result.bytes, ==, length);
    if (!t.result.complete)
        g_string_append(t.log, "incomplete ");
    bench_destroy(b);
    return g_string_free(t.log, false);
}

static const struct {
    const char *text, *right;
} shapes[] = {
    {"[]", ""},
    {"[{\"name\":\"a\"},{\"name\":\"b\"}]", "a@1 b@14 "},
    {"\xef\xbb\xbf [ , {\"name\":\"a\"} , , {\"name\":\"b\"} ,", "a@8 b@25 "},
    {"{\"x\": {\"traceEvents\": [\"]\\\"}\"]}, \"fact\": [1, 2], \"traceEvents\": "
     "[{\"name\":\"a\"}],"
     " \"fact\": \"z\"}\n",
     "fact=[1, 2] a@65 fact=z "},
    {"{\"traceEvents\": []} []", "trailing@20 "},
    {"{}", ""},
    {"{\"traceEvents\": [{\"name\":\"a\"}", "a@17 truncated@29 incomplete "},
    {"{\"traceEvents\": [{\"name\":\"a\"}, {\"na", "a@17 truncated@35 incomplete "},
    {"{\"traceEvents\": [{\"name\":\"a\"}], \"fac", "a@17 truncated@36 incomplete "},
    {"{\"traceEvents\": [], \"fact\": [1, ", "truncated@32 incomplete "},
    {"{\"traceEvents\": [], \"other\": [1, ", "truncated@33 incomplete "},
    {"{\"traceEvents\": [], other: 1}", "malformed@20 incomplete "},
    {"{\"traceEvents\": [], \"fact\": {1}, \"fact\": 2}", "malformed@28 fact=2 "},
    {"{\"traceEvents\"", "truncated@14 incomplete "},
    {"{\"x\": 1, y\": 2, \"traceEvents\": [{\"name\":\"a\"}]}", "malformed@9 a@32 "},
    /* quotes inside a name, an even and an odd number of them */
    {"[{\"name\": \"l(\"x\", \"y\")\n\", \"args\": {}}, {\"name\":\"a\"}]", "malformed@1 a@39 "},
    {"[{\"name\": \"odd \" one\", \"args\": [{\"b\": 1}, {\"c\": 2}]}, {\"name\":\"a\"}]",
     "malformed@1 a@54 "},
    {"[{\"name\":\"a\"}, 7, {\"name\":\"b\"}]", "a@1 malformed@15 b@18 "},
    {"[{\"name\":\"a\"}, {\"name\": \"b\" \"c\"}]", "a@1 malformed@15 incomplete "},
    {"[{\"name\": x},,{ \"ph\" : \"X\"}]", "malformed@1 @14 "},
};

static void test_shapes(void) {
    static const size_t windows[] = {16, 17, 19, 23, 64, 65536};
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
        for (size_t w = 0; w < G_N_ELEMENTS(windows); w++) {
            g_autofree char *log =
                read_text(shapes[i].text, strlen(shapes[i].text), windows[w], 1 << 20);
            g_assert_cmpstr(log, ==, shapes[i].right);
        }
}

static void assert_refused(const char *text, size_t max_event, const char *words) {
    g_autofree char *log = read_text(text, strlen(text), 16, max_event);
    g_assert_nonnull(strstr(log, "failed "));
    if (!strstr(log, words))
        g_error("\"%s\" does not say \"%s\"", log, words);
}

static void test_refused(void) {
    assert_refused("", 1024, "the file is empty");
    assert_refused(" \n", 1024, "the file is empty");
    assert_refused("  hello", 1024, "byte 2: no JSON begins here");
    assert_refused("{\"traceEvents\": {\"traceEvents\": []}}", 1024, "traceEvents is no array");
    assert_refused("[{\"name\": \"0123456789012345678901234567890123456789\"}]", 32,
                   "larger than max-event (32 bytes)");
}

/* Any text, broken in any way, is read the same through a small window as through a large one, and
 * ends. The mutations are the same in each run. */
static void test_mutations(void) {
    static const char base[] = "{\"fact\": 1, \"traceEvents\": [{\"ph\": \"X\", \"name\": "
                               "\"a\\\"\", \"args\": {\"grid\": [1, 2]}},\n"
                               "{\"ph\": \"X\", \"name\": \"b\", \"ts\": 1.5, \"args\": "
                               "{}},\n{\"name\": \"c\", \"id\": [[], {}]}],"
                               " \"other\": [\"]\", {\"a\": 2}], \"fact\": {\"b\": [true, null]}}";
    static const char bytes[] = "\"\\{}[]:, \n1ax\xff";
    GRand *rand = g_rand_new_with_seed(7);
    for (int round = 0; round < 20000; round++) {
        g_autoptr(GString) text = g_string_new_len(base, sizeof base - 1);
        for (int n = g_rand_int_range(rand, 1, 4); n > 0 && text->len > 0; n--) {
            gssize at = g_rand_int_range(rand, 0, (gint32)text->len);
            char c = bytes[g_rand_int_range(rand, 0, sizeof bytes - 1)];
            switch (g_rand_int_range(rand, 0, 4)) {
            case 0:
                text->str[at] = c;
                break;
            case 1:
                g_string_insert_c(text, at, c);
                break;
            case 2:
                g_string_erase(text, at, 1);
                break;
            default:
                g_string_truncate(text, (gsize)at + 1);
            }
        }
        g_autofree char *small = read_text(text->str, text->len, 16, 1 << 20);
        g_autofree char *large = read_text(text->str, text->len, 4096, 1 << 20);
        g_assert_cmpstr(small, ==, large);
    }
    g_rand_free(rand);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/text/values", test_values);
    g_test_add_func("/kineto/text/bad-values", test_bad_values);
    g_test_add_func("/kineto/text/depth", test_depth);
    g_test_add_func("/kineto/text/unescape", test_unescape);
    g_test_add_func("/kineto/text/utf8", test_utf8);
    g_test_add_func("/kineto/text/event", test_event);
    g_test_add_func("/kineto/text/demangle", test_demangle);
    g_test_add_func("/kineto/text/shapes", test_shapes);
    g_test_add_func("/kineto/text/refused", test_refused);
    g_test_add_func("/kineto/text/mutations", test_mutations);
    return g_test_run();
}
