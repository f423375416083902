/* SPDX-License-Identifier: Apache-2.0 */
/* The orders of DualPipe and DualPipeV: the eight steps of dualpipe.py and dualpipev.py
 * (https://github.com/deepseek-ai/DualPipe). */
#include "families_private.h"

/* A rank as both programs see it. */
typedef struct seat {
    uint32_t ranks, rank;   /* of one half: to the middle, where the two directions meet */
    uint32_t micro_batches; /* of a direction */
    uint32_t near, far;     /* chunks: of the direction that comes to this rank first, the other */
} seat;

/* Steps 1 to 3: the pipeline fills. */
static void fill(pp_builder *b, const seat *s) {
    uint32_t to_middle = s->ranks - s->rank - 1;
    pp_step(b, 1);
    pp_loop_begin(b, 2 * to_middle);
    pp_add(b, MILL_OP_FORWARD, s->near);

    pp_step(b, 2);
    pp_loop_begin(b, s->rank + 1);
    pp_add(b, MILL_OP_FORWARD, s->near);
    pp_add(b, MILL_OP_FORWARD, s->far);

    pp_step(b, 3);
    pp_loop_begin(b, to_middle);
    pp_add(b, MILL_OP_INPUT, s->far);
    pp_add_oldest_weight(b);
    pp_add(b, MILL_OP_FORWARD, s->far);
}

/* Steps 4 and 5: pairs. The first pair of the middle ranks is not overlapped, so that their
 * neighbours get its forward sooner. */
static void steady(pp_builder *b, const seat *s) {
    uint32_t to_middle = s->ranks - s->rank - 1;
    uint32_t n = s->micro_batches - 2 * s->ranks + s->rank + 1;
    bool apart = !to_middle;
    pp_step(b, 4);
    pp_loop_begin(b, apart);
    pp_add(b, MILL_OP_FORWARD, s->near);
    pp_add(b, MILL_OP_BACKWARD, s->far);
    pp_add_pair(b, s->far, s->near);
    pp_loop_begin(b, n - apart);
    pp_add_pair(b, s->near, s->far);
    pp_add_pair(b, s->far, s->near);

    pp_step(b, 5);
    pp_loop_begin(b, to_middle);
    pp_add(b, MILL_OP_BACKWARD, s->far);
    pp_add_pair(b, s->far, s->near);
}

/* Loops of W's, each of the oldest Bi without one, and then of a Bi if the step has any. Step 6
 * leaves rank + 1 of them, of far and near in turn, and step 7 those of near: so W's alternate for
 * the first rank + 1, `from` of which are done. */
static void weights(pp_builder *b, const seat *s, uint32_t from, uint32_t n, bool inputs) {
    uint32_t mixed = from > s->rank ? 0 : pp_min(n, s->rank + 1 - from);
    const struct {
        uint32_t repeat, turns;
    } loops[] = {{mixed % 2, 1}, {mixed / 2, 2}, {n - mixed, 1}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        pp_loop_begin(b, loops[i].repeat);
        for (uint32_t turn = 0; turn < loops[i].turns; turn++) {
            pp_add_oldest_weight(b);
            if (inputs)
                pp_add(b, MILL_OP_INPUT, s->near);
        }
    }
}

/* Steps 6 to 8: it drains. The last rank + 1 backwards of step 6 leave their W for later. */
static void drain(pp_builder *b, const seat *s) {
    uint32_t to_middle = s->ranks - s->rank - 1;
    uint32_t whole = (s->rank + 1) / 2; /* turns of step 6 before the first Bi of `far` */
    bool half = s->rank % 2 == 0;       /* the turn before that has B of `far` and Bi of `near` */
    pp_step(b, 6);
    pp_loop_begin(b, whole);
    pp_add(b, MILL_OP_BACKWARD, s->far);
    pp_add(b, MILL_OP_BACKWARD, s->near);
    pp_loop_begin(b, half);
    pp_add(b, MILL_OP_BACKWARD, s->far);
    pp_add(b, MILL_OP_INPUT, s->near);
    pp_loop_begin(b, s->rank + 1 - whole - half);
    pp_add(b, MILL_OP_INPUT, s->far);
    pp_add(b, MILL_OP_INPUT, s->near);

    pp_step(b, 7);
    weights(b, s, 0, to_middle, true);
    pp_step(b, 8);
    weights(b, s, to_middle, s->rank + 1, false);
}

static void order(pp_builder *b, seat s) {
    pp_rank(b);
    fill(b, &s);
    steady(b, &s);
    drain(b, &s);
}

static const pp_plan *plan_dualpipe(mill_run *run, const pp_sizes *sizes) {
    uint32_t ranks = sizes->ranks, half = ranks / 2;
    pp_builder *b = pp_begin(run, pp_dualpipe.id, pp_dualpipe.name, PP_PLACE_BOTH, ranks, 2,
                             sizes->micro_batches);
    for (uint32_t rank = 0; rank < ranks; rank++)
        order(b, (seat){
                     .ranks = half,
                     .rank = pp_min(rank, ranks - 1 - rank),
                     .micro_batches = sizes->micro_batches / 2,
                     .near = rank >= half,
                     .far = rank < half,
                 });
    return pp_end(b);
}

static bool takes_dualpipe(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest = *sizes;
    nearest.ranks = pp_max(nearest.ranks & ~1u, 2);
    nearest.micro_batches = pp_max(nearest.micro_batches & ~1u, 2 * nearest.ranks);
    return pp_answer(sizes, nearest, ret_nearest);
}

const pp_family pp_dualpipe = {
    .id = "dualpipe",
    .name = "DualPipe",
    .source = "DeepSeek-V3, arXiv:2412.19437, section 3.2.1; deepseek-ai/DualPipe, dualpipe.py",
    .rule = "PP and m are even, m is at least 2 PP",
    .split = true,
    .pairs = true,
    .chunks = 2,
    .copies = 2,
    .takes = takes_dualpipe,
    .plan = plan_dualpipe,
};

static const pp_plan *plan_dualpipev(mill_run *run, const pp_sizes *sizes) {
    pp_builder *b = pp_begin(run, pp_dualpipev.id, pp_dualpipev.name, PP_PLACE_WAVE, sizes->ranks,
                             2, sizes->micro_batches);
    for (uint32_t rank = 0; rank < sizes->ranks; rank++)
        order(b, (seat){
                     .ranks = sizes->ranks,
                     .rank = rank,
                     .micro_batches = sizes->micro_batches,
                     .far = 1,
                 });
    return pp_end(b);
}

static bool takes_dualpipev(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest = *sizes;
    nearest.ranks = pp_max(nearest.ranks, 1);
    nearest.micro_batches = pp_max(nearest.micro_batches, 2 * nearest.ranks);
    return pp_answer(sizes, nearest, ret_nearest);
}

const pp_family pp_dualpipev = {
    .id = "dualpipev",
    .name = "DualPipeV",
    .source = "deepseek-ai/DualPipe, dualpipev.py",
    .rule = "m is at least 2 PP",
    .split = true,
    .pairs = true,
    .chunks = 2,
    .copies = 1,
    .takes = takes_dualpipev,
    .plan = plan_dualpipev,
};
