/* SPDX-License-Identifier: Apache-2.0 */
/* A stage class for tests of the test harness, which does what a test tells it, be it right or
 * wrong. */
#ifndef TRACEMILL_TESTS_HARNESS_PROBE_H
#define TRACEMILL_TESTS_HARNESS_PROBE_H

#include <stdatomic.h>
#include <tracemill/kit/test.h>

typedef struct probe_options {
    int64_t top;
    const char *path, *out;
} probe_options;

typedef struct probe_state {
    const volatile int64_t *kept;
    int64_t sum;
} probe_state;

typedef mill_status (*probe_fn)(mill_run *run, const probe_options *o, probe_state *s);

/* Its own type, test.own/1: a number, in memory from malloc. */
typedef struct probe_own {
    int64_t number;
} probe_own;

/* The class "probe". */
extern const mill_module probe_module;

/* What the type does wrong: load forgets the number; load takes what is cut. */
extern bool probe_forgetful, probe_careless;
extern int probe_frees; /* calls of the type's free */
/* For threads that a stage leaves. */
extern atomic_bool probe_may_end;
/* What `check` does, or NULL. */
extern mill_status (*probe_checking)(mill_run *run);

/* What run and finish do from now on; all else is reset. finish may be NULL. */
void probe_behave(probe_fn run, probe_fn finish);

/* A run that is right: posts its input's number and one more, or 1. */
mill_status probe_good(mill_run *run, const probe_options *o, probe_state *s);
mill_status probe_post(mill_run *run, int64_t number);

/* A number that the harness watches. */
int64_t *probe_number(kit_test *t, int64_t value);
/* Two items, a and b, with one input value each. */
kit_test *probe_two_items(void);

/* Adds the tests of all that is wrong. */
void harness_wrong_add(void);

#endif
