/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of kineto-gen: the same seed gives the same bytes, and what it expects equals what its own
 * events say when they are read again and added up by brute force. */
#include <cjson/cJSON.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What a run of the program wrote. */
typedef struct made {
    char *trace, *expect;
    gsize length;
} made;

static const char *program;

static made generate(const char *options) {
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("kineto-gen-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *trace = g_build_filename(folder, "trace.json", NULL);
    g_autofree char *expect = g_build_filename(folder, "expect.json", NULL);
    g_autofree char *line =
        g_strdup_printf("'%s' %s -o '%s' --expect '%s'", program, options, trace, expect);
    int status;
    made m;
    g_assert_true(g_spawn_command_line_sync(line, NULL, NULL, &status, &error));
    g_assert_cmpint(status, ==, 0);
    g_assert_true(g_file_get_contents(trace, &m.trace, &m.length, NULL));
    g_assert_true(g_file_get_contents(expect, &m.expect, NULL, NULL));
    g_remove(trace);
    g_remove(expect);
    g_rmdir(folder);
    return m;
}

static void made_clear(made *m) {
    g_free(m->trace);
    g_free(m->expect);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(made, made_clear)

/* ---------------------------------------------------------------- brute force */

enum { COMP, COMM, MEM, CLASSES };

typedef struct activity {
    int64_t start, end, device, stream;
    int cls;
    const char *kind; /* of communication */
} activity;

/* Parts of kernel names and the kind they tell; the first that is found counts. */
static const char *const kinds[][2] = {{"get_dispatch_layout", "layout"},
                                       {"::notify_dispatch", "notify"},
                                       {"::cached_notify", "notify"},
                                       {"internode::dispatch<", "dispatch"},
                                       {"internode::combine<", "combine"},
                                       {"ncclDevKernel_SendRecv", "send-recv"},
                                       {"ncclDevKernel_ReduceScatter", "reduce-scatter"},
                                       {"ncclDevKernel_AllGather", "all-gather"},
                                       {"ncclDevKernel_AllReduce", "all-reduce"}};

static cJSON *member(const cJSON *object, const char *key) {
    cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    g_assert_nonnull(value);
    return value;
}

/* A time in ns. A number is whole µs, which a double holds exactly. */
static int64_t time_ns(const cJSON *value) {
    if (cJSON_IsNumber(value))
        return (int64_t)value->valuedouble * 1000;
    char *point;
    int64_t us = g_ascii_strtoll(value->valuestring, &point, 10);
    g_assert_cmpuint(strlen(point), ==, 4); /* ".123" */
    return us * 1000 + g_ascii_strtoll(point + 1, NULL, 10);
}

static bool read_activity(const cJSON *event, activity *a) {
    const cJSON *category = cJSON_GetObjectItemCaseSensitive(event, "cat");
    const char *cat = category ? category->valuestring : "";
    bool memory = strcmp(cat, "gpu_memcpy") == 0 || strcmp(cat, "gpu_memset") == 0;
    if (!memory && strcmp(cat, "kernel") != 0)
        return false;
    const cJSON *args = member(event, "args");
    *a = (activity){.start = time_ns(member(event, "ts")),
                    .device = (int64_t)member(args, "device")->valuedouble,
                    .stream = (int64_t)member(args, "stream")->valuedouble,
                    .cls = memory ? MEM : COMP};
    a->end = a->start + time_ns(member(event, "dur"));
    for (size_t i = 0; i < G_N_ELEMENTS(kinds) && !memory && !a->kind; i++)
        if (strstr(member(event, "name")->valuestring, kinds[i][0]))
            a->kind = kinds[i][1];
    if (a->kind)
        a->cls = COMM;
    return true;
}

static const cJSON *events_of(const cJSON *root) {
    return cJSON_IsArray(root) ? root : member(root, "traceEvents");
}

static GArray *read_activities(const cJSON *root) {
    GArray *all = g_array_new(FALSE, FALSE, sizeof(activity));
    const cJSON *event;
    activity a;
    cJSON_ArrayForEach(event, events_of(root)) if (read_activity(event, &a)) {
        g_array_append_val(all, a);
    }
    return all;
}

static int compare_times(gconstpointer a, gconstpointer b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Between two neighbouring ends of activities nothing changes: asks for each such piece of time
 * which classes run in it. during[bits of classes]. */
static void measure(const GArray *all, int64_t device, int64_t *during) {
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < all->len; i++) {
        const activity *a = &g_array_index(all, activity, i);
        if (a->device == device)
            g_array_append_vals(times, (int64_t[]){a->start, a->end}, 2);
    }
    g_array_sort(times, compare_times);
    for (guint t = 0; t + 1 < times->len; t++) {
        int64_t from = g_array_index(times, int64_t, t), to = g_array_index(times, int64_t, t + 1);
        unsigned state = 0;
        for (guint i = 0; i < all->len; i++) {
            const activity *a = &g_array_index(all, activity, i);
            if (a->device == device && a->start <= from && a->end >= to && from < to)
                state |= 1u << a->cls;
        }
        during[state] += to - from;
    }
}

static int64_t sum_states(const int64_t *during, unsigned with, unsigned without) {
    int64_t sum = 0;
    for (unsigned state = 0; state < 1u << CLASSES; state++)
        sum += (state & with) == with && !(state & without) ? during[state] : 0;
    return sum;
}

static void check_int(const cJSON *object, const char *key, int64_t want) {
    g_assert_cmpint((int64_t)member(object, key)->valuedouble, ==, want);
}

static void check_times(const cJSON *values, const int64_t *during) {
    enum { C = 1 << COMP, M = 1 << COMM, X = 1 << MEM };
    check_int(values, "span_ns", sum_states(during, 0, 0));
    check_int(values, "idle_ns", during[0]);
    check_int(values, "busy_ns", sum_states(during, 0, 0) - during[0]);
    check_int(values, "computation_ns", sum_states(during, C, 0));
    check_int(values, "communication_ns", sum_states(during, M, 0));
    check_int(values, "memory_ns", sum_states(during, X, 0));
    check_int(values, "overlap_ns", sum_states(during, C | M, 0));
    check_int(values, "exposed_communication_ns", sum_states(during, M, C));
    g_assert_cmpfloat_with_epsilon(
        member(values, "overlap_over_communication")->valuedouble,
        (double)sum_states(during, C | M, 0) / (double)sum_states(during, M, 0), 5e-7);
}

/* Counts and sums by class and by kind, and the number of streams. */
static void check_sums(const cJSON *values, const GArray *all, int64_t device) {
    static const char *const classes[] = {"comp", "comm", "mem"};
    int64_t count[CLASSES] = {0}, sum[CLASSES] = {0}, activities = 0;
    g_autoptr(GHashTable) streams = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < all->len; i++) {
        const activity *a = &g_array_index(all, activity, i);
        if (a->device != device)
            continue;
        activities++;
        count[a->cls]++;
        sum[a->cls] += a->end - a->start;
        g_hash_table_add(streams, GINT_TO_POINTER((int)a->stream));
    }
    check_int(values, "activities", activities);
    check_int(values, "streams", g_hash_table_size(streams));
    for (int cls = 0; cls < CLASSES; cls++) {
        check_int(member(values, "count"), classes[cls], count[cls]);
        check_int(member(values, "sum_duration_ns"), classes[cls], sum[cls]);
    }
}

static void check_kinds(const cJSON *values, const GArray *all, int64_t device) {
    const cJSON *kind;
    int64_t n_comm = 0;
    cJSON_ArrayForEach(kind, member(values, "communication_kinds")) {
        int64_t count = 0, sum = 0;
        for (guint i = 0; i < all->len; i++) {
            const activity *a = &g_array_index(all, activity, i);
            if (a->device == device && g_strcmp0(a->kind, kind->string) == 0) {
                count++;
                sum += a->end - a->start;
            }
        }
        check_int(kind, "count", count);
        check_int(kind, "sum_ns", sum);
        n_comm += count;
    }
    check_int(member(values, "count"), "comm", n_comm);
}

static void check_expectation(const char *options) {
    g_auto(made) m = generate(options);
    cJSON *root = cJSON_Parse(m.trace), *expect = cJSON_Parse(m.expect);
    g_assert_nonnull(root);
    g_assert_nonnull(expect);
    check_int(expect, "events", cJSON_GetArraySize(events_of(root)));
    g_autoptr(GArray) all = read_activities(root);
    const cJSON *values;
    int64_t n = 0;
    cJSON_ArrayForEach(values, member(expect, "devices")) {
        int64_t device = g_ascii_strtoll(values->string, NULL, 10);
        int64_t during[1u << CLASSES] = {0};
        measure(all, device, during);
        check_times(values, during);
        check_sums(values, all, device);
        check_kinds(values, all, device);
        n += (int64_t)member(values, "activities")->valuedouble;
    }
    g_assert_cmpint(n, ==, all->len);
    cJSON_Delete(root);
    cJSON_Delete(expect);
}

static void test_expectation(void) {
    check_expectation("--steps 1");
    check_expectation("--seed 2 --steps 3 --layers 1 --ts string --shuffle");
    check_expectation("--seed 3 --layers 1 --streams 1 --form array --style kineto");
    check_expectation("--seed 4 --layers 1 --streams 2 --devices 3 --ts string");
    check_expectation("--seed 5 --layers 2 --streams 9 --rank 7 --ts string");
    check_expectation("--seed 6 --layers 1 --events 1000");
    check_expectation("--seed 7 --layers 1 --size 300KiB");
}

/* ---------------------------------------------------------------- one seed, one trace */

static void test_deterministic(void) {
    static const char *const options[] = {"--seed 9", "--seed 9 --shuffle --ts decimal",
                                          "--seed 9 --devices 2 --gzip"};
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        g_auto(made) a = generate(options[i]), b = generate(options[i]);
        g_assert_cmpmem(a.trace, a.length, b.trace, b.length);
        g_assert_cmpstr(a.expect, ==, b.expect);
    }
    g_auto(made) a = generate("--seed 9"), b = generate("--seed 10"),
                 c = generate("--seed 9 --rank 1");
    g_assert_cmpstr(a.expect, !=, b.expect);
    g_assert_cmpstr(a.expect, !=, c.expect);
}

/* The random numbers are our own, so a trace is the same on every machine and for ever: samples and
 * golden values rest on it. */
static void test_same_everywhere(void) {
    g_auto(made) m = generate("--seed 1 --steps 1 --layers 1");
    g_autofree char *sum =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guchar *)m.trace, m.length);
    g_assert_cmpstr(sum, ==, "a835123ab2c7651fb5eae527d70b80e2200d04fb6ac87e5cacc98193d7340f11");
}

static char *read_sample(const char *name, gsize *ret_length) {
    g_autoptr(GError) error = NULL;
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests", "data", name, NULL);
    char *text;
    g_file_get_contents(path, &text, ret_length, &error);
    g_assert_no_error(error);
    return text;
}

/* The bundled sample is what tests/data/README.md says it is. The packed bytes may differ from one
 * version of zlib to another, so what is in them counts. */
static void test_sample(void) {
    g_auto(made) m = generate("--seed 5 --style kineto");
    gsize packed_length, length, read, written;
    g_autofree char *packed = read_sample("sample.json.gz", &packed_length);
    g_autofree char *expect = read_sample("sample.expect.json", &length);
    g_autofree char *trace = g_malloc(m.length + 1);
    g_autoptr(GZlibDecompressor) unpacker = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP);
    GConverterResult result =
        g_converter_convert(G_CONVERTER(unpacker), packed, packed_length, trace, m.length + 1,
                            G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
    g_assert_cmpint(result, ==, G_CONVERTER_FINISHED);
    g_assert_cmpmem(trace, written, m.trace, m.length);
    g_assert_cmpstr(expect, ==, m.expect);
    g_assert_cmpuint(packed_length, <, 60000);
}

/* The form of a file changes nothing in what it says. */
static void test_forms(void) {
    g_auto(made) plain = generate("--ts string"), shuffled = generate("--ts string --shuffle");
    g_auto(made) decimal = generate("--ts decimal"),
                 kineto = generate("--ts string --style kineto");
    g_assert_cmpstr(plain.expect, ==, shuffled.expect);
    g_assert_cmpstr(plain.expect, ==, kineto.expect);
    g_assert_cmpuint(plain.length, ==, shuffled.length);
    g_assert_cmpstr(plain.trace, !=, shuffled.trace);

    cJSON *compact = cJSON_Parse(plain.trace), *indented = cJSON_Parse(kineto.trace);
    g_assert_true(cJSON_Compare(compact, indented, true));
    cJSON_Delete(compact);
    cJSON_Delete(indented);

    /* Without the quotes around its times, string is decimal. */
    g_autoptr(GRegex) times = g_regex_new("\"(ts|dur)\":\"([0-9.]+)\"", 0, 0, NULL);
    g_autofree char *unquoted = g_regex_replace(times, plain.trace, -1, 0, "\"\\1\":\\2", 0, NULL);
    g_assert_cmpstr(unquoted, ==, decimal.trace);
}

static void test_wrong_options(void) {
    static const char *const options[] = {
        "--form text", "--ts float",  "--style pretty", "--devices 0", "--devices 65",
        "--streams 0", "--layers 0",  "--steps 0",      "--events -1", "--rank 64",
        "--rank -1",   "--size 64MB", "--size 0",       "--size -1",   "--size 99999999999999GiB",
        "--nonsense"};
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        g_autofree char *line = g_strdup_printf("'%s' %s -o /dev/null", program, options[i]);
        g_autofree char *out = NULL, *err = NULL;
        int status;
        g_assert_true(g_spawn_command_line_sync(line, &out, &err, &status, NULL));
        g_assert_false(g_spawn_check_wait_status(status, NULL));
        g_assert_true(g_str_has_prefix(err, "kineto-gen: "));
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    program = argv[1];
    g_test_add_func("/kineto-gen/expectation", test_expectation);
    g_test_add_func("/kineto-gen/deterministic", test_deterministic);
    g_test_add_func("/kineto-gen/same-everywhere", test_same_everywhere);
    g_test_add_func("/kineto-gen/sample", test_sample);
    g_test_add_func("/kineto-gen/forms", test_forms);
    g_test_add_func("/kineto-gen/wrong-options", test_wrong_options);
    return g_test_run();
}
