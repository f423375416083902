/* SPDX-License-Identifier: Apache-2.0 */
/* Reads real profiles and compares them with right values from scripts that share no code with us.
 * Suite "data": skipped where the folder is absent. */
#include "bench_host.h"
#include "order.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>
#include <tracemill/trace.h>

static const char *data_folder(void) {
    return g_getenv("TRACEMILL_TEST_DATA");
}

static const cJSON *member(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!item)
        g_error("corpus.json lacks \"%s\"", key);
    return item;
}

static int64_t whole(const cJSON *object, const char *key) {
    return (int64_t)member(object, key)->valuedouble;
}

/* How many of that diagnostic. */
static int64_t count_of(const mill_trace *t, const char *kind) {
    for (uint64_t i = 0; i < t->diagnostics.n; i++)
        if (!strcmp(mill_string(t, mill_u32(t, &t->diagnostics.kind, i)), kind))
            return (int64_t)mill_u64(t, &t->diagnostics.count, i);
    return 0;
}

typedef struct sums {
    int64_t count, dur;
} sums;

static sums sum_class(const mill_trace *t, uint64_t device, mill_class cls, const char *kind) {
    sums s = {0};
    for (uint64_t i = 0; i < t->gpu.n; i++) {
        uint32_t name = mill_u32(t, &t->gpu.name, i), stream = mill_u32(t, &t->gpu.stream, i);
        if (mill_u32(t, &t->streams.device, stream) != device || mill_name_class(t, name) != cls)
            continue;
        if (kind && g_strcmp0(kind, mill_name_kind(t, name)) != 0)
            continue;
        s.count++;
        s.dur += mill_i64(t, &t->gpu.dur, i);
    }
    return s;
}

static int64_t streams_used(const mill_trace *t, uint64_t device) {
    g_autofree char *used = g_malloc0(t->streams.n + 1);
    int64_t n = 0;
    for (uint64_t i = 0; i < t->gpu.n; i++) {
        uint32_t stream = mill_u32(t, &t->gpu.stream, i);
        if (mill_u32(t, &t->streams.device, stream) == device && !used[stream]) {
            used[stream] = 1;
            n++;
        }
    }
    return n;
}

static int64_t span_of(const mill_trace *t, uint64_t device) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint64_t i = 0; i < t->gpu.n; i++) {
        uint32_t stream = mill_u32(t, &t->gpu.stream, i);
        int64_t start = mill_i64(t, &t->gpu.start, i);
        if (mill_u32(t, &t->streams.device, stream) != device)
            continue;
        first = MIN(first, start);
        last = MAX(last, start + mill_i64(t, &t->gpu.dur, i));
    }
    return last - first;
}

static void check_device(const mill_trace *t, uint64_t device, const cJSON *right) {
    static const struct {
        const char *key;
        mill_class cls;
    } classes[] = {{"comp", MILL_CLASS_COMPUTATION},
                   {"comm", MILL_CLASS_COMMUNICATION},
                   {"mem", MILL_CLASS_MEMORY}};
    g_assert_cmpint((int64_t)mill_u64(t, &t->devices.rows, device), ==, whole(right, "activities"));
    g_assert_cmpint(streams_used(t, device), ==, whole(right, "streams"));
    g_assert_cmpint(span_of(t, device), ==, whole(right, "span_ns"));
    for (size_t i = 0; i < G_N_ELEMENTS(classes); i++) {
        sums s = sum_class(t, device, classes[i].cls, NULL);
        g_assert_cmpint(s.count, ==, whole(member(right, "count"), classes[i].key));
        g_assert_cmpint(s.dur, ==, whole(member(right, "sum_duration_ns"), classes[i].key));
    }
    const cJSON *kind;
    cJSON_ArrayForEach(kind, member(right, "communication_kinds")) {
        sums s = sum_class(t, device, MILL_CLASS_COMMUNICATION, kind->string);
        g_assert_cmpint(s.count, ==, whole(kind, "count"));
        g_assert_cmpint(s.dur, ==, whole(kind, "sum_ns"));
    }
}

/* Each device with activities is in the right values, and the other way round. */
static void check_devices(const mill_trace *t, const cJSON *right) {
    int n = 0;
    for (uint64_t d = 0; d < t->devices.n; d++) {
        if (mill_u64(t, &t->devices.rows, d) == 0)
            continue;
        g_autofree char *id = g_strdup_printf("%" PRId64, mill_i64(t, &t->devices.id, d));
        check_device(t, d, member(right, id));
        n++;
    }
    g_assert_cmpint(n, ==, cJSON_GetArraySize(right));
}

static int64_t distinct_gpu_names(const mill_trace *t) {
    g_autoptr(GHashTable) texts = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t i = 0; i < t->names.texts.n; i++)
        if (mill_name_class(t, i) != MILL_CLASS_NONE)
            g_hash_table_add(texts, (gpointer)mill_name(t, i));
    return g_hash_table_size(texts);
}

static void check_gpu(const mill_trace *t, const cJSON *right) {
    int64_t zero = 0;
    for (uint64_t i = 0; i < t->gpu.n; i++)
        zero += mill_i64(t, &t->gpu.dur, i) == 0;
    g_assert_cmpint(zero, ==, whole(right, "zero_duration"));
    g_assert_cmpint(distinct_gpu_names(t), ==, whole(right, "distinct_names"));
    g_assert_cmpint(count_of(t, "duplicate"), ==, whole(right, "duplicates"));
    g_assert_cmpint(count_of(t, "negative-duration"), ==, whole(right, "negative_duration"));
    g_assert_cmpint(count_of(t, "no-duration"), ==, whole(right, "no_duration"));
}

/* CPU rows by category, where the file has them; python_function only on request. */
static void check_cpu(const mill_trace *t, const cJSON *by_cat) {
    static const struct {
        const char *cat;
        mill_cpu_kind kind;
    } cats[] = {{"cpu_op", MILL_CPU_OP},
                {"Operator", MILL_CPU_OP},
                {"cuda_runtime", MILL_CPU_RUNTIME},
                {"mtia_runtime", MILL_CPU_RUNTIME},
                {"Runtime", MILL_CPU_RUNTIME},
                {"cuda_driver", MILL_CPU_DRIVER},
                {"user_annotation", MILL_CPU_ANNOTATION}};
    int64_t right[MILL_CPU_OTHER + 1] = {0}, rows[MILL_CPU_OTHER + 1] = {0}, left_out = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(cats); i++)
        if (cJSON_HasObjectItem(by_cat, cats[i].cat))
            right[cats[i].kind] += whole(by_cat, cats[i].cat);
    for (uint64_t i = 0; i < t->cpu.n; i++)
        rows[mill_u8(t, &t->cpu.kind, i)]++;
    left_out = count_of(t, "cpu-no-duration") + count_of(t, "cpu-negative-duration") +
               count_of(t, "cpu-empty-record") + count_of(t, "cpu-broken-timer");
    g_assert_cmpint(left_out, ==, 0);
    for (size_t i = 0; i <= MILL_CPU_OTHER; i++)
        g_assert_cmpint(rows[i], ==, right[i]);
}

static void test_trace(gconstpointer data) {
    const cJSON *right = data;
    g_autofree char *file = g_strdup_printf("%s.json.gz", right->string);
    g_autofree char *path = g_build_filename(data_folder(), "traces", file, NULL);
    g_autofree char *setting = g_strconcat("path=", path, NULL);
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    bench_option(b, setting);
    bench_option(b, "planes=off"); /* the right values are by category and name alone */
    bench_option(b, "metadata=no");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_assert_nonnull(t);
    g_assert_cmpint((int64_t)t->events, ==, whole(right, "events"));
    g_assert_cmpint(t->complete, ==, 1);
    order_check(t);
    check_gpu(t, member(right, "gpu"));
    check_devices(t, member(right, "devices"));
    check_cpu(t, member(right, "x_by_cat"));
    bench_destroy(b);
}

static void test_absent(void) {
    g_test_skip("skipped: the folder of real profiles (TRACEMILL_TEST_DATA) is not there");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autofree char *text = NULL;
    g_autofree char *path = g_build_filename(data_folder() ?: ".", "oracle", "corpus.json", NULL);
    cJSON *corpus = NULL;
    if (g_file_get_contents(path, &text, NULL, NULL)) {
        corpus = cJSON_Parse(text);
        const cJSON *trace;
        cJSON_ArrayForEach(trace, corpus) {
            g_autofree char *name = g_strconcat("/kineto/corpus/", trace->string, NULL);
            g_test_add_data_func(name, trace, test_trace);
        }
    } else {
        g_test_add_func("/kineto/corpus", test_absent);
    }
    int result = g_test_run();
    cJSON_Delete(corpus);
    return result;
}
