/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader of the report must know before believing it, the clocks, what could be won, and the
 * step as lanes of a timeline. */
#include "tell.h"

#include <string.h>

/* Operations of a rank at once, as a share of what it computes, that timers make of nothing. */
#define AT_ONCE 0.01

static void note_lost(kit_report *r, const pipe_analysis *a) {
    const char *stage = NULL, *key = NULL;
    size_t n = a->run->host->missing(a->run, 0, 0, &stage, &key);
    if (n > 0)
        kit_note(r, MILL_WARNING, "lost",
                 "Profiles missing, since reading or measuring them failed: %zu, the first is %s.",
                 n,
                 key && key[0] ? key
                 : stage       ? stage
                               : "not known");
    for (size_t i = 0; i < a->n_clocks; i++)
        if (a->clocks[i].profile->lost > 0)
            kit_note(r, MILL_WARNING, "events_lost",
                     "%s: %lld events are damaged or missing, so that operations may be. What "
                     "`overlap` says of this file tells which.",
                     a->clocks[i].profile->path, (long long)a->clocks[i].profile->lost);
}

/* Whether a stage of the pass has other numbers of forward and backward operations than the rest.
 */
static bool counts_differ(const pipe_analysis *a, const pipe_pass *pass) {
    for (size_t s = 0; s < a->n_stages; s++) {
        const pipe_time *t = &pipe_cell_of(a, pass->step, pass->replica, s)->time;
        if (t->n_forward != t->n_backward || t->n_forward != pass->micro_batches)
            return true;
    }
    return false;
}

static void note_passes(kit_report *r, const pipe_analysis *a) {
    size_t incomplete = 0, unequal = 0;
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++) {
        incomplete += !a->passes[i].complete;
        unequal += a->passes[i].complete && counts_differ(a, &a->passes[i]);
    }
    if (a->n_stages == 1)
        kit_note(
            r, MILL_WARNING, "one_stage",
            "All ranks here are of one stage: a pipeline has several. Give the profiles of all "
            "its stages.");
    if (incomplete > 0)
        kit_note(r, MILL_WARNING, "incomplete",
                 "Steps of pipelines in which a stage computes nothing, or is missing: %zu. They "
                 "are not measured.",
                 incomplete);
    if (unequal > 0)
        kit_note(r, MILL_WARNING, "counts_differ",
                 "Steps of pipelines in which stages have different numbers of forward and "
                 "backward operations: %zu. Profiles cut a step, or operations are not told "
                 "apart: annotate them with their micro-batch.",
                 unequal);
}

static void note_replay(kit_report *r, const pipe_analysis *a) {
    int64_t at_once = 0, compute = 0;
    for (size_t s = 0; s < a->n_stages; s++) {
        int64_t n;
        pipe_time t = pipe_sum(a, s, &n);
        at_once = kit_add(at_once, t.at_once);
        compute = kit_add(compute, t.compute);
    }
    if ((double)at_once > AT_ONCE * (double)compute)
        kit_note(r, MILL_WARNING, "at_once",
                 "Operations of one rank run at once. The bubble counts such time once, but the "
                 "replay runs them one after the other: slowdowns are not to be relied on.");
    if (a->n_replayed == 0)
        kit_note(r, MILL_WARNING, "no_replay",
                 "Operations that others need are missing, or can't be told apart, so that no step "
                 "can be replayed: stragglers are unknown.");
}

static void note_profiles(kit_report *r, const pipe_analysis *a) {
    int64_t unsure = 0, placed = 0;
    bool counted = false;
    for (size_t i = 0; i < a->n_clocks; i++) {
        const pipe_operations *p = a->clocks[i].profile;
        unsure = kit_add(unsure, p->unsure);
        for (uint64_t k = 0; k < p->n_ops; k++)
            if (pipe_computes(p->ops[k].kind))
                placed = kit_add(placed, p->ops[k].compute);
        for (uint64_t k = 0; k < p->n_workers; k++)
            counted |= !p->timeline && p->workers[k].rank == MILL_UNKNOWN;
    }
    char share[KIT_NUMBER_MAX];
    if ((double)unsure > (1 - a->options->min_coverage) * ((double)unsure + (double)placed))
        kit_note(r, MILL_WARNING, "coverage",
                 "%s of the computation belongs to no forward or backward operation: in the "
                 "pipeline's span, it counts as part of the bubble.",
                 kit_format_percent(share, unsure, kit_add(unsure, placed)));
    if (counted)
        kit_note(r, MILL_WARNING, "ranks_counted",
                 "Not all profiles tell their rank: they are numbered in the order given.");
}

static void note_hand_overs(kit_report *r, const pipe_analysis *a) {
    char time[KIT_NUMBER_MAX];
    size_t apart = 0;
    for (size_t i = 0; i < a->n_clocks; i++)
        apart += !a->clocks[i].aligned;
    if (a->n_guessed > 0)
        kit_note(
            r, MILL_INFO, "peers_inferred",
            "The profiles do not tell the other end of %lld sends and receives: it is inferred "
            "from the work before and after (option infer-peers).",
            (long long)a->n_guessed);
    if (a->n_alone > 0)
        kit_note(r, MILL_WARNING, "alone",
                 "Sends and receives whose other end is not known: %lld, of %s µs. What of that is "
                 "transfer can't be told: it counts as waiting.",
                 (long long)a->n_alone, kit_format_us(time, a->alone, KIT_GROUP));
    if (apart > 0)
        kit_note(r, MILL_WARNING, "clocks",
                 "Profiles whose clocks can't be aligned, since no hand-over joins them to the "
                 "first one: %zu. Start-up, tail and the span rest on the clocks as they are.",
                 apart);
}

void pipe_tell_notes(kit_report *r, const pipe_analysis *a) {
    note_lost(r, a);
    note_passes(r, a);
    note_replay(r, a);
    note_profiles(r, a);
    note_hand_overs(r, a);
}

void pipe_tell_clocks(kit_report *r, const pipe_analysis *a) {
    static const kit_column columns[] = {
        {MILL_KIND_TEXT, "profile", "profile", NULL},
        {MILL_KIND_TEXT, "method", "told by", "How forward and backward were told."},
        {MILL_KIND_COUNT, "n", "n", "Hand-overs that the offset rests on."},
        {MILL_KIND_NS, "offset", "offset", "What its clock is ahead of the first profile's."},
        {MILL_KIND_NS, "spread", "spread", "Median absolute deviation (MAD) around it."},
        {0},
    };
    kit_table *t = kit_table_of(r, "profiles", "Profiles and their clocks", NULL, columns);
    for (size_t i = 0; i < a->n_clocks; i++) {
        const pipe_clock *c = &a->clocks[i];
        const char *slash = c->profile->path ? strrchr(c->profile->path, '/') : NULL;
        kit_table_row(t);
        kit_cell_text(t, slash ? slash + 1 : c->profile->path);
        kit_cell_text(t, c->profile->method);
        kit_cell_int(t, (int64_t)c->n);
        kit_cell_int(t, c->aligned ? c->offset : MILL_UNKNOWN);
        kit_cell_int(t, c->n ? c->mad : MILL_UNKNOWN);
    }
}

void pipe_tell_finding(kit_report *r, const pipe_analysis *a) {
    if (a->n_replayed == 0 || a->kept[a->slowest] == MILL_UNKNOWN)
        return;
    if ((double)a->kept[a->slowest] < a->options->slow_stage * (double)a->ideal)
        return;
    char where[KIT_NUMBER_MAX + 8], evidence[256], longer[KIT_NUMBER_MAX], without[KIT_NUMBER_MAX];
    int64_t cost = pipe_mean(a->kept[a->slowest] - a->ideal, a->n_replayed);
    int64_t gain = kit_subtract(a->replayed, a->relieved[a->slowest]);
    snprintf(where, sizeof where, "stage %zu", a->slowest);
    snprintf(evidence, sizeof evidence,
             "if it alone keeps its durations, the span is %s longer than with even ones; if it "
             "alone had the mean ones, the span would be %s of what it is",
             kit_format_percent(longer, a->kept[a->slowest] - a->ideal, a->ideal),
             kit_format_percent(without, a->relieved[a->slowest], a->replayed));
    mill_finding f = {.size = sizeof f,
                      .level = MILL_WARNING,
                      .id = "slow_stage_1",
                      .rule = "slow_stage",
                      .where = where,
                      .evidence = evidence,
                      .advice = "Give it fewer layers, or the others more: the last stage also "
                                "computes the output layer and the loss, the first the embedding.",
                      .cost_ns = cost,
                      .gain_ns = gain > 0 ? pipe_mean(gain, a->n_replayed) : MILL_UNKNOWN,
                      .confidence = 0.9,
                      .at_ns = MILL_UNKNOWN};
    kit_finding(r, &f);
}

/* ---------------------------------------------------------------- lanes */

/* Texts of lanes: classes, which are labels of what has no number. */
static const char *const lane_texts[] = {
    [0] = "unknown",         [PIPE_FORWARD] = "F",   [PIPE_BACKWARD] = "B",
    [PIPE_WEIGHT] = "W",     [PIPE_SEND] = "send",   [PIPE_RECEIVE] = "receive",
    [PIPE_EXCHANGE] = "p2p", [PIPE_OTHER] = "other",
};
#define N_LANE_TEXTS (sizeof lane_texts / sizeof *lane_texts)

static void tell_lane(kit_report *r, const pipe_analysis *a, const pipe_pass *pass, size_t stage) {
    const pipe_cell *cell = pipe_cell_of(a, pass->step, pass->replica, stage);
    const pipe_member *m = &a->members[cell->v->member];
    int64_t *start = mill_scratch(a->run, cell->n * sizeof *start);
    int64_t *end = mill_scratch(a->run, cell->n * sizeof *end);
    uint32_t *cls = mill_scratch(a->run, cell->n * sizeof *cls);
    for (size_t i = 0; i < cell->n; i++) {
        start[i] = cell->v[i].start;
        end[i] = cell->v[i].end;
        cls[i] = cell->v[i].op->kind;
    }
    char id[KIT_NUMBER_MAX + 8], label[KIT_NUMBER_MAX + 8];
    snprintf(id, sizeof id, "stage_%zu", stage);
    snprintf(label, sizeof label, "stage %zu", stage);
    mill_lane lane = {.size = sizeof lane,
                      .id = id,
                      .label = label,
                      .rank = m->rank,
                      .device = MILL_UNKNOWN,
                      .stream = MILL_UNKNOWN,
                      .base_ns = pass->whole.start,
                      .n = cell->n,
                      .start = start,
                      .end = end,
                      .text = cls,
                      .cls = cls,
                      .texts = lane_texts,
                      .n_texts = N_LANE_TEXTS};
    kit_lane(r, &lane);
}

void pipe_tell_lanes(kit_report *r, const pipe_analysis *a, const pipe_pass *pass) {
    for (size_t s = 0; s < a->n_stages; s++)
        tell_lane(r, a, pass, s);
}
