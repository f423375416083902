/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the database, described in README.md. */
#ifndef SQLITE_SCHEMA_H
#define SQLITE_SCHEMA_H

typedef enum schema_table {
    TABLE_ITEM,
    TABLE_MISSING,
    TABLE_TRACE,
    TABLE_NAME,
    TABLE_DEVICE,
    TABLE_STREAM,
    TABLE_THREAD,
    TABLE_COLLECTIVE,
    TABLE_SLICE,
    TABLE_ACTIVITY,
    TABLE_FLOW,
    TABLE_COUNTER,
    TABLE_SYNC,
    TABLE_TIMER,
    TABLE_DIAGNOSTIC,
    TABLE_REPORT,
    TABLE_FIGURE,
    TABLE_TABLE,
    TABLE_COLUMN,
    TABLE_CELL,
    TABLE_NOTE,
    TABLE_FINDING,
    TABLE_LANE,
    TABLE_INTERVAL,
    TABLE_SERIES,
    TABLE_POINT,
    TABLE_SCHEDULE,
    TABLE_OPERATION,
    TABLES,
} schema_table;

/* Their names; constant. */
extern const char *const schema_names[TABLES];

/* SQL that makes the tables and views; and the indexes, cheaper to make when the rows are there. */
extern const char schema_tables[];
extern const char schema_indexes[];

#endif
