/* SPDX-License-Identifier: Apache-2.0 */
/* Every ready pipeline says the same, to the byte, when each value that a stage posts is saved and
 * loaded before anyone sees it. The linker puts __wrap_value_create in place of the engine's
 * value_create (--wrap). */
#include "crossing.h"

#include <glib/gstdio.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "data.h"
#include "engine/engine.h"
#include "engine/value.h"
#include "module/probe.h"

/* ---------------------------------------------------------------- values that cross */

static bool crosses; /* changed between runs */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* As long as the run: what was loaded, and what it stands for, whose addresses the engine knows. */
static GPtrArray *crossed;   /* crossing * */
static GPtrArray *originals; /* value * */

value *__real_value_create(const mill_type *type, void *data, value_memory *memory);
value *__wrap_value_create(const mill_type *type, void *data, value_memory *memory);

/* Wrong bytes here and there: refused, or a value all the same, but never a crash. */
static void load_damaged(const mill_type *type, const GByteArray *bytes) {
    uint64_t random = bytes->len;
    for (int i = 0; i < 100 && bytes->len < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        guint at = (guint)((random >> 32) % bytes->len);
        uint8_t was = bytes->data[at];
        bytes->data[at] = (uint8_t)(was ^ (random >> 20 | 1));
        g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
        if (c->data)
            g_byte_array_unref(crossing_save(type, c->data));
        bytes->data[at] = was;
    }
}

value *__wrap_value_create(const mill_type *type, void *data, value_memory *memory) {
    if (!crosses)
        return __real_value_create(type, data, memory);
    g_assert_nonnull(type->save); /* else its stages can't run in a process of their own */
    g_autoptr(GByteArray) bytes = crossing_save(type, data);
    load_damaged(type, bytes);
    crossing *c = crossing_load(type, bytes->data, bytes->len, 0);
    if (c->cause)
        g_error("%s", c->cause);
    g_autoptr(GByteArray) again = crossing_save(type, c->data);
    g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
    pthread_mutex_lock(&lock);
    g_ptr_array_add(crossed, c);
    g_ptr_array_add(originals, __real_value_create(type, data, memory));
    pthread_mutex_unlock(&lock);
    return __real_value_create(type, c->data, value_memory_create(1));
}

/* ---------------------------------------------------------------- runs */

static modules *all;
static char *etc;

static char *run(const char *pipeline, const char *const *args, const char *const *sets,
                 bool cross) {
    g_autoptr(problems) told = problems_create();
    plan_request request = {pipeline, args, sets, etc};
    plan *p = plan_create(&request, all, told);
    g_autofree char *text = problems_format(told, false);
    if (!p)
        g_error("%s: %s", pipeline, text);
    crosses = cross;
    crossed = g_ptr_array_new_with_free_func((GDestroyNotify)crossing_destroy);
    originals = g_ptr_array_new_with_free_func((GDestroyNotify)value_unref);
    outcome *o =
        engine_run(p, &(engine_options){.jobs = 2, .log_level = MILL_ERROR, .capture = true});
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < o->printed->len; i++)
        g_string_append(out, ((const printed *)o->printed->pdata[i])->text);
    for (guint i = 0; i < o->failures->len; i++) {
        const failure *f = o->failures->pdata[i];
        g_autofree char *why = causes_text(&f->causes, false);
        g_string_append_printf(out, "[%s] %s %s\n", f->stage ? f->stage->name : "", f->key, why);
    }
    g_string_append_printf(out, "exit %d\n", o->exit_code);
    g_assert_true((crossed->len > 0) == cross);
    crosses = false;
    outcome_destroy(o);
    g_clear_pointer(&originals, g_ptr_array_unref);
    g_clear_pointer(&crossed, g_ptr_array_unref);
    plan_destroy(p);
    return g_string_free(out, FALSE);
}

static void assert_same(const char *pipeline, const char *const *args, const char *const *sets) {
    g_test_message("%s %s", pipeline, args[0] ? args[0] : "");
    g_autofree char *as_ever = run(pipeline, args, sets, false);
    g_autofree char *loaded = run(pipeline, args, sets, true);
    size_t same = 0;
    while (as_ever[same] && as_ever[same] == loaded[same])
        same++;
    if (as_ever[same] || loaded[same])
        g_error("%s: \"%.200s\" became \"%.200s\"", pipeline, as_ever + same, loaded + same);
}

/* Of a pipeline that prints text: the same reports as JSON, which holds all there is. */
static void assert_same_as_json(const char *pipeline, const char *const *args,
                                const char *const *sets) {
    g_autofree char *path = g_strdup_printf("%s/pipelines/%s.ini", etc, pipeline), *ini = NULL;
    g_assert_true(g_file_get_contents(path, &ini, NULL, NULL));
    g_auto(GStrv) parts = g_strsplit(ini, "text.write", 0);
    g_autofree char *as_json = g_strjoinv("json.write", parts);
    if (g_strv_length(parts) < 2)
        return;
    g_autofree char *copy = NULL;
    int fd = g_file_open_tmp("tracemill-XXXXXX.ini", &copy, NULL);
    g_assert_cmpint(fd, >=, 0);
    close(fd);
    g_assert_true(g_file_set_contents(copy, as_json, -1, NULL));
    assert_same(copy, args, sets);
    g_assert_cmpint(g_unlink(copy), ==, 0);
}

/* ---------------------------------------------------------------- tests */

static char *sample;

static bool takes_no_trace(const char *pipeline) {
    return g_str_has_prefix(pipeline, "eplb") || g_str_has_prefix(pipeline, "plan-");
}

static void test_ready(gconstpointer data) {
    const char *pipeline = data;
    g_autofree char *base = g_strconcat("vars.base=", sample, NULL);
    const char *args[] = {takes_no_trace(pipeline) ? NULL : sample, NULL};
    const char *sets[] = {strcmp(pipeline, "compare") == 0 ? base : NULL, NULL};
    assert_same(pipeline, args, sets);
    assert_same_as_json(pipeline, args, sets);
}

static void test_data(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *traces = g_build_filename(folder, "traces", NULL);
    g_autoptr(GDir) dir = g_dir_open(traces, 0, NULL);
    g_assert_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(traces, name, NULL);
        const char *args[] = {path, NULL}, *sets[] = {NULL};
        const char *const pipelines[] = {"train", "pipeline", "ranks", "bubble", "decode"};
        for (size_t i = 0; i < G_N_ELEMENTS(pipelines) && g_str_has_suffix(name, ".json.gz"); i++)
            assert_same(pipelines[i], args, sets);
    }
}

static void scan(void) {
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), "host", "build-tree.ini", NULL);
    g_autoptr(GKeyFile) tree = g_key_file_new();
    g_assert_true(g_key_file_load_from_file(tree, path, G_KEY_FILE_NONE, NULL));
    g_auto(GStrv) plugins = g_key_file_get_string_list(tree, "build-tree", "plugins", NULL, NULL);
    etc = g_key_file_get_string(tree, "build-tree", "data", NULL);
    all = modules_scan(
        &(modules_options){.plugin_paths = (const char *const *)plugins, .host = &engine_host});
}

int main(int argc, char **argv) {
    if (probe_requested(argc, argv))
        return probe_child(argc, argv, &engine_host);
    g_test_init(&argc, &argv, NULL);
    scan();
    sample = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/sample.json.gz", NULL);
    g_autofree char *ready = g_build_filename(etc, "pipelines", NULL);
    g_autoptr(GDir) dir = g_dir_open(ready, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ".ini")) {
            g_ptr_array_add(names, g_strndup(name, strlen(name) - 4));
            char *pipeline = names->pdata[names->len - 1];
            g_autofree char *test = g_strconcat("/types/pipelines/", pipeline, NULL);
            g_test_add_data_func(test, pipeline, test_ready);
        }
    g_assert_cmpuint(names->len, >=, 12);
    g_test_add_func("/types/pipelines-of-data", test_data);
    int failed = g_test_run();
    modules_destroy(all);
    g_free(etc);
    g_free(sample);
    return failed;
}
