/* SPDX-License-Identifier: Apache-2.0 */
/* The report: how much was placed, by which method, and what the steps and stages hold. */
#include "attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[] = {
    [MILL_METHOD_NONE] = "none",         [MILL_METHOD_ANNOTATION] = "annotation",
    [MILL_METHOD_RULE] = "rules",        [MILL_METHOD_AUTOGRAD] = "autograd",
    [MILL_METHOD_SEQUENCE] = "sequence", [MILL_METHOD_PIPELINE] = "pipeline",
};

static const char *const chunk_names[] = {
    [MILL_CHUNK_NONE] = NULL,  [MILL_CHUNK_FORWARD] = "F", [MILL_CHUNK_BACKWARD] = "B",
    [MILL_CHUNK_WEIGHT] = "W", [MILL_CHUNK_PAIR] = "F&B",
};

/* Activities of one sort on all devices; unions are of each device by itself. */
typedef struct sums {
    int64_t n, sum, busy, first, last;
} sums;

typedef struct telling {
    mill_run *run;
    const mill_trace *trace;
    const attribution_options *options;
    const site_table *sites;
    const mill_attribution *value;
    const method_outcome *outcome;
    kit_report *report;
    sums *stages, *steps; /* of each */
    sums *unplaced;       /* of each name; the last but one: no annotation, the last: no launch */
} telling;

/* ---------------------------------------------------------------- sums */

/* Which sum of one sort each place belongs to, or MILL_NONE. */
typedef uint32_t (*sort_fn)(const telling *t, uint64_t row);

static uint32_t by_stage(const telling *t, uint64_t row) {
    uint32_t place = t->value->place[row];
    return place == MILL_NONE ? MILL_NONE : t->value->stage[place];
}

static uint32_t by_step(const telling *t, uint64_t row) {
    uint32_t place = t->value->place[row];
    return place == MILL_NONE ? MILL_NONE : t->value->step[place];
}

/* Of what has no stage: the name of its annotation, one more for none, and one for no launch. */
static uint32_t by_unplaced(const telling *t, uint64_t row) {
    uint32_t place = t->value->place[row], names = (uint32_t)t->trace->names.texts.n;
    if (place != MILL_NONE && t->value->method[place] != MILL_METHOD_NONE)
        return MILL_NONE;
    if (mill_u32(t->trace, &t->trace->gpu.launch, row) == MILL_NONE)
        return names + 1;
    if (place == MILL_NONE || t->value->annotation[place] == MILL_NONE)
        return names;
    return mill_u32(t->trace, &t->trace->cpu.name, t->value->annotation[place]);
}

/* Sums over each device by itself, since a union of two devices would hide one's work. */
static sums *sum_up(const telling *t, uint32_t n, sort_fn sort) {
    const mill_trace *trace = t->trace;
    uint64_t n_devices = trace->devices.n;
    sums *all = mill_scratch(t->run, n * sizeof *all);
    kit_tally *tallies = mill_scratch(t->run, n * n_devices * sizeof *tallies);
    for (uint64_t row = 0; row < trace->gpu.n; row++) {
        uint32_t to = sort(t, row);
        if (to == MILL_NONE)
            continue;
        uint32_t stream = mill_u32(trace, &trace->gpu.stream, row);
        uint32_t device = mill_u32(trace, &trace->streams.device, stream);
        int64_t start = mill_i64(trace, &trace->gpu.start, row);
        kit_tally_add(&tallies[to * n_devices + device], start,
                      start + mill_i64(trace, &trace->gpu.dur, row));
    }
    for (uint64_t i = 0; i < n * n_devices; i++) {
        const kit_tally *from = &tallies[i];
        sums *to = &all[i / n_devices];
        if (from->n == 0)
            continue;
        to->first = to->n == 0 || from->first < to->first ? from->first : to->first;
        to->last = to->n == 0 || from->last > to->last ? from->last : to->last;
        to->n += from->n;
        to->sum = kit_add(to->sum, from->sum);
        to->busy += from->busy;
    }
    return all;
}

/* ---------------------------------------------------------------- figures and tables */

static void tell_figures(const telling *t) {
    kit_report *r = t->report;
    const method_outcome *o = t->outcome;
    bool placed = o->used != MILL_METHOD_NONE;
    kit_figure_text(r, "method", "method", NULL, "How places were found.", method_names[o->used]);
    kit_figure_ratio(r, "coverage", "busy time placed", NULL,
                     "placed_busy / busy, over all devices", placed ? o->busy[o->used] : 0,
                     o->busy[MILL_METHOD_NONE]);
    kit_figure_int(r, MILL_KIND_COUNT, "activities", "activities", NULL, NULL,
                   (int64_t)o->n[MILL_METHOD_NONE]);
    kit_figure_int(r, MILL_KIND_COUNT, "placed", "activities placed", NULL, NULL,
                   placed ? (int64_t)o->n[o->used] : 0);
    kit_figure_int(r, MILL_KIND_COUNT, "launched", "activities with a launch call", NULL,
                   "The call that launched them is in the file.", (int64_t)t->sites->launched);
    kit_figure_int(r, MILL_KIND_NS, "busy", "busy", NULL,
                   "|union| of all activities, summed over devices", o->busy[MILL_METHOD_NONE]);
    kit_figure_int(r, MILL_KIND_NS, "placed_busy", "busy and placed", NULL,
                   "|union| of the activities placed, summed over devices",
                   placed ? o->busy[o->used] : 0);
    kit_figure_int(r, MILL_KIND_COUNT, "places", "places", NULL, NULL, (int64_t)t->value->n_places);
    kit_figure_int(r, MILL_KIND_COUNT, "steps", "steps", NULL, NULL, (int64_t)t->value->n_steps);
}

typedef struct column {
    mill_kind kind;
    const char *id, *label, *help;
} column;

static kit_table *begin_table(kit_report *r, const char *id, const char *label, const char *help,
                              const column *columns) {
    kit_table *t = kit_table_begin(r, id, label, help);
    for (const column *c = columns; c->id; c++)
        kit_table_column(t, c->kind, c->id, c->label, NULL, c->help);
    return t;
}

static const column method_columns[] = {
    {MILL_KIND_TEXT, "method", "method", NULL},
    {MILL_KIND_TEXT, "used", "used", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities that it would place"},
    {MILL_KIND_NS, "busy", "busy", "|union| of them, summed over devices"},
    {MILL_KIND_RATIO, "coverage", "coverage", "share of the busy time"},
    {0},
};

static void tell_methods(const telling *t) {
    kit_table *table = begin_table(t->report, "methods", "What each method would place",
                                   "One of them is used; they are never mixed.", method_columns);
    for (int m = MILL_METHOD_ANNOTATION; m < MILL_METHODS; m++) {
        kit_table_row(table);
        kit_cell_text(table, method_names[m]);
        kit_cell_text(table, m == (int)t->outcome->used ? "yes" : "no");
        kit_cell_int(table, (int64_t)t->outcome->n[m]);
        kit_cell_int(table, t->outcome->busy[m]);
        kit_cell_ratio(table, t->outcome->busy[m], t->outcome->busy[MILL_METHOD_NONE]);
    }
}

static const column step_columns[] = {
    {MILL_KIND_ID, "step", "step", NULL},
    {MILL_KIND_TEXT, "whole", "whole", "no: the profile's start or end cuts it"},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "busy", "busy", "|union|, summed over devices"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "start", "start", "On the CPU, from the first activity or step."},
    {MILL_KIND_NS, "end", "end", "On the CPU."},
    {MILL_KIND_NS, "first", "first", "First start on a GPU."},
    {MILL_KIND_NS, "last", "last", "Last end on a GPU."},
    {0},
};

/* Times are told from the first activity on. */
static int64_t zero_of(const telling *t) {
    if (t->trace->gpu.n > 0)
        return mill_i64(t->trace, &t->trace->gpu.start, 0);
    return t->value->n_steps > 0 ? t->value->step_start[0] : 0;
}

static void tell_steps(const telling *t) {
    if (t->value->n_steps == 0)
        return;
    int64_t zero = zero_of(t);
    kit_table *table = begin_table(t->report, "steps", "Steps",
                                   "An activity belongs to the step in which its launch call "
                                   "starts. Times are from the first activity.",
                                   step_columns);
    for (uint64_t i = 0; i < t->value->n_steps; i++) {
        const sums *s = &t->steps[i];
        bool any = s->n > 0; /* without activities nothing is known of the step's GPU time */
        kit_table_row(table);
        kit_cell_int(table, t->value->step_number[i]);
        kit_cell_text(table, t->value->step_whole[i] ? "yes" : "no");
        kit_cell_int(table, s->n);
        kit_cell_int(table, any ? s->busy : MILL_UNKNOWN);
        kit_cell_int(table, any ? s->sum : MILL_UNKNOWN);
        kit_cell_int(table, t->value->step_start[i] - zero);
        kit_cell_int(table, t->value->step_end[i] - zero);
        kit_cell_int(table, any ? s->first - zero : MILL_UNKNOWN);
        kit_cell_int(table, any ? s->last - zero : MILL_UNKNOWN);
    }
}

static const column stage_columns[] = {
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_TEXT, "chunk", "chunk", NULL},
    {MILL_KIND_COUNT, "layers", "layers", "distinct layers; unknown where none is known"},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|, summed over devices"},
    {0},
};

static int compare_int64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How many distinct layers the places of a stage have, or MILL_UNKNOWN. */
static int64_t count_layers(const telling *t, uint32_t stage, int64_t *room) {
    int64_t n = 0, distinct = 0;
    for (uint64_t p = 0; p < t->value->n_places; p++)
        if (t->value->stage[p] == stage && t->value->layer[p] != MILL_UNKNOWN)
            room[n++] = t->value->layer[p];
    qsort(room, (size_t)n, sizeof *room, compare_int64);
    for (int64_t i = 0; i < n; i++)
        distinct += i == 0 || room[i] != room[i - 1];
    return n > 0 ? distinct : MILL_UNKNOWN;
}

static mill_chunk chunk_of(const telling *t, uint32_t stage) {
    for (uint64_t p = 0; p < t->value->n_places; p++)
        if (t->value->stage[p] == stage)
            return (mill_chunk)t->value->chunk[p];
    return MILL_CHUNK_NONE;
}

static void tell_stages(const telling *t) {
    if (t->value->n_stages == 0)
        return;
    kit_table *table = begin_table(t->report, "stages", "Stages", NULL, stage_columns);
    int64_t *room = mill_scratch(t->run, t->value->n_places * sizeof *room);
    for (uint32_t i = 0; i < t->value->n_stages; i++) {
        kit_table_row(table);
        kit_cell_text(table, t->value->stages[i]);
        kit_cell_text(table, chunk_names[chunk_of(t, i)]);
        kit_cell_int(table, count_layers(t, i, room));
        kit_cell_int(table, t->stages[i].n);
        kit_cell_int(table, t->stages[i].sum);
        kit_cell_int(table, t->stages[i].busy);
    }
}

mill_report *attribution_tell(mill_run *run, const mill_trace *trace,
                              const attribution_options *options, const site_table *sites,
                              const mill_attribution *value, const method_outcome *outcome) {
    telling t = {run, trace, options, sites, value, outcome, NULL, NULL, NULL, NULL};
    t.report = kit_report_begin(run, "attribution", "Places of GPU activities",
                                mill_at(trace, trace->path));
    t.stages = sum_up(&t, (uint32_t)value->n_stages, by_stage);
    t.steps = sum_up(&t, (uint32_t)value->n_steps, by_step);
    t.unplaced = sum_up(&t, (uint32_t)trace->names.texts.n + 2, by_unplaced);
    tell_figures(&t);
    tell_methods(&t);
    tell_steps(&t);
    tell_stages(&t);
    return kit_report_end(t.report);
}
