/* SPDX-License-Identifier: Apache-2.0 */
/* A report as tables: its own ones, and one for each other part of it. */
#ifndef CSV_PARTS_H
#define CSV_PARTS_H

#include "rows.h"

/* Where a report comes from: the first two columns of each table. */
typedef struct csv_origin {
    const char *key, *stage, *type;
} csv_origin;

/* A part that each report has in the same columns. */
typedef struct csv_part {
    const char *name;   /* "figures" */
    const char *header; /* a line without its end */
    uint64_t (*count)(const mill_report *report);
    void (*rows)(csv_rows *rows, const csv_origin *origin, const mill_report *report);
} csv_part;

extern const csv_part csv_parts[]; /* ends where name is NULL; the first is there for any report */

/* The header of a table, freed with g_free; and its rows. */
char *csv_table_header(const mill_table *table);
void csv_table_rows(csv_rows *rows, const csv_origin *origin, const mill_table *table);

#endif
