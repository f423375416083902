/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a database and copies it to a sink: see database.h. */
#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <tracemill/trace.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)
#define CHECK_AFTER 100000 /* steps of SQLite's machine: a few ms */

/* A statement that was interrupted fails too, but that is no failure to tell. */
static mill_status fail(database *d, const char *what) {
    if (!d->status && mill_cancelled(d->run))
        d->status = MILL_E_CANCELLED;
    if (!d->status)
        d->status = mill_fail(d->run, MILL_E_IO, "can't make the database %s: %s", d->path, what);
    return d->status;
}

/* Indexes of many rows take seconds. */
static int is_cancelled(void *arg) {
    return mill_cancelled(((database *)arg)->run);
}

static mill_status execute(database *d, const char *sql) {
    if (!d->status && sqlite3_exec(d->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(d, sqlite3_errmsg(d->handle));
    return d->status;
}

/* Beside its path, where there is room for it; for what is no file there, where all temporaries go.
 * SQLite opens it by its name, which then goes: nothing is left behind, however the run ends. The
 * VFS is the one without locks, since nobody else can open it. */
static mill_status open_file(database *d) {
    bool named = strcmp(d->path, "-") != 0 && !g_str_has_prefix(d->path, "/dev/");
    g_autofree char *folder = named ? g_path_get_dirname(d->path) : g_strdup(g_get_tmp_dir());
    g_autofree char *name = g_build_filename(folder, ".tracemill-XXXXXX", NULL);
    d->fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, 0600);
    if (d->fd < 0)
        return fail(d, g_strerror(errno));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    bool opened = sqlite3_open_v2(name, &d->handle, flags, "unix-none") == SQLITE_OK;
    g_unlink(name);
    return opened ? MILL_OK : fail(d, d->handle ? sqlite3_errmsg(d->handle) : "out of memory");
}

/* The file is nothing until it is whole, so it needs no journal. */
#define SETTINGS                                                                                   \
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"                                         \
    "PRAGMA cache_size = -65536; PRAGMA application_id = 0x4d494c4c; PRAGMA user_version = 1;"     \
    "BEGIN;"

mill_status database_create(mill_run *run, const char *path, database **ret_database) {
    database *d = g_new0(database, 1);
    d->run = run;
    d->path = g_strdup(path);
    for (size_t i = 0; i < TABLES; i++)
        d->next[i] = 1;
    mill_status status = open_file(d);
    if (!status)
        sqlite3_progress_handler(d->handle, CHECK_AFTER, is_cancelled, d);
    if (!status)
        status = execute(d, SETTINGS);
    if (!status)
        status = execute(d, schema_tables);
    if (status)
        database_destroy(d);
    else
        *ret_database = d;
    return status;
}

static void finalize_rows(database *d) {
    for (size_t i = 0; i < TABLES; i++)
        g_clear_pointer(&d->inserts[i], sqlite3_finalize);
}

static mill_status copy(database *d, mill_sink *sink) {
    char *piece = mill_scratch(d->run, PIECE);
    ssize_t n = 0;
    for (off_t at = 0; !d->status && (n = pread(d->fd, piece, PIECE, at)) > 0; at += n)
        d->status = mill_cancelled(d->run) ? MILL_E_CANCELLED : sink->write(sink, piece, (size_t)n);
    return n < 0 ? fail(d, g_strerror(errno)) : d->status;
}

mill_status database_write(database *d, mill_run *run, mill_sink *sink) {
    d->run = run;
    finalize_rows(d);
    execute(d, schema_indexes);
    execute(d, "COMMIT");
    return d->status ? d->status : copy(d, sink);
}

void database_destroy(database *d) {
    if (!d)
        return;
    finalize_rows(d);
    sqlite3_close(d->handle);
    if (d->fd >= 0)
        close(d->fd);
    g_free(d->path);
    g_free(d);
}

/* ---------------------------------------------------------------- rows */

static sqlite3_stmt *prepare(database *d, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (!d->status && sqlite3_prepare_v2(d->handle, sql, -1, &statement, NULL) != SQLITE_OK)
        fail(d, sqlite3_errmsg(d->handle));
    return statement;
}

static sqlite3_stmt *prepare_insert(database *d, const char *table) {
    g_autofree char *select = g_strconcat("SELECT * FROM ", table, NULL);
    sqlite3_stmt *columns = prepare(d, select);
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_printf(sql, "INSERT INTO %s VALUES(?", table);
    for (int i = sqlite3_column_count(columns); i > 1; i--)
        g_string_append(sql, ", ?");
    g_string_append_c(sql, ')');
    sqlite3_finalize(columns);
    return prepare(d, sql->str);
}

void database_row(database *d, schema_table table) {
    if (!d->inserts[table])
        d->inserts[table] = prepare_insert(d, schema_names[table]);
    d->row = d->inserts[table];
    d->column = 0;
}

void database_int(database *d, int64_t value) {
    d->column++;
    if (value == MILL_UNKNOWN)
        sqlite3_bind_null(d->row, d->column);
    else
        sqlite3_bind_int64(d->row, d->column, value);
}

/* SQLite makes NULL of NaN, but infinity is no value either. */
void database_real(database *d, double value) {
    sqlite3_bind_double(d->row, ++d->column, isfinite(value) ? value : NAN);
}

void database_text(database *d, const char *text) {
    database_bytes(d, text, text ? strlen(text) : 0);
}

void database_bytes(database *d, const char *text, size_t length) {
    if (!text || g_utf8_validate_len(text, length, NULL)) {
        sqlite3_bind_text64(d->row, ++d->column, text, length, SQLITE_STATIC, SQLITE_UTF8);
        return;
    }
    char *valid = g_utf8_make_valid(text, (gssize)length);
    sqlite3_bind_text(d->row, ++d->column, valid, -1, g_free);
}

void database_end(database *d) {
    if (d->status)
        return;
    g_assert(d->column == sqlite3_bind_parameter_count(d->row));
    if (sqlite3_step(d->row) != SQLITE_DONE)
        fail(d, sqlite3_errmsg(d->handle));
    sqlite3_reset(d->row);
}
