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

/* Value of a member: moves p behind it. Each returns false where the event is not for us. */

static inline bool scan_int(const char **p, int64_t *ret) {
    uint64_t value;
    bool negative = **p == '-';
    const char *digits = *p + negative;
    unsigned n = simd_digits(&digits, &value);
    *p = digits;
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return n > 0 && n < 18;
}

/* Microseconds with up to three decimals, as nanoseconds. */
static inline bool scan_time(const char **p, int64_t *ret) {
    static const int64_t scale[] = {1000, 100, 10, 1};
    bool quoted = **p == '"';
    uint64_t whole, part = 0;
    unsigned n_part = 0;
    *p += quoted;
    unsigned n = simd_digits(p, &whole);
    if (n == 0 || n > 15 + (whole < 9000000000000000))
        return false;
    if (**p == '.') {
        ++*p;
        n_part = simd_digits(p, &part);
        if (n_part == 0 || n_part > 3)
            return false;
    }
    *ret = (int64_t)whole * 1000 + (int64_t)part * scale[n_part];
    bool closed = !quoted || **p == '"';
    *p += quoted;
    return closed;
}

/* The product of [x, y, z]. */
static inline bool scan_product(const char **p, int64_t *ret) {
    int64_t product = 1, n;
    if (**p != '[')
        return false;
    do {
        ++*p;
        while (**p == ' ' || **p == '\n' || **p == '\r' || **p == '\t')
            ++*p;
        if (!scan_int(p, &n) || n < 0 || __builtin_mul_overflow(product, n, &product))
            return false;
        while (**p == ' ' || **p == '\n' || **p == '\r' || **p == '\t')
            ++*p;
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
static inline bool scan_id(const char **p, json_value *ret, int64_t *ret_number) {
    const char *begin = *p;
    if (*begin == '"') {
        *ret_number = MILL_UNKNOWN;
        *ret = (json_value){.kind = JSON_STRING};
        return scan_plain(p, &ret->at, &ret->length);
    }
    bool ok = scan_int(p, ret_number);
    *ret = (json_value){begin, (size_t)(*p - begin), JSON_NUMBER, false};
    return ok && (*begin != '0' || ret->length == 1) && *begin != '-';
}

static inline bool is_token(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

/* Passes a value that no column needs. */
static inline bool scan_other(const char **p, const char *end) {
    if (**p == '"') {
        const char *q = simd_string_end(*p + 1);
        while (*q == '\\' && q[1] != '\0')
            q = simd_string_end(q + 2);
        *p = q + 1;
        return *q == '"';
    }
    const char *q = *p + (**p == '-');
    if (*q >= '0' && *q <= '9') {
        while (is_token(*q))
            q++;
        *p = q;
        return true;
    }
    json j = {.at = *p, .end = end};
    json_value value;
    bool ok = json_read(&j, &value) == JSON_OK && j.not_numbers == 0;
    *p = j.at;
    return ok;
}

static inline bool scan_category(fast *f, const char **p, const category **ret) {
    if (**p != '"')
        return false;
    const char *text = *p + 1;
    for (size_t i = 0; i < N_CATEGORIES; i++) {
        const known_category *c = &f->categories[i];
        if (c->length && simd_same(text, c->text, c->length)) {
            *ret = c->category;
            *p = text + c->length;
            return true;
        }
    }
    size_t length;
    if (!scan_plain(p, &text, &length))
        return false;
    *ret = category_find(text, length);
    if (length + 1 <= sizeof f->categories[0].text) {
        known_category *c = &f->categories[f->newest_category++ % N_CATEGORIES];
        c->category = *ret;
        c->length = (uint8_t)(length + 1);
        memcpy(c->text, text, length + 1);
    }
    return true;
}

/* ---------------------------------------------------------------- from value to value */

static const char *blanks(const char *p) {
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

/* Finds out what stands between two values, and remembers it. NULL: not for us. */
static __attribute__((noinline)) const char *step_slowly(fast *f, place from, const char *begin,
                                                         const char **ret_brace, place *ret_next) {
    const char *p = blanks(begin), *brace = begin;
    bool first = from == IN_ARGS || from == AT_EVENT, in_args = from >= IN_ARGS;
    if (from == AT_CLOSE) { /* on to the next event */
        if (*p != ',')
            return NULL;
        p = blanks(p + 1);
        first = true;
    }
    if (from == AT_CLOSE || from == AT_EVENT) {
        if (*p != '{')
            return NULL;
        brace = p;
        p = blanks(p + 1);
    }
    if (*p == '}') {
        p++;
        *ret_next = in_args ? AT_ARGS_CLOSE : AT_CLOSE;
    } else {
        const char *key;
        size_t length;
        if (!first && *p++ != ',')
            return NULL;
        p = blanks(p);
        if (!scan_plain(&p, &key, &length))
            return NULL;
        p = blanks(p);
        if (*p++ != ':')
            return NULL;
        p = blanks(p);
        if (*p == '\0') /* where the text ends, blanks may be missing: nothing to remember */
            return NULL;
        *ret_next = fast_place_of(in_args, key, length);
    }
    *ret_brace = brace;
    if (p - begin <= (ptrdiff_t)sizeof f->successors[0][0].text) {
        successor *s = &f->successors[from][f->newest[from]++ % N_WAYS];
        *s = (successor){.length = (uint8_t)(p - begin),
                         .brace = (uint8_t)(brace - begin),
                         .next = (uint8_t)*ret_next};
        memcpy(s->text, begin, s->length);
    }
    return p;
}

static inline const char *step(fast *f, place from, const char *p, const char **ret_brace,
                               place *ret_next) {
    const successor *ways = f->successors[from];
    for (size_t i = 0; i < N_WAYS; i++)
        if (ways[i].length && simd_same(p, ways[i].text, ways[i].length)) {
            *ret_brace = p + ways[i].brace;
            *ret_next = (place)ways[i].next;
            return p + ways[i].length;
        }
    return step_slowly(f, from, p, ret_brace, ret_next);
}

static inline bool scan_value(fast *f, place at, const char **p, const char *end, fast_event *e) {
    switch (at) {
    case AT_PH:
        e->ph = (*p)[1];
        *p += 3;
        return (*p)[-3] == '"' && (*p)[-1] == '"' && e->ph != '\\' && e->ph != '"';
    case AT_CAT:
        return scan_category(f, p, &e->category);
    case AT_NAME:
        return scan_plain(p, &e->name, &e->name_length);
    case AT_PID:
        return scan_id(p, &e->pid, &e->pid_number);
    case AT_TID:
        return scan_id(p, &e->tid, &e->tid_number);
    case AT_TS:
        return scan_time(p, &e->ts);
    case AT_DUR:
        return scan_time(p, &e->dur);
    case AT_DEVICE:
        return scan_int(p, &e->device);
    case AT_STREAM:
        return scan_int(p, &e->stream);
    case AT_CORRELATION:
        return scan_int(p, &e->correlation);
    case AT_EXTERNAL_ID:
        return scan_int(p, &e->external_id);
    case AT_GRID:
        return scan_product(p, &e->grid);
    case AT_BLOCK:
        return scan_product(p, &e->block);
    case AT_BYTES:
        return scan_int(p, &e->bytes);
    case AT_WAITED_EVENT:
        return scan_int(p, &e->waited_event);
    case AT_COLLECTIVE:
        return false;
    default:
        return scan_other(p, end);
    }
}

static const fast_event no_event = {
    .name = "",
    .pid_number = MILL_UNKNOWN,
    .tid_number = MILL_UNKNOWN,
    .ts = MILL_UNKNOWN,
    .dur = MILL_UNKNOWN,
    .device = MILL_UNKNOWN,
    .stream = MILL_UNKNOWN,
    .correlation = MILL_UNKNOWN,
    .external_id = MILL_UNKNOWN,
    .grid = MILL_UNKNOWN,
    .block = MILL_UNKNOWN,
    .bytes = MILL_UNKNOWN,
    .waited_event = MILL_UNKNOWN,
};

size_t FAST_SCAN(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *ret_events) {
    const char *p = text, *done = text, *begin = text, *brace;
    fast_event e = no_event;
    place at = AT_EVENT, next;
    *ret_events = 0;
    while ((p = step(f, at, p, &brace, &next)) != NULL) {
        if (at <= AT_CLOSE) { /* a new event begins */
            begin = brace;
            e = no_event;
        }
        at = next;
        if (at == AT_CLOSE) {
            if (!fast_take(f, &e, byte + (uint64_t)(begin - text)))
                break;
            done = p;
            ++*ret_events;
        } else if (at == AT_ARGS) {
            if (*p++ != '{' || e.has_args) /* a second one would undo what the first one said */
                break;
            e.has_args = true;
            at = IN_ARGS;
        } else if (at != AT_ARGS_CLOSE && !scan_value(f, at, &p, end, &e)) {
            break;
        }
    }
    return (size_t)(done - text);
}
