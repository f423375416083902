/* SPDX-License-Identifier: Apache-2.0 */
/* The one function of a fuzz target. */
#ifndef TRACEMILL_TESTS_FUZZ_H
#define TRACEMILL_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Called with each input by libFuzzer or replay.c; aborts where a promise is broken. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
