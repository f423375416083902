/* SPDX-License-Identifier: Apache-2.0 */
/* Orders with one chunk a rank: GPipe, 1F1B, eager 1F1B, and the handcrafted zero-bubble schedules
 * ZB-H1 and ZB-H2. */
#include "families_private.h"

/* `fill` forwards, then one forward and one backward in turn, then the backwards that are left. */
static void one_in_turn(pp_builder *b, uint32_t micro_batches, uint32_t fill) {
    pp_rank(b);
    pp_loop_begin(b, fill);
    pp_add(b, MILL_OP_FORWARD, 0);
    pp_loop_begin(b, micro_batches - fill);
    pp_add(b, MILL_OP_FORWARD, 0);
    pp_add(b, MILL_OP_BACKWARD, 0);
    pp_loop_begin(b, fill);
    pp_add(b, MILL_OP_BACKWARD, 0);
}

/* extra: forwards of the fill beyond those that 1F1B needs, at most as many as there are ranks
 * behind: these are as far from their gradients, and a last rank that begins with several forwards
 * keeps all others waiting. */
static const pp_plan *filled(mill_run *run, const pp_family *family, const pp_sizes *sizes,
                             uint32_t extra) {
    uint32_t m = sizes->micro_batches;
    pp_builder *b = pp_begin(run, family->id, family->name, PP_PLACE_LOOP, sizes->ranks, 1, m);
    for (uint32_t rank = 0; rank < sizes->ranks; rank++) {
        uint32_t behind = sizes->ranks - 1 - rank;
        one_in_turn(b, m, pp_min(m, behind + pp_min(behind, extra)));
    }
    return pp_end(b);
}

static const pp_plan *plan_gpipe(mill_run *run, const pp_sizes *sizes) {
    uint32_t m = sizes->micro_batches;
    pp_builder *b = pp_begin(run, pp_gpipe.id, pp_gpipe.name, PP_PLACE_LOOP, sizes->ranks, 1, m);
    for (uint32_t rank = 0; rank < sizes->ranks; rank++)
        one_in_turn(b, m, m);
    return pp_end(b);
}

static const pp_plan *plan_1f1b(mill_run *run, const pp_sizes *sizes) {
    return filled(run, &pp_1f1b, sizes, 0);
}

static const pp_plan *plan_eager_1f1b(mill_run *run, const pp_sizes *sizes) {
    return filled(run, &pp_eager_1f1b, sizes, sizes->warm_up);
}

/* 1F1B with B split: each Bi is followed by the W of `lag` micro-batches before. */
static void split_in_turn(pp_builder *b, uint32_t micro_batches, uint32_t fill, uint32_t lag) {
    uint32_t with_forward = micro_batches - fill;
    uint32_t both = pp_max(with_forward, lag);
    pp_rank(b);
    pp_loop_begin(b, fill);
    pp_add(b, MILL_OP_FORWARD, 0);
    pp_loop_begin(b, pp_min(with_forward, lag));
    pp_add(b, MILL_OP_FORWARD, 0);
    pp_add(b, MILL_OP_INPUT, 0);
    pp_loop_begin(b, both - lag);
    pp_add(b, MILL_OP_FORWARD, 0);
    pp_add(b, MILL_OP_INPUT, 0);
    pp_add(b, MILL_OP_WEIGHT, 0);
    pp_loop_begin(b, both - with_forward);
    pp_add(b, MILL_OP_INPUT, 0);
    pp_loop_begin(b, micro_batches - both);
    pp_add(b, MILL_OP_INPUT, 0);
    pp_add(b, MILL_OP_WEIGHT, 0);
    pp_loop_begin(b, lag);
    pp_add(b, MILL_OP_WEIGHT, 0);
}

/* depth 1: W's lag by the rank's number, so that every rank holds PP micro-batches at most until
 * their W. depth 2: twice as many forwards before the first Bi, and twice the lag. */
static const pp_plan *split(mill_run *run, const pp_family *family, const pp_sizes *sizes,
                            uint32_t depth, uint32_t lag) {
    uint32_t m = sizes->micro_batches;
    pp_builder *b = pp_begin(run, family->id, family->name, PP_PLACE_LOOP, sizes->ranks, 1, m);
    for (uint32_t rank = 0; rank < sizes->ranks; rank++)
        split_in_turn(b, m, pp_min(m, depth * (sizes->ranks - 1 - rank)),
                      pp_min(m, lag == UINT32_MAX ? depth * rank : lag));
    return pp_end(b);
}

static const pp_plan *plan_zb_h1(mill_run *run, const pp_sizes *sizes) {
    return split(run, &pp_zb_h1, sizes, 1, sizes->weight_lag);
}

static const pp_plan *plan_zb_h2(mill_run *run, const pp_sizes *sizes) {
    return split(run, &pp_zb_h2, sizes, 2, UINT32_MAX);
}

#define ANY_SIZES "any PP and m"

const pp_family pp_gpipe = {
    .id = "gpipe",
    .name = "GPipe",
    .source = "Huang et al. 2019, arXiv:1811.06965, section 2",
    .rule = ANY_SIZES,
    .chunks = 1,
    .copies = 1,
    .takes = pp_takes_any,
    .plan = plan_gpipe,
};

const pp_family pp_1f1b = {
    .id = "1f1b",
    .name = "1F1B",
    .source = "Narayanan et al. 2021, arXiv:2104.04473, section 2.2 (PipeDream-Flush)",
    .rule = ANY_SIZES,
    .chunks = 1,
    .copies = 1,
    .takes = pp_takes_any,
    .plan = plan_1f1b,
};

const pp_family pp_eager_1f1b = {
    .id = "eager-1f1b",
    .name = "Eager 1F1B",
    .source = "Zhuang et al. 2022, arXiv:2211.05322",
    .rule = ANY_SIZES,
    .chunks = 1,
    .copies = 1,
    .takes = pp_takes_any,
    .plan = plan_eager_1f1b,
};

const pp_family pp_zb_h1 = {
    .id = "zb-h1",
    .name = "ZB-H1",
    .source = "Qi et al. 2023, arXiv:2401.10241, section 2 (handcrafted)",
    .rule = ANY_SIZES,
    .split = true,
    .chunks = 1,
    .copies = 1,
    .takes = pp_takes_any,
    .plan = plan_zb_h1,
};

const pp_family pp_zb_h2 = {
    .id = "zb-h2",
    .name = "ZB-H2",
    .source = "Qi et al. 2023, arXiv:2401.10241, section 2 (handcrafted)",
    .rule = ANY_SIZES,
    .split = true,
    .chunks = 1,
    .copies = 1,
    .takes = pp_takes_any,
    .plan = plan_zb_h2,
};
