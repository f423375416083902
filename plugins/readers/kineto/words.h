/* SPDX-License-Identifier: Apache-2.0 */
/* Words of which a text must hold at least one to fit a regular expression. To look for them costs
 * far less than the expression, and mostly none is there. */
#ifndef KINETO_WORDS_H
#define KINETO_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define WORD_MIN 4 /* bytes; shorter ones are in too many texts */
#define WORD_MAX 24

typedef struct needed_word {
    char text[WORD_MAX]; /* each byte | 0x20: letters in lower case */
    uint8_t length;
    uint16_t owner;
    uint32_t next; /* number, + 1, of another word in the same slot; 0: none */
} needed_word;

/* All zero bytes: no words. */
typedef struct word_set {
    needed_word *v;
    uint32_t n;
    uint32_t slots[1024]; /* by a hash of a word's beginning: its number, + 1 */
} word_set;

typedef enum words_need {
    WORDS_UNKNOWN, /* the expression is not simple enough to tell; it may even be a wrong one */
    WORDS_NONE,    /* it is a right one; texts without any word may fit */
    WORDS_ONE,     /* it is a right one; a text that fits has at least one of the words added */
} words_need;

/* Adds the words of a caseless expression (PCRE), for an owner. */
words_need words_add(word_set *w, const char *pattern, uint16_t owner);

/* Sets bit number `owner` of `owners` for each word in the text, and perhaps for words that differ
 * from what is in the text in a few bytes that are no letters. */
void words_find(const word_set *w, const char *text, size_t length, uint64_t *owners);

void words_finish(word_set *w);

#endif
