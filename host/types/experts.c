/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of what is said of experts: mill.expert-load/1 and mill.expert-plan/1. */
#include <string.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>

#include "types/checks.h"
#include "types/shapes.h"

#define OPTIONAL .optional = true

/* ---------------------------------------------------------------- loads */

static const shape_field load_fields[] = {
    SHAPE_PLAIN(mill_expert_load, size),
    SHAPE_PLAIN(mill_expert_load, integral),
    SHAPE_TEXT(mill_expert_load, subject, OPTIONAL),
    SHAPE_TEXT(mill_expert_load, unit, OPTIONAL),
    SHAPE_PLAIN(mill_expert_load, layers),
    SHAPE_PLAIN(mill_expert_load, experts),
    SHAPE_PLAIN(mill_expert_load, steps),
    SHAPE_ARRAY(mill_expert_load, load,
                .count = {.factors = {SHAPE_FACTOR(mill_expert_load, steps),
                                      SHAPE_FACTOR(mill_expert_load, layers),
                                      SHAPE_FACTOR(mill_expert_load, experts)}}),
    SHAPE_ARRAY(mill_expert_load, step, SHAPE_COUNT(mill_expert_load, steps), OPTIONAL),
    SHAPE_ARRAY(mill_expert_load, layer, SHAPE_COUNT(mill_expert_load, layers), OPTIONAL),
    SHAPE_PLAIN(mill_expert_load, ranks),
};

/* Of none of a thing there could be any number of others. */
static bool check_load(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_expert_load *l = data;
    return check_number(r, "the number of steps", l->steps, 1, UINT64_MAX) &&
           check_number(r, "the number of layers", l->layers, 1, UINT32_MAX) &&
           check_number(r, "the number of experts", l->experts, 1, UINT32_MAX);
}

const shape expert_load_shape = {"expert-load", SHAPE_SIZES(mill_expert_load, 72), load_fields,
                                 G_N_ELEMENTS(load_fields), check_load};

/* ---------------------------------------------------------------- plans */

#define OF_SLOTS                                                                                   \
    .count = {.factors = {SHAPE_FACTOR(mill_expert_plan, layers),                                  \
                          SHAPE_FACTOR(mill_expert_plan, slots)}}
#define OF_EXPERTS                                                                                 \
    .count = {.factors = {SHAPE_FACTOR(mill_expert_plan, layers),                                  \
                          SHAPE_FACTOR(mill_expert_plan, experts)}}

static const shape_field plan_fields[] = {
    SHAPE_PLAIN(mill_expert_plan, size),
    SHAPE_PLAIN(mill_expert_plan, layers),
    SHAPE_PLAIN(mill_expert_plan, experts),
    SHAPE_PLAIN(mill_expert_plan, slots),
    SHAPE_PLAIN(mill_expert_plan, gpus),
    SHAPE_PLAIN(mill_expert_plan, nodes),
    SHAPE_PLAIN(mill_expert_plan, groups),
    SHAPE_PLAIN(mill_expert_plan, reserved),
    SHAPE_TEXT(mill_expert_plan, subject, OPTIONAL),
    SHAPE_TEXT(mill_expert_plan, policy, OPTIONAL),
    SHAPE_ARRAY(mill_expert_plan, first,
                .count = {.factors = {SHAPE_FACTOR(mill_expert_plan, gpus)}, .plus = 1}),
    SHAPE_ARRAY(mill_expert_plan, node, SHAPE_COUNT(mill_expert_plan, gpus), OPTIONAL),
    SHAPE_ARRAY(mill_expert_plan, expert, OF_SLOTS),
    SHAPE_ARRAY(mill_expert_plan, rank, OF_SLOTS),
    SHAPE_ARRAY(mill_expert_plan, replicas, OF_EXPERTS),
    SHAPE_ARRAY(mill_expert_plan, layer, SHAPE_COUNT(mill_expert_plan, layers), OPTIONAL),
};

static bool check_sizes(reader *r, const mill_expert_plan *p) {
    return check_number(r, "the number of layers", p->layers, 1, UINT32_MAX) &&
           check_number(r, "the number of experts", p->experts, 1, UINT32_MAX) &&
           check_number(r, "the number of slots", p->slots, 1, INT32_MAX) &&
           check_number(r, "the number of GPUs", p->gpus, 1, UINT32_MAX) &&
           check_number(r, "the number of nodes", p->nodes, 0, p->gpus) &&
           check_number(r, "the number of groups", p->groups, 0, p->experts);
}

static bool check_gpus(reader *r, const mill_expert_plan *p) {
    for (uint32_t g = 0; g < p->gpus; g++)
        if (p->first[g + 1] < p->first[g])
            return reader_wrong(r, "the slots of GPU %u end before they begin", g);
    if (p->first[0] != 0 || p->first[p->gpus] != p->slots)
        return reader_wrong(r, "the GPUs have slots %u to %u, but there are %u", p->first[0],
                            p->first[p->gpus], p->slots);
    return p->node == NULL || check_below(r, "node of GPU", p->node, p->gpus, p->nodes, 0);
}

/* Each expert has as many slots as `replicas` says; what a slot holds is one of them. */
static bool check_layer(reader *r, const mill_expert_plan *p, uint32_t layer, uint32_t *count) {
    const int32_t *expert = p->expert + (size_t)layer * p->slots;
    const uint32_t *rank = p->rank + (size_t)layer * p->slots;
    const uint32_t *replicas = p->replicas + (size_t)layer * p->experts;
    memset(count, 0, p->experts * sizeof *count);
    for (uint32_t s = 0; s < p->slots; s++) {
        if (expert[s] == MILL_NO_EXPERT)
            continue;
        if (expert[s] < 0 || (uint32_t)expert[s] >= p->experts)
            return reader_wrong(r, "slot %u of layer %u holds expert %d of %u", s, layer, expert[s],
                                p->experts);
        if (rank[s] >= replicas[expert[s]])
            return reader_wrong(r, "slot %u of layer %u holds replica %u of %u", s, layer, rank[s],
                                replicas[expert[s]]);
        count[expert[s]]++;
    }
    for (uint32_t e = 0; e < p->experts; e++)
        if (count[e] != replicas[e])
            return reader_wrong(r, "expert %u of layer %u has %u slots, and should have %u", e,
                                layer, count[e], replicas[e]);
    return true;
}

static bool check_plan(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_expert_plan *p = data;
    if (!check_sizes(r, p) || !check_gpus(r, p))
        return false;
    g_autofree uint32_t *count = g_new(uint32_t, p->experts);
    bool good = true;
    for (uint32_t l = 0; good && l < p->layers; l++)
        good = check_layer(r, p, l, count);
    return good;
}

const shape expert_plan_shape = {"expert-plan", SHAPE_SIZES(mill_expert_plan, 96), plan_fields,
                                 G_N_ELEMENTS(plan_fields), check_plan};
