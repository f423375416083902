/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the exact conversion between int64 numbers and decimal text. */
#include <tracemill/kit/number.h>

#include <stdio.h>
#include <string.h>

/* Writes value / 10^decimals from the right end of text, then moves it to the front. */
static const char *format_decimal(char text[KIT_NUMBER_MAX], int64_t value, int decimals,
                                  uint32_t flags) {
    if (value == INT64_MIN)
        return strcpy(text, "unknown");
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char *end = text + KIT_NUMBER_MAX - 1, *at = end;
    *end = '\0';
    for (; decimals > 0; decimals--, rest /= 10)
        if (rest % 10 != 0 || at != end)
            *--at = (char)('0' + rest % 10);
    if (at != end)
        *--at = '.';
    int digits = 0;
    do {
        if ((flags & KIT_GROUP) && digits > 0 && digits % 3 == 0)
            *--at = ' ';
        *--at = (char)('0' + rest % 10);
        digits++;
    } while (rest /= 10);
    if (value < 0)
        *--at = '-';
    return memmove(text, at, (size_t)(end - at) + 1);
}

const char *kit_format_us(char text[KIT_NUMBER_MAX], int64_t ns, uint32_t flags) {
    return format_decimal(text, ns, 3, flags);
}

const char *kit_format_ms(char text[KIT_NUMBER_MAX], int64_t ns, uint32_t flags) {
    return format_decimal(text, ns, 6, flags);
}

const char *kit_format_int(char text[KIT_NUMBER_MAX], int64_t value, uint32_t flags) {
    return format_decimal(text, value, 0, flags);
}

/* A number as it is written: its digits, those before and those after the point in turn, and the
 * power of ten by which the exponent moves the point to the right. */
typedef struct decimal {
    bool negative;
    const char *whole, *fraction;
    int64_t n_whole, n_fraction, exponent;
} decimal;

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static const char *scan_sign(const char *at, const char *end, bool *ret_negative) {
    *ret_negative = at < end && *at == '-';
    return at < end && (*at == '-' || *at == '+') ? at + 1 : at;
}

/* Reads e, a sign and digits. An exponent too large for any text to make up for is cut, so that
 * sums with it can't overflow. NULL: wrong. */
static const char *scan_exponent(const char *at, const char *end, int64_t *ret_exponent) {
    bool negative;
    const char *digits = scan_sign(at + 1, end, &negative);
    const char *stop = skip_digits(digits, end);
    if (stop == digits)
        return NULL;
    int64_t exponent = 0;
    for (at = digits; at < stop && exponent < INT64_MAX / 100; at++)
        exponent = exponent * 10 + (*at - '0');
    *ret_exponent = negative ? -exponent : exponent;
    return stop;
}

static bool scan(const char *text, size_t length, decimal *ret_number) {
    const char *at = text, *end = text + length;
    decimal d = {0};
    d.whole = scan_sign(at, end, &d.negative);
    at = skip_digits(d.whole, end);
    d.n_whole = at - d.whole;
    if (d.n_whole == 0)
        return false;
    if (at < end && *at == '.') {
        d.fraction = at + 1;
        at = skip_digits(d.fraction, end);
        d.n_fraction = at - d.fraction;
        if (d.n_fraction == 0)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E'))
        at = scan_exponent(at, end, &d.exponent);
    *ret_number = d;
    return at == end;
}

/* Digit i from the left, 0 outside of what is written. */
static unsigned digit(const decimal *d, int64_t i) {
    if (i < 0 || i >= d->n_whole + d->n_fraction)
        return 0;
    return (unsigned)((i < d->n_whole ? d->whole[i] : d->fraction[i - d->n_whole]) - '0');
}

/* The first `keep` digits as a number. False if it is above the limit. */
static bool leading(const decimal *d, int64_t keep, uint64_t limit, uint64_t *ret_value) {
    int64_t written = d->n_whole + d->n_fraction;
    uint64_t value = 0;
    for (int64_t i = 0; i < keep && (value != 0 || i < written); i++) {
        unsigned next = digit(d, i);
        if (value > (limit - next) / 10)
            return false;
        value = value * 10 + next;
    }
    *ret_value = value;
    return true;
}

bool kit_parse_us(const char *text, size_t length, int64_t *ret_ns) {
    decimal d;
    uint64_t ns;
    if (!scan(text, length, &d))
        return false;
    int64_t keep = d.n_whole + d.exponent + 3;
    if (!leading(&d, keep, INT64_MAX, &ns))
        return false;
    if (digit(&d, keep) >= 5 && ns++ == INT64_MAX)
        return false;
    *ret_ns = d.negative ? -(int64_t)ns : (int64_t)ns;
    return true;
}

bool kit_parse_int(const char *text, size_t length, bool wrap, int64_t *ret_value) {
    decimal d;
    uint64_t value;
    if (!scan(text, length, &d))
        return false;
    int64_t keep = d.n_whole + d.exponent;
    uint64_t limit = d.negative ? (uint64_t)INT64_MAX + 1 : wrap ? UINT64_MAX : INT64_MAX;
    if (!leading(&d, keep, limit, &value))
        return false;
    for (int64_t i = keep < 0 ? 0 : keep; i < d.n_whole + d.n_fraction; i++)
        if (digit(&d, i) != 0)
            return false;
    *ret_value = (int64_t)(d.negative ? -value : value);
    return true;
}

bool kit_parse_scaled(const char *text, size_t length, int64_t scale, int64_t *ret_value) {
    decimal d;
    uint64_t value;
    if (!scan(text, length, &d))
        return false;
    int64_t point = d.n_whole + d.exponent, last = d.n_whole + d.n_fraction;
    while (last > 0 && digit(&d, last - 1) == 0)
        last--;
    int64_t keep = last > point ? last : point;
    if (!leading(&d, keep, INT64_MAX, &value))
        return false;
    unsigned __int128 product = (unsigned __int128)value * (uint64_t)scale;
    for (int64_t decimals = keep - point; decimals > 0 && product != 0; decimals--, product /= 10)
        if (product % 10 != 0)
            return false;
    if (product > INT64_MAX)
        return false;
    *ret_value = d.negative ? -(int64_t)product : (int64_t)product;
    return true;
}

/* Not printf's %f: it follows the locale. */
const char *kit_format_percent(char text[KIT_NUMBER_MAX], int64_t part, int64_t whole) {
    if (whole <= 0 || part == INT64_MIN)
        return strcpy(text, "unknown");
    double tenths = 1000.0 * (double)part / (double)whole;
    long long rounded = (long long)(tenths < 0 ? tenths - 0.5 : tenths + 0.5);
    long long size = rounded < 0 ? -rounded : rounded;
    snprintf(text, KIT_NUMBER_MAX, "%s%lld.%lld %%", rounded < 0 ? "-" : "", size / 10, size % 10);
    return text;
}
