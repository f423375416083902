/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a report as people read them: see value.h. */
#include "value.h"
#include "page.h"

#include <math.h>
#include <tracemill/kit/number.h>

#define UNKNOWN "unknown"

/* Per cent with two decimals. Four near 0 and 100, where two would round a little to nothing and
 * almost all to all. */
static char *ratio_text(double ratio) {
    char digits[64];
    double percent = ratio * 100, least = fmin(fabs(percent), fabs(100 - percent));
    if (!isfinite(ratio))
        return g_strdup(UNKNOWN);
    if (fabs(percent) >= 1e15)
        return g_strdup(g_ascii_formatd(digits, sizeof digits, "%.6g", percent));
    const char *format = least > 0 && least < 0.1 ? "%.4f" : "%.2f";
    return g_strdup(g_ascii_formatd(digits, sizeof digits, format, percent));
}

/* Six significant digits; large numbers whole, in groups. */
static char *real_text(double value) {
    char digits[KIT_NUMBER_MAX];
    if (!isfinite(value))
        return g_strdup(UNKNOWN);
    if (fabs(value) >= 1e6 && fabs(value) < 1e15)
        return g_strdup(kit_format_int(digits, llround(value), KIT_GROUP));
    return g_strdup(g_ascii_formatd(digits, sizeof digits, "%.6g", value));
}

char *text_value(mill_kind kind, mill_datum value) {
    char digits[KIT_NUMBER_MAX];
    switch (kind) {
    case MILL_KIND_TEXT:
        return value.text ? text_clean(value.text) : g_strdup(UNKNOWN);
    case MILL_KIND_COUNT:
    case MILL_KIND_BYTES:
        return g_strdup(kit_format_int(digits, value.i, KIT_GROUP));
    case MILL_KIND_ID:
        return g_strdup(kit_format_int(digits, value.i, 0));
    case MILL_KIND_NS:
        return g_strdup(kit_format_us(digits, value.i, KIT_GROUP));
    case MILL_KIND_RATIO:
        return ratio_text(value.d);
    case MILL_KIND_REAL:
        return real_text(value.d);
    }
    return g_strdup(UNKNOWN); /* a kind that is newer than this exporter */
}

char *text_whole_us(int64_t ns) {
    char digits[KIT_NUMBER_MAX];
    if (ns == MILL_UNKNOWN)
        return g_strdup(UNKNOWN);
    if (ns != 0 && ns > -500 && ns < 500)
        return g_strdup(ns > 0 ? "<1" : ">-1");
    int64_t rest = ns % 1000;
    return g_strdup(kit_format_int(digits, ns / 1000 + (rest >= 500) - (rest <= -500), KIT_GROUP));
}

bool text_is_unknown(mill_kind kind, mill_datum value) {
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

const char *text_unit(mill_kind kind, const char *own) {
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

bool text_is_number(mill_kind kind) {
    return kind != MILL_KIND_TEXT;
}
