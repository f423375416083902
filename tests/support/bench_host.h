/* SPDX-License-Identifier: Apache-2.0 */
/* A host in miniature, to run one stage class in a unit test without the program.
 *
 *     const mill_module *module = bench_open("plugins/analyzers/overlap/overlap.so");
 *     bench *b = bench_create(module, "overlap");
 *     bench_option(b, "top=5");
 *     bench_input(b, "in", MILL_TYPE_TRACE, trace, "trace", "");
 *     g_assert_cmpint(bench_run(b), ==, MILL_OK);
 *     const mill_report *report = bench_output(b, "report", 0);
 *     bench_destroy(b);
 *
 * A mistake of the test itself (no such class, option, port) ends it with a message. A breach of
 * the contract by the stage (no output, two outputs, a failure without a cause) is MILL_E_PLUGIN
 * with a cause. One thread for each bench, but for what the ABI allows to `parallel`.
 */
#ifndef TRACEMILL_TESTS_BENCH_HOST_H
#define TRACEMILL_TESTS_BENCH_HOST_H

#include <glib.h>
#include <tracemill/report.h>

typedef struct bench bench;

/* Loads a module by its path; a relative one begins at the build folder (TRACEMILL_TEST_BUILD). */
const mill_module *bench_open(const char *path);

/* module and stage NULL: only to make values with the services (bench_services). The first bench
 * of a module calls its init. */
bench *bench_create(const mill_module *module, const char *stage);
void bench_destroy(bench *b);

/* ---------------------------------------------------------------- before the run */

/* Sets an option as a user would: "top=5"; commas or line breaks between the values of a list.
 * What is not set has its default. */
void bench_option(bench *b, const char *setting);
/* Instead: a filled options struct, which must outlive the bench. */
void bench_options(bench *b, const void *opts);
/* Adds an item to an input port. `data` must outlive the bench, stage and key are copied. */
void bench_input(bench *b, const char *port, const char *type, const void *data, const char *stage,
                 const char *key);
/* Adds an item that the port will not get. */
void bench_missing(bench *b, const char *port, const char *stage, const char *key);
void bench_item_key(bench *b, const char *key);
/* `cancelled` says yes from its n-th call on (1: at once). */
void bench_cancel_at(bench *b, unsigned n);
/* Writing more than `limit` bytes to a sink fails, as on a full disk. */
void bench_disk_size(bench *b, size_t limit);
/* Threads of `parallel`; 1 if not called. */
void bench_jobs(bench *b, unsigned n);

/* ---------------------------------------------------------------- the run */

/* The life of one instance: check, open, run (once for each item of a STREAM port, else once),
 * finish, close. Once for a bench. Returns the first status that is not MILL_OK. */
mill_status bench_run(bench *b);

/* The same in steps, for an instance that runs several times: begin, then item any number of times
 * (give bench_clear_inputs and new inputs between them), then end, always. */
mill_status bench_begin(bench *b);
mill_status bench_item(bench *b);
mill_status bench_end(bench *b);
void bench_clear_inputs(bench *b);

/* A run to call services and the kit with, outside of any callback. What is made with it lives
 * until bench_destroy. */
mill_run *bench_services(bench *b);

/* ---------------------------------------------------------------- afterwards */

/* What was posted on a port: item i in order, or NULL; valid until bench_destroy. */
size_t bench_output_count(const bench *b, const char *port);
const void *bench_output(const bench *b, const char *port, size_t i);
const char *bench_output_key(const bench *b, const char *port, size_t i); /* ITEMS: the sub-key */

/* The chain of causes, outermost first: "cause; cause; …", "" if there is none. */
const char *bench_causes(const bench *b);
/* What was logged, a line each: "warning: …". */
const char *bench_log(const bench *b);
/* Bytes written to a path and kept, or NULL: not opened, or dropped because of a failure. */
const GString *bench_written(const bench *b, const char *path);
/* Values begun in a callback but never posted. */
unsigned bench_leaked(const bench *b);

#endif
