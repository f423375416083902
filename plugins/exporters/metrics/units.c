/* SPDX-License-Identifier: Apache-2.0 */
/* Base units: see units.h. */
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Units of REAL values: what they are of the base unit. A unit that is not here has no name in the
 * metric's, and its value stays as it is. */
static const struct {
    const char *own, *base;
    double factor;
} units[] = {
    {"s", "seconds", 1},
    {"ms", "seconds", 1e-3},
    {"µs", "seconds", 1e-6},
    {"ns", "seconds", 1e-9},
    {"B", "bytes", 1},
    {"GB", "bytes", 1e9},
    {"GB/s", "bytes_per_second", 1e9},
    {"TFLOP/s", "flops_per_second", 1e12},
    {"%", "ratio", 1e-2},
    {"×", "ratio", 1},
    {"ns/ns", "ratio", 1},
};

static size_t find(const char *own) {
    size_t i = 0;
    while (i < sizeof units / sizeof *units && (!own || strcmp(units[i].own, own) != 0))
        i++;
    return i;
}

static bool is_known(size_t i) {
    return i < sizeof units / sizeof *units;
}

const char *metrics_unit(mill_kind kind, const char *own) {
    size_t i = find(own);
    switch (kind) {
    case MILL_KIND_NS:
        return "seconds";
    case MILL_KIND_BYTES:
        return "bytes";
    case MILL_KIND_RATIO:
        return "ratio";
    case MILL_KIND_REAL:
        return is_known(i) ? units[i].base : NULL;
    default:
        return NULL;
    }
}

/* Exact: ns are nine decimals of a second. */
static void format_seconds(char text[KIT_NUMBER_MAX], int64_t ns) {
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    snprintf(text, KIT_NUMBER_MAX, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", size / 1000000000,
             size % 1000000000);
}

bool metrics_value(char text[KIT_NUMBER_MAX], mill_kind kind, const char *own, mill_datum value) {
    size_t i = find(own);
    switch (kind) {
    case MILL_KIND_NS:
        format_seconds(text, value.i);
        return value.i != MILL_UNKNOWN;
    case MILL_KIND_COUNT:
    case MILL_KIND_BYTES:
    case MILL_KIND_ID:
        kit_format_int(text, value.i, 0);
        return value.i != MILL_UNKNOWN;
    case MILL_KIND_RATIO:
        kit_format_real(text, value.d);
        return isfinite(value.d);
    case MILL_KIND_REAL:
        kit_format_real(text, value.d * (is_known(i) ? units[i].factor : 1));
        return isfinite(value.d);
    case MILL_KIND_TEXT:
        break;
    }
    return false;
}
