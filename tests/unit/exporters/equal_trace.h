/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two traces say the same. */
#ifndef EXPORTERS_TESTS_EQUAL_TRACE_H
#define EXPORTERS_TESTS_EQUAL_TRACE_H

#include <tracemill/trace.h>

/* Ends the test where a fact, or a column of a row, differs. What refers to texts, streams and
 * threads is compared by what these say: their numbers are those of their first appearance in a
 * file. How the file was written and read (path, bytes, events, diagnostics) is not
 * compared, nor are threads without rows. */
void equal_trace(const char *name, const mill_trace *x, const mill_trace *y);

#endif
