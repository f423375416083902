/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two traces are the same. */
#ifndef KINETO_TESTS_SAME_TRACE_H
#define KINETO_TESTS_SAME_TRACE_H

#include <tracemill/trace.h>

/* Ends the test where they differ: in facts, texts, any column of any row, or diagnostics. */
void same_trace(const mill_trace *x, const mill_trace *y);

#endif
