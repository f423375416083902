/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes count: beyond noise, long enough to matter, and not other ranks' doing. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>

#define SIGMA 1.4826 /* σ of a normal distribution over its MAD */

int64_t compare_floor(const compare_analysis *a) {
    double share = a->options->min_share * (double)a->side[COMPARE_BASE].times[COMPARE_T];
    return share > (double)a->options->min_time ? (int64_t)share : a->options->min_time;
}

/* Sets delta; true if it is long enough. */
static bool is_long(const compare_analysis *a, compare_change *c) {
    int64_t base = c->side[COMPARE_BASE].sum, now = c->side[COMPARE_NEW].sum;
    c->delta = base == MILL_UNKNOWN || now == MILL_UNKNOWN ? MILL_UNKNOWN : now - base;
    return c->delta != MILL_UNKNOWN && llabs(c->delta) > compare_floor(a);
}

/* Whether steps can be tested: both sides have enough. */
static bool has_steps(const compare_analysis *a) {
    return a->side[COMPARE_BASE].n_steps >= a->options->min_steps &&
           a->side[COMPARE_NEW].n_steps >= a->options->min_steps;
}

static void test_steps(const compare_analysis *a, compare_change *c, const int64_t *base,
                       const int64_t *now) {
    c->p = compare_rank_sum(base, a->side[COMPARE_BASE].n_steps, now, a->side[COMPARE_NEW].n_steps);
    if (c->p >= a->options->max_p)
        c->verdict = COMPARE_SAME;
}

static compare_verdict verdict(const compare_change *c, double limit, bool waits) {
    bool slower = c->change > limit && c->delta > 0, faster = c->change < -limit && c->delta < 0;
    if (waits)
        return slower || faster ? COMPARE_SKEW : COMPARE_SAME;
    return slower ? COMPARE_REGRESSION : faster ? COMPARE_IMPROVEMENT : COMPARE_SAME;
}

static void judge_gate(compare_analysis *a, compare_verdict verdict, int64_t delta) {
    double most = a->options->fail_over * (double)a->side[COMPARE_BASE].times[COMPARE_T];
    a->gate |= verdict == COMPARE_REGRESSION && (double)delta > most;
}

static void judge_key(compare_analysis *a, uint32_t number) {
    compare_key *key = &a->keys[number];
    compare_change *c = &key->change;
    const compare_sample *base = &c->side[COMPARE_BASE], *now = &c->side[COMPARE_NEW];
    double noise = a->options->noise * SIGMA * compare_ratio(base->mad, base->median);
    c->p = NAN;
    c->change = base->n > 0 && now->n > 0 ? compare_ratio(now->median, base->median) - 1 : NAN;
    if (is_long(a, c))
        c->verdict = verdict(c, fmax(a->options->min_change, noise), key->waits);
    if (c->verdict != COMPARE_SAME && has_steps(a)) {
        int64_t *x = compare_step_sums(a, COMPARE_BASE, number);
        int64_t *y = compare_step_sums(a, COMPARE_NEW, number);
        test_steps(a, c, x, y);
        free(x);
        free(y);
    }
    judge_gate(a, c->verdict, c->delta);
}

/* ---------------------------------------------------------------- stages */

/* Σ durations of each stage in each whole step, of one class. */
typedef struct stage_sums {
    int64_t *v;
    uint32_t n_steps;
} stage_sums;

static stage_sums add_stage(compare_analysis *a, compare_end end, kit_class cls) {
    const compare_side *s = &a->side[end];
    stage_sums sums = {mill_scratch(a->run, a->n_stages * s->n_steps * sizeof(int64_t)),
                       s->n_steps};
    for (size_t i = 0; i < s->n_items; i++) {
        const compare_item *item = &s->items[i];
        if (item->cls != cls || item->waits)
            continue;
        size_t stage = item->stage == MILL_NONE ? a->n_stages - 1 : item->stage;
        compare_stage *row = &a->stage_rows[stage];
        compare_sample *to = cls == KIT_COMP ? &row->comp.side[end] : &row->comm.side[end];
        to->n++;
        to->sum = kit_add(to->sum, item->dur);
        if (item->step != MILL_NONE) {
            int64_t *step = &sums.v[stage * s->n_steps + item->step];
            *step = kit_add(*step, item->dur);
        }
    }
    return sums;
}

static void judge_stages(compare_analysis *a, kit_class cls) {
    stage_sums base = add_stage(a, COMPARE_BASE, cls), now = add_stage(a, COMPARE_NEW, cls);
    for (size_t i = 0; i < a->n_stages; i++) {
        compare_stage *row = &a->stage_rows[i];
        compare_change *c = cls == KIT_COMP ? &row->comp : &row->comm;
        row->stage = i + 1 < a->n_stages ? (uint32_t)i : MILL_NONE;
        c->p = NAN;
        c->change = compare_ratio(c->side[COMPARE_NEW].sum, c->side[COMPARE_BASE].sum) - 1;
        if (is_long(a, c))
            c->verdict = verdict(c, a->options->stage_change, false);
        if (c->verdict != COMPARE_SAME && has_steps(a))
            test_steps(a, c, base.v + i * base.n_steps, now.v + i * now.n_steps);
        judge_gate(a, c->verdict, c->delta);
    }
}

/* ---------------------------------------------------------------- headline figures */

static void judge_time(compare_analysis *a, compare_time time, double share) {
    int64_t base = a->side[COMPARE_BASE].times[time], now = a->side[COMPARE_NEW].times[time];
    double limit = share * (double)a->side[COMPARE_BASE].times[COMPARE_T];
    if (base == MILL_UNKNOWN || now == MILL_UNKNOWN) {
        a->verdicts[time] = COMPARE_UNKNOWN;
        return;
    }
    int64_t delta = now - base;
    a->verdicts[time] = (double)delta > limit    ? COMPARE_REGRESSION
                        : (double)delta < -limit ? COMPARE_IMPROVEMENT
                                                 : COMPARE_SAME;
    if (time == COMPARE_NOTIFY && a->verdicts[time] != COMPARE_SAME)
        a->verdicts[time] = COMPARE_SKEW;
    judge_gate(a, a->verdicts[time], delta);
}

/* By which a share has grown, in the direction that is worse; NaN where either is unknown. */
static double worse(const compare_analysis *a, compare_time part, compare_time whole, int sign) {
    const int64_t *base = a->side[COMPARE_BASE].times, *now = a->side[COMPARE_NEW].times;
    return sign * (compare_ratio(now[part], now[whole]) - compare_ratio(base[part], base[whole]));
}

static compare_verdict judge_share(double grown, double limit) {
    if (isnan(grown))
        return COMPARE_UNKNOWN;
    return grown > limit ? COMPARE_REGRESSION : grown < -limit ? COMPARE_IMPROVEMENT : COMPARE_SAME;
}

static void judge_headlines(compare_analysis *a) {
    const compare_options *o = a->options;
    judge_time(a, COMPARE_T, o->window_share);
    judge_time(a, COMPARE_BUSY, o->window_share);
    judge_time(a, COMPARE_EXPOSED, o->exposed_share);
    judge_time(a, COMPARE_WAIT_COMM, o->exposed_share);
    judge_time(a, COMPARE_NOTIFY, o->exposed_share);
    double overlap = worse(a, COMPARE_OVERLAP, COMPARE_COMM, -1);
    a->overlap_verdict = judge_share(overlap, o->overlap_points / 100);
    a->cast_verdict =
        judge_share(worse(a, COMPARE_CAST, COMPARE_COMP_SUM, 1), o->cast_points / 100);
    a->gate |= a->overlap_verdict == COMPARE_REGRESSION && overlap > o->fail_overlap / 100;
}

void compare_judge(compare_analysis *a) {
    judge_headlines(a);
    a->n_stages = kit_intern_count(a->stages) + 1;
    a->stage_rows = mill_scratch(a->run, a->n_stages * sizeof *a->stage_rows);
    judge_stages(a, KIT_COMP);
    judge_stages(a, KIT_COMM);
    for (uint32_t i = 0; i < a->n_keys; i++)
        judge_key(a, i);
}
