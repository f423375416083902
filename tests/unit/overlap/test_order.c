/* SPDX-License-Identifier: Apache-2.0 */
/* T10: the order in which a file has its events, and whether it is packed, change nothing. */
#include "analysed.h"

#include <glib/gstdio.h>
#include <string.h>

static void append_datum(GString *text, mill_kind kind, mill_datum d) {
    if (kind == MILL_KIND_TEXT)
        g_string_append_printf(text, " %s", d.text ? d.text : "unknown");
    else if (kind == MILL_KIND_RATIO || kind == MILL_KIND_REAL)
        g_string_append_printf(text, " %.17g", d.d);
    else
        g_string_append_printf(text, " %" G_GINT64_FORMAT, d.i);
}

/* All that the report says but where the profile lies. */
static char *report_text(const mill_report *report) {
    GString *text = g_string_new(report->summary);
    for (uint64_t i = 0; i < report->n_notes; i++)
        g_string_append_printf(text, "\n%s", report->notes[i]->text);
    for (uint64_t i = 0; i < report->n_figures; i++) {
        g_string_append_printf(text, "\n%s", report->figures[i]->id);
        append_datum(text, report->figures[i]->kind, report->figures[i]->value);
    }
    for (uint64_t i = 0; i < report->n_tables; i++) {
        const mill_table *t = report->tables[i];
        g_string_append_printf(text, "\n[%s]", t->id);
        for (uint64_t row = 0; row < t->rows; row++) {
            g_string_append_c(text, '\n');
            for (uint64_t c = 0; c < t->n_columns; c++)
                append_datum(text, t->columns[c]->kind, t->columns[c]->cells[row]);
        }
    }
    return g_string_free(text, FALSE);
}

static cJSON *unpack(const char *path) {
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    const char *argv[] = {"gzip", "-dc", path, NULL};
    g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text, NULL, NULL,
                 &error);
    g_assert_no_error(error);
    cJSON *json = cJSON_Parse(text);
    g_assert_nonnull(json);
    return json;
}

/* Puts the elements of the array in another order. */
static void shuffle(cJSON *array) {
    int n = cJSON_GetArraySize(array);
    g_autofree cJSON **all = g_new(cJSON *, n);
    for (int i = 0; i < n; i++)
        all[i] = cJSON_DetachItemFromArray(array, 0);
    for (int i = n - 1; i > 0; i--) {
        int other = g_test_rand_int_range(0, i + 1);
        cJSON *swap = all[i];
        all[i] = all[other];
        all[other] = swap;
    }
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(array, all[i]);
}

/* Events in any order, not packed: the same report. */
static void test_shuffled(void) {
    static const char *const all_rows[] = {"top=1000", "kernels=1000", "detail=yes", NULL};
    const char *data = data_folder();
    if (!data)
        return;
    g_autofree char *path = g_strdup_printf("%s/traces/deepseek-train.json.gz", data);
    analysed whole;
    analysed_init(&whole, path, all_rows, true);
    g_autofree char *expected = report_text(whole.report);
    g_autofree char *folder = g_dir_make_tmp("tracemill-shuffled-XXXXXX", NULL);
    g_autofree char *other = g_build_filename(folder, "train.json", NULL);
    cJSON *json = unpack(path);
    for (int round = 0; round < 5; round++) {
        shuffle(cJSON_GetObjectItem(json, "traceEvents"));
        char *text = cJSON_PrintUnformatted(json);
        g_assert_true(g_file_set_contents(other, text, -1, NULL));
        cJSON_free(text);
        analysed a;
        analysed_init(&a, other, all_rows, true);
        g_autofree char *found = report_text(a.report);
        if (!g_str_equal(found, expected))
            g_error("the order of events changes what is told");
        analysed_finish(&a);
    }
    cJSON_Delete(json);
    analysed_finish(&whole);
    g_assert_cmpint(g_unlink(other), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/overlap/order", test_shuffled);
    return g_test_run();
}
