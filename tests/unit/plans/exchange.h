/* SPDX-License-Identifier: Apache-2.0 */
/* Plans to files and back, by the stages of the module. */
#ifndef TESTS_PLANS_EXCHANGE_H
#define TESTS_PLANS_EXCHANGE_H

#include "bench_host.h"

#include <tracemill/expert_plan.h>

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

const mill_module *exchange_module(void);

/* A folder for files, which lives as long as the test. */
const char *exchange_folder(void);
void exchange_remove_folder(void);

/* Puts bytes into a file of the folder; returns its path. */
char *exchange_put(const char *name, const void *bytes, size_t length);

/* plan.write, once run: bench_written holds the files. */
bench *exchange_write(const mill_expert_plan *plan, const char *const *settings);

/* plan.read of a path, once run. */
bench *exchange_read(const char *path, const char *const *settings, mill_status *ret_status);

/* The plan of a bench that read well. */
const mill_expert_plan *exchange_plan(const bench *b);

/* All but subject and policy are the same. */
void exchange_assert_same(const mill_expert_plan *a, const mill_expert_plan *b);

#endif
