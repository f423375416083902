/* SPDX-License-Identifier: Apache-2.0 */
/* What a condition finds in one report. */
#ifndef GATE_CHECK_H
#define GATE_CHECK_H

#include "limit.h"

typedef enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_UNKNOWN } gate_verdict;

typedef struct gate_check {
    const gate_condition *condition;
    char *key;   /* of the report; "" where it has none */
    char *where; /* scope or row of the value; NULL: the figure has none */
    char *value; /* the farthest beyond the limit, or the nearest to it; NULL: there is none */
    int64_t tested, failed, unknown; /* values: all, those that fail, those not known */
    gate_verdict verdict;
} gate_check;

/* Looks at all values that the condition is about, in a report that it is about. Errors (recorded):
 * E_CONFIG, no such figure, table or column, or a limit of another kind; then there is nothing to
 * destroy. */
mill_status gate_check_create(mill_run *run, const gate_condition *condition,
                              const mill_report *report, const char *key, gate_check **ret_check);
/* Of a condition for which no report came. */
gate_check *gate_check_nothing(const gate_condition *condition);
void gate_check_destroy(gate_check *check);

/* The name nearest to `word`, or NULL where all are far from it. */
const char *gate_nearest(const char *word, const char *const *names, size_t n);

#endif
