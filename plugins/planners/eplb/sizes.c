/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that eplb.py asserts, told as sentences with what would fit instead. */
#include "sizes.h"

#include "reference.h"
#include "text.h"

#include <inttypes.h>

static bool divides(int64_t by, int64_t n) {
    return by > 0 && n % by == 0;
}

/* "6 or 12"; a number below 1 is left out. */
static const char *either(mill_run *run, int64_t below, int64_t above) {
    if (below < 1 || above < 1)
        return ep_text(run, "%" PRId64, below < 1 ? above : below);
    return ep_text(run, "%" PRId64 " or %" PRId64, below, above);
}

/* The multiples of `of` next to n; none below `least`. */
static const char *multiples(mill_run *run, int64_t n, int64_t of, int64_t least) {
    int64_t below = n / of * of, above = (n > least ? n / of + 1 : (least + of - 1) / of) * of;
    return either(run, below < least ? 0 : below, above);
}

/* The numbers next to n that divide `whole` and are multiples of `of`. */
static const char *divisors(mill_run *run, int64_t n, int64_t whole, int64_t of) {
    int64_t below = n < whole ? n - 1 : whole, above = n + 1;
    while (below > 0 && !(divides(below, whole) && divides(of, below)))
        below--;
    while (above <= whole && !(divides(above, whole) && divides(of, above)))
        above++;
    return either(run, below, above <= whole ? above : 0);
}

const char *ep_fault_groups(mill_run *run, int64_t experts, int64_t groups, int64_t nodes) {
    if (divides(groups, experts))
        return NULL;
    int64_t of = divides(nodes, experts) ? nodes : 1;
    return ep_text(run,
                   "%" PRId64 " experts do not divide into %" PRId64
                   " equal groups; nearest number of groups: %s",
                   experts, groups, divisors(run, groups, experts, of));
}

const char *ep_fault_nodes(mill_run *run, int64_t groups, int64_t nodes) {
    if (divides(nodes, groups))
        return NULL;
    return ep_text(run,
                   "%" PRId64 " groups do not divide over %" PRId64
                   " nodes, as the hierarchical policy needs; nearest number of nodes: %s",
                   groups, nodes, divisors(run, nodes, groups, 1));
}

const char *ep_fault_gpus(mill_run *run, int64_t gpus, int64_t nodes) {
    if (divides(nodes, gpus))
        return NULL;
    return ep_text(
        run, "%" PRId64 " GPU%s not divide over %" PRId64 " nodes; nearest number of GPUs: %s",
        gpus, gpus == 1 ? " does" : "s do", nodes, multiples(run, gpus, nodes, nodes));
}

const char *ep_fault_slots(mill_run *run, int64_t slots, int64_t experts, int64_t gpus) {
    if (divides(gpus, slots) && slots >= experts)
        return NULL;
    const char *nearest = multiples(run, slots, gpus, experts);
    if (slots < experts)
        return ep_text(
            run, "%" PRId64 " slots do not hold %" PRId64 " experts; nearest number of slots: %s",
            slots, experts, nearest);
    return ep_text(
        run, "%" PRId64 " slots do not divide over %" PRId64 " GPUs; nearest number of slots: %s",
        slots, gpus, nearest);
}

const char *ep_reference_fault(mill_run *run, int64_t experts, int64_t replicas, int64_t groups,
                               int64_t nodes, int64_t gpus, bool hierarchical) {
    if (experts < 1 || groups < 1 || nodes < 1 || gpus < 1)
        return ep_text(run, "there must be at least one %s",
                       nodes < 1     ? "node"
                       : gpus < 1    ? "GPU"
                       : experts < 1 ? "expert"
                                     : "group of experts");
    const char *fault = NULL;
    if (hierarchical)
        fault = ep_fault_groups(run, experts, groups, nodes);
    if (hierarchical && !fault)
        fault = ep_fault_nodes(run, groups, nodes);
    if (hierarchical && !fault)
        fault = ep_fault_gpus(run, gpus, nodes);
    return fault ? fault : ep_fault_slots(run, replicas, experts, gpus);
}
