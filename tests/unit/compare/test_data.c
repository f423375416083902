/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `compare` on real profiles: with themselves, and with one stage made slower. */
#include "data.h"
#include "look.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/attribution.h>

/* A profile with its attribution. */
typedef struct profile {
    bench *reader, *attribution;
} profile;

static profile read_profile(const char *path) {
    profile p = {.reader = data_read(path)};
    p.attribution =
        bench_create(bench_open("plugins/analyzers/attribution/attribution.so"), "attribution");
    bench_input(p.attribution, "trace", MILL_TYPE_TRACE, bench_output(p.reader, "trace", 0),
                "trace", "");
    g_assert_cmpint(bench_run(p.attribution), ==, MILL_OK);
    return p;
}

static void finish(profile *p) {
    bench_destroy(p->attribution);
    bench_destroy(p->reader);
}

static bench *compare(const profile *base, const profile *now) {
    bench *b = bench_create(bench_open("plugins/analyzers/compare/compare.so"), "compare");
    bench_input(b, "base", MILL_TYPE_TRACE, bench_output(base->reader, "trace", 0), "base", "");
    bench_input(b, "new", MILL_TYPE_TRACE, bench_output(now->reader, "trace", 0), "new", "");
    bench_input(b, "base-attribution", MILL_TYPE_ATTRIBUTION,
                bench_output(base->attribution, "attribution", 0), "base-places", "");
    bench_input(b, "new-attribution", MILL_TYPE_ATTRIBUTION,
                bench_output(now->attribution, "attribution", 0), "new-places", "");
    return b;
}

static void check_same(bench *b, mill_status status) {
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    g_assert_cmpuint(r->n_findings, ==, 0);
    g_assert_null(look_table(r, "kernels"));
    g_assert_null(look_table(r, "unmatched"));
    g_assert_null(look_table(r, "differences"));
}

/* No profile is another than itself. */
static void test_self(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *traces = g_build_filename(folder, "traces", NULL);
    g_autoptr(GDir) dir = g_dir_open(traces, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, ".json.gz"))
            continue;
        g_test_message("%s", name);
        g_autofree char *path = g_build_filename(traces, name, NULL);
        profile p = read_profile(path);
        bench *b = compare(&p, &p);
        const mill_trace *t = bench_output(p.reader, "trace", 0);
        mill_status status = bench_run(b);
        if (t->gpu.n == 0)
            g_assert_cmpint(status, ==, MILL_E_DATA);
        else
            check_same(b, status);
        bench_destroy(b);
        finish(&p);
    }
}

/* The headline figures are those of `overlap`. */
static void test_figures(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces", "deepseek-train.json.gz", NULL);
    profile p = read_profile(path);
    bench *b = compare(&p, &p);
    data_report overlap;
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    data_report_init(&overlap, path, "overlap", "overlap", NULL);
    const mill_table *t = look_table(bench_output(b, "report", 0), "times");
    guint same = 0;
    for (int64_t row = 0; row < (int64_t)t->rows; row++) {
        const char *id = look_cell(t, row, "id").text;
        if (strcmp(id, "notify") == 0)
            continue;
        g_test_message("%s", id);
        g_assert_cmpint(look_cell(t, row, "base").i, ==, look_int(overlap.report, id, NULL));
        same++;
    }
    g_assert_cmpuint(same, ==, 7);
    data_report_finish(&overlap);
    bench_destroy(b);
    finish(&p);
}

/* ---------------------------------------------------------------- one stage slower */

/* Correlation ids, one for each activity in that profile, of those of the stage. */
static GHashTable *activities_of(const profile *p, const char *stage) {
    GHashTable *ids = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    const mill_trace *t = bench_output(p->reader, "trace", 0);
    const mill_attribution *a = bench_output(p->attribution, "attribution", 0);
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        uint32_t place = a->place[row];
        if (place == MILL_NONE || a->stage[place] == MILL_NONE ||
            strcmp(a->stages[a->stage[place]], stage) != 0)
            continue;
        int64_t id = mill_i64(t, &t->gpu.correlation, row);
        g_hash_table_add(ids, g_memdup2(&id, sizeof id));
    }
    return ids;
}

static bool is_device_event(const cJSON *event) {
    const char *cat = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "cat"));
    return cat && (strcmp(cat, "kernel") == 0 || g_str_has_prefix(cat, "gpu_mem"));
}

static double number_of(const cJSON *object, const char *name) {
    return data_field(object, name)->valuedouble;
}

static int compare_starts(gconstpointer a, gconstpointer b) {
    double x = number_of(*(cJSON *const *)a, "ts"), y = number_of(*(cJSON *const *)b, "ts");
    return (x > y) - (x < y);
}

/* Makes the stage's activities longer by a fifth; what follows on their streams moves back. */
static void slow_down(cJSON *events, GHashTable *ids) {
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    double free_at[64] = {0}; /* of each stream */
    cJSON *event;
    cJSON_ArrayForEach(event, events) if (is_device_event(event)) g_ptr_array_add(list, event);
    g_ptr_array_sort(list, compare_starts);
    for (guint i = 0; i < list->len; i++) {
        cJSON *dur = cJSON_GetObjectItemCaseSensitive(list->pdata[i], "dur");
        cJSON *ts = cJSON_GetObjectItemCaseSensitive(list->pdata[i], "ts");
        const cJSON *args = data_field(list->pdata[i], "args");
        int64_t id = data_integer(args, "correlation"), stream = data_integer(args, "stream");
        g_assert_cmpint(stream, <, (int64_t)G_N_ELEMENTS(free_at));
        if (g_hash_table_contains(ids, &id))
            cJSON_SetNumberValue(dur, dur->valuedouble * 12 / 10);
        cJSON_SetNumberValue(ts, MAX(ts->valuedouble, free_at[stream]));
        free_at[stream] = ts->valuedouble + dur->valuedouble;
    }
}

static char *slow_file(const char *path, GHashTable *ids) {
    g_autofree char *text = NULL, *name = NULL;
    g_autoptr(GError) error = NULL;
    const char *const words[] = {"gzip", "-dc", path, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &text,
                               NULL, NULL, &error));
    cJSON *json = cJSON_Parse(text);
    g_assert_nonnull(json);
    slow_down(cJSON_GetObjectItemCaseSensitive(json, "traceEvents"), ids);
    char *out = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    int fd = g_file_open_tmp("tracemill-slow-XXXXXX.json", &name, &error);
    g_assert_no_error(error);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(name, out, -1, NULL));
    cJSON_free(out);
    return g_steal_pointer(&name);
}

/* Exactly the stage is named; the run fails where what it costs is above 2 % of the window. */
static void check_slow_stage(const char *path, const profile *base, const char *stage) {
    g_autoptr(GHashTable) ids = activities_of(base, stage);
    g_autofree char *file = slow_file(path, ids);
    profile now = read_profile(file);
    g_remove(file);
    bench *b = compare(base, &now);
    mill_status status = bench_run(b);
    const mill_report *r = bench_output(b, "report", 0);
    const mill_finding *found = NULL;
    g_test_message("%s: %u activities", stage, g_hash_table_size(ids));
    g_assert_cmpstr(bench_causes(b), ==, "");
    for (uint64_t i = 0; i < r->n_findings; i++) {
        const mill_finding *f = r->findings[i];
        g_test_message("%s: %s, %s", f->rule, f->where, f->evidence);
        g_assert_cmpstr(f->rule, !=, "kernel");
        if (strcmp(f->rule, "stage") == 0) {
            g_assert_null(found);
            found = f;
        }
    }
    g_assert_nonnull(found);
    g_assert_cmpstr(found->where, ==, stage);
    g_assert_nonnull(strstr(found->evidence, "+20.0 %"));
    if (found->cost_ns * 50 > 129012000)
        g_assert_cmpint(status, ==, MILL_GATE);
    bench_destroy(b);
    finish(&now);
}

static void test_slow_stage(void) {
    static const char *const stages[] = {"attn(F)",    "mlp(F)",    "attn(B)",     "mlp(B)",
                                         "attn(W)",    "mlp(W)",    "dispatch(F)", "dispatch(B)",
                                         "combine(F)", "combine(B)"};
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces", "deepseek-train.json.gz", NULL);
    profile base = read_profile(path);
    for (size_t i = 0; i < G_N_ELEMENTS(stages); i++)
        check_slow_stage(path, &base, stages[i]);
    finish(&base);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/compare-data/self", test_self);
    g_test_add_func("/compare-data/figures", test_figures);
    g_test_add_func("/compare-data/slow-stage", test_slow_stage);
    return g_test_run();
}
