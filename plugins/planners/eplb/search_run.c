/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that compete: each is improved for a while, the better half goes on. */
#include "search_run.h"

#include "search_exact.h"
#include "search_pairs.h"

#define COST_OF_PAIR 2 /* beside a comparison of the climb */
#define SMALL 48       /* layers with fewer slots get as much work */
#define LEVEL 0.02     /* between targets of starts */
#define REST 16        /* the last part of the work, one in so many, is not worth an attempt */

void ep_run_init(ep_run *r, ep_search *s, const ep_means *means, int32_t *plan) {
    s->climb.work = 0;
    *r = (ep_run){
        .s = s,
        .means = means,
        .end = means->work * (s->task.slots > SMALL ? s->task.slots : SMALL),
        .plan = plan,
        .value = INFINITY,
        .limit = means->partitions * means->levels * means->rules + 2,
    };
    r->candidate = kit_alloc(r->limit, sizeof *r->candidate);
    for (uint32_t i = 0; i < r->limit; i++)
        r->candidate[i].plan = kit_alloc(s->task.slots, sizeof *r->candidate[i].plan);
}

void ep_run_finish(ep_run *r) {
    for (uint32_t i = 0; i < r->limit; i++)
        free(r->candidate[i].plan);
    free(r->candidate);
}

void ep_run_offer(ep_run *r) {
    double value = ep_state_value(&r->s->state, NULL);
    if (value < r->value) {
        r->value = value;
        ep_state_get(&r->s->state, r->plan);
    }
}

ep_candidate *ep_run_add(ep_run *r, const uint32_t *node, double floor) {
    ep_candidate *c = &r->candidate[r->n];
    c->order = r->n++;
    c->value = ep_state_value(&r->s->state, NULL);
    c->floor = floor;
    c->node = node;
    c->base = NULL;
    ep_state_get(&r->s->state, c->plan);
    ep_run_offer(r);
    return c;
}

static void aim(ep_search *s, double target, double value) {
    for (uint32_t d = 0; d < s->task.dims; d++)
        s->target[d] = s->climb.target[d] =
            s->task.objective == EP_STEP_MAX ? s->most[d] * target / value : target;
}

/* Whether the plan in hand is a candidate already. */
static bool known(const ep_run *r) {
    const ep_state *state = &r->s->state;
    for (uint32_t k = 0; k < r->n; k++) {
        uint32_t i = 0;
        while (i < state->task->slots && (uint32_t)r->candidate[k].plan[i] == state->expert[i])
            i++;
        if (i == state->task->slots)
            return true;
    }
    return false;
}

void ep_run_starts(ep_run *r, const uint32_t *node, double floor) {
    ep_search *s = r->s;
    int32_t *plan = kit_alloc(s->task.slots, sizeof *plan);
    for (uint32_t level = 0; level < r->means->levels; level++)
        for (uint32_t rule = 0; rule < r->means->rules; rule++) {
            aim(s, floor * (1 + LEVEL * level), floor);
            ep_starter_plan(&s->starter, s->target, rule, plan);
            ep_adopt(s, plan);
            if (!known(r))
                ep_run_add(r, node, floor);
        }
    free(plan);
}

/* ---------------------------------------------------------------- improvement */

static bool good_enough(const ep_run *r, double value, double floor) {
    return value <= floor * (1 + r->means->tolerance);
}

/* One attempt. false: the plan in hand is the candidate's again. */
static bool attempt(ep_run *r, ep_candidate *c, double target, uint64_t end, uint32_t patience) {
    ep_search *s = r->s;
    aim(s, target, c->value);
    bool reached = ep_climb_run(&s->climb, &s->state, end - s->climb.work, patience);
    if (reached) {
        c->value = ep_state_value(&s->state, s->most);
        ep_state_get(&s->state, c->plan);
        ep_run_offer(r);
    }
    if (!reached || c->base)
        ep_state_set(&s->state, c->base ? c->base : c->plan);
    return reached;
}

void ep_run_improve(ep_run *r, ep_candidate *c, double goal, uint64_t work) {
    ep_search *s = r->s;
    uint64_t end = s->climb.work + work;
    ep_state_set(&s->state, c->plan);
    c->value = ep_state_value(&s->state, s->most);
    if (c->base)
        ep_state_set(&s->state, c->base);
    /* Targets between the floor and the value, by bisection. */
    for (double low = c->floor; s->climb.work < end && c->value > goal &&
                                !good_enough(r, c->value, c->floor) &&
                                c->value - low > 1e-4 * c->value;) {
        double target = fmax(goal, low + (c->value - low) / 2);
        if (!attempt(r, c, target, end, r->means->patience))
            low = target;
    }
    /* Then from other numbers of replicas, with targets nearer and nearer to the value. */
    for (uint32_t k = 0;
         s->climb.work < end && c->value > goal && !good_enough(r, c->value, c->floor); k++) {
        double target = fmax(goal, c->value - (c->value - c->floor) / (double)(2 << k % 5));
        if (s->task.moves == INT64_MAX)
            ep_climb_kick(&s->climb, &s->state, 1 + k % 3);
        attempt(r, c, target, end, 2 * r->means->patience + k);
    }
}

/* With two slots a GPU and one dimension, the counts are all there is to find. */
static void improve_pairs(ep_run *r, ep_candidate *c, uint64_t work) {
    ep_search *s = r->s;
    uint32_t *count = kit_alloc(s->task.experts, sizeof *count);
    uint32_t domains = ep_task_domains(s);
    ep_counts(s->task.shape, c->plan, count);
    for (uint32_t i = 0; i < domains; i++) {
        ep_domain domain = ep_task_domain(s, i);
        uint64_t pairs = ep_pairs_search(&s->task, &domain, c->floor, work / domains / COST_OF_PAIR,
                                         &s->climb.random, count);
        s->climb.work += COST_OF_PAIR * pairs;
        ep_pairs_plan(&s->task, &domain, count, c->plan);
    }
    free(count);
    ep_state_set(&s->state, c->plan);
    double wanted = ep_state_value(&s->state, NULL);
    ep_adopt(s, c->plan);
    ep_run_offer(r);
    ep_state_get(&s->state, c->plan);
    c->value = ep_state_value(&s->state, NULL);
    if (c->value > wanted) /* without duplicates, other counts may be better */
        ep_run_improve(r, c, r->floor, work);
}

static int compare_candidates(const void *a, const void *b) {
    const ep_candidate *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void ep_run_compete(ep_run *r) {
    ep_search *s = r->s;
    bool pairs = s->task.moves == INT64_MAX;
    for (uint32_t i = 0; i < ep_task_domains(s) && pairs; i++) {
        ep_domain domain = ep_task_domain(s, i);
        pairs = ep_pairs_apply(&s->task, &domain);
    }
    qsort(r->candidate, r->n, sizeof *r->candidate, compare_candidates);
    uint32_t n = r->n < r->means->rivals ? r->n : r->means->rivals;
    n = pairs && n > 1 ? 1 : n; /* the counts of all come together soon */
    uint64_t rest = r->means->work * s->task.slots / REST;
    while (s->climb.work + rest < r->end) {
        uint64_t before = s->climb.work;
        qsort(r->candidate, n, sizeof *r->candidate, compare_candidates);
        while (n && r->candidate[n - 1].floor >= r->value)
            n--; /* it can not become the best */
        uint64_t share = (r->end - before) / (n > 1 ? 2 * n : 1);
        for (uint32_t i = 0; i < n && !good_enough(r, r->value, r->floor); i++) {
            ep_candidate *c = &r->candidate[i];
            ep_task_settle(s, c->node);
            if (pairs)
                improve_pairs(r, c, share / 2);
            else
                ep_run_improve(r, c, r->floor, share);
        }
        if (s->climb.work == before)
            return; /* all are as good as they can be */
        n = n > 1 ? (n + 1) / 2 : n;
    }
}

bool ep_run_exact(ep_run *r, uint64_t *work) {
    ep_search *s = r->s;
    int32_t *plan = kit_alloc(s->task.slots, sizeof *plan);
    memset(plan, 0xff, s->task.slots * sizeof *plan);
    bool better = true;
    for (uint32_t i = 0; i < ep_task_domains(s) && better; i++) {
        ep_domain domain = ep_task_domain(s, i);
        better = ep_exact(&s->task, &domain, r->value, work, plan) < r->value;
    }
    if (better) { /* in every part, and so as a whole */
        ep_state_set(&s->state, plan);
        ep_run_offer(r);
    }
    free(plan);
    return *work > 0;
}
