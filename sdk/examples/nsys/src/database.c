/* SPDX-License-Identifier: Apache-2.0 */
/* An export of Nsight Systems, opened to be read: see database.h. */
#include "database.h"

#include <sys/stat.h>
#include <tracemill/trace.h>

#define CHECK_AFTER 100000 /* steps of SQLite's machine: a few ms */

static int is_cancelled(void *run) {
    return mill_cancelled(run);
}

mill_status database_fail(const database *db) {
    if (mill_cancelled(db->run))
        return MILL_E_CANCELLED;
    switch (sqlite3_errcode(db->handle) & 0xff) {
    case SQLITE_NOTADB:
        return mill_fail(db->run, MILL_E_DATA,
                         "%s: not an SQLite database; make one of the report with: nsys export "
                         "--type sqlite",
                         db->path);
    case SQLITE_CORRUPT:
        return mill_fail(db->run, MILL_E_DATA,
                         "%s: the database is damaged, or the file was cut (%s); export it again",
                         db->path, sqlite3_errmsg(db->handle));
    case SQLITE_CANTOPEN:
        return mill_fail(db->run, MILL_E_NOINPUT, "%s: can't be opened: %s", db->path,
                         sqlite3_errmsg(db->handle));
    case SQLITE_IOERR:
        return mill_fail(db->run, MILL_E_IO, "%s: can't be read: %s", db->path,
                         sqlite3_errmsg(db->handle));
    default:
        return mill_fail(db->run, MILL_E_DATA, "%s: %s", db->path, sqlite3_errmsg(db->handle));
    }
}

/* SQLite takes a last page that is there in part for a whole one, filled up with zeros: rows in it
 * would be missing without a word. */
static mill_status check_length(const database *db) {
    sqlite3_stmt *query = NULL;
    struct stat file;
    bool more = false;
    mill_status status = database_query(
        db, &query,
        "SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s");
    if (status == MILL_OK)
        status = database_next(db, query, &more);
    int64_t length = status == MILL_OK && more ? database_int(query, 0) : 0;
    sqlite3_finalize(query);
    if (status == MILL_OK && stat(db->path, &file) == 0 && (int64_t)file.st_size < length)
        status = mill_fail(db->run, MILL_E_DATA,
                           "%s: the file was cut: it has %lld of %lld bytes; export it again",
                           db->path, (long long)file.st_size, (long long)length);
    return status;
}

/* Nobody writes to it, so no locks are needed ("unix-none"): it may lie on any file system. */
mill_status database_open(mill_run *run, const char *path, database *ret_database) {
    database *db = ret_database;
    *db = (database){.run = run, .path = path};
    if (sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                        "unix-none") != SQLITE_OK)
        return db->handle ? database_fail(db) : mill_fail(run, MILL_E_IO, "%s: no memory", path);
    sqlite3_progress_handler(db->handle, CHECK_AFTER, is_cancelled, run);
    /* The first look at the file tells whether it is a database at all. */
    if (sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) !=
        SQLITE_OK)
        return database_fail(db);
    mill_status status = check_length(db);
    if (status != MILL_OK)
        return status;
    if (!database_has_table(db, "StringIds"))
        return mill_fail(run, MILL_E_DATA,
                         "%s: has no table StringIds, so it is no export of Nsight Systems; make "
                         "one of the report with: nsys export --type sqlite",
                         path);
    return MILL_OK;
}

void database_close(database *db) {
    sqlite3_close(db->handle);
    db->handle = NULL;
}

/* Whether the query, with its parameters in order, has a row. */
static bool is_there(const database *db, const char *sql, const char *first, const char *second) {
    sqlite3_stmt *query = NULL;
    bool there = sqlite3_prepare_v2(db->handle, sql, -1, &query, NULL) == SQLITE_OK;
    if (there) {
        sqlite3_bind_text(query, 1, first, -1, SQLITE_STATIC);
        if (second)
            sqlite3_bind_text(query, 2, second, -1, SQLITE_STATIC);
        there = sqlite3_step(query) == SQLITE_ROW;
    }
    sqlite3_finalize(query);
    return there;
}

bool database_has_table(const database *db, const char *table) {
    return is_there(db, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?1",
                    table, NULL);
}

bool database_has_column(const database *db, const char *table, const char *column) {
    return is_there(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);
}

mill_status database_query(const database *db, sqlite3_stmt **ret_query, const char *sql, ...) {
    va_list args;
    va_start(args, sql);
    char *text = sqlite3_vmprintf(sql, args);
    va_end(args);
    *ret_query = NULL;
    if (!text)
        return mill_fail(db->run, MILL_E_IO, "%s: no memory", db->path);
    int result = sqlite3_prepare_v2(db->handle, text, -1, ret_query, NULL);
    sqlite3_free(text);
    return result == SQLITE_OK ? MILL_OK : database_fail(db);
}

mill_status database_next(const database *db, sqlite3_stmt *query, bool *ret_row) {
    int result = sqlite3_step(query);
    *ret_row = result == SQLITE_ROW;
    return result == SQLITE_ROW || result == SQLITE_DONE ? MILL_OK : database_fail(db);
}

int64_t database_int(sqlite3_stmt *query, int column) {
    return sqlite3_column_type(query, column) == SQLITE_INTEGER
               ? sqlite3_column_int64(query, column)
               : MILL_UNKNOWN;
}
