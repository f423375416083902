/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of reports as metric families, gathered: the samples of a family must stand together. */
#ifndef METRICS_FAMILIES_H
#define METRICS_FAMILIES_H

#include <glib.h>
#include <tracemill/kit/export.h>
#include <tracemill/report.h>

typedef struct metrics_set metrics_set; /* of one file */

/* item: the key that all in the file is of; NULL: it takes all keys. */
metrics_set *metrics_set_create(const char *item);
void metrics_set_destroy(metrics_set *set);
const char *metrics_set_item(const metrics_set *set);

/* Adds the figures of a report. Those that can't be a sample are counted by their reason. */
void metrics_set_add(metrics_set *set, const mill_report *report, const char *stage,
                     const char *key);
/* Writes the families in the order in which they came, and what was left out. missing: reports that
 * are not there because what makes them failed. */
void metrics_set_write(const metrics_set *set, uint64_t missing, kit_export *out);

#endif
