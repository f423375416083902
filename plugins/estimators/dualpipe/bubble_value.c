/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated case as mill.schedule/1. */
#include "bubble.h"

#include <string.h>

static const char *copied(mill_run *run, void *value, const char *text) {
    return kit_text_utf8(run, value, text, strlen(text));
}

static const char *subject_of(mill_run *run, const bubble_analysis *a, const bubble_case *c) {
    const char *subject = a->in.subject ? a->in.subject : "durations from options";
    return a->in.n_bases == 1 ? subject
                              : bubble_text(run, "%s, %s", subject, a->in.bases[c->basis]);
}

/* Columns of all operations, in memory of the value. */
static mill_ops ops_of(mill_run *run, void *value, const bubble_case *c, uint64_t n) {
    const pp_plan *plan = c->plan;
    uint8_t *kind = mill_value_alloc(run, value, n * sizeof *kind);
    uint32_t *columns[6];
    for (size_t i = 0; i < 6; i++)
        columns[i] = mill_value_alloc(run, value, n * sizeof *columns[i]);
    int64_t *start = mill_value_alloc(run, value, n * sizeof *start);
    int64_t *end = mill_value_alloc(run, value, n * sizeof *end);
    memcpy(start, c->result.start, n * sizeof *start);
    memcpy(end, c->result.end, n * sizeof *end);
    for (uint32_t r = 0; r < plan->ranks; r++)
        for (uint64_t i = c->result.first[r]; i < c->result.first[r + 1]; i++) {
            const pp_item *item = &c->result.items[i];
            const uint32_t *stage = &plan->stage[(size_t)r * plan->chunks];
            bool pair = item->op.kind == MILL_OP_PAIR;
            kind[i] = item->op.kind;
            columns[0][i] = item->op.chunk;
            columns[1][i] = stage[item->op.chunk];
            columns[2][i] = item->mb;
            columns[3][i] = pair ? item->op.chunk2 : MILL_NO_OP;
            columns[4][i] = pair ? stage[item->op.chunk2] : MILL_NO_OP;
            columns[5][i] = pair ? item->mb2 : MILL_NO_OP;
        }
    return (mill_ops){
        .kind = kind,
        .chunk = columns[0],
        .stage = columns[1],
        .micro_batch = columns[2],
        .chunk_back = columns[3],
        .stage_back = columns[4],
        .micro_batch_back = columns[5],
        .start = start,
        .end = end,
    };
}

mill_schedule *bubble_value(mill_run *run, const bubble_analysis *a, const bubble_case *c) {
    mill_schedule *s = mill_value_alloc(run, NULL, sizeof *s);
    const pp_plan *plan = c->plan;
    uint64_t n = c->result.first[plan->ranks];
    uint64_t *first = mill_value_alloc(run, s, (plan->ranks + 1) * sizeof *first);
    int64_t *live = mill_value_alloc(run, s, plan->ranks * sizeof *live);
    memcpy(first, c->result.first, (plan->ranks + 1) * sizeof *first);
    for (uint32_t r = 0; r < plan->ranks; r++)
        live[r] = a->options->freed == BUBBLE_FREED_WEIGHT ? c->result.ranks[r].live_weight
                                                           : c->result.ranks[r].live;
    *s = (mill_schedule){
        .size = sizeof *s,
        .simulated = 1,
        .id = copied(run, s, c->id),
        .name = copied(run, s, c->name),
        .subject = copied(run, s, subject_of(run, a, c)),
        .communication = a->options->comm == PP_COMM_BLOCKING ? "blocking" : "dep",
        .ranks = plan->ranks,
        .chunks = plan->chunks,
        .stages = plan->stages,
        .micro_batches = plan->micro_batches,
        .bidirectional = plan->bidirectional,
        .transfer_ns = c->latency + c->occupied,
        .makespan_ns = c->makespan,
        .n_ops = n,
        .first = first,
        .ops = ops_of(run, s, c, n),
        .live = live,
    };
    return s;
}
