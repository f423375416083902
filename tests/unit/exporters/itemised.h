/* SPDX-License-Identifier: Apache-2.0 */
/* A run in which ${item} gives each key a file of its own, as the host expands it. */
#ifndef EXPORTERS_ITEMISED_H
#define EXPORTERS_ITEMISED_H

#include "bench_host.h"

/* Runs the module's stage with the path "${item}.out" over an empty report (sample_empty) for each
 * key, in order; what it wrote is at "KEY.out". keys: NULL-terminated. Returns the bench. */
bench *itemised_run(const char *module, const char *const *keys);

/* The same, where the stage `bubble` has failed for a key. */
bench *itemised_run_missing(const char *module_path, const char *const *keys, const char *missing);

#endif
