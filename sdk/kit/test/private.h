/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the test harness share: a test, one life of its class, and watched memory. */
#ifndef TRACEMILL_KIT_TEST_PRIVATE_H
#define TRACEMILL_KIT_TEST_PRIVATE_H

#include <tracemill/kit/test.h>

#include <pthread.h>

/* ---------------------------------------------------------------- small things */

/* Memory or the end of the program. */
void *kt_alloc(size_t size);
void *kt_grow(void *array, size_t n, size_t element); /* room for one more than n */
char *kt_copy(const char *text);

typedef struct kt_text {
    char *s; /* NULL: "" */
    size_t n, room;
} kt_text;
void kt_text_add(kt_text *t, const char *s, size_t n);
MILL_PRINTF(2, 3) void kt_text_addf(kt_text *t, const char *format, ...);
/* Before what there is, with a line end between. */
void kt_text_put_before(kt_text *t, const char *line);
void kt_text_clear(kt_text *t);
const char *kt_text_of(const kt_text *t);

/* "MILL_E_DATA", or the number. */
const char *kt_status_name(mill_status status);

/* Ends the program: the test itself is wrong. */
MILL_PRINTF(1, 2) _Noreturn void kt_mistake(const char *format, ...);

/* ---------------------------------------------------------------- watched memory (memory.c) */

/* Memory that lives and ends as a whole, in pages of its own. Use that is not allowed is let pass
 * and recorded. */
typedef struct kt_watched kt_watched;

kt_watched *kt_watched_create(void);
/* Zeroed and aligned; not for several threads at a time. */
void *kt_watched_alloc(kt_watched *w, size_t size);
/* The first block. */
void *kt_watched_root(kt_watched *w);
size_t kt_watched_root_size(kt_watched *w);
/* PROT_NONE, PROT_READ, or PROT_READ | PROT_WRITE. */
void kt_watched_protect(kt_watched *w, int protection);
/* Drops the content: all of it may be zeros afterwards. */
void kt_watched_forget(kt_watched *w);
void kt_watched_destroy(kt_watched *w);
/* The memory that holds the address, or NULL. */
kt_watched *kt_watched_at(const void *address);

/* What was recorded since the last call: false if there was nothing. Where the use was forbidden
 * altogether, *ret_write is false. */
bool kt_watched_misuse(kt_watched *w, bool *ret_write, size_t *ret_offset, size_t *ret_block);
/* The size of a block behind whose end something was written; false if there is none. */
bool kt_watched_overrun(kt_watched *w, size_t *ret_block);
/* Are these two, of which the roots are given, the same but for their addresses? */
bool kt_watched_equal(kt_watched *a, const void *a_root, kt_watched *b, const void *b_root);
/* For the message of a program that dies: which callback of what runs, and what was found by then.
 * Both texts must live until the next call. */
void kt_watched_scene(const char *scene);
void kt_watched_found(const char *breaches);

/* ---------------------------------------------------------------- standard output (output.c) */

void kt_output_catch(void);
/* True, and the beginning of it, if something was printed since. */
bool kt_output_release(char *ret_words, size_t size);
/* Prints what was caught to standard error: the program dies. */
void kt_output_rescue(void);

/* ---------------------------------------------------------------- a test */

typedef struct kt_setting {
    char *name, *value;
} kt_setting;

typedef struct kt_given {
    uint32_t port;
    char *type, *stage, *key; /* key NULL: that of the item */
    const void *data;         /* NULL: missing */
} kt_given;

typedef struct kt_item {
    char *key, *path; /* path: of the GLOB option, or NULL */
    kt_given *inputs;
    size_t n_inputs;
} kt_item;

struct kt_pass;

struct kit_test {
    const mill_module *module;
    const mill_stage *stage;
    char *data_dir;
    kt_setting *settings;
    size_t n_settings;
    kt_item common;
    kt_item *items;
    size_t n_items;
    uint32_t without;
    struct kt_pass *maker;  /* never calls the class */
    struct kt_pass *result; /* of the life that was asked for, or NULL */
    kt_text breaches, written;
};

const mill_port *kt_port(const mill_stage *stage, const mill_port *ports, uint32_t i);
uint32_t kt_port_index(const mill_stage *stage, const mill_port *ports, const char *name);
const mill_option *kt_option(const mill_stage *stage, size_t i);
const mill_type *kt_type(const kit_test *t, const char *id);
/* The class has an input with this flag. */
bool kt_takes(const kit_test *t, uint32_t flag);
/* The class runs once for each of several items. */
bool kt_is_keyed(const kit_test *t);
/* The file of the first item that has one, which stands for what a user wrote; or NULL. */
const char *kt_first_file(const kit_test *t);
/* A sentence, once for a test. */
MILL_PRINTF(2, 3) void kt_breach(kit_test *t, const char *format, ...);

/* ---------------------------------------------------------------- options (options.c) */

/* Puts a value, written as a user would, into the field of `o` in `opts`; what the field points to
 * is in `memory`. GLOB and ITEM options keep the text as written. False, with the reason in
 * `wrong`. */
bool kt_option_set(const mill_option *o, const char *value, const char *data_dir,
                   kt_watched *memory, void *opts, kt_text *wrong);
/* `text` of an ITEM option for the item with this key; in `memory`. */
const char *kt_option_for_item(const char *text, const char *key, kt_watched *memory);

/* ---------------------------------------------------------------- one life (pass.c) */

/* How a life differs from what was asked for. */
typedef struct kt_plan {
    const char *what;    /* "" or " (in a second life)", … */
    const size_t *order; /* of the items, or NULL */
    size_t n_order;
    unsigned jobs;         /* threads of parallel */
    size_t cancel_at;      /* the call of `cancelled` that says yes; 0: none */
    size_t write_fails_at; /* 0: none */
    bool quiet;            /* breaches were told before */
} kt_plan;

typedef struct kt_value kt_value;
struct kt_value {
    kt_value *next;
    kt_watched *memory; /* NULL: of a type with a free */
    void *data;
    const mill_type *type; /* once it is posted, where the module has it */
    bool posted, callback; /* callback: begun in one */
};

typedef struct kt_posted {
    uint32_t port;
    size_t item; /* its index; SIZE_MAX: in finish */
    char *key, *sub_key;
    kt_value *v;
} kt_posted;

typedef struct kt_held kt_held;
struct kt_held {
    kt_held *next;
    const void *data;
};

typedef struct kt_sink kt_sink;
struct kt_sink {
    mill_sink public; /* first, so that a mill_sink is its sink */
    struct kt_pass *owner;
    kt_sink *next;
    char *path;
    kt_text bytes;
    bool used, spoiled;
    size_t item; /* whose run opened it, in a class that runs once for each */
};

typedef struct kt_source kt_source;
struct kt_source {
    mill_source public;
    kt_watched *memory;
    kt_source *next;
    bool ended;
};

typedef struct kt_pass {
    mill_run run; /* first, so that a mill_run is its pass */
    kit_test *test;
    kt_plan plan;
    bool making;          /* the maker: no callbacks */
    const char *callback; /* which runs; NULL: none */
    char scene[300];      /* the same in words */
    bool may_output, has_inputs;
    pthread_t thread;
    const kt_item *item; /* at hand, or NULL */
    size_t at;           /* its index; SIZE_MAX: none */
    kt_watched *state, *opts_memory;
    void *opts;
    struct converted *converted; /* inputs of the run at hand, as reports */
    kt_posted *outputs;
    size_t n_outputs;
    kt_sink *sinks;
    kt_source *sources;
    kt_held *held;
    mill_status status;
    kt_text kept; /* the causes of what failed first */
    size_t writes;
    size_t *left, n_left; /* cancel_calls at the end of each callback */

    pthread_mutex_t lock; /* of what any thread may change, below */
    kt_value *values;
    kt_watched **scratch; /* of each callback; the last is that of the one that runs */
    size_t n_scratch;
    struct regex *regexes;
    kt_text causes; /* of the callback that runs */
    kt_text log;
    size_t cancel_calls, calls_after;
    bool blamed;
} kt_pass;

kt_pass *kt_pass_create(kit_test *t, const kt_plan *p);
void kt_pass_destroy(kt_pass *p);
void kt_pass_perform(kt_pass *p);
/* Records a breach of the contract, which makes the status MILL_E_PLUGIN, and returns that. [any
 * thread] */
MILL_PRINTF(2, 3) mill_status kt_pass_blame(kt_pass *p, const char *format, ...);
/* The report that was made of an input of this run, or NULL. */
const mill_report *kt_pass_converted(const kt_pass *p, const kt_given *g);
/* The report that stands for a value, made in the run `p`; NULL, with a cause or a breach. */
const mill_report *kt_pass_to_report(kt_pass *p, const mill_type *type, const void *data);

/* ---------------------------------------------------------------- services (services.c, files.c)
 */

extern const mill_host kt_host;

/* The run's own thread, or a breach. */
kt_pass *kt_own_thread(mill_run *run, const char *service);
kt_value *kt_pass_value(kt_pass *p, const void *data);
void kt_value_destroy(kt_value *v);

mill_status kt_service_sink_open(mill_run *run, const char *path, mill_sink **ret_sink);
mill_status kt_service_source_map(mill_run *run, const char *path, mill_source **ret_source);
mill_status kt_service_ini_read(mill_run *run, const char *path, mill_ini_fn fn, void *arg);
mill_status kt_service_parallel(mill_run *run, size_t n, mill_parallel_fn fn, void *arg);
mill_status kt_service_regex_new(mill_run *run, const char *pattern, uint32_t flags,
                                 mill_regex **ret_regex);
bool kt_service_regex_match(const mill_regex *regex, const char *s, size_t length,
                            mill_span *groups, size_t n_groups);
int kt_service_regex_group(const mill_regex *regex, const char *name);
void kt_regexes_destroy(struct regex *all);
/* NULL: it is one; else why not. The caller frees it. */
char *kt_regex_problem(const char *pattern);
void kt_sinks_destroy(kt_sink *all);
void kt_sources_destroy(kt_source *all);

/* ---------------------------------------------------------------- comparing (compare.c) */

/* Where two outputs differ; NULL: they are the same. The caller frees it. */
char *kt_compare_values(kit_test *t, const kt_value *a, const kt_value *b);
/* Save, load, save again; to_report: what goes wrong is a breach. */
void kt_compare_round_trip(kit_test *t, const kt_value *v, const char *port);

/* Where the outputs of two lives differ, of one item or of all (SIZE_MAX); NULL: nowhere. The
 * caller frees it. */
char *kt_compare_passes(kit_test *t, const kt_pass *a, const kt_pass *b, size_t item);

/* All further lives, and what they say (rounds.c). */
void kt_rounds(kit_test *t);

#endif
