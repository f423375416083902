/* SPDX-License-Identifier: Apache-2.0 */
/* A database in the making: rows go in table by table, column by column.
 *
 * A sink takes bytes in their order only, and SQLite writes pages in any. So the database is made
 * in a file without a name beside its path, and copied to the sink when it is whole: memory stays
 * small however many traces it holds, which sqlite3_serialize can't give. */
#ifndef SQLITE_DATABASE_H
#define SQLITE_DATABASE_H

#include "schema.h"

#include <sqlite3.h>
#include <tracemill/tracemill.h>

typedef struct database {
    mill_run *run; /* of the callback that writes to it */
    char *path;    /* where it goes in the end */
    int fd;        /* the file without a name */
    sqlite3 *handle;
    sqlite3_stmt *inserts[TABLES]; /* each made when its first row comes */
    int64_t next[TABLES];          /* the first key that is not in use */
    sqlite3_stmt *row;             /* the one being filled */
    int column;                    /* of it, the last one filled */
    mill_status status;            /* the first failure, after which nothing is written */
} database;

/* An empty database with its tables. Errors (recorded): E_IO. */
mill_status database_create(mill_run *run, const char *path, database **ret_database);
/* Makes the indexes and copies the whole to the sink. It takes no more rows. */
mill_status database_write(database *d, mill_run *run, mill_sink *sink);
void database_destroy(database *d); /* NULL: nothing */

/* Rows: begin, all columns from left to right, end. MILL_UNKNOWN, NaN and NULL are SQL's NULL. Text
 * must stay until the row ends; what is not UTF-8 of it becomes U+FFFD. */
void database_row(database *d, schema_table table);
void database_int(database *d, int64_t value);
void database_real(database *d, double value);
void database_text(database *d, const char *text);
/* The same of text that is not ended by a NUL. */
void database_bytes(database *d, const char *text, size_t length);
void database_end(database *d);

#endif
