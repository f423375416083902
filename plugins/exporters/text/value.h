/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a report as people read them. */
#ifndef TEXT_VALUE_H
#define TEXT_VALUE_H

#include <stdbool.h>
#include <tracemill/kit/value.h>

/* Clean text without the unit; freed with g_free. "unknown" where it is. */
char *text_value(mill_kind kind, mill_datum value);

/* The same of a time, in whole µs; "<1" or ">-1" where something would become nothing. */
char *text_whole_us(int64_t ns);

/* Whether values of the kind are numbers, which stand at the right. */
bool text_is_number(mill_kind kind);

#endif
