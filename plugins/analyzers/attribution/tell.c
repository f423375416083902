/* SPDX-License-Identifier: Apache-2.0 */
/* The report: how much was placed, by which method, and what the steps and stages hold. */
#include "attribution.h"

#include <tracemill/kit/columns.h>
#include <tracemill/kit/trace_notes.h>

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

/* Activities by one sort of thing, on each device by itself. */
typedef struct sums {
    uint64_t n;
    kit_tally *tallies; /* n times the devices */
} sums;

typedef struct telling {
    mill_run *run;
    const mill_trace *trace;
    const attribution_options *options;
    const site_table *sites;
    const mill_attribution *value;
    const method_outcome *outcome;
    kit_report *report;
    sums stages, steps;
    sums unplaced; /* by annotation's name; the last but one: none, the last: no launch */
} telling;

/* ---------------------------------------------------------------- sums */

/* Of what has no stage: the name of its annotation, one more for none, and one for no launch. */
static uint32_t unplaced_name(const telling *t, uint32_t launch, uint32_t place) {
    uint32_t names = (uint32_t)t->trace->names.texts.n;
    if (place != MILL_NONE && t->value->method[place] != MILL_METHOD_NONE)
        return MILL_NONE;
    if (launch == MILL_NONE)
        return names + 1;
    if (place == MILL_NONE || t->value->annotation[place] == MILL_NONE)
        return names;
    return mill_u32(t->trace, &t->trace->cpu.name, t->value->annotation[place]);
}

static void sums_init(const telling *t, sums *s, uint64_t n) {
    s->n = n;
    s->tallies = mill_scratch(t->run, n * t->trace->devices.n * sizeof *s->tallies);
}

static void sums_add(const telling *t, sums *s, uint32_t to, uint32_t device, int64_t start,
                     int64_t end) {
    if (to != MILL_NONE)
        kit_tally_add(&s->tallies[to * t->trace->devices.n + device], start, end);
}

/* One sum over all devices; each device's union is its own. */
static kit_tally sums_get(const telling *t, const sums *s, uint64_t i) {
    kit_tally all = {0};
    for (uint64_t d = 0; d < t->trace->devices.n; d++) {
        const kit_tally *from = &s->tallies[i * t->trace->devices.n + d];
        if (from->n == 0)
            continue;
        all.first = all.n == 0 || from->first < all.first ? from->first : all.first;
        all.last = all.n == 0 || from->last > all.last ? from->last : all.last;
        all.n += from->n;
        all.sum = kit_add(all.sum, from->sum);
        all.busy += from->busy;
    }
    return all;
}

/* Columns of some rows of the trace's gpu. */
typedef struct block {
    int64_t start[KIT_BLOCK], dur[KIT_BLOCK];
    uint32_t stream[KIT_BLOCK], launch[KIT_BLOCK];
} block;

static void sum_up(telling *t) {
    const mill_trace *trace = t->trace;
    const mill_gpu *gpu = &trace->gpu;
    block b;
    sums_init(t, &t->stages, t->value->n_stages);
    sums_init(t, &t->steps, t->value->n_steps);
    sums_init(t, &t->unplaced, trace->names.texts.n + 2);
    for (uint64_t first = 0; first < gpu->n; first += KIT_BLOCK) {
        size_t n = kit_block_rows(gpu->n, first);
        kit_read_i64(trace, &gpu->start, first, n, b.start);
        kit_read_i64(trace, &gpu->dur, first, n, b.dur);
        kit_read_u32(trace, &gpu->stream, first, n, b.stream);
        kit_read_u32(trace, &gpu->launch, first, n, b.launch);
        for (size_t i = 0; i < n; i++) {
            uint32_t place = t->value->place[first + i];
            uint32_t device = mill_u32(trace, &trace->streams.device, b.stream[i]);
            int64_t start = b.start[i], end = start + b.dur[i];
            if (place != MILL_NONE) {
                sums_add(t, &t->stages, t->value->stage[place], device, start, end);
                sums_add(t, &t->steps, t->value->step[place], device, start, end);
            }
            sums_add(t, &t->unplaced, unplaced_name(t, b.launch[i], place), device, start, end);
        }
    }
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

static const kit_column method_columns[] = {
    {MILL_KIND_TEXT, "method", "method", NULL},
    {MILL_KIND_TEXT, "used", "used", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities that it would place"},
    {MILL_KIND_NS, "busy", "busy", "|union| of them, summed over devices"},
    {MILL_KIND_RATIO, "coverage", "coverage", "share of the busy time"},
    {0},
};

static void tell_methods(const telling *t) {
    kit_table *table = kit_table_of(t->report, "methods", "What each method would place",
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

static const kit_column step_columns[] = {
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
    kit_table *table = kit_table_of(t->report, "steps", "Steps",
                                    "An activity belongs to the step in which its launch call "
                                    "starts. Times are from the first activity.",
                                    step_columns);
    for (uint64_t i = 0; i < t->value->n_steps; i++) {
        kit_tally s = sums_get(t, &t->steps, i);
        bool any = s.n > 0; /* without activities nothing is known of the step's GPU time */
        kit_table_row(table);
        kit_cell_int(table, t->value->step_number[i]);
        kit_cell_text(table, t->value->step_whole[i] ? "yes" : "no");
        kit_cell_int(table, s.n);
        kit_cell_int(table, any ? s.busy : MILL_UNKNOWN);
        kit_cell_int(table, any ? s.sum : MILL_UNKNOWN);
        kit_cell_int(table, t->value->step_start[i] - zero);
        kit_cell_int(table, t->value->step_end[i] - zero);
        kit_cell_int(table, any ? s.first - zero : MILL_UNKNOWN);
        kit_cell_int(table, any ? s.last - zero : MILL_UNKNOWN);
    }
}

static const kit_column stage_columns[] = {
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_TEXT, "chunk", "chunk", NULL},
    {MILL_KIND_COUNT, "layers", "layers", "distinct layers; unknown where none is known"},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|, summed over devices"},
    {0},
};

/* Of each stage: how many distinct layers its places have, 0 where none is known; and its chunk. */
static void count_layers(const telling *t, int64_t *ret_layers, uint8_t *ret_chunks) {
    kit_intern *seen = kit_intern_create();
    for (uint64_t p = t->value->n_places; p-- > 0;) {
        uint32_t stage = t->value->stage[p];
        if (stage == MILL_NONE)
            continue;
        ret_chunks[stage] = t->value->chunk[p]; /* the first place's is what stays */
        int64_t key[2] = {stage, t->value->layer[p]};
        uint32_t n = kit_intern_count(seen);
        if (key[1] != MILL_UNKNOWN)
            ret_layers[stage] += kit_intern_add(seen, (const char *)key, sizeof key, 0) == n;
    }
    kit_intern_destroy(seen);
}

static void tell_stages(const telling *t) {
    if (t->value->n_stages == 0)
        return;
    kit_table *table = kit_table_of(t->report, "stages", "Stages", NULL, stage_columns);
    int64_t *layers = mill_scratch(t->run, t->value->n_stages * sizeof *layers);
    uint8_t *chunks = mill_scratch(t->run, t->value->n_stages);
    count_layers(t, layers, chunks);
    for (uint32_t i = 0; i < t->value->n_stages; i++) {
        kit_table_row(table);
        kit_cell_text(table, t->value->stages[i]);
        kit_cell_text(table, chunk_names[chunks[i]]);
        kit_cell_int(table, layers[i] > 0 ? layers[i] : MILL_UNKNOWN);
        kit_tally all = sums_get(t, &t->stages, i);
        kit_cell_int(table, all.n);
        kit_cell_int(table, all.sum);
        kit_cell_int(table, all.busy);
    }
}

static const kit_column unplaced_columns[] = {
    {MILL_KIND_TEXT, "annotation", "annotation", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|, summed over devices"},
    {0},
};

typedef struct ranked {
    const char *name;
    kit_tally tally;
    uint64_t order; /* of equals */
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->tally.busy != y->tally.busy)
        return x->tally.busy > y->tally.busy ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Activities without a stage, by the innermost annotation: what a regex or a rule could name. */
static void tell_unplaced(const telling *t) {
    uint64_t n_names = t->trace->names.texts.n;
    ranked *list = mill_scratch(t->run, t->unplaced.n * sizeof *list);
    size_t n = 0, top = (size_t)t->options->top;
    for (uint64_t i = 0; i < t->unplaced.n; i++) {
        ranked here = {NULL, sums_get(t, &t->unplaced, i), i};
        here.name = i < n_names    ? mill_name(t->trace, (uint32_t)i)
                    : i == n_names ? "(no annotation)"
                                   : "(no launch call)";
        if (here.tally.n > 0)
            list[n++] = here;
    }
    if (n == 0)
        return;
    qsort(list, n, sizeof *list, compare_ranked);
    kit_table *table =
        kit_table_of(t->report, "unplaced", "Activities without a stage, by annotation",
                     "The innermost annotation around their launch.", unplaced_columns);
    for (size_t i = 0; i < n && i < top; i++) {
        kit_table_row(table);
        kit_cell_text(table, list[i].name);
        kit_cell_int(table, list[i].tally.n);
        kit_cell_int(table, list[i].tally.sum);
        kit_cell_int(table, list[i].tally.busy);
    }
}

/* ---------------------------------------------------------------- notes */

static void note_coverage(const telling *t) {
    const method_outcome *o = t->outcome;
    char share[KIT_NUMBER_MAX];
    int64_t all = o->busy[MILL_METHOD_NONE];
    if (o->n[MILL_METHOD_NONE] == 0)
        return;
    if (o->used == MILL_METHOD_NONE || o->n[o->used] == 0) {
        kit_note(t->report, o->used ? MILL_WARNING : MILL_INFO, "no_stages",
                 "No activity has a stage: %s. Name the stages' annotations by stage-regex, or "
                 "write rules; the annotations there are stand in the table unplaced.",
                 o->used ? "the method asked for finds none" : "none of the methods finds any");
        return;
    }
    if ((double)o->busy[o->used] * 100 >= t->options->min_coverage * (double)all)
        return;
    kit_format_percent(share, o->busy[o->used], all);
    kit_note(t->report, MILL_WARNING, "low_coverage",
             "The method %s places only %s of the busy time (min-coverage = %g %%): figures by "
             "stage, chunk and layer leave out the rest.",
             method_names[o->used], share, t->options->min_coverage);
}

/* What the method can't know. */
static void note_method(const telling *t) {
    switch (t->outcome->used) {
    case MILL_METHOD_AUTOGRAD:
        kit_note(t->report, MILL_INFO, "autograd_limits",
                 "Backward is what the autograd engine launched; what the main thread launches "
                 "counts as forward, even where a schedule of its own runs backward work there.%s",
                 t->options->wgrad_regex[0] == '\0'
                     ? " Gradients of weights are part of B: wgrad-regex tells them apart."
                     : "");
        break;
    case MILL_METHOD_SEQUENCE:
        kit_note(t->report, MILL_INFO, "sequence_limits",
                 "The order of kernels tells the parts of expert-parallel communication only.");
        break;
    default:
        break;
    }
}

static void note_launches(const telling *t) {
    uint64_t all = t->trace->gpu.n, without = all - t->sites->launched;
    if (without == 0)
        return;
    kit_note(t->report, MILL_WARNING, "no_launch",
             "%llu of %llu activities have no launch call in the file, so no annotation is known "
             "to be theirs%s. Ranges on the GPU's lines (gpu_user_annotation) are not read.",
             (unsigned long long)without, (unsigned long long)all,
             t->sites->by_start ? "; each is given to the step in which it starts, though the CPU "
                                  "may be ahead of the GPU"
                                : ", nor a step");
}

static void note_steps(const telling *t) {
    uint64_t n = t->value->n_steps, empty = 0, cut = 0;
    for (uint64_t i = 0; i < n; i++) {
        empty += t->sites->steps[i].n == 0;
        cut += !t->value->step_whole[i] && t->sites->steps[i].n > 0;
    }
    if (n == 0 && t->trace->gpu.n > 0)
        kit_note(t->report, MILL_INFO, "no_steps",
                 "The trace has no profiler steps: all of it counts as one.");
    if (empty > 0)
        kit_note(t->report, MILL_WARNING, "empty_steps",
                 "%llu of %llu steps have no device events: profiling ended in them, or their "
                 "records are lost. Nothing is known of them.",
                 (unsigned long long)empty, (unsigned long long)n);
    if (cut > 0)
        kit_note(t->report, MILL_INFO, "cut_steps",
                 "%llu of %llu steps are cut by the profile's start or end.",
                 (unsigned long long)cut, (unsigned long long)n);
}

static void tell_summary(const telling *t) {
    const method_outcome *o = t->outcome;
    char share[KIT_NUMBER_MAX];
    if (o->n[MILL_METHOD_NONE] == 0)
        kit_report_summary(t->report, "No device events: there is nothing to place.");
    else if (o->used == MILL_METHOD_NONE || o->n[o->used] == 0)
        kit_report_summary(t->report, "Stages and chunks are unknown: no method finds any.");
    else
        kit_report_summary(t->report,
                           "%s of the busy time is placed, in %llu stages, by the method %s.",
                           kit_format_percent(share, o->busy[o->used], o->busy[MILL_METHOD_NONE]),
                           (unsigned long long)t->value->n_stages, method_names[o->used]);
}

mill_report *attribution_tell(mill_run *run, const mill_trace *trace,
                              const attribution_options *options, const site_table *sites,
                              const mill_attribution *value, const method_outcome *outcome) {
    telling t = {
        .run = run,
        .trace = trace,
        .options = options,
        .sites = sites,
        .value = value,
        .outcome = outcome,
    };
    t.report = kit_report_begin(run, "attribution", "Places of GPU activities",
                                mill_at(trace, trace->path));
    sum_up(&t);
    tell_summary(&t);
    kit_note_trace(run, t.report, trace);
    note_coverage(&t);
    note_method(&t);
    note_launches(&t);
    note_steps(&t);
    tell_figures(&t);
    tell_methods(&t);
    tell_steps(&t);
    tell_stages(&t);
    tell_unplaced(&t);
    return kit_report_end(t.report);
}
