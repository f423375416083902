/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of output with the text that was once looked at and found right: see golden.h. */
#include "golden.h"

#include <string.h>

void golden_check(const char *name, const GString *text) {
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strconcat(name, ".golden", NULL), *want = NULL;
    g_autofree char *path = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests", "unit",
                                             "exporters", file, NULL);
    gsize length;
    g_assert_nonnull(text);
    if (g_strcmp0(g_getenv("TRACEMILL_GOLDEN"), "update") == 0) {
        g_file_set_contents(path, text->str, (gssize)text->len, &error);
        g_assert_no_error(error);
        return;
    }
    g_file_get_contents(path, &want, &length, &error);
    g_assert_no_error(error);
    if (length != text->len || memcmp(want, text->str, length) != 0)
        g_test_message("%s differs; it would now be:\n%s", path, text->str);
    g_assert_cmpmem(text->str, text->len, want, length);
}
