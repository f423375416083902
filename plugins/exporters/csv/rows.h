/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a CSV file (RFC 4180): cells with commas between them, lines that end with CR LF. */
#ifndef CSV_ROWS_H
#define CSV_ROWS_H

#include <stdbool.h>
#include <tracemill/kit/export.h>
#include <tracemill/report.h>

typedef struct csv_rows {
    kit_export out;
    bool begun; /* the row has a cell */
} csv_rows;

/* Unknown values are empty cells, empty text is "". What is no UTF-8 becomes U+FFFD. */
void csv_text(csv_rows *rows, const char *text);
void csv_int(csv_rows *rows, int64_t value);
void csv_real(csv_rows *rows, double value);
void csv_value(csv_rows *rows, mill_kind kind, mill_datum value);
void csv_end_row(csv_rows *rows);

#endif
