/* SPDX-License-Identifier: Apache-2.0 */
/* Owns how values of a report become text. */
#include <tracemill/kit/value.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "unknown"

/* Per cent with two decimals. Four near 0 and 100, where two would round a little to nothing and
 * almost all to all. */
static const char *format_ratio(char text[KIT_NUMBER_MAX], double ratio) {
    double percent = ratio * 100, from_0 = fabs(percent), from_100 = fabs(100 - percent);
    double least = from_0 < from_100 ? from_0 : from_100;
    if (!isfinite(ratio))
        return strcpy(text, UNKNOWN);
    if (from_0 >= 1e15)
        snprintf(text, KIT_NUMBER_MAX, "%.6g", percent);
    else
        snprintf(text, KIT_NUMBER_MAX, "%.*f", least > 0 && least < 0.1 ? 4 : 2, percent);
    return text;
}

/* Six significant digits; large numbers whole, in groups. */
static const char *format_six(char text[KIT_NUMBER_MAX], double value) {
    if (!isfinite(value))
        return strcpy(text, UNKNOWN);
    if (fabs(value) >= 1e6 && fabs(value) < 1e15)
        return kit_format_int(text, (int64_t)(value < 0 ? value - 0.5 : value + 0.5), KIT_GROUP);
    snprintf(text, KIT_NUMBER_MAX, "%.6g", value);
    return text;
}

const char *kit_format_value(char text[KIT_NUMBER_MAX], mill_kind kind, mill_datum value) {
    switch (kind) {
    case MILL_KIND_TEXT:
        break;
    case MILL_KIND_COUNT:
    case MILL_KIND_BYTES:
        return kit_format_int(text, value.i, KIT_GROUP);
    case MILL_KIND_ID:
        return kit_format_int(text, value.i, 0);
    case MILL_KIND_NS:
        return kit_format_us(text, value.i, KIT_GROUP);
    case MILL_KIND_RATIO:
        return format_ratio(text, value.d);
    case MILL_KIND_REAL:
        return format_six(text, value.d);
    }
    return strcpy(text, UNKNOWN); /* also a kind that is newer than this kit */
}

const char *kit_value_unit(mill_kind kind, const char *own) {
    switch (kind) {
    case MILL_KIND_NS:
        return "µs";
    case MILL_KIND_BYTES:
        return "B";
    case MILL_KIND_RATIO:
        return "%";
    default:
        return own;
    }
}

bool kit_value_is_unknown(mill_kind kind, mill_datum value) {
    switch (kind) {
    case MILL_KIND_TEXT:
        return !value.text;
    case MILL_KIND_RATIO:
    case MILL_KIND_REAL:
        return !isfinite(value.d);
    default:
        return value.i == MILL_UNKNOWN;
    }
}

/* 17 digits are always enough for a double; most need no more than 15. */
const char *kit_format_real(char text[KIT_NUMBER_MAX], double value) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, KIT_NUMBER_MAX, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}
