/* SPDX-License-Identifier: Apache-2.0 */
/* What the intervals of a timeline are: each has a kind, a class with a label. A class has one
 * colour in all lanes; rare labels and classes are given up where there are too many to list in a
 * page. */
#ifndef HTML_KINDS_H
#define HTML_KINDS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define KINDS_CLASSES 64u /* at most so many are told apart, so that a legend can be read */
#define KINDS_COLOURS 8u
#define KINDS_NEUTRAL KINDS_COLOURS /* the colour of nothing going on */
#define KINDS_NO_TEXT UINT32_MAX

typedef struct kinds_class {
    const char *name;
    uint64_t ns;     /* sum of durations */
    unsigned colour; /* 0 … 7, of --class-N, or KINDS_NEUTRAL */
    bool hatched;
} kinds_class;

typedef struct kinds_kind {
    uint32_t cls, text; /* text: index of `texts`, or KINDS_NO_TEXT */
} kinds_kind;

typedef struct kinds kinds;

kinds *kinds_create(void);
void kinds_destroy(kinds *k);

/* The number of a text, which outlives k. */
uint32_t kinds_text(kinds *k, const char *text);

/* The preliminary number of a kind, of which one more interval was found. */
uint32_t kinds_add(kinds *k, uint32_t cls_text, uint32_t label_text, uint64_t ns);

/* After the last kinds_add: decides what is listed, in `bytes` of a page for labels and kinds. */
void kinds_finish(kinds *k, uint64_t bytes);

/* ---------------------------------------------------------------- after kinds_finish */

uint32_t kinds_final(const kinds *k, uint32_t preliminary);
size_t kinds_n_classes(const kinds *k);
const kinds_class *kinds_class_at(const kinds *k, size_t i);
size_t kinds_n(const kinds *k);
kinds_kind kinds_at(const kinds *k, size_t i); /* kind i < n_classes is class i without a label */
size_t kinds_n_texts(const kinds *k);
char *kinds_text_at(const kinds *k, size_t i); /* shortened; freed with g_free */
uint64_t kinds_left_out(const kinds *k);       /* kinds whose label is not listed */

#endif
