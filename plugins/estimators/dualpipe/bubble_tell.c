/* SPDX-License-Identifier: Apache-2.0 */
/* The report: the answer, what it rests on, and the tables in which all schedules stand. */
#include "bubble.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>

void bubble_cell_share(kit_table *t, const bubble_case *c) {
    int64_t whole = c->reason ? 0 : bubble_scaled(c->makespan, c->plan->ranks, 1);
    kit_cell_ratio(t, c->idle_sum, whole == MILL_UNKNOWN ? 0 : whole);
}

static double share_of(const bubble_case *c) {
    return c->idle_sum == MILL_UNKNOWN || c->makespan == 0
               ? NAN
               : (double)c->idle_sum / ((double)c->makespan * c->plan->ranks);
}

/* ---------------------------------------------------------------- what it rests on */

static const kit_column duration_columns[] = {
    {MILL_KIND_TEXT, "basis", "basis", "What counts as a chunk's own time."},
    {MILL_KIND_NS, "forward", "F", NULL},
    {MILL_KIND_NS, "backward", "B", "Bi + W"},
    {MILL_KIND_NS, "input", "Bi", "Gradients of the input."},
    {MILL_KIND_NS, "weight", "W", "Gradients of the weights."},
    {MILL_KIND_NS, "pair", "F&B", "A forward and a backward chunk at once."},
    {0},
};

static void cells_of_cost(kit_table *t, const mill_chunk_cost *c) {
    kit_cell_int(t, c->forward);
    kit_cell_int(t, c->backward);
    kit_cell_int(t, c->input);
    kit_cell_int(t, c->weight);
    kit_cell_int(t, c->pair);
}

static void tell_durations(kit_report *r, const bubble_analysis *a) {
    const bubble_inputs *in = &a->in;
    kit_table *t = kit_table_of(r, "durations", "Durations",
                                "Of a device's whole share of the model, one micro-batch; the "
                                "mean of all stages. A schedule with v chunks a device has 1/v.",
                                duration_columns);
    for (size_t basis = 0; basis < in->n_bases; basis++) {
        mill_chunk_cost mean = bubble_mean_cost(in, basis);
        kit_table_row(t);
        kit_cell_text(t, in->bases[basis]);
        cells_of_cost(t, &mean);
    }
}

static void tell_stages(kit_report *r, const bubble_analysis *a) {
    const bubble_inputs *in = &a->in;
    if (bubble_equal(in))
        return;
    kit_table *t = kit_table_begin(r, "stages", "Stages", NULL);
    kit_table_column(t, MILL_KIND_ID, "stage", "stage", NULL, "Counts from 0.");
    for (const kit_column *c = &duration_columns[1]; c->id; c++)
        kit_table_column(t, c->kind, c->id, c->label, NULL, c->help);
    for (size_t i = 0; i < in->n; i++) {
        kit_table_row(t);
        kit_cell_int(t, (int64_t)i);
        cells_of_cost(t, &in->costs[i * in->n_bases + in->likely]);
    }
}

/* ---------------------------------------------------------------- all schedules in one place */

static const kit_column schedule_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_NS, "makespan", "step", "From the first start to the last end on any device."},
    {MILL_KIND_RATIO, "over_1f1b", "of 1F1B's", "step / step of 1F1B"},
    {MILL_KIND_RATIO, "bubble", "bubble", "Σ of idle times / (PP x step)"},
    {MILL_KIND_NS, "idle_min", "least idle", "Of a device: step - its operations."},
    {MILL_KIND_NS, "idle_max", "most idle", "Of the device that stands still most."},
    {MILL_KIND_NS, "bound", "bound",
     "No order of these operations on these stages is shorter, with any memory."},
    {MILL_KIND_RATIO, "over_bound", "over bound", "(step - bound) / bound"},
    {0},
};

static void tell_schedules(mill_run *run, kit_report *r, const bubble_analysis *a) {
    kit_table *t = kit_table_of(
        r, "schedules",
        bubble_text(run, "Schedules with PP = %u, m = %lld", a->in.pp, (long long)a->m[0]),
        bubble_text(run, "One step, with the durations %s.", a->in.bases[a->in.likely]),
        schedule_columns);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->reason)
            continue;
        int64_t bound = pp_bound_of(run, c->plan, c->timing).ns;
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, c->makespan);
        kit_cell_ratio(t, c->makespan, a->baseline ? a->baseline->makespan : 0);
        bubble_cell_share(t, c);
        kit_cell_int(t, c->idle_min);
        kit_cell_int(t, c->idle_max);
        kit_cell_int(t, bound);
        kit_cell_ratio(t, kit_subtract(c->makespan, bound), bound == MILL_UNKNOWN ? 0 : bound);
    }
}

static const kit_column left_out_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_TEXT, "m", "m", "Micro-batches of a step."},
    {MILL_KIND_TEXT, "nearest", "nearest", "The sizes next to these with which it runs."},
    {MILL_KIND_TEXT, "reason", "reason", NULL},
    {0},
};

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Numbers of micro-batches that stand in a row are told at once if all else is the same. */
static void tell_left_out(mill_run *run, kit_report *r, const bubble_analysis *a) {
    kit_table *t = NULL;
    for (size_t s = 0; s < a->n_schedules; s++)
        for (size_t m = 0, next; m < a->n_m; m = next) {
            const bubble_case *c = bubble_at(a, m, s, a->in.likely);
            const char *sizes = bubble_text(run, "%lld", (long long)a->m[m]);
            for (next = m + 1; next < a->n_m; next++) {
                const bubble_case *other = bubble_at(a, next, s, a->in.likely);
                if (!same_text(c->reason, other->reason) || !same_text(c->nearest, other->nearest))
                    break;
                sizes = bubble_text(run, "%s, %lld", sizes, (long long)a->m[next]);
            }
            if (!c->reason)
                continue;
            if (!t)
                t = kit_table_of(r, "left_out", "Schedules that do not run", NULL,
                                 left_out_columns);
            kit_table_row(t);
            kit_cell_text(t, c->name);
            kit_cell_text(t, sizes);
            kit_cell_text(t, c->nearest ? c->nearest : "");
            kit_cell_text(t, c->reason);
        }
}

/* ---------------------------------------------------------------- micro-batches, and the band */

/* Whether a schedule has figures on some basis. */
static bool runs(const bubble_analysis *a, size_t m, size_t s) {
    for (size_t basis = 0; basis < a->in.n_bases; basis++)
        if (!bubble_at(a, m, s, basis)->reason)
            return true;
    return false;
}

static bool runs_ever(const bubble_analysis *a, size_t s) {
    for (size_t m = 0; m < a->n_m; m++)
        if (runs(a, m, s))
            return true;
    return false;
}

static const char basis_help[] = "Of the durations: what counts as a chunk's own time.";

/* A line for each schedule, and basis of those that are compared, a column for each m: how the
 * bubble shrinks. */
static void tell_bubbles(mill_run *run, kit_report *r, const bubble_analysis *a) {
    bool band = a->in.n_bases > 1;
    kit_table *t =
        kit_table_begin(r, "bubbles", "Bubble by micro-batches", "Σ of idle times / (PP x step)");
    kit_table_column(t, MILL_KIND_TEXT, "schedule", "schedule", NULL, NULL);
    if (band)
        kit_table_column(t, MILL_KIND_TEXT, "basis", "basis", NULL, basis_help);
    for (size_t m = 0; m < a->n_m; m++)
        kit_table_column(t, MILL_KIND_RATIO, bubble_text(run, "m%lld", (long long)a->m[m]),
                         bubble_text(run, "%s%lld", m ? "" : "m = ", (long long)a->m[m]), NULL,
                         NULL);
    for (size_t s = 0; s < a->n_schedules; s++)
        for (size_t b = 0; b < a->in.n_bases; b++) {
            bool told = b == a->in.likely || bubble_compared(a, bubble_at(a, 0, s, b));
            if (!told || !runs_ever(a, s))
                continue;
            kit_table_row(t);
            kit_cell_text(t, bubble_at(a, 0, s, b)->name);
            if (band)
                kit_cell_text(t, a->in.bases[b]);
            for (size_t m = 0; m < a->n_m; m++)
                bubble_cell_share(t, bubble_at(a, m, s, b));
        }
}

/* A line for each m and compared schedule, so that steps of the same work stand together. */
static void tell_steps(mill_run *run, kit_report *r, const bubble_analysis *a) {
    bool band = a->in.n_bases > 1;
    kit_table *t = kit_table_begin(r, "steps", "Step by micro-batches",
                                   "From the first start to the last end on any device.");
    kit_table_column(t, MILL_KIND_COUNT, "m", "m", NULL, "Micro-batches of a step.");
    kit_table_column(t, MILL_KIND_TEXT, "schedule", "schedule", NULL, NULL);
    for (size_t b = 0; b < a->in.n_bases; b++)
        kit_table_column(t, MILL_KIND_NS,
                         band ? bubble_text(run, "makespan_%s", a->in.bases[b]) : "makespan",
                         band ? a->in.bases[b] : "step", NULL, band ? basis_help : NULL);
    for (size_t m = 0; m < a->n_m; m++)
        for (size_t s = 0; s < a->n_schedules; s++) {
            if (!runs(a, m, s) || !bubble_compared(a, bubble_at(a, m, s, 0)))
                continue;
            kit_table_row(t);
            kit_cell_int(t, a->m[m]);
            kit_cell_text(t, bubble_at(a, m, s, 0)->name);
            for (size_t b = 0; b < a->in.n_bases; b++) {
                const bubble_case *c = bubble_at(a, m, s, b);
                kit_cell_int(t, c->reason ? MILL_UNKNOWN : c->makespan);
            }
        }
}

static void tell_curves(mill_run *run, kit_report *r, const bubble_analysis *a) {
    double *x = mill_scratch(run, a->n_m * sizeof *x);
    double *y = mill_scratch(run, a->n_m * sizeof *y);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *first = bubble_at(a, 0, s, a->in.likely);
        for (size_t m = 0; m < a->n_m; m++) {
            const bubble_case *c = bubble_at(a, m, s, a->in.likely);
            x[m] = (double)a->m[m];
            y[m] = c->reason ? NAN : share_of(c);
        }
        kit_series(r, &(mill_series){
                          .id = bubble_text(run, "bubble_%s", bubble_id(run, first->id)),
                          .label = first->name,
                          .x_label = "micro-batches",
                          .y_label = "share of the step that is bubble",
                          .n = a->n_m,
                          .x = x,
                          .y = y,
                      });
    }
}

/* ---------------------------------------------------------------- jitter, measured pipelines */

static void tell_jitter(mill_run *run, kit_report *r, const bubble_analysis *a) {
    if (!a->jitter)
        return;
    kit_table *t = kit_table_begin(r, "jitter", "Step with jitter",
                                   bubble_text(run, "Durations vary by up to %g; over %lld steps.",
                                               a->options->jitter, (long long)a->options->samples));
    static const char *const ids[] = {"steady", "mean", "p50", "p95", "max"};
    kit_table_column(t, MILL_KIND_TEXT, "schedule", "schedule", NULL, NULL);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        kit_table_column(t, MILL_KIND_NS, ids[i], ids[i], NULL,
                         i == 0 ? "The step without jitter." : NULL);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->reason)
            continue;
        const bubble_jitter *j = &a->jitter[s];
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, c->makespan);
        kit_cell_int(t, j->mean);
        kit_cell_int(t, j->p50);
        kit_cell_int(t, j->p95);
        kit_cell_int(t, j->max);
    }
}

static const kit_column measured_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_COUNT, "pp", "PP", NULL},
    {MILL_KIND_COUNT, "m", "m", NULL},
    {MILL_KIND_NS, "makespan", "step", NULL},
    {MILL_KIND_RATIO, "bubble", "bubble", "Σ of idle times / (PP x step)"},
    {MILL_KIND_NS, "idle_min", "least idle", NULL},
    {MILL_KIND_NS, "idle_max", "most idle", NULL},
    {0},
};

/* What a measured rank's chunks cover, which may overlap; transfers and what is no chunk count as
 * idle, as in simulations. */
static int64_t busy_of(const mill_schedule *s, uint32_t rank) {
    int64_t busy = 0, last = INT64_MIN;
    for (uint64_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
        int64_t start = s->ops.start[i], end = s->ops.end[i];
        if (s->ops.kind[i] > MILL_OP_PAIR || end <= last)
            continue;
        busy += end - (start > last ? start : last);
        last = end;
    }
    return busy;
}

static void tell_measured_row(kit_table *t, const mill_schedule *s) {
    int64_t sum = 0, least = INT64_MAX, most = 0;
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        int64_t idle = s->makespan_ns - busy_of(s, rank);
        sum += idle;
        least = idle < least ? idle : least;
        most = idle > most ? idle : most;
    }
    int64_t whole = bubble_scaled(s->makespan_ns, s->ranks, 1);
    kit_table_row(t);
    kit_cell_text(t, s->name);
    kit_cell_text(t, s->simulated ? "simulated" : "measured");
    kit_cell_int(t, s->ranks);
    kit_cell_int(t, s->micro_batches);
    kit_cell_int(t, s->makespan_ns);
    kit_cell_ratio(t, sum, whole == MILL_UNKNOWN ? 0 : whole);
    kit_cell_int(t, s->ranks > 0 ? least : MILL_UNKNOWN);
    kit_cell_int(t, s->ranks > 0 ? most : MILL_UNKNOWN);
}

static void tell_measured(kit_report *r, const bubble_analysis *a) {
    if (!a->measured)
        return;
    kit_table *t = kit_table_of(r, "measured", "As it ran, and simulated",
                                "Idle: the step less a device's chunks.", measured_columns);
    tell_measured_row(t, a->measured);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->reason)
            continue;
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_text(t, "simulated");
        kit_cell_int(t, c->plan->ranks);
        kit_cell_int(t, c->plan->micro_batches);
        kit_cell_int(t, c->makespan);
        bubble_cell_share(t, c);
        kit_cell_int(t, c->idle_min);
        kit_cell_int(t, c->idle_max);
    }
}

/* ---------------------------------------------------------------- figures and notes */

static void tell_figures(kit_report *r, const bubble_analysis *a) {
    const bubble_case *best = a->best;
    kit_figure_int(r, MILL_KIND_COUNT, "pp", "devices", NULL, "PP", a->in.pp);
    kit_figure_int(r, MILL_KIND_COUNT, "m", "micro-batches", NULL,
                   "m, of the schedules that are compared in detail", a->m[0]);
    kit_figure_text(r, "best", "schedule with the shortest step", NULL,
                    "The schedule with the shortest step of those that fit in memory-limit.",
                    best ? best->name : NULL);
    kit_figure_int(r, MILL_KIND_NS, "best_makespan", "shortest step", NULL,
                   "From the first start to the last end on any device.",
                   best ? best->makespan : MILL_UNKNOWN);
    kit_figure_share(r, "best_bubble", "bubble in it", NULL, "Σ of idle times / (PP x step)",
                     best ? share_of(best) : NAN);
    if (best && a->baseline)
        kit_figure_ratio(r, "best_over_1f1b", "shortest step / 1F1B's", NULL, NULL, best->makespan,
                         a->baseline->makespan);
}

static void note_transfers(kit_report *r, const bubble_analysis *a) {
    const bubble_case *c = &a->cases[0];
    char latency[KIT_NUMBER_MAX], occupied[KIT_NUMBER_MAX];
    const char *mode = a->options->comm == PP_COMM_BLOCKING
                           ? "Sends and receives between two operations are one batch that both "
                             "sides wait for (communication = blocking)"
                           : "Transfers never block (communication = dep)";
    if (c->latency == 0 && c->occupied == 0)
        kit_note(r, MILL_INFO, "transfers", "%s, and take no time (latency = 0).", mode);
    else
        kit_note(r, MILL_INFO, "transfers",
                 "%s; each takes %s µs of latency%s and %s µs of its link.", mode,
                 kit_format_us(latency, c->latency, KIT_GROUP),
                 a->latency != a->options->latency ? ", the median that was measured," : "",
                 kit_format_us(occupied, c->occupied, KIT_GROUP));
}

static bool any_runs(const bubble_analysis *a) {
    for (size_t s = 0; s < a->n_schedules; s++)
        if (!bubble_at(a, 0, s, a->in.likely)->reason)
            return true;
    return false;
}

/* Without a best schedule: what would help. */
static void note_none(kit_report *r, const bubble_analysis *a) {
    if (any_runs(a))
        kit_note(r, MILL_WARNING, "none_fits",
                 "No schedule that runs fits in memory-limit: the table `memory` tells how many "
                 "bytes each needs.");
    else
        kit_note(r, MILL_WARNING, "none_runs",
                 "No schedule runs with these sizes and durations: the table `left_out` tells why, "
                 "and which sizes are next.");
}

static void tell_notes(kit_report *r, const bubble_analysis *a) {
    const bubble_inputs *in = &a->in;
    if (in->n_bases > 1)
        kit_note(r, MILL_INFO, "basis",
                 "Durations were measured beside other work, so what a chunk costs alone lies in a "
                 "band: %s to %s. Where no basis is named, figures are on %s.",
                 in->bases[0], in->bases[in->n_bases - 1], in->bases[in->likely]);
    note_transfers(r, a);
    if (!a->best)
        note_none(r, a);
    if (a->file_left_out > 0)
        kit_note(r, MILL_INFO, "file_left_out",
                 "%llu actions of schedule-file that compute nothing (transfers, unsharding) were "
                 "left out.",
                 (unsigned long long)a->file_left_out);
    for (size_t i = 0; i < a->n_detail; i++)
        if (!a->detail[i]->result.items)
            kit_note(r, MILL_WARNING, "no_timeline",
                     "%s has %llu operations, more than most-operations: no causes of its idle "
                     "times, no critical path, no timeline.",
                     a->detail[i]->name, (unsigned long long)a->detail[i]->plan->total);
}

static void tell_summary(mill_run *run, kit_report *r, const bubble_analysis *a) {
    char percent[KIT_NUMBER_MAX], of_base[KIT_NUMBER_MAX];
    const bubble_case *best = a->best, *base = a->baseline;
    if (!best) {
        kit_report_summary(r, "No schedule %s with PP = %u, m = %lld.",
                           any_runs(a) ? "fits in memory-limit" : "runs", a->in.pp,
                           (long long)a->m[0]);
        return;
    }
    const char *over = "";
    if (base && base != best)
        over = bubble_text(run, ", %s of 1F1B's",
                           kit_format_percent(of_base, best->makespan, base->makespan));
    kit_format_percent(percent, best->idle_sum, bubble_scaled(best->makespan, a->in.pp, 1));
    kit_report_summary(
        r, "%s has the shortest step with PP = %u, m = %lld: %s%s; %s of it is bubble.", best->name,
        a->in.pp, (long long)a->m[0], bubble_ms(run, best->makespan), over, percent);
}

mill_report *bubble_tell(mill_run *run, const bubble_analysis *a) {
    kit_report *r =
        kit_report_begin(run, "bubble", "Pipeline schedules and their bubbles", a->in.subject);
    tell_summary(run, r, a);
    tell_notes(r, a);
    tell_figures(r, a);
    tell_durations(r, a);
    tell_stages(r, a);
    tell_measured(r, a);
    tell_schedules(run, r, a);
    tell_left_out(run, r, a);
    bubble_tell_memory(r, a);
    if (a->n_m > 1 || a->in.n_bases > 1) {
        tell_bubbles(run, r, a);
        tell_steps(run, r, a);
    }
    tell_curves(run, r, a);
    tell_jitter(run, r, a);
    bubble_tell_detail(run, r, a);
    bubble_tell_lanes(run, r, a);
    bubble_tell_what_if(r, a);
    bubble_tell_search(run, r, a);
    bubble_tell_forms(run, r, a);
    bubble_tell_findings(run, r, a);
    return kit_report_end(r);
}
