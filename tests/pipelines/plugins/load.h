/* SPDX-License-Identifier: Apache-2.0 */
/* The value types of the test module: numbers read from a file, and a text. */
#ifndef PIPELINES_LOAD_H
#define PIPELINES_LOAD_H

#include <tracemill/tracemill.h>

#define TYPE_LOAD "org.tracemill.test.load/1" /* becomes a report */
#define TYPE_NOTE "org.tracemill.test.note/1" /* does not */

typedef struct load {
    uint32_t size;
    uint32_t lines;
    int64_t total; /* of the numbers, one a line */
} load;

typedef struct note {
    uint32_t size;
    uint32_t reserved;
    const char *path; /* of the file */
} note;

extern const mill_type load_type, note_type;

/* Posts a load on an output. */
mill_status load_post(mill_run *run, uint32_t port, load value);

/* The classes, a file each. */
extern const mill_stage read_class, split_class, number_class; /* readers.c */
extern const mill_stage plan_class;                            /* plan.c */
extern const mill_stage convert_class, sum_class, pair_class, judge_class,
    write_class; /* module.c */

#endif
