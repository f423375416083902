/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces with work on both sides. */
#include "scene.h"

#include <string.h>
#include <tracemill/kit/trace_builder.h>

static void add_slice(kit_trace *t, GHashTable *threads, const slice *s) {
    g_autofree char *key =
        g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, s->pid, s->tid);
    gpointer thread;
    if (!g_hash_table_lookup_extended(threads, key, NULL, &thread)) {
        thread = GUINT_TO_POINTER(kit_trace_thread(t, s->pid, s->tid));
        g_hash_table_insert(threads, g_steal_pointer(&key), thread);
    }
    kit_cpu_row row = {
        .start = s->start,
        .dur = s->dur,
        .correlation = s->correlation ? s->correlation : MILL_UNKNOWN,
        .external_id = MILL_UNKNOWN,
        .name = kit_trace_name(t, s->name, strlen(s->name), 0),
        .thread = GPOINTER_TO_UINT(thread),
        .kind = (uint8_t)s->kind,
    };
    kit_trace_cpu(t, &row);
}

static void add_kernel(kit_trace *t, const kernel *k) {
    uint32_t name = kit_trace_name(t, k->name, strlen(k->name), MILL_GPU_KERNEL);
    kit_trace_classify(t, name, k->kind ? MILL_CLASS_COMMUNICATION : MILL_CLASS_COMPUTATION,
                       k->kind ? kit_trace_kind(t, k->kind) : UINT16_MAX, UINT16_MAX);
    kit_gpu_row row = {
        .start = k->start,
        .dur = k->dur,
        .correlation = k->correlation ? k->correlation : MILL_UNKNOWN,
        .external_id = MILL_UNKNOWN,
        .grid = MILL_UNKNOWN,
        .block = MILL_UNKNOWN,
        .bytes = MILL_UNKNOWN,
        .waited_event = MILL_UNKNOWN,
        .collective = MILL_NONE,
        .name = name,
        .stream = kit_trace_stream(t, kit_trace_device(t, k->device), k->stream, MILL_NONE),
        .cat = MILL_GPU_KERNEL,
    };
    kit_trace_gpu(t, &row);
}

mill_trace *scene_trace(bench *b, const scene *s) {
    kit_trace *t = kit_trace_create(bench_services(b));
    g_autoptr(GHashTable) threads = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < s->n_slices; i++)
        add_slice(t, threads, &s->slices[i]);
    for (size_t i = 0; i < s->n_kernels; i++)
        add_kernel(t, &s->kernels[i]);
    mill_trace *trace = kit_trace_finish(t, INT64_MAX);
    kit_trace_destroy(t);
    return trace;
}

bench *scene_bench(const scene *s, const char *const *settings) {
    bench *b =
        bench_create(bench_open("plugins/analyzers/attribution/attribution.so"), "attribution");
    for (; settings && *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "trace", MILL_TYPE_TRACE, scene_trace(b, s), "trace", "");
    return b;
}

const mill_attribution *scene_run(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return bench_output(b, "attribution", 0);
}

const char *scene_stage(const mill_attribution *a, uint64_t row) {
    uint32_t place = a->place[row];
    if (place == MILL_NONE || a->stage[place] == MILL_NONE)
        return NULL;
    return a->stages[a->stage[place]];
}

int64_t scene_layer(const mill_attribution *a, uint64_t row) {
    return a->place[row] == MILL_NONE ? MILL_UNKNOWN : a->layer[a->place[row]];
}

int64_t scene_step(const mill_attribution *a, uint64_t row) {
    uint32_t place = a->place[row];
    if (place == MILL_NONE || a->step[place] == MILL_NONE)
        return MILL_UNKNOWN;
    return a->step_number[a->step[place]];
}

uint32_t scene_annotation(const mill_attribution *a, uint64_t row) {
    return a->place[row] == MILL_NONE ? MILL_NONE : a->annotation[a->place[row]];
}
