/* SPDX-License-Identifier: Apache-2.0 */
/* From what a file tells to a plan: what it leaves open comes from options, and all is checked. */
#include "plans.h"

#include <string.h>
#include <tracemill/kit/expert_plan.h>

mill_status pl_fail_at(const pl_file *f, const char *source, int line, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mill_fail_at(f->run->host, f->run, MILL_E_DATA, source, line, "%s: %s", f->path, text);
}

/* ---------------------------------------------------------------- layers */

static bool counts_from_zero(const pl_draft *d) {
    for (uint32_t l = 0; d->layer && l < d->layers; l++)
        if (d->layer[l] != l)
            return false;
    return true;
}

/* One row for all layers becomes as many as there are. */
static void repeat(const pl_file *f, int64_t layers, pl_draft *d) {
    int32_t *expert = mill_scratch(f->run, (size_t)layers * d->slots * sizeof *expert);
    for (int64_t l = 0; l < layers; l++)
        memcpy(expert + l * d->slots, d->expert, d->slots * sizeof *expert);
    d->expert = expert;
    d->layers = (uint32_t)layers;
}

static void number_layers(const pl_file *f, int64_t from, pl_draft *d) {
    d->layer = mill_scratch(f->run, d->layers * sizeof *d->layer);
    for (uint32_t l = 0; l < d->layers; l++)
        d->layer[l] = from + l;
}

static mill_status place_layers(const pl_file *f, const pl_read_options *o, pl_draft *d) {
    if (counts_from_zero(d))
        d->layer = NULL; /* as where a file doesn't number them */
    for (uint32_t l = 1; d->layer && l < d->layers; l++)
        if (d->layer[l] <= d->layer[l - 1])
            return pl_fail(f, "row %u: layer %lld after layer %lld; expected rising numbers", l,
                           (long long)d->layer[l], (long long)d->layer[l - 1]);
    if (d->one_for_all && o->layers)
        repeat(f, o->layers, d);
    if (o->first_layer && d->layer)
        return mill_fail(f->run, MILL_E_CONFIG,
                         "%s numbers its layers itself, from %lld: leave first-layer out", f->path,
                         (long long)d->layer[0]);
    if (o->first_layer && d->every_layer) {
        if (o->first_layer >= d->layers)
            return mill_fail(f->run, MILL_E_CONFIG,
                             "first-layer: %s has a row for each of %u layers; expected less",
                             f->path, d->layers);
        d->layers -= (uint32_t)o->first_layer;
        d->expert += o->first_layer * d->slots;
    }
    if (o->first_layer)
        number_layers(f, o->first_layer, d);
    if (o->layers && o->layers != d->layers)
        return pl_fail(f, "expected %lld layers, as the option layers says, found %u",
                       (long long)o->layers, d->layers);
    return MILL_OK;
}

/* ---------------------------------------------------------------- GPUs */

/* What the option says, unless the file says another. */
static mill_status merge(const pl_file *f, const char *name, int64_t given, int64_t *told) {
    if (given && *told && given != *told)
        return mill_fail(f->run, MILL_E_CONFIG, "%s has %lld %s, the option %s says %lld", f->path,
                         (long long)*told, name, name, (long long)given);
    *told = given ? given : *told;
    return MILL_OK;
}

/* The nearest numbers that divide `whole`: at most n, and above it. */
static void nearest_divisors(int64_t whole, int64_t n, int64_t *ret_below, int64_t *ret_above) {
    int64_t below = n < whole ? n : whole, above = below + 1;
    while (whole % below != 0)
        below--;
    while (above < whole && whole % above != 0)
        above++;
    *ret_below = below;
    *ret_above = above;
}

static mill_status check_divides(const pl_file *f, int64_t whole, const char *things, int64_t n,
                                 const char *among) {
    int64_t below, above;
    if (n <= whole && whole % n == 0)
        return MILL_OK;
    nearest_divisors(whole, n, &below, &above);
    if (n >= whole)
        return pl_fail(f, "%lld %s can't be divided among %lld %s: there can be at most %lld",
                       (long long)whole, things, (long long)n, among, (long long)below);
    return pl_fail(
        f, "%lld %s can't be divided among %lld %s equally; %lld or %lld could have them",
        (long long)whole, things, (long long)n, among, (long long)below, (long long)above);
}

static mill_status check_first(const pl_file *f, const pl_draft *d) {
    if (!d->first)
        return check_divides(f, d->slots, "slots", d->gpus, "GPUs");
    for (int64_t g = 0; g < d->gpus; g++)
        if (d->first[g + 1] < d->first[g] || d->first[g + 1] > d->slots)
            return pl_fail(f, "\"first\", number %lld: expected from %u to %u, found %u",
                           (long long)g + 1, d->first[g], d->slots, d->first[g + 1]);
    if (d->first[0] != 0 || d->first[d->gpus] != d->slots)
        return pl_fail(f,
                       "\"first\": expected 0 as the first number and %u, all slots, as the last",
                       d->slots);
    return MILL_OK;
}

/* Nodes are runs of GPUs. */
static mill_status place_nodes(const pl_file *f, pl_draft *d) {
    if (!d->node && !d->nodes)
        return MILL_OK;
    if (!d->node) {
        mill_status status = check_divides(f, d->gpus, "GPUs", d->nodes, "nodes");
        if (status)
            return status;
        d->node = mill_scratch(f->run, (size_t)d->gpus * sizeof *d->node);
        for (int64_t g = 0; g < d->gpus; g++)
            d->node[g] = (uint32_t)(g * d->nodes / d->gpus);
        return MILL_OK;
    }
    for (int64_t g = 0; g < d->gpus; g++) {
        uint32_t least = g > 0 ? d->node[g - 1] : 0, most = g > 0 ? least + 1 : 0;
        if (d->node[g] < least || d->node[g] > most)
            return pl_fail(f, "\"node\", GPU %lld: expected node %u%s, found %u", (long long)g,
                           least, g > 0 ? " or the one after it" : "", d->node[g]);
    }
    int64_t nodes = (int64_t)d->node[d->gpus - 1] + 1;
    if (d->nodes && d->nodes != nodes)
        return pl_fail(f, "\"node\": expected %lld nodes, found %lld", (long long)d->nodes,
                       (long long)nodes);
    d->nodes = nodes;
    return MILL_OK;
}

static mill_status place_gpus(const pl_file *f, const pl_read_options *o, pl_draft *d) {
    mill_status status = merge(f, "gpus", o->gpus, &d->gpus);
    if (!status)
        status = merge(f, "nodes", o->nodes, &d->nodes);
    if (status)
        return status;
    if (!d->gpus)
        return mill_fail(f->run, MILL_E_CONFIG,
                         "%s does not tell how many GPUs share its %u slots: set gpus", f->path,
                         d->slots);
    status = check_first(f, d);
    return status ? status : place_nodes(f, d);
}

/* ---------------------------------------------------------------- experts */

/* How many there are, where nothing says so: the highest one is the last. */
static void count_experts(pl_draft *d) {
    int32_t highest = 0;
    for (size_t i = 0; i < (size_t)d->layers * d->slots; i++)
        highest = d->expert[i] > highest ? d->expert[i] : highest;
    d->experts = (int64_t)highest + 1;
}

/* The replicas of each expert of a layer have ranks from 0 up, each once. place: of each expert,
 * room for its replicas in `seen`. */
static mill_status check_ranks(const pl_file *f, const pl_draft *d, uint32_t l,
                               const uint32_t *count, uint32_t *place, bool *seen) {
    const int32_t *expert = d->expert + (size_t)l * d->slots;
    const uint32_t *rank = d->rank + (size_t)l * d->slots;
    uint32_t at = 0;
    memset(seen, 0, d->slots);
    for (int64_t e = 0; e < d->experts; at += count[e++])
        place[e] = at;
    for (uint32_t s = 0; s < d->slots; s++) {
        if (expert[s] == MILL_NO_EXPERT)
            continue;
        if (rank[s] >= count[expert[s]] || seen[place[expert[s]] + rank[s]])
            return pl_fail(
                f,
                "layer %lld, slot %u: expert %d has %u replicas, expected their ranks to "
                "be 0 to %u, each once, found %u%s",
                (long long)pl_layer(d->layer, l), s, expert[s], count[expert[s]],
                count[expert[s]] - 1, rank[s], rank[s] < count[expert[s]] ? " again" : "");
        seen[place[expert[s]] + rank[s]] = true;
    }
    return MILL_OK;
}

static mill_status check_layer(const pl_file *f, const pl_draft *d, uint32_t l, uint32_t *count) {
    memset(count, 0, (size_t)d->experts * sizeof *count);
    for (uint32_t s = 0; s < d->slots; s++) {
        int32_t e = d->expert[(size_t)l * d->slots + s];
        if (e >= d->experts)
            return pl_fail(f, "layer %lld, slot %u: expert %d; expected one of 0 to %lld",
                           (long long)pl_layer(d->layer, l), s, e, (long long)d->experts - 1);
        if (e != MILL_NO_EXPERT)
            count[e]++;
    }
    for (int64_t e = 0; e < d->experts; e++)
        if (!count[e])
            return pl_fail(f,
                           "layer %lld: expert %lld is in no slot; expected each of 0 to %lld in "
                           "one at least",
                           (long long)pl_layer(d->layer, l), (long long)e,
                           (long long)d->experts - 1);
    return MILL_OK;
}

static mill_status check_experts(const pl_file *f, const pl_draft *d) {
    if (d->experts > d->slots)
        return pl_fail(f,
                       "%lld experts don't fit in %u slots a layer: expected experts 0 to %u at "
                       "most",
                       (long long)d->experts, d->slots, d->slots - 1);
    if (d->groups && d->experts % d->groups != 0)
        return pl_fail(f, "\"groups\": %lld experts can't be divided into %lld groups equally",
                       (long long)d->experts, (long long)d->groups);
    uint32_t *count = mill_scratch(f->run, (size_t)d->experts * sizeof *count);
    uint32_t *place = mill_scratch(f->run, (size_t)d->experts * sizeof *place);
    bool *seen = mill_scratch(f->run, d->slots);
    for (uint32_t l = 0; l < d->layers; l++) {
        mill_status status = check_layer(f, d, l, count);
        if (!status && d->rank)
            status = check_ranks(f, d, l, count, place, seen);
        if (status)
            return status;
    }
    return MILL_OK;
}

bool pl_duplicate(mill_run *run, const mill_expert_plan *p, uint32_t *ret_layer, uint32_t *ret_gpu,
                  int32_t *ret_expert) {
    uint32_t *last =
        mill_scratch(run, p->experts * sizeof *last); /* layer and GPU it was last on */
    uint32_t at = 0;
    for (uint32_t l = 0; l < p->layers; l++)
        for (uint32_t g = 0; g < p->gpus; g++) {
            at++;
            for (uint32_t s = p->first[g]; s < p->first[g + 1]; s++) {
                int32_t e = p->expert[(size_t)l * p->slots + s];
                if (last[e] == at) {
                    *ret_layer = l;
                    *ret_gpu = g;
                    *ret_expert = e;
                    return true;
                }
                last[e] = at;
            }
        }
    return false;
}

/* vllm-ascend reads such a file, but not as it is meant. */
static void warn_of_duplicate(const pl_file *f, const mill_expert_plan *p) {
    uint32_t l, g;
    int32_t e;
    if (pl_duplicate(f->run, p, &l, &g, &e))
        mill_log(
            f->run, MILL_WARNING,
            "%s: layer %lld: device %u holds expert %d twice; vllm-ascend would use the last of "
            "its slots alone",
            f->path, (long long)pl_layer(p->layer, l), g, e);
}

mill_status pl_build(const pl_file *f, const pl_read_options *o, pl_draft *d,
                     mill_expert_plan **ret_plan) {
    if (d->slots < 1)
        return pl_fail(f, "expected slots, found a layer without any");
    mill_status status = place_layers(f, o, d);
    if (!status)
        status = place_gpus(f, o, d);
    if (!status)
        status = merge(f, "experts", o->experts, &d->experts);
    if (!status && !d->experts)
        count_experts(d);
    if (!status)
        status = check_experts(f, d);
    if (status)
        return status;
    mill_expert_plan like = {
        .layers = d->layers,
        .experts = (uint32_t)d->experts,
        .slots = d->slots,
        .gpus = (uint32_t)d->gpus,
        .nodes = (uint32_t)d->nodes,
        .groups = (uint32_t)d->groups,
        .subject = d->subject ? d->subject : f->path,
        .policy = d->policy,
        .first = d->first,
        .node = d->node,
        .expert = d->expert,
        .rank = d->rank,
        .layer = d->layer,
    };
    *ret_plan = kit_expert_plan(f->run, &like);
    if (d->format == PL_ASCEND)
        warn_of_duplicate(f, *ret_plan);
    return MILL_OK;
}
