/* SPDX-License-Identifier: Apache-2.0 */
/* What estimators take: the schedule of one step as measured, and how long each stage's chunks
 * take. */
#include "pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/stats.h>

static const char *text_of(const pipe_analysis *a, void *value, const char *text) {
    return kit_text_utf8(a->run, value, text, strlen(text));
}

const char *pipe_subject(const pipe_analysis *a) {
    const char *path = a->n_clocks ? a->clocks[0].profile->path : NULL;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path ? path : "";
    char *text = mill_scratch(a->run, strlen(name) + 64);
    if (a->n_clocks > 1)
        snprintf(text, strlen(name) + 64, "%s and %zu more", name, a->n_clocks - 1);
    else
        strcpy(text, name);
    return text;
}

/* ---------------------------------------------------------------- the schedule */

static mill_op_kind kind_of(const pipe_op *op, bool split) {
    switch (op->kind) {
    case PIPE_FORWARD:
        return MILL_OP_FORWARD;
    case PIPE_BACKWARD:
        return split ? MILL_OP_INPUT : MILL_OP_BACKWARD;
    case PIPE_WEIGHT:
        return MILL_OP_WEIGHT;
    case PIPE_SEND:
        return MILL_OP_SEND;
    default:
        return MILL_OP_RECEIVE;
    }
}

/* The columns, while they are filled. */
typedef struct columns {
    uint8_t *kind;
    uint32_t *chunk, *stage, *micro_batch, *none;
    int64_t *start, *end;
    const char **label;
} columns;

static columns columns_of(const pipe_analysis *a, mill_schedule *s, uint64_t room) {
    columns c = {
        .kind = mill_value_alloc(a->run, s, room * sizeof *c.kind),
        .chunk = mill_value_alloc(a->run, s, room * sizeof *c.chunk),
        .stage = mill_value_alloc(a->run, s, room * sizeof *c.stage),
        .micro_batch = mill_value_alloc(a->run, s, room * sizeof *c.micro_batch),
        .none = mill_value_alloc(a->run, s, room * sizeof *c.none),
        .start = mill_value_alloc(a->run, s, room * sizeof *c.start),
        .end = mill_value_alloc(a->run, s, room * sizeof *c.end),
        .label = mill_value_alloc(a->run, s, room * sizeof *c.label),
    };
    for (uint64_t i = 0; i < room; i++)
        c.none[i] = MILL_NO_OP;
    s->ops = (mill_ops){c.kind, c.chunk, c.stage, c.micro_batch, c.none,
                        c.none, c.none,  c.start, c.end,         c.label};
    return c;
}

/* Part of the pipeline: what computes, and what is handed over in its span. */
static bool belongs(const pipe_pass *pass, const pipe_event *e) {
    return pipe_computes(e->op->kind) || (pipe_communicates(e->op->kind) &&
                                          e->start >= pass->span.start && e->end <= pass->span.end);
}

static void fill_stage(const pipe_analysis *a, const pipe_pass *pass, mill_schedule *s, columns *c,
                       size_t stage) {
    const pipe_cell *cell = pipe_cell_of(a, pass->step, pass->replica, stage);
    bool split = a->n[PIPE_WEIGHT] > 0;
    for (size_t i = 0; i < cell->n; i++) {
        const pipe_event *e = &cell->v[i];
        if (!belongs(pass, e))
            continue;
        bool computes = pipe_computes(e->op->kind);
        uint64_t k = s->n_ops++;
        c->kind[k] = (uint8_t)kind_of(e->op, split);
        c->chunk[k] = computes ? (uint32_t)e->chunk : MILL_NO_OP;
        c->stage[k] =
            computes ? (uint32_t)(e->chunk * (int64_t)a->n_stages + (int64_t)stage) : MILL_NO_OP;
        c->micro_batch[k] = computes ? (uint32_t)e->micro_batch : MILL_NO_OP;
        c->start[k] = e->start - pass->span.start;
        c->end[k] = e->end - pass->span.start;
        c->label[k] = text_of(a, s, e->op->name);
        if (computes && e->chunk >= (int64_t)s->chunks)
            s->chunks = (uint32_t)e->chunk + 1;
    }
}

mill_schedule *pipe_schedule(const pipe_analysis *a) {
    const pipe_pass *pass = pipe_chosen(a);
    if (!pass)
        return NULL;
    mill_schedule *s = mill_value_alloc(a->run, NULL, sizeof *s);
    uint64_t room = 0, *first = mill_value_alloc(a->run, s, (a->n_stages + 1) * sizeof *first);
    int64_t *live = mill_value_alloc(a->run, s, a->n_stages * sizeof *live);
    char subject[256], step[KIT_NUMBER_MAX];
    snprintf(subject, sizeof subject, "step %s of %s",
             kit_format_int(step, a->steps[pass->step], 0), pipe_subject(a));
    *s = (mill_schedule){
        .size = sizeof *s,
        .id = pass->order == PIPE_1F1B    ? "1f1b"
              : pass->order == PIPE_GPIPE ? "gpipe"
                                          : "measured",
        .name = pass->order == PIPE_UNKNOWN_ORDER ? "measured" : pipe_order_name(pass->order),
        .subject = text_of(a, s, subject),
        .ranks = (uint32_t)a->n_stages,
        .chunks = 1,
        .micro_batches = (uint32_t)pass->micro_batches,
        .transfer_ns = a->transfer,
        .makespan_ns = pass->span.end - pass->span.start,
        .first = first,
        .live = live,
    };
    for (size_t i = 0; i < a->n_stages; i++)
        room += pipe_cell_of(a, pass->step, pass->replica, i)->n;
    columns c = columns_of(a, s, room);
    for (size_t i = 0; i < a->n_stages; i++) {
        first[i] = s->n_ops;
        fill_stage(a, pass, s, &c, i);
        live[i] = pipe_cell_of(a, pass->step, pass->replica, i)->time.live;
    }
    first[a->n_stages] = s->n_ops;
    s->stages = s->chunks * s->ranks;
    return s;
}

/* ---------------------------------------------------------------- durations */

/* The median over all passes; of the span, or of the computation in it. `values` has room for one
 * of each event. */
static int64_t median_of(const pipe_analysis *a, int64_t *values, size_t stage, pipe_kind kind,
                         bool span, int64_t *ret_n) {
    size_t n = 0;
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++) {
        const pipe_pass *pass = &a->passes[i];
        if (!pass->complete)
            continue;
        const pipe_cell *cell = pipe_cell_of(a, pass->step, pass->replica, stage);
        for (size_t k = 0; k < cell->n; k++)
            if (cell->v[k].op->kind == kind)
                values[n++] = span ? cell->v[k].end - cell->v[k].start : cell->v[k].op->compute;
    }
    *ret_n = (int64_t)n;
    return n ? kit_median(values, n) : MILL_UNKNOWN;
}

static mill_chunk_cost cost_of(const pipe_analysis *a, int64_t *values, size_t stage, bool span,
                               int64_t *ret_n) {
    int64_t n_backward, n_weight;
    mill_chunk_cost c = {
        .forward = median_of(a, values, stage, PIPE_FORWARD, span, ret_n),
        .backward = median_of(a, values, stage, PIPE_BACKWARD, span, &n_backward),
        .input = MILL_UNKNOWN,
        .weight = median_of(a, values, stage, PIPE_WEIGHT, span, &n_weight),
        .pair = MILL_UNKNOWN,
    };
    if (n_weight > 0) {
        c.input = c.backward;
        c.backward = kit_add(c.input, c.weight);
    }
    return c;
}

mill_chunk_times *pipe_times(const pipe_analysis *a) {
    mill_chunk_times *t = mill_value_alloc(a->run, NULL, sizeof *t);
    size_t n = a->n_stages;
    mill_chunk_cost *costs = mill_value_alloc(a->run, t, n * MILL_BASES * sizeof *costs);
    const char **labels = mill_value_alloc(a->run, t, n * sizeof *labels);
    const char **methods = mill_value_alloc(a->run, t, n * sizeof *methods);
    int64_t *ranks = mill_value_alloc(a->run, t, n * sizeof *ranks);
    int64_t *layers = mill_value_alloc(a->run, t, n * sizeof *layers);
    int64_t *samples = mill_value_alloc(a->run, t, n * sizeof *samples);
    double *coverage = mill_value_alloc(a->run, t, n * sizeof *coverage);
    int64_t *values = mill_scratch(a->run, a->n_events * sizeof *values);
    for (size_t i = 0; i < n; i++) {
        char label[KIT_NUMBER_MAX + 8];
        snprintf(label, sizeof label, "stage %zu", i);
        mill_chunk_cost *c = &costs[i * MILL_BASES];
        c[MILL_BASIS_COMPUTE] = cost_of(a, values, i, false, &samples[i]);
        c[MILL_BASIS_TRANSFER] = c[MILL_BASIS_ALL] = cost_of(a, values, i, true, &samples[i]);
        labels[i] = text_of(a, t, label);
        methods[i] = text_of(a, t, a->clocks[0].profile->method);
        ranks[i] = layers[i] = MILL_UNKNOWN;
        coverage[i] = NAN;
    }
    *t = (mill_chunk_times){.size = sizeof *t,
                            .subject = text_of(a, t, pipe_subject(a)),
                            .n = n,
                            .costs = costs,
                            .labels = labels,
                            .ranks = ranks,
                            .layers = layers,
                            .samples = samples,
                            .coverage = coverage,
                            .methods = methods};
    return t;
}
