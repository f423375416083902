/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a plan of the computations in a file. */
#include "torch_csv_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define MOST_CHUNKS (UINT8_MAX + 1u) /* pp_op numbers them in a byte */

typedef struct planner {
    mill_run *run;
    const char *path;
    const pp_torch_rows *rows;
    uint32_t *rank_of; /* by stage */
    uint32_t *cell_of; /* by stage */
    bool *has_weight;  /* by stage and micro-batch */
    pp_plan plan;
} planner;

static uint32_t halves(const pp_torch_action *a) {
    return a->kind == MILL_OP_PAIR ? 2 : 1;
}

/* ---------------------------------------------------------------- the placement */

/* Stages and micro-batches are those that the file names. */
static void count(planner *p) {
    for (uint64_t i = 0; i < p->rows->n; i++) {
        const pp_torch_action *a = &p->rows->actions[i];
        for (uint32_t h = 0; h < halves(a); h++) {
            if (a->stage[h] >= p->plan.stages)
                p->plan.stages = a->stage[h] + 1;
            if (a->mb[h] >= p->plan.per_cell)
                p->plan.per_cell = a->mb[h] + 1;
        }
    }
    p->plan.micro_batches = p->plan.per_cell;
}

/* Which rank runs each stage. There are not more stages than actions have halves, or one is
 * missing: so much room is enough to find the first of those. */
static mill_status find_ranks(planner *p) {
    const pp_torch_rows *rows = p->rows;
    uint64_t room = p->plan.stages <= 2 * rows->n ? p->plan.stages : 2 * rows->n + 1;
    p->rank_of = kit_alloc(room, sizeof *p->rank_of);
    memset(p->rank_of, 0xff, room * sizeof *p->rank_of);
    for (uint32_t r = 0; r < rows->ranks; r++)
        for (uint64_t i = rows->first[r]; i < rows->first[r + 1]; i++)
            for (uint32_t h = 0; h < halves(&rows->actions[i]); h++) {
                uint32_t stage = rows->actions[i].stage[h];
                if (stage >= room)
                    continue;
                if (p->rank_of[stage] != UINT32_MAX && p->rank_of[stage] != r)
                    return mill_fail(p->run, MILL_E_DATA,
                                     "%s: line %u, cell %u: stage %u, which line %u runs, too; "
                                     "expected all of a stage on one rank",
                                     p->path, r + 1, rows->actions[i].cell, stage,
                                     p->rank_of[stage] + 1);
                p->rank_of[stage] = r;
            }
    for (uint32_t stage = 0; stage < room; stage++)
        if (p->rank_of[stage] == UINT32_MAX)
            return mill_fail(p->run, MILL_E_DATA,
                             "%s: no line runs stage %u, and there is a stage %u; expected all "
                             "stages from 0 on",
                             p->path, stage, p->plan.stages - 1);
    return MILL_OK;
}

/* Stages of each rank, in rising order, become its chunks 0, 1, … */
static mill_status place(planner *p) {
    pp_plan *plan = &p->plan;
    plan->ranks = p->rows->ranks;
    plan->chunks = plan->stages / plan->ranks;
    uint32_t *taken = mill_scratch(p->run, plan->ranks * sizeof *taken);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        taken[p->rank_of[stage]]++;
    for (uint32_t r = 0; r < plan->ranks; r++) {
        if (taken[r] != taken[0])
            return mill_fail(p->run, MILL_E_DATA,
                             "%s: stages on line %u: %u, on line 1: %u; expected the same number "
                             "on each rank",
                             p->path, r + 1, taken[r], taken[0]);
        if (taken[r] > MOST_CHUNKS)
            return mill_fail(p->run, MILL_E_DATA,
                             "%s: line %u has %u stages; expected at most %u on a rank", p->path,
                             r + 1, taken[r], MOST_CHUNKS);
    }
    p->cell_of = kit_alloc(plan->stages, sizeof *p->cell_of);
    for (uint32_t stage = plan->stages; stage-- > 0;) {
        uint32_t rank = p->rank_of[stage];
        p->cell_of[stage] = rank * plan->chunks + --taken[rank];
    }
    uint32_t *stages = mill_scratch(p->run, plan->stages * sizeof *stages);
    int32_t *next = mill_scratch(p->run, plan->stages * sizeof *next);
    int32_t *prev = mill_scratch(p->run, plan->stages * sizeof *prev);
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        uint32_t cell = p->cell_of[stage];
        stages[cell] = stage;
        next[cell] = stage + 1 < plan->stages ? (int32_t)p->cell_of[stage + 1] : -1;
        prev[cell] = stage ? (int32_t)p->cell_of[stage - 1] : -1;
    }
    plan->stage = stages;
    plan->next = next;
    plan->prev = prev;
    return MILL_OK;
}

/* ---------------------------------------------------------------- the orders */

/* Every stage has as many forwards as there are micro-batches; so tables of both are not larger
 * than the file. */
static mill_status check_forwards(const planner *p) {
    uint32_t *forwards = mill_scratch(p->run, p->plan.stages * sizeof *forwards);
    for (uint64_t i = 0; i < p->rows->n; i++) {
        const pp_torch_action *a = &p->rows->actions[i];
        forwards[a->stage[0]] += a->kind == MILL_OP_FORWARD || a->kind == MILL_OP_PAIR;
    }
    for (uint32_t stage = 0; stage < p->plan.stages; stage++)
        if (forwards[stage] != p->plan.per_cell)
            return mill_fail(p->run, MILL_E_DATA,
                             "%s: line %u: forwards of stage %u: %u; expected %u, since "
                             "micro-batches go up to %u",
                             p->path, p->rank_of[stage] + 1, stage, forwards[stage],
                             p->plan.per_cell, p->plan.per_cell - 1);
    return MILL_OK;
}

static size_t at(const planner *p, uint32_t stage, uint32_t mb) {
    return (size_t)stage * p->plan.per_cell + mb;
}

static void find_weights(planner *p) {
    p->has_weight = kit_alloc(at(p, p->plan.stages, 0), sizeof *p->has_weight);
    for (uint64_t i = 0; i < p->rows->n; i++) {
        const pp_torch_action *a = &p->rows->actions[i];
        if (a->kind == MILL_OP_WEIGHT)
            p->has_weight[at(p, a->stage[0], a->mb[0])] = true;
    }
}

static pp_op op_of(const planner *p, const pp_torch_action *a) {
    bool part =
        a->kind == MILL_OP_BACKWARD && !a->whole && p->has_weight[at(p, a->stage[0], a->mb[0])];
    return (pp_op){
        .kind = part ? MILL_OP_INPUT : a->kind,
        .chunk = (uint8_t)(p->cell_of[a->stage[0]] % p->plan.chunks),
        .chunk2 = (uint8_t)(a->kind == MILL_OP_PAIR ? p->cell_of[a->stage[1]] % p->plan.chunks : 0),
    };
}

static void fill_orders(planner *p, uint32_t *mb, uint32_t *mb2) {
    const pp_torch_rows *rows = p->rows;
    pp_plan *plan = &p->plan;
    pp_op *ops = mill_scratch(p->run, rows->n * sizeof *ops);
    pp_loop *loops = mill_scratch(p->run, plan->ranks * sizeof *loops);
    uint32_t *first = mill_scratch(p->run, (plan->ranks + 1) * sizeof *first);
    for (uint64_t i = 0; i < rows->n; i++) {
        ops[i] = op_of(p, &rows->actions[i]);
        mb[i] = rows->actions[i].mb[0];
        mb2[i] = rows->actions[i].mb[1];
        plan->split |= ops[i].kind == MILL_OP_INPUT || ops[i].kind == MILL_OP_WEIGHT;
    }
    for (uint32_t r = 0; r < plan->ranks; r++) {
        uint64_t n = rows->first[r + 1] - rows->first[r];
        loops[r] = (pp_loop){(uint32_t)rows->first[r], (uint32_t)n, 1};
        first[r + 1] = r + 1;
    }
    plan->ops = ops;
    plan->loops = loops;
    plan->first = first;
    plan->n_ops = plan->total = rows->n;
}

/* Whether counting the operations gives the file's micro-batches. */
static bool in_turn(mill_run *run, const pp_plan *plan, const uint32_t *mb, const uint32_t *mb2) {
    for (uint32_t r = 0; r < plan->ranks; r++) {
        pp_cursor *c = pp_cursor_at(run, plan, r);
        uint32_t op = plan->loops[r].first;
        for (pp_item item; pp_next(c, &item); op++)
            if (item.mb != mb[op] || item.mb2 != mb2[op])
                return false;
    }
    return true;
}

static mill_status make_orders(planner *p) {
    uint32_t *mb = mill_scratch(p->run, p->rows->n * sizeof *mb);
    uint32_t *mb2 = mill_scratch(p->run, p->rows->n * sizeof *mb2);
    fill_orders(p, mb, mb2);
    if (!in_turn(p->run, &p->plan, mb, mb2)) {
        p->plan.mb = mb;
        p->plan.mb2 = mb2;
    }
    const char *fault;
    if (!pp_whole(p->run, &p->plan, &fault))
        return mill_fail(p->run, MILL_E_DATA, "%s: %s", p->path, fault);
    return MILL_OK;
}

/* ---------------------------------------------------------------- all of it */

static mill_status make_plan(planner *p) {
    count(p);
    mill_status status = find_ranks(p);
    if (!status)
        status = place(p);
    if (!status)
        status = check_forwards(p);
    if (status)
        return status;
    find_weights(p);
    return make_orders(p);
}

/* A copy of the path's last part. */
static const char *base_name(mill_run *run, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return memcpy(mill_scratch(run, strlen(name) + 1), name, strlen(name) + 1);
}

mill_status pp_torch_read(mill_run *run, const char *path, const pp_plan **ret_plan,
                          uint64_t *ret_left_out) {
    pp_torch_rows rows;
    mill_status status = pp_torch_rows_init(run, path, &rows);
    planner p = {.run = run, .path = path, .rows = &rows};
    if (!status)
        status = make_plan(&p);
    if (!status) {
        pp_plan *plan = mill_scratch(run, sizeof *plan);
        *plan = p.plan;
        plan->id = "torch-csv";
        plan->name = base_name(run, path);
        *ret_plan = plan;
        *ret_left_out = rows.left_out;
    }
    free(p.has_weight);
    free(p.cell_of);
    free(p.rank_of);
    pp_torch_rows_finish(&rows);
    return status;
}
