/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank holds: activations of chunks in flight, and parameters. */
#include "bubble.h"

#include <tracemill/kit/measure.h>

static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return a == MILL_UNKNOWN || __builtin_mul_overflow(a, b, &product) ? MILL_UNKNOWN : product;
}

int64_t bubble_live(const bubble_analysis *a, const bubble_case *c) {
    return a->options->freed == BUBBLE_FREED_WEIGHT ? c->live_weight : c->live;
}

static uint32_t copies_of(const bubble_case *c) {
    return c->family ? c->family->copies : c->plan->bidirectional ? 2 : 1;
}

int64_t bubble_memory(const bubble_analysis *a, const bubble_case *c) {
    int64_t bytes = times(a->activations, bubble_live(a, c));
    if (bytes != MILL_UNKNOWN)
        bytes /= bubble_chunks_a_share(c->plan);
    return kit_add(bytes, times(a->options->parameters, copies_of(c)));
}

bool bubble_fits(const bubble_analysis *a, const bubble_case *c) {
    int64_t bytes = bubble_memory(a, c);
    return a->memory_limit == MILL_UNKNOWN || bytes == MILL_UNKNOWN || bytes <= a->memory_limit;
}

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_COUNT, "chunks", "chunks", "Model chunks that a device holds."},
    {MILL_KIND_COUNT, "stages", "stages", "That the model is cut into."},
    {MILL_KIND_COUNT, "copies", "copies", "Of the model's parameters over all devices."},
    {MILL_KIND_COUNT, "live", "peak, freed at B",
     "Most chunks of which a device holds activations, if they are freed after B or Bi."},
    {MILL_KIND_COUNT, "live_weight", "peak, freed at W",
     "The same if they are freed after B or W."},
    {0},
};

void bubble_tell_memory(kit_report *r, const bubble_analysis *a) {
    kit_table *t = kit_table_of(r, "memory", "Memory of a device",
                                "The most of any device. Shares: of what a device keeps of one "
                                "micro-batch for its whole part of the model.",
                                columns);
    kit_table_column(t, MILL_KIND_REAL, "shares", "in shares", "micro-batches",
                     "Peak by the rule of the option freed, in micro-batches of a whole device.");
    if (a->activations != MILL_UNKNOWN)
        kit_table_column(t, MILL_KIND_BYTES, "bytes", "bytes", NULL,
                         "Parameters of all copies and activations at their peak.");
    if (a->memory_limit != MILL_UNKNOWN)
        kit_table_column(t, MILL_KIND_TEXT, "fits", "fits", NULL, "In memory-limit.");
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->reason)
            continue;
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, c->plan->chunks);
        kit_cell_int(t, c->plan->stages);
        kit_cell_int(t, copies_of(c));
        kit_cell_int(t, c->live);
        kit_cell_int(t, c->live_weight);
        kit_cell_real(t, (double)bubble_live(a, c) / bubble_chunks_a_share(c->plan));
        if (a->activations != MILL_UNKNOWN)
            kit_cell_int(t, bubble_memory(a, c));
        if (a->memory_limit != MILL_UNKNOWN)
            kit_cell_text(t, bubble_fits(a, c) ? "yes" : "no");
    }
}
