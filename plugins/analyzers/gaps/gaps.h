/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the module `gaps` share: the options of its two classes, and the classes'
 * runs. */
#ifndef GAPS_H
#define GAPS_H

#include <tracemill/kit/gaps.h>

typedef enum gaps_by { GAPS_BY_OURS, GAPS_BY_HTA } gaps_by;

typedef struct gaps_options {
    kit_selection selection;
    kit_gap_rule rule;
    int by; /* gaps_by */
    int64_t hta_threshold;
    int64_t top;
    bool lanes;
} gaps_options;

typedef struct launch_options {
    kit_selection selection;
    int64_t unqueued; /* a launch into an empty stream starts within this time */
    int64_t top;
} launch_options;

/* Input ports of both classes. */
enum { PORT_TRACE, PORT_ATTRIBUTION };

mill_status gaps_run(mill_run *run, const void *opts, void *state);
mill_status launch_run(mill_run *run, const void *opts, void *state);

#endif
