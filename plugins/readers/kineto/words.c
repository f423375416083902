/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for words in texts. */
#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

/* Of letters the lower case; the same for both cases is all that matters. */
static char fold(char c) {
    return (char)(c | 0x20);
}

static uint32_t slot_of(const char *text) {
    uint32_t three = (uint32_t)(uint8_t)text[0] | (uint32_t)(uint8_t)text[1] << 8 |
                     (uint32_t)(uint8_t)text[2] << 16;
    _Static_assert(WORD_MIN == 3, "every word has as many bytes");
    return (three | UINT32_C(0x202020)) * UINT32_C(0x9e3779b9) >> 20; /* 2^32 / golden ratio */
}

bool words_add(word_set *w, const char *word, size_t length) {
    if (length < WORD_MIN || w->n == UINT16_MAX)
        return false;
    if ((w->n & (w->n - 1)) == 0)
        w->v = kit_realloc(w->v, w->n ? 2 * (size_t)w->n : 1, sizeof *w->v);
    needed_word *new = &w->v[w->n++];
    *new = (needed_word){.length = (uint8_t)(length < WORD_MAX ? length : WORD_MAX)};
    for (size_t i = 0; i < new->length; i++)
        new->text[i] = fold(word[i]);
    return true;
}

void words_group(word_set *w, uint16_t from) {
    for (size_t i = from; i < w->n; i++)
        w->v[i].group = w->groups;
    w->groups++;
}

void words_index(word_set *w, uint16_t from) {
    for (size_t i = from; i < w->n; i++) {
        uint16_t *slot = &w->slots[slot_of(w->v[i].text)];
        w->v[i].next = *slot;
        *slot = (uint16_t)(i + 1);
    }
}

static bool begins_with(const char *text, size_t length, const needed_word *w) {
    size_t i = 0;
    while (i < w->length && i < length && fold(text[i]) == w->text[i])
        i++;
    return i == w->length;
}

void words_find(const word_set *w, const char *text, size_t length, uint64_t *groups) {
    for (size_t i = 0; i + WORD_MIN <= length; i++)
        for (size_t n = w->slots[slot_of(text + i)]; n; n = w->v[n - 1].next) {
            const needed_word *word = &w->v[n - 1];
            uint64_t *found = &groups[word->group / 64], bit = UINT64_C(1) << word->group % 64;
            if (!(*found & bit) && begins_with(text + i, length - i, word))
                *found |= bit;
        }
}

void words_finish(word_set *w) {
    free(w->v);
    *w = (word_set){0};
}
