/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions (PCRE, upper and lower case alike) as most rules need them, read so that a
 * text is seldom tried on one: each alternative knows words of which the text must hold one, and
 * mostly is an automaton. What is not that simple is left to the host's expressions. */
#ifndef KINETO_EXPRESSION_H
#define KINETO_EXPRESSION_H

#include "nfa.h"
#include "words.h"

#include <tracemill/tracemill.h>

/* One of the ways to fit an expression. */
typedef struct alternative {
    const char *text;            /* itself an expression */
    const nfa *nfa;              /* NULL: only the host's regex can tell */
    mill_regex *_Atomic regex;   /* NULL: not needed yet */
    uint16_t group, after_group; /* a text that fits has a word of each of these */
} alternative;

/* All zero bytes: no expressions. */
typedef struct expression_set {
    word_set words;
    alternative *v;
    size_t n;
} expression_set;

/* Adds the alternatives of an expression; what they refer to is in `memory`. False: it was not read
 * but taken for a single alternative, and may not even be a right one. */
bool expressions_add(expression_set *set, kit_arena *memory, const char *text, size_t length);

void expressions_finish(expression_set *set);

#endif
