/* SPDX-License-Identifier: Apache-2.0 */
/* A condition of fail-if, as it is written: `REPORT.FIGURE [SCOPE] > LIMIT`, or
 * `REPORT.TABLE.COLUMN [ROW] > LIMIT`. */
#ifndef GATE_CONDITION_H
#define GATE_CONDITION_H

#include <glib.h>
#include <tracemill/tracemill.h>

typedef enum gate_operator {
    GATE_ABOVE,    /* > */
    GATE_AT_LEAST, /* >= */
    GATE_BELOW,    /* < */
    GATE_AT_MOST,  /* <= */
    GATE_EQUAL,    /* == */
    GATE_UNEQUAL,  /* != */
} gate_operator;

typedef struct gate_condition {
    const char *text;   /* the whole, as written; borrowed from the options */
    char *report;       /* id of the report, or name of the stage that made it */
    char *item;         /* id of a figure; of a table, where there is a column */
    char *column;       /* NULL: a figure */
    char *selection;    /* of a figure its scope, of a column its row; NULL: all */
    char *limit;        /* with its unit */
    gate_operator test; /* what value and limit are compared by */
    bool met;           /* a report that it is about came */
} gate_condition;

/* Reads one. Errors (recorded): E_CONFIG, and nothing to finish. */
mill_status gate_condition_init(gate_condition *c, mill_run *run, const char *text);
void gate_condition_finish(gate_condition *c);

#endif
