/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's own records, shared by its files and by nobody else.
 *
 * Stages of the plan become `estage`s. What flows along their connections is cut into *cells*: a
 * cell is what a stage does for one key that is known before anything is read. Most cells are one
 * *task* (one `run`); behind a stage that emits several items from one file a cell is a task for
 * each of them. A cell waits for the cells it takes items from, and keeps its items until all that
 * take them are final. All of it is guarded by engine.lock, but for what a running task alone
 * touches.
 */
#ifndef HOST_ENGINE_STATE_H
#define HOST_ENGINE_STATE_H

#include <pthread.h>
#include <semaphore.h>

#include "engine/engine.h"
#include "engine/sink.h"
#include "engine/value.h"

typedef struct engine engine;
typedef struct estage estage;
typedef struct cell cell;
typedef struct task task;
typedef struct run run;
typedef struct parallel_job parallel_job;
typedef struct peer peer;     /* isolate/peer.h: the process of a stage, as the host sees it */
typedef struct served served; /* isolate/serve.h: the host, as the process of a stage sees it */
typedef struct page page;     /* isolate/page.h: memory that both write to */

/* One value on its way, with the key it has. */
typedef struct parcel {
    char *key;
    value *value;
    const char *type; /* id it was posted as */
    const estage *from;
} parcel;

/* What one task or instance wrote to standard output, until its turn to be printed has come. */
typedef struct print {
    char *key;
    spool *out;
} print;

typedef enum cell_state {
    CELL_WAITING,
    CELL_READY,
    CELL_DONE, /* this and what follows is final */
    CELL_FAILED,
    CELL_SKIPPED
} cell_state;

struct cell {
    estage *stage;
    const char *key;   /* owned by the plan */
    unsigned position; /* among the stage's cells: the order of its output */
    cell_state state;
    unsigned waits; /* cells that come first and are not final yet: `takes`, and order */
    unsigned keeps; /* cells in `feeds` that are not final yet: they may need our items */
    unsigned tasks_left;
    GPtrArray *takes, *feeds; /* of cell * */
    cell *entry;              /* of a STREAM stage: the one whose items this cell takes; */
    unsigned entry_port;      /* through this input port, */
    unsigned entry_output;    /* from that output */
    bool last;                /* of a STREAM stage: the cell of `finish`, which has its outputs */
    bool counted;             /* in engine.in_flight */
    unsigned succeeded;       /* tasks that ended well */
    unsigned failed;          /* tasks that failed themselves */
    GPtrArray **items;        /* for each output port: parcel * */
    GPtrArray *lost;          /* of char *: keys that it failed to make; never empty if it failed */
    GPtrArray *prints;        /* of print *: what its tasks wrote; once final, the last key first */
};

/* An instance of a stage class. Used by one task at a time. */
typedef struct instance {
    estage *stage;
    void *state;
    peer *peer;         /* the process it lives in; NULL: this one */
    bool opened;        /* `open` was called, so `close` is due */
    bool usable;        /* and succeeded */
    GHashTable *making; /* value_memory * by root: begun, not posted */
    GHashTable *held;   /* value * by data: kept by `hold` */
    GPtrArray *regexes;
    GPtrArray *sinks; /* open ones: until the instance ends, or (keyed, not SINGLE) the run does */
    spool *out;       /* what it wrote to standard output since then */
} instance;

struct estage {
    engine *engine;
    const plan_stage *plan;
    const mill_stage *cls;
    const mill_type **output_types; /* for each output port */
    GPtrArray *cells;               /* the last one of a STREAM stage is its `last` */
    GHashTable *by_key;             /* cell * that holds the outputs for a key */
    GArray **gone;                  /* for each STREAM port: lost, up to the newest bound cell */
    unsigned cells_left;            /* not final */
    unsigned ends_left;             /* instances that are still to be ended */
    GPtrArray *idle, *all;          /* instances */
    GQueue ready;                   /* tasks of a SINGLE stage that wait for their turn */
    bool busy;                      /* a SINGLE stage's task is running */
    bool broken;                    /* open failed: nothing more is tried */
    print *print;                   /* of a stage whose sinks live as long as its instance */
    stage_outcome *outcome;
};

/* An item as a run sees it on an input port. */
typedef struct bound {
    value *value; /* a reference */
    const char *stage, *key, *type;
} bound;

typedef struct lost {
    const char *stage, *key;
} lost;

typedef enum task_kind { TASK_RUN, TASK_LAST, TASK_END } task_kind;

struct task {
    task_kind kind; /* a `run`; the end of a STREAM stage; the end of one instance */
    cell *cell;     /* NULL for TASK_END */
    estage *stage;
    char *key;
    GArray **ports;     /* for each input port: bound */
    GArray **missing;   /* for each input port: lost */
    instance *instance; /* once it runs */
};

/* What a plugin's `mill_run *` points to: one callback after another of one task. */
struct run {
    mill_run public; /* first */
    engine *engine;
    estage *stage;
    instance *instance;
    task *task; /* NULL in `check` */
    const plan_stage *plan;
    const char *key;
    pthread_mutex_t lock; /* guards scratch, bytes, contract_broken, instance->making, ->regexes */
    causes causes;
    GPtrArray *scratch;  /* of this callback */
    uint64_t bytes;      /* scratch and values of this task */
    GPtrArray **outputs; /* for each output port: parcel *, posted by this task */
    GHashTable *posted;  /* data of all of them */
    GHashTable *emitted; /* "PORT SUB-KEY" of items; "PORT " of one without */
    char *note;          /* `stage "x" (class, module and version, path), item`, for crashes */
    bool may_output;     /* this callback may post */
    bool contract_broken;
    int64_t busy_ns;      /* in callbacks of this task */
    int64_t began_ns;     /* this callback */
    int64_t deadline_ns;  /* of this callback, monotonic; 0: none; guarded by engine.lock */
    peer *peer;           /* the process that this callback runs in; guarded by engine.lock */
    bool away;            /* an earlier callback of this task ran in a process of its own */
    page *page;           /* in such a process: what the host and it tell each other */
    gint asked;           /* enum ask: why it should end; atomic */
    int64_t asked_ns;     /* when it was asked; guarded by engine.lock */
    uint64_t done, total; /* progress; atomic */
};

/* What the host knows of the run that a plugin was given. */
static inline run *run_of(mill_run *public) {
    return (run *)public;
}

/* Why work should end, the weaker reasons first. */
enum ask {
    ASK_NOTHING,
    ASK_STOP,      /* on-error = stop: what has begun may end as it would */
    ASK_RUN_LIMIT, /* run.timeout; of one run */
    ASK_LIMIT,     /* --timeout */
    ASK_USER
};

struct engine {
    const plan *plan;
    engine_options options;
    estage *stages; /* in the order of plan.stages */
    unsigned n_stages;

    pthread_mutex_t lock;
    pthread_cond_t work; /* workers wait: there is something to do, or all is done */
    pthread_cond_t news; /* the main thread waits: something ended */
    GSequence *ready;    /* task *, of stages that take something: the next one first */
    GSequence *readers;  /* task *, of stages that bring in items */
    GPtrArray *running;  /* run *, for time limits and progress */
    unsigned active;     /* tasks that run, or whose items are being freed */
    unsigned tasks_left; /* tasks made and not ended */
    unsigned cells_left; /* cells not final */
    unsigned in_flight;  /* readers' cells whose items are in use */
    unsigned stuck;      /* those of them that wait for items which no reader has begun to read */
    int asked;           /* enum ask */
    GHashTable *written; /* path -> which stage and item writes it */
    GQueue parallel;     /* parallel_job * with work left to hand out */
    served *served;      /* in the process of a stage: its way to the host */
    outcome *outcome;
    unsigned print_stage, print_cell; /* the next to be printed */
    bool print_failed;
};

/* cells.c */
void cells_build(engine *e);
void cells_destroy(engine *e);
/* Where the outputs of a stage for a key are; a stage that is not keyed gives the same to all. */
cell *cells_source(const estage *s, const char *key);
/* Not so the cells of a STREAM stage, but for its last. */
bool cells_has_outputs(const cell *c);
void print_destroy(gpointer data);

/* schedule.c: what is no longer needed, and has to be freed without the lock: that may take long.
 */
typedef struct garbage {
    GPtrArray *parcels; /* of parcel * */
    unsigned cells;     /* of engine.in_flight that are in it */
} garbage;
void garbage_init(garbage *rest);
/* Without the lock. `ends_task`: a task of this thread is no longer active after it. */
void garbage_free(garbage *rest, engine *e, bool ends_task);

/* All called with the lock held. */
void schedule_start(engine *e, garbage *rest);
task *schedule_next(engine *e);
void schedule_ended(engine *e, task *t, mill_status status, GPtrArray **outputs, garbage *rest);
/* Gives up all that has not begun. */
void schedule_cancel(engine *e, garbage *rest);

/* bind.c: what the tasks of a cell get on their ports. NULL: the cell is to be skipped, since what
 * it needs failed; or, if *ret_why is set, items do not fit together. Keys that are lost are added
 * to the cell's. Owner: the caller. */
GPtrArray *bind_cell(cell *c, char **ret_why);
task *task_create(task_kind kind, estage *s, cell *c, const char *key);
void task_drop_inputs(task *t);
void task_destroy(task *t);
void parcel_destroy(gpointer data);

/* callbacks.c: calls the plugin, in this process. */
typedef enum callback {
    CALLBACK_OPEN,
    CALLBACK_RUN,
    CALLBACK_FINISH,
    CALLBACK_CLOSE,
    CALLBACK_CHECK /* of no instance, and of no run */
} callback;
extern const char *const callback_names[];
/* The status is judged already, but for reasons to end that only the host knows of. */
mill_status callback_call(run *r, callback what);
/* What a callback's result amounts to, beside the facts. */
mill_status callback_judge(run *r, const char *what, mill_status status);
/* Around it: its time, its time limit, what a crash is told as. Returns the note of before. */
const char *callback_enter(run *r);
void callback_leave(run *r, const char *before);
/* Frees what the instance keeps, once it is closed. */
void callback_release(run *r);

/* perform.c: without the lock. */
void perform(engine *e, task *t);

/* Why the run should end, an `enum ask`. Any thread. */
int run_asked(const run *r);

/* engine.c: with the lock held. Records the failure; the causes are moved out of `why`. */
void engine_fail(engine *e, const plan_stage *stage, const char *key, mill_status status,
                 causes *why);
void engine_fail_text(engine *e, const plan_stage *stage, const char *key, mill_status status,
                      const char *text);

/* engine.c, both for the process of a stage too. */
void engine_init(engine *e, const plan *p, const engine_options *options);
void engine_finish(engine *e);

/* run.c: the record behind a `mill_run *`. s and t are NULL in `check`. */
void run_init(run *r, engine *e, const plan_stage *p, estage *s, task *t);
void run_finish(run *r);
/* After each callback: frees scratch memory, and taints the sinks that a failed one wrote to. */
void run_callback_ended(run *r, mill_status status);
/* Ends the sinks of the instance and hands over what it printed. `keep` false: files are discarded.
 */
mill_status run_sinks_end(run *r, bool keep);
#define FEW_SINKS 8 /* so many stay open from one run of a stage to the next */
/* Do the stage's sinks end with each run? Else with its one instance. */
bool stage_sinks_per_run(const plan_stage *p);
/* Where causes go now: those of a piece of parallel work are kept apart, so that what is told does
 * not depend on which piece was the fastest to fail. */
causes *run_causes(run *r);
/* Sets that place for this thread (NULL: the run's own) and returns the one before. */
causes *run_causes_swap(causes *why);
/* Records a cause that the plugin's author should see, and that the run fails by it. */
mill_status run_bug(run *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Takes a value out of those begun: its memory, or NULL if it is none of them. */
value_memory *run_take_value(run *r, const void *data);

/* parallel.c: with the lock held. Does one piece of it; false if there is nothing to do. */
bool parallel_help(engine *e);
mill_status parallel_run(mill_run *public, size_t n, mill_parallel_fn fn, void *arg);
/* Lends idle threads to work in another process, one for each post of `helpers`, until it is ended.
 */
parallel_job *parallel_lend(run *r, sem_t *helpers);
void parallel_lend_end(run *r, parallel_job *job);

/* services_io.c: the services that reach outside. */
mill_status service_sink_open(mill_run *public, const char *path, mill_sink **ret_sink);
/* The sink of the instance for that path; causes go to `why`. */
mill_status services_sink(run *r, const char *path, causes *why, sink **ret_sink);
mill_status service_source_map(mill_run *public, const char *path, mill_source **ret_source);
mill_status service_regex_new(mill_run *public, const char *pattern, uint32_t flags,
                              mill_regex **ret_regex);
bool service_regex_match(const mill_regex *regex, const char *text, size_t length,
                         mill_span *groups, size_t n_groups);
int service_regex_group(const mill_regex *regex, const char *name);
mill_status service_ini_read(mill_run *public, const char *path, mill_ini_fn fn, void *arg);

/* console.c */
void console_log(const char *stage, const char *key, mill_level level, const char *text);
/* From now on lines of that level or weaker go to `fn` instead. */
typedef void (*console_fn)(void *arg, const char *stage, const char *key, mill_level level,
                           const char *text);
void console_divert(mill_level level, console_fn fn, void *arg);
/* What a stage's process wrote to its standard error, as it is. */
void console_pass_on(const char *bytes, size_t n);
void console_init(const engine_options *options);
void console_progress(engine *e);
void console_clear(void);

int64_t now_ns(void);

#endif
