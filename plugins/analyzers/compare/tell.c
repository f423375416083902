/* SPDX-License-Identifier: Apache-2.0 */
/* The report of `compare`: tables of what changed. */
#include "tell.h"
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdicts[COMPARE_VERDICTS] = {"same", "regression", "improvement", "skew",
                                                       "unknown"};

const char *compare_stage_name(const compare_analysis *a, uint32_t stage) {
    return stage == MILL_NONE ? "(no stage)" : kit_intern_text(a->stages, stage, NULL);
}

/* ---------------------------------------------------------------- headline figures */

const compare_headline compare_times[COMPARE_TIMES] = {
    [COMPARE_T] = {"T", "window", true},
    [COMPARE_BUSY] = {"busy", "busy", true},
    [COMPARE_COMP] = {"comp", "computation", false},
    [COMPARE_COMM] = {"comm", "communication", false},
    [COMPARE_OVERLAP] = {"overlap", "hidden communication", false},
    [COMPARE_EXPOSED] = {"exposed_comm", "exposed communication", true},
    [COMPARE_WAIT_COMM] = {"actionable_exposed", "actionable exposed communication", true},
    [COMPARE_NOTIFY] = {"notify", "waiting for other ranks (notify)", true},
    [COMPARE_COMP_SUM] = {NULL, NULL, false},
    [COMPARE_CAST] = {NULL, NULL, false},
};

static const kit_column time_columns[] = {
    {MILL_KIND_TEXT, "id", "id", NULL},
    {MILL_KIND_TEXT, "figure", "figure", NULL},
    {MILL_KIND_NS, "base", "base", NULL},
    {MILL_KIND_NS, "new", "new", NULL},
    {MILL_KIND_NS, "delta", "delta", "new - base"},
    {MILL_KIND_RATIO, "of_window", "of window", "delta over the base's window"},
    {MILL_KIND_TEXT, "verdict", "verdict", NULL},
    {0},
};

static void tell_times(const compare_analysis *a, kit_report *r) {
    const int64_t *base = a->side[COMPARE_BASE].times, *now = a->side[COMPARE_NEW].times;
    kit_table *t = kit_table_of(r, "times", "Headline times", "Summed over devices.", time_columns);
    for (int i = 0; i < COMPARE_TIMES; i++) {
        if (!compare_times[i].id)
            continue;
        int64_t delta =
            base[i] == MILL_UNKNOWN || now[i] == MILL_UNKNOWN ? MILL_UNKNOWN : now[i] - base[i];
        kit_table_row(t);
        kit_cell_text(t, compare_times[i].id);
        kit_cell_text(t, compare_times[i].label);
        kit_cell_int(t, base[i]);
        kit_cell_int(t, now[i]);
        kit_cell_int(t, delta);
        kit_cell_ratio(t, delta, base[COMPARE_T]);
        kit_cell_text(t, compare_times[i].judged ? verdicts[a->verdicts[i]] : "not judged");
    }
}

static const kit_column share_columns[] = {
    {MILL_KIND_TEXT, "id", "id", NULL},           {MILL_KIND_TEXT, "figure", "figure", NULL},
    {MILL_KIND_RATIO, "base", "base", NULL},      {MILL_KIND_RATIO, "new", "new", NULL},
    {MILL_KIND_TEXT, "verdict", "verdict", NULL}, {0},
};

static void tell_share(const compare_analysis *a, kit_table *t, const char *id, const char *label,
                       compare_time part, compare_time whole, compare_verdict verdict) {
    kit_table_row(t);
    kit_cell_text(t, id);
    kit_cell_text(t, label);
    for (int end = 0; end < COMPARE_ENDS; end++)
        kit_cell_ratio(t, a->side[end].times[part], a->side[end].times[whole]);
    kit_cell_text(t, verdicts[verdict]);
}

static void tell_shares(const compare_analysis *a, kit_report *r) {
    kit_table *t = kit_table_of(r, "shares", "Headline shares", NULL, share_columns);
    tell_share(a, t, "overlap_over_comm", "communication hidden", COMPARE_OVERLAP, COMPARE_COMM,
               a->overlap_verdict);
    tell_share(a, t, "cast_share", "casts in computation (Σ)", COMPARE_CAST, COMPARE_COMP_SUM,
               a->cast_verdict);
}

/* ---------------------------------------------------------------- stages */

static const kit_column stage_columns[] = {
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_TEXT, "class", "class", "comm. without kinds that only wait."},
    {MILL_KIND_NS, "base", "base", "Σ durations"},
    {MILL_KIND_NS, "new", "new", NULL},
    {MILL_KIND_NS, "delta", "delta", NULL},
    {0},
};

/* How a change is told in every table. */
static void add_change_columns(kit_table *t, bool steps) {
    kit_table_column(t, MILL_KIND_REAL, "change", "change", "%", NULL);
    if (steps)
        kit_table_column(t, MILL_KIND_REAL, "p", "p", NULL,
                         "Of the Mann-Whitney test over steps; unknown: not asked.");
    kit_table_column(t, MILL_KIND_TEXT, "verdict", "verdict", NULL, NULL);
}

static void tell_change(kit_table *t, const compare_change *c, bool steps) {
    kit_cell_real(t, 100 * c->change);
    if (steps)
        kit_cell_real(t, c->p);
    kit_cell_text(t, verdicts[c->verdict]);
}

static bool has_steps(const compare_analysis *a) {
    return a->side[COMPARE_BASE].n_steps >= a->options->min_steps &&
           a->side[COMPARE_NEW].n_steps >= a->options->min_steps;
}

static void tell_stage(const compare_analysis *a, kit_table *t, const compare_stage *s,
                       const char *class, const compare_change *c) {
    if (c->side[COMPARE_BASE].n == 0 && c->side[COMPARE_NEW].n == 0)
        return;
    kit_table_row(t);
    kit_cell_text(t, compare_stage_name(a, s->stage));
    kit_cell_text(t, class);
    kit_cell_int(t, c->side[COMPARE_BASE].sum);
    kit_cell_int(t, c->side[COMPARE_NEW].sum);
    kit_cell_int(t, c->delta);
    tell_change(t, c, has_steps(a));
}

static void tell_stages(const compare_analysis *a, kit_report *r) {
    kit_table *t = kit_table_of(r, "stages", "Stages", NULL, stage_columns);
    add_change_columns(t, has_steps(a));
    for (size_t i = 0; i < a->n_stages; i++) {
        tell_stage(a, t, &a->stage_rows[i], "comp.", &a->stage_rows[i].comp);
        tell_stage(a, t, &a->stage_rows[i], "comm.", &a->stage_rows[i].comm);
    }
}

/* ---------------------------------------------------------------- kernels */

static int compare_deltas(const void *a, const void *b) {
    const compare_key *x = *(const compare_key *const *)a, *y = *(const compare_key *const *)b;
    int64_t i = llabs(x->change.delta), j = llabs(y->change.delta);
    if (i != j)
        return i > j ? -1 : 1;
    return (x > y) - (x < y);
}

size_t compare_order(const compare_analysis *a, compare_wanted wanted,
                     const compare_key ***ret_order) {
    const compare_key **order = mill_scratch(a->run, a->n_keys * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < a->n_keys; i++) {
        const compare_change *c = &a->keys[i].change;
        bool one_side = c->side[COMPARE_BASE].n == 0 || c->side[COMPARE_NEW].n == 0;
        if (c->delta == MILL_UNKNOWN)
            continue;
        if (wanted == COMPARE_ONE_SIDE ? one_side : c->verdict != COMPARE_SAME)
            order[n++] = &a->keys[i];
    }
    qsort(order, n, sizeof *order, compare_deltas);
    *ret_order = order;
    return n;
}

static const kit_column kernel_columns[] = {
    {MILL_KIND_COUNT, "n_base", "n", "On the base's side."},
    {MILL_KIND_COUNT, "n_new", "n new", NULL},
    {MILL_KIND_NS, "base", "base", "Σ durations"},
    {MILL_KIND_NS, "new", "new", NULL},
    {MILL_KIND_NS, "delta", "delta", NULL},
    {MILL_KIND_NS, "median_base", "median", "On the base's side."},
    {MILL_KIND_NS, "mad_base", "MAD", "Of the base."},
    {MILL_KIND_NS, "median_new", "median new", NULL},
    {MILL_KIND_NS, "mad_new", "MAD new", NULL},
    {0},
};

static void add_key_columns(const compare_analysis *a, kit_table *t) {
    if (a->level == COMPARE_BY_ORDINAL) {
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, NULL);
        kit_table_column(t, MILL_KIND_ID, "ordinal", "ordinal", NULL,
                         "Among those of its name in the stage.");
    }
    if (a->level == COMPARE_BY_SIZE)
        kit_table_column(t, MILL_KIND_COUNT, "grid", "grid", NULL, "Blocks.");
    kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL,
                     "Without arguments and numbers that the compiler made up; the kind, where "
                     "only kinds could be matched.");
}

static void tell_key(const compare_analysis *a, kit_table *t, const compare_key *key) {
    if (a->level == COMPARE_BY_ORDINAL) {
        kit_cell_text(t, compare_stage_name(a, key->stage));
        kit_cell_int(t, key->ordinal);
    }
    if (a->level == COMPARE_BY_SIZE)
        kit_cell_int(t, key->grid);
    kit_cell_text(t, key->what);
}

static void tell_kernels(const compare_analysis *a, kit_report *r) {
    const compare_key **order;
    size_t n = compare_order(a, COMPARE_CHANGED, &order);
    if (n == 0)
        return;
    kit_table *t = kit_table_of(r, "kernels", "Kernels that changed most", NULL, kernel_columns);
    add_change_columns(t, has_steps(a));
    add_key_columns(a, t);
    for (size_t i = 0; i < n && i < (size_t)a->options->top; i++) {
        const compare_change *c = &order[i]->change;
        const compare_sample *base = &c->side[COMPARE_BASE], *now = &c->side[COMPARE_NEW];
        const int64_t cells[] = {base->n,      now->n,    base->sum,   now->sum, c->delta,
                                 base->median, base->mad, now->median, now->mad};
        kit_table_row(t);
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++)
            kit_cell_int(t, cells[k]);
        tell_change(t, c, has_steps(a));
        tell_key(a, t, order[i]);
    }
}

static const kit_column unmatched_columns[] = {
    {MILL_KIND_TEXT, "side", "side", "added: only in the new one; removed: only in the base."},
    {MILL_KIND_COUNT, "n", "n", NULL},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {0},
};

static void tell_unmatched(const compare_analysis *a, kit_report *r) {
    const compare_key **order;
    size_t n = compare_order(a, COMPARE_ONE_SIDE, &order);
    if (n == 0)
        return;
    kit_table *t =
        kit_table_of(r, "unmatched", "Kernels on one side only", NULL, unmatched_columns);
    add_key_columns(a, t);
    for (size_t i = 0; i < n && i < (size_t)a->options->top; i++) {
        bool added = order[i]->change.side[COMPARE_BASE].n == 0;
        const compare_sample *s = &order[i]->change.side[added ? COMPARE_NEW : COMPARE_BASE];
        kit_table_row(t);
        kit_cell_text(t, added ? "added" : "removed");
        kit_cell_int(t, s->n);
        kit_cell_int(t, s->sum);
        tell_key(a, t, order[i]);
    }
}

/* ---------------------------------------------------------------- all of it */

static const kit_column difference_columns[] = {
    {MILL_KIND_TEXT, "what", "what", NULL},
    {MILL_KIND_TEXT, "base", "base", NULL},
    {MILL_KIND_TEXT, "new", "new", NULL},
    {0},
};

static void tell_differences(const compare_analysis *a, kit_report *r) {
    kit_table *t = kit_table_of(r, "differences", "In what the traces are not alike", NULL,
                                difference_columns);
    for (size_t i = 0; i < a->n_differences; i++) {
        kit_table_row(t);
        kit_cell_text(t, a->differences[i].what);
        kit_cell_text(t, a->differences[i].base);
        kit_cell_text(t, a->differences[i].now);
    }
}

static const char *path_of(const compare_analysis *a, compare_end end) {
    const char *path = mill_at(a->side[end].trace, a->side[end].trace->path);
    return path ? path : "(no path)";
}

static void tell_matched(const compare_analysis *a, kit_report *r) {
    static const char *const levels[COMPARE_LEVELS] = {"stage, name and ordinal in the stage",
                                                       "name and size (grid, block)", "name",
                                                       "class and kind"};
    static const char *const ids[COMPARE_ENDS] = {"matched_base", "matched_new"};
    static const char *const labels[COMPARE_ENDS] = {"of the base found in the new one",
                                                     "of the new one found in the base"};
    kit_figure_text(r, "base", "base", NULL, NULL, path_of(a, COMPARE_BASE));
    kit_figure_text(r, "new", "new", NULL, NULL, path_of(a, COMPARE_NEW));
    kit_figure_text(r, "matched_by", "activities found again by", NULL,
                    "The finest way by which min-matched of the time is found on both sides.",
                    levels[a->level]);
    for (int end = 0; end < COMPARE_ENDS; end++)
        kit_figure_share(r, ids[end], labels[end], NULL, "Share of Σ durations.", a->matched[end]);
}

mill_report *compare_tell(const compare_analysis *a) {
    kit_report *r = kit_report_begin(a->run, "compare", "Changes between two profiles",
                                     path_of(a, COMPARE_NEW));
    compare_tell_findings(a, r);
    tell_matched(a, r);
    tell_times(a, r);
    tell_shares(a, r);
    tell_stages(a, r);
    tell_kernels(a, r);
    tell_unmatched(a, r);
    if (a->n_differences > 0)
        tell_differences(a, r);
    return kit_report_end(r);
}
