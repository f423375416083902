/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one process of an export, as rows of a trace. */
#include "rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define NO_BYTE ((uint64_t)MILL_UNKNOWN) /* a row of a database lies at no byte of a text */

static const kit_diagnostic unnamed = {
    "no-name", "Rows whose name is not among the file's texts are called (no name).", false};
static const kit_diagnostic graphs = {
    "whole-graphs",
    "CUDA graphs were recorded as a whole, so their kernels are not in the file: record with "
    "--cuda-graph-trace=node.",
    true};
static const kit_diagnostic process_ranges = {
    "process-ranges",
    "NVTX ranges that are begun and ended by nvtxRangeStart and nvtxRangeEnd were left out: they "
    "belong to no thread's nesting.",
    true};
static const kit_diagnostic open_ranges = {
    "open-ranges", "NVTX ranges that had not ended when the recording did were left out.", true};

/* ---------------------------------------------------------------- queries */

/* "t.column", or "NULL" where this version's table has none. In memory of SQLite's. */
static char *column(const rows *r, const char *table, const char *name) {
    return database_has_column(r->db, table, name) ? sqlite3_mprintf("t.\"%s\"", name)
                                                   : sqlite3_mprintf("NULL");
}

/* The first text that is there of those whose ids these columns hold (ends with NULL). */
static char *text_of(const rows *r, const char *table, const char *const *names) {
    char *text = sqlite3_mprintf("coalesce(NULL");
    for (; *names; names++)
        if (database_has_column(r->db, table, *names))
            text = sqlite3_mprintf(
                "%z, (SELECT value FROM StringIds WHERE id = t.\"%s\" AND value <> '')", text,
                *names);
    return sqlite3_mprintf("%z, NULL)", text);
}

/* `select` with the columns in the places of its %s, from the process's rows of the table; id: the
 * column that tells the process. Frees `select`. */
static mill_status begin(const rows *r, sqlite3_stmt **ret_query, const char *table, const char *id,
                         char *select) {
    mill_status status;
    bool told = r->process != MILL_UNKNOWN && database_has_column(r->db, table, id);
    if (!database_has_column(r->db, table, "start") || !database_has_column(r->db, table, "end")) {
        sqlite3_free(select);
        return mill_fail(r->db->run, MILL_E_DATA,
                         "%s: the table %s has no columns start and end: a version of Nsight "
                         "Systems that this reader does not know",
                         r->db->path, table);
    }
    if (told)
        status = database_query(r->db, ret_query,
                                "SELECT %s FROM \"%s\" t WHERE t.\"%s\" & ~%lld = %lld", select,
                                table, id, (long long)NSYS_THREAD, (long long)r->process);
    else
        status = database_query(r->db, ret_query, "SELECT %s FROM \"%s\" t", select, table);
    sqlite3_free(select);
    return status;
}

/* The next row, now and then with a word on how far it is. */
static mill_status next(rows *r, sqlite3_stmt *query, bool *ret_row) {
    if (++r->n % 4096 == 0) {
        mill_progress(r->db->run, r->n, 0, "rows");
        if (mill_cancelled(r->db->run))
            return MILL_E_CANCELLED;
    }
    return database_next(r->db, query, ret_row);
}

/* Both are known and fit. */
static int64_t duration(int64_t start, int64_t end) {
    int64_t dur;
    return start == MILL_UNKNOWN || end == MILL_UNKNOWN || __builtin_sub_overflow(end, start, &dur)
               ? MILL_UNKNOWN
               : dur;
}

/* x*y*z, unknown if one is, or the product does not fit. */
static int64_t product(sqlite3_stmt *query, int first) {
    int64_t all = 1;
    for (int i = 0; i < 3; i++) {
        int64_t n = database_int(query, first + i);
        if (n == MILL_UNKNOWN || n < 0 || __builtin_mul_overflow(all, n, &all))
            return MILL_UNKNOWN;
    }
    return all;
}

/* ---------------------------------------------------------------- GPU activities */

enum {
    START,
    END,
    DEVICE,
    STREAM,
    CORRELATION,
    NAME,
    BYTES,
    COPY_KIND = BYTES + 1,
    GRID,
    BLOCK = GRID + 3
};

/* As PyTorch's profiler calls them, so that rules for names fit both. The numbers are CUPTI's
 * CUpti_ActivityMemcpyKind. */
static const char *copy_name(int64_t kind) {
    static const char *const names[] = {
        [0] = "Memcpy",      [1] = "Memcpy HtoD", [2] = "Memcpy DtoH",  [3] = "Memcpy HtoA",
        [4] = "Memcpy AtoH", [5] = "Memcpy AtoA", [6] = "Memcpy AtoD",  [7] = "Memcpy DtoA",
        [8] = "Memcpy DtoD", [9] = "Memcpy HtoH", [10] = "Memcpy PtoP",
    };
    return kind >= 0 && kind < (int64_t)(sizeof names / sizeof names[0]) ? names[kind] : names[0];
}

static uint32_t name_of(rows *r, sqlite3_stmt *query, mill_gpu_cat cat) {
    const char *name = (const char *)sqlite3_column_text(query, NAME);
    if (cat == MILL_GPU_MEMCPY)
        name = copy_name(database_int(query, COPY_KIND));
    else if (cat == MILL_GPU_MEMSET)
        name = "Memset";
    if (!name) {
        kit_trace_diagnose(r->trace, &unnamed, MILL_UNKNOWN);
        name = "(no name)";
    }
    return kit_trace_name(r->trace, name, strlen(name), cat);
}

static void add_activity(rows *r, sqlite3_stmt *query, mill_gpu_cat cat) {
    int64_t start = database_int(query, START);
    uint32_t device = kit_trace_device(r->trace, database_int(query, DEVICE));
    kit_gpu_row row = {
        .start = start,
        .dur = duration(start, database_int(query, END)),
        .correlation = database_int(query, CORRELATION),
        .external_id = MILL_UNKNOWN,
        .grid = product(query, GRID),
        .block = product(query, BLOCK),
        .bytes = database_int(query, BYTES),
        .waited_event = MILL_UNKNOWN,
        .byte = NO_BYTE,
        .name = name_of(r, query, cat),
        .stream = kit_trace_stream(r->trace, device, database_int(query, STREAM), MILL_NONE),
        .collective = MILL_NONE,
        .cat = (uint8_t)cat,
    };
    kit_trace_gpu(r->trace, &row);
}

static char *activity_columns(const rows *r, const char *table) {
    static const char *const names[] = {"demangledName", "shortName", "mangledName", NULL};
    static const char *const before[] = {"start", "end", "deviceId", "streamId", "correlationId"};
    static const char *const after[] = {"bytes", "copyKind", "gridX",  "gridY",
                                        "gridZ", "blockX",   "blockY", "blockZ"};
    char *text = column(r, table, before[0]);
    for (size_t i = 1; i < sizeof before / sizeof before[0]; i++)
        text = sqlite3_mprintf("%z, %z", text, column(r, table, before[i]));
    text = sqlite3_mprintf("%z, %z", text, text_of(r, table, names));
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++)
        text = sqlite3_mprintf("%z, %z", text, column(r, table, after[i]));
    return text;
}

static mill_status read_activities(rows *r, const char *table, mill_gpu_cat cat) {
    sqlite3_stmt *query = NULL;
    bool more = false;
    if (!database_has_table(r->db, table))
        return MILL_OK; /* tables are there only if they have rows */
    mill_status status = begin(r, &query, table, "globalPid", activity_columns(r, table));
    while (status == MILL_OK && (status = next(r, query, &more)) == MILL_OK && more)
        add_activity(r, query, cat);
    sqlite3_finalize(query);
    return status;
}

/* How many graphs were recorded as one activity each. */
static mill_status count_graphs(rows *r) {
    static const char table[] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    sqlite3_stmt *query = NULL;
    bool more = false;
    if (!database_has_table(r->db, table))
        return MILL_OK;
    mill_status status = begin(r, &query, table, "globalPid", sqlite3_mprintf("1"));
    while (status == MILL_OK && (status = next(r, query, &more)) == MILL_OK && more)
        kit_trace_diagnose(r->trace, &graphs, MILL_UNKNOWN);
    sqlite3_finalize(query);
    return status;
}

mill_status rows_gpu(rows *r) {
    mill_status status = read_activities(r, NSYS_KERNELS, MILL_GPU_KERNEL);
    if (status == MILL_OK)
        status = read_activities(r, NSYS_COPIES, MILL_GPU_MEMCPY);
    if (status == MILL_OK)
        status = read_activities(r, NSYS_SETS, MILL_GPU_MEMSET);
    return status == MILL_OK ? count_graphs(r) : status;
}

/* ---------------------------------------------------------------- CPU slices */

/* Processes have few threads, and rows of one often follow each other. */
static uint32_t thread_of(rows *r, int64_t id) {
    for (size_t i = r->n_threads; i-- > 0;)
        if (r->threads[i].id == id)
            return r->threads[i].row;
    bool known = id != MILL_UNKNOWN;
    r->threads = kit_realloc(r->threads, r->n_threads + 1, sizeof *r->threads);
    r->threads[r->n_threads] = (struct thread_row){
        id, kit_trace_thread(r->trace, known ? id >> NSYS_THREAD_BITS & NSYS_THREAD : MILL_UNKNOWN,
                             known ? id & NSYS_THREAD : MILL_UNKNOWN)};
    return r->threads[r->n_threads++].row;
}

enum { CPU_THREAD = END + 1, CPU_CORRELATION, CPU_NAME, CPU_TYPE };

/* Names of calls end with the version of the interface: "cudaLaunchKernel_v7000". */
static size_t without_version(const char *name) {
    size_t length = strlen(name), at = length;
    while (at > 0 && isdigit((unsigned char)name[at - 1]))
        at--;
    return at < length && at > 2 && memcmp(name + at - 2, "_v", 2) == 0 ? at - 2 : length;
}

static void add_slice(rows *r, sqlite3_stmt *query, bool call) {
    int64_t start = database_int(query, START);
    const char *name = (const char *)sqlite3_column_text(query, CPU_NAME);
    if (!name) {
        kit_trace_diagnose(r->trace, &unnamed, MILL_UNKNOWN);
        name = "(no name)";
    }
    size_t length = call ? without_version(name) : strlen(name);
    bool driver = strncmp(name, "cu", 2) == 0 && strncmp(name, "cuda", 4) != 0;
    kit_cpu_row row = {
        .start = start,
        .dur = duration(start, database_int(query, END)),
        .correlation = database_int(query, CPU_CORRELATION),
        .external_id = MILL_UNKNOWN,
        .byte = NO_BYTE,
        .name = kit_trace_name(r->trace, name, length, 0),
        .thread = thread_of(r, database_int(query, CPU_THREAD)),
        .kind = (uint8_t)(!call    ? MILL_CPU_ANNOTATION
                          : driver ? MILL_CPU_DRIVER
                                   : MILL_CPU_RUNTIME),
    };
    kit_trace_cpu(r->trace, &row);
}

static mill_status read_calls(rows *r) {
    static const char table[] = "CUPTI_ACTIVITY_KIND_RUNTIME";
    static const char *const names[] = {"nameId", NULL};
    sqlite3_stmt *query = NULL;
    bool more = false;
    if (!database_has_table(r->db, table))
        return MILL_OK;
    mill_status status =
        begin(r, &query, table, "globalTid",
              sqlite3_mprintf("%z, %z, %z, %z, %z", column(r, table, "start"),
                              column(r, table, "end"), column(r, table, "globalTid"),
                              column(r, table, "correlationId"), text_of(r, table, names)));
    while (status == MILL_OK && (status = next(r, query, &more)) == MILL_OK && more)
        add_slice(r, query, true);
    sqlite3_finalize(query);
    return status;
}

/* Numbers of eventType: ENUM_NSYS_EVENT_TYPE in the file. */
enum { PUSH_POP = 59, START_END = 60 };

static void add_range(rows *r, sqlite3_stmt *query) {
    int64_t type = database_int(query, CPU_TYPE);
    bool thread_range = type == PUSH_POP || type == MILL_UNKNOWN;
    if (!thread_range && type != START_END)
        return; /* a mark, a name, a domain */
    if (!thread_range)
        kit_trace_diagnose(r->trace, &process_ranges, MILL_UNKNOWN);
    else if (database_int(query, END) == MILL_UNKNOWN)
        kit_trace_diagnose(r->trace, &open_ranges, MILL_UNKNOWN);
    else
        add_slice(r, query, false);
}

static mill_status read_ranges(rows *r) {
    static const char table[] = "NVTX_EVENTS";
    static const char *const names[] = {"textId", NULL};
    sqlite3_stmt *query = NULL;
    bool more = false;
    if (!database_has_table(r->db, table))
        return MILL_OK;
    mill_status status =
        begin(r, &query, table, "globalTid",
              sqlite3_mprintf("%z, %z, %z, NULL, coalesce(%z, %z), %z", column(r, table, "start"),
                              column(r, table, "end"), column(r, table, "globalTid"),
                              column(r, table, "text"), text_of(r, table, names),
                              column(r, table, "eventType")));
    while (status == MILL_OK && (status = next(r, query, &more)) == MILL_OK && more)
        add_range(r, query);
    sqlite3_finalize(query);
    return status;
}

static mill_status name_threads(rows *r) {
    sqlite3_stmt *query = NULL;
    bool more = false;
    if (!database_has_column(r->db, "ThreadNames", "globalTid") ||
        !database_has_column(r->db, "ThreadNames", "nameId"))
        return MILL_OK;
    mill_status status = database_query(
        r->db, &query,
        "SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId");
    while (status == MILL_OK && (status = database_next(r->db, query, &more)) == MILL_OK && more) {
        const char *name = (const char *)sqlite3_column_text(query, 1);
        for (size_t i = 0; name && i < r->n_threads; i++)
            if (r->threads[i].id == database_int(query, 0))
                kit_trace_name_thread(r->trace, r->threads[i].row, MILL_NONE,
                                      kit_trace_string(r->trace, name, strlen(name)));
    }
    sqlite3_finalize(query);
    return status;
}

mill_status rows_cpu(rows *r) {
    mill_status status = read_calls(r);
    if (status == MILL_OK)
        status = read_ranges(r);
    return status == MILL_OK ? name_threads(r) : status;
}

void rows_finish(rows *r) {
    free(r->threads);
}

/* ---------------------------------------------------------------- devices */

/* A process numbers the devices that it sees; TARGET_INFO_CUDA_DEVICE tells which they are. In
 * versions without it, the number is that of the machine. */
mill_status rows_devices(rows *r) {
    static const char gpus[] = "TARGET_INFO_GPU", seen[] = "TARGET_INFO_CUDA_DEVICE";
    sqlite3_stmt *query = NULL;
    bool more = false;
    mill_status status;
    if (!database_has_column(r->db, gpus, "id"))
        return MILL_OK;
    char *what = sqlite3_mprintf("%z, %z", column(r, gpus, "name"), column(r, gpus, "smCount"));
    if (r->process != MILL_UNKNOWN && database_has_column(r->db, seen, "cudaId") &&
        database_has_column(r->db, seen, "gpuId") && database_has_column(r->db, seen, "pid"))
        status = database_query(r->db, &query,
                                "SELECT c.cudaId, %s FROM \"%s\" c JOIN \"%s\" t ON t.id = c.gpuId "
                                "WHERE c.pid = %lld",
                                what, seen, gpus,
                                (long long)(r->process >> NSYS_THREAD_BITS & NSYS_THREAD));
    else
        status = database_query(r->db, &query, "SELECT t.id, %s FROM \"%s\" t", what, gpus);
    sqlite3_free(what);
    while (status == MILL_OK && (status = database_next(r->db, query, &more)) == MILL_OK && more) {
        const char *name = (const char *)sqlite3_column_text(query, 1);
        int64_t sms = database_int(query, 2);
        kit_trace_describe_device(r->trace, kit_trace_device(r->trace, database_int(query, 0)),
                                  name && *name ? kit_trace_string(r->trace, name, strlen(name))
                                                : MILL_NONE,
                                  sms > 0 ? sms : MILL_UNKNOWN);
    }
    sqlite3_finalize(query);
    return status;
}
