/* SPDX-License-Identifier: Apache-2.0 */
/* The remarks that every report on a trace owes its reader. */
#include <stdio.h>
#include <string.h>
#include <tracemill/kit/trace_notes.h>

/* What the reader skipped or mended, under the reader's own words for it. */
static void note_diagnostics(mill_run *run, kit_report *r, const mill_trace *trace) {
    const mill_diagnostics *all = &trace->diagnostics;
    for (uint64_t i = 0; i < all->n; i++) {
        const char *kind = mill_string(trace, mill_u32(trace, &all->kind, i));
        char *id = strcpy(mill_scratch(run, strlen(kind) + 1), kind);
        for (char *c = id; *c; c++)
            *c = *c == '-' ? '_' : *c;
        char where[64] = "";
        int64_t byte = mill_i64(trace, &all->first_byte, i);
        if (byte != MILL_UNKNOWN)
            snprintf(where, sizeof where, ", first at byte %lld", (long long)byte);
        kit_note(r, mill_u8(trace, &all->lost, i) ? MILL_WARNING : MILL_INFO, id,
                 "%s (count %llu%s)", mill_string(trace, mill_u32(trace, &all->text, i)),
                 (unsigned long long)mill_u64(trace, &all->count, i), where);
    }
}

void kit_note_trace(mill_run *run, kit_report *r, const mill_trace *trace) {
    if (!trace->complete)
        kit_note(r, MILL_WARNING, "incomplete",
                 "The file was cut: the figures are of the part that could be read.");
    if (trace->gpu.n == 0)
        kit_note(r, MILL_WARNING, "no_device_events",
                 "The trace holds no device events (categories kernel, gpu_memcpy, gpu_memset): "
                 "record it with ProfilerActivity.CUDA. What writers for other devices call by "
                 "other names is not read.");
    note_diagnostics(run, r, trace);
}
