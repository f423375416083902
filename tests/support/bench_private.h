/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the bench share: its record of one stage instance. */
#ifndef TRACEMILL_TESTS_BENCH_PRIVATE_H
#define TRACEMILL_TESTS_BENCH_PRIVATE_H

#include "bench_host.h"

#include <pthread.h>

#define BENCH_NO_PORT UINT32_MAX /* of an output that was refused, but is owned all the same */

typedef enum bench_phase { BENCH_OUTSIDE, BENCH_CALLBACK, BENCH_FINISH } bench_phase;

typedef struct bench_item_in {
    uint32_t port;
    char *type, *stage, *key;
    const void *data; /* NULL: it is missing */
} bench_item_in;

typedef struct bench_item_out {
    uint32_t port;
    char *key; /* of ITEMS, else NULL */
    void *data;
    void (*free)(void *data); /* of a value that is not from value_alloc */
} bench_item_out;

typedef struct bench_value {
    GPtrArray *blocks;        /* the first is what the stage got */
    bool in_callback, posted; /* in_callback: begun there */
} bench_value;

typedef struct bench_sink {
    mill_sink sink; /* first, so that a mill_sink is its bench_sink */
    bench *owner;
    char *path;
    GString *bytes;
    bool used;    /* by the callback that runs now */
    bool spoiled; /* a callback that used it failed */
} bench_sink;

struct bench {
    mill_run run; /* first, so that a mill_run is its bench */
    const mill_module *module;
    const mill_stage *stage;

    void *own_opts;
    const void *opts;
    GHashTable *given; /* names of the options that were set */
    GPtrArray *option_memory;

    void *state;
    pthread_t thread; /* of the callback */
    bench_phase phase;
    mill_status status; /* the first that was not OK */
    bool open;
    unsigned runs;

    GArray *inputs;       /* bench_item_in */
    GArray *outputs;      /* bench_item_out */
    size_t stream_at;     /* which item of a STREAM port this run gets */
    size_t posted_before; /* outputs of earlier runs */
    char *item_key;
    GPtrArray *mapped;  /* until the callback ends */
    GHashTable *values; /* data → bench_value */
    GHashTable *sinks;  /* path → bench_sink */
    GHashTable *held;
    size_t disk_size;
    unsigned jobs, cancel_at;

    pthread_mutex_t lock; /* of what any thread may touch, below; no GMutex, which ThreadSanitizer
                           * can't see into */
    GString *causes, *log;
    GPtrArray *scratch; /* until the callback ends */
    GPtrArray *regexes;
    unsigned cancel_calls;
    bool blamed;
};

extern const mill_host bench_services_table;

/* Records a breach of the contract, which makes the callback's status MILL_E_PLUGIN. */
MILL_PRINTF(2, 3) void bench_blame(bench *b, const char *format, ...);

/* Frees what source_map and regex_new made. */
void bench_unmap(void *mapping);
void bench_free_regex(void *regex);

/* Port i of an array whose stride is the class's; NULL where it ends. */
const mill_port *bench_port_at(const mill_stage *stage, const mill_port *ports, uint32_t i);

/* NULL: the class has no such option. */
const mill_option *bench_find_option(const mill_stage *stage, const char *name);
void bench_set_option(bench *b, const mill_option *option, const char *text);
void bench_set_defaults(bench *b);
/* Ends the test if a REQUIRED option was not set. */
void bench_need_options(const bench *b);

#endif
