/* SPDX-License-Identifier: Apache-2.0 */
/* What benchmarks measure with. */
#ifndef TRACEMILL_TESTS_MEASURE_H
#define TRACEMILL_TESTS_MEASURE_H

#include <stdint.h>

/* Time of the processor, for work on one thread: so other processes are not counted. */
double measure_seconds(void);

/* Makes what is resident now the peak of memory, and returns it. Bytes. */
int64_t measure_reset_peak(void);
int64_t measure_peak(void);

double measure_median(const double *v, int n); /* n: up to 16 */

#endif
