/* SPDX-License-Identifier: Apache-2.0 */
/* The report of the class `ranks`: figures, ranks side by side, collectives. */
#include "tell.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/number.h>

void ranks_add_device(const ranks_analysis *a, kit_table *t) {
    if (a->by_device)
        kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, "Of that rank.");
}

void ranks_tell_device(const ranks_analysis *a, kit_table *t, uint32_t member) {
    if (a->by_device)
        kit_cell_int(t, member == MILL_NONE ? MILL_UNKNOWN : a->members[member].device->id);
}

/* ---------------------------------------------------------------- ranks side by side */

static const kit_column rank_columns[] = {
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_NS, "T", "window", "From its first start to its last end."},
    {MILL_KIND_NS, "comp", "comp.", "|C|"},
    {MILL_KIND_NS, "comm", "comm.", "|M|"},
    {MILL_KIND_NS, "exposed_comm", "exposed", "|M ∖ C|"},
    {MILL_KIND_COUNT, "matched", "n", "Collectives that other ranks here have too."},
    {MILL_KIND_NS, "wait", "wait", "Σ of what it waits in these for the last one."},
    {MILL_KIND_COUNT, "told", "told", "In how many of these it can be told who came last."},
    {MILL_KIND_COUNT, "last", "last", "In how many it came last."},
    {MILL_KIND_RATIO, "last_share", "share", "last / told"},
    {MILL_KIND_NS, "caused", "caused", "Σ of what others wait where it came last."},
    {MILL_KIND_NS, "late", "late",
     "Σ of how long after the last but one it came: what would be won if it came with it."},
    {MILL_KIND_NS, "host_late", "host late", "The part of late before its launch call began."},
    {MILL_KIND_TEXT, "label", "profile", NULL},
    {0},
};

static void tell_ranks(const ranks_analysis *a, kit_report *r) {
    kit_table *t = kit_table_of(r, "ranks", "Ranks", NULL, rank_columns);
    ranks_add_device(a, t);
    for (uint32_t i = 0; i < a->n_members; i++) {
        const ranks_member *m = &a->members[i];
        const rank_device *d = m->device;
        bool known = m->matched > 0; /* else nothing is known of waits */
        kit_table_row(t);
        kit_cell_int(t, m->rank);
        kit_cell_int(t, d->window);
        kit_cell_int(t, d->comp);
        kit_cell_int(t, d->comm);
        kit_cell_int(t, d->exposed);
        kit_cell_int(t, m->matched);
        kit_cell_int(t, known ? m->wait : MILL_UNKNOWN);
        kit_cell_int(t, m->told);
        kit_cell_int(t, m->last);
        kit_cell_ratio(t, m->last, m->told);
        kit_cell_int(t, known ? m->caused : MILL_UNKNOWN);
        kit_cell_int(t, known ? m->late : MILL_UNKNOWN);
        kit_cell_int(t, known ? m->host_late : MILL_UNKNOWN);
        kit_cell_text(t, ranks_profile(a, m));
        ranks_tell_device(a, t, i);
    }
}

static const kit_column clock_columns[] = {
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_TEXT, "clock", "clock", "reference, aligned, or not known."},
    {MILL_KIND_COUNT, "n", "n", "Synchronising collectives it rests on."},
    {MILL_KIND_NS, "offset", "offset", "Median over these; subtract it from the rank's times."},
    {MILL_KIND_NS, "spread", "spread", "MAD around the offset."},
    {MILL_KIND_NS, "drift", "drift", "Change of the offset from the first third to the last."},
    {MILL_KIND_NS, "residual", "residual", "95th percentile of what is left after alignment."},
    {0},
};

static void tell_clocks(const ranks_analysis *a, kit_report *r) {
    kit_table *t =
        kit_table_of(r, "clocks", "Clocks against the reference's",
                     "By the ends of collectives that end together on all ranks.", clock_columns);
    ranks_add_device(a, t);
    for (uint32_t i = 0; i < a->n_members; i++) {
        const ranks_clock *c = &a->members[i].clock;
        bool known = c->n > 0 || i == a->reference;
        kit_table_row(t);
        kit_cell_int(t, a->members[i].rank);
        kit_cell_text(t, i == a->reference ? "reference" : c->trusted ? "aligned" : "not known");
        kit_cell_int(t, (int64_t)c->n);
        kit_cell_int(t, known ? c->offset : MILL_UNKNOWN);
        kit_cell_int(t, c->n > 0 ? c->spread : MILL_UNKNOWN);
        kit_cell_int(t, c->n > 0 ? c->drift : MILL_UNKNOWN);
        kit_cell_int(t, c->n > 0 ? c->residual : MILL_UNKNOWN);
        ranks_tell_device(a, t, i);
    }
}

/* ---------------------------------------------------------------- imbalance */

typedef int64_t (*measure_fn)(const rank_device *d);

static int64_t comp_of(const rank_device *d) {
    return d->comp;
}
static int64_t comm_of(const rank_device *d) {
    return d->comm;
}
static int64_t moving_of(const rank_device *d) {
    return d->moving;
}
static int64_t exposed_of(const rank_device *d) {
    return d->exposed;
}

static const struct {
    const char *id, *label;
    measure_fn of;
} measures[] = {
    {"comp", "computation", comp_of},
    {"comm", "communication", comm_of},
    {"comm_without_notify", "communication but waiting kinds", moving_of},
    {"exposed_comm", "exposed communication", exposed_of},
};

static const kit_column imbalance_columns[] = {
    {MILL_KIND_TEXT, "measure", "measure", NULL}, {MILL_KIND_NS, "min", "min", NULL},
    {MILL_KIND_NS, "mean", "mean", NULL},         {MILL_KIND_NS, "max", "max", NULL},
    {MILL_KIND_ID, "rank", "rank of max", NULL},  {0},
};

static void tell_imbalance(const ranks_analysis *a, kit_report *r) {
    kit_table *t =
        kit_table_of(r, "imbalance", "Imbalance", "Over ranks; 1 is even.", imbalance_columns);
    kit_table_column(t, MILL_KIND_REAL, "max_over_mean", "max/mean", "×", NULL);
    ranks_add_device(a, t);
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        int64_t sum = 0, min = INT64_MAX, max = INT64_MIN;
        uint32_t most = 0;
        for (uint32_t k = 0; k < a->n_members; k++) {
            int64_t v = measures[i].of(a->members[k].device);
            sum = kit_add(sum, v);
            min = v < min ? v : min;
            most = v > max ? k : most;
            max = v > max ? v : max;
        }
        int64_t mean = sum == MILL_UNKNOWN ? sum : sum / (int64_t)a->n_members;
        kit_table_row(t);
        kit_cell_text(t, measures[i].label);
        kit_cell_int(t, min);
        kit_cell_int(t, mean);
        kit_cell_int(t, max);
        kit_cell_int(t, a->members[most].rank);
        kit_cell_real(t, sum > 0 ? (double)max * (double)a->n_members / (double)sum : NAN);
        ranks_tell_device(a, t, most);
    }
}

/* ---------------------------------------------------------------- collectives */

static int compare_caused(const void *a, const void *b) {
    const ranks_match *x = *(const ranks_match *const *)a, *y = *(const ranks_match *const *)b;
    if (x->caused != y->caused)
        return x->caused > y->caused ? -1 : 1;
    return (x > y) - (x < y);
}

/* The most bytes that a member moves, as all should. */
static int64_t bytes_of(const ranks_match *m) {
    int64_t bytes = MILL_UNKNOWN;
    for (size_t i = 0; i < m->n; i++)
        if (m->events[i].collective->bytes > bytes)
            bytes = m->events[i].collective->bytes;
    return bytes;
}

/* What a link carries for each byte of the operation (NCCL tests, doc/PERFORMANCE.md). */
static double bus_factor(const char *kind, int64_t ranks) {
    double n = (double)ranks;
    if (ranks < 2)
        return NAN;
    if (strcmp(kind, "all-reduce") == 0)
        return 2 * (n - 1) / n;
    if (strcmp(kind, "all-gather") == 0 || strcmp(kind, "reduce-scatter") == 0 ||
        strcmp(kind, "all-to-all") == 0)
        return (n - 1) / n;
    return strcmp(kind, "broadcast") == 0 || strcmp(kind, "reduce") == 0 ? 1 : NAN;
}

static const kit_column match_columns[] = {
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_ID, "number", "no.", "Of the file's own sequence, else counted in the step."},
    {MILL_KIND_COUNT, "ranks", "ranks", "That are here."},
    {MILL_KIND_NS, "skew", "skew", "Latest start - earliest start."},
    {MILL_KIND_NS, "transfer", "transfer", "From the latest start to the first end."},
    {MILL_KIND_NS, "caused", "waited", "Σ over its ranks; unknown: too close to tell."},
    {MILL_KIND_ID, "last", "last", "Rank that came last; unknown: too close to tell."},
    {MILL_KIND_TEXT, "method", "by", "clocks, or durations where clocks are not known."},
    {0},
};

/* What files tell of any collective: columns in which nothing is known are left out. */
typedef struct told {
    bool group, stage, step, bytes;
} told;

static told told_of(const ranks_analysis *a) {
    told k = {0};
    for (size_t i = 0; i < a->n_classes; i++) {
        k.group |= a->classes[i].group != MILL_NONE;
        k.stage |= a->classes[i].stage != MILL_NONE;
        k.step |= a->classes[i].step != MILL_UNKNOWN;
    }
    for (size_t i = 0; i < a->n_events; i++)
        k.bytes |= a->events[i].collective->bytes != MILL_UNKNOWN;
    return k;
}

static void add_class_columns(const ranks_analysis *a, kit_table *t, const told *k) {
    ranks_add_device(a, t);
    if (k->group)
        kit_table_column(t, MILL_KIND_TEXT, "group", "group", NULL, "Process group.");
    if (k->stage)
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, NULL);
    if (k->step)
        kit_table_column(t, MILL_KIND_ID, "step", "step", NULL, NULL);
}

static void tell_class(const ranks_analysis *a, kit_table *t, const told *k, const ranks_class *c,
                       uint32_t member) {
    ranks_tell_device(a, t, member);
    if (k->group)
        kit_cell_text(t, ranks_text(a, c->group));
    if (k->stage)
        kit_cell_text(t, ranks_text(a, c->stage));
    if (k->step)
        kit_cell_int(t, c->step);
}

static void tell_match(const ranks_analysis *a, kit_table *t, const told *k, const ranks_match *m) {
    int64_t bytes = bytes_of(m), size = m->events[0].collective->group_size;
    double algorithm = bytes >= 0 && m->transfer > 0 ? (double)bytes / (double)m->transfer : NAN;
    kit_table_row(t);
    kit_cell_text(t, ranks_text(a, m->cls->kind));
    kit_cell_int(t, m->events[0].number);
    kit_cell_int(t, (int64_t)m->n);
    kit_cell_int(t, m->skew);
    kit_cell_int(t, m->transfer);
    kit_cell_int(t, m->events[0].wait == MILL_UNKNOWN ? MILL_UNKNOWN : m->caused);
    kit_cell_int(t, m->last == MILL_NONE ? MILL_UNKNOWN : a->members[m->last].rank);
    kit_cell_text(t, m->by_clocks ? "clocks" : "durations");
    tell_class(a, t, k, m->cls, m->last);
    if (!k->bytes)
        return;
    kit_cell_int(t, bytes);
    kit_cell_real(t, algorithm);
    kit_cell_real(t, algorithm * bus_factor(ranks_text(a, m->cls->kind), size));
}

static const kit_column arrival_columns[] = {
    {MILL_KIND_ID, "row", "row", "Of the table above, from 0."},
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_NS, "start", "start", "After the first of this collective; unknown without clocks."},
    {MILL_KIND_NS, "dur", "duration", NULL},
    {MILL_KIND_NS, "wait", "wait", "For the last one; unknown: too close to tell."},
    {0},
};

static void tell_arrivals(const ranks_analysis *a, kit_report *r, const ranks_match **order,
                          size_t n) {
    kit_table *t = kit_table_of(r, "arrivals", "Arrivals in these", NULL, arrival_columns);
    ranks_add_device(a, t);
    for (size_t i = 0; i < n; i++) {
        int64_t first = INT64_MAX;
        for (size_t k = 0; k < order[i]->n; k++)
            first = order[i]->events[k].start < first ? order[i]->events[k].start : first;
        for (size_t k = 0; k < order[i]->n; k++) {
            const ranks_event *e = &order[i]->events[k];
            kit_table_row(t);
            kit_cell_int(t, (int64_t)i);
            kit_cell_int(t, a->members[e->member].rank);
            kit_cell_int(t, order[i]->by_clocks ? e->start - first : MILL_UNKNOWN);
            kit_cell_int(t, e->collective->dur);
            kit_cell_int(t, e->wait);
            ranks_tell_device(a, t, e->member);
        }
    }
}

static void tell_matches(const ranks_analysis *a, kit_report *r) {
    const ranks_match **order = mill_scratch(a->run, a->n_matches * sizeof *order);
    size_t n = a->n_matches < (size_t)a->options->top ? a->n_matches : (size_t)a->options->top;
    for (size_t i = 0; i < a->n_matches; i++)
        order[i] = &a->matches[i];
    qsort(order, a->n_matches, sizeof *order, compare_caused);
    kit_table *t =
        kit_table_of(r, "collectives", "Collectives in which most is waited", NULL, match_columns);
    told k = told_of(a);
    add_class_columns(a, t, &k);
    if (k.bytes) {
        kit_table_column(t, MILL_KIND_BYTES, "bytes", "bytes", NULL,
                         "The larger of what goes in and what comes out.");
        kit_table_column(t, MILL_KIND_REAL, "algbw", "algbw", "GB/s", "bytes / transfer");
        kit_table_column(t, MILL_KIND_REAL, "busbw", "busbw", "GB/s",
                         "algbw × what a link carries for each byte.");
    }
    for (size_t i = 0; i < n; i++)
        tell_match(a, t, &k, order[i]);
    if (a->options->detail)
        tell_arrivals(a, r, order, n);
}

static const kit_column gap_columns[] = {
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_COUNT, "n", "n", "That this rank has."},
    {MILL_KIND_COUNT, "of", "of", "That there are."},
    {MILL_KIND_ID, "first", "first missing", "Its sequence number, where files tell them."},
    {MILL_KIND_TEXT, "matched", "matched", "no: without numbers, none of the kind is matched."},
    {0},
};

static void tell_gaps(const ranks_analysis *a, kit_report *r) {
    kit_table *t =
        kit_table_of(r, "missing", "Collectives that some ranks lack", NULL, gap_columns);
    told k = told_of(a);
    add_class_columns(a, t, &k);
    for (size_t i = 0; i < a->n_gaps && i < (size_t)a->options->top; i++) {
        const ranks_gap *g = &a->gaps[i];
        kit_table_row(t);
        kit_cell_text(t, ranks_text(a, g->cls->kind));
        kit_cell_int(t, a->members[g->member].rank);
        kit_cell_int(t, g->n);
        kit_cell_int(t, g->most);
        kit_cell_int(t, g->first);
        kit_cell_text(t, g->cls->refused ? "no" : "yes");
        tell_class(a, t, &k, g->cls, g->member);
    }
}

/* ---------------------------------------------------------------- all of it */

static void tell_figures(const ranks_analysis *a, kit_report *r) {
    int64_t transfer = 0, wait = 0;
    for (size_t i = 0; i < a->n_matches; i++) {
        transfer = kit_add(transfer, a->matches[i].transfer);
        wait = kit_add(wait, a->matches[i].caused);
    }
    kit_figure_int(r, MILL_KIND_COUNT, "ranks", "ranks here", NULL, NULL, (int64_t)a->n_ranks);
    kit_figure_int(r, MILL_KIND_COUNT, "world_size", "ranks in the job", NULL,
                   "As the profiles tell it; unknown where they don't agree.", a->world_size);
    kit_figure_int(r, MILL_KIND_COUNT, "collectives", "collectives matched", NULL,
                   "That at least two ranks have.", (int64_t)a->n_matches);
    kit_figure_int(r, MILL_KIND_NS, "resolution", "resolution of cross-rank times", NULL,
                   "Largest 95th percentile of what is left after clocks are aligned: nothing "
                   "finer is claimed.",
                   a->resolution);
    kit_figure_int(r, MILL_KIND_NS, "transfer", "transfer", NULL,
                   "Σ over collectives, from the latest start to the first end.",
                   a->n_matches > 0 ? transfer : MILL_UNKNOWN);
    kit_figure_int(r, MILL_KIND_NS, "wait", "waiting for the last rank", NULL,
                   "Σ over collectives and ranks.", a->n_matches > 0 ? wait : MILL_UNKNOWN);
}

static void tell_summary(const ranks_analysis *a, kit_report *r) {
    const ranks_member *worst = NULL;
    char wait[KIT_NUMBER_MAX];
    for (size_t i = 0; i < a->n_members; i++)
        if (a->members[i].straggler && (!worst || a->members[i].caused > worst->caused))
            worst = &a->members[i];
    if (a->n_members < 2)
        kit_report_summary(r, "%s: there is nothing to compare.",
                           a->n_members == 1 ? "One rank only" : "No rank has device events");
    else if (a->n_matches == 0)
        kit_report_summary(r,
                           "%zu ranks have no collective in common that can be matched: "
                           "nothing is said of who waits for whom.",
                           a->n_ranks);
    else if (worst)
        kit_report_summary(r,
                           "Rank %s is a straggler: last in %lld of the %lld collectives in which "
                           "that can be told, and others wait %s µs for it.",
                           worst->label, (long long)worst->last, (long long)worst->told,
                           kit_format_us(wait, worst->caused, KIT_GROUP));
    else
        kit_report_summary(r, "No straggler among %zu ranks; collectives matched: %zu.", a->n_ranks,
                           a->n_matches);
}

mill_report *ranks_tell(const ranks_analysis *a) {
    kit_report *r = kit_report_begin(a->run, "ranks", "Ranks against each other",
                                     a->n_members == 1 ? a->members[0].summary->path : NULL);
    tell_summary(a, r);
    ranks_tell_notes(a, r);
    tell_figures(a, r);
    if (a->n_members == 0)
        return kit_report_end(r);
    tell_ranks(a, r);
    if (a->n_members > 1)
        tell_imbalance(a, r);
    if (a->reference != MILL_NONE)
        tell_clocks(a, r);
    if (a->n_matches > 0)
        tell_matches(a, r);
    if (a->n_gaps > 0)
        tell_gaps(a, r);
    ranks_tell_causes(a, r);
    return kit_report_end(r);
}
