/* SPDX-License-Identifier: Apache-2.0 */
/* From shares of the model to the durations of a plan's cells. */
#include "bubble.h"

#include <string.h>
#include <tracemill/kit/measure.h>

#define FIELDS 5 /* of mill_chunk_cost, all int64 */

bool bubble_can_hide(const bubble_analysis *a) {
    return a->in.n_bases == MILL_BASES;
}

static int64_t longer(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* F&B if communication ran beside all computation: computation of both chunks, which share the
 * device, or their transfers if those take longer. */
static int64_t hidden_pair(const mill_chunk_cost *bases) {
    const mill_chunk_cost *c = &bases[MILL_BASIS_COMPUTE], *t = &bases[MILL_BASIS_TRANSFER];
    int64_t compute = kit_add(c->forward, c->backward);
    int64_t transfer = kit_subtract(kit_add(t->forward, t->backward), compute);
    return transfer == MILL_UNKNOWN ? transfer : longer(compute, transfer);
}

/* What one share costs in this case. mean: of all shares, if they are taken to be alike; or NULL.
 */
static mill_chunk_cost share_cost(const bubble_analysis *a, const bubble_case *c,
                                  const mill_chunk_cost *mean, size_t share) {
    const bubble_inputs *in = &a->in;
    size_t i = in->n == 1 ? 0 : share;
    mill_chunk_cost cost = mean ? *mean : in->costs[i * in->n_bases + c->basis];
    if (c->hidden)
        cost.pair = hidden_pair(&in->costs[i * in->n_bases]);
    return cost;
}

/* Adds `part` of `whole` parts of each duration; in two sums, so that no product overflows. */
typedef struct sums {
    int64_t whole[FIELDS], rest[FIELDS];
} sums;

static void add_part(sums *s, const mill_chunk_cost *cost, int64_t part, int64_t whole) {
    int64_t values[FIELDS];
    memcpy(values, cost, sizeof values);
    for (int f = 0; f < FIELDS; f++) {
        if (values[f] == MILL_UNKNOWN || s->whole[f] == MILL_UNKNOWN) {
            s->whole[f] = MILL_UNKNOWN;
            continue;
        }
        s->whole[f] = kit_add(s->whole[f], values[f] / whole * part);
        s->rest[f] += values[f] % whole * part;
    }
}

/* Stage s of S takes [s/S, (s + 1)/S) of the model, share r of R [r/R, (r + 1)/R): in units of
 * 1/(R S), a share has S of them and a stage R. */
static mill_chunk_cost stage_cost(const bubble_analysis *a, const bubble_case *c,
                                  const mill_chunk_cost *mean, int64_t stage, int64_t stages) {
    int64_t shares = a->in.pp, from = stage * shares, to = from + shares;
    sums s = {0};
    for (int64_t r = from / stages; r * stages < to; r++) {
        int64_t begin = r * stages, end = begin + stages;
        mill_chunk_cost cost = share_cost(a, c, mean, (size_t)r);
        add_part(&s, &cost, (end < to ? end : to) - (begin > from ? begin : from), stages);
    }
    int64_t values[FIELDS];
    for (int f = 0; f < FIELDS; f++)
        values[f] = s.whole[f] == MILL_UNKNOWN
                        ? MILL_UNKNOWN
                        : kit_add(s.whole[f], (s.rest[f] + stages / 2) / stages);
    mill_chunk_cost cost;
    memcpy(&cost, values, sizeof cost);
    cost.weight = kit_subtract(cost.backward, cost.input); /* so that B = Bi + W to the ns */
    return cost;
}

static bool has_pairs(const pp_plan *plan) {
    for (uint64_t i = 0; i < plan->n_ops; i++)
        if (plan->ops[i].kind == MILL_OP_PAIR)
            return true;
    return false;
}

static const char *lacking(const bubble_analysis *a, const bubble_case *c, bool pairs,
                           const mill_chunk_cost *cost) {
    bool own = c->hidden || a->options->pair_rule == PP_PAIR_OWN;
    if (cost->forward == MILL_UNKNOWN || cost->backward == MILL_UNKNOWN)
        return "F or B is not known";
    if (c->plan->split && cost->input == MILL_UNKNOWN)
        return "Bi and W are not known (option weight)";
    if (own && cost->pair == MILL_UNKNOWN && pairs)
        return "F&B is not known (options pair, pair-rule)";
    return NULL;
}

static int64_t *slowness_of(mill_run *run, const bubble_analysis *a, const bubble_case *c) {
    const double *given = a->options->slowness.v;
    uint32_t n = c->plan->ranks;
    if (a->options->slowness.n == 0)
        return NULL;
    int64_t *slowness = mill_scratch(run, n * sizeof *slowness), sum = 0;
    for (uint32_t r = 0; r < n; r++) {
        slowness[r] = r < a->options->slowness.n ? (int64_t)(given[r] * 1e6 + 0.5) : 1000000;
        sum += slowness[r];
    }
    for (uint32_t r = 0; r < n && c->alike; r++)
        slowness[r] = sum / n;
    return slowness;
}

const pp_timing *bubble_timing(mill_run *run, const bubble_analysis *a, bubble_case *c) {
    const pp_plan *plan = c->plan;
    size_t cells = (size_t)plan->ranks * plan->chunks;
    mill_chunk_cost *stages = mill_scratch(run, plan->stages * sizeof *stages);
    mill_chunk_cost mean = bubble_mean_cost(&a->in, c->basis);
    bool pairs = has_pairs(plan);
    for (uint32_t s = 0; s < plan->stages; s++) {
        stages[s] = stage_cost(a, c, c->alike ? &mean : NULL, s, plan->stages);
        c->reason = c->reason ? c->reason : lacking(a, c, pairs, &stages[s]);
    }
    if (c->reason)
        return NULL;
    int64_t *columns = mill_scratch(run, FIELDS * cells * sizeof *columns);
    for (size_t i = 0; i < cells; i++) {
        int64_t values[FIELDS];
        memcpy(values, &stages[plan->stage[i]], sizeof values);
        for (int f = 0; f < FIELDS; f++)
            columns[(size_t)f * cells + i] = values[f];
    }
    pp_timing *t = mill_scratch(run, sizeof *t);
    *t = (pp_timing){
        .forward = columns,
        .backward = columns + cells,
        .input = columns + 2 * cells,
        .weight = columns + 3 * cells,
        .pair = columns + 4 * cells,
        .pair_rule = c->hidden ? PP_PAIR_OWN : (pp_pair_rule)a->options->pair_rule,
        .alpha = (int64_t)(a->options->alpha * 1e6 + 0.5),
        .comm = (pp_comm)a->options->comm,
        .latency = c->latency,
        .occupied = c->occupied,
        .slowness = slowness_of(run, a, c),
        .seed = (uint64_t)a->options->seed,
    };
    return t;
}
