/* SPDX-License-Identifier: Apache-2.0 */
/* Puts options, loads and the plan before together, and says what does not fit. */
#include "problem.h"

#include "sizes.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

static int64_t number_of(const int64_t *numbers, uint32_t i) {
    return numbers ? numbers[i] : (int64_t)i;
}

int64_t ep_layer_number(const ep_problem *p, uint32_t i) {
    return number_of(p->loads->layer, p->layer[i]);
}

/* The place of a layer by its number; `n` if it is not there. */
static uint32_t place_of(const int64_t *numbers, uint32_t n, int64_t number) {
    uint32_t i = 0;
    while (i < n && number_of(numbers, i) != number)
        i++;
    return i;
}

/* ---------------------------------------------------------------- layers */

static int compare_places(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* In the order of the loads, in whatever order they are asked for. */
static mill_status choose_layers(ep_problem *p) {
    const mill_expert_load *l = p->loads;
    const int64_t *wanted = p->options->layers.v;
    size_t n = p->options->layers.n;
    uint32_t *layer = mill_scratch(p->run, (n ? n : l->layers) * sizeof *layer);
    p->n = n ? (uint32_t)n : l->layers;
    p->layer = layer;
    for (uint32_t i = 0; i < p->n; i++) {
        layer[i] = n ? place_of(l->layer, l->layers, wanted[i]) : i;
        if (layer[i] == l->layers)
            return mill_fail(p->run, MILL_E_CONFIG,
                             "layers: the loads have no layer %" PRId64 "; theirs are %" PRId64
                             " to %" PRId64,
                             wanted[i], number_of(l->layer, 0), number_of(l->layer, l->layers - 1));
        if (n && place_of(wanted, i, wanted[i]) < i)
            return mill_fail(p->run, MILL_E_CONFIG, "layers: %" PRId64 " stands there twice",
                             wanted[i]);
    }
    qsort(layer, p->n, sizeof *layer, compare_places);
    return MILL_OK;
}

static mill_status match_previous(ep_problem *p) {
    const mill_expert_plan *was = p->previous;
    if (was->experts != p->loads->experts)
        return mill_fail(p->run, MILL_E_DATA,
                         "the previous plan has %u experts a layer, the loads have %u",
                         was->experts, p->loads->experts);
    uint32_t *place = mill_scratch(p->run, p->n * sizeof *place);
    p->was = place;
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t number = ep_layer_number(p, i);
        place[i] = place_of(was->layer, was->layers, number);
        if (place[i] == was->layers)
            return mill_fail(p->run, MILL_E_DATA, "the previous plan has no layer %" PRId64,
                             number);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- loads */

double *ep_layer_loads(const ep_problem *p, uint32_t i, uint64_t first, uint64_t steps) {
    uint32_t experts = p->loads->experts;
    double *load = kit_alloc(steps * experts, sizeof *load);
    for (uint64_t s = 0; s < steps; s++)
        memcpy(load + s * experts, mill_expert_load_at(p->loads, first + s, p->layer[i]),
               experts * sizeof *load);
    return load;
}

/* Loads that are no amounts of work, told by the first of them. */
static mill_status check_loads(ep_problem *p) {
    const mill_expert_load *l = p->loads;
    for (uint64_t s = 0; s < l->steps; s++)
        for (uint32_t i = 0; i < p->n; i++)
            for (uint32_t e = 0; e < l->experts; e++) {
                double load = mill_expert_load_at(l, s, p->layer[i])[e];
                if (isfinite(load) && load >= 0)
                    continue;
                p->odd = true;
                if (p->options->policy == EP_CHOOSE_REFERENCE)
                    return MILL_OK;
                return mill_fail(p->run, MILL_E_DATA,
                                 "layer %" PRId64 ", expert %u, step %" PRId64
                                 ": the load is %g, but loads are numbers from 0 up (only policy "
                                 "= reference takes others, as eplb.py does)",
                                 ep_layer_number(p, i), e, l->step ? l->step[s] : (int64_t)s, load);
            }
    return MILL_OK;
}

/* ---------------------------------------------------------------- sizes */

static int64_t either(int64_t given, int64_t previous, int64_t otherwise) {
    return given > 0 ? given : previous > 0 ? previous : otherwise;
}

static mill_status choose_gpus(ep_problem *p) {
    const ep_options *o = p->options;
    const mill_expert_plan *was = p->previous;
    ep_shape *s = &p->shape;
    size_t listed = o->slots_per_gpu.n ? o->slots_per_gpu.n : o->speeds.n;
    s->experts = p->loads->experts;
    s->gpus = (uint32_t)either(o->gpus, was ? was->gpus : 0, (int64_t)listed);
    s->nodes = (uint32_t)either(o->nodes, was ? was->nodes : 0, 1);
    s->groups = (uint32_t)either(o->groups, was ? was->groups : 0, 1);
    if (s->gpus == 0)
        return mill_fail(p->run, MILL_E_CONFIG, "gpus: how many GPUs hold the experts of a layer?");
    if ((o->slots_per_gpu.n && o->slots_per_gpu.n != s->gpus) ||
        (o->speeds.n && o->speeds.n != s->gpus))
        return mill_fail(p->run, MILL_E_CONFIG,
                         "slots-per-gpu and speeds need a value for each of %u GPUs", s->gpus);
    return MILL_OK;
}

static int64_t count_slots(const ep_problem *p) {
    const ep_options *o = p->options;
    const int64_t *each = o->slots_per_gpu.v;
    int64_t slots = 0, experts = p->shape.experts, gpus = p->shape.gpus;
    for (size_t g = 0; g < o->slots_per_gpu.n; g++)
        slots += each[g];
    if (o->slots_per_gpu.n > 0 || o->replicas > 0)
        return o->slots_per_gpu.n > 0 ? slots : o->replicas;
    if (mill_option_given(p->run, "redundant"))
        return experts + o->redundant;
    return p->previous ? p->previous->slots : (experts + gpus - 1) / gpus * gpus;
}

/* The slots may stay as they are. */
static bool as_before(const ep_problem *p) {
    const mill_expert_plan *was = p->previous;
    return !p->reference && was && was->slots == p->shape.slots && was->gpus == p->shape.gpus;
}

/* Slots of each GPU: as listed (NULL: they are not), as before, or equal, where the first ones may
 * have one more. */
static void spread_slots(ep_problem *p, const int64_t *each) {
    ep_shape *s = &p->shape;
    const mill_expert_plan *was = p->previous;
    uint32_t *first = mill_scratch(p->run, ((size_t)s->gpus + 1) * sizeof *first);
    for (uint32_t g = 0; g < s->gpus; g++) {
        uint32_t n = s->slots / s->gpus + (g < s->slots % s->gpus);
        if (each)
            n = (uint32_t)each[g];
        else if (as_before(p))
            n = was->first[g + 1] - was->first[g];
        first[g + 1] = first[g] + n;
    }
    s->first = first;
}

static void place_gpus(ep_problem *p) {
    ep_shape *s = &p->shape;
    uint32_t *node = mill_scratch(p->run, s->gpus * sizeof *node);
    for (uint32_t g = 0; g < s->gpus; g++)
        node[g] = (uint32_t)((uint64_t)g * s->nodes / s->gpus);
    s->node = node;
}

static mill_status choose_speeds(ep_problem *p) {
    ep_shape *s = &p->shape;
    const double *given = p->options->speeds.v;
    const int64_t *failed = p->options->failed.v;
    if (p->options->speeds.n + p->options->failed.n == 0)
        return MILL_OK;
    double *speed = mill_scratch(p->run, s->gpus * sizeof *speed);
    for (uint32_t g = 0; g < s->gpus; g++)
        speed[g] = given ? given[g] : 1;
    p->speed = given;
    for (size_t i = 0; i < p->options->failed.n; i++) {
        if (failed[i] >= s->gpus)
            return mill_fail(p->run, MILL_E_CONFIG,
                             "failed: there is no GPU %" PRId64 "; they are 0 to %u", failed[i],
                             s->gpus - 1);
        speed[failed[i]] = 0;
    }
    s->speed = speed;
    return MILL_OK;
}

/* ---------------------------------------------------------------- policy */

static bool even(const ep_shape *s) {
    for (uint32_t g = 0; g < s->gpus; g++)
        if (s->first[g + 1] - s->first[g] != s->first[1])
            return false;
    return true;
}

static bool any_failed(const ep_shape *s) {
    for (uint32_t g = 0; s->speed && g < s->gpus; g++)
        if (s->speed[g] == 0)
            return true;
    return false;
}

static const char *fault_of(const ep_problem *p, bool hierarchical) {
    const ep_shape *s = &p->shape;
    return ep_reference_fault(p->run, s->experts, s->slots, s->groups, s->nodes, s->gpus,
                              hierarchical);
}

/* Whether eplb.py's plan can be what the search starts from: it keeps the policy, and the shape is
 * one that eplb.py knows. */
static bool can_start(const ep_problem *p) {
    bool hierarchical = p->policy != EP_GLOBAL;
    return even(&p->shape) && !any_failed(&p->shape) && fault_of(p, hierarchical) == NULL;
}

static mill_status check_topology(ep_problem *p) {
    ep_shape *s = &p->shape;
    const char *fault = ep_fault_groups(p->run, s->experts, s->groups, 1);
    if (!fault)
        fault = ep_fault_gpus(p->run, s->gpus, s->nodes);
    if (fault)
        return mill_fail(p->run, MILL_E_CONFIG, "%s", fault);
    if (p->options->slots_per_gpu.n == 0 && !p->options->uneven && !as_before(p))
        fault = ep_fault_slots(p->run, s->slots, s->experts, s->gpus);
    if (fault)
        return mill_fail(p->run, MILL_E_CONFIG,
                         "%s; uneven = yes takes numbers that the GPUs do not divide", fault);
    return MILL_OK;
}

/* eplb.py itself: hierarchical where the nodes divide the groups; if not, it looks at neither. */
static mill_status choose_reference(ep_problem *p) {
    ep_shape *s = &p->shape;
    bool hierarchical = s->groups % s->nodes == 0;
    const char *fault = fault_of(p, hierarchical);
    if (fault)
        return mill_fail(p->run, MILL_E_CONFIG, "%s", fault);
    p->policy = hierarchical ? EP_HIERARCHICAL : EP_GLOBAL;
    p->reference = true;
    if (!hierarchical) {
        p->warning = ep_text(p->run,
                             "%u nodes do not divide %u groups: eplb.py then plans as if there "
                             "were neither, and so does this",
                             s->nodes, s->groups);
        s->nodes = s->gpus % s->nodes == 0 ? s->nodes : 1;
        s->groups = s->experts % s->groups == 0 ? s->groups : 1;
    }
    return MILL_OK;
}

static mill_status choose_policy(ep_problem *p) {
    ep_shape *s = &p->shape;
    int choice = p->options->policy;
    p->policy = choice == EP_CHOOSE_GLOBAL       ? EP_GLOBAL
                : choice == EP_CHOOSE_SOFT_NODES ? EP_SOFT_NODES
                                                 : EP_HIERARCHICAL;
    if (choice == EP_CHOOSE_AUTO && s->groups % s->nodes != 0) {
        p->policy = EP_GLOBAL;
        if (s->groups > 1)
            p->warning = ep_text(p->run,
                                 "%u nodes do not divide %u groups: the policy is global, as "
                                 "eplb.py would choose",
                                 s->nodes, s->groups);
    } else if (p->policy == EP_HIERARCHICAL && s->groups % s->nodes != 0) {
        return mill_fail(p->run, MILL_E_CONFIG, "%s", fault_of(p, true));
    }
    if (ep_search_fits(s, p->policy))
        return MILL_OK;
    if (choice == EP_CHOOSE_AUTO && p->policy == EP_HIERARCHICAL && ep_search_fits(s, EP_GLOBAL)) {
        p->policy = EP_GLOBAL;
        p->warning = "the slots of the nodes do not hold as many groups each: the policy is global";
        return MILL_OK;
    }
    return mill_fail(p->run, MILL_E_CONFIG,
                     "%u slots, less those of failed GPUs, do not hold %u experts under this "
                     "policy: more replicas, or policy = global",
                     s->slots, s->experts);
}

/* Node, slots and speed of each GPU, once policy and numbers are known. */
static mill_status fill_shape(ep_problem *p) {
    place_gpus(p);
    spread_slots(p, p->options->slots_per_gpu.n ? p->options->slots_per_gpu.v : NULL);
    p->shape.distinct = p->options->distinct && !p->reference;
    return choose_speeds(p);
}

static mill_status choose_sizes(ep_problem *p) {
    mill_status status = choose_gpus(p);
    if (status != MILL_OK)
        return status;
    int64_t slots = count_slots(p);
    if (slots > UINT16_MAX * INT64_C(16))
        return mill_fail(p->run, MILL_E_CONFIG, "%" PRId64 " slots are more than this can plan",
                         slots);
    p->shape.slots = (uint32_t)slots;
    bool reference = p->options->policy == EP_CHOOSE_REFERENCE;
    status = reference ? choose_reference(p) : check_topology(p);
    if (status == MILL_OK)
        status = fill_shape(p);
    if (status == MILL_OK && !reference)
        status = choose_policy(p);
    p->starts = status == MILL_OK && can_start(p);
    return status;
}

/* Only the same slots on the same GPUs can be told from each other. */
static mill_status check_previous(const ep_problem *p) {
    const mill_expert_plan *was = p->previous;
    const ep_shape *s = &p->shape;
    if (!was)
        return MILL_OK;
    if (was->slots != s->slots || was->gpus != s->gpus)
        return mill_fail(p->run, MILL_E_CONFIG,
                         "the previous plan has %u slots on %u GPUs, this one %u on %u: leave "
                         "these options out, or the plan",
                         was->slots, was->gpus, s->slots, s->gpus);
    for (uint32_t g = 0; was->nodes == s->nodes && was->node && g < s->gpus; g++)
        if (was->node[g] != s->node[g])
            return mill_fail(p->run, MILL_E_CONFIG,
                             "GPU %u is on node %u in the previous plan and would be on node %u "
                             "here: %u GPUs on %u nodes are as many on each",
                             g, was->node[g], s->node[g], s->gpus, s->nodes);
    for (uint32_t g = 0; g < s->gpus; g++)
        if (was->first[g + 1] != s->first[g + 1])
            return mill_fail(p->run, MILL_E_CONFIG,
                             "GPU %u has %u slots in the previous plan and %u in this one", g,
                             was->first[g + 1] - was->first[g], s->first[g + 1] - s->first[g]);
    return MILL_OK;
}

mill_status ep_problem_init(ep_problem *p, mill_run *run, const ep_options *o,
                            const mill_expert_load *loads, const mill_expert_plan *previous) {
    *p = (ep_problem){.run = run, .options = o, .loads = loads, .previous = previous};
    p->max_moves = mill_option_given(run, "max-moves") ? o->max_moves : MILL_UNKNOWN;
    mill_status status = choose_layers(p);
    if (status == MILL_OK && previous)
        status = match_previous(p);
    if (status == MILL_OK)
        status = choose_sizes(p);
    if (status == MILL_OK)
        status = check_previous(p);
    return status == MILL_OK ? check_loads(p) : status;
}

bool ep_problem_like(const ep_problem *p, uint32_t slots, ep_policy policy, ep_problem *ret_p) {
    ep_problem *like = ret_p;
    *like = *p;
    like->previous = NULL;
    like->max_moves = MILL_UNKNOWN;
    like->policy = policy;
    like->shape.slots = slots;
    if (!even(&p->shape) || slots % p->shape.gpus != 0 || slots < p->shape.experts)
        return false;
    spread_slots(like, NULL);
    if (fault_of(like, policy != EP_GLOBAL) || !ep_search_fits(&like->shape, policy))
        return false;
    like->starts = can_start(like);
    return true;
}
