/* SPDX-License-Identifier: Apache-2.0 */
/* Placements of experts as values, and the map from experts to slots. */
#include <string.h>
#include <tracemill/kit/expert_plan.h>
#include <tracemill/kit/report.h>

static const void *copy(mill_run *run, mill_expert_plan *value, const void *from, size_t size) {
    return from ? memcpy(mill_value_alloc(run, value, size), from, size) : NULL;
}

static const char *copy_text(mill_run *run, mill_expert_plan *value, const char *text) {
    return text ? kit_text_utf8(run, value, text, strlen(text)) : NULL;
}

static const uint32_t *equal_slots(mill_run *run, mill_expert_plan *value) {
    uint32_t *first = mill_value_alloc(run, value, ((size_t)value->gpus + 1) * sizeof *first);
    for (uint64_t g = 0; g <= value->gpus; g++)
        first[g] = (uint32_t)(g * value->slots / value->gpus);
    return first;
}

/* Counts replicas, and numbers them where ret_rank is not NULL. */
static void count(const mill_expert_plan *plan, uint32_t *ret_replicas, uint32_t *ret_rank) {
    for (size_t l = 0; l < plan->layers; l++)
        for (size_t s = 0; s < plan->slots; s++) {
            int32_t e = plan->expert[l * plan->slots + s];
            if (e == MILL_NO_EXPERT)
                continue;
            uint32_t rank = ret_replicas[l * plan->experts + (size_t)e]++;
            if (ret_rank)
                ret_rank[l * plan->slots + s] = rank;
        }
}

mill_expert_plan *kit_expert_plan(mill_run *run, const mill_expert_plan *like) {
    mill_expert_plan *p = mill_value_alloc(run, NULL, sizeof *p);
    size_t slots = (size_t)like->layers * like->slots, gpus = like->gpus;
    *p = *like;
    p->size = sizeof *p;
    p->subject = copy_text(run, p, like->subject);
    p->policy = copy_text(run, p, like->policy);
    p->first = copy(run, p, like->first, (gpus + 1) * sizeof *p->first);
    p->node = copy(run, p, like->node, gpus * sizeof *p->node);
    p->expert = copy(run, p, like->expert, slots * sizeof *p->expert);
    p->layer = copy(run, p, like->layer, like->layers * sizeof *p->layer);
    p->rank = copy(run, p, like->rank, slots * sizeof *p->rank);
    if (!p->first)
        p->first = equal_slots(run, p);
    uint32_t *rank = p->rank ? NULL : mill_value_alloc(run, p, slots * sizeof *rank);
    uint32_t *replicas =
        mill_value_alloc(run, p, (size_t)p->layers * p->experts * sizeof *replicas);
    count(p, replicas, rank);
    p->replicas = replicas;
    p->rank = rank ? rank : p->rank;
    return p;
}

uint32_t kit_most_replicas(const mill_expert_plan *plan) {
    uint32_t most = 0;
    for (size_t i = 0; i < (size_t)plan->layers * plan->experts; i++)
        most = plan->replicas[i] > most ? plan->replicas[i] : most;
    return most;
}

void kit_slots_of_experts(const mill_expert_plan *plan, uint32_t layer, uint32_t width,
                          int32_t *ret_slots) {
    size_t base = (size_t)layer * plan->slots;
    for (size_t i = 0; i < (size_t)plan->experts * width; i++)
        ret_slots[i] = -1;
    for (uint32_t s = 0; s < plan->slots; s++) {
        int32_t e = plan->expert[base + s];
        if (e != MILL_NO_EXPERT)
            ret_slots[(size_t)e * width + plan->rank[base + s]] = (int32_t)s;
    }
}
