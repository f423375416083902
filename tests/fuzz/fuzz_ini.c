/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the INI reader: any bytes become clean values on rising lines, or a message. */
#include <string.h>

#include "config/lines.h"
#include "config/vars.h"
#include "fuzz.h"

static void check_text(const char *text) {
    g_assert_true(g_utf8_validate(text, -1, NULL));
    for (; *text; text++)
        g_assert_true(!g_ascii_iscntrl(*text) || *text == '\t' || *text == '\n');
}

/* Where the reading is. */
typedef struct place {
    uint32_t line;
    char *section;
} place;

static bool on_line(void *arg, const char *name, uint32_t section_line, const char *key,
                    const char *value, uint32_t line) {
    place *at = arg;
    g_assert_cmpuint(line, >, at->line);
    at->line = line;
    check_text(name);
    g_assert_cmpuint(strlen(name), <=, LINES_MAX_NAME);
    if (!key) {
        g_assert_cmpuint(section_line, ==, line);
        g_free(at->section);
        at->section = g_strdup(name);
        return true;
    }
    g_assert_cmpstr(name, ==, at->section);
    check_text(key);
    check_text(value);
    g_assert_cmpuint(strlen(key), <=, LINES_MAX_NAME);
    g_assert_cmpint(key[0], !=, '\0');
    return true;
}

/* Expands every setting in all forms. */
static void check_document(const char *data, size_t size) {
    static const char *const args[] = {"f", NULL};
    g_autoptr(problems) p = problems_create();
    g_autoptr(document) doc = document_read_memory("f.ini", data, size, "/data", p);
    g_autoptr(vars) v = vars_create(document_section(doc, DOCUMENT_VARS), "/data", args);
    for (guint i = 0; i < doc->sections->len; i++) {
        const section *sec = doc->sections->pdata[i];
        for (guint j = 0; j < sec->settings->len; j++)
            for (items_form form = ITEMS_ONE; form <= ITEMS_COMMAS; form++) {
                size_t errors = problems_errors(p);
                g_autoptr(GPtrArray) items =
                    vars_expand(v, sec->settings->pdata[j], form, VARS_ARGS | VARS_ITEM, p);
                g_assert_true(items || errors > 0 || problems_errors(p) > errors);
            }
    }
    g_autofree char *told = problems_format(p, false);
    check_text(told);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(problems) p = problems_create();
    place at = {0};
    bool good = lines_read_memory("f.ini", (const char *)data, size, on_line, &at, p);
    g_assert_true(good == (problems_errors(p) == 0));
    g_free(at.section);
    g_autofree char *told = problems_format(p, false);
    check_text(told);
    if (!memmem(data, size, "include", strlen("include"))) /* which would read files */
        check_document((const char *)data, size);
    return 0;
}
