/* SPDX-License-Identifier: Apache-2.0 */
/* The scanner itself, compiled once for each set of instructions: the including file defines SIMD_…
 * and FAST_SCAN, the name of the function.
 *
 * There are no tests for the end of the text: the NULs behind it end every loop and match nothing,
 * so an event that is not whole fails like any other that the scanner does not expect, and is
 * scanned anew when more text has come. Whatever is not plain JSON of the expected types fails:
 * what to make of it is the reference parser's business. */
#include "fast_private.h"

#include "simd.h"

static inline const char *blanks(const char *p) {
    return (uint8_t)*p > ' ' ? p : simd_blanks_end(p);
}

/* Values of members: each moves p behind one, and returns false where the event is not for us.
 * `usual` holds how many digits a number at this place had the last time. */

/* Passes digits on the guess that there are as many as the last time. The processor goes on from
 * the guess, without waiting for what the text says; the compiler must not see that both are the
 * same. */
static inline unsigned scan_digits(const char **p, uint64_t *ret_value, uint8_t *usual) {
    const char *guess = *p + *usual;
    __asm__("" : "+r"(guess));
    unsigned n = simd_digits(*p, ret_value);
    if (__builtin_expect(n != *usual, 0)) {
        *usual = (uint8_t)n;
        guess = *p + n;
    }
    *p = guess;
    return n;
}

static inline bool scan_int(const char **p, int64_t *ret, uint8_t *usual) {
    uint64_t value;
    bool negative = false;
    if (__builtin_expect(**p == '-', 0)) {
        negative = true;
        ++*p;
    }
    unsigned n = scan_digits(p, &value, usual);
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return n > 0 && n < 16;
}

/* Microseconds with up to three decimals, as nanoseconds. */
static inline bool scan_us(const char **p, int64_t *ret, uint8_t *usual) {
    static const int64_t scale[] = {1000, 100, 10, 1};
    uint64_t whole, part = 0;
    unsigned n = scan_digits(p, &whole, usual), n_part = 0;
    if (n == 0 || whole > 9000000000000000)
        return false;
    if (**p == '.') {
        ++*p;
        n_part = scan_digits(p, &part, usual + 1);
        if (n_part == 0 || n_part > 3)
            return false;
    }
    *ret = (int64_t)whole * 1000 + (int64_t)part * scale[n_part];
    return true;
}

/* The same, or in a string, as Ascend's profiler writes it. */
static inline bool scan_time(const char **p, int64_t *ret, uint8_t *usual) {
    if (__builtin_expect(**p != '"', 1))
        return scan_us(p, ret, usual);
    ++*p;
    return scan_us(p, ret, usual) && *(*p)++ == '"';
}

/* The product of [x, y, z]. */
static inline bool scan_product(const char **p, int64_t *ret, uint8_t *usual) {
    int64_t product = 1, n;
    if (**p != '[')
        return false;
    do {
        *p = blanks(*p + 1);
        if (!scan_int(p, &n, usual) || n < 0 || __builtin_mul_overflow(product, n, &product))
            return false;
        *p = blanks(*p);
    } while (**p == ',');
    *ret = product;
    return *(*p)++ == ']';
}

static inline bool scan_plain(const char **p, const char **ret_text, size_t *ret_length) {
    if (**p != '"')
        return false;
    const char *begin = *p + 1, *end = simd_plain_end(begin);
    *ret_text = begin;
    *ret_length = (size_t)(end - begin);
    *p = end + 1;
    return *end == '"';
}

/* A process or thread: a number, or a word. */
static inline bool scan_id(const char **p, fast_id *ret, uint8_t *usual) {
    const char *begin = *p;
    json_value *text = &ret->text;
    bool ok;
    if (*begin == '"') {
        *text = (json_value){.kind = JSON_STRING};
        ok = scan_plain(p, &text->at, &text->length);
    } else {
        uint64_t number;
        unsigned n = scan_digits(p, &number, usual);
        *text = (json_value){begin, n, JSON_NUMBER, false};
        ok = n > 0 && n < 16 && (*begin != '0' || n == 1);
    }
    /* A word without a letter is not the same as no id, which has the key 0. */
    bool short_enough = text->length > 0 && text->length <= 8;
    ret->key = short_enough ? simd_key(text->at, (unsigned)text->length) : KEY_LONG;
    return ok;
}

static inline bool is_token(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

/* Passes a string, whatever is in it, or a number. */
static inline bool scan_scalar(const char **p, uint8_t *usual) {
    if (**p == '"') {
        const char *q = simd_string_end(*p + 1);
        while (*q == '\\' && q[1] != '\0')
            q = simd_string_end(q + 2);
        *p = q + 1;
        return *q == '"';
    }
    uint64_t number;
    if (__builtin_expect(**p == '-', 0))
        ++*p;
    bool ok = scan_digits(p, &number, usual) > 0;
    while (is_token(**p))
        ++*p;
    return ok;
}

/* Passes arrays of arrays of scalars, as those of shapes and types of tensors. */
static inline bool scan_array(const char **p, uint8_t *usual) {
    unsigned depth = 0;
    for (;;) {
        if (**p == '[') {
            if (++depth > 64)
                return false;
            *p = blanks(*p + 1);
            if (**p != ']')
                continue;
        } else if (!scan_scalar(p, usual)) {
            return false;
        }
        for (*p = blanks(*p); **p == ']'; *p = blanks(*p)) {
            ++*p;
            if (--depth == 0)
                return true;
        }
        if (**p != ',')
            return false;
        *p = blanks(*p + 1);
    }
}

/* Passes a value that no column needs. */
static inline bool scan_other(const char **p, const char *end, uint8_t *usual) {
    const char *begin = *p;
    if (*begin == '[' ? scan_array(p, usual) : scan_scalar(p, usual))
        return true;
    json j = {.at = begin, .end = end};
    json_value value;
    bool ok = json_read(&j, &value) == JSON_OK && j.not_numbers == 0;
    *p = j.at;
    return ok;
}

/* ---------------------------------------------------------------- from value to value */

/* The value of ph or cat, as one byte. */
static bool learn_word(fast *f, place at, const char **p, uint8_t *ret_word) {
    const char *text;
    size_t length;
    if (!scan_plain(p, &text, &length))
        return false;
    *ret_word = at == AT_CAT ? fast_category(f, text, length) : (uint8_t)*text;
    return at == AT_CAT || length == 1;
}

/* The key that stands next, or the bracket that closes; `first`: no comma before it. */
static bool learn_key(const char **p, bool first, bool in_args, place *ret_next) {
    const char *key, *q = blanks(*p);
    size_t length;
    *p = q + 1;
    *ret_next = AT_CLOSE;
    if (*q == '}')
        return true;
    if (!first && *q++ != ',')
        return false;
    q = blanks(q);
    if (!scan_plain(&q, &key, &length))
        return false;
    q = blanks(q);
    *p = blanks(q + 1);
    *ret_next = fast_place_of(in_args, key, length);
    return *q == ':' && **p != '\0'; /* where the text ends, blanks may be missing */
}

/* Finds out what stands between two values, and remembers it. NULL: not for us. */
static __attribute__((noinline)) const successor *learn(fast *f, place from, const char *begin) {
    successor s = {0};
    const char *p = begin, *brace = begin;
    bool first = from <= AT_CLOSE, in_args = from >= AT_GRID;
    place next;
    if (from == AT_CLOSE) { /* on to the next event */
        p = blanks(p);
        if (*p++ != ',')
            return NULL;
    }
    if (first) {
        brace = blanks(p);
        p = brace + 1;
        if (*brace != '{')
            return NULL;
    }
    if ((from == AT_PH || from == AT_CAT) && !learn_word(f, from, &p, &s.word))
        return NULL;
    for (;;) { /* into args and out of them, until a value or the end of the event comes */
        if (!learn_key(&p, first, in_args, &next))
            return NULL;
        first = next == AT_ARGS;
        if (next == AT_CLOSE && in_args)
            in_args = false;
        else if (next == AT_ARGS && *p++ == '{' && !s.opens_args)
            in_args = s.opens_args = true;
        else
            break;
    }
    if (next == AT_ARGS || p - begin > SUCCESSOR_MAX)
        return NULL;
    s.length = (uint8_t)(p - begin);
    s.brace = (uint8_t)(brace - begin);
    s.next = (uint8_t)next;
    s.ways = f->successors[next];
    memcpy(s.text, begin, s.length);
    successor *to = &f->successors[from][f->newest[from]++ % N_WAYS];
    *to = s;
    return to;
}

static inline bool stands_at(const successor *s, const char *p) {
    const uint8_t *text = s->text;
    for (unsigned length = s->length;; length -= 32, p += 32, text += 32) {
        if (!simd_same(p, text, length))
            return false;
        if (__builtin_expect(length <= 32, 1))
            return true;
    }
}

static inline const successor *step(fast *f, place from, const successor *ways, const char *p) {
    for (size_t i = 0; i < N_WAYS; i++)
        if (stands_at(&ways[i], p))
            return &ways[i];
    return learn(f, from, p);
}

static inline bool scan_value(fast *f, place at, const char **p, const char *end, fast_event *e) {
    uint8_t *usual = f->usual_digits[at];
    switch (at) {
    case AT_PH:
    case AT_CAT:
        return true; /* the step from here passes it */
    case AT_NAME:
        return scan_plain(p, &e->name, &e->name_length);
    case AT_PID:
        return scan_id(p, &e->pid, usual);
    case AT_TID:
        return scan_id(p, &e->tid, usual);
    case AT_TS:
        return scan_time(p, &e->ts, usual);
    case AT_DUR:
        return scan_time(p, &e->dur, usual);
    case AT_GRID:
    case AT_BLOCK:
        return scan_product(p, &e->number[at - AT_GRID], usual);
    case AT_DEVICE:
    case AT_STREAM:
    case AT_CORRELATION:
    case AT_EXTERNAL_ID:
    case AT_BYTES:
    case AT_WAITED_EVENT:
    case AT_WAITED_STREAM:
        return scan_int(p, &e->number[at - AT_GRID], usual);
    case AT_LEFT:
        return false;
    default:
        return scan_other(p, end, usual);
    }
}

/* Member by member: faster than copying an empty one. */
static inline void begin_event(fast_event *e) {
    e->name = "";
    e->name_length = 0;
    e->pid.text = e->tid.text = (json_value){0};
    e->pid.key = e->tid.key = 0;
    e->ts = e->dur = MILL_UNKNOWN;
    for (size_t i = 0; i < N_NUMBERS; i++)
        e->number[i] = MILL_UNKNOWN;
    e->word[AT_PH] = e->word[AT_CAT] = 0;
    e->has_args = false;
}

size_t FAST_SCAN(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *ret_events) {
    const char *p = text, *done = text, *begin = text;
    const successor *s, *ways = f->successors[AT_EVENT];
    fast_event e;
    place at = AT_EVENT;
    *ret_events = 0;
    while ((s = step(f, at, ways, p)) != NULL) {
        if (at <= AT_CLOSE) { /* a new event begins */
            begin = p + s->brace;
            begin_event(&e);
        }
        if (s->opens_args) {
            if (e.has_args) /* a second one would undo what the first one said */
                break;
            e.has_args = true;
        }
        e.word[at] = s->word;
        p += s->length;
        at = (place)s->next;
        ways = s->ways;
        if (at != AT_CLOSE) {
            if (!scan_value(f, at, &p, end, &e))
                break;
        } else if (fast_take(f, &e, byte + (uint64_t)(begin - text))) {
            done = p;
            ++*ret_events;
        } else {
            break;
        }
    }
    return (size_t)(done - text);
}
