/* SPDX-License-Identifier: Apache-2.0 */
/* The same operation in every layer: how much slower it is beside communication, and how much its
 * time varies at all.
 *
 * A heuristic. An operation is known by its stage, its kernel's name, its stream, and its ordinal
 * among those in the stage. It can be compared if it runs once in each layer of each step that has
 * the stage, always with as many blocks. Stages whose work depends on tokens are left out. */
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/intern.h>

#include "findings.h"

/* No padding in keys, since their bytes are interned. */
typedef struct cell_key { /* a stage in one layer of one step */
    int64_t layer;
    uint32_t stage, step;
} cell_key;
typedef struct family_key { /* operations that differ in their ordinals only */
    uint32_t stage, name, stream;
} family_key;
typedef struct op_key {
    uint32_t family, ordinal;
} op_key;

typedef struct comparing {
    const findings_analysis *analysis;
    findings_device *device;
    const bool *varying; /* stages */
    kit_intern *cells, *families, *ops;
    uint32_t *cell_of, *op_of; /* of each activity; MILL_NONE: it is in none. op_of holds families
                                  until the operations are numbered */
    uint32_t *cells_of;        /* of each stage: how many cells it has */
    uint32_t *members;         /* activities, operation by operation */
    size_t *first;             /* of each operation and one more: where its members begin */
    int64_t *durs;             /* room for those of one operation, twice */
} comparing;

/* ---------------------------------------------------------------- which operation */

static mill_status number_families(comparing *c) {
    const kit_activities *all = &c->analysis->all;
    const mill_trace *trace = all->trace;
    uint32_t *of_place = mill_scratch(c->analysis->run, all->places->n_places * sizeof *of_place);
    for (size_t i = 0; i < c->device->view->n; i++) {
        if (findings_cancelled(c->analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &c->device->view->v[i];
        cell_key cell = {kit_layer_of(all, a->place), kit_stage_of(all, a->place),
                         kit_step_of(all, a->place)};
        c->op_of[i] = c->cell_of[i] = MILL_NONE;
        if (cell.stage == MILL_NONE || cell.layer == MILL_UNKNOWN || c->varying[cell.stage])
            continue;
        if (of_place[a->place] == 0) /* number + 1 */
            of_place[a->place] = kit_intern_add(c->cells, (const char *)&cell, sizeof cell, 0) + 1;
        c->cell_of[i] = of_place[a->place] - 1;
        family_key family = {cell.stage, mill_u32(trace, &trace->gpu.name, a->row), a->stream};
        if (a->cls == KIT_COMP)
            c->op_of[i] = kit_intern_add(c->families, (const char *)&family, sizeof family, 0);
    }
    return MILL_OK;
}

/* The activities of a stream run in the order of their launches, so ordinals can be counted. */
static mill_status number_ops(comparing *c) {
    uint32_t n = kit_intern_count(c->families);
    uint32_t *last = mill_scratch(c->analysis->run, n * sizeof *last); /* cell + 1 */
    uint32_t *count = mill_scratch(c->analysis->run, n * sizeof *count);
    for (size_t i = 0; i < c->device->view->n; i++) {
        if (findings_cancelled(c->analysis, i))
            return MILL_E_CANCELLED;
        uint32_t family = c->op_of[i];
        if (family == MILL_NONE)
            continue;
        if (last[family] != c->cell_of[i] + 1) {
            last[family] = c->cell_of[i] + 1;
            count[family] = 0;
        }
        op_key op = {family, count[family]++};
        c->op_of[i] = kit_intern_add(c->ops, (const char *)&op, sizeof op, 0);
    }
    return MILL_OK;
}

static void sort_members(comparing *c) {
    size_t n = kit_intern_count(c->ops), rows = c->device->view->n, longest = 0;
    mill_run *run = c->analysis->run;
    c->first = mill_scratch(run, (n + 1) * sizeof *c->first);
    c->members = mill_scratch(run, rows * sizeof *c->members);
    for (size_t i = 0; i < rows; i++)
        if (c->op_of[i] != MILL_NONE)
            c->first[c->op_of[i] + 1]++;
    for (size_t o = 0; o < n; o++) {
        longest = c->first[o + 1] > longest ? c->first[o + 1] : longest;
        c->first[o + 1] += c->first[o];
    }
    size_t *next = mill_scratch(run, (n + 1) * sizeof *next);
    memcpy(next, c->first, (n + 1) * sizeof *next);
    for (size_t i = 0; i < rows; i++)
        if (c->op_of[i] != MILL_NONE)
            c->members[next[c->op_of[i]]++] = (uint32_t)i;
    c->durs = mill_scratch(run, 3 * longest * sizeof *c->durs);
    for (uint32_t i = 0; i < kit_intern_count(c->cells); i++) {
        cell_key cell;
        memcpy(&cell, kit_intern_text(c->cells, i, NULL), sizeof cell);
        c->cells_of[cell.stage]++;
    }
}

/* ---------------------------------------------------------------- how long it takes */

static int compare_durs(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Whether the operation can be compared: once in each cell, of one size that is known. */
static bool is_fixed(const comparing *c, const uint32_t *members, size_t n, uint32_t stage) {
    const mill_trace *trace = c->analysis->all.trace;
    const kit_activity *v = c->device->view->v;
    int64_t grid = mill_i64(trace, &trace->gpu.grid, v[members[0]].row);
    if (n < 2 || n != c->cells_of[stage] || grid == MILL_UNKNOWN)
        return false;
    for (size_t i = 1; i < n; i++)
        if (mill_i64(trace, &trace->gpu.grid, v[members[i]].row) != grid)
            return false;
    return true;
}

/* (longest - shortest) / median of sorted durations; -1: some are too short to tell. */
static double spread_of(const int64_t *durs, size_t n, int64_t least) {
    double median = ((double)durs[(n - 1) / 2] + (double)durs[n / 2]) / 2;
    return durs[0] < least || median <= 0 ? -1 : (double)(durs[n - 1] - durs[0]) / median;
}

static void measure_op(const comparing *c, const uint32_t *members, size_t n, findings_op *op) {
    const findings_options *o = c->analysis->options;
    int64_t *all = c->durs, *with = all + n, *without = with + n;
    kit_cover_cursor comm = {&c->device->covers[KIT_COMM], 0};
    for (size_t i = 0; i < n; i++) {
        const kit_activity *a = &c->device->view->v[members[i]];
        int64_t dur = all[i] = a->end - a->start;
        int64_t under = kit_covered_next(&comm, (kit_interval){a->start, a->end});
        if (dur > 0 && (double)under >= o->with_comm / 100 * (double)dur)
            with[op->n_with++] = dur;
        if ((double)under <= o->without_comm / 100 * (double)dur)
            without[op->n_without++] = dur;
    }
    qsort(all, n, sizeof *all, compare_durs);
    qsort(with, op->n_with, sizeof *with, compare_durs);
    qsort(without, op->n_without, sizeof *without, compare_durs);
    op->spread = spread_of(all, n, o->min_op);
    if (op->n_with > 0)
        op->with = kit_percentile(with, op->n_with, 50);
    if (op->n_without > 0)
        op->without = kit_percentile(without, op->n_without, 50);
}

static bool is_contended(const findings_analysis *analysis, const findings_op *op) {
    return op->n_with > 0 && op->n_without > 0 && op->without > 0 &&
           op->with >= analysis->options->min_op;
}

static mill_status measure_ops(comparing *c) {
    size_t n = kit_intern_count(c->ops);
    findings_device *d = c->device;
    d->ops = mill_scratch(c->analysis->run, n * sizeof *d->ops);
    for (uint32_t i = 0; i < n; i++) {
        op_key op;
        family_key family;
        if (findings_cancelled(c->analysis, i))
            return MILL_E_CANCELLED;
        memcpy(&op, kit_intern_text(c->ops, i, NULL), sizeof op);
        memcpy(&family, kit_intern_text(c->families, op.family, NULL), sizeof family);
        const uint32_t *members = c->members + c->first[i];
        size_t n_members = c->first[i + 1] - c->first[i];
        if (!is_fixed(c, members, n_members, family.stage))
            continue;
        findings_op *to = &d->ops[d->n_ops];
        *to = (findings_op){.stage = family.stage,
                            .name = family.name,
                            .ordinal = op.ordinal,
                            .kind = d->view->v[members[0]].kind};
        measure_op(c, members, n_members, to);
        d->n_ops += to->spread >= 0 || is_contended(c->analysis, to);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- kinds */

static int compare_kinds(const void *a, const void *b) {
    const findings_kind *x = a, *y = b;
    if (x->slowed != y->slowed)
        return x->slowed < y->slowed ? 1 : -1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void add_op(const findings_op *op, findings_kind *to) {
    double ratio = (double)op->with / (double)op->without;
    to->least = to->n == 0 || ratio < to->least ? ratio : to->least;
    to->most = ratio > to->most ? ratio : to->most;
    to->kind = op->kind;
    to->n++;
    to->with = kit_add(to->with, op->with);
    to->without = kit_add(to->without, op->without);
}

/* What a kind loses if all its computation beside communication is as much slower. */
static void find_kinds(const findings_analysis *analysis, findings_device *d) {
    size_t n = analysis->all.trace->kinds.n;
    findings_kind *kinds = mill_scratch(analysis->run, n * sizeof *kinds);
    for (size_t i = 0; i < d->n_ops; i++)
        if (d->ops[i].kind < n && is_contended(analysis, &d->ops[i]))
            add_op(&d->ops[i], &kinds[d->ops[i].kind]);
    kit_cover_cursor comm = {&d->covers[KIT_COMM], 0};
    for (size_t i = 0; i < d->view->n; i++) {
        const kit_activity *a = &d->view->v[i];
        if (a->cls != KIT_COMP || a->kind >= n || kinds[a->kind].with <= kinds[a->kind].without)
            continue;
        const findings_kind *k = &kinds[a->kind];
        int64_t under = kit_covered_next(&comm, (kit_interval){a->start, a->end});
        kinds[a->kind].slowed += (double)under * (1 - (double)k->without / (double)k->with);
    }
    d->kinds = kinds;
    for (size_t k = 0; k < n; k++)
        if (kinds[k].n > 0)
            kinds[d->n_kinds++] = kinds[k];
    if (d->n_kinds > 0)
        qsort(kinds, d->n_kinds, sizeof *kinds, compare_kinds);
}

/* ---------------------------------------------------------------- all of it */

static mill_status find_varying(const findings_analysis *analysis, const bool **ret_varying) {
    const mill_attribution *places = analysis->all.places;
    mill_run *run = analysis->run;
    bool *varying = mill_scratch(run, places->n_stages + 1);
    mill_regex *regex;
    *ret_varying = varying;
    if (analysis->options->varying_stages[0] == '\0')
        return MILL_OK;
    mill_status status = run->host->regex_new(run, analysis->options->varying_stages, 0, &regex);
    for (size_t s = 0; s < places->n_stages && status == MILL_OK; s++)
        varying[s] =
            run->host->regex_match(regex, places->stages[s], strlen(places->stages[s]), NULL, 0);
    return status;
}

mill_status findings_compare_ops(findings_analysis *analysis, findings_device *device) {
    size_t n = device->view->n;
    mill_run *run = analysis->run;
    if (!analysis->all.places)
        return MILL_OK;
    comparing c = {
        .analysis = analysis,
        .device = device,
        .cell_of = mill_scratch(run, n * sizeof *c.cell_of),
        .op_of = mill_scratch(run, n * sizeof *c.op_of),
        .cells_of = mill_scratch(run, (analysis->all.places->n_stages + 1) * sizeof *c.cells_of),
    };
    mill_status status = find_varying(analysis, &c.varying);
    if (status != MILL_OK)
        return status;
    c.cells = kit_intern_create();
    c.families = kit_intern_create();
    c.ops = kit_intern_create();
    status = number_families(&c);
    if (status == MILL_OK)
        status = number_ops(&c);
    if (status == MILL_OK) {
        sort_members(&c);
        status = measure_ops(&c);
    }
    kit_intern_destroy(c.cells);
    kit_intern_destroy(c.families);
    kit_intern_destroy(c.ops);
    if (status == MILL_OK)
        find_kinds(analysis, device);
    return status;
}

/* ---------------------------------------------------------------- what is told */

static const kit_column op_columns[] = {
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_COUNT, "ordinal", "ordinal", "Among those of its name and stream in the stage."},
    {MILL_KIND_COUNT, "n_with", "n with", "How many run with communication."},
    {MILL_KIND_NS, "with", "median", "Of these."},
    {MILL_KIND_COUNT, "n_without", "n without", "How many run without communication."},
    {MILL_KIND_NS, "without", "median", "Of these."},
    {MILL_KIND_RATIO, "ratio", "ratio", "with / without"},
    {MILL_KIND_TEXT, "name", "kernel", NULL},
    {0},
};

typedef struct told_op {
    const findings_device *device;
    const findings_op *op;
} told_op;

/* The longest with communication first. */
static int compare_told(const void *a, const void *b) {
    const told_op *x = a, *y = b;
    if (x->op->with != y->op->with)
        return x->op->with < y->op->with ? 1 : -1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static void tell_op(const findings_analysis *analysis, kit_table *t, const told_op *told) {
    const findings_op *op = told->op;
    kit_table_row(t);
    kit_cell_int(t, told->device->view->id);
    kit_cell_text(t, analysis->all.places->stages[op->stage]);
    kit_cell_text(t, kit_kind_name(&analysis->all, op->kind));
    kit_cell_int(t, op->ordinal);
    kit_cell_int(t, (int64_t)op->n_with);
    kit_cell_int(t, op->with);
    kit_cell_int(t, (int64_t)op->n_without);
    kit_cell_int(t, op->without);
    kit_cell_ratio(t, op->with, op->without);
    kit_cell_text(t, mill_name(analysis->all.trace, op->name));
}

static int compare_spreads(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell_spread(const findings_analysis *analysis, kit_report *r,
                        const findings_device *d) {
    double *spreads = mill_scratch(analysis->run, d->n_ops * sizeof *spreads);
    const char *scope = d->view->scope;
    size_t n = 0;
    for (size_t i = 0; i < d->n_ops; i++)
        if (d->ops[i].spread >= 0)
            spreads[n++] = d->ops[i].spread;
    if (n == 0)
        return;
    qsort(spreads, n, sizeof *spreads, compare_spreads);
    kit_figure_int(r, MILL_KIND_COUNT, "noise_ops", "operations compared over layers", scope,
                   "Of one size, and never shorter than min-op.", (int64_t)n);
    const char *help = "(longest - shortest) / median of one operation over all layers";
    kit_figure_share(r, "noise_p50", "their spread, median", scope, help, spreads[(n + 1) / 2 - 1]);
    kit_figure_share(r, "noise_p90", "90th percentile", scope, help, spreads[(9 * n + 9) / 10 - 1]);
    kit_figure_share(r, "noise_max", "largest", scope, help, spreads[n - 1]);
}

static size_t tell_contention(const findings_analysis *analysis, kit_report *r,
                              const findings_device *d, told_op *told) {
    const char *scope = d->view->scope;
    int64_t with = 0, without = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->n_ops; i++) {
        if (!is_contended(analysis, &d->ops[i]))
            continue;
        told[n++] = (told_op){d, &d->ops[i]};
        with = kit_add(with, d->ops[i].with);
        without = kit_add(without, d->ops[i].without);
    }
    if (n == 0)
        return 0;
    kit_figure_int(r, MILL_KIND_COUNT, "contention_ops", "operations with and without comm.", scope,
                   "That run beside communication in some layers and alone in others.", (int64_t)n);
    kit_figure_int(r, MILL_KIND_NS, "contention_with", "their medians with it", scope,
                   "Σ medians beside communication", with);
    kit_figure_int(r, MILL_KIND_NS, "contention_without", "their medians without it", scope,
                   "Σ medians without communication", without);
    return n;
}

void findings_tell_ops(const findings_analysis *analysis, kit_report *r) {
    size_t room = 0, n = 0;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        room += analysis->devices[i].n_ops;
    told_op *told = mill_scratch(analysis->run, room * sizeof *told);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        tell_spread(analysis, r, &analysis->devices[i]);
        n += tell_contention(analysis, r, &analysis->devices[i], told + n);
    }
    if (n == 0)
        return;
    qsort(told, n, sizeof *told, compare_told);
    kit_table *t = kit_table_of(r, "contention", "The same operation with and without comm.",
                                "Heuristic: of one size in all layers, beside communication in "
                                "some and alone in others.",
                                op_columns);
    for (size_t i = 0; i < n && i < (size_t)analysis->options->top; i++)
        tell_op(analysis, t, &told[i]);
}
