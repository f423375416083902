/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `pipeline.operations`, which makes a tracemill.pipeline/1 of a trace, and that
 * type. */
#include "operations.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/report.h>

pipe_op *pipe_add(pipe_making *m, pipe_kind kind, uint32_t worker) {
    if (m->n_ops == m->room_ops) {
        m->room_ops = m->room_ops ? 2 * m->room_ops : 256;
        m->ops = kit_realloc(m->ops, m->room_ops, sizeof *m->ops);
    }
    pipe_op *op = &m->ops[m->n_ops++];
    *op = (pipe_op){
        .compute = MILL_UNKNOWN,
        .owned = MILL_UNKNOWN,
        .step = MILL_UNKNOWN,
        .chunk = MILL_UNKNOWN,
        .micro_batch = MILL_UNKNOWN,
        .sequence = MILL_UNKNOWN,
        .peer = MILL_UNKNOWN,
        .worker = worker,
        .kind = (uint8_t)kind,
    };
    return op;
}

static int compare_ops(const void *a, const void *b) {
    const pipe_op *x = a, *y = b;
    if (x->worker != y->worker)
        return x->worker < y->worker ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

static const char *copy_text(pipe_making *m, const char *text) {
    return text ? kit_text_utf8(m->run, m->value, text, strlen(text)) : NULL;
}

/* Into the value's memory. Names are few and come again and again. */
static void keep_ops(pipe_making *m) {
    if (m->n_ops > 0)
        qsort(m->ops, m->n_ops, sizeof *m->ops, compare_ops);
    pipe_op *ops = mill_value_alloc(m->run, m->value, m->n_ops * sizeof *ops);
    const char *from[64], *to[64];
    size_t n = 0;
    for (size_t i = 0; i < m->n_ops; i++) {
        size_t k = 0;
        while (k < n && from[k] != m->ops[i].name)
            k++;
        const char *name = k < n ? to[k] : copy_text(m, m->ops[i].name);
        if (k == n && n < sizeof from / sizeof *from) {
            from[n] = m->ops[i].name;
            to[n++] = name;
        }
        ops[i] = m->ops[i];
        ops[i].name = name;
    }
    m->value->ops = ops;
    m->value->n_ops = m->n_ops;
}

/* ---------------------------------------------------------------- the type */

static mill_status to_report(mill_run *run, const void *data, mill_report **ret_report) {
    static const char *const names[] = {
        [PIPE_FORWARD] = "forward", [PIPE_BACKWARD] = "backward", [PIPE_WEIGHT] = "weight",
        [PIPE_SEND] = "send",       [PIPE_RECEIVE] = "receive",   [PIPE_EXCHANGE] = "exchange",
        [PIPE_OTHER] = "other"};
    static const kit_column columns[] = {
        {MILL_KIND_ID, "worker", "worker", NULL},
        {MILL_KIND_ID, "step", "step", NULL},
        {MILL_KIND_TEXT, "kind", "kind", NULL},
        {MILL_KIND_ID, "micro_batch", "micro-batch", NULL},
        {MILL_KIND_NS, "start", "start", "On the profile's clock."},
        {MILL_KIND_NS, "span", "span", NULL},
        {MILL_KIND_NS, "compute", "compute", "|union of computation| in it"},
        {MILL_KIND_TEXT, "name", "name", NULL},
        {0},
    };
    const pipe_operations *p = data;
    kit_report *r =
        kit_report_begin(run, "pipeline_operations", "Operations of a pipeline", p->path);
    kit_figure_text(r, "method", "told by", NULL, NULL, p->method);
    kit_figure_int(r, MILL_KIND_COUNT, "workers", "workers", NULL, NULL, (int64_t)p->n_workers);
    kit_table *t = kit_table_of(r, "operations", "Operations", NULL, columns);
    for (uint64_t i = 0; i < p->n_ops; i++) {
        const pipe_op *op = &p->ops[i];
        kit_table_row(t);
        kit_cell_int(t, op->worker);
        kit_cell_int(t, op->step);
        kit_cell_text(t, names[op->kind]);
        kit_cell_int(t, op->micro_batch);
        kit_cell_int(t, op->start);
        kit_cell_int(t, op->end - op->start);
        kit_cell_int(t, op->compute);
        kit_cell_text(t, op->name);
    }
    *ret_report = kit_report_end(r);
    return MILL_OK;
}

const mill_type pipe_type = {
    .size = sizeof(mill_type),
    .id = PIPE_TYPE,
    .help = "What the ranks of a pipeline did when, as one profile tells it.",
    .to_report = to_report,
    .save = pipe_save,
    .load = pipe_load,
};

/* ---------------------------------------------------------------- the class */

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank, or a step timeline of many.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION,
     "What is forward and backward; timelines tell that themselves.", MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"operations", PIPE_TYPE, "For the class `pipeline`.", 0, 0},
    {0},
};

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(pipe_ops_options, selection),
    {.name = "p2p-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(pipe_ops_options, p2p_kinds, LIST),
     .def = "send-recv",
     .help = "Kinds of communication by which stages of a pipeline hand on their work."},
    {0},
};

static int64_t count_lost(const mill_trace *trace) {
    int64_t lost = !trace->complete;
    for (uint64_t i = 0; i < trace->diagnostics.n; i++)
        if (mill_u8(trace, &trace->diagnostics.lost, i))
            lost += (int64_t)mill_u64(trace, &trace->diagnostics.count, i);
    return lost;
}

static mill_status run_operations(mill_run *run, const void *opts, void *state) {
    (void)state;
    const mill_trace *trace = mill_input(run, 0, 0);
    const char *path = mill_at(trace, trace->path);
    pipe_making m = {.run = run, .value = mill_value_alloc(run, NULL, sizeof *m.value)};
    m.value->size = sizeof *m.value;
    m.value->timeline = mill_timer_count(trace) > 0;
    m.value->path = copy_text(&m, path);
    m.value->base_ns = trace->base_ns;
    m.value->lost = count_lost(trace);
    mill_status status = MILL_OK;
    if (m.value->timeline)
        pipe_take_timers(&m, trace);
    else
        status = pipe_take_profile(&m, trace, mill_input(run, 1, 0), opts);
    if (status == MILL_OK) {
        keep_ops(&m);
        status = mill_output(run, 0, m.value);
    }
    free(m.ops);
    return status;
}

const mill_stage pipe_operations_stage = {
    MILL_STAGE_HEAD,
    .name = "pipeline.operations",
    .summary = "What the ranks of a pipeline do when, from one profile or timeline",
    .help = "Finds the forward and backward passes of micro-batches, and what is sent and received "
            "between stages: in a step timeline (MegaScale's), which names them, or in the profile "
            "of one rank by its attribution. The small value that it makes is for the class "
            "`pipeline`, so that the profiles of a job need not be in memory at once.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(pipe_ops_options),
    .run = run_operations,
};
