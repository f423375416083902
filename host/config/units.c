/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text times a unit, in whole numbers: nothing passes through a double. */
#include "config/units.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

typedef struct unit {
    const char *name;
    int64_t size;
    bool fraction; /* units_format may write decimals before it */
} unit;

/* From the largest, so that the first that fits is the shortest. */
static const unit durations[] = {
    {"h", 3600000000000, false}, {"min", 60000000000, false},
    {"s", 1000000000, true},     {"ms", 1000000, true},
    {"us", 1000, true},          {"ns", 1, true},
    {"µs", 1000, false},         {NULL, 0, false},
};
static const unit sizes[] = {
    {"GiB", 1 << 30, false}, {"MiB", 1 << 20, false},
    {"KiB", 1 << 10, false}, {"GB", 1000000000, false},
    {"MB", 1000000, false},  {"KB", 1000, false},
    {"B", 1, true},          {NULL, 0, false},
};

static const unit *units_of(units_kind kind) {
    return kind == UNITS_DURATION ? durations : sizes;
}

const char *units_names(units_kind kind) {
    return kind == UNITS_DURATION ? "ns, us, ms, s, min or h" : "B, KB, MB, GB, KiB, MiB or GiB";
}

/* The whole and the fractional digits of a decimal number. */
typedef struct decimal {
    const char *whole, *fraction;
    size_t n_whole, n_fraction;
} decimal;

static const char *decimal_parse(const char *text, decimal *ret) {
    static const char digits[] = "0123456789";
    *ret = (decimal){.whole = text, .n_whole = strspn(text, digits)};
    text += ret->n_whole;
    if (*text == '.') {
        ret->fraction = text + 1;
        ret->n_fraction = strspn(ret->fraction, digits);
        text = ret->fraction + ret->n_fraction;
    }
    if (ret->n_whole == 0 || (ret->fraction && ret->n_fraction == 0))
        return NULL;
    while (ret->n_fraction > 0 && ret->fraction[ret->n_fraction - 1] == '0')
        ret->n_fraction--;
    return text;
}

static units_result decimal_scale(const decimal *d, int64_t size, int64_t *ret_value) {
    int64_t whole = 0;
    for (size_t i = 0; i < d->n_whole; i++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, d->whole[i] - '0', &whole))
            return UNITS_RANGE;
    if (__builtin_mul_overflow(whole, size, &whole))
        return UNITS_RANGE;

    /* 10^18 times the largest unit fits 128 bits; more decimals are finer than any use. */
    if (d->n_fraction > 18)
        return UNITS_FINE;
    unsigned __int128 part = 0, ten = 1;
    for (size_t i = 0; i < d->n_fraction; i++) {
        part = part * 10 + (unsigned)(d->fraction[i] - '0');
        ten *= 10;
    }
    part *= (unsigned __int128)size;
    if (part % ten != 0)
        return UNITS_FINE;
    return __builtin_add_overflow(whole, (int64_t)(part / ten), ret_value) ? UNITS_RANGE : UNITS_OK;
}

units_result units_parse(units_kind kind, const char *text, int64_t *ret_value) {
    decimal d;
    const char *name = decimal_parse(text, &d);
    if (!name)
        return UNITS_MALFORMED;
    while (*name == ' ' || *name == '\t')
        name++;
    if (!*name)
        return UNITS_NO_UNIT;
    for (const unit *u = units_of(kind); u->name; u++)
        if (strcmp(name, u->name) == 0) {
            int64_t value;
            units_result result = decimal_scale(&d, u->size, &value);
            if (result == UNITS_OK)
                *ret_value = value;
            return result;
        }
    return UNITS_BAD_UNIT;
}

char *units_format(units_kind kind, int64_t value) {
    const unit *u = units_of(kind);
    while (u->size > 1 && (value == 0 || value % u->size != 0) &&
           !(u->fraction && value >= u->size))
        u++;
    int64_t part = value % u->size;
    if (part == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT "%s", value / u->size, u->name);
    int width = 0;
    for (int64_t s = u->size; s > 1; s /= 10)
        width++;
    for (; part % 10 == 0; part /= 10)
        width--;
    return g_strdup_printf("%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT "%s", value / u->size, width,
                           part, u->name);
}
