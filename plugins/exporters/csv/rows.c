/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a CSV file: see rows.h. */
#include "rows.h"

#include <glib.h>
#include <math.h>

static void begin_cell(csv_rows *rows) {
    if (rows->begun)
        kit_export_char(&rows->out, ',');
    rows->begun = true;
}

void csv_text(csv_rows *rows, const char *text) {
    begin_cell(rows);
    if (!text)
        return;
    g_autofree char *mended = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
    kit_export_cell(&rows->out, mended ? mended : text);
}

void csv_int(csv_rows *rows, int64_t value) {
    begin_cell(rows);
    if (value != MILL_UNKNOWN)
        kit_export_int(&rows->out, value);
}

void csv_real(csv_rows *rows, double value) {
    begin_cell(rows);
    if (isfinite(value))
        kit_export_real(&rows->out, value);
}

void csv_value(csv_rows *rows, mill_kind kind, mill_datum value) {
    switch (kind) {
    case MILL_KIND_TEXT:
        csv_text(rows, value.text);
        return;
    case MILL_KIND_COUNT:
    case MILL_KIND_NS:
    case MILL_KIND_BYTES:
    case MILL_KIND_ID:
        csv_int(rows, value.i);
        return;
    case MILL_KIND_RATIO:
    case MILL_KIND_REAL:
        csv_real(rows, value.d);
        return;
    }
    begin_cell(rows); /* a kind that is newer than this exporter */
}

void csv_end_row(csv_rows *rows) {
    kit_export_text(&rows->out, "\r\n");
    rows->begun = false;
}
