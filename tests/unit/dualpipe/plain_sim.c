/* SPDX-License-Identifier: Apache-2.0 */
/* The plain simulation of pipelines: maps and sweeps. */
#include "plain_sim.h"

#include <glib.h>

/* One transfer, or what stands for it within a rank. -1: not yet. */
typedef struct message {
    int64_t sent, wanted; /* when each side posted it */
    int64_t arrived;
} message;

typedef struct plain {
    const pp_plan *plan;
    const pp_timing *timing;
    pp_result result;
    GHashTable *messages; /* way:cell:micro-batch, of the receiving cell → message */
    GHashTable *links;    /* from>to → when it is free */
    uint64_t *next;       /* of each rank: index of its next operation */
    int64_t *free;        /* when the one before it ended */
    uint64_t longer;      /* operation that takes `more` ns longer */
    int64_t more;
} plain;

static message *message_of(plain *p, char way, int32_t cell, uint32_t mb) {
    char *key = g_strdup_printf("%c:%d:%u", way, cell, mb);
    message *m = g_hash_table_lookup(p->messages, key);
    if (m) {
        g_free(key);
        return m;
    }
    m = g_new(message, 1);
    *m = (message){-1, -1, -1};
    g_hash_table_insert(p->messages, key, m);
    return m;
}

static int64_t times_millionths(int64_t ns, int64_t factor) {
    return (ns * factor + 500000) / 1000000;
}

static int64_t duration_of(const plain *p, uint32_t rank, pp_op op) {
    const pp_timing *t = p->timing;
    uint32_t cell = rank * p->plan->chunks + op.chunk, cell2 = rank * p->plan->chunks + op.chunk2;
    int64_t ns = 0;
    if (op.kind == MILL_OP_FORWARD)
        ns = t->forward[cell];
    if (op.kind == MILL_OP_BACKWARD)
        ns = t->backward[cell];
    if (op.kind == MILL_OP_INPUT)
        ns = t->input[cell];
    if (op.kind == MILL_OP_WEIGHT)
        ns = t->weight[cell];
    if (op.kind == MILL_OP_PAIR && t->pair_rule == PP_PAIR_OWN)
        ns = (t->pair[cell] + t->pair[cell2]) / 2;
    if (op.kind == MILL_OP_PAIR && t->pair_rule == PP_PAIR_OVERLAP)
        ns = MAX(t->forward[cell], t->backward[cell2]) +
             times_millionths(MIN(t->forward[cell], t->backward[cell2]), t->alpha);
    return t->slowness ? times_millionths(ns, t->slowness[rank]) : ns;
}

/* ---------------------------------------------------------------- what an operation exchanges */

typedef struct exchange {
    message *m;
    uint32_t other; /* rank */
} exchange;

/* What it receives, or sends. Returns how many there are. */
static int exchanges(plain *p, uint32_t rank, const pp_item *item, bool sends, exchange out[2]) {
    const pp_plan *plan = p->plan;
    bool pair = item->op.kind == MILL_OP_PAIR;
    int n = 0;
    if (item->op.kind == MILL_OP_FORWARD || pair) {
        int32_t cell = (int32_t)(rank * plan->chunks + item->op.chunk);
        int32_t other = sends ? plan->next[cell] : plan->prev[cell];
        if (other >= 0)
            out[n++] = (exchange){message_of(p, 'a', sends ? other : cell, item->mb),
                                  (uint32_t)other / plan->chunks};
    }
    if (item->op.kind != MILL_OP_FORWARD && item->op.kind != MILL_OP_WEIGHT) {
        int32_t cell = (int32_t)(rank * plan->chunks + (pair ? item->op.chunk2 : item->op.chunk));
        int32_t other = sends ? plan->prev[cell] : plan->next[cell];
        if (other >= 0)
            out[n++] =
                (exchange){message_of(p, 'g', sends ? other : cell, pair ? item->mb2 : item->mb),
                           (uint32_t)other / plan->chunks};
    }
    return n;
}

static int64_t arrival(plain *p, uint32_t from, uint32_t to, int64_t time) {
    if (from == to)
        return time;
    if (p->timing->occupied > 0) {
        char *key = g_strdup_printf("%u>%u", from, to);
        const int64_t *free = g_hash_table_lookup(p->links, key);
        int64_t *end = g_new(int64_t, 1);
        *end = MAX(time, free ? *free : 0) + p->timing->occupied;
        time = *end;
        g_hash_table_insert(p->links, key, end);
    }
    return time + p->timing->latency;
}

/* ---------------------------------------------------------------- the two modes */

static void post(plain *p, uint32_t rank, const pp_item *item, bool sends) {
    exchange ex[2];
    int n = exchanges(p, rank, item, sends, ex);
    for (int i = 0; i < n; i++) {
        message *m = ex[i].m;
        if (sends)
            m->sent = p->free[rank];
        else
            m->wanted = p->free[rank];
        if (ex[i].other == rank)
            m->arrived = m->sent;
        else if (p->timing->comm == PP_COMM_DEP)
            m->arrived = arrival(p, rank, ex[i].other, m->sent);
        else if (m->sent >= 0 && m->wanted >= 0)
            m->arrived = MAX(m->sent, m->wanted) + p->timing->latency;
    }
}

/* When all of these have arrived; -1: some have not. */
static int64_t all_arrived(plain *p, uint32_t rank, const pp_item *item, bool sends) {
    exchange ex[2];
    int n = exchanges(p, rank, item, sends, ex);
    int64_t time = 0;
    for (int i = 0; i < n; i++) {
        if (ex[i].m->arrived < 0)
            return -1;
        time = MAX(time, ex[i].m->arrived);
    }
    return time;
}

/* One operation of a rank, if it can run. */
static bool run_one(plain *p, uint32_t rank) {
    pp_result *r = &p->result;
    uint64_t i = p->next[rank];
    if (i == r->first[rank + 1])
        return false;
    bool blocking = p->timing->comm == PP_COMM_BLOCKING;
    if (blocking)
        post(p, rank, &r->items[i], false);
    int64_t ready = all_arrived(p, rank, &r->items[i], false);
    int64_t sent = 0;
    if (blocking && i > r->first[rank])
        sent = all_arrived(p, rank, &r->items[i - 1], true);
    if (ready < 0 || sent < 0)
        return false;
    int64_t duration = duration_of(p, rank, r->items[i].op) + (i == p->longer ? p->more : 0);
    r->start[i] = MAX(p->free[rank], MAX(ready, sent));
    r->end[i] = p->free[rank] = r->start[i] + duration;
    r->ranks[rank].busy += duration;
    r->makespan = MAX(r->makespan, r->end[i]);
    p->next[rank]++;
    post(p, rank, &r->items[i], true);
    return true;
}

static bool run_all(plain *p) {
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t rank = 0; rank < p->plan->ranks; rank++)
            while (run_one(p, rank))
                moved = true;
    }
    for (uint32_t rank = 0; rank < p->plan->ranks; rank++)
        if (p->next[rank] < p->result.first[rank + 1])
            return false;
    return true;
}

/* ---------------------------------------------------------------- before and after */

static void read_items(plain *p, mill_run *run) {
    uint64_t n = 0;
    for (uint32_t rank = 0; rank < p->plan->ranks; rank++) {
        p->result.first[rank] = p->next[rank] = n;
        pp_cursor *cursor = pp_cursor_at(run, p->plan, rank);
        while (pp_next(cursor, &p->result.items[n]))
            n++;
    }
    p->result.first[p->plan->ranks] = n;
}

static void count_live(pp_result *r, uint32_t rank) {
    int64_t held = 0, held_weight = 0;
    for (uint64_t i = r->first[rank]; i < r->first[rank + 1]; i++) {
        mill_op_kind kind = r->items[i].op.kind;
        if (kind == MILL_OP_FORWARD || kind == MILL_OP_PAIR) {
            held++;
            held_weight++;
            r->ranks[rank].live = MAX(r->ranks[rank].live, held);
            r->ranks[rank].live_weight = MAX(r->ranks[rank].live_weight, held_weight);
        }
        held -= kind == MILL_OP_BACKWARD || kind == MILL_OP_INPUT || kind == MILL_OP_PAIR;
        held_weight -= kind == MILL_OP_BACKWARD || kind == MILL_OP_WEIGHT || kind == MILL_OP_PAIR;
    }
}

bool plain_simulate_longer(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                           uint64_t longer, int64_t more, pp_result *ret_result) {
    uint32_t ranks = plan->ranks;
    plain p = {
        .plan = plan,
        .timing = timing,
        .result =
            {
                .ranks = mill_scratch(run, ranks * sizeof(pp_rank_times)),
                .first = mill_scratch(run, (ranks + 1) * sizeof(uint64_t)),
                .items = mill_scratch(run, plan->total * sizeof(pp_item)),
                .start = mill_scratch(run, plan->total * sizeof(int64_t)),
                .end = mill_scratch(run, plan->total * sizeof(int64_t)),
            },
        .messages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .next = mill_scratch(run, ranks * sizeof(uint64_t)),
        .free = mill_scratch(run, ranks * sizeof(int64_t)),
        .longer = longer,
        .more = more,
    };
    read_items(&p, run);
    bool ended = run_all(&p);
    for (uint32_t rank = 0; ended && rank < ranks; rank++) {
        const pp_result *r = &p.result;
        count_live(&p.result, rank);
        if (r->first[rank] < r->first[rank + 1]) {
            r->ranks[rank].start = r->start[r->first[rank]];
            r->ranks[rank].end = r->end[r->first[rank + 1] - 1];
        }
    }
    g_hash_table_destroy(p.messages);
    g_hash_table_destroy(p.links);
    *ret_result = p.result;
    return ended;
}

bool plain_simulate(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                    pp_result *ret_result) {
    return plain_simulate_longer(run, plan, timing, UINT64_MAX, 0, ret_result);
}
