/* SPDX-License-Identifier: Apache-2.0 */
/* What holds of every trace, whatever is in it. */
#ifndef TRACEMILL_TESTS_ORDER_H
#define TRACEMILL_TESTS_ORDER_H

#include <tracemill/trace.h>

/* Ends the process where rows are out of order, a slice leaves its parent, or a launch does not
 * correlate. */
void order_check(const mill_trace *t);

#endif
