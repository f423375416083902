/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks: a schedule repeats one pattern, shifted by a period for each micro-batch, and
 * what a rank holds follows from how long a micro-batch stays in the pattern (Qi, Wan, Huang and
 * Lin, "Pipeline Parallelism with Controllable Memory", arXiv:2405.15362). Here the pattern is made
 * for given durations, as modulo scheduling makes loops (Rau, MICRO 1994): each operation of the
 * way there and back takes the first time at which its rank is free in every period. W's take what
 * is left. */
#include "search_block.h"

#include <stdlib.h>

/* Operations of one rank that have their place, modulo the period. */
typedef struct taken {
    int64_t start, duration;
} taken;

typedef struct maker {
    const pp_shop *shop;
    const pp_rule *rule;
    pp_block *block;
    taken *taken; /* of each rank 2 * chunks */
    uint32_t *n;  /* of each rank */
} maker;

/* A pair's duration is split as F and B are to each other. */
static int64_t duration(const maker *m, uint32_t cell, bool forward) {
    const pp_shop *shop = m->shop;
    bool whole = m->rule->whole || m->rule->pairs;
    int64_t f = shop->forward[cell], b = whole ? shop->backward[cell] : shop->input[cell];
    int64_t ns = forward ? f : b;
    if (!m->rule->pairs || f + b == 0)
        return ns;
    int64_t pair = shop->pair[cell * shop->chunks + cell % shop->chunks];
    return (int64_t)((__int128)ns * (pair < f + b ? pair : f + b) / (f + b));
}

static int64_t work(const maker *m, uint32_t cell) {
    int64_t ns = duration(m, cell, true) + duration(m, cell, false);
    return m->rule->whole || m->rule->pairs ? ns : ns + m->shop->weight[cell];
}

static void set_period(maker *m) {
    int64_t longest = 1;
    for (uint32_t rank = 0; rank < m->shop->ranks; rank++) {
        int64_t ns = 0;
        for (uint32_t chunk = 0; chunk < m->shop->chunks; chunk++)
            ns += work(m, rank * m->shop->chunks + chunk);
        if (ns > longest)
            longest = ns;
    }
    m->block->period = longest + longest / 100 * m->rule->slack;
}

/* How far [start, start + length) must be put off to pass `t`: 0 if they do not meet in a period.
 */
static int64_t put_off(const taken *t, int64_t start, int64_t length, int64_t period) {
    int64_t after = (start - t->start) % period;
    if (after < 0)
        after += period;
    if (after < t->duration)
        return t->duration - after;
    return period - after < length ? period - after + t->duration : 0;
}

/* The first start from `ready` on. If there is none in a period, `ready`: what follows from a block
 * is an order, and times come from elsewhere. */
static int64_t place(maker *m, uint32_t rank, int64_t ready, int64_t length) {
    taken *list = m->taken + (size_t)rank * 2 * m->shop->chunks;
    int64_t start = ready, period = m->block->period;
    for (uint32_t i = 0, clear = 0; clear < m->n[rank]; i = (i + 1) % m->n[rank]) {
        int64_t off = put_off(&list[i], start, length, period);
        clear = off ? 0 : clear + 1;
        start += off;
        if (start - ready > period) {
            start = ready;
            break;
        }
    }
    list[m->n[rank]++] = (taken){start, length};
    return start;
}

static int64_t hop(const pp_shop *shop, uint32_t from, uint32_t to) {
    return from / shop->chunks == to / shop->chunks ? 0 : shop->latency + shop->occupied;
}

/* One way through the model, from its first cell on and back. */
static void place_way(maker *m, uint32_t first) {
    const pp_shop *shop = m->shop;
    const int32_t *next = shop->plan->next, *prev = shop->plan->prev;
    uint32_t at = first, last;
    int64_t ready = 0;
    do {
        last = at;
        m->block->forward[at] = place(m, at / shop->chunks, ready, duration(m, at, true));
        ready = m->block->forward[at] + duration(m, at, true);
        if (next[at] >= 0)
            ready +=
                hop(shop, at, (uint32_t)next[at]) + shop->forward[at] / 4 * m->rule->gap_forward;
        at = (uint32_t)next[at];
    } while (next[last] >= 0);
    for (at = last;; at = (uint32_t)prev[at]) {
        m->block->backward[at] = place(m, at / shop->chunks, ready, duration(m, at, false));
        ready = m->block->backward[at] + duration(m, at, false);
        if (prev[at] < 0)
            return;
        ready += hop(shop, at, (uint32_t)prev[at]) + shop->forward[at] / 4 * m->rule->gap_backward;
    }
}

void pp_block_init(pp_block *block, const pp_shop *shop, const pp_rule *rule) {
    maker m = {
        .shop = shop,
        .rule = rule,
        .block = block,
        .taken = kit_alloc((size_t)2 * shop->cells, sizeof *m.taken),
        .n = kit_alloc(shop->ranks, sizeof *m.n),
    };
    block->forward = kit_alloc((size_t)2 * shop->cells, sizeof *block->forward);
    block->backward = block->forward + shop->cells;
    set_period(&m);
    for (uint32_t cell = 0; cell < shop->cells; cell++)
        if (shop->plan->prev[cell] < 0)
            place_way(&m, cell);
    free(m.taken);
    free(m.n);
}
