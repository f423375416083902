/* SPDX-License-Identifier: Apache-2.0 */
/* The half of the class `launch` that looks at the CPU only. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <tracemill/kit/report.h>
#include <tracemill/trace.h>

/* API calls by name, explicit synchronisations, and how busy each thread is. Times are told from
 * `origin` on; at most `top` rows a table. MILL_OK or E_CANCELLED. */
mill_status launch_tell_cpu(mill_run *run, kit_report *r, const mill_trace *trace, int64_t origin,
                            size_t top);

#endif
