/* SPDX-License-Identifier: Apache-2.0 */
/* Small automata that tell whether a text holds what an expression describes: Glushkov's, with a
 * position for each byte of the expression and a bit for each position. Each text is read once, in
 * a time that depends on no choice of the expression's author. */
#ifndef KINETO_NFA_H
#define KINETO_NFA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tracemill/kit/arena.h>

#define NFA_MAX 64 /* positions */

/* A set of bytes that a text of printable ASCII may have, letters in lower case. */
typedef struct nfa_bytes {
    uint64_t bits[2];
} nfa_bytes;

typedef struct nfa_position {
    uint64_t follow; /* the positions that may come next */
    nfa_bytes takes;
} nfa_position;

/* What describes a part of the expression: where it may begin and end, and whether it may be left
 * out. */
typedef struct nfa_part {
    uint64_t first, last;
    bool empty;
} nfa_part;

typedef struct nfa {
    nfa_part all;
    nfa_position v[];
} nfa;

/* With the first two zero: no position yet. */
typedef struct nfa_builder {
    unsigned n;       /* over NFA_MAX: there will be no automaton */
    uint64_t anchors; /* which positions are */
    nfa_position v[NFA_MAX];
} nfa_builder;

static inline char nfa_fold(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline void nfa_bytes_add(nfa_bytes *set, char c) {
    unsigned char folded = (unsigned char)nfa_fold(c);
    set->bits[folded / 64] |= UINT64_C(1) << folded % 64;
}

/* All that may be in a text and is not in the set. */
nfa_bytes nfa_bytes_others(nfa_bytes set);

#define NFA_NOTHING ((nfa_part){.empty = true})
nfa_part nfa_take(nfa_builder *b, nfa_bytes takes);
nfa_part nfa_begin(nfa_builder *b); /* ^ */
nfa_part nfa_end(nfa_builder *b);   /* $ */
nfa_part nfa_either(nfa_part a, nfa_part b);
void nfa_append(nfa_builder *b, nfa_part *to, nfa_part next);
void nfa_repeat(nfa_builder *b, nfa_part *part, char sign); /* ?, * or +; NUL: once */

/* NULL: too large, or of a form that positions don't tell (two anchors at one place). */
nfa *nfa_build(const nfa_builder *b, nfa_part all, kit_arena *memory);

typedef enum nfa_answer {
    NFA_NO,
    NFA_YES,
    NFA_UNKNOWN, /* the text holds bytes that are no printable ASCII */
} nfa_answer;

nfa_answer nfa_find(const nfa *a, const char *text, size_t length);

#endif
