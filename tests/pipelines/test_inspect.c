/* SPDX-License-Identifier: Apache-2.0 */
/* What `inspect` says of each bundled class is of use as it stands: its stanza passes the check
 * when wired to stages that fit, its JSON is a schema by which options can be told right from
 * wrong, and its page of the manual has them all. */
#include "program.h"

#include <cjson/cJSON.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <string.h>

static GHashTable *classes; /* name -> cJSON *: what `inspect --json` says */
static GPtrArray *names;    /* of those that are bundled */
static char *folder;

static const char *text_of(const cJSON *json, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(json, key));
}

static bool is_set(const cJSON *json, const char *flag) {
    return cJSON_IsTrue(cJSON_GetObjectItem(json, flag));
}

static cJSON *told(const char *const *words) {
    g_auto(outcome) o = program_run(folder, words, NULL);
    cJSON *json = cJSON_Parse(o.out);
    if (json == NULL)
        g_error("tracemill %s %s says: %s", words[1], words[2], o.err);
    return json;
}

static void read_classes(void) {
    classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)cJSON_Delete);
    names = g_ptr_array_new();
    cJSON *list = told((const char *const[]){"tracemill", "list", "--json", NULL}), *m, *name;
    cJSON_ArrayForEach(m, cJSON_GetObjectItem(list, "modules")) {
        if (!g_str_has_prefix(text_of(m, "path"), "BUILD/plugins/"))
            continue; /* of the tests' own */
        cJSON_ArrayForEach(name, cJSON_GetObjectItem(m, "classes")) {
            const char *words[] = {"tracemill", "inspect", "--json", name->valuestring, NULL};
            char *key = g_strdup(name->valuestring);
            g_hash_table_insert(classes, key, told(words));
            g_ptr_array_add(names, key);
        }
    }
    cJSON_Delete(list);
    g_assert_cmpuint(names->len, >, 0);
}

/* ---------------------------------------------------------------- stanzas */

/* A pipeline being put together: the stages that are in it. */
typedef struct wiring {
    GString *text;
    GPtrArray *within; /* classes whose inputs are being found */
} wiring;

static char *wire(wiring *w, const char *class, bool all);

/* Whether the class can run with nothing but readers before it. */
static bool gives(const cJSON *class, const char *type, unsigned depth) {
    const cJSON *port, *other;
    bool found = false;
    cJSON_ArrayForEach(port, cJSON_GetObjectItem(class, "outputs")) found |=
        strcmp(text_of(port, "type"), type) == 0;
    cJSON_ArrayForEach(port, cJSON_GetObjectItem(class, "inputs")) {
        bool fed = is_set(port, "optional");
        for (guint i = 0; i < names->len && !fed && found && depth > 0; i++) {
            other = g_hash_table_lookup(classes, names->pdata[i]);
            fed = other != class && gives(other, text_of(port, "type"), depth - 1);
        }
        found &= fed;
    }
    return found;
}

/* Adds a stage that gives the type, the one with the fewest stages before it; its name, or
 * "stage.port". */
static char *supply(wiring *w, const char *type) {
    for (unsigned depth = 0; depth < 4; depth++)
        for (guint i = 0; i < names->len; i++) {
            const cJSON *class = g_hash_table_lookup(classes, names->pdata[i]), *port;
            if (!gives(class, type, depth) ||
                g_ptr_array_find_with_equal_func(w->within, names->pdata[i], g_str_equal, NULL))
                continue;
            g_autofree char *stage = wire(w, names->pdata[i], false);
            const cJSON *outputs = cJSON_GetObjectItem(class, "outputs");
            cJSON_ArrayForEach(port, outputs) {
                if (strcmp(text_of(port, "type"), type) == 0)
                    return cJSON_GetArraySize(outputs) == 1
                               ? g_steal_pointer(&stage)
                               : g_strdup_printf("%s.%s", stage, text_of(port, "name"));
            }
        }
    g_error("no class gives %s", type);
}

/* Adds the stanza as it is printed, or with `all` each default in effect, with the stages it needs.
 */
static char *wire(wiring *w, const char *class, bool all) {
    const cJSON *json = g_hash_table_lookup(classes, class);
    g_autoptr(GRegex) input =
        g_regex_new("^(in[a-z.-]*) = STAGE   ; .*of type (\\S+)$", 0, 0, NULL);
    g_auto(GStrv) lines = g_strsplit(text_of(json, "stanza"), "\n", -1);
    char *stage = g_strdup_printf("s%u-%s", (unsigned)w->text->len, lines[0] + 1);
    *strchr(stage, ']') = '\0';
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "[%s]\n", stage);
    g_ptr_array_add(w->within, (gpointer) class);
    for (char **line = lines + 1; *line != NULL; line++) {
        g_autoptr(GMatchInfo) match = NULL;
        bool mark = all && g_str_has_prefix(*line, "; ") && strstr(*line, "= STAGE") == NULL &&
                    !g_str_has_suffix(*line, "; an example");
        if (!g_regex_match(input, *line, 0, &match)) {
            g_string_append_printf(text, "%s\n", *line + (mark ? 2 : 0));
            continue;
        }
        g_autofree char *key = g_match_info_fetch(match, 1), *type = g_match_info_fetch(match, 2);
        g_autofree char *from = supply(w, type);
        g_string_append_printf(text, "%s = %s\n", key, from);
    }
    g_ptr_array_remove_index(w->within, w->within->len - 1);
    g_string_append(w->text, text->str);
    return stage;
}

/* Whether the line explains the value that stands for what only the user can know. */
static bool explains_example(const char *line) {
    bool found = false;
    for (guint i = 0; i < names->len; i++) {
        const cJSON *class = g_hash_table_lookup(classes, names->pdata[i]), *option;
        cJSON_ArrayForEach(option, cJSON_GetObjectItem(class, "options")) {
            g_autofree char *stage = g_strdelimit(g_strdup(names->pdata[i]), ".", '-');
            g_autofree char *key =
                g_strdup_printf("-%s] %s = TEXT: ", stage, text_of(option, "name"));
            found |= is_set(option, "required") && strstr(line, key) != NULL;
        }
    }
    return found;
}

/* With every default written some do not go together, which the class says of itself: "[s] …"; of a
 * single value, and of a key, nothing may be said. */
static bool is_wrong(const char *line, bool all) {
    return strstr(line, ": error: ") != NULL && !explains_example(line) &&
           (!all || g_regex_match_simple(
                        "error: (?!\\[)|error: \\[[^]]*\\] (has no option|\\S+ = )", line, 0, 0));
}

/* All classes in one pipeline: to look for modules once for each would take most of the time. */
static void check_stanzas(bool all) {
    g_autoptr(GPtrArray) within = g_ptr_array_new();
    wiring w = {g_string_new(NULL), within};
    for (guint i = 0; i < names->len; i++)
        g_free(wire(&w, names->pdata[i], all));
    g_autofree char *path = g_build_filename(folder, "stanzas.ini", NULL);
    g_assert_true(g_file_set_contents(path, w.text->str, -1, NULL));
    g_string_free(w.text, TRUE);
    const char *words[] = {"tracemill", "check", "stanzas.ini", "profile.json", NULL};
    g_auto(outcome) o = program_run(folder, words, NULL);
    g_auto(GStrv) lines = g_strsplit(o.err, "\n", -1);
    bool any = false;
    for (char **line = lines; *line != NULL; line++) {
        any |= strstr(*line, ": error: ") != NULL;
        if (is_wrong(*line, all)) {
            g_test_message("%s", *line);
            g_test_fail();
        }
    }
    g_assert_cmpint(o.exit_code, ==, any ? 78 : 0);
}

static void test_stanzas(void) {
    check_stanzas(false);
}

static void test_defaults(void) {
    check_stanzas(true);
}

/* ---------------------------------------------------------------- schemas */

static void test_schema(gconstpointer data) {
    const cJSON *json = g_hash_table_lookup(classes, data), *option;
    const cJSON *properties = cJSON_GetObjectItem(json, "properties");
    g_assert_cmpstr(text_of(json, "$schema"), ==, "https://json-schema.org/draft/2020-12/schema");
    g_assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "additionalProperties")));
    g_assert_cmpint(cJSON_GetArraySize(properties), ==,
                    cJSON_GetArraySize(cJSON_GetObjectItem(json, "options")));
    int required = 0;
    cJSON_ArrayForEach(option, cJSON_GetObjectItem(json, "options")) {
        const cJSON *property = cJSON_GetObjectItem(properties, text_of(option, "name"));
        g_assert_cmpstr(text_of(property, "x-type"), ==, text_of(option, "type"));
        g_assert_true(text_of(option, "default") == NULL ||
                      cJSON_GetObjectItem(property, "default") != NULL);
        required += is_set(option, "required");
    }
    g_assert_cmpint(cJSON_GetArraySize(cJSON_GetObjectItem(json, "required")), ==, required);
}

/* The manual's page of the class has each option. */
static void test_page(gconstpointer data) {
    g_autofree char *file = g_strdup_printf("etc/man7/tracemill-%s.7", (const char *)data);
    g_autofree char *path = program_build(file), *page = NULL;
    if (!g_file_get_contents(path, &page, NULL, NULL))
        g_error("there is no page %s", path);
    const cJSON *option;
    cJSON_ArrayForEach(option, cJSON_GetObjectItem(g_hash_table_lookup(classes, data), "options")) {
        g_autoptr(GString) name = g_string_new(text_of(option, "name"));
        g_string_replace(name, "-", "\\-", 0);
        g_autofree char *tag = g_strdup_printf(".TP\n\\fB%s\\fR\n", name->str);
        if (strstr(page, tag) == NULL)
            g_error("%s does not tell %s", path, text_of(option, "name"));
    }
}

/* A validator of someone else's agrees: of all schemas, and of what they accept. */
static void test_validator(void) {
    g_autofree char *script = program_source("tests/pipelines/manual/schema.py");
    g_autofree char *file = g_build_filename(folder, "schemas.json", NULL);
    cJSON *all = cJSON_CreateArray();
    for (guint i = 0; i < names->len; i++)
        cJSON_AddItemReferenceToArray(all, g_hash_table_lookup(classes, names->pdata[i]));
    char *text = cJSON_Print(all);
    cJSON_Delete(all);
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    cJSON_free(text);
    g_auto(GStrv) env = program_environment();
    char *argv[] = {(char *)"python3", script, file, NULL};
    g_auto(outcome) o = program_spawn(folder, env, argv);
    if (o.exit_code == 77)
        g_test_skip("python3-jsonschema is not installed: no schema was validated");
    else if (o.exit_code != 0)
        g_error("%s", o.err);
}

/* ---------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return g_remove(path);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("tracemill-inspect-XXXXXX", NULL);
    g_autofree char *profile = g_build_filename(folder, "profile.json", NULL);
    g_assert_true(g_file_set_contents(profile, "{}", -1, NULL));
    read_classes();
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *schema = g_strdup_printf("/inspect/schema/%s", (char *)names->pdata[i]);
        g_test_add_data_func(schema, names->pdata[i], test_schema);
        g_autofree char *page = g_strdup_printf("/inspect/page/%s", (char *)names->pdata[i]);
        g_test_add_data_func(page, names->pdata[i], test_page);
    }
    g_test_add_func("/inspect/stanzas", test_stanzas);
    g_test_add_func("/inspect/defaults", test_defaults);
    g_test_add_func("/inspect/validator", test_validator);
    int failed = g_test_run();
    g_ptr_array_unref(names);
    g_hash_table_unref(classes);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    g_free(folder);
    return failed;
}
