/* SPDX-License-Identifier: Apache-2.0 */
/* Builder of mill.report/1 values. All memory is the value's (value_alloc), all text is copied and
 * made valid UTF-8, so what is built can be posted as it is.
 *
 * Use: kit_report_begin, then figures, tables, notes… in the order they should be shown, then
 * kit_report_end and mill_output. The builder itself lives in the run's scratch memory.
 */
#ifndef TRACEMILL_KIT_REPORT_H
#define TRACEMILL_KIT_REPORT_H

#include <tracemill/report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_report kit_report;
typedef struct kit_table kit_table;

/* id: of the analysis; title: for people; subject: what it is about, or NULL. */
kit_report *kit_report_begin(mill_run *run, const char *id, const char *title, const char *subject);
/* The answer in one sentence. */
MILL_PRINTF(2, 3) void kit_report_summary(kit_report *report, const char *format, ...);
/* The value to post. The builder must not be used afterwards. */
mill_report *kit_report_end(kit_report *report);

/* Figures. scope and help may be NULL. */
void kit_figure_text(kit_report *r, const char *id, const char *label, const char *scope,
                     const char *help, const char *text);
/* COUNT, NS, BYTES or ID. */
void kit_figure_int(kit_report *r, mill_kind kind, const char *id, const char *label,
                    const char *scope, const char *help, int64_t value);
/* numerator / denominator, unknown where the denominator is 0. */
void kit_figure_ratio(kit_report *r, const char *id, const char *label, const char *scope,
                      const char *help, int64_t numerator, int64_t denominator);
/* The same of a value that is no quotient of two whole numbers; NaN: unknown. */
void kit_figure_share(kit_report *r, const char *id, const char *label, const char *scope,
                      const char *help, double value);
void kit_figure_real(kit_report *r, const char *id, const char *label, const char *scope,
                     const char *help, const char *unit, double value);

/* Tables: first the columns, then row by row a cell for each column from left to right. A row that
 * is left short is filled up with unknown. */
kit_table *kit_table_begin(kit_report *r, const char *id, const char *label, const char *help);
void kit_table_column(kit_table *t, mill_kind kind, const char *id, const char *label,
                      const char *unit, const char *help);
/* The same from a list of columns, which ends where id is NULL. Without units: not for REAL. */
typedef struct kit_column {
    mill_kind kind;
    const char *id, *label, *help;
} kit_column;
kit_table *kit_table_of(kit_report *r, const char *id, const char *label, const char *help,
                        const kit_column *columns);
void kit_table_row(kit_table *t); /* begins the next row */
void kit_cell_text(kit_table *t, const char *text);
void kit_cell_int(kit_table *t, int64_t value);
void kit_cell_ratio(kit_table *t, int64_t numerator, int64_t denominator);
void kit_cell_share(kit_table *t, double value); /* of a RATIO; NaN: unknown */
void kit_cell_real(kit_table *t, double value);

MILL_PRINTF(4, 5)
void kit_note(kit_report *r, mill_level level, const char *id, const char *format, ...);

/* What a finding says; text members may be NULL but id and rule. */
void kit_finding(kit_report *r, const mill_finding *finding);
/* Copied whole, arrays and texts. */
void kit_lane(kit_report *r, const mill_lane *lane);
void kit_series(kit_report *r, const mill_series *series);

/* A copy of `length` bytes as valid UTF-8 in memory of `value` (value_alloc): each byte that is no
 * part of a valid sequence becomes U+FFFD; NULs too. */
const char *kit_text_utf8(mill_run *run, void *value, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
