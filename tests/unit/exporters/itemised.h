/* SPDX-License-Identifier: Apache-2.0 */
/* A run in which ${item} gives each key a file of its own, as the host expands it. */
#ifndef EXPORTERS_ITEMISED_H
#define EXPORTERS_ITEMISED_H

#include "bench_host.h"

/* Runs the module's stage with the path "${item}.out" over an empty report (sample_empty) for each
 * key, in order; what it wrote is at "KEY.out". keys: NULL-terminated. Returns the bench. */
bench *itemised_run(const char *module, const char *const *keys);

/* The same for the keys a and b, where reports are missing: one of each, one of a:x, one of ab, and
 * one that has no key. */
bench *itemised_lost(const char *module);
/* Each file then tells what its own key misses, and what has no key; nothing of others. */
void itemised_check_lost(const char *module);

#endif
