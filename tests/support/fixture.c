/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces for the tests of analyzers. */
#include "fixture.h"

#include <string.h>
#include <tracemill/kit/trace_builder.h>

static uint32_t add_name(kit_trace *t, const activity *a) {
    uint8_t cat = a->cls == MILL_CLASS_MEMORY ? MILL_GPU_MEMCPY : MILL_GPU_KERNEL;
    uint32_t name = kit_trace_name(t, a->name, strlen(a->name), cat);
    kit_trace_classify(t, name, a->cls, a->kind ? kit_trace_kind(t, a->kind) : UINT16_MAX,
                       UINT16_MAX);
    return name;
}

static uint32_t add_collective(kit_trace *t, const activity *a) {
    if (!a->operation)
        return MILL_NONE;
    kit_collective_row row = {
        .in_elems = a->elems ? a->elems : MILL_UNKNOWN,
        .out_elems = a->elems ? a->elems : MILL_UNKNOWN,
        .elem_bytes = a->elems ? 4 : MILL_UNKNOWN,
        .group_size = a->ranks ? a->ranks : MILL_UNKNOWN,
        .sequence = MILL_UNKNOWN,
        .peer = MILL_UNKNOWN,
        .operation = kit_trace_string(t, a->operation, strlen(a->operation)),
        .dtype = MILL_NONE,
        .group = MILL_NONE,
        .ranks = MILL_NONE,
        .kind = kit_trace_kind(t, a->operation),
    };
    return kit_trace_collective(t, &row);
}

static void add_slice(kit_trace *t, const slice *s, uint32_t thread) {
    kit_cpu_row row = {
        .start = s->start,
        .dur = s->dur,
        .correlation = s->launches ? s->launches : MILL_UNKNOWN,
        .external_id = MILL_UNKNOWN,
        .name = kit_trace_name(t, s->name, strlen(s->name), 0),
        .thread = thread,
        .kind = (uint8_t)s->kind,
    };
    kit_trace_cpu(t, &row);
}

static void add_slices(kit_trace *t, const fixture *f) {
    g_autoptr(GHashTable) threads = g_hash_table_new(g_direct_hash, NULL); /* tid → its row */
    for (size_t i = 0; i < f->n_slices; i++) {
        gpointer tid = GSIZE_TO_POINTER(f->slices[i].thread);
        if (!g_hash_table_contains(threads, tid))
            g_hash_table_insert(threads, tid,
                                GUINT_TO_POINTER(kit_trace_thread(t, 1, f->slices[i].thread)));
        add_slice(t, &f->slices[i], GPOINTER_TO_UINT(g_hash_table_lookup(threads, tid)));
    }
}

/* Correlations follow those of the activities: at one time, what was launched then comes first. */
static void add_waits(kit_trace *t, const fixture *f) {
    uint32_t device = f->n_waits ? kit_trace_device(t, 0) : 0;
    uint32_t thread = f->n_waits ? kit_trace_thread(t, 1, 1000) : 0;
    for (size_t i = 0; i < f->n_waits; i++) {
        const stream_wait *w = &f->waits[i];
        int64_t record = (int64_t)(f->n + 2 * i) + 1, wait = record + 1;
        add_slice(t, &(slice){0, w->records, 0, "cudaEventRecord", MILL_CPU_RUNTIME, record},
                  thread);
        add_slice(t, &(slice){0, w->waits, 0, "cudaStreamWaitEvent", MILL_CPU_RUNTIME, wait},
                  thread);
        kit_sync_row row = {
            .start = w->waits,
            .dur = 0,
            .correlation = wait,
            .waited_event = record,
            .name = kit_trace_name(t, "Stream Wait Event", 17, 0),
            .stream = kit_trace_stream(t, device, w->stream, MILL_NONE),
            .waited_stream = kit_trace_stream(t, device, w->waited_stream, MILL_NONE),
            .kind = MILL_SYNC_STREAM_WAIT,
        };
        kit_trace_sync(t, &row);
    }
}

mill_trace *fixture_trace(bench *b, const fixture *f) {
    static const kit_diagnostic lost = {"negative-duration", FIXTURE_LOST, true};
    kit_trace *t = kit_trace_create(bench_services(b));
    uint32_t label = MILL_NONE;
    if (f->stream_label)
        label = kit_trace_string(t, f->stream_label, strlen(f->stream_label));
    if (f->described_device != MILL_UNKNOWN)
        kit_trace_device(t, f->described_device);
    if (f->sms)
        kit_trace_describe_device(t, kit_trace_device(t, 0), MILL_NONE, f->sms);
    for (size_t i = 0; i < f->n; i++) {
        const activity *a = &f->activities[i];
        uint32_t device = kit_trace_device(t, a->device);
        kit_gpu_row row = {
            .start = a->start,
            .dur = a->dur,
            .correlation = f->one_correlation ? 1 : (int64_t)i + 1, /* else no two are the same */
            .external_id = MILL_UNKNOWN,
            .grid = a->grid ? a->grid : MILL_UNKNOWN,
            .block = MILL_UNKNOWN,
            .bytes = a->bytes ? a->bytes : MILL_UNKNOWN,
            .waited_event = MILL_UNKNOWN,
            .collective = add_collective(t, a),
            .name = add_name(t, a),
            .stream = kit_trace_stream(t, device, a->stream, label),
            .cat = a->cls == MILL_CLASS_MEMORY ? MILL_GPU_MEMCPY : MILL_GPU_KERNEL,
        };
        kit_trace_gpu(t, &row);
    }
    add_slices(t, f);
    add_waits(t, f);
    kit_trace_value(t)->path = kit_trace_text(t, FIXTURE_PATH, strlen(FIXTURE_PATH));
    if (f->diagnostics) {
        kit_trace_value(t)->complete = 0;
        kit_trace_diagnose(t, &lost, 1234);
        kit_trace_diagnose(t, &lost, 2345);
    }
    mill_trace *value = kit_trace_finish(t, INT64_MAX);
    kit_trace_destroy(t);
    return value;
}

mill_attribution *fixture_places(bench *b, const uint32_t *place, size_t n,
                                 const char *const *stages, size_t n_stages) {
    mill_run *run = bench_services(b);
    mill_attribution *places = mill_scratch(run, sizeof *places);
    uint32_t *annotation = mill_scratch(run, n_stages * sizeof *annotation);
    uint32_t *stage = mill_scratch(run, n_stages * sizeof *stage);
    uint32_t *step = mill_scratch(run, n_stages * sizeof *step);
    uint8_t *chunk = mill_scratch(run, n_stages), *method = mill_scratch(run, n_stages);
    int64_t *layer = mill_scratch(run, n_stages * sizeof *layer);
    int64_t *micro_batch = mill_scratch(run, n_stages * sizeof *micro_batch);
    for (uint32_t i = 0; i < n_stages; i++) {
        annotation[i] = step[i] = MILL_NONE;
        stage[i] = i;
        method[i] = MILL_METHOD_ANNOTATION;
        layer[i] = i;
        micro_batch[i] = MILL_UNKNOWN;
    }
    *places = (mill_attribution){
        .size = sizeof *places,
        .n_rows = n,
        .place = place,
        .n_places = n_stages,
        .annotation = annotation,
        .stage = stage,
        .chunk = chunk,
        .method = method,
        .layer = layer,
        .micro_batch = micro_batch,
        .step = step,
        .n_stages = n_stages,
        .stages = stages,
    };
    return places;
}
