/* SPDX-License-Identifier: Apache-2.0 */
/* The report: figures, and tables of stages, ranks and steps. */
#include "tell.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/stats.h>

int64_t pipe_mean(int64_t sum, int64_t n) {
    return sum == MILL_UNKNOWN || n == 0 ? MILL_UNKNOWN : sum / n + (sum % n * 2 >= n);
}

/* ---------------------------------------------------------------- figures */

/* Sums over stages of what pipe_sum gives for each. */
static pipe_time sum_of_all(const pipe_analysis *a, int64_t *ret_n) {
    pipe_time all = {0};
    *ret_n = 0;
    for (size_t s = 0; s < a->n_stages; s++) {
        int64_t n;
        pipe_time t = pipe_sum(a, s, &n);
        pipe_add_time(&all, &t);
        *ret_n += n;
    }
    return all;
}

static int64_t mean_step(const pipe_analysis *a) {
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < a->n_steps; i++) {
        kit_interval whole = pipe_step_span(a, (uint32_t)i);
        if (whole.start >= whole.end)
            continue;
        sum = kit_add(sum, whole.end - whole.start);
        n++;
    }
    return pipe_mean(sum, n);
}

static void figure_ns(kit_report *r, const char *id, const char *label, const char *help,
                      int64_t ns) {
    kit_figure_int(r, MILL_KIND_NS, id, label, NULL, help, ns);
}

static void figure_count(kit_report *r, const char *id, const char *label, size_t n) {
    kit_figure_int(r, MILL_KIND_COUNT, id, label, NULL, NULL, (int64_t)n);
}

static void tell_shape(kit_report *r, const pipe_analysis *a, const pipe_pass *chosen) {
    size_t complete = 0;
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++)
        complete += a->passes[i].complete;
    figure_count(r, "stages", "stages", a->n_stages);
    figure_count(r, "replicas", "pipelines side by side", a->n_replicas);
    figure_count(r, "steps", "steps", a->n_steps);
    figure_count(r, "passes", "steps of pipelines measured", complete);
    kit_figure_int(r, MILL_KIND_COUNT, "micro_batches", "micro-batches", NULL,
                   "Forward operations of a stage in the step that `schedule` shows.",
                   chosen->micro_batches);
    kit_figure_text(r, "order", "schedule", NULL,
                    "The order in which stages take forward and backward work, in all steps.",
                    pipe_order_name(pipe_order_of(a)));
}

static void tell_bubble(kit_report *r, const pipe_analysis *a, const pipe_pass *chosen) {
    int64_t n;
    pipe_time t = sum_of_all(a, &n);
    int64_t p = (int64_t)a->n_stages, m = chosen->micro_batches;
    kit_figure_ratio(r, "bubble_ratio", "bubble", NULL, "Σ bubble / Σ span, over stages and steps",
                     t.bubble, t.span);
    if (pipe_order_of(a) == PIPE_1F1B || pipe_order_of(a) == PIPE_GPIPE)
        kit_figure_ratio(r, "equal_ratio", "bubble if all stages were equal", NULL,
                         "(p - 1) / (m + p - 1): equal stages, free transfers, nothing but F and B",
                         p - 1, m + p - 1);
    figure_ns(r, "step_time", "step", "Last end - first start of a step, mean over steps",
              mean_step(a));
    figure_ns(r, "span", "pipeline's span",
              "From the first forward's start to the last backward's end, mean",
              pipe_mean(t.span, n));
    figure_ns(r, "compute", "computing, per stage", "Of a stage in that span, mean",
              pipe_mean(t.compute, n));
    figure_ns(r, "bubble", "bubble, per stage", "span - compute, mean over stages",
              pipe_mean(t.bubble, n));
    figure_ns(r, "transfer", "transfer between stages", "Median of those with both ends",
              a->transfer);
    kit_figure_ratio(r, "transfer_exposed", "transfers exposed", NULL,
                     "Σ transfers in the bubble / Σ |union of transfers|", t.transfer,
                     t.sent_and_received);
}

static void tell_replay(kit_report *r, const pipe_analysis *a) {
    if (a->n_replayed == 0)
        return;
    figure_ns(r, "replayed", "replayed",
              "The span if each operation ran as soon as it could, with its own duration, mean",
              pipe_mean(a->replayed, a->n_replayed));
    figure_ns(r, "ideal", "with even durations",
              "The same with the mean duration of all stages and steps for each forward, and "
              "another for each backward",
              pipe_mean(a->ideal, a->n_replayed));
    kit_figure_ratio(r, "slowdown", "slowdown by stragglers", NULL, "Σ replayed / Σ ideal",
                     a->replayed, a->ideal);
    kit_figure_ratio(
        r, "replay_over_measured", "replayed / measured", NULL,
        "What the replay does not know is what it lacks to 1: launch delays, contention",
        a->replayed, a->measured);
    kit_figure_int(r, MILL_KIND_ID, "slowest_stage", "slowest stage", NULL,
                   "The one that makes a step longest if it alone keeps its durations.",
                   (int64_t)a->slowest);
}

/* ---------------------------------------------------------------- tables */

#define TIME_COLUMNS                                                                               \
    {MILL_KIND_NS, "compute", "compute", "|union of computation|"},                                \
        {MILL_KIND_NS, "bubble", "bubble", "span - compute"},                                      \
        {MILL_KIND_RATIO, "ratio", "ratio", "bubble / span"},                                      \
        {MILL_KIND_NS, "startup", "start-up", "Until its first operation."},                       \
        {MILL_KIND_NS, "wait_forward", "wait F", "Before forward work from the stage before."},    \
        {MILL_KIND_NS, "wait_backward", "wait B", "Before backward work from the stage behind."},  \
        {MILL_KIND_NS, "transfer", "transfer", "Transfers in gaps between operations."},           \
        {MILL_KIND_NS, "inside", "inside", "In operations, but not computing."},                   \
        {MILL_KIND_NS, "own", "own", "Before work that needs no other stage."}, {                  \
        MILL_KIND_NS, "tail", "tail", "After its last operation."                                  \
    }

static void time_cells(kit_table *t, const pipe_time *sum, int64_t n) {
    kit_cell_int(t, pipe_mean(sum->compute, n));
    kit_cell_int(t, pipe_mean(sum->bubble, n));
    kit_cell_ratio(t, sum->bubble, sum->span);
    const int64_t parts[] = {sum->startup, sum->wait_forward, sum->wait_backward, sum->transfer,
                             sum->inside,  sum->own,          sum->tail};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        kit_cell_int(t, pipe_mean(parts[i], n));
}

static void tell_stages(kit_report *r, const pipe_analysis *a) {
    static const kit_column columns[] = {
        {MILL_KIND_ID, "stage", "stage", NULL},
        {MILL_KIND_RATIO, "slowdown", "slowdown",
         "Span if only this stage keeps its durations, over that with even ones."},
        TIME_COLUMNS,
        {MILL_KIND_COUNT, "live", "live", "Most micro-batches whose activations it holds."},
        {MILL_KIND_COUNT, "p2p", "p2p", "Sends and receives, Σ."},
        {0},
    };
    kit_table *t = kit_table_of(r, "stages", "Stages",
                                "Mean over steps and pipelines. From start-up on, the parts add up "
                                "to the bubble.",
                                columns);
    for (size_t s = 0; s < a->n_stages; s++) {
        int64_t n;
        pipe_time sum = pipe_sum(a, s, &n);
        kit_table_row(t);
        kit_cell_int(t, (int64_t)s);
        kit_cell_ratio(t, a->kept[s], a->ideal);
        time_cells(t, &sum, n);
        kit_cell_int(t, sum.live);
        kit_cell_int(t, sum.n_p2p);
    }
}

static void tell_durations(kit_report *r, const mill_chunk_times *times) {
    static const kit_column columns[] = {
        {MILL_KIND_ID, "stage", "stage", NULL},
        {MILL_KIND_COUNT, "n", "n", "Forward operations."},
        {MILL_KIND_NS, "forward", "F", "Median computation in a forward operation."},
        {MILL_KIND_NS, "backward", "B", "Median computation in a backward one, W included."},
        {MILL_KIND_NS, "weight", "W", "Median, where it is apart."},
        {MILL_KIND_NS, "forward_span", "F span", "Median from its start to its end."},
        {MILL_KIND_NS, "backward_span", "B span", "The same."},
        {0},
    };
    kit_table *t = kit_table_of(r, "durations", "Duration of an operation", NULL, columns);
    for (uint64_t s = 0; s < times->n; s++) {
        const mill_chunk_cost *c = &times->costs[s * MILL_BASES];
        kit_table_row(t);
        kit_cell_int(t, (int64_t)s);
        kit_cell_int(t, times->samples[s]);
        kit_cell_int(t, c[MILL_BASIS_COMPUTE].forward);
        kit_cell_int(t, c[MILL_BASIS_COMPUTE].backward);
        kit_cell_int(t, c[MILL_BASIS_COMPUTE].weight);
        kit_cell_int(t, c[MILL_BASIS_ALL].forward);
        kit_cell_int(t, c[MILL_BASIS_ALL].backward);
    }
}

/* The mean computation of a member in the steps measured. */
static int64_t member_compute(const pipe_analysis *a, size_t member) {
    int64_t sum = 0, n = 0;
    for (size_t step = 0; step < a->n_steps; step++) {
        if (!a->passes[step * a->n_replicas + a->members[member].replica].complete)
            continue;
        sum = kit_add(sum, a->cells[step * a->n_members + member].time.compute);
        n++;
    }
    return pipe_mean(sum, n);
}

static void tell_ranks(kit_report *r, const pipe_analysis *a) {
    static const kit_column columns[] = {
        {MILL_KIND_TEXT, "pipeline", "pipeline", NULL},
        {MILL_KIND_ID, "stage", "stage", NULL},
        {MILL_KIND_ID, "rank", "rank", "As the profile tells it."},
        {MILL_KIND_NS, "compute", "compute", "Mean over steps."},
        {MILL_KIND_RATIO, "over_stage", "of stage", "Over the mean of the ranks of its stage."},
        {MILL_KIND_RATIO, "over_all", "of all", "Over the mean of all ranks."},
        {0},
    };
    int64_t *compute = mill_scratch(a->run, a->n_members * sizeof *compute), all = 0, n = 0;
    int64_t *sum = mill_scratch(a->run, a->n_stages * sizeof *sum);
    int64_t *count = mill_scratch(a->run, a->n_stages * sizeof *count);
    for (size_t i = 0; i < a->n_members; i++) {
        compute[i] = member_compute(a, i);
        if (compute[i] == MILL_UNKNOWN)
            continue;
        sum[a->members[i].stage] = kit_add(sum[a->members[i].stage], compute[i]);
        count[a->members[i].stage]++;
        all = kit_add(all, compute[i]);
        n++;
    }
    kit_table *t = kit_table_of(r, "ranks", "Ranks", NULL, columns);
    for (size_t i = 0; i < a->n_members; i++) {
        const pipe_member *m = &a->members[i];
        kit_table_row(t);
        kit_cell_text(t, m->label);
        kit_cell_int(t, m->stage);
        kit_cell_int(t, m->rank);
        kit_cell_int(t, compute[i]);
        kit_cell_ratio(t, compute[i], pipe_mean(sum[m->stage], count[m->stage]));
        kit_cell_ratio(t, compute[i], pipe_mean(all, n));
    }
}

/* A step of all pipelines: its longest span, and Σ over stages and pipelines. */
static void step_row(kit_table *t, const pipe_analysis *a, uint32_t step) {
    int64_t span = MILL_UNKNOWN, replayed = 0, ideal = 0;
    pipe_time sum = {0};
    for (uint32_t k = 0; k < a->n_replicas; k++) {
        const pipe_pass *pass = &a->passes[step * a->n_replicas + k];
        if (!pass->complete)
            continue;
        int64_t own = pass->span.end - pass->span.start;
        span = own > span ? own : span;
        replayed = kit_add(replayed, pass->replayed);
        ideal = kit_add(ideal, pass->ideal);
        for (size_t s = 0; s < a->n_stages; s++)
            pipe_add_time(&sum, &pipe_cell_of(a, step, k, s)->time);
    }
    kit_interval whole = pipe_step_span(a, step);
    bool any = whole.start < whole.end;
    kit_table_row(t);
    kit_cell_int(t, a->steps[step]);
    kit_cell_int(t, any ? whole.end - whole.start : MILL_UNKNOWN);
    kit_cell_int(t, span);
    kit_cell_ratio(t, sum.bubble, sum.span);
    kit_cell_ratio(t, replayed, ideal == MILL_UNKNOWN ? 0 : ideal);
}

static void tell_steps(kit_report *r, const pipe_analysis *a) {
    static const kit_column columns[] = {
        {MILL_KIND_ID, "step", "step", NULL},
        {MILL_KIND_NS, "step_time", "step time", "Last end - first start, over all pipelines."},
        {MILL_KIND_NS, "span", "span", "Of the slowest pipeline."},
        {MILL_KIND_RATIO, "ratio", "bubble", "Σ bubble / Σ span over stages and pipelines."},
        {MILL_KIND_RATIO, "slowdown", "slowdown", "Σ replayed / Σ ideal over pipelines."},
        {0},
    };
    kit_table *t = kit_table_of(r, "steps", "Steps", NULL, columns);
    for (uint32_t i = 0; i < a->n_steps; i++)
        step_row(t, a, i);
}

static void tell_spread(kit_report *r, const pipe_analysis *a) {
    int64_t *whole = mill_scratch(a->run, a->n_steps * sizeof *whole);
    int64_t *spans = mill_scratch(a->run, a->n_steps * a->n_replicas * sizeof *spans);
    size_t n_whole = 0, n_spans = 0;
    for (size_t i = 0; i < a->n_steps; i++) {
        kit_interval w = pipe_step_span(a, (uint32_t)i);
        if (w.start < w.end)
            whole[n_whole++] = w.end - w.start;
    }
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++)
        if (a->passes[i].complete)
            spans[n_spans++] = a->passes[i].span.end - a->passes[i].span.start;
    kit_table *t = kit_table_begin(r, "spread", "From step to step", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "what", "what", NULL, NULL);
    kit_table_stats(t);
    const struct {
        const char *what;
        kit_stats stats;
    } rows[] = {{"step", kit_stats_of(whole, n_whole)},
                {"pipeline's span", kit_stats_of(spans, n_spans)}};
    for (size_t i = 0; i < 2; i++) {
        kit_table_row(t);
        kit_cell_text(t, rows[i].what);
        kit_cell_stats(t, &rows[i].stats);
    }
}

static void tell_passes(kit_report *r, const pipe_analysis *a) {
    static const kit_column columns[] = {
        {MILL_KIND_ID, "step", "step", NULL},
        {MILL_KIND_TEXT, "pipeline", "pipeline", NULL},
        {MILL_KIND_ID, "stage", "stage", NULL},
        {MILL_KIND_NS, "span", "span", NULL},
        TIME_COLUMNS,
        {0},
    };
    kit_table *t = kit_table_of(r, "passes", "Each stage in each step", NULL, columns);
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++)
        for (size_t s = 0; s < a->n_stages && a->passes[i].complete; s++) {
            const pipe_cell *cell = pipe_cell_of(a, a->passes[i].step, a->passes[i].replica, s);
            kit_table_row(t);
            kit_cell_int(t, a->steps[a->passes[i].step]);
            kit_cell_text(t, a->members[cell->v->member].label);
            kit_cell_int(t, (int64_t)s);
            kit_cell_int(t, cell->time.span);
            time_cells(t, &cell->time, 1);
        }
}

/* ---------------------------------------------------------------- all of it */

static void tell_summary(kit_report *r, const pipe_analysis *a) {
    char bubble[KIT_NUMBER_MAX], slow[KIT_NUMBER_MAX];
    int64_t n;
    pipe_time t = sum_of_all(a, &n);
    bool known = a->n_replayed > 0 && a->kept[a->slowest] != MILL_UNKNOWN;
    bool uneven = known && (double)a->kept[a->slowest] >= a->options->slow_stage * (double)a->ideal;
    kit_format_percent(bubble, t.bubble, t.span);
    if (uneven)
        kit_report_summary(r,
                           "Stages compute nothing for %s of the pipeline's span; stage %zu is "
                           "slower than the others, which alone makes the span %s longer.",
                           bubble, a->slowest,
                           kit_format_percent(slow, a->kept[a->slowest] - a->ideal, a->ideal));
    else
        kit_report_summary(r, "Stages compute nothing for %s of the pipeline's span.", bubble);
}

mill_report *pipe_tell(const pipe_analysis *a, const mill_chunk_times *times) {
    kit_report *r = kit_report_begin(a->run, "pipeline", "Measured pipeline", pipe_subject(a));
    const pipe_pass *chosen = pipe_chosen(a);
    tell_summary(r, a);
    pipe_tell_notes(r, a);
    tell_bubble(r, a, chosen);
    tell_shape(r, a, chosen);
    tell_replay(r, a);
    tell_stages(r, a);
    tell_durations(r, times);
    tell_ranks(r, a);
    tell_spread(r, a);
    tell_steps(r, a);
    if (a->options->detail)
        tell_passes(r, a);
    pipe_tell_clocks(r, a);
    pipe_tell_finding(r, a);
    if (a->options->lanes)
        pipe_tell_lanes(r, a, chosen);
    return kit_report_end(r);
}
