/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing what was told in `problems` with the expected text. */
#ifndef TRACEMILL_TESTS_CONFIG_GOLDEN_H
#define TRACEMILL_TESTS_CONFIG_GOLDEN_H

#include "config/problems.h"

static inline void golden_problems(problems *p, const char *expected) {
    g_autofree char *text = problems_format(p, false);
    g_assert_cmpstr(text, ==, expected);
}

#endif
