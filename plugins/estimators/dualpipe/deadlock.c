/* SPDX-License-Identifier: Apache-2.0 */
/* Tells why an order can't run: the cycle of ranks that wait for each other. */
#include "sim_private.h"

#include <stdio.h>

#define TOLD 8 /* ranks of a cycle that are told */

const char *pp_kind_name(uint8_t kind) {
    static const char *const names[] = {
        [MILL_OP_FORWARD] = "F", [MILL_OP_BACKWARD] = "B", [MILL_OP_INPUT] = "Bi",
        [MILL_OP_WEIGHT] = "W",  [MILL_OP_PAIR] = "F&B",
    };
    return names[kind];
}

/* "B of micro-batch 3, chunk 0". */
static void describe_next(const pp_workspace *w, uint32_t rank, char *text, size_t size) {
    const pp_plan *plan = w->plan;
    uint32_t at = w->ranks[rank].walk.at;
    pp_op op = plan->ops[at];
    const pp_cell *cells = &w->cells[rank * plan->chunks];
    const char *name = pp_kind_name(op.kind);
    if (op.kind == MILL_OP_PAIR)
        snprintf(text, size, "%s of micro-batches %u and %u, chunks %u and %u", name,
                 plan->mb ? plan->mb[at] : cells[op.chunk].sent[PP_ACTIVATIONS],
                 plan->mb ? plan->mb2[at] : cells[op.chunk2].sent[PP_GRADIENTS], op.chunk,
                 op.chunk2);
    else if (op.kind == MILL_OP_WEIGHT)
        snprintf(text, size, "%s, chunk %u", name, op.chunk);
    else
        snprintf(text, size, "%s of micro-batch %u, chunk %u", name,
                 plan->mb                     ? plan->mb[at]
                 : op.kind == MILL_OP_FORWARD ? cells[op.chunk].sent[PP_ACTIVATIONS]
                                              : cells[op.chunk].sent[PP_GRADIENTS],
                 op.chunk);
}

/* A rank of the cycle; or the rank that has ended and is waited for all the same, if the plan is
 * not whole. */
static uint32_t find_cycle(const pp_workspace *w, const uint32_t *waits_for) {
    uint32_t r = 0;
    while (waits_for[r] == PP_NO_RANK)
        r++;
    for (uint32_t i = 0; i < w->plan->ranks && waits_for[waits_for[r]] != PP_NO_RANK; i++)
        r = waits_for[r];
    return r;
}

mill_status pp_tell_deadlock(const pp_workspace *w, mill_run *run, const uint32_t *waits_for) {
    bool blocking = w->timing->comm == PP_COMM_BLOCKING;
    char text[TOLD * 160], next[80];
    size_t n = 0;
    uint32_t first = find_cycle(w, waits_for), r = first, told = 0;
    do {
        describe_next(w, r, next, sizeof next);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s waits %s %s, for %srank %u",
                              told ? ", which" : "", blocking ? "before" : "at", next,
                              blocking ? "a transfer with " : "", waits_for[r]);
        r = waits_for[r];
    } while (r != first && waits_for[r] != PP_NO_RANK && ++told < TOLD);
    const char *rest = r == first                   ? ""
                       : waits_for[r] == PP_NO_RANK ? ", which has ended"
                                                    : ", which waits for others in turn";
    return mill_fail(run, MILL_E_DATA, "%s can't run in this order%s: rank %u%s%s", w->plan->name,
                     blocking ? " with transfers that block" : "", first, text, rest);
}
