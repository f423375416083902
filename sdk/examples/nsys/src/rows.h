/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of one process of an export, as rows of a trace. */
#ifndef NSYS_ROWS_H
#define NSYS_ROWS_H

#include "database.h"

#include <tracemill/kit/trace_builder.h>

/* The tables of what GPUs did. */
#define NSYS_KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define NSYS_COPIES "CUPTI_ACTIVITY_KIND_MEMCPY"
#define NSYS_SETS "CUPTI_ACTIVITY_KIND_MEMSET"

/* A serialized id holds the process above these bits, the thread in them. */
#define NSYS_THREAD INT64_C(0xffffff)
#define NSYS_THREAD_BITS 24

typedef struct rows {
    const database *db;
    kit_trace *trace;
    int64_t process; /* the serialized id, thread 0; MILL_UNKNOWN: the file tells none apart */
    uint64_t n;      /* rows read */
    struct thread_row {
        int64_t id; /* as serialized */
        uint32_t row;
    } * threads;
    size_t n_threads;
} rows;

/* Each reads all of its rows. Errors (recorded). */
mill_status rows_gpu(rows *r);
mill_status rows_cpu(rows *r);
/* What the file tells of the devices; after rows_gpu. */
mill_status rows_devices(rows *r);
void rows_finish(rows *r);

#endif
