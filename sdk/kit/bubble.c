/* SPDX-License-Identifier: Apache-2.0 */
/* Published formulas of pipeline bubbles. */
#include <tracemill/kit/bubble.h>

const kit_closed_form kit_closed_forms[KIT_SCHEDULES] = {
    [KIT_SCHEDULE_1F1B] = {"1f1b", "1F1B", "(PP - 1)(F + B)",
                           "Narayanan et al. 2021, arXiv:2104.04473, section 2.2"},
    [KIT_SCHEDULE_ZB1P] = {"zb1p", "ZB1P", "(PP - 1)(F + B - 2W)",
                           "DeepSeek-V3, arXiv:2412.19437, table 2; schedule: Qi et al. 2023, "
                           "arXiv:2401.10241"},
    [KIT_SCHEDULE_DUALPIPE] = {"dualpipe", "DualPipe", "(PP/2 - 1)(F&B + B - 3W)",
                               "DeepSeek-V3, arXiv:2412.19437, table 2"},
};

/* A sum of durations with small factors; unknown once a part of it is, or it does not fit. */
typedef struct total {
    int64_t value;
    bool known;
} total;

static void add(total *t, int64_t factor, int64_t duration) {
    int64_t product;
    t->known = t->known && duration != MILL_UNKNOWN &&
               !__builtin_mul_overflow(factor, duration, &product) &&
               !__builtin_add_overflow(t->value, product, &t->value);
}

static int64_t times(int64_t factor, total t) {
    total product = {0, t.known};
    add(&product, factor, t.value);
    return product.known ? product.value : MILL_UNKNOWN;
}

int64_t kit_bubble(kit_schedule schedule, const mill_chunk_cost *cost, int64_t stages) {
    bool pairs = schedule == KIT_SCHEDULE_DUALPIPE;
    total each = {0, stages >= 1 && (!pairs || stages % 2 == 0)};
    add(&each, 1, pairs ? cost->pair : cost->forward);
    add(&each, 1, cost->backward);
    if (schedule != KIT_SCHEDULE_1F1B)
        add(&each, pairs ? -3 : -2, cost->weight);
    return times(pairs ? stages / 2 - 1 : stages - 1, each);
}

int64_t kit_bubble_work(kit_schedule schedule, const mill_chunk_cost *cost, int64_t micro_batches) {
    total each = {0, true};
    if (schedule == KIT_SCHEDULE_DUALPIPE) {
        add(&each, 1, cost->pair);
    } else {
        add(&each, 1, cost->forward);
        add(&each, 1, cost->backward);
    }
    return times(micro_batches, each);
}

/* DualPipe's conditions are those that dualpipe.py asserts (deepseek-ai/DualPipe). */
int64_t kit_schedulable(kit_schedule schedule, int64_t stages, int64_t micro_batches) {
    if (schedule != KIT_SCHEDULE_DUALPIPE)
        return micro_batches < 1 ? 1 : micro_batches;
    if (stages < 2 || stages % 2 != 0 || stages > INT64_MAX / 4)
        return 0;
    if (micro_batches < 2 * stages)
        return 2 * stages;
    return micro_batches - micro_batches % 2;
}
