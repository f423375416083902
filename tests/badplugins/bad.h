/* SPDX-License-Identifier: Apache-2.0 */
/* What the bad modules are made of: everything right, but for the one thing each does wrong. */
#ifndef TRACEMILL_TESTS_BAD_H
#define TRACEMILL_TESTS_BAD_H

#include <tracemill/report.h>

static const mill_port bad_outputs[] = {{.name = "report", .type = MILL_TYPE_REPORT}, {0}};

/* An empty report, not yet posted. */
static inline mill_report *bad_report(mill_run *run) {
    mill_report *report = mill_value_alloc(run, NULL, sizeof *report);
    report->size = sizeof *report;
    report->id = "bad";
    report->title = "Nothing";
    return report;
}

static inline mill_status bad_run(mill_run *run, const void *opts, void *state) {
    (void)opts;
    (void)state;
    return mill_output(run, 0, bad_report(run));
}

#define BAD_CLASS(NAME, RUN)                                                                       \
    { MILL_STAGE_HEAD, .name = (NAME), .outputs = bad_outputs, .run = (RUN) }

#endif
