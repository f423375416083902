/* SPDX-License-Identifier: Apache-2.0 */
/* Exact decimal texts with a unit: durations in nanoseconds, sizes in bytes. */
#ifndef TRACEMILL_CONFIG_UNITS_H
#define TRACEMILL_CONFIG_UNITS_H

#include <stdint.h>

typedef enum units_kind {
    UNITS_DURATION, /* ns us µs ms s min h, in nanoseconds */
    UNITS_BYTES,    /* B KB MB GB (powers of 1000) KiB MiB GiB (of 1024), in bytes */
} units_kind;

typedef enum units_result {
    UNITS_OK,
    UNITS_MALFORMED, /* does not begin with a decimal number without sign and exponent */
    UNITS_NO_UNIT,   /* ends after the number */
    UNITS_BAD_UNIT,
    UNITS_FINE,  /* not a whole number of nanoseconds or bytes */
    UNITS_RANGE, /* over INT64_MAX */
} units_result;

units_result units_parse(units_kind kind, const char *text, int64_t *ret_value);

/* The exact value as a person writes it: "1.5ms", "64KiB". The caller frees it. */
char *units_format(units_kind kind, int64_t value);

/* "ns, us, ms, s, min or h" */
const char *units_names(units_kind kind);

#endif
