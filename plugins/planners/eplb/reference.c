/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of eplb.py (github.com/deepseek-ai/EPLB), which torch does in float32: every sum
 * and quotient is rounded where it is rounded there. */
#include "reference.h"

#include "introsort.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>

#define LANES 8 /* floats of a vector in torch's sum */
#define ILP 4   /* sums that it keeps at the same time */

struct ep_reference {
    uint32_t experts, replicas, groups, nodes, gpus;
    bool stable;
    kit_arena arena;
    float *group_load;    /* groups */
    uint32_t *node, *at;  /* of each group; its place in the node */
    uint32_t *by_node;    /* experts, node by node: their numbers */
    float *load, *share;  /* of a node's experts; of one replica each */
    uint32_t *count;      /* replicas of each */
    uint32_t *held;       /* of a node's replicas: the expert's place in by_node */
    uint32_t *number;     /* which replica of its expert it is */
    float *replica;       /* its load */
    uint32_t *gpu, *slot; /* where it goes */
    ep_item *items;       /* sorting */
    float *pack_load;
    uint32_t *pack_items;
};

static void *array(ep_reference *r, size_t n, size_t size) {
    return kit_arena_alloc(&r->arena, n * size);
}

ep_reference *ep_reference_create(uint32_t experts, uint32_t replicas, uint32_t groups,
                                  uint32_t nodes, uint32_t gpus, bool hierarchical, ep_sort sort) {
    ep_reference *r = kit_alloc(1, sizeof *r);
    r->experts = experts;
    r->replicas = replicas;
    r->groups = hierarchical ? groups : 1;
    r->nodes = hierarchical ? nodes : 1;
    r->gpus = gpus;
    r->stable = sort == EP_SORT_STABLE;
    size_t most = replicas > r->groups ? replicas : r->groups;
    r->group_load = array(r, r->groups, sizeof *r->group_load);
    r->node = array(r, r->groups, sizeof *r->node);
    r->at = array(r, r->groups, sizeof *r->at);
    r->by_node = array(r, experts, sizeof *r->by_node);
    r->load = array(r, experts, sizeof *r->load);
    r->share = array(r, experts, sizeof *r->share);
    r->count = array(r, experts, sizeof *r->count);
    r->held = array(r, replicas, sizeof *r->held);
    r->number = array(r, replicas, sizeof *r->number);
    r->replica = array(r, replicas, sizeof *r->replica);
    r->gpu = array(r, replicas, sizeof *r->gpu);
    r->slot = array(r, replicas, sizeof *r->slot);
    r->items = array(r, most, sizeof *r->items);
    r->pack_load = array(r, most, sizeof *r->pack_load);
    r->pack_items = array(r, most, sizeof *r->pack_items);
    return r;
}

void ep_reference_destroy(ep_reference *r) {
    if (!r)
        return;
    kit_arena_finish(&r->arena);
    free(r);
}

/* torch's sum over a row (aten/native/cpu/SumKernel.cpp: row_sum and vectorized_inner_sum), up to
 * 511 floats; from there on it adds in another order. Whole numbers below 2^24 have only one sum.
 */
static float row_sum(const float *v, size_t n) {
    size_t lanes = n < LANES ? 1 : LANES, vectors = n / lanes, rows = vectors / ILP;
    float sums[ILP][LANES] = {{0}}, total = 0;
    for (size_t i = 0; i < vectors; i++)
        for (size_t lane = 0; lane < lanes; lane++)
            sums[i < rows * ILP ? i % ILP : 0][lane] += v[i * lanes + lane];
    for (size_t k = 1; k < ILP; k++)
        for (size_t lane = 0; lane < lanes; lane++)
            sums[0][lane] += sums[k][lane];
    for (size_t i = vectors * lanes; i < n; i++)
        total += v[i];
    for (size_t lane = 0; lane < lanes; lane++)
        total += sums[0][lane];
    return total;
}

/* The lightest pack with room, the lowest of equal ones. A NaN is never lighter, and nothing is
 * lighter than it. */
static uint32_t lightest(const ep_reference *r, uint32_t packs, uint32_t room) {
    uint32_t best = packs;
    for (uint32_t p = 0; p < packs; p++)
        if (r->pack_items[p] < room && (best == packs || r->pack_load[p] < r->pack_load[best]))
            best = p;
    return best;
}

/* balanced_packing: the heaviest item first, each to the lightest pack with room. */
static void pack(ep_reference *r, const float *load, uint32_t n, uint32_t packs, uint32_t *ret_pack,
                 uint32_t *ret_at) {
    if (n == packs) {
        for (uint32_t i = 0; i < n; i++) {
            ret_pack[i] = i;
            ret_at[i] = 0;
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        r->items[i] = (ep_item){load[i], i};
    ep_introsort(r->items, n, r->stable);
    for (uint32_t p = 0; p < packs; p++) {
        r->pack_load[p] = 0;
        r->pack_items[p] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = lightest(r, packs, n / packs);
        ret_pack[r->items[i].index] = p;
        ret_at[r->items[i].index] = r->pack_items[p]++;
        r->pack_load[p] += r->items[i].load;
    }
}

/* torch.max: the lowest of equal ones, but the first NaN if there is any. */
static uint32_t largest(const float *v, uint32_t n) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < n && !isnan(v[best]); i++)
        if (v[i] > v[best] || isnan(v[i]))
            best = i;
    return best;
}

/* replicate_experts: each replica beyond the first goes to the expert with the largest share. */
static void replicate(ep_reference *r, uint32_t experts, uint32_t replicas) {
    for (uint32_t e = 0; e < experts; e++) {
        r->share[e] = r->load[e];
        r->count[e] = 1;
        r->held[e] = e;
        r->number[e] = 0;
    }
    for (uint32_t i = experts; i < replicas; i++) {
        uint32_t e = largest(r->share, experts);
        r->held[i] = e;
        r->number[i] = r->count[e]++;
        r->share[e] = r->load[e] / (float)r->count[e];
    }
    for (uint32_t i = 0; i < replicas; i++)
        r->replica[i] = r->share[r->held[i]];
}

/* Gives groups to nodes, and lists the experts by node. */
static void choose_nodes(ep_reference *r, const float *load) {
    uint32_t size = r->experts / r->groups, per_node = r->groups / r->nodes;
    for (uint32_t g = 0; g < r->groups; g++)
        r->group_load[g] = row_sum(load + (size_t)g * size, size);
    pack(r, r->group_load, r->groups, r->nodes, r->node, r->at);
    for (uint32_t g = 0; g < r->groups; g++)
        for (uint32_t i = 0; i < size; i++)
            r->by_node[(r->node[g] * per_node + r->at[g]) * size + i] = g * size + i;
}

void ep_reference_plan(ep_reference *r, const float *load, int32_t *ret_expert,
                       uint32_t *ret_rank) {
    uint32_t experts = r->experts / r->nodes, replicas = r->replicas / r->nodes;
    uint32_t gpus = r->gpus / r->nodes, slots = replicas / gpus;
    choose_nodes(r, load);
    for (uint32_t n = 0; n < r->nodes; n++) {
        const uint32_t *expert = r->by_node + (size_t)n * experts;
        for (uint32_t e = 0; e < experts; e++)
            r->load[e] = load[expert[e]];
        replicate(r, experts, replicas);
        pack(r, r->replica, replicas, gpus, r->gpu, r->slot);
        for (uint32_t i = 0; i < replicas; i++) {
            size_t to = (size_t)n * replicas + r->gpu[i] * slots + r->slot[i];
            ret_expert[to] = (int32_t)expert[r->held[i]];
            if (ret_rank)
                ret_rank[to] = r->number[i];
        }
    }
}
