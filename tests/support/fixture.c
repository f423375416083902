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
        .in_elems = MILL_UNKNOWN,
        .out_elems = MILL_UNKNOWN,
        .elem_bytes = MILL_UNKNOWN,
        .group_size = MILL_UNKNOWN,
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
            .correlation = (int64_t)i + 1, /* no two are the same record */
            .external_id = MILL_UNKNOWN,
            .grid = a->grid ? a->grid : MILL_UNKNOWN,
            .block = MILL_UNKNOWN,
            .bytes = MILL_UNKNOWN,
            .waited_event = MILL_UNKNOWN,
            .collective = add_collective(t, a),
            .name = add_name(t, a),
            .stream = kit_trace_stream(t, device, a->stream, label),
            .cat = a->cls == MILL_CLASS_MEMORY ? MILL_GPU_MEMCPY : MILL_GPU_KERNEL,
        };
        kit_trace_gpu(t, &row);
    }
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
