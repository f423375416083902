/* SPDX-License-Identifier: Apache-2.0 */
/* A third opinion on a trace, beside the reader's two engines: what cJSON finds in the text. */
#ifndef TRACEMILL_TESTS_KINETO_ORACLE_H
#define TRACEMILL_TESTS_KINETO_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oracle_rows {
    uint64_t n;
    int64_t dur; /* their sum, ns */
} oracle_rows;

typedef struct oracle {
    uint64_t events;
    oracle_rows gpu, cpu; /* slices that can be rows, duplicates too */
} oracle;

/* False: no opinion. The text is no strict JSON, is no trace of objects only, holds pairs of
 * events, or something on which cJSON can't be asked. */
bool oracle_read(const char *text, size_t length, oracle *ret_oracle);

#endif
