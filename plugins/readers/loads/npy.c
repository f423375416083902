/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files, versions 1 to 3.
 *
 * Source: numpy/numpy, doc/neps/nep-0001-npy-format.rst; numpy/lib/format.py. The header is a
 * Python literal: {'descr': '<i4', 'fortran_order': False, 'shape': (219, 26), }.
 */
#include "array.h"

#include <string.h>

#define MAGIC_LENGTH 8 /* with the version */

/* A cursor over the header's literal. */
typedef struct literal {
    const char *at, *end;
} literal;

static bool skip(literal *t, char c) {
    while (t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at)
        t->at++;
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool word(literal *t, const char *expected) {
    size_t n = strlen(expected);
    skip(t, ' ');
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, expected, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* Between quotes of either kind; no npy writer escapes anything in them. */
static bool quoted(literal *t, const char **ret_text, size_t *ret_length) {
    char quote = skip(t, '\'') ? '\'' : skip(t, '"') ? '"' : '\0';
    const char *close = quote ? memchr(t->at, quote, (size_t)(t->end - t->at)) : NULL;
    if (!close)
        return false;
    *ret_text = t->at;
    *ret_length = (size_t)(close - t->at);
    t->at = close + 1;
    return true;
}

static bool dimension(literal *t, uint64_t *ret) {
    const char *begin = t->at;
    *ret = 0;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
        if (__builtin_mul_overflow(*ret, 10, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(*t->at - '0'), ret))
            return false;
    word(t, "L"); /* as Python 2 writes long numbers */
    return t->at > begin;
}

static bool shape(literal *t, ld_array *a) {
    if (!skip(t, '('))
        return false;
    for (a->n_dims = 0; !skip(t, ')'); a->n_dims++) {
        skip(t, ' ');
        if (a->n_dims == LD_MOST_DIMS || !dimension(t, &a->dims[a->n_dims]))
            return false;
        if (!skip(t, ',') && !(t->at < t->end && *t->at == ')'))
            return false;
    }
    return true;
}

/* "<i4": the byte order, the kind, the bytes. */
static bool type(const char *text, size_t length, ld_array *a) {
    if (length != 3 || !strchr("<>|=", text[0]) || !strchr("iuf", text[1]) ||
        !strchr("1248", text[2]))
        return false;
    a->big = text[0] == '>';
    a->kind = text[1];
    a->size = (unsigned)(text[2] - '0');
    return a->kind != 'f' || a->size > 1;
}

typedef struct header {
    bool has_type, has_order, has_shape;
    const char *type; /* as written */
    size_t type_length;
} header;

static bool entry(literal *t, header *h, ld_array *a) {
    const char *key;
    size_t length;
    if (!quoted(t, &key, &length) || !skip(t, ':'))
        return false;
    if (length == 5 && memcmp(key, "descr", 5) == 0)
        return h->has_type = quoted(t, &h->type, &h->type_length);
    if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
        a->fortran = word(t, "True");
        return h->has_order = a->fortran || word(t, "False");
    }
    return length == 5 && memcmp(key, "shape", 5) == 0 && (h->has_shape = shape(t, a));
}

static bool parse(literal *t, header *h, ld_array *a) {
    if (!skip(t, '{'))
        return false;
    while (!skip(t, '}'))
        if (!entry(t, h, a) || (!skip(t, ',') && !(t->at < t->end && *t->at == '}')))
            return false;
    return h->has_type && h->has_order && h->has_shape;
}

/* Where the header begins and ends; false: the file ends before. */
static bool find_header(const ld_reading *r, literal *ret) {
    unsigned wide = r->bytes[6] == 1 ? 2 : 4; /* bytes of its length, little-endian */
    size_t length = 0;
    if (r->n < MAGIC_LENGTH + wide)
        return false;
    for (unsigned i = 0; i < wide; i++)
        length |= (size_t)r->bytes[MAGIC_LENGTH + i] << 8 * i;
    ret->at = (const char *)r->bytes + MAGIC_LENGTH + wide;
    ret->end = ret->at + length;
    return length <= r->n - MAGIC_LENGTH - wide;
}

static mill_status understand(ld_reading *r, ld_array *a) {
    literal t;
    header h = {0};
    if (r->n < MAGIC_LENGTH || r->bytes[6] < 1 || r->bytes[6] > 3)
        return mill_fail(r->run, MILL_E_DATA, "%s: a version of npy that is not known (1 to 3 are)",
                         r->name);
    if (!find_header(r, &t))
        return mill_fail(r->run, MILL_E_DATA, "%s: the npy file ends inside its header", r->name);
    const char *begin = t.at;
    if (!parse(&t, &h, a))
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: the npy header makes no sense at its byte %td; expected one plain "
                         "array of at most %d dimensions (no structured type)",
                         r->name, t.at - begin, LD_MOST_DIMS);
    if (!type(h.type, h.type_length, a))
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: numbers of type %.*s can't be loads; save an array of integers or of "
                         "float16, float32 or float64 (array.astype)",
                         r->name, h.type_length > 32 ? 32 : (int)h.type_length, h.type);
    a->data = (const uint8_t *)t.end;
    return MILL_OK;
}

mill_status ld_read_npy(ld_reading *r) {
    ld_array a = {0};
    size_t bytes;
    r->format = "npy";
    mill_status status = understand(r, &a);
    if (status != MILL_OK)
        return status;
    size_t room = (size_t)(r->bytes + r->n - a.data);
    if (!ld_array_lay_out(&a, room, &bytes))
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: the npy file is cut: its shape needs more than the %zu bytes behind "
                         "the header",
                         r->name, room);
    if (bytes < room)
        ld_remark_add(&r->remarks, MILL_WARNING, "trailing_bytes",
                      "Behind the array there are %zu bytes more, which were not read.",
                      room - bytes);
    return ld_read_array(r, &a);
}
