/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class nsys.read: profiles of Nsight Systems, exported to SQLite, as mill.trace/1. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/kernel_rules.h>

typedef struct settings {
    const char *path, *kernel_rules;
    mill_list rules;
    int64_t max_overlap;
    bool cpu;
} settings;

typedef struct instance {
    kit_kernel_rules *rules;
} instance;

/* ---------------------------------------------------------------- facts */

/* The first value of a query, as text in the trace's memory; 0: none. */
static mill_status read_text(const database *db, kit_trace *trace, const char *sql,
                             const char *before, mill_off *ret_text) {
    sqlite3_stmt *query = NULL;
    bool more = false;
    mill_status status = database_query(db, &query, "%s", sql);
    if (status == MILL_OK)
        status = database_next(db, query, &more);
    if (status == MILL_OK && more && sqlite3_column_text(query, 0)) {
        char text[128];
        snprintf(text, sizeof text, "%s%s", before, sqlite3_column_text(query, 0));
        *ret_text = kit_trace_text(trace, text, strlen(text));
    }
    sqlite3_finalize(query);
    return status;
}

static mill_status read_int(const database *db, const char *sql, int64_t *ret_value) {
    sqlite3_stmt *query = NULL;
    bool more = false;
    mill_status status = database_query(db, &query, "%s", sql);
    if (status == MILL_OK)
        status = database_next(db, query, &more);
    if (status == MILL_OK && more)
        *ret_value = database_int(query, 0);
    sqlite3_finalize(query);
    return status;
}

static mill_status read_facts(const database *db, kit_trace *trace) {
    mill_trace *t = kit_trace_value(trace);
    mill_status status = MILL_OK;
    t->path = kit_trace_text(trace, db->path, strlen(db->path));
    if (database_has_column(db, "META_DATA_EXPORT", "value"))
        status = read_text(
            db, trace, "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'",
            "Nsight Systems ", &t->writer);
    /* Times count from the start of the session, which the clock of the wall tells. */
    if (status == MILL_OK &&
        database_has_column(db, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"))
        status = read_int(db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", &t->base_ns);
    return status;
}

/* ---------------------------------------------------------------- one process */

static mill_status read_process(mill_run *run, const database *db, const settings *o,
                                const kit_kernel_rules *rules, int64_t process,
                                const char *sub_key) {
    kit_trace *trace = kit_trace_create(run);
    rows r = {.db = db, .trace = trace, .process = process};
    mill_status status = read_facts(db, trace);
    if (status == MILL_OK)
        status = rows_gpu(&r);
    if (status == MILL_OK && o->cpu)
        status = rows_cpu(&r);
    if (status == MILL_OK)
        status = rows_devices(&r);
    if (status == MILL_OK)
        status = kit_kernel_rules_apply(run, rules, trace);
    if (status == MILL_OK) {
        kit_trace_value(trace)->events = r.n;
        status = run->host->emit(run, 0, sub_key, kit_trace_finish(trace, o->max_overlap));
    }
    rows_finish(&r);
    kit_trace_destroy(trace);
    return status;
}

/* ---------------------------------------------------------------- all processes */

typedef struct processes {
    int64_t *v;
    size_t n;
} processes;

static const char *const gpu_tables[] = {NSYS_KERNELS, NSYS_COPIES, NSYS_SETS};
enum { N_GPU_TABLES = sizeof gpu_tables / sizeof gpu_tables[0] };

static void add_process(processes *all, int64_t id) {
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i] == id)
            return;
    all->v = kit_realloc(all->v, all->n + 1, sizeof *all->v);
    all->v[all->n++] = id;
}

static int by_id(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Those with GPU activities, in order; none where the file tells no processes apart: then one of
 * the tables has no such column, and all rows are taken for one's. */
static mill_status find_processes(const database *db, processes *all) {
    mill_status status = MILL_OK;
    for (size_t i = 0; i < N_GPU_TABLES && status == MILL_OK; i++) {
        sqlite3_stmt *query = NULL;
        bool more = false;
        if (!database_has_table(db, gpu_tables[i]))
            continue;
        if (!database_has_column(db, gpu_tables[i], "globalPid")) {
            all->n = 0;
            return MILL_OK;
        }
        status = database_query(db, &query,
                                "SELECT DISTINCT globalPid & ~%lld FROM \"%s\" WHERE globalPid IS "
                                "NOT NULL",
                                (long long)NSYS_THREAD, gpu_tables[i]);
        while (status == MILL_OK && (status = database_next(db, query, &more)) == MILL_OK && more)
            add_process(all, database_int(query, 0));
        sqlite3_finalize(query);
    }
    if (all->n > 1)
        qsort(all->v, all->n, sizeof *all->v, by_id);
    return status;
}

static mill_status check_tables(const database *db) {
    for (size_t i = 0; i < N_GPU_TABLES; i++)
        if (database_has_table(db, gpu_tables[i]))
            return MILL_OK;
    return mill_fail(db->run, MILL_E_DATA,
                     "%s: no GPU activities: it has none of the tables " NSYS_KERNELS
                     ", …MEMCPY, …MEMSET; record with: nsys profile --trace=cuda,nvtx",
                     db->path);
}

/* One item for each process; if there is only one, it keeps the file's key. */
static mill_status read_all(mill_run *run, const database *db, const settings *o,
                            const kit_kernel_rules *rules) {
    processes all = {NULL, 0};
    mill_status status = check_tables(db);
    if (status == MILL_OK)
        status = find_processes(db, &all);
    if (status == MILL_OK && all.n <= 1)
        status = read_process(run, db, o, rules, all.n ? all.v[0] : MILL_UNKNOWN, NULL);
    for (size_t i = 0; all.n > 1 && i < all.n && status == MILL_OK; i++) {
        char key[32];
        snprintf(key, sizeof key, "pid%lld",
                 (long long)(all.v[i] >> NSYS_THREAD_BITS & NSYS_THREAD));
        status = read_process(run, db, o, rules, all.v[i], key);
    }
    free(all.v);
    return status;
}

/* ---------------------------------------------------------------- the stage */

static mill_status nsys_open(mill_run *run, const void *opts, void *state) {
    const settings *o = opts;
    instance *s = state;
    const char *const *files = o->rules.v;
    mill_status status = MILL_OK;
    s->rules = kit_kernel_rules_create();
    for (size_t i = 0; i < o->rules.n && status == MILL_OK; i++)
        status = kit_kernel_rules_load(run, s->rules, files[i]);
    return status == MILL_OK ? kit_kernel_rules_load(run, s->rules, o->kernel_rules) : status;
}

static mill_status nsys_run(mill_run *run, const void *opts, void *state) {
    const settings *o = opts;
    database db;
    mill_status status = database_open(run, o->path, &db);
    if (status == MILL_OK)
        status = read_all(run, &db, o, ((instance *)state)->rules);
    database_close(&db);
    return status;
}

static void nsys_close(mill_run *run, void *state) {
    (void)run;
    kit_kernel_rules_destroy(((instance *)state)->rules);
}

static const mill_port outputs[] = {
    {.name = "trace",
     .type = MILL_TYPE_TRACE,
     .help = "The profile in columns: one item for each process with GPU activities.",
     .flags = MILL_PORT_ITEMS},
    {.name = NULL},
};

static const mill_option options[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
     .offset = MILL_OPT_OFF(settings, path, PATH),
     .help = "The database that nsys export --type sqlite made; wildcards read one file a rank."},
    {.name = "rules",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(settings, rules, LIST),
     .help = "Files with kernel rules of your own, tried in this order before kernel-rules."},
    {.name = "kernel-rules",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(settings, kernel_rules, PATH),
     .def = "${tracemill:data}/rules/kernels.ini",
     .help = "The file that says what kernels do by their names; its head explains the form."},
    {.name = "cpu",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(settings, cpu, BOOL),
     .def = "yes",
     .help = "Read calls of CUDA and NVTX ranges."},
    {.name = "max-overlap",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(settings, max_overlap, DURATION),
     .def = "1ms",
     .min = 0,
     .max = 9e18,
     .help = "An activity that runs further than this into a later one of its stream has a broken "
             "timer and is cut where that one starts."},
    {.name = NULL},
};

static const mill_stage nsys_read = {
    MILL_STAGE_HEAD,
    .name = "nsys.read",
    .summary = "Reads profiles of Nsight Systems, exported to SQLite",
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(settings),
    .state_size = sizeof(instance),
    .open = nsys_open,
    .run = nsys_run,
    .close = nsys_close,
};

static const mill_stage *const stages[] = {&nsys_read, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.example.nsys",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Profiles of Nsight Systems",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
