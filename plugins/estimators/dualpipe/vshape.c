/* SPDX-License-Identifier: Apache-2.0 */
/* The V-shaped schedules that split B: ZB-V, V-Half and V-Min. A rank has two chunks, one on the
 * way down the ranks and one on the way back up, so that its memory does not depend on its place.
 */
#include "vshape.h"

#include "families_private.h"

#define ANY_SIZES "any PP and m"

/* ---------------------------------------------------------------- ZB-V */

enum { F0, F1, I0, I1, W0, W1, N_KINDS };

static const pp_op kinds[N_KINDS] = {
    [F0] = {.kind = MILL_OP_FORWARD, .chunk = 0}, [F1] = {.kind = MILL_OP_FORWARD, .chunk = 1},
    [I0] = {.kind = MILL_OP_INPUT, .chunk = 0},   [I1] = {.kind = MILL_OP_INPUT, .chunk = 1},
    [W0] = {.kind = MILL_OP_WEIGHT, .chunk = 0},  [W1] = {.kind = MILL_OP_WEIGHT, .chunk = 1},
};

typedef struct phase {
    uint32_t repeat, n;
    uint8_t kinds[N_KINDS];
} phase;

/* Runs a phase; a kind of operation that has run for all micro-batches leaves it. */
static void add_phase(pp_builder *b, const phase *p, uint32_t micro_batches, uint32_t *done) {
    for (uint32_t left = p->repeat, times; left > 0; left -= times) {
        times = left;
        for (uint32_t i = 0; i < p->n; i++)
            if (done[p->kinds[i]] < micro_batches)
                times = pp_min(times, micro_batches - done[p->kinds[i]]);
        pp_loop_begin(b, times);
        for (uint32_t i = 0; i < p->n; i++) {
            uint8_t kind = p->kinds[i];
            if (done[kind] == micro_batches)
                continue;
            pp_add(b, kinds[kind].kind, kinds[kind].chunk);
            done[kind] += times;
        }
    }
}

/* Each rank fills the V with forwards, then runs F, Bi and W of both chunks by turns, and keeps W's
 * back only where it would wait at the end. The pipeline is full from 2 PP - 1 micro-batches on;
 * fewer of them run in the order that so many would have. */
static const pp_plan *zb_v(mill_run *run, const pp_sizes *sizes) {
    uint32_t ranks = sizes->ranks, m = sizes->micro_batches;
    uint32_t full = pp_max(m, 2 * ranks - 1);
    pp_builder *b = pp_begin(run, pp_zb_v.id, pp_zb_v.name, PP_PLACE_WAVE, ranks, 2, m);
    for (uint32_t r = 0; r < ranks; r++) {
        const phase phases[] = {
            {2 * (ranks - r) - 1, 1, {F0}},
            {r, 2, {F1, F0}},
            {ranks - r, 3, {F1, I1, W1}},
            {full - ranks, 6, {F0, I0, W0, F1, I1, W1}},
            {r, 2, {I0, I1}},
            {ranks - r, 2, {I0, W0}},
            {r, 1, {W1}},
            {r, 1, {W0}},
        };
        uint32_t done[N_KINDS] = {0};
        pp_rank(b);
        for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
            add_phase(b, &phases[i], m, done);
    }
    return pp_end(b);
}

const pp_family pp_zb_v = {
    .id = "zb-v",
    .name = "ZB-V",
    .source = "Qi et al. 2024, Zero Bubble Pipeline Parallelism (arXiv:2401.10241), section 6",
    .rule = ANY_SIZES,
    .split = true,
    .chunks = 2,
    .copies = 1,
    .takes = pp_takes_any,
    .plan = zb_v,
};

/* ---------------------------------------------------------------- V-Half and V-Min */

/* Down at two slots a rank, up at one. With an even number of ranks the backward starts 3 slots
 * later, or two operations of a rank would meet. */
static void half_block(uint32_t ranks, uint32_t rank, uint32_t ret_slot[VS_LEGS]) {
    uint32_t later = ranks % 2 ? 0 : 3;
    ret_slot[0] = 2 * rank;
    ret_slot[1] = 3 * ranks - 2 - rank;
    ret_slot[2] = 3 * ranks - 1 + later + 2 * rank;
    ret_slot[3] = 6 * ranks - 2 + later - rank;
}

/* A slot a rank both ways; the backward starts 2 slots later where operations would meet. */
static void min_block(uint32_t ranks, uint32_t rank, uint32_t ret_slot[VS_LEGS]) {
    uint32_t later = ranks % 3 ? 0 : 2;
    ret_slot[0] = rank;
    ret_slot[1] = 2 * ranks - 1 - rank;
    ret_slot[2] = 2 * ranks + later + rank;
    ret_slot[3] = 4 * ranks - 1 + later - rank;
}

static const pp_plan *from_block(mill_run *run, const pp_sizes *sizes, const pp_family *family,
                                 vs_block block) {
    pp_builder *b = pp_begin(run, family->id, family->name, PP_PLACE_WAVE, sizes->ranks, 2,
                             sizes->micro_batches);
    vs_add_orders(b, block, sizes->ranks, sizes->micro_batches);
    return pp_end(b);
}

static const pp_plan *v_half(mill_run *run, const pp_sizes *sizes) {
    return from_block(run, sizes, &pp_v_half, half_block);
}

static const pp_plan *v_min(mill_run *run, const pp_sizes *sizes) {
    return from_block(run, sizes, &pp_v_min, min_block);
}

/* Putting them in order takes memory and time by PP squared. */
#define MOST_RANKS 4096
#define BLOCK_SIZES "PP is at most 4096"

static bool takes_blocks(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest;
    pp_takes_any(sizes, &nearest);
    nearest.ranks = pp_min(nearest.ranks, MOST_RANKS);
    return pp_answer(sizes, nearest, ret_nearest);
}

#define CONTROLLABLE                                                                               \
    "Qi et al. 2024, Pipeline Parallelism with Controllable Memory (arXiv:2405.15362); order as "  \
    "by sail-sg/zero-bubble-pipeline-parallelism, zbv_greedy.py, for F = Bi = W"

const pp_family pp_v_half = {
    .id = "v-half",
    .name = "V-Half",
    .source = CONTROLLABLE,
    .rule = BLOCK_SIZES,
    .split = true,
    .chunks = 2,
    .copies = 1,
    .takes = takes_blocks,
    .plan = v_half,
};

const pp_family pp_v_min = {
    .id = "v-min",
    .name = "V-Min",
    .source = CONTROLLABLE,
    .rule = BLOCK_SIZES,
    .split = true,
    .chunks = 2,
    .copies = 1,
    .takes = takes_blocks,
    .plan = v_min,
};
