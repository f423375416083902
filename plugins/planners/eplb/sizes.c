/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that eplb.py asserts, told as sentences with what would fit instead. */
#include "reference.h"

#include <inttypes.h>

static bool divides(int64_t by, int64_t n) {
    return by > 0 && n % by == 0;
}

MILL_PRINTF(2, 3)
static const char *sentence(mill_run *run, const char *format, ...) {
    char *text = mill_scratch(run, 512);
    va_list args;
    va_start(args, format);
    vsnprintf(text, 512, format, args);
    va_end(args);
    return text;
}

/* "6 or 12"; a number below 1 is left out. */
static const char *either(mill_run *run, int64_t below, int64_t above) {
    if (below < 1 || above < 1)
        return sentence(run, "%" PRId64, below < 1 ? above : below);
    return sentence(run, "%" PRId64 " or %" PRId64, below, above);
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

const char *ep_reference_fault(mill_run *run, int64_t experts, int64_t replicas, int64_t groups,
                               int64_t nodes, int64_t gpus, bool hierarchical) {
    if (experts < 1 || groups < 1 || nodes < 1 || gpus < 1)
        return sentence(run, "there must be at least one %s",
                        nodes < 1     ? "node"
                        : gpus < 1    ? "GPU"
                        : experts < 1 ? "expert"
                                      : "group of experts");
    if (hierarchical && !divides(groups, experts))
        return sentence(run,
                        "%" PRId64 " experts do not divide into %" PRId64
                        " equal groups; nearest number of groups: %s",
                        experts, groups,
                        divisors(run, groups, experts, divides(nodes, experts) ? nodes : 1));
    if (hierarchical && !divides(nodes, groups))
        return sentence(run,
                        "%" PRId64 " groups do not divide over %" PRId64
                        " nodes, as the hierarchical policy needs; nearest number of nodes: %s",
                        groups, nodes, divisors(run, nodes, groups, 1));
    if (hierarchical && !divides(nodes, gpus))
        return sentence(run,
                        "%" PRId64 " GPUs do not divide over %" PRId64
                        " nodes; nearest number of GPUs: %s",
                        gpus, nodes, multiples(run, gpus, nodes, nodes));
    if (!divides(gpus, replicas))
        return sentence(run,
                        "%" PRId64 " slots do not divide over %" PRId64
                        " GPUs; nearest number of slots: %s",
                        replicas, gpus, multiples(run, replicas, gpus, experts));
    if (replicas < experts)
        return sentence(
            run, "%" PRId64 " slots do not hold %" PRId64 " experts; nearest number of slots: %s",
            replicas, experts, multiples(run, replicas, gpus, experts));
    return NULL;
}
