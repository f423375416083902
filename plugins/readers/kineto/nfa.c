/* SPDX-License-Identifier: Apache-2.0 */
/* Builds automata and follows texts through them. */
#include "nfa.h"

#include <string.h>

/* What an anchor takes: a text is read as if these stood around it. */
#define BEGIN '\1'
#define END '\2'

nfa_bytes nfa_bytes_others(nfa_bytes set) {
    nfa_bytes others = {0};
    for (char c = ' '; c <= '~'; c++)
        nfa_bytes_add(&others, c);
    others.bits[0] &= ~set.bits[0];
    others.bits[1] &= ~set.bits[1];
    return others;
}

nfa_part nfa_take(nfa_builder *b, nfa_bytes takes) {
    if (b->n >= NFA_MAX) {
        b->n = NFA_MAX + 1;
        return NFA_NOTHING;
    }
    uint64_t position = UINT64_C(1) << b->n;
    b->v[b->n++] = (nfa_position){.takes = takes};
    return (nfa_part){.first = position, .last = position};
}

static nfa_part anchor(nfa_builder *b, char c) {
    nfa_bytes takes = {0};
    nfa_bytes_add(&takes, c);
    nfa_part part = nfa_take(b, takes);
    b->anchors |= part.first;
    return part;
}

nfa_part nfa_begin(nfa_builder *b) {
    return anchor(b, BEGIN);
}

nfa_part nfa_end(nfa_builder *b) {
    return anchor(b, END);
}

nfa_part nfa_either(nfa_part a, nfa_part b) {
    return (nfa_part){a.first | b.first, a.last | b.last, a.empty || b.empty};
}

static void follow(nfa_builder *b, uint64_t after, uint64_t next) {
    for (; after; after &= after - 1)
        b->v[__builtin_ctzll(after)].follow |= next;
}

void nfa_append(nfa_builder *b, nfa_part *to, nfa_part next) {
    follow(b, to->last, next.first);
    if (to->empty)
        to->first |= next.first;
    to->last = next.last | (next.empty ? to->last : 0);
    to->empty = to->empty && next.empty;
}

void nfa_repeat(nfa_builder *b, nfa_part *part, char sign) {
    if (sign == '*' || sign == '+')
        follow(b, part->last, part->first);
    if (sign == '*' || sign == '?')
        part->empty = true;
}

nfa *nfa_build(const nfa_builder *b, nfa_part all, kit_arena *memory) {
    if (b->n > NFA_MAX)
        return NULL;
    for (uint64_t rest = b->anchors; rest; rest &= rest - 1)
        if (b->v[__builtin_ctzll(rest)].follow & b->anchors)
            return NULL;
    nfa *a = kit_arena_alloc(memory, sizeof *a + b->n * sizeof a->v[0]);
    a->all = all;
    memcpy(a->v, b->v, b->n * sizeof a->v[0]);
    return a;
}

/* The positions after one more byte; what is looked for may begin there too. */
static uint64_t step(const nfa *a, uint64_t at, char c) {
    uint64_t reached = a->all.first, next = 0;
    for (; at; at &= at - 1)
        reached |= a->v[__builtin_ctzll(at)].follow;
    for (; reached; reached &= reached - 1) {
        unsigned i = (unsigned)__builtin_ctzll(reached);
        next |= (a->v[i].takes.bits[c / 64] >> c % 64 & 1) << i;
    }
    return next;
}

nfa_answer nfa_find(const nfa *a, const char *text, size_t length) {
    if (a->all.empty)
        return NFA_YES;
    uint64_t at = step(a, 0, BEGIN);
    for (size_t i = 0; i < length && !(at & a->all.last); i++) {
        if (text[i] < ' ' || text[i] > '~')
            return NFA_UNKNOWN;
        at = step(a, at, nfa_fold(text[i]));
    }
    return at & a->all.last || step(a, at, END) & a->all.last ? NFA_YES : NFA_NO;
}
