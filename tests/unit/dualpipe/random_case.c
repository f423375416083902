/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random pipelines. */
#include "random_case.h"

static int64_t up_to(GRand *rand, int64_t most) {
    return g_rand_int_range(rand, 1, (gint32)most + 1);
}

const int64_t *on_all_cells(mill_run *run, const pp_plan *plan, int64_t ns) {
    uint32_t n = plan->ranks * plan->chunks;
    int64_t *column = mill_scratch(run, n * sizeof *column);
    for (uint32_t i = 0; i < n; i++)
        column[i] = ns;
    return column;
}

static mill_chunk_cost random_cost(GRand *rand, int64_t longest) {
    mill_chunk_cost c = {.forward = up_to(rand, longest),
                         .input = up_to(rand, longest),
                         .weight = up_to(rand, longest)};
    c.backward = c.input + c.weight;
    int64_t longer = MAX(c.forward, c.backward), shorter = MIN(c.forward, c.backward);
    c.pair = longer + g_rand_int_range(rand, 0, (gint32)(shorter + longer / 4) + 1);
    return c;
}

random_case random_case_of(mill_run *run, GRand *rand, const pp_family *family, int64_t longest) {
    random_case c = {.sizes = {.ranks = (uint32_t)up_to(rand, 9),
                               .micro_batches = (uint32_t)up_to(rand, 24),
                               .chunks = (uint32_t)up_to(rand, 3),
                               .warm_up = (uint32_t)up_to(rand, 4),
                               .weight_lag = UINT32_MAX}};
    pp_sizes nearest;
    if (!family->takes(&c.sizes, &nearest)) {
        c.sizes = nearest;
        g_assert_true(family->takes(&c.sizes, &nearest));
    }
    c.plan = family->plan(run, &c.sizes);
    c.cost = random_cost(rand, longest);
    c.timing = (pp_timing){
        .forward = on_all_cells(run, c.plan, c.cost.forward),
        .backward = on_all_cells(run, c.plan, c.cost.backward),
        .input = on_all_cells(run, c.plan, c.cost.input),
        .weight = on_all_cells(run, c.plan, c.cost.weight),
        .pair = on_all_cells(run, c.plan, c.cost.pair),
    };
    return c;
}

void random_stages(mill_run *run, GRand *rand, random_case *c, int64_t longest) {
    uint32_t n = c->plan->ranks * c->plan->chunks;
    mill_chunk_cost *stages = mill_scratch(run, c->plan->stages * sizeof *stages);
    int64_t *column[5];
    for (int i = 0; i < 5; i++)
        column[i] = mill_scratch(run, n * sizeof *column[i]);
    for (uint32_t i = 0; i < c->plan->stages; i++)
        stages[i] = random_cost(rand, longest);
    for (uint32_t cell = 0; cell < n; cell++) {
        const mill_chunk_cost *s = &stages[c->plan->stage[cell]];
        column[0][cell] = s->forward;
        column[1][cell] = s->backward;
        column[2][cell] = s->input;
        column[3][cell] = s->weight;
        column[4][cell] = s->pair;
    }
    c->timing.forward = column[0];
    c->timing.backward = column[1];
    c->timing.input = column[2];
    c->timing.weight = column[3];
    c->timing.pair = column[4];
}

void random_hardship(mill_run *run, GRand *rand, random_case *c) {
    pp_timing *t = &c->timing;
    if (g_rand_boolean(rand))
        t->latency = up_to(rand, 6);
    if (g_rand_int_range(rand, 0, 4) == 0)
        t->occupied = up_to(rand, 8);
    if (g_rand_int_range(rand, 0, 4) == 0) {
        t->pair_rule = PP_PAIR_OVERLAP;
        t->alpha = g_rand_int_range(rand, 0, 1000001);
    }
    if (g_rand_int_range(rand, 0, 4) == 0) {
        int64_t *slowness = mill_scratch(run, c->plan->ranks * sizeof *slowness);
        for (uint32_t rank = 0; rank < c->plan->ranks; rank++)
            slowness[rank] = g_rand_int_range(rand, 500000, 2000001);
        t->slowness = slowness;
    }
    if (g_rand_int_range(rand, 0, 4) == 0) {
        t->jitter = g_rand_int_range(rand, 1, 1000001);
        t->seed = g_rand_int(rand);
    }
}

pp_result recorded(mill_run *run, const pp_plan *plan, const pp_timing *timing) {
    pp_result result;
    g_assert_cmpint(pp_simulate(run, plan, timing, PP_RECORD, &result), ==, MILL_OK);
    return result;
}
