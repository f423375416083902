/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a report as people read them: see value.h. */
#include "value.h"
#include "page.h"

#include <tracemill/kit/value.h>

#define UNKNOWN "unknown"

char *text_value(mill_kind kind, mill_datum value) {
    char digits[KIT_NUMBER_MAX];
    if (kind == MILL_KIND_TEXT)
        return value.text ? text_clean(value.text) : g_strdup(UNKNOWN);
    return g_strdup(kit_format_value(digits, kind, value));
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

bool text_is_number(mill_kind kind) {
    return kind != MILL_KIND_TEXT;
}
