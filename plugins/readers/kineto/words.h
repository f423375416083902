/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of words, and which of them have a word in a text. All words are looked for at once, which
 * costs far less than to try an expression that needs them. */
#ifndef KINETO_WORDS_H
#define KINETO_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORD_MIN 3 /* bytes; shorter ones are in too many texts */
#define WORD_MAX 24

typedef struct needed_word {
    char text[WORD_MAX]; /* each byte | 0x20: letters in lower case */
    uint8_t length;
    uint16_t group;
    uint16_t next; /* number, + 1, of another word in the same slot; 0: none */
} needed_word;

/* All zero bytes: no words. */
typedef struct word_set {
    needed_word *v;
    uint16_t n, groups;
    uint16_t slots[4096]; /* by a hash of a word's beginning: its number, + 1 */
} word_set;

/* Words are added in three steps, so that what turns out not to be needed can be taken back by
 * setting `n` and `groups` as they were: words, groups of them, and their place in the index. */
bool words_add(word_set *w, const char *word, size_t length); /* false: too short, or no room */
void words_group(word_set *w, uint16_t from);                 /* those from number `from` on */
void words_index(word_set *w, uint16_t from);

/* Sets the bit of each group of which a word is in the text, and perhaps of those whose words
 * differ from what is in the text in a few bytes that are no letters. */
void words_find(const word_set *w, const char *text, size_t length, uint64_t *groups);

void words_finish(word_set *w);

#endif
