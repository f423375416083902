/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of a hand-over whose file does not tell. PyTorch tells it of a single
 * send or receive, but not of those that batch_isend_irecv launches as one kernel, which is how
 * Megatron hands on its work (megatron/core/pipeline_parallel/p2p_communication.py).
 *
 * A heuristic: what follows forward work goes to the stage behind, what comes before forward work
 * is from the stage before, and the other way round for backward work. So between a forward and a
 * backward operation all is exchanged with one stage. Between two of one direction there must be
 * two hand-overs, the first of which sends and the second receives. */
#include "pipeline.h"

/* The stage with which work of that kind is exchanged after it, or before it. */
static int64_t stage_beside(const pipe_event *e, int64_t stage, bool after) {
    return (e->op->kind == PIPE_FORWARD) == after ? stage + 1 : stage - 1;
}

static bool exists(const pipe_analysis *a, int64_t stage) {
    return stage >= 0 && stage < (int64_t)a->n_stages;
}

/* The hand-overs v[0..n) of a member between two of its operations; NULL: there is none. */
static void tell_gap(pipe_analysis *a, pipe_event **v, size_t n, const pipe_event *before,
                     const pipe_event *behind) {
    const pipe_member *m = &a->members[(before ? before : behind)->member];
    int64_t first = before ? stage_beside(before, m->stage, true) : -1;
    int64_t last = behind ? stage_beside(behind, m->stage, false) : -1;
    if (!exists(a, first) || !exists(a, last))
        first = last = exists(a, first) ? first : last;
    if (!exists(a, first) || (first != last && n != 2))
        return;
    for (size_t i = 0; i < n; i++)
        if (!before || v[i]->start >= before->end) {
            v[i]->peer = pipe_member_at(a, m->replica, i + 1 < n ? first : last);
            a->n_guessed += v[i]->peer != MILL_NONE;
        }
}

static void tell_cell(pipe_analysis *a, const pipe_cell *cell, pipe_event **v) {
    const pipe_event *before = NULL;
    size_t n = 0;
    for (size_t i = 0; i < cell->n; i++) {
        pipe_event *e = &cell->v[i];
        if (pipe_communicates(e->op->kind) && e->op->peer == MILL_UNKNOWN)
            v[n++] = e;
        if (e->op->kind != PIPE_FORWARD && e->op->kind != PIPE_BACKWARD)
            continue;
        tell_gap(a, v, n, before, e);
        before = e;
        n = 0;
    }
    if (before)
        tell_gap(a, v, n, before, NULL);
}

void pipe_guess_peers(pipe_analysis *a) {
    pipe_event **v = mill_scratch(a->run, a->n_events * sizeof(pipe_event *));
    for (size_t i = 0; i < a->n_steps * a->n_members; i++)
        if (a->cells[i].n > 0)
            tell_cell(a, &a->cells[i], v);
}
