/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes --set: each line of the input is one argument over a small pipeline. */
#include <string.h>

#include "config/vars.h"
#include "fuzz.h"

static const char pipeline[] = "[pipeline]\nname = p\n"
                               "[vars]\nrun = runs\nall = ${run}, ${more:-none}\n"
                               "[trace]\nuse = kineto.read\npath = ${run}/r*.json, ${args}\n"
                               "[out]\nuse = json.write\nin = ${all}\npath = ${item}.json\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    g_autoptr(problems) p = problems_create();
    g_autoptr(document) doc = document_read_memory("p.ini", pipeline, sizeof pipeline - 1, NULL, p);
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) arguments = g_strsplit(text, "\n", 100);
    for (char **argument = arguments; *argument; argument++) {
        g_autoptr(problems) q = problems_create();
        bool good = document_set(doc, *argument, q);
        g_assert_true(good == (problems_errors(q) == 0));
        g_autofree char *told = problems_format(q, false);
        g_assert_true(g_utf8_validate(told, -1, NULL));
        g_assert_true(good || strchr(told, '\n') == strrchr(told, '\n') ||
                      strstr(told, "\n  hint: "));
    }
    static const char *const args[] = {"f", NULL};
    g_autoptr(vars) v = vars_create(document_section(doc, DOCUMENT_VARS), NULL, args);
    for (guint i = 0; i < doc->sections->len; i++) {
        const section *sec = doc->sections->pdata[i];
        for (guint j = 0; j < sec->settings->len; j++) {
            g_autoptr(GPtrArray) items =
                vars_expand(v, sec->settings->pdata[j], ITEMS_COMMAS, VARS_ARGS | VARS_ITEM, p);
            g_assert_true(items || problems_errors(p) > 0);
        }
    }
    return 0;
}
