/* SPDX-License-Identifier: Apache-2.0 */
/* The search: families first, then orders of our own on the same placements, then moves from the
 * best of all these; and every order there is where a pipeline is tiny. */
#include "search_bound.h"
#include "search_candidates.h"
#include "search_climb.h"
#include "search_exact.h"
#include "search_list.h"

#include <stdio.h>
#include <stdlib.h>

#define STARTS 8u           /* orders that moves begin at */
#define OWN_MOST (1u << 20) /* operations of a step: with more, families only */
#define EXACT_NODES 400000u /* about a second */
#define RULES_A_JOB 16u
#define ROUNDS 3u /* of moves */

/* A placement, with all that may be run on it. */
typedef struct ground {
    pp_place place;
    uint32_t chunks;
    bool pairs;
    bool possible; /* its durations are known, and some order fits */
    bool small;    /* and it is not too large for orders of our own */
    pp_shop shop;
    pp_bound bound;
    size_t all_rules, n_rules; /* of list scheduling: that there are, that are tried */
    pp_order shortest;         /* if its makespan is known: by branch and bound */
    bool proven;               /* no order here is shorter than the best of all that are known */
} ground;

/* An order by its maker, who can make it once more. */
typedef struct start {
    const pp_candidate *candidate; /* or NULL: by rule */
    ground *ground;
    pp_rule rule;
    int64_t makespan;
    size_t number; /* of the starts: keeps their order where they are as short */
    pp_order order;
    pp_climb climb;
} start;

typedef struct search {
    mill_run *run;
    const pp_goal *goal;
    pp_candidates candidates;
    ground *grounds;
    size_t n_grounds;
    start *lists; /* what list scheduling makes, and families that fit: without their orders */
    size_t n_lists;
    start starts[STARTS]; /* the best of these, with their orders */
    size_t n_starts;
    int64_t tried; /* of candidates and lists */
    pp_spent spent;
    kit_arena memory;
    pp_found found;
} search;

/* ---------------------------------------------------------------- placements */

static pp_place place_of(const pp_plan *plan) {
    if (plan->bidirectional)
        return PP_PLACE_BOTH;
    bool line = plan->chunks == 1 ||
                plan->stage[plan->chunks * (plan->ranks - 1) + 1] == 2 * plan->ranks - 1;
    return line ? PP_PLACE_LOOP : PP_PLACE_WAVE;
}

static ground *ground_of(search *s, const pp_plan *plan) {
    pp_place place = place_of(plan);
    size_t i = 0;
    while (i < s->n_grounds &&
           (s->grounds[i].place != place || s->grounds[i].chunks != plan->chunks))
        i++;
    if (i == s->n_grounds)
        s->grounds[s->n_grounds++] = (ground){.place = place, .chunks = plan->chunks};
    return &s->grounds[i];
}

static void add_grounds(search *s, const pp_candidate *candidates, size_t n) {
    for (size_t i = 0; i < n; i++)
        ground_of(s, candidates[i].plan)->pairs |= candidates[i].family->pairs;
}

/* Whether the micro-batches can be run on this placement at all. */
static bool is_possible(search *s, ground *g) {
    bool both = g->place == PP_PLACE_BOTH;
    if ((both && s->goal->sizes.micro_batches % 2) ||
        !pp_shop_init(&g->shop, s->run, s->goal, g->place, g->chunks, g->pairs))
        return false;
    g->bound = pp_shop_bound(s->run, &g->shop);
    /* A rank holds a micro-batch in all of its chunks at once, but for two directions. */
    return g->bound.ns != MILL_UNKNOWN && g->shop.most >= (both ? 1 : g->shop.chunks);
}

static void find_grounds(search *s) {
    const pp_candidates *all = &s->candidates;
    s->grounds = mill_scratch(s->run, (all->n + all->n_others) * sizeof *s->grounds);
    add_grounds(s, all->v, all->n);
    add_grounds(s, all->others, all->n_others);
    for (ground *g = s->grounds; g < s->grounds + s->n_grounds; g++) {
        g->shortest.makespan = MILL_UNKNOWN;
        g->possible = !mill_cancelled(s->run) && is_possible(s, g);
        g->small = g->possible && (uint64_t)g->shop.ranks * g->shop.stride <= OWN_MOST;
    }
}

/* ---------------------------------------------------------------- list scheduling */

static size_t count_rules(const pp_shop *shop) {
    pp_rule rule;
    size_t n = 0;
    while (pp_rule_at(shop, n, &rule))
        n++;
    return n;
}

/* Shares the effort out to the placements. Their rules that are tried are spread over all. */
static void deal_rules(search *s, int64_t effort) {
    size_t grounds = 0, room = s->candidates.n;
    for (ground *g = s->grounds; g < s->grounds + s->n_grounds; g++)
        grounds += g->small;
    for (ground *g = s->grounds; g < s->grounds + s->n_grounds; g++) {
        if (!g->small)
            continue;
        size_t share = (size_t)effort / grounds;
        g->all_rules = count_rules(&g->shop);
        g->n_rules = share < g->all_rules ? share : g->all_rules;
        room += g->n_rules;
    }
    s->lists = mill_scratch(s->run, room * sizeof *s->lists);
    for (ground *g = s->grounds; g < s->grounds + s->n_grounds; g++)
        for (size_t i = 0; i < g->n_rules; i++) {
            start *list = &s->lists[s->n_lists++];
            *list = (start){.ground = g, .makespan = MILL_UNKNOWN};
            pp_rule_at(&g->shop, i * g->all_rules / g->n_rules, &list->rule);
        }
}

static mill_status run_rules(mill_run *run, void *arg, size_t job) {
    search *s = arg;
    size_t first = job * RULES_A_JOB, last = first + RULES_A_JOB;
    for (size_t i = first; i < last && i < s->n_lists; i++) {
        start *list = &s->lists[i];
        kit_arena memory = {0};
        pp_front front;
        pp_order order;
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
        pp_front_init(&front, &memory, &list->ground->shop);
        pp_order_init(&order, &memory, &list->ground->shop);
        pp_list_schedule(&list->ground->shop, &list->rule, &front, &order);
        list->makespan = order.makespan;
        kit_arena_finish(&memory);
    }
    pp_spend(run, &s->spent, RULES_A_JOB);
    return MILL_OK;
}

static mill_status try_rules(search *s) {
    int64_t left = s->goal->effort - s->tried;
    deal_rules(s, left > 0 ? left / 4 : 0);
    s->tried += (int64_t)s->n_lists;
    size_t jobs = (s->n_lists + RULES_A_JOB - 1) / RULES_A_JOB;
    return s->run->host->parallel(s->run, jobs, run_rules, s);
}

/* ---------------------------------------------------------------- the best so far */

/* Families that may be improved: those that fit, on placements that are not too large. */
static void add_families(search *s) {
    for (size_t i = 0; i < s->candidates.n; i++) {
        const pp_candidate *c = &s->candidates.v[i];
        ground *g = ground_of(s, c->plan);
        if (c->makespan != MILL_UNKNOWN && g->small && (!c->family->pairs || g->shop.pairs))
            s->lists[s->n_lists++] = (start){.candidate = c, .ground = g, .makespan = c->makespan};
    }
}

static int compare_starts(const void *a, const void *b) {
    const start *x = *(const start *const *)a, *y = *(const start *const *)b;
    if (x->makespan != y->makespan)
        return x->makespan < y->makespan ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool has_like(const search *s, const start *list) {
    for (size_t i = 0; i < s->n_starts; i++)
        if (s->starts[i].ground == list->ground && s->starts[i].makespan == list->makespan)
            return true;
    return false;
}

/* The best of all, but of one placement one for each makespan. */
static void choose_starts(search *s) {
    const start **sorted = kit_alloc(s->n_lists, sizeof *sorted);
    size_t n = 0;
    for (size_t i = 0; i < s->n_lists; i++)
        if (s->lists[i].makespan != MILL_UNKNOWN)
            sorted[n++] = &s->lists[i];
    qsort(sorted, n, sizeof *sorted, compare_starts);
    for (size_t i = 0; i < n && s->n_starts < STARTS; i++)
        if (!has_like(s, sorted[i]))
            s->starts[s->n_starts++] = *sorted[i];
    free(sorted);
}

static void make_starts(search *s) {
    choose_starts(s);
    for (start *st = s->starts; st < s->starts + s->n_starts; st++) {
        const pp_shop *shop = &st->ground->shop;
        st->number = (size_t)(st - s->starts);
        kit_arena memory = {0};
        pp_front front;
        pp_front_init(&front, &memory, shop);
        pp_order_init(&st->order, &s->memory, shop);
        if (st->candidate) {
            pp_order_of(&st->order, s->run, shop, st->candidate->plan);
            st->order.makespan = pp_order_time(&st->order, &front, shop, NULL);
        } else {
            pp_list_schedule(shop, &st->rule, &front, &st->order);
        }
        kit_arena_finish(&memory);
    }
}

/* The shortest makespan that is known, as orders are timed here: INT64_MAX for none. */
static int64_t shortest(const search *s) {
    int64_t ns = INT64_MAX;
    for (size_t i = 0; i < s->candidates.n; i++)
        if (s->candidates.v[i].makespan != MILL_UNKNOWN && s->candidates.v[i].makespan < ns)
            ns = s->candidates.v[i].makespan;
    for (size_t i = 0; i < s->n_lists; i++)
        if (s->lists[i].makespan != MILL_UNKNOWN && s->lists[i].makespan < ns)
            ns = s->lists[i].makespan;
    for (const ground *g = s->grounds; g < s->grounds + s->n_grounds; g++)
        if (g->shortest.makespan != MILL_UNKNOWN && g->shortest.makespan < ns)
            ns = g->shortest.makespan;
    return ns;
}

/* Whether no order of any placement can be shorter than this. */
static bool none_shorter(const search *s, int64_t ns) {
    for (const ground *g = s->grounds; g < s->grounds + s->n_grounds; g++)
        if (g->possible && !g->proven && g->bound.ns < ns)
            return false;
    return ns != INT64_MAX;
}

/* ---------------------------------------------------------------- branch and bound, moves */

/* One placement after the other, each from the best that is known by then. */
static void try_all_orders(search *s) {
    for (ground *g = s->grounds; g < s->grounds + s->n_grounds; g++) {
        int64_t known = shortest(s);
        if (!g->small || g->bound.ns >= known || !pp_exact_fits(&g->shop))
            continue;
        pp_order_init(&g->shortest, &s->memory, &g->shop);
        g->shortest.makespan = known == INT64_MAX ? MILL_UNKNOWN : known;
        g->proven = pp_order_exact(&g->shortest, s->run, &g->shop, EXACT_NODES);
        if (g->shortest.makespan == known)
            g->shortest.makespan = MILL_UNKNOWN;
    }
}

static mill_status climb(mill_run *run, void *arg, size_t i) {
    start *st = &((search *)arg)->starts[i];
    pp_order_climb(&st->order, run, &st->ground->shop, &st->climb);
    return mill_cancelled(run) ? MILL_E_CANCELLED : MILL_OK;
}

static int compare_orders(const void *a, const void *b) {
    const start *x = a, *y = b;
    if (x->order.makespan != y->order.makespan)
        return x->order.makespan < y->order.makespan ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* Rounds of equal effort, each with the better half of the one before. */
static mill_status try_moves(search *s) {
    int64_t left = s->goal->effort - s->tried;
    if (s->n_starts == 0 || left <= 0 || none_shorter(s, shortest(s)))
        return MILL_OK;
    size_t n = s->n_starts;
    for (uint64_t round = 0; round < ROUNDS; round++, n = (n + 1) / 2) {
        for (size_t i = 0; i < n; i++) {
            start *st = &s->starts[i];
            st->climb.effort = left / (int64_t)(ROUNDS * n);
            st->climb.enough = st->ground->bound.ns;
            st->climb.seed = s->goal->seed + round * STARTS + st->number;
            st->climb.spent = &s->spent;
        }
        mill_status status = s->run->host->parallel(s->run, n, climb, s);
        if (status != MILL_OK)
            return status;
        qsort(s->starts, s->n_starts, sizeof *s->starts, compare_orders);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- what was found */

/* What a rank of the plan holds at most, in millionths of a device's share. */
static int64_t held(search *s, const pp_plan *plan) {
    return pp_most_live(s->run, plan, s->goal->until_weight) * 1000000 * plan->ranks / plan->stages;
}

/* Takes the plan if it is shorter than what was found before, or as short and holds less. */
static void take(search *s, const pp_plan *plan, int64_t makespan, const char *how) {
    pp_found *found = &s->found;
    if (makespan == MILL_UNKNOWN || (found->plan && makespan > found->makespan) ||
        (found->plan && makespan == found->makespan && held(s, plan) >= held(s, found->plan)))
        return;
    found->plan = plan;
    found->makespan = makespan;
    found->how = how;
}

static const char *start_text(mill_run *run, const start *st) {
    if (st->candidate)
        return pp_candidate_text(run, st->candidate);
    return pp_rule_text(run, &st->ground->shop, &st->rule);
}

static void take_order(search *s, const ground *g, const pp_order *order, const char *how) {
    if (order->makespan == MILL_UNKNOWN)
        return;
    const pp_plan *plan = pp_order_plan(order, s->run, &g->shop);
    take(s, plan, pp_makespan_of(plan, g->shop.timing), how);
}

static void take_best(search *s) {
    for (size_t i = 0; i < s->candidates.n; i++) {
        const pp_candidate *c = &s->candidates.v[i];
        take(s, c->plan, c->makespan, pp_candidate_text(s->run, c));
    }
    for (const ground *g = s->grounds; g < s->grounds + s->n_grounds; g++)
        take_order(s, g, &g->shortest, "branch and bound over all orders");
    for (size_t i = 0; i < s->n_starts; i++) {
        const start *st = &s->starts[i];
        size_t room = 512;
        char *how = mill_scratch(s->run, room);
        size_t n = (size_t)snprintf(how, room, "%s", start_text(s->run, st));
        if (st->climb.moves)
            snprintf(how + n, room - n, "; then %llu moves", (unsigned long long)st->climb.moves);
        take_order(s, st->ground, &st->order, how);
        s->tried += st->climb.tried;
    }
    for (const ground *g = s->grounds; g < s->grounds + s->n_grounds; g++)
        if (g->possible && (s->found.bound.ns == MILL_UNKNOWN || g->bound.ns < s->found.bound.ns))
            s->found.bound = g->bound;
    s->found.proven = s->found.plan && none_shorter(s, s->found.makespan);
    s->found.tried = s->tried;
}

static mill_status search_all(search *s) {
    pp_candidates_make(s->run, s->goal, &s->candidates);
    mill_status status = pp_candidates_run(s->run, s->goal, &s->candidates);
    if (status != MILL_OK)
        return status;
    s->tried =
        s->goal->effort < (int64_t)s->candidates.n ? s->goal->effort : (int64_t)s->candidates.n;
    pp_spend(s->run, &s->spent, (uint64_t)s->tried);
    find_grounds(s);
    if (mill_cancelled(s->run))
        return MILL_E_CANCELLED;
    if (!none_shorter(s, shortest(s))) {
        status = try_rules(s);
        if (status != MILL_OK)
            return status;
        add_families(s);
        make_starts(s);
        try_all_orders(s);
        status = try_moves(s);
        if (status != MILL_OK)
            return status;
    }
    take_best(s);
    return mill_cancelled(s->run) ? MILL_E_CANCELLED : MILL_OK;
}

mill_status pp_search(mill_run *run, const pp_goal *goal, pp_found *ret_found) {
    search s = {
        .run = run,
        .goal = goal,
        .spent = {.total = goal->effort > 0 ? (uint64_t)goal->effort : 0},
        .found = {.makespan = MILL_UNKNOWN, .bound = {.ns = MILL_UNKNOWN}},
    };
    mill_status status = search_all(&s);
    kit_arena_finish(&s.memory);
    if (status == MILL_OK)
        *ret_found = s.found;
    return status;
}
