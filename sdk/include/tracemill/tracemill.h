/* SPDX-License-Identifier: Apache-2.0 */
/* The Tracemill plugin ABI: what a module exports, and what the host offers it. C11 and C++17.
 *
 * A plugin is a shared object that exports one symbol, the data struct `mill_module_v1`. It links
 * against nothing of the host: every service comes through the `mill_host` table.
 *
 * Contract in short (sdk/README.md has the whole of it):
 *  - Text is UTF-8 and NUL-terminated, unless a length stands beside it.
 *  - Times are int64 nanoseconds.
 *  - Every struct that may grow starts with its size; new fields come at the end. Test a field that
 *    is newer than 1.0 with MILL_HAS before reading it.
 *  - Strings and arrays reachable from `mill_module_v1` are constant until the process ends.
 *  - A callback of a stage is serial per instance, but may be called from any thread, and different
 *    instances of one class run at the same time. `run` and friends must not keep the `mill_run *`.
 */
#ifndef TRACEMILL_TRACEMILL_H
#define TRACEMILL_TRACEMILL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

/* ---------------------------------------------------------------- versions */

#define MILL_MAGIC 0x4d494c4cu /* "MILL"; the first 12 bytes of mill_module never change */
#define MILL_ABI_MAJOR 1       /* differs from the host's: refused */
#define MILL_ABI_MINOR 0       /* newer than the host's: refused, older: fine */

/* True if struct `*p`, which begins with its `size`, is large enough to hold `field`. */
#define MILL_HAS(p, field)                                                                         \
    ((size_t)(p)->size >= (size_t)((const char *)(&(p)->field + 1) - (const char *)(p)))

#ifdef __cplusplus
#define MILL_EXPORT extern "C" __attribute__((visibility("default")))
#define MILL_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define MILL_EXPORT __attribute__((visibility("default")))
#define MILL_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#define MILL_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* ---------------------------------------------------------------- status */

/* Result of a callback, or of a service. Frozen. Beside each the exit code of a run that ends by
 * it. */
typedef enum mill_status {
    MILL_OK = 0,
    MILL_GATE = 1, /* exit 1: a gate was not met; what was made is kept, the rest still finishes */
    MILL_E_DATA = -1,      /* exit 65: the input's content is wrong */
    MILL_E_NOINPUT = -2,   /* exit 66: the input is not there or can't be opened */
    MILL_E_PLUGIN = -3,    /* exit 70: a module's bug: broke the contract, crashed */
    MILL_E_IO = -4,        /* exit 74: reading or writing failed */
    MILL_E_TIMEOUT = -5,   /* exit 75: a time limit was reached */
    MILL_E_CONFIG = -6,    /* exit 78: an option's value, or a combination of them, is wrong */
    MILL_E_CANCELLED = -7, /* exit 130: the user asked to stop; no cause needed */
} mill_status;

typedef enum mill_level {
    MILL_ERROR = 0,
    MILL_WARNING = 1,
    MILL_INFO = 2,
    MILL_DEBUG = 3
} mill_level;

typedef struct mill_host mill_host;
typedef struct mill_report mill_report; /* tracemill/report.h */

/* What every callback gets: the public prefix of the host's record of one run of one stage
 * instance. Owner: the host. Valid until the callback returns. */
typedef struct mill_run {
    const mill_host *host;
} mill_run;

/* ---------------------------------------------------------------- options */

typedef enum mill_opt_type {
    MILL_OPT_BOOL = 1, /* yes/no, true/false, on/off; field: bool */
    MILL_OPT_INT = 2,  /* a whole number; field: int64_t */
    MILL_OPT_NUM = 3,  /* a decimal number; field: double */
    MILL_OPT_STR = 4,  /* field: const char * */
    MILL_OPT_PATH = 5, /* a file; relative to the working directory; field: const char * */
    MILL_OPT_REGEX =
        6, /* PCRE, checked by the host; use mill_regex_new with it; field: const char * */
    MILL_OPT_ENUM = 7,     /* one of `choices`; field: int, the index */
    MILL_OPT_DURATION = 8, /* 250us, 1.5ms, 3s: exact nanoseconds; field: int64_t */
    MILL_OPT_BYTES = 9,    /* 64KiB, 10MB, 512B: bytes; field: int64_t */
    MILL_OPT_LIST = 10,    /* of `elem`: one value a line, or commas; field: mill_list */
} mill_opt_type;

/* Flags of an option. */
#define MILL_OPT_REQUIRED 1u   /* must be given; `def` is NULL */
#define MILL_OPT_DEPRECATED 2u /* still works, warns; `help` says what to use */
#define MILL_OPT_GLOB                                                                              \
    4u /* PATH only, one a class: the stage runs once per file, the field holds it */
#define MILL_OPT_ITEM 8u /* may hold ${item}, replaced by the key of each run */

/* Value of a LIST option: `n` values of the element's field type, one after another at `v`. */
typedef struct mill_list {
    const void
        *v; /* const char *const *, const int64_t *, const double *, const int *, const bool * */
    size_t n;
} mill_list;

/* The C type of an option's field. */
typedef bool mill_field_BOOL;
typedef int64_t mill_field_INT;
typedef double mill_field_NUM;
typedef const char *mill_field_STR;
typedef const char *mill_field_PATH;
typedef const char *mill_field_REGEX;
typedef int mill_field_ENUM;
typedef int64_t mill_field_DURATION;
typedef int64_t mill_field_BYTES;
typedef mill_list mill_field_LIST;

/* Offset of `field` in `type`; does not compile if the field's C type is not that of kind KIND
 * (BOOL, INT, NUM, STR, PATH, REGEX, ENUM, DURATION, BYTES, LIST). */
#ifdef __cplusplus
#define MILL_OPT_OFF(type, field, KIND)                                                            \
    (offsetof(type, field) +                                                                       \
     0 * sizeof(char[std::is_same<decltype(type::field), mill_field_##KIND>::value ? 1 : -1]))
#else
#define MILL_OPT_OFF(type, field, KIND)                                                            \
    (offsetof(type, field) +                                                                       \
     0 * sizeof(struct {                                                                           \
         _Static_assert(_Generic(((type *)0)->field, mill_field_##KIND : 1, default : 0),          \
                        "the field " #field " of an option of the type " #KIND                     \
                        " has to be a mill_field_" #KIND);                                         \
         char any;                                                                                 \
     }))
#endif

/* One option, declared once: the host parses, checks, documents and completes from it.
 * The field's memory belongs to the host: valid as long as the `opts` it is found in. */
typedef struct mill_option {
    const char *name; /* [a-z][a-z0-9-]*, no dots; NULL ends the array */
    mill_opt_type type;
    mill_opt_type elem; /* of a LIST: the element's type, never LIST; else 0 */
    uint32_t flags;     /* MILL_OPT_* */
    uint32_t reserved;  /* 0 */
    size_t offset;      /* MILL_OPT_OFF */
    const char *def;    /* as a user would write it, ${tracemill:data} allowed; NULL: zeroed, ask
                           option_given */
    double min, max;    /* both inclusive, in the unit of the field (ns, bytes); equal: no bound.
                         * For a LIST: of each element */
    const char *const *choices; /* ENUM, or LIST of ENUM: NULL-terminated */
    const char *unit;           /* shown to people: "µs", "kernels"; NULL: none */
    const char *help;           /* one or two sentences, no line breaks */
} mill_option;

/* ---------------------------------------------------------------- ports */

/* Flags of an input port. */
/* inputs: may be left unconnected; outputs: may be left unset */
#define MILL_PORT_OPTIONAL 1u
/* takes a list of stages; one run gets all their items */
#define MILL_PORT_MANY 2u
/* takes a list of stages; one run per item, then `finish`; needs SINGLE */
#define MILL_PORT_STREAM 4u
/* Of an output port (beside OPTIONAL): 0..n items a run, posted by `emit`, each with a sub-key if
 * there are several */
#define MILL_PORT_ITEMS 8u

/* An input or output of a stage class. */
typedef struct mill_port {
    const char *name; /* [a-z][a-z0-9-]*; NULL ends the array */
    const char *type; /* a type id such as "mill.trace/1" */
    const char *help;
    uint32_t flags;
    uint32_t reserved; /* 0 */
} mill_port;

/* ---------------------------------------------------------------- sinks and sources */

/* Where bytes go: an output file, or what `save` writes to. Owner: the host. */
typedef struct mill_sink mill_sink;
struct mill_sink {
    uint32_t size;
    uint32_t reserved;
    /* Appends `n` bytes. [the thread of the run; one at a time]
     * On failure the cause is already recorded: return the status. */
    mill_status (*write)(mill_sink *sink, const void *data, size_t n);
};

/* Bytes to read: a mapped file, or what `load` reads from. Owner: the host; read-only. The data of
 * the latter does not change, and begins at a multiple of 64 bytes. */
typedef struct mill_source {
    uint32_t size;
    uint32_t reserved;
    const uint8_t *data;
    uint64_t length;
} mill_source;

/* ---------------------------------------------------------------- types */

/* A value type. Third parties list theirs in mill_module.types; the host implements every mill.*
 * one. */
typedef struct mill_type {
    uint32_t size;
    uint32_t reserved;
    const char
        *id; /* "org.acme.x/1"; compared as a string; another layout needs another revision */
    const char *help;
    /* Ends a value that was not made by value_alloc. NULL: all its values are made by it.
     * [any thread, once, when nobody reads the value] */
    void (*free)(void *data);
    /* Makes the report (value_alloc) that stands for the value where a port takes mill.report/1.
     * NULL: opaque to exporters. [any thread, the value is shared and constant] */
    mill_status (*to_report)(mill_run *run, const void *data, mill_report **ret_report);
    /* Writes the value, beginning with a format number. NULL (with load): can't cross processes.
     * [any thread, the value is shared and constant] */
    mill_status (*save)(mill_run *run, const void *data, mill_sink *sink);
    /* Reads every older save; may keep pointers into the source, which outlives the value. The
     * value is made by value_alloc, or ended by `free`. A save may come from a process gone wrong:
     * what can't be a value is E_DATA, with a cause. [any thread] */
    mill_status (*load)(mill_run *run, mill_source *source, void **ret_data);
} mill_type;

/* ---------------------------------------------------------------- stage classes and modules */

/* Flags of a stage class. */
#define MILL_STAGE_SINGLE 1u /* one instance; runs come one after another, in the order of keys */

/* A stage class. `opts` points to the class's options struct, filled by the host; `state` to
 * `state_size` zeroed bytes of one instance. */
typedef struct mill_stage {
    uint32_t size, option_stride, port_stride; /* MILL_STAGE_HEAD: arrays of structs may grow */
    uint32_t flags;                            /* MILL_STAGE_* */
    const char *name;    /* "overlap", "kineto.read": [a-z][a-z0-9-]* parts joined by dots */
    const char *summary; /* one line */
    const char *help;    /* paragraphs, or NULL */
    const mill_port *inputs, *outputs; /* or NULL; no inputs: a reader, no outputs: an exporter */
    const mill_option *options;        /* or NULL */
    size_t options_size, state_size;   /* bytes */

    /* Cross-option rules. No I/O. Called by `check` too. NULL: none. Fields with the flags GLOB and
     * ITEM hold the text as written. [any thread] */
    mill_status (*check)(mill_run *run, const void *opts);
    /* Begins an instance. GLOB and ITEM fields hold the text as written. [serial per instance] */
    mill_status (*open)(mill_run *run, const void *opts, void *state);
    /* Required. Once per item. State may cache but carries no results from item to item, except in
     * a SINGLE stage. [serial per instance] */
    mill_status (*run)(mill_run *run, const void *opts, void *state);
    /* Once per instance, after its last item. Not where open failed, where the run was asked to
     * end, nor where the one `run` of a stage that runs once failed. Only a stage that runs once,
     * or takes a STREAM, may output here: the outputs of others are due in `run`, one for each key.
     * No inputs. [serial per instance] */
    mill_status (*finish)(mill_run *run, const void *opts, void *state);
    /* Always after open, even a failed one. [serial per instance] */
    void (*close)(mill_run *run, void *state);
} mill_stage;

#define MILL_STAGE_HEAD                                                                            \
    (uint32_t)sizeof(mill_stage), (uint32_t)sizeof(mill_option), (uint32_t)sizeof(mill_port)

/* What a plugin exports: its name, the stage classes and types in it. */
typedef struct mill_module {
    uint32_t magic;                /* MILL_MAGIC */
    uint16_t abi_major, abi_minor; /* of the header it was built with */
    uint32_t size;                 /* sizeof(mill_module); these 12 bytes are frozen */
    const char *id;                /* "org.acme.fit", "tracemill.overlap": unique */
    const char *version;           /* the module's own: "1.2.0" */
    const char *license;           /* an SPDX expression */
    const char *author;
    const char *summary;             /* one line */
    const char *built_with;          /* MILL_BUILT_WITH */
    const mill_stage *const *stages; /* NULL-terminated */
    const mill_type *const
        *types; /* the module's own types, NULL-terminated, or NULL; never mill.* */
    mill_status (*init)(const mill_host *host); /* once, after loading, serial; NULL allowed. Tell
                                                 * a failure with mill_init_fail */
    void (*fini)(void);                         /* once, at exit, in reverse order; NULL allowed */
} mill_module;

#define MILL_MODULE_HEAD MILL_MAGIC, MILL_ABI_MAJOR, MILL_ABI_MINOR, (uint32_t)sizeof(mill_module)

#define MILL_STR2(x) #x
#define MILL_STR(x) MILL_STR2(x)
#ifdef __clang__
#define MILL_BUILT_WITH "clang " __clang_version__
#else
#define MILL_BUILT_WITH "gcc " __VERSION__
#endif

/* The one symbol that a module exports: `MILL_EXPORT const mill_module mill_module_v1 = {…};` */
#define MILL_MODULE_SYMBOL "mill_module_v1"
__attribute__((visibility("default"))) extern const mill_module mill_module_v1;

/* ---------------------------------------------------------------- services of the host */

typedef struct mill_regex mill_regex; /* compiled; constant; any thread may match with it */

/* A part of a text: bytes [start, end). start is -1 where a group took no part in the match. */
typedef struct mill_span {
    int32_t start, end;
} mill_span;

/* One `key = value` of an INI file. All text is borrowed until the callback returns. Several lines
 * of one value are joined by '\n'. Return false to end the reading (ini_read then returns E_DATA,
 * and the callback has recorded the cause with mill_fail). A new section comes once with key NULL.
 */
typedef bool (*mill_ini_fn)(void *arg, const char *section, const char *key, const char *value,
                            uint32_t line);

/* One piece of parallel work: index 0 ≤ i < n. Return other than MILL_OK to stop handing out more.
 */
typedef mill_status (*mill_parallel_fn)(mill_run *run, void *arg, size_t i);

/* The table of services. Append-only, guarded by size. Unless a line says otherwise a service may
 * be called only from the thread of the callback that got `run`, until that callback returns. "Any
 * thread" includes the workers of `parallel`. Ports are named by their index in the class's inputs
 * or outputs. */
struct mill_host {
    uint32_t size;
    uint16_t abi_major, abi_minor;
    const char *version; /* of the host program: "0.1.0" */

    /* Writes one line to the log, with the stage's name before it. [any thread] */
    void (*log)(mill_run *run, mill_level level, const char *text);
    /* Adds a cause to the run's chain: call it where the failure is found, and again in callers
     * that can say more; the last one added is the outermost. Use mill_fail; in `init`, where there
     * is no run (NULL), mill_init_fail. [any thread] */
    void (*fail)(mill_run *run, mill_status status, const char *file, uint32_t line,
                 const char *text);
    /* True once the user or a time limit asked the run to end: return MILL_E_CANCELLED soon (within
     * 5 s the process is ended otherwise). Cheap: call it every few ms of work. [any thread] */
    bool (*cancelled)(mill_run *run);
    /* How far this run is: `done` of `total` `unit`s ("bytes", "rows"); total 0: unknown.
     * Cheap, but not for every row. [any thread] */
    void (*progress)(mill_run *run, uint64_t done, uint64_t total, const char *unit);
    /* `size` zeroed bytes, aligned for any type, freed by the host when the callback returns.
     * Never NULL (the process ends when memory does). [any thread] */
    void *(*scratch)(mill_run *run, size_t size);
    /* True if the user set the option (in a file, an include or by --set), false if it has its
     * default. [any thread] */
    bool (*option_given)(mill_run *run, const char *option);

    /* Number of items on the input port in this run: 0 or 1, for a MANY port any number. */
    size_t (*input_count)(mill_run *run, uint32_t port);
    /* Item i of the port: a pointer to the value as its type's header defines it. Borrowed until
     * the callback returns, constant. NULL if i is not below input_count. [any thread] */
    const void *(*input)(mill_run *run, uint32_t port, size_t i);
    /* The stage that posted the item, its key ("" where it has none), and the id of the type it was
     * posted as (differs from the port's where to_report made the report). NULL as above. */
    const char *(*input_stage)(mill_run *run, uint32_t port, size_t i);
    const char *(*input_key)(mill_run *run, uint32_t port, size_t i);
    const char *(*input_type)(mill_run *run, uint32_t port, size_t i);
    /* How many items a MANY or STREAM port will not get since what makes them failed; where i is
     * below that number, also which: their stage and key. For a STREAM port: those up to now. */
    size_t (*missing)(mill_run *run, uint32_t port, size_t i, const char **ret_stage,
                      const char **ret_key);
    /* The key of this run: "" in a stage that is not keyed. */
    const char *(*item_key)(mill_run *run);

    /* Posts the value of an output port: exactly one a port and run. Takes `data` even on failure;
     * it must not be changed afterwards. `data` is made by value_alloc, or its type has a free.
     * MILL_E_PLUGIN: no such port, the port has ITEMS, or it was posted before. */
    mill_status (*output)(mill_run *run, uint32_t port, void *data);
    /* Posts one more item on an ITEMS port. sub_key: [A-Za-z0-9._-]+, unique in the run; or NULL:
     * the item is the only one of this run on this port, and keeps the run's key. Otherwise like
     * output. */
    mill_status (*emit)(mill_run *run, uint32_t port, const char *sub_key, void *data);
    /* Keeps an input's value alive beyond the callback, until drop (at the latest until close). */
    mill_status (*hold)(mill_run *run, const void *data);
    void (*drop)(mill_run *run, const void *data);

    /* `size` zeroed bytes, aligned for any type. value NULL: begins a new value, and the result is
     * what goes to output or emit. Else: memory that belongs to that value, freed with it. A value
     * that is never posted is freed at close. Never NULL. [any thread, one at a time for each
     * value] */
    void *(*value_alloc)(mill_run *run, void *value, size_t size);

    /* Opens a file for writing ("-": standard output). The bytes go to a temporary file beside it,
     * renamed when the stage has ended if every callback that wrote to it returned MILL_OK or
     * MILL_GATE, and removed otherwise. In a SINGLE stage, and in one that runs once, opening the
     * same path again goes on where the last callback ended; in others the file ends with the run,
     * and each run needs its own. The sink itself is valid until the callback returns. Standard
     * output is printed in the order of stages, then keys. Folders are created.
     * Errors (recorded): E_IO; E_CONFIG if another run writes the path, or the pipeline reads it.
     */
    mill_status (*sink_open)(mill_run *run, const char *path, mill_sink **ret_sink);
    /* The whole of a file in memory, until the callback returns. Errors (recorded): E_NOINPUT,
     * E_IO. */
    mill_status (*source_map)(mill_run *run, const char *path, mill_source **ret_source);

    /* Calls fn(run, arg, i) for each i in [0, n), on this thread and on idle ones of --jobs, and
     * returns when all have returned: MILL_OK, or the status of the lowest failed i. */
    mill_status (*parallel)(mill_run *run, size_t n, mill_parallel_fn fn, void *arg);

    /* Compiles a regular expression (PCRE), matched on bytes. Freed at close. Errors (recorded,
     * with the position): E_CONFIG. [any thread] */
    mill_status (*regex_new)(mill_run *run, const char *pattern, uint32_t flags,
                             mill_regex **ret_regex);
    /* Searches `text` (`length` bytes). If found, fills the first n_groups of groups (0: the whole
     * match; may be NULL with n_groups 0). An expression that takes too long on a text is not found
     * there, with a warning. [any thread] */
    bool (*regex_match)(const mill_regex *regex, const char *text, size_t length, mill_span *groups,
                        size_t n_groups);
    /* The number of the group `(?<name>…)`, or -1. [any thread] */
    int (*regex_group)(const mill_regex *regex, const char *name);

    /* Reads an INI file by the host's rules, calling fn in the file's order; ${…} is not expanded.
     * Errors (recorded with file:line): E_NOINPUT, E_IO, E_DATA. */
    mill_status (*ini_read)(mill_run *run, const char *path, mill_ini_fn fn, void *arg);

    /* An optional set of services by id, or NULL where this host has none of that id. [any thread]
     */
    const void *(*extension)(const mill_host *host, const char *id);
};

#define MILL_REGEX_CASELESS 1u

/* ---------------------------------------------------------------- helpers over the table */

/* mill_fail(run, MILL_E_DATA, "row %zu: …", …): records a cause with this file and line, and gives
 * the status back, so that a stage can `return mill_fail(…)`. Texts over 1023 bytes are cut. */
#define mill_fail(run, status, ...)                                                                \
    mill_fail_at((run)->host, (run), (status), __FILE__, __LINE__, __VA_ARGS__)
/* The same in mill_module.init, where there is no run. */
#define mill_init_fail(host, status, ...)                                                          \
    mill_fail_at((host), NULL, (status), __FILE__, __LINE__, __VA_ARGS__)

MILL_PRINTF(6, 7)
static inline mill_status mill_fail_at(const mill_host *host, mill_run *run, mill_status status,
                                       const char *file, int line, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    host->fail(run, status, file, (uint32_t)line, text);
    return status;
}

MILL_PRINTF(3, 4)
static inline void mill_log(mill_run *run, mill_level level, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    run->host->log(run, level, text);
}

static inline bool mill_cancelled(mill_run *run) {
    return run->host->cancelled(run);
}
static inline void mill_progress(mill_run *run, uint64_t done, uint64_t total, const char *unit) {
    run->host->progress(run, done, total, unit);
}
static inline void *mill_scratch(mill_run *run, size_t size) {
    return run->host->scratch(run, size);
}
static inline bool mill_option_given(mill_run *run, const char *option) {
    return run->host->option_given(run, option);
}
static inline size_t mill_input_count(mill_run *run, uint32_t port) {
    return run->host->input_count(run, port);
}
static inline const void *mill_input(mill_run *run, uint32_t port, size_t i) {
    return run->host->input(run, port, i);
}
static inline const char *mill_item_key(mill_run *run) {
    return run->host->item_key(run);
}
static inline mill_status mill_output(mill_run *run, uint32_t port, void *data) {
    return run->host->output(run, port, data);
}
static inline void *mill_value_alloc(mill_run *run, void *value, size_t size) {
    return run->host->value_alloc(run, value, size);
}

/* ---------------------------------------------------------------- frozen layout */

MILL_STATIC_ASSERT(offsetof(mill_module, magic) == 0, "frozen");
MILL_STATIC_ASSERT(offsetof(mill_module, abi_major) == 4, "frozen");
MILL_STATIC_ASSERT(offsetof(mill_module, abi_minor) == 6, "frozen");
MILL_STATIC_ASSERT(offsetof(mill_module, size) == 8, "frozen");
#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_module) == 96, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_run) == 8, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_stage) == 120, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_option) == 80, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_port) == 32, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_type) == 56, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_host) == 224, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_sink) == 16 && sizeof(mill_source) == 24, "ABI 1.0");
MILL_STATIC_ASSERT(sizeof(mill_list) == 16 && sizeof(mill_span) == 8, "ABI 1.0");
#endif
MILL_STATIC_ASSERT(sizeof(mill_status) == 4 && sizeof(mill_opt_type) == 4, "ABI 1.0");

#ifdef __cplusplus
}
#endif
#endif
