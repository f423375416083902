/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, compares and shows values: see limit.h. */
#include "limit.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/number.h>

typedef struct scale {
    const char *name;
    int64_t size;
} scale;

/* The units of the host's options. */
static const scale durations[] = {
    {"ns", 1},         {"us", 1000},         {"µs", 1000},         {"ms", 1000000},
    {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}, {NULL, 0},
};
static const scale sizes[] = {
    {"B", 1},         {"KB", 1000},     {"MB", 1000000},  {"GB", 1000000000},
    {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0},
};
static const scale whole[] = {{"", 1}, {NULL, 0}};

/* How many bytes at the beginning of a text are a number, without an exponent. */
static size_t number_length(const char *text) {
    size_t sign = strspn(text, "+-");
    return sign + strspn(text + sign, "0123456789.");
}

static const char *after_blanks(const char *text) {
    return text + strspn(text, " \t");
}

static bool read_whole(const char *text, const scale *units, int64_t *ret_value) {
    size_t n = number_length(text);
    const char *name = after_blanks(text + n);
    for (const scale *u = units; u->name; u++)
        if (strcmp(name, u->name) == 0)
            return kit_parse_scaled(text, n, u->size, ret_value);
    return false;
}

static bool read_real(const char *text, double *ret_value, const char **ret_rest) {
    char *end;
    *ret_value = g_ascii_strtod(text, &end);
    *ret_rest = after_blanks(end);
    return end != text && isfinite(*ret_value);
}

/* "12.3%" is read as 12.3e-2: the same double as 0.123, which a division need not give. */
static bool read_ratio(const char *text, double *ret_value) {
    const char *rest;
    if (!read_real(text, ret_value, &rest))
        return false;
    if (strcmp(rest, "%") != 0)
        return !*rest;
    g_autofree char *number = g_strndup(text, number_length(text));
    g_autofree char *scaled = g_strconcat(number, "e-2", NULL);
    return after_blanks(text + strlen(number)) == rest && read_real(scaled, ret_value, &rest) &&
           !*rest;
}

bool gate_limit_read(const char *text, const gate_value *like, gate_value *ret_limit) {
    const char *rest;
    *ret_limit = *like;
    switch (like->kind) {
    case MILL_KIND_TEXT:
        ret_limit->datum.text = text;
        return true;
    case MILL_KIND_NS:
        return read_whole(text, durations, &ret_limit->datum.i);
    case MILL_KIND_BYTES:
        return read_whole(text, sizes, &ret_limit->datum.i);
    case MILL_KIND_COUNT:
    case MILL_KIND_ID:
        return read_whole(text, whole, &ret_limit->datum.i);
    case MILL_KIND_RATIO:
        return read_ratio(text, &ret_limit->datum.d);
    case MILL_KIND_REAL:
        return read_real(text, &ret_limit->datum.d, &rest) &&
               (!*rest || g_strcmp0(rest, like->unit) == 0);
    }
    return false; /* a kind that is newer than this gate */
}

const char *gate_limit_form(mill_kind kind) {
    switch (kind) {
    case MILL_KIND_NS:
        return "a duration such as 250us, 1.5ms or 3s";
    case MILL_KIND_BYTES:
        return "a size such as 512B, 64KiB or 10MB";
    case MILL_KIND_COUNT:
    case MILL_KIND_ID:
        return "a whole number";
    case MILL_KIND_RATIO:
        return "a ratio such as 0.05 or 5%";
    case MILL_KIND_REAL:
        return "a number, without a unit or with its own";
    default:
        return "a value of a kind that this gate knows";
    }
}

static bool is_real(mill_kind kind) {
    return kind == MILL_KIND_RATIO || kind == MILL_KIND_REAL;
}

bool gate_is_unknown(const gate_value *value) {
    if (value->kind == MILL_KIND_TEXT)
        return !value->datum.text;
    return is_real(value->kind) ? !isfinite(value->datum.d) : value->datum.i == MILL_UNKNOWN;
}

/* Below, at or above 0, as a is below, at or above b. */
static int compare(const gate_value *a, const gate_value *b) {
    if (a->kind == MILL_KIND_TEXT)
        return strcmp(a->datum.text, b->datum.text);
    if (is_real(a->kind))
        return (a->datum.d > b->datum.d) - (a->datum.d < b->datum.d);
    return (a->datum.i > b->datum.i) - (a->datum.i < b->datum.i);
}

bool gate_holds(const gate_value *a, gate_operator test, const gate_value *b) {
    int order = compare(a, b);
    switch (test) {
    case GATE_ABOVE:
        return order > 0;
    case GATE_AT_LEAST:
        return order >= 0;
    case GATE_BELOW:
        return order < 0;
    case GATE_AT_MOST:
        return order <= 0;
    case GATE_EQUAL:
        return order == 0;
    case GATE_UNEQUAL:
        return order != 0;
    }
    return false;
}

/* Six digits, or more where these would be the limit's. */
static char *real_text(double value, double limit, double times, const char *unit) {
    char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
    for (int digits = 6; digits <= 17; digits++) {
        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(text, sizeof text, format, value * times);
        if (value == limit || g_ascii_strtod(text, NULL) != limit * times)
            break;
    }
    return g_strconcat(text, unit ? " " : "", unit, NULL);
}

char *gate_value_text(const gate_value *value, const gate_value *limit, const char *written) {
    char digits[KIT_NUMBER_MAX];
    double bound = limit && is_real(value->kind) ? limit->datum.d : NAN;
    if (gate_is_unknown(value))
        return g_strdup("unknown");
    switch (value->kind) {
    case MILL_KIND_TEXT:
        return g_strdup(value->datum.text);
    case MILL_KIND_NS:
        return g_strconcat(kit_format_us(digits, value->datum.i, KIT_GROUP), " µs", NULL);
    case MILL_KIND_BYTES:
        return g_strconcat(kit_format_int(digits, value->datum.i, KIT_GROUP), " B", NULL);
    case MILL_KIND_RATIO:
        return written && g_str_has_suffix(written, "%")
                   ? real_text(value->datum.d, bound, 100, "%")
                   : real_text(value->datum.d, bound, 1, NULL);
    case MILL_KIND_REAL:
        return real_text(value->datum.d, bound, 1, value->unit);
    default:
        return g_strdup(kit_format_int(digits, value->datum.i, 0));
    }
}
