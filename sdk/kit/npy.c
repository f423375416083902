/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files: see kit/npy.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tracemill/kit/npy.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, SHORT_HEAD = MAGIC + 4, LONG_HEAD = MAGIC + 6 };

bool kit_npy_is(const void *bytes, size_t length) {
    return length >= MAGIC && memcmp(bytes, magic, MAGIC) == 0;
}

/* ---------------------------------------------------------------- header */

typedef struct reader {
    const char *base, *at, *end; /* the file, and what is left of the header */
    char *error;
} reader;

static bool fault(const reader *r, const char *expected) {
    snprintf(r->error, KIT_NPY_ERROR, "byte %td: expected %s", r->at - r->base, expected);
    return false;
}

static void skip_blank(reader *r) {
    while (r->at < r->end && strchr(" \t\n", *r->at) && *r->at)
        r->at++;
}

static bool take(reader *r, const char *text) {
    skip_blank(r);
    size_t n = strlen(text);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* One of '<i8', '|u1', … */
static bool read_type(reader *r, kit_npy *ret) {
    static const char sizes[] = "1248";
    skip_blank(r);
    const char *t = r->at;
    bool fits = r->end - t >= 5 && (t[0] == '\'' || t[0] == '"') && t[4] == t[0];
    fits = fits && strchr("<>|=", t[1]) && strchr("iufb", t[2]) && strchr(sizes, t[3]) && t[3];
    if (!fits || (t[2] == 'f' && t[3] == '1') || (t[2] == 'b' && t[3] != '1'))
        return fault(r, "a type of numbers, such as '<i8' or '<f4'");
    ret->big = t[1] == '>';
    ret->kind = t[2];
    ret->size = (unsigned)(t[3] - '0');
    r->at += 5;
    return true;
}

static bool read_shape(reader *r, kit_npy *ret) {
    ret->count = 1;
    if (!take(r, "("))
        return fault(r, "the shape, such as (58, 288)");
    while (!take(r, ")")) {
        uint64_t n = 0;
        skip_blank(r);
        const char *digits = r->at;
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
            if (n > UINT32_MAX)
                return fault(r, "a smaller dimension");
            n = n * 10 + (uint64_t)(*r->at - '0');
        }
        if (r->at < r->end && *r->at == 'L' && r->at > digits)
            r->at++; /* Python 2 writes long numbers so */
        if (r->at == digits || ret->dimensions == KIT_NPY_DIMENSIONS)
            return fault(r, "at most 8 dimensions, whole numbers in parentheses");
        if (__builtin_mul_overflow(ret->count, n, &ret->count))
            return fault(r, "a shape with fewer numbers");
        ret->shape[ret->dimensions++] = n;
        take(r, ",");
    }
    return true;
}

/* {'descr': '<i8', 'fortran_order': False, 'shape': (58, 288), } in any order. */
static bool read_dictionary(reader *r, kit_npy *ret) {
    bool type = false, order = false, shape = false;
    if (!take(r, "{"))
        return fault(r, "a dictionary in braces");
    while (!take(r, "}")) {
        bool good;
        if (!type && take(r, "'descr':"))
            good = type = read_type(r, ret);
        else if (!order && take(r, "'fortran_order':"))
            good = order =
                (ret->fortran = take(r, "True")) || take(r, "False") || fault(r, "True or False");
        else if (!shape && take(r, "'shape':"))
            good = shape = read_shape(r, ret);
        else
            good = fault(r, "each of 'descr', 'fortran_order' and 'shape' once");
        if (!good)
            return false;
        take(r, ",");
    }
    return (type && order && shape) || fault(r, "'descr', 'fortran_order' and 'shape' before this");
}

bool kit_npy_read(const void *bytes, size_t length, kit_npy *ret_npy,
                  char ret_error[KIT_NPY_ERROR]) {
    const uint8_t *b = bytes;
    reader r = {bytes, bytes, (const char *)bytes + length, ret_error};
    kit_npy npy = {0};
    if (!kit_npy_is(bytes, length) || length < LONG_HEAD)
        return fault(&r, "\"\\x93NUMPY\" and a header");
    size_t begin = b[MAGIC] == 1 ? SHORT_HEAD : LONG_HEAD;
    size_t head = b[MAGIC + 2] | (size_t)b[MAGIC + 3] << 8;
    if (b[MAGIC] > 1)
        head |= (size_t)b[MAGIC + 4] << 16 | (size_t)b[MAGIC + 5] << 24;
    r.at += MAGIC;
    if (b[MAGIC] < 1 || b[MAGIC] > 3)
        return fault(&r, "version 1, 2 or 3");
    if (head > length - begin)
        return fault(&r, "a header that ends in the file: it is cut short");
    r.at = r.base + begin;
    r.end = r.at + head;
    if (!read_dictionary(&r, &npy))
        return false;
    uint64_t size, left = length - begin - head;
    if (__builtin_mul_overflow(npy.count, npy.size, &size) || size != left) {
        snprintf(ret_error, KIT_NPY_ERROR,
                 "byte %zu: expected %" PRIu64 " numbers of %u bytes, found %" PRIu64 " bytes",
                 begin + head, npy.count, npy.size, left);
        return false;
    }
    npy.data = b + begin + head;
    *ret_npy = npy;
    return true;
}

/* ---------------------------------------------------------------- numbers */

/* Where number i of C order lies. */
static uint64_t place_of(const kit_npy *npy, uint64_t i) {
    if (!npy->fortran)
        return i;
    uint64_t place = 0, stride = npy->count;
    for (unsigned d = npy->dimensions; d-- > 0; i /= npy->shape[d]) {
        stride /= npy->shape[d];
        place += i % npy->shape[d] * stride;
    }
    return place;
}

static uint64_t bits_of(const kit_npy *npy, uint64_t i) {
    const uint8_t *at = npy->data + place_of(npy, i) * npy->size;
    uint64_t bits = 0;
    for (unsigned k = 0; k < npy->size; k++)
        bits |= (uint64_t)at[npy->big ? npy->size - 1 - k : k] << 8 * k;
    return bits;
}

static int64_t signed_of(const kit_npy *npy, uint64_t bits) {
    unsigned unused = 64 - 8 * npy->size;
    return (int64_t)(bits << unused) >> unused;
}

/* IEEE 754 binary16. */
static double half(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023), value;
    if (exponent == 31)
        value = fraction > 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double single(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

double kit_npy_real(const kit_npy *npy, uint64_t i) {
    uint64_t bits = bits_of(npy, i);
    if (npy->kind == 'i')
        return (double)signed_of(npy, bits);
    if (npy->kind == 'B') /* the upper half of a binary32 */
        return single(bits << 16);
    if (npy->kind != 'f')
        return (double)bits;
    if (npy->size == 2)
        return half(bits);
    if (npy->size == 4)
        return single(bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool kit_npy_int(const kit_npy *npy, uint64_t i, int64_t *ret_value) {
    uint64_t bits = bits_of(npy, i);
    if (npy->kind == 'f' || npy->kind == 'B') {
        double value = kit_npy_real(npy, i);
        if (!(fabs(value) < 0x1p63) || value != floor(value))
            return false;
        *ret_value = (int64_t)value;
        return true;
    }
    if (npy->kind != 'i' && bits > INT64_MAX)
        return false;
    *ret_value = npy->kind == 'i' ? signed_of(npy, bits) : (int64_t)bits;
    return true;
}

void kit_npy_head(char ret_head[KIT_NPY_HEAD], unsigned dimensions, const uint64_t *shape) {
    memset(ret_head, ' ', KIT_NPY_HEAD);
    memcpy(ret_head, magic, MAGIC);
    ret_head[MAGIC] = 1; /* version 1.0; then the length of the text, two bytes */
    ret_head[MAGIC + 1] = 0;
    ret_head[MAGIC + 2] = (char)(KIT_NPY_HEAD - SHORT_HEAD);
    ret_head[MAGIC + 3] = 0;
    char text[KIT_NPY_HEAD - SHORT_HEAD];
    int n = snprintf(text, sizeof text, "{'descr': '<i8', 'fortran_order': False, 'shape': (");
    for (unsigned d = 0; d < dimensions; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%" PRIu64 ", ", shape[d]);
    if (dimensions > 1)
        n -= 2;
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    memcpy(ret_head + SHORT_HEAD, text, (size_t)n);
    ret_head[KIT_NPY_HEAD - 1] = '\n';
}
