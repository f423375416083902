/* SPDX-License-Identifier: Apache-2.0 */
/* How long the shares of the model take: from measured chunk times, a table, or options. */
#include "bubble.h"

#include <string.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>

/* Of chunk times: what counts as a chunk's own time. */
static const char *const measured_bases[MILL_BASES] = {"compute_only", "serial_transfer",
                                                       "serial_all"};
static const char *const given_basis[] = {"given"};

bool bubble_complete_cost(mill_chunk_cost *c) {
    if (c->backward == MILL_UNKNOWN)
        c->backward = kit_add(c->input, c->weight);
    if (c->input == MILL_UNKNOWN)
        c->input = kit_subtract(c->backward, c->weight);
    if (c->weight == MILL_UNKNOWN)
        c->weight = kit_subtract(c->backward, c->input);
    if (c->input == MILL_UNKNOWN)
        return true;
    return c->input >= 0 && c->weight >= 0 && kit_add(c->input, c->weight) == c->backward;
}

/* ---------------------------------------------------------------- what options replace */

/* Options that are not given leave their field unknown. */
static mill_chunk_cost given_cost(mill_run *run, const bubble_options *o) {
    mill_chunk_cost c = {
        mill_option_given(run, "forward") ? o->forward : MILL_UNKNOWN,
        mill_option_given(run, "backward") ? o->backward : MILL_UNKNOWN,
        mill_option_given(run, "input") ? o->input : MILL_UNKNOWN,
        mill_option_given(run, "weight") ? o->weight : MILL_UNKNOWN,
        mill_option_given(run, "pair") ? o->pair : MILL_UNKNOWN,
    };
    return c;
}

/* Of B, Bi and W what is given stays, and what is not follows from it: with one of them given, B is
 * taken from the measurement, or if that is the one, W. */
static void replace_backward(mill_chunk_cost *c, const mill_chunk_cost *given) {
    bool b = given->backward != MILL_UNKNOWN, i = given->input != MILL_UNKNOWN,
         w = given->weight != MILL_UNKNOWN;
    if (!b && !i && !w)
        return;
    mill_chunk_cost was = *c;
    c->backward = b || (i && w) ? given->backward : was.backward;
    c->input = given->input;
    c->weight = w || i ? given->weight : was.weight;
}

static mill_status replace(mill_run *run, mill_chunk_cost *costs, size_t n,
                           const mill_chunk_cost *given) {
    for (size_t i = 0; i < n; i++) {
        mill_chunk_cost *c = &costs[i];
        c->forward = given->forward != MILL_UNKNOWN ? given->forward : c->forward;
        c->pair = given->pair != MILL_UNKNOWN ? given->pair : c->pair;
        replace_backward(c, given);
        if (!bubble_complete_cost(c))
            return mill_fail(run, MILL_E_CONFIG,
                             "the options backward, input and weight do not fit together%s: B must "
                             "be Bi + W",
                             given->backward == MILL_UNKNOWN ? ", or not with what was measured"
                                                             : "");
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- where they come from */

static mill_chunk_cost *from_times(mill_run *run, const mill_chunk_times *times,
                                   bubble_inputs *in) {
    size_t n = times->n * MILL_BASES;
    mill_chunk_cost *costs = mill_scratch(run, n * sizeof *costs);
    memcpy(costs, times->costs, n * sizeof *costs);
    in->subject = times->subject;
    in->n = times->n;
    in->n_bases = MILL_BASES;
    in->likely = MILL_BASIS_TRANSFER;
    in->bases = measured_bases;
    return costs;
}

static mill_status from_table(mill_run *run, const bubble_options *o, bubble_inputs *in,
                              mill_chunk_cost **ret_costs) {
    in->subject = o->table;
    return bubble_read_table(run, o->table, ret_costs, &in->n);
}

static mill_chunk_cost *from_options(mill_run *run, bubble_inputs *in) {
    mill_chunk_cost *cost = mill_scratch(run, sizeof *cost);
    *cost = (mill_chunk_cost){MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN};
    in->n = 1;
    return cost;
}

static bool bases_differ(const bubble_inputs *in, const mill_chunk_cost *costs) {
    for (size_t i = 0; i < in->n * in->n_bases; i++)
        if (memcmp(&costs[i], &costs[i - i % in->n_bases], sizeof *costs) != 0)
            return true;
    return false;
}

/* Bases that say the same are one. */
static void join_bases(bubble_inputs *in, mill_chunk_cost *costs) {
    static const char *const measured[] = {"measured"};
    if (in->n_bases == 1 || bases_differ(in, costs))
        return;
    for (size_t i = 0; i < in->n; i++)
        costs[i] = costs[i * in->n_bases];
    in->n_bases = 1;
    in->likely = 0;
    in->bases = measured;
}

/* The median transfer of the step as it ran, unless the option tells it. */
static int64_t find_latency(mill_run *run, const bubble_analysis *a) {
    bool told = mill_option_given(run, "latency") || mill_option_given(run, "transfer-bytes");
    return !told && a->measured && a->measured->transfer_ns > 0 ? a->measured->transfer_ns
                                                                : a->options->latency;
}

/* A schedule that has sizes of its own tells what the options don't. */
static void find_m(mill_run *run, bubble_analysis *a) {
    uint32_t own = a->file ? a->file->micro_batches : a->measured ? a->measured->micro_batches : 0;
    a->m = a->options->micro_batches.v;
    a->n_m = a->options->micro_batches.n;
    if (own == 0 || mill_option_given(run, "m"))
        return;
    int64_t *m = mill_scratch(run, sizeof *m);
    *m = own;
    a->m = m;
    a->n_m = 1;
}

/* So do several rows, which are the stages of a pipeline. */
static mill_status find_pp(mill_run *run, bubble_analysis *a) {
    const bubble_options *o = a->options;
    bubble_inputs *in = &a->in;
    uint32_t own = a->file ? a->file->ranks : a->measured ? a->measured->ranks : 0;
    bool told = mill_option_given(run, "pp");
    in->pp = (uint32_t)o->pp;
    if (!told && in->n > 1)
        in->pp = (uint32_t)in->n;
    else if (!told && own > 0)
        in->pp = own;
    if (in->n > 1 && in->n != in->pp)
        return mill_fail(run, MILL_E_CONFIG,
                         "pp = %u, but there are durations of %zu stages: one row stands for all "
                         "stages, else there must be one for each of pp",
                         in->pp, in->n);
    if (o->slowness.n > in->pp)
        return mill_fail(run, MILL_E_CONFIG, "slowness lists %zu ranks, but pp = %u", o->slowness.n,
                         in->pp);
    return MILL_OK;
}

/* Without a stage in `times`, options may still tell. */
static mill_status find_costs(mill_run *run, const mill_chunk_times *times,
                              const bubble_options *options, bubble_inputs *in,
                              mill_chunk_cost **ret_costs) {
    if (times && options->table)
        return mill_fail(run, MILL_E_CONFIG,
                         "both the input `times` and the option `table`: take one of them away");
    if (times && times->n == 0 && !mill_option_given(run, "forward"))
        return mill_fail(run, MILL_E_DATA,
                         "the input `times` has no stage: no chunk was recognised there. Give the "
                         "options forward and backward, or annotate the profile's forward and "
                         "backward work (see the classes attribution and chunks)");
    if (options->table)
        return from_table(run, options, in, ret_costs);
    *ret_costs = times && times->n > 0 ? from_times(run, times, in) : from_options(run, in);
    return MILL_OK;
}

mill_status bubble_read_inputs(mill_run *run, const mill_chunk_times *times, bubble_analysis *a) {
    const bubble_options *options = a->options;
    bubble_inputs *in = &a->in;
    mill_chunk_cost *costs = NULL;
    *in = (bubble_inputs){.n_bases = 1, .bases = given_basis};
    mill_status status = find_costs(run, times, options, in, &costs);
    if (status == MILL_OK)
        status = find_pp(run, a);
    if (status != MILL_OK)
        return status;
    find_m(run, a);
    a->latency = find_latency(run, a);
    mill_chunk_cost given = given_cost(run, options);
    status = replace(run, costs, in->n * in->n_bases, &given);
    join_bases(in, costs);
    in->costs = costs;
    if (status == MILL_OK && in->bases == given_basis &&
        (costs->forward == MILL_UNKNOWN || costs->backward == MILL_UNKNOWN))
        return mill_fail(run, MILL_E_CONFIG,
                         "no durations: connect the input `times` (chunks.times), name a table, or "
                         "give forward and backward");
    return status;
}

/* ---------------------------------------------------------------- what they are together */

bool bubble_equal(const bubble_inputs *in) {
    for (size_t i = in->n_bases; i < in->n * in->n_bases; i++)
        if (memcmp(&in->costs[i], &in->costs[i % in->n_bases], sizeof *in->costs) != 0)
            return false;
    return true;
}

/* The mean of one field, rounded down; unknown if one of them is. */
static int64_t mean_of(const bubble_inputs *in, size_t basis, size_t field) {
    int64_t sum = 0;
    for (size_t i = 0; i < in->n; i++) {
        const char *cost = (const char *)&in->costs[i * in->n_bases + basis];
        sum = kit_add(sum, *(const int64_t *)(const void *)(cost + field));
    }
    return sum == MILL_UNKNOWN ? sum : sum / (int64_t)in->n;
}

mill_chunk_cost bubble_mean_cost(const bubble_inputs *in, size_t basis) {
    return (mill_chunk_cost){
        mean_of(in, basis, offsetof(mill_chunk_cost, forward)),
        mean_of(in, basis, offsetof(mill_chunk_cost, backward)),
        mean_of(in, basis, offsetof(mill_chunk_cost, input)),
        mean_of(in, basis, offsetof(mill_chunk_cost, weight)),
        mean_of(in, basis, offsetof(mill_chunk_cost, pair)),
    };
}
