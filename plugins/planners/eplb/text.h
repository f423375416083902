/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences in a run's scratch memory. */
#ifndef EPLB_TEXT_H
#define EPLB_TEXT_H

#include <tracemill/tracemill.h>

__attribute__((nonnull)) MILL_PRINTF(2, 3) const
    char *ep_text(mill_run *run, const char *format, ...);

#endif
