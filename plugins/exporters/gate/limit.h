/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a report against limits, each in its kind. */
#ifndef GATE_LIMIT_H
#define GATE_LIMIT_H

#include "condition.h"

#include <tracemill/report.h>

typedef struct gate_value {
    mill_kind kind;
    const char *unit; /* of REAL, or NULL */
    mill_datum datum;
} gate_value;

/* Reads a limit for values such as `like`: durations and sizes with their unit, ratios also in per
 * cent, reals with or without the unit of `like`. False: it is none. Text is borrowed. */
bool gate_limit_read(const char *text, const gate_value *like, gate_value *ret_limit);

/* How a limit for such values is written, as the end of a sentence. */
const char *gate_limit_form(mill_kind kind);

bool gate_is_unknown(const gate_value *value);

/* Whether `a TEST b` is true. Both are of one kind and known. */
bool gate_holds(const gate_value *a, gate_operator test, const gate_value *b);

/* The value with its unit, as precise as it takes to tell it from the limit; ratios in per cent if
 * the limit, as written, is. limit and written may be NULL. The caller frees it. */
char *gate_value_text(const gate_value *value, const gate_value *limit, const char *written);

#endif
