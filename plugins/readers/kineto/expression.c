/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the simple part of the language of regular expressions. */
#include "expression.h"

#include <stdlib.h>
#include <string.h>

/* Within these PCRE compiles every simple expression (its own limits: 64 KiB of code, 250 groups in
 * each other). */
#define LENGTH_MAX 4096
#define DEPTH_MAX 32

typedef struct reader {
    const char *at;
    word_set *words;
    nfa_builder nfa; /* of the alternative */
    unsigned depth;  /* of groups */
    bool failed;
} reader;

/* A part of the expression. */
typedef struct piece {
    nfa_part part;
    bool words; /* needs one of the words added since it began */
} piece;

static const piece nothing = {.part = {.empty = true}};

static piece fail(reader *r) {
    r->failed = true;
    r->at = "";
    return nothing;
}

static bool is_alnum(char c) {
    c = nfa_fold(c);
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* A byte that stands for itself; NUL: something else comes. */
static char literal(reader *r) {
    char c = *r->at;
    bool escaped = c == '\\';
    if (escaped)
        c = r->at[1];
    if (c < ' ' || c > '~' || (escaped ? is_alnum(c) : strchr("^$.[]|()?*+{}", c) != NULL))
        return '\0';
    r->at += 1 + escaped;
    return c;
}

static char repetition(reader *r) {
    return *r->at && strchr("?*+", *r->at) ? *r->at++ : '\0';
}

static bool is_optional(char sign) {
    return sign == '?' || sign == '*';
}

/* Literals, up to one that is repeated. */
static piece read_literals(reader *r) {
    piece all = nothing;
    char word[WORD_MAX], sign = '\0';
    size_t length = 0;
    for (char c; !sign && (c = literal(r)) != '\0';) {
        nfa_bytes takes = {0};
        nfa_bytes_add(&takes, c);
        nfa_part one = nfa_take(&r->nfa, takes);
        sign = repetition(r);
        nfa_repeat(&r->nfa, &one, sign);
        nfa_append(&r->nfa, &all.part, one);
        if (!is_optional(sign) && length < WORD_MAX)
            word[length++] = c;
    }
    all.words = words_add(r->words, word, length);
    return all;
}

/* Letters, digits, '_' and ranges of them, in brackets. */
static piece read_class(reader *r) {
    nfa_bytes takes = {0};
    const char *c = r->at + 1;
    bool negated = *c == '^';
    c += negated;
    do {
        bool range = *c && c[1] == '-';
        char last = c[range ? 2 : 0];
        if (range ? !is_alnum(*c) || !is_alnum(last) || *c > last : !is_alnum(*c) && *c != '_')
            return fail(r);
        for (char in = *c; in <= last; in++)
            nfa_bytes_add(&takes, in);
        c += range ? 3 : 1;
    } while (*c != ']');
    r->at = c + 1;
    return (piece){.part = nfa_take(&r->nfa, negated ? nfa_bytes_others(takes) : takes)};
}

static piece read_choice(reader *r);

static piece read_group(reader *r) {
    bool looks_ahead = !strncmp(r->at, "(?!", 3) || !strncmp(r->at, "(?=", 3);
    uint16_t before = r->words->n;
    r->at += looks_ahead || !strncmp(r->at, "(?:", 3) ? 3 : 1;
    if (++r->depth > DEPTH_MAX)
        return fail(r);
    piece group = read_choice(r);
    r->depth--;
    if (*r->at != ')')
        return fail(r);
    r->at++;
    if (!looks_ahead)
        return group;
    r->nfa.n = NFA_MAX + 1;
    r->words->n = before;
    return nothing;
}

/* What is no literal. */
static piece read_other(reader *r) {
    uint16_t before = r->words->n;
    piece one = nothing;
    switch (*r->at) {
    case '^':
        r->at++;
        return (piece){.part = nfa_begin(&r->nfa)};
    case '$':
        r->at++;
        return (piece){.part = nfa_end(&r->nfa)};
    case '.':
        r->at++;
        one.part = nfa_take(&r->nfa, nfa_bytes_others((nfa_bytes){0}));
        break;
    case '[':
        one = read_class(r);
        break;
    case '(':
        one = read_group(r);
        break;
    default:
        return fail(r);
    }
    char sign = repetition(r);
    nfa_repeat(&r->nfa, &one.part, sign);
    if (is_optional(sign)) {
        one.words = false;
        r->words->n = before;
    }
    return one;
}

static bool at_end(const reader *r) {
    return *r->at == '\0' || *r->at == '|' || *r->at == ')';
}

/* What must be there one after the other. Outside of groups all of it tells which words a text
 * needs; inside, the first part that has words stands for all: what is particular about names of
 * kernels is mostly at their beginning. */
static piece read_row(reader *r) {
    piece all = nothing;
    while (!at_end(r)) {
        uint16_t before = r->words->n;
        const char *at = r->at;
        piece next = read_literals(r);
        if (r->at == at)
            next = read_other(r);
        nfa_append(&r->nfa, &all.part, next.part);
        if (next.words && r->depth == 0)
            words_group(r->words, before);
        else if (next.words && all.words)
            r->words->n = before;
        all.words |= next.words;
    }
    return all;
}

/* What a group holds. Each of its rows must need words. */
static piece read_choice(reader *r) {
    uint16_t before = r->words->n;
    piece all = read_row(r);
    while (*r->at == '|') {
        r->at++;
        piece row = read_row(r);
        all.part = nfa_either(all.part, row.part);
        all.words &= row.words;
    }
    if (!all.words)
        r->words->n = before;
    return all;
}

static alternative *add(expression_set *set, const char *text) {
    if ((set->n & (set->n - 1)) == 0)
        set->v = kit_realloc(set->v, set->n ? 2 * set->n : 1, sizeof *set->v);
    alternative *a = &set->v[set->n++];
    *a = (alternative){.text = text};
    return a;
}

static void read_alternative(reader *r, expression_set *set, kit_arena *memory) {
    const char *begin = r->at;
    uint16_t group = set->words.groups;
    r->nfa.n = 0;
    r->nfa.anchors = 0;
    piece all = read_row(r);
    if (r->failed)
        return;
    alternative *a = add(set, kit_arena_text(memory, begin, (size_t)(r->at - begin)));
    a->nfa = nfa_build(&r->nfa, all.part, memory);
    a->group = group;
    a->after_group = set->words.groups;
}

bool expressions_add(expression_set *set, kit_arena *memory, const char *text, size_t length) {
    word_set *w = &set->words;
    uint16_t words = w->n, groups = w->groups;
    size_t n = set->n;
    const char *own = kit_arena_text(memory, text, length);
    reader r = {.at = own, .words = w};
    if (length > LENGTH_MAX)
        fail(&r);
    else
        read_alternative(&r, set, memory);
    while (*r.at == '|') {
        r.at++;
        read_alternative(&r, set, memory);
    }
    if (!r.failed && !*r.at) {
        words_index(w, words);
        return true;
    }
    w->n = words;
    w->groups = groups;
    set->n = n;
    add(set, own);
    return false;
}

void expressions_finish(expression_set *set) {
    words_finish(&set->words);
    free(set->v);
    *set = (expression_set){0};
}
