/* SPDX-License-Identifier: Apache-2.0 */
/* Files for the tests of the readers of loads, and runs of its stages on them. */
#ifndef TRACEMILL_TESTS_LOADS_FILES_H
#define TRACEMILL_TESTS_LOADS_FILES_H

#include "bench_host.h"
#include "look.h"

#include <tracemill/expert_load.h>

/* A folder of the test's own, and the module. Once, before and after all tests. */
void files_init(void);
void files_finish(void);
extern const mill_module *loads_module;

/* Writes a file of the folder; returns its path, to be freed. */
char *files_put(const char *name, const void *bytes, size_t length);
char *files_put_text(const char *name, const char *text);

/* An .npy file; header: the Python literal. */
char *files_put_npy(const char *name, int version, const char *header, const void *numbers,
                    size_t length);
/* A safetensors file. */
char *files_put_safetensors(const char *name, const char *header, const void *numbers,
                            size_t length);

/* A run of loads.read on a file; settings: "content=loads", NULL-terminated, or NULL. */
bench *files_read(const char *path, const char *const *settings, mill_status *ret_status);
/* The same, which must succeed. */
bench *files_good(const char *path, const char *const *settings);
/* The same, which must fail with E_DATA and a cause that holds the words. Frees path. */
void files_bad(char *path, const char *const *settings, const char *words);
const mill_expert_load *files_loads(const bench *b);
const mill_report *files_report(const bench *b);

/* A figure of kind REAL. */
double files_real(const bench *b, const char *id);

/* The loads are exactly these, [steps][layers][experts]. */
void files_same(const mill_expert_load *loads, uint64_t steps, uint32_t layers, uint32_t experts,
                const double *right);

/* Loads made of numbers, which live as long as the bench. */
mill_expert_load *files_value(bench *b, uint64_t steps, uint32_t layers, uint32_t experts,
                              const double *load);

#endif
