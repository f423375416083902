/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules in detail: what ranks wait for, what decides the step, and their timelines. */
#include "bubble.h"
#include "why.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/measure.h>

enum { KINDS = MILL_OP_PAIR }; /* of a schedule's operations, from 1 */

static const char *const kind_names[KINDS + 1] = {NULL, "F", "B", "Bi", "W", "F&B"};

static const char *op_label(mill_run *run, const pp_plan *plan, const pp_item *item) {
    const char *kind = kind_names[item->op.kind];
    bool chunks = plan->chunks > 1, pair = item->op.kind == MILL_OP_PAIR;
    if (pair && chunks)
        return bubble_text(run, "F %u.%u & B %u.%u", item->mb, item->op.chunk, item->mb2,
                           item->op.chunk2);
    if (pair)
        return bubble_text(run, "F %u & B %u", item->mb, item->mb2);
    return chunks ? bubble_text(run, "%s %u.%u", kind, item->mb, item->op.chunk)
                  : bubble_text(run, "%s %u", kind, item->mb);
}

/* ---------------------------------------------------------------- devices */

static const kit_column rank_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_NS, "busy", "busy", "Σ of its operations."},
    {MILL_KIND_NS, "idle", "idle", "step - busy"},
    {MILL_KIND_NS, "span_idle", "idle in its span",
     "Between its own first start and its own last end."},
    {MILL_KIND_NS, "critical", "critical",
     "Of busy: operations without slack. If one takes longer, so does the step."},
    {MILL_KIND_COUNT, "live", "peak, freed at B",
     "Most chunks of which it holds activations, if they are freed after B or Bi."},
    {MILL_KIND_COUNT, "live_weight", "peak, freed at W",
     "The same if they are freed after B or W."},
    {0},
};

static int64_t critical_of(const bubble_case *c, uint32_t rank, const int64_t *slack) {
    int64_t sum = 0;
    for (uint64_t i = c->result.first[rank]; i < c->result.first[rank + 1]; i++)
        sum += slack[i] == 0 ? c->result.end[i] - c->result.start[i] : 0;
    return sum;
}

static void tell_ranks(mill_run *run, kit_table *t, const bubble_case *c) {
    int64_t *slack = mill_scratch(run, c->plan->total * sizeof *slack);
    pp_why_slack(c->plan, c->timing, &c->result, slack);
    for (uint32_t rank = 0; rank < c->plan->ranks; rank++) {
        const pp_rank_times *times = &c->result.ranks[rank];
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, rank);
        kit_cell_int(t, times->busy);
        kit_cell_int(t, c->makespan - times->busy);
        kit_cell_int(t, times->end - times->start - times->busy);
        kit_cell_int(t, critical_of(c, rank, slack));
        kit_cell_int(t, times->live);
        kit_cell_int(t, times->live_weight);
    }
}

/* ---------------------------------------------------------------- idle time by cause */

static const kit_column idle_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_NS, "idle", "idle", "step - its operations; the sum of the five that follow."},
    {MILL_KIND_NS, "start", "start", "Before its first operation: the pipeline fills."},
    {MILL_KIND_NS, "forward", "for F", "Until another rank has computed activations."},
    {MILL_KIND_NS, "backward", "for B", "Until another rank has computed gradients."},
    {MILL_KIND_NS, "transfer", "transfer", "All is computed, and on its way."},
    {MILL_KIND_NS, "tail", "tail", "After its last operation: the pipeline drains."},
    {MILL_KIND_NS, "imbalance", "less work",
     "Than the busiest rank: a part of the idle time that no order can fill."},
    {0},
};

static void tell_idle(mill_run *run, kit_table *t, const bubble_case *c) {
    pp_idle *idle = mill_scratch(run, c->plan->ranks * sizeof *idle);
    pp_why_idle(c->plan, &c->result, idle);
    for (uint32_t rank = 0; rank < c->plan->ranks; rank++) {
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, rank);
        kit_cell_int(t, c->makespan - c->result.ranks[rank].busy);
        for (int cause = 0; cause < PP_CAUSES; cause++)
            kit_cell_int(t, idle[rank].ns[cause]);
        kit_cell_int(t, idle[rank].imbalance);
    }
}

/* ---------------------------------------------------------------- the critical path */

static const kit_column path_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_TEXT, "duration", "duration", NULL},
    {MILL_KIND_COUNT, "n", "on the path", "Operations, or transfers, on the critical path."},
    {MILL_KIND_NS, "time", "time", "That they take on it; all rows add up to the step."},
    {MILL_KIND_RATIO, "share", "share", "time / step"},
    {0},
};

static const kit_column stretch_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_TEXT, "from", "from", "Its first operation, with the micro-batch, and .chunk."},
    {MILL_KIND_TEXT, "to", "to", "Its last one."},
    {MILL_KIND_COUNT, "n", "n", "Operations."},
    {MILL_KIND_NS, "start", "start", "From the start of the step."},
    {MILL_KIND_NS, "end", "end", "From the start of the step."},
    {0},
};

static void tell_stretches(mill_run *run, kit_table *t, const bubble_case *c, const pp_path *path) {
    for (uint64_t i = 0, next; i < path->n; i = next) {
        next = i + 1;
        while (next < path->n && path->rank[next] == path->rank[i])
            next++;
        uint64_t first = path->op[i], last = path->op[next - 1];
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, path->rank[i]);
        kit_cell_text(t, op_label(run, c->plan, &c->result.items[first]));
        kit_cell_text(t, op_label(run, c->plan, &c->result.items[last]));
        kit_cell_int(t, (int64_t)(next - i));
        kit_cell_int(t, c->result.start[first]);
        kit_cell_int(t, c->result.end[last]);
    }
}

static double slope_of(const pp_slopes *s, int kind) {
    const double slopes[KINDS + 1] = {s->latency, s->forward, s->backward,
                                      s->input,   s->weight,  s->pair};
    return slopes[kind];
}

/* Kind 0 stands for transfers. */
static void tell_path(kit_table *t, const bubble_case *c, const pp_path *path) {
    pp_slopes slopes = pp_path_slopes(c->plan, c->timing, &c->result, path);
    int64_t n[KINDS + 1] = {0}, time[KINDS + 1] = {c->makespan};
    for (uint64_t i = 0; i < path->n; i++) {
        uint64_t op = path->op[i];
        int64_t took = c->result.end[op] - c->result.start[op];
        n[c->result.items[op].op.kind]++;
        time[c->result.items[op].op.kind] += took;
        time[0] -= took;
        n[0] += path->how[i] != PP_BY_RANK;
    }
    for (int k = 1; k <= KINDS + 1; k++) {
        int kind = k % (KINDS + 1);
        if (n[kind] == 0)
            continue;
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_text(t, kind ? kind_names[kind] : "transfer");
        kit_cell_int(t, n[kind]);
        kit_cell_int(t, time[kind]);
        kit_cell_ratio(t, time[kind], c->makespan);
        kit_cell_real(t, slope_of(&slopes, kind));
    }
}

static void tell_stage_slopes(mill_run *run, kit_table *t, const bubble_case *c,
                              const pp_path *path) {
    pp_slopes *slopes = mill_scratch(run, c->plan->stages * sizeof *slopes);
    pp_path_stage_slopes(c->plan, c->timing, &c->result, path, slopes);
    for (uint32_t s = 0; s < c->plan->stages; s++) {
        kit_table_row(t);
        kit_cell_text(t, c->name);
        kit_cell_int(t, s);
        for (int kind = 1; kind <= KINDS; kind++)
            kit_cell_real(t, slope_of(&slopes[s], kind));
    }
}

static kit_table *begin_stage_slopes(kit_report *r) {
    kit_table *t = kit_table_begin(r, "stage_slopes", "By how much the step grows, by stage",
                                   "Step per duration of one stage, while the path stays.");
    static const char *const ids[] = {"forward", "backward", "input", "weight", "pair"};
    kit_table_column(t, MILL_KIND_TEXT, "schedule", "schedule", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "stage", "stage", NULL, NULL);
    for (int kind = 1; kind <= KINDS; kind++)
        kit_table_column(t, MILL_KIND_REAL, ids[kind - 1], kind_names[kind], "ns/ns", NULL);
    return t;
}

/* ---------------------------------------------------------------- timelines */

/* Texts of a lane: the kinds, then a label for each operation. */
static void tell_lane(mill_run *run, kit_report *r, const bubble_case *c, uint32_t rank) {
    uint64_t first = c->result.first[rank], n = c->result.first[rank + 1] - first;
    const char **texts = mill_scratch(run, (KINDS + n) * sizeof *texts);
    uint32_t *text = mill_scratch(run, n * sizeof *text), *cls = mill_scratch(run, n * sizeof *cls);
    memcpy(texts, kind_names + 1, KINDS * sizeof *texts);
    for (uint64_t i = 0; i < n; i++) {
        const pp_item *item = &c->result.items[first + i];
        texts[KINDS + i] = op_label(run, c->plan, item);
        text[i] = (uint32_t)(KINDS + i);
        cls[i] = item->op.kind - 1u;
    }
    kit_lane(r, &(mill_lane){
                    .id = bubble_text(run, "%s_rank%u", bubble_id(run, c->id), rank),
                    .label = bubble_text(run, "%s, rank %u", c->name, rank),
                    .rank = rank,
                    .device = MILL_UNKNOWN,
                    .stream = MILL_UNKNOWN,
                    .n = n,
                    .start = c->result.start + first,
                    .end = c->result.end + first,
                    .text = text,
                    .cls = cls,
                    .texts = texts,
                    .n_texts = KINDS + n,
                });
}

static void tell_lanes(mill_run *run, kit_report *r, const bubble_case *c) {
    for (uint32_t rank = 0; c && c->result.items && rank < c->plan->ranks; rank++)
        tell_lane(run, r, c, rank);
}

/* The best one's come first: who looks at a page of all schedules looks at these. */
void bubble_tell_lanes(mill_run *run, kit_report *r, const bubble_analysis *a) {
    if (a->options->lanes.n == 0) {
        for (size_t i = 0; i < a->n_detail; i++)
            tell_lanes(run, r, a->detail[i]);
        return;
    }
    if (a->best && bubble_is_listed(&a->options->lanes, a->best->family))
        tell_lanes(run, r, a->best);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c != a->best && bubble_is_listed(&a->options->lanes, c->family))
            tell_lanes(run, r, c);
    }
}

/* ---------------------------------------------------------------- all of it */

static void tell_paths(mill_run *run, kit_report *r, const bubble_analysis *a,
                       const bubble_case **recorded, size_t n) {
    pp_path *paths = mill_scratch(run, n * sizeof *paths);
    kit_table *t = kit_table_of(r, "path", "What decides the step",
                                "The critical path, by duration.", path_columns);
    kit_table_column(t, MILL_KIND_REAL, "slope", "d step", "ns/ns",
                     "By how much the step grows with this duration (transfer: with the latency), "
                     "while the path stays.");
    for (size_t i = 0; i < n; i++) {
        const bubble_case *c = recorded[i];
        pp_why_path(run, c->plan, c->timing, &c->result, &paths[i]);
        tell_path(t, c, &paths[i]);
    }
    if (!bubble_equal(&a->in)) {
        t = begin_stage_slopes(r);
        for (size_t i = 0; i < n; i++)
            tell_stage_slopes(run, t, recorded[i], &paths[i]);
    }
    if (a->options->detail.n == 0)
        return;
    t = kit_table_of(r, "critical_path", "The critical path",
                     "Operations that follow each other on a rank are one row.", stretch_columns);
    for (size_t i = 0; i < n; i++)
        tell_stretches(run, t, recorded[i], &paths[i]);
}

void bubble_tell_detail(mill_run *run, kit_report *r, const bubble_analysis *a) {
    const bubble_case **recorded = mill_scratch(run, (a->n_detail + 1) * sizeof *recorded);
    size_t n = 0;
    for (size_t i = 0; i < a->n_detail; i++)
        if (a->detail[i]->result.items)
            recorded[n++] = a->detail[i];
    if (n == 0)
        return;
    kit_table *t = kit_table_of(r, "ranks", "Devices", NULL, rank_columns);
    for (size_t i = 0; i < n; i++)
        tell_ranks(run, t, recorded[i]);
    t = kit_table_of(r, "idle", "What devices wait for", NULL, idle_columns);
    for (size_t i = 0; i < n; i++)
        tell_idle(run, t, recorded[i]);
    tell_paths(run, r, a, recorded, n);
}
