/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting into items, and expansion of ${…}. */
#include "config/vars.h"

#include <string.h>

#include "golden.h"

typedef struct example {
    const char *name;
    items_form form;
    unsigned flags;
    const char *value;
    const char *items; /* joined by '|', quoted ones between «», literal ones after '='; or NULL */
    const char *told;
} example;

static const char vars_text[] = "[vars]\n"
                                "run = runs/latest\n"
                                "deep = ${run}/x\n"
                                "list = p, q\n"
                                "lines =\n"
                                "    p\n"
                                "    ${list}\n"
                                "files = ${args}, z\n"
                                "a = ${b}\n"
                                "b = ${c}\n"
                                "c = x${a}\n"
                                "empty =\n"
                                "quoted = \" v \"\n"
                                "out = out/${item}.json\n"
                                "typo = ${rnu}\n"
                                "star = s, t*\n"
                                "self = u, ${self}\n";

#define NOT_SET_HINT                                                                               \
    "  hint: set it in [vars], or by --set vars.zzzz=…; environment needs ${env:ZZZZ}\n"

static const example examples[] = {
    {"plain", ITEMS_ONE, 0, "a, b", "a, b", ""},
    {"empty", ITEMS_ONE, 0, "", "", ""},
    {"quoted", ITEMS_ONE, 0, "\" a \"\"b\"\" \"", "« a \"b\" »", ""},
    {"two-lines", ITEMS_ONE, 0, "a\nb", NULL,
     "t.ini:9: error: [s] k takes one value, 2 lines are given\n  hint: it is not a list\n"},
    {"commas", ITEMS_COMMAS, 0, "a,b , c\nd,\n\"e, f\" ,g", "a|b|c|d|«e, f»|g", ""},
    {"lines", ITEMS_LINES, 0, "a{1,2}\n\"b\"", "a{1,2}|«b»", ""},
    {"no-items", ITEMS_COMMAS, 0, "", "", ""},
    {"empty-quoted", ITEMS_COMMAS, 0, "\"\"", "«»", ""},
    {"empty-item", ITEMS_COMMAS, 0, "a,,b", NULL,
     "t.ini:9: error: [s] k = \"a,,b\": an item is empty; write \"\" if that is meant\n"},
    {"empty-first", ITEMS_COMMAS, 0, ",b", NULL,
     "t.ini:9: error: [s] k = \",b\": an item is empty; write \"\" if that is meant\n"},
    {"empty-lone-comma", ITEMS_COMMAS, 0, "a\n,", NULL,
     "t.ini:9: error: [s] k = \"a\\n,\": an item is empty; write \"\" if that is meant\n"},
    {"open-quote", ITEMS_COMMAS, 0, "\"a, b", NULL,
     "t.ini:9: error: [s] k = \"\"a, b\": the closing quote is missing\n"},
    {"quote-over-lines", ITEMS_COMMAS, 0, "\"a\nb\"", NULL,
     "t.ini:9: error: [s] k = \"\"a\\nb\"\": the closing quote is missing\n"},
    {"after-quote", ITEMS_ONE, 0, "\"a\" b", NULL,
     "t.ini:9: error: [s] k = \"\"a\" b\": text after the closing quote; a quote inside quotes is "
     "written twice\n"},

    {"var", ITEMS_ONE, 0, "${run}/a", "runs/latest/a", ""},
    {"nested-var", ITEMS_ONE, 0, "${deep}", "runs/latest/x", ""},
    {"quoted-var", ITEMS_ONE, 0, "<${quoted}>", "< v >", ""},
    {"dollars", ITEMS_ONE, 0, "$$ $$$$ $x ^a$ $${run} $", "$ $$ $x ^a$ ${run} $", ""},
    {"env", ITEMS_ONE, 0, "${env:MILL_TEST}", "a, $b ${run}", ""},
    {"env-not-split", ITEMS_COMMAS, 0, "${env:MILL_TEST}", "a, $b ${run}", ""},
    {"env-not-set", ITEMS_ONE, 0, "${env:MILL_NONE}", NULL,
     "t.ini:9: error: ${env:MILL_NONE} is not set\n"
     "  hint: export MILL_NONE, or write ${env:MILL_NONE:-default}\n"},
    {"env-not-text", ITEMS_ONE, 0, "${env:MILL_LATIN}", NULL,
     "t.ini:9: error: ${env:MILL_LATIN} is not UTF-8 text\n"},
    {"default", ITEMS_ONE, 0, "${zzzz:-x${env:MILL_NONE:-y}z}", "xyz", ""},
    {"default-empty", ITEMS_ONE, 0, "${empty:-d}${env:MILL_EMPTY:-e}${zzzz:-}", "de", ""},
    {"default-unused", ITEMS_ONE, 0, "${run:-${zzzz}}", "runs/latest", ""},
    {"default-commas", ITEMS_COMMAS, 0, "${zzzz:-p, q}, r", "p, q|r", ""},
    {"data", ITEMS_ONE, 0, "${tracemill:data}/r", "/data/r", ""},
    {"no-meaning", ITEMS_ONE, 0, "${tracemill:x}", NULL,
     "t.ini:9: error: ${tracemill:x} has no meaning\n"
     "  hint: there are ${x} of [vars], ${env:X}, ${tracemill:data}, ${args}, ${item}\n"},
    {"typo", ITEMS_ONE, 0, "${rnu}", NULL,
     "t.ini:9: error: ${rnu} is not set\n"
     "  hint: did you mean ${run}? environment needs ${env:RNU}\n"},
    {"typo-in-var", ITEMS_ONE, 0, "${typo}", NULL,
     "v.ini:15: error: ${rnu} is not set\n"
     "  hint: did you mean ${run}? environment needs ${env:RNU}\n"},
    {"not-set", ITEMS_ONE, 0, "${zzzz}", NULL, "t.ini:9: error: ${zzzz} is not set\n" NOT_SET_HINT},
    {"unclosed", ITEMS_ONE, 0, "a${run", NULL,
     "t.ini:9: error: \"${run\" has no \"}\"\n  hint: write $${ for the text ${\n"},
    {"cycle", ITEMS_ONE, 0, "${a}", NULL,
     "v.ini:11: error: ${a} refers to itself: a -> b -> c -> a\n"},
    {"cycle-in-list", ITEMS_COMMAS, 0, "${self}", NULL,
     "v.ini:17: error: ${self} refers to itself: self -> self\n"},

    {"list-var", ITEMS_COMMAS, 0, "${list}, r", "p|q|r", ""},
    {"list-var-in-text", ITEMS_COMMAS, 0, "<${list}>", "<p, q>", ""},
    {"list-var-quoted", ITEMS_COMMAS, 0, "\"${list}\"", "«p, q»", ""},
    {"lines-var", ITEMS_COMMAS, 0, "${lines}", "p|p|q", ""},
    {"lines-var-in-text", ITEMS_COMMAS, 0, "<${lines}>", NULL,
     "t.ini:9: error: ${lines} is a list: it can stand only as a whole item of a list\n"},
    {"empty-var-in-list", ITEMS_COMMAS, 0, "${empty}, ${empty:-x}", "x", ""},

    {"args", ITEMS_COMMAS, VARS_ARGS, "x, ${args}", "x|=t, 1.json|=t*.json", ""},
    {"args-by-var", ITEMS_COMMAS, VARS_ARGS, "${files}", "=t, 1.json|=t*.json|z", ""},
    {"args-default-unused", ITEMS_COMMAS, VARS_ARGS, "${args:-x}", "=t, 1.json|=t*.json", ""},
    {"args-in-text", ITEMS_COMMAS, VARS_ARGS, "x/${args}", NULL,
     "t.ini:9: error: ${args} can stand only as a whole item of a list of files\n"
     "  hint: write it alone, one item of the list\n"},
    {"args-not-files", ITEMS_COMMAS, 0, "${args}", NULL,
     "t.ini:9: error: [s] k can't hold ${args}: it is not a list of files\n"},
    {"args-single", ITEMS_ONE, 0, "${args}", NULL,
     "t.ini:9: error: ${args} can stand only as a whole item of a list of files\n"
     "  hint: write it alone, one item of the list\n"},

    {"item", ITEMS_ONE, VARS_ITEM, "${run}/${item}$$${env:MILL_TEST}$",
     "runs/latest/${item}$$a, $$b $${run}$$", ""},
    {"item-by-var", ITEMS_ONE, VARS_ITEM, "${out}", "out/${item}.json", ""},
    {"item-not-allowed", ITEMS_ONE, 0, "${item}", NULL,
     "t.ini:9: error: [s] k can't hold ${item}\n  hint: see: tracemill inspect\n"},
};

/* The [vars] of the examples. */
static document *vars_document(problems *p) {
    return document_read_memory("v.ini", vars_text, strlen(vars_text), NULL, p);
}

static char *join(const GPtrArray *items) {
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < items->len; i++) {
        const value_item *it = items->pdata[i];
        g_string_append_printf(out, "%s%s%s%s%s", i ? "|" : "", it->literal ? "=" : "",
                               it->quoted ? "«" : "", it->text, it->quoted ? "»" : "");
    }
    return g_string_free(out, false);
}

static void test_example(gconstpointer data) {
    static const char *const args[] = {"t, 1.json", "t*.json", NULL};
    const example *e = data;
    g_autoptr(problems) p = problems_create();
    g_autoptr(document) doc = vars_document(p);
    g_autoptr(vars) v = vars_create(document_section(doc, "vars"), "/data", args);
    setting s = {.section = "s", .key = "k", .value = e->value, .at = {"t.ini", 9, NULL}};
    g_autoptr(GPtrArray) items = vars_expand(v, &s, e->form, e->flags, p);
    golden_problems(p, e->told);
    g_autofree char *text = items ? join(items) : NULL;
    g_assert_cmpstr(text, ==, e->items);
    bool has_args = items && (strstr(text, "=t"));
    g_assert_true(!has_args || vars_used_args(v));
}

static void test_no_args(void) {
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, NULL, NULL);
    setting s = {.section = "s", .key = "k", .value = "${args}", .at = {"t.ini", 9, NULL}};
    g_assert_null(vars_expand(v, &s, ITEMS_COMMAS, VARS_ARGS, p));
    golden_problems(p, "t.ini:9: error: ${args} is empty: no files are named on the command line\n"
                       "  hint: name them after the pipeline: tracemill run FILE.ini FILES…\n");
    g_assert_cmpint(problems_exit_code(p), ==, 66);

    s.value = "${args:-a, b*}";
    g_autoptr(GPtrArray) items = vars_expand(v, &s, ITEMS_COMMAS, VARS_ARGS, p);
    g_autofree char *text = join(items);
    g_assert_cmpstr(text, ==, "a|b*");

    g_autoptr(problems) q = problems_create();
    s.value = "${tracemill:data}";
    g_assert_null(vars_expand(v, &s, ITEMS_ONE, 0, q));
    golden_problems(q, "t.ini:9: error: ${tracemill:data} is not set\n"
                       "  hint: the installed data files were not found\n");
}

/* Few lines must not make much text, nor go deep enough to run out of stack. */
static void test_growth(void) {
    g_autoptr(GString) text = g_string_new("[vars]\nv0 = xxxxxxxxxxxxxxxx\ne0 =\nd0 = x\n");
    for (int i = 1; i <= 30; i++)
        g_string_append_printf(text, "v%d = ${v%d}${v%d}\ne%d = ${e%d}, ${e%d}\n", i, i - 1, i - 1,
                               i, i - 1, i - 1);
    for (int i = 1; i <= 100; i++)
        g_string_append_printf(text, "d%d = ${d%d}\n", i, i - 1);
    g_autoptr(problems) p = problems_create();
    g_autoptr(document) doc = document_read_memory("v.ini", text->str, text->len, NULL, p);
    g_autoptr(vars) v = vars_create(document_section(doc, "vars"), NULL, NULL);
    static const char *const values[] = {"${v25}", "${e25}", "${d100}"};
    static const char *const told[] = {"grows over 1048576 bytes", "grows over 1048576 bytes",
                                       "more than 32 deep"};
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        g_autoptr(problems) q = problems_create();
        setting s = {.section = "s", .key = "k", .value = values[i], .at = {"t.ini", 9, NULL}};
        g_assert_null(vars_expand(v, &s, ITEMS_COMMAS, 0, q));
        g_assert_cmpuint(problems_errors(q), ==, 1);
        g_assert_nonnull(strstr(problems_get(q, 0)->text, told[i]));
    }
}

static void test_item(void) {
    g_assert_true(vars_has_item("a/${item}"));
    g_assert_true(vars_has_item("$$${item}"));
    g_assert_false(vars_has_item("$${item} ${items} ${item"));
    g_autofree char *text = vars_item("a/${item}$$${item}-$${item}$$$", "rank3$$");
    g_assert_cmpstr(text, ==, "a/rank3$$$rank3$$-${item}$$");
}

static void test_format(void) {
    static const char *const texts[] = {"a", "a, b", " a", "\"a\" b", "", "a\"b", "${x}", ","};
    static const items_form forms[] = {ITEMS_ONE, ITEMS_LINES, ITEMS_COMMAS};
    g_autoptr(problems) p = problems_create();
    for (size_t f = 0; f < G_N_ELEMENTS(forms); f++)
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
            g_autofree char *written = items_format(texts[i], forms[f]);
            setting s = {.section = "s", .key = "k", .value = written, .at = {.text = "x"}};
            g_autoptr(GPtrArray) items = items_split(&s, forms[f], p);
            g_assert_nonnull(items);
            g_assert_cmpuint(items->len, ==, 1);
            g_assert_cmpstr(((value_item *)items->pdata[0])->text, ==, texts[i]);
        }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_setenv("MILL_TEST", "a, $b ${run}", true);
    g_setenv("MILL_EMPTY", "", true);
    g_setenv("MILL_LATIN", "caf\xE9", true);
    g_unsetenv("MILL_NONE");
    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *path = g_strconcat("/config/vars/", examples[i].name, NULL);
        g_test_add_data_func(path, &examples[i], test_example);
    }
    g_test_add_func("/config/vars/no-args", test_no_args);
    g_test_add_func("/config/vars/growth", test_growth);
    g_test_add_func("/config/vars/item-text", test_item);
    g_test_add_func("/config/items/format", test_format);
    return g_test_run();
}
