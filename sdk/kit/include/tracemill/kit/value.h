/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a report as text: as people read them, and exact. */
#ifndef TRACEMILL_KIT_VALUE_H
#define TRACEMILL_KIT_VALUE_H

#include <tracemill/kit/number.h>
#include <tracemill/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number without its unit: whole ones in groups, times in µs, ratios in per cent, others with six
 * digits; "unknown" where it is, and for TEXT. Returns text. */
const char *kit_format_value(char text[KIT_NUMBER_MAX], mill_kind kind, mill_datum value);

/* The unit that belongs to that, or NULL. own: the unit of a REAL. */
const char *kit_value_unit(mill_kind kind, const char *own);

bool kit_value_is_unknown(mill_kind kind, mill_datum value);

/* The shortest decimal text that reads back as the same number; finite. Returns text. */
const char *kit_format_real(char text[KIT_NUMBER_MAX], double value);

#ifdef __cplusplus
}
#endif
#endif
