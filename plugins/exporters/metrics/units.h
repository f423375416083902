/* SPDX-License-Identifier: Apache-2.0 */
/* Base units, as OpenMetrics wants them: seconds, bytes, ratios of one. */
#ifndef METRICS_UNITS_H
#define METRICS_UNITS_H

#include <tracemill/kit/value.h>

/* The base unit's name, as it ends the metric's: "seconds"; NULL: none. own: the unit of a REAL. */
const char *metrics_unit(mill_kind kind, const char *own);

/* The value in that unit. False where it is unknown, or of a kind that is newer than this exporter.
 */
bool metrics_value(char text[KIT_NUMBER_MAX], mill_kind kind, const char *own, mill_datum value);

#endif
