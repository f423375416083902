/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the simple part of the language of regular expressions, and looks for words in texts. */
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

/* Within these PCRE compiles every simple pattern (its own limits: 64 KiB of code, 250 groups in
 * each other). */
#define PATTERN_MAX 4096
#define DEPTH_MAX 32

typedef struct pattern {
    const char *at;
    word_set *to;
    uint16_t owner;
    unsigned depth; /* of groups */
    bool failed;
    char run[WORD_MAX]; /* the literal bytes just read */
    uint8_t length;     /* of the run */
} pattern;

/* Of letters the lower case; the same for both cases is all that matters. */
static char fold(char c) {
    return (char)(c | 0x20);
}

static uint32_t beginning(const char *text) {
    uint32_t four;
    _Static_assert(sizeof four == WORD_MIN, "every word has as many bytes");
    memcpy(&four, text, sizeof four);
    return four | UINT32_C(0x20202020);
}

static uint32_t slot_of(uint32_t four) {
    return four * UINT32_C(0x9e3779b9) >> 22; /* 2^32 / golden ratio */
}

/* ---------------------------------------------------------------- the words of an expression */

static bool fail(pattern *p) {
    p->failed = true;
    p->at = "";
    return false;
}

static bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || (fold(c) >= 'a' && fold(c) <= 'z' && c > '@');
}

/* A byte that stands for itself; NUL: something else comes. */
static char literal(pattern *p) {
    char c = *p->at;
    bool escaped = c == '\\';
    if (escaped)
        c = p->at[1];
    if (c < ' ' || c > '~' || (escaped ? is_alnum(c) : strchr("^$.[]|()?*+{}", c) != NULL))
        return '\0';
    p->at += 1 + escaped;
    return c;
}

static char repetition(pattern *p) {
    return *p->at && strchr("?*+", *p->at) ? *p->at++ : '\0';
}

static bool is_optional(char repeat) {
    return repeat == '?' || repeat == '*';
}

/* Letters, digits, '_' and ranges of them, in brackets. */
static void read_class(pattern *p) {
    const char *c = p->at + 1;
    c += *c == '^';
    do {
        bool range = *c && c[1] == '-';
        if (range ? !is_alnum(*c) || !is_alnum(c[2]) || *c > c[2] : !is_alnum(*c) && *c != '_') {
            fail(p);
            return;
        }
        c += range ? 3 : 1;
    } while (*c != ']');
    p->at = c + 1;
}

static bool read_choice(pattern *p);

static bool read_group(pattern *p) {
    p->at += strncmp(p->at, "(?:", 3) ? 1 : 3;
    if (++p->depth > DEPTH_MAX)
        return fail(p);
    bool some = read_choice(p);
    p->depth--;
    if (*p->at != ')')
        return fail(p);
    p->at++;
    return some;
}

/* What is no literal. Whether it needs words. */
static bool read_other(pattern *p) {
    uint32_t before = p->to->n;
    bool some = false;
    switch (*p->at) {
    case '^':
    case '$':
        p->at++;
        return false;
    case '.':
        p->at++;
        break;
    case '[':
        read_class(p);
        break;
    case '(':
        some = read_group(p);
        break;
    default:
        return fail(p);
    }
    if (!is_optional(repetition(p)))
        return some;
    p->to->n = before;
    return false;
}

/* Ends a run of literals. Whether it became a word. */
static bool end_run(pattern *p) {
    word_set *w = p->to;
    uint8_t length = p->length;
    p->length = 0;
    if (length < WORD_MIN)
        return false;
    if ((w->n & (w->n - 1)) == 0)
        w->v = kit_realloc(w->v, w->n ? 2 * (size_t)w->n : 1, sizeof *w->v);
    needed_word *new = &w->v[w->n++];
    *new = (needed_word){.length = length, .owner = p->owner};
    memcpy(new->text, p->run, length);
    return true;
}

static bool at_end(const pattern *p) {
    return *p->at == '\0' || *p->at == '|' || *p->at == ')';
}

/* One way to fit. Of what must be there, the first that has words stands for all: what is
 * particular about names of kernels is mostly at their beginning. */
static bool read_row(pattern *p) {
    bool some = false;
    for (bool end = false; !end;) {
        uint32_t before = p->to->n;
        end = at_end(p);
        char c = end ? '\0' : literal(p), repeat = c ? repetition(p) : '\0';
        if (c && !is_optional(repeat) && p->length < WORD_MAX)
            p->run[p->length++] = fold(c);
        if (c && !repeat)
            continue;
        bool found = end_run(p);
        if (found && !some)
            before = p->to->n;
        some |= found;
        found = !c && !end && read_other(p);
        if (found && !some)
            before = p->to->n;
        some |= found;
        p->to->n = before;
    }
    return some;
}

/* Ways to fit. Each must need words. */
static bool read_choice(pattern *p) {
    uint32_t before = p->to->n;
    bool all = read_row(p);
    while (*p->at == '|') {
        p->at++;
        all &= read_row(p);
    }
    if (!all)
        p->to->n = before;
    return all;
}

words_need words_add(word_set *w, const char *text, uint16_t owner) {
    uint32_t before = w->n;
    pattern p = {.at = text, .to = w, .owner = owner};
    if (strlen(text) > PATTERN_MAX)
        return WORDS_UNKNOWN;
    bool some = read_choice(&p);
    if (p.failed || *p.at) {
        w->n = before;
        return WORDS_UNKNOWN;
    }
    for (uint32_t i = before; i < w->n; i++) {
        uint32_t *slot = &w->slots[slot_of(beginning(w->v[i].text))];
        w->v[i].next = *slot;
        *slot = i + 1;
    }
    return some ? WORDS_ONE : WORDS_NONE;
}

/* ---------------------------------------------------------------- words in a text */

static bool begins_with(const char *text, size_t length, const needed_word *w) {
    size_t i = 0;
    while (i < w->length && i < length && fold(text[i]) == w->text[i])
        i++;
    return i == w->length;
}

void words_find(const word_set *w, const char *text, size_t length, uint64_t *owners) {
    for (size_t i = 0; i + WORD_MIN <= length; i++)
        for (uint32_t n = w->slots[slot_of(beginning(text + i))]; n; n = w->v[n - 1].next) {
            const needed_word *candidate = &w->v[n - 1];
            if (begins_with(text + i, length - i, candidate))
                owners[candidate->owner / 64] |= UINT64_C(1) << candidate->owner % 64;
        }
}

void words_finish(word_set *w) {
    free(w->v);
    *w = (word_set){0};
}
