/* SPDX-License-Identifier: Apache-2.0 */
/* An export of Nsight Systems, opened to be read: versions differ in tables and columns, so each
 * query is made of those that are there. */
#ifndef NSYS_DATABASE_H
#define NSYS_DATABASE_H

#include <sqlite3.h>
#include <tracemill/tracemill.h>

typedef struct database {
    mill_run *run;
    const char *path;
    sqlite3 *handle;
} database;

/* Errors (recorded): E_NOINPUT; E_DATA if it is no SQLite database, or no such export. Close it in
 * any case. */
mill_status database_open(mill_run *run, const char *path, database *ret_database);
void database_close(database *db);

/* Records why SQLite failed: what is wrong with the file, or that the run was cancelled. */
mill_status database_fail(const database *db);

bool database_has_table(const database *db, const char *table);
bool database_has_column(const database *db, const char *table, const char *column);

/* Begins a query; `sql` is a format of printf's. Finalize what it gives. Errors (recorded). */
MILL_PRINTF(3, 4)
mill_status database_query(const database *db, sqlite3_stmt **ret_query, const char *sql, ...);

/* The next row: sets *ret_row to whether there is one. Errors (recorded). */
mill_status database_next(const database *db, sqlite3_stmt *query, bool *ret_row);

/* A whole number, or MILL_UNKNOWN for NULL and for what is none. */
int64_t database_int(sqlite3_stmt *query, int column);

#endif
