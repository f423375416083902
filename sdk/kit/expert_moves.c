/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan comes to: loads of GPUs, and moves from one plan to another. */
#include <stdbool.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/expert_plan.h>

void kit_gpu_loads(const mill_expert_plan *place, const double *load, const int32_t *expert,
                   const uint32_t *replicas, double *ret_load) {
    for (uint32_t g = 0; g < place->gpus; g++) {
        double sum = 0;
        for (uint32_t s = place->first[g]; s < place->first[g + 1]; s++)
            if (expert[s] != MILL_NO_EXPERT)
                sum += load[expert[s]] / replicas[expert[s]];
        ret_load[g] = sum;
    }
}

/* Who held an expert before, in bits for each GPU, for each node, and for all. */
typedef struct holders {
    bool *gpu, *node, *any; /* [gpus][experts], [nodes][experts], [experts] */
} holders;

static holders holders_of(const mill_expert_plan *place, const int32_t *before) {
    size_t experts = place->experts;
    holders h = {
        .gpu = kit_alloc(place->gpus * experts, 1),
        .node = place->node ? kit_alloc(place->nodes * experts, 1) : NULL,
        .any = kit_alloc(experts, 1),
    };
    for (uint32_t g = 0; g < place->gpus; g++)
        for (uint32_t s = place->first[g]; s < place->first[g + 1]; s++) {
            if (before[s] == MILL_NO_EXPERT)
                continue;
            size_t e = (size_t)before[s];
            h.gpu[g * experts + e] = h.any[e] = true;
            if (h.node)
                h.node[place->node[g] * experts + e] = true;
        }
    return h;
}

static void count_move(const mill_expert_plan *place, const holders *h, uint32_t g, size_t e,
                       uint32_t *fetched, kit_moves *moves) {
    bool *here = &h->gpu[g * (size_t)place->experts + e];
    if (*here) {
        moves->same_gpu++;
        return;
    }
    *here = true; /* a second replica on the GPU is copied from this one */
    if (fetched)
        fetched[e]++;
    if (!h->any[e] || !h->node)
        moves->unknown++;
    else if (h->node[place->node[g] * (size_t)place->experts + e])
        moves->same_node++;
    else
        moves->cross_node++;
}

kit_moves kit_count_moves(const mill_expert_plan *place, const int32_t *before,
                          const int32_t *after, uint32_t *fetched) {
    holders h = holders_of(place, before);
    kit_moves moves = {0};
    for (uint32_t g = 0; g < place->gpus; g++)
        for (uint32_t s = place->first[g]; s < place->first[g + 1]; s++) {
            if (after[s] == before[s])
                continue;
            if (after[s] == MILL_NO_EXPERT)
                moves.emptied++;
            else
                count_move(place, &h, g, (size_t)after[s], fetched, &moves);
        }
    free(h.any);
    free(h.node);
    free(h.gpu);
    return moves;
}
