/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of what is said of training in pipelines: mill.attribution/1, mill.chunk-times/1,
 * mill.schedule/1. */
#include <inttypes.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/schedule.h>

#include "types/checks.h"
#include "types/shapes.h"

#define OPTIONAL .optional = true

/* ---------------------------------------------------------------- attribution */

#define ROWS SHAPE_COUNT(mill_attribution, n_rows)
#define PLACES SHAPE_COUNT(mill_attribution, n_places)
#define STEPS SHAPE_COUNT(mill_attribution, n_steps)

static const shape_field attribution_fields[] = {
    SHAPE_PLAIN(mill_attribution, size),
    SHAPE_PLAIN(mill_attribution, reserved),
    SHAPE_PLAIN(mill_attribution, n_rows),
    SHAPE_ARRAY(mill_attribution, place, ROWS),
    SHAPE_PLAIN(mill_attribution, n_places),
    SHAPE_ARRAY(mill_attribution, annotation, PLACES),
    SHAPE_ARRAY(mill_attribution, stage, PLACES),
    SHAPE_ARRAY(mill_attribution, chunk, PLACES),
    SHAPE_ARRAY(mill_attribution, method, PLACES),
    SHAPE_ARRAY(mill_attribution, layer, PLACES),
    SHAPE_ARRAY(mill_attribution, micro_batch, PLACES),
    SHAPE_ARRAY(mill_attribution, step, PLACES),
    SHAPE_PLAIN(mill_attribution, n_stages),
    SHAPE_TEXTS(mill_attribution, stages, SHAPE_COUNT(mill_attribution, n_stages)),
    SHAPE_PLAIN(mill_attribution, n_steps),
    SHAPE_ARRAY(mill_attribution, step_number, STEPS),
    SHAPE_ARRAY(mill_attribution, step_start, STEPS),
    SHAPE_ARRAY(mill_attribution, step_end, STEPS),
    SHAPE_ARRAY(mill_attribution, step_whole, STEPS),
    SHAPE_ARRAY(mill_attribution, step_annotation, STEPS),
    SHAPE_ARRAY(mill_attribution, method_busy, .count = {.times = MILL_METHODS}),
    SHAPE_PLAIN(mill_attribution, busy),
};

/* Rows of the trace's table cpu can't be checked here: the trace is another value. */
static bool check_attribution(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_attribution *a = data;
    return check_below(r, "place of activity", a->place, a->n_rows, a->n_places, MILL_NONE) &&
           check_below(r, "stage of place", a->stage, a->n_places, a->n_stages, MILL_NONE) &&
           check_below(r, "step of place", a->step, a->n_places, a->n_steps, MILL_NONE) &&
           check_u8(r, "chunk of place", a->chunk, a->n_places, MILL_CHUNK_NONE, MILL_CHUNK_PAIR) &&
           check_u8(r, "method of place", a->method, a->n_places, MILL_METHOD_NONE,
                    MILL_METHODS - 1) &&
           check_intervals(r, "step", a->step_start, a->step_end, a->n_steps) &&
           check_u8(r, "whole of step", a->step_whole, a->n_steps, 0, 1);
}

const shape attribution_shape = {"attribution", SHAPE_SIZES(mill_attribution, 168),
                                 attribution_fields, G_N_ELEMENTS(attribution_fields),
                                 check_attribution};

/* ---------------------------------------------------------------- chunk times */

#define STAGES SHAPE_COUNT(mill_chunk_times, n)

static const shape_field chunk_times_fields[] = {
    SHAPE_PLAIN(mill_chunk_times, size),
    SHAPE_PLAIN(mill_chunk_times, reserved),
    SHAPE_TEXT(mill_chunk_times, subject),
    SHAPE_PLAIN(mill_chunk_times, n),
    SHAPE_ARRAY(mill_chunk_times, costs,
                .count = {.factors = {SHAPE_FACTOR(mill_chunk_times, n)}, .times = MILL_BASES}),
    SHAPE_TEXTS(mill_chunk_times, labels, STAGES),
    SHAPE_ARRAY(mill_chunk_times, ranks, STAGES),
    SHAPE_ARRAY(mill_chunk_times, layers, STAGES),
    SHAPE_ARRAY(mill_chunk_times, samples, STAGES),
    SHAPE_ARRAY(mill_chunk_times, coverage, STAGES),
    SHAPE_TEXTS(mill_chunk_times, methods, STAGES, .gaps = true),
};

const shape chunk_times_shape = {"chunk-times", SHAPE_SIZES(mill_chunk_times, 80),
                                 chunk_times_fields, G_N_ELEMENTS(chunk_times_fields), NULL};

/* ---------------------------------------------------------------- schedules */

#define OPS SHAPE_COUNT(mill_schedule, n_ops)

static const shape_field schedule_fields[] = {
    SHAPE_PLAIN(mill_schedule, size),
    SHAPE_PLAIN(mill_schedule, simulated),
    SHAPE_TEXT(mill_schedule, id),
    SHAPE_TEXT(mill_schedule, name),
    SHAPE_TEXT(mill_schedule, subject),
    SHAPE_TEXT(mill_schedule, communication, OPTIONAL),
    SHAPE_PLAIN(mill_schedule, ranks),
    SHAPE_PLAIN(mill_schedule, chunks),
    SHAPE_PLAIN(mill_schedule, stages),
    SHAPE_PLAIN(mill_schedule, micro_batches),
    SHAPE_PLAIN(mill_schedule, bidirectional),
    SHAPE_PLAIN(mill_schedule, reserved),
    SHAPE_PLAIN(mill_schedule, transfer_ns),
    SHAPE_PLAIN(mill_schedule, makespan_ns),
    SHAPE_PLAIN(mill_schedule, n_ops),
    SHAPE_ARRAY(mill_schedule, first,
                .count = {.factors = {SHAPE_FACTOR(mill_schedule, ranks)}, .plus = 1}),
    SHAPE_ARRAY(mill_schedule, ops.kind, OPS),
    SHAPE_ARRAY(mill_schedule, ops.chunk, OPS),
    SHAPE_ARRAY(mill_schedule, ops.stage, OPS),
    SHAPE_ARRAY(mill_schedule, ops.micro_batch, OPS),
    SHAPE_ARRAY(mill_schedule, ops.chunk_back, OPS),
    SHAPE_ARRAY(mill_schedule, ops.stage_back, OPS),
    SHAPE_ARRAY(mill_schedule, ops.micro_batch_back, OPS),
    SHAPE_ARRAY(mill_schedule, ops.start, OPS),
    SHAPE_ARRAY(mill_schedule, ops.end, OPS),
    SHAPE_TEXTS(mill_schedule, ops.label, OPS, OPTIONAL, .gaps = true),
    SHAPE_ARRAY(mill_schedule, live, SHAPE_COUNT(mill_schedule, ranks)),
};

/* The operations of the ranks follow each other and are all there are. */
static bool check_ranks(reader *r, const mill_schedule *s) {
    for (uint32_t i = 0; i < s->ranks; i++)
        if (s->first[i + 1] < s->first[i])
            return reader_wrong(r, "the operations of rank %u end before they begin", i);
    return (s->first[0] == 0 && s->first[s->ranks] == s->n_ops) ||
           reader_wrong(
               r, "the ranks have operations %" PRIu64 " to %" PRIu64 ", but there are %" PRIu64,
               s->first[0], s->first[s->ranks], s->n_ops);
}

static bool check_schedule(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_schedule *s = data;
    return check_ranks(r, s) &&
           check_u8(r, "kind of operation", s->ops.kind, s->n_ops, MILL_OP_FORWARD,
                    MILL_OP_OTHER) &&
           check_intervals(r, "operation", s->ops.start, s->ops.end, s->n_ops);
}

const shape schedule_shape = {"schedule", SHAPE_SIZES(mill_schedule, 184), schedule_fields,
                              G_N_ELEMENTS(schedule_fields), check_schedule};
