/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the promises that a trace keeps by its form. */
#include "order.h"

#include <glib.h>

void order_check(const mill_trace *t) {
    for (uint64_t i = 1; i < t->gpu.n; i++) {
        int64_t a = mill_i64(t, &t->gpu.start, i - 1), b = mill_i64(t, &t->gpu.start, i);
        g_assert_cmpint(a, <=, b);
        if (a == b)
            g_assert_cmpint(mill_i64(t, &t->gpu.dur, i - 1), <=, mill_i64(t, &t->gpu.dur, i));
    }
    for (uint64_t i = 0; i < t->cpu.n; i++) {
        uint32_t parent = mill_u32(t, &t->cpu.parent, i);
        if (parent == MILL_NONE)
            continue;
        int64_t start = mill_i64(t, &t->cpu.start, i), outer = mill_i64(t, &t->cpu.start, parent);
        g_assert_cmpuint(parent, <, i);
        g_assert_cmpint(outer, <=, start);
        g_assert_cmpint(start + mill_i64(t, &t->cpu.dur, i), <=,
                        outer + mill_i64(t, &t->cpu.dur, parent));
        g_assert_cmpuint(mill_u32(t, &t->cpu.thread, i), ==, mill_u32(t, &t->cpu.thread, parent));
    }
    for (uint64_t i = 0; i < t->gpu.n; i++) {
        uint32_t launch = mill_u32(t, &t->gpu.launch, i);
        if (launch != MILL_NONE)
            g_assert_cmpint(mill_i64(t, &t->cpu.correlation, launch), ==,
                            mill_i64(t, &t->gpu.correlation, i));
    }
}
