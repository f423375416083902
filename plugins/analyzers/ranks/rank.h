/* SPDX-License-Identifier: Apache-2.0 */
/* tracemill.rank/1: what comparing ranks needs to know of one of them, without its trace.
 *
 * A value of this type is a `const rank_summary *`; all memory it reaches belongs to it. Unknown is
 * MILL_UNKNOWN, MILL_NONE or NULL. Constant once posted.
 */
#ifndef RANK_H
#define RANK_H

#include <tracemill/trace.h>

#define RANK_TYPE "tracemill.rank/1"

/* One communication activity. Times are ns from the origin of its device. */
typedef struct rank_collective {
    int64_t start, dur;
    int64_t launch;     /* start of the call that launched it */
    int64_t sequence;   /* that the file tells: counts the operations of a process group */
    int64_t step;       /* number of the profiler step */
    int64_t bytes;      /* the larger of what goes in and what comes out */
    int64_t group_size; /* ranks */
    uint32_t group, group_ranks, kind, stage; /* rows of the summary's texts */
} rank_collective;

/* Computation of one stage. */
typedef struct rank_stage {
    uint32_t stage; /* row of the summary's texts; MILL_NONE: of no stage */
    int64_t n, sum; /* activities, Σ durations */
} rank_stage;

typedef struct rank_device {
    int64_t id;
    int64_t origin; /* first start in ns, on the wall clock where the file has its base time */
    int64_t window, comp, comm, exposed; /* T, |C|, |M|, |M ∖ C| */
    int64_t notify;                      /* Σ durations of the kinds that only wait */
    int64_t moving;                      /* |M| of the other kinds */
    const rank_collective *collectives;  /* in the order of their starts */
    const rank_stage *stages;
    uint64_t n_collectives, n_stages;
} rank_device;

typedef struct rank_summary {
    uint32_t size;
    uint32_t reserved;
    const char *path;
    int64_t rank, world_size;
    const rank_device *devices; /* those with activities */
    const char *const *texts;
    uint64_t n_devices, n_texts;
} rank_summary;

/* Of a clock, and of a span: differences of any two times then fit. */
#define MAX_TIME (INT64_MAX / 4)
#define MAX_SPAN (INT64_MAX / 8)

extern const mill_type rank_type;
mill_status rank_save(mill_run *run, const void *data, mill_sink *sink);
mill_status rank_load(mill_run *run, mill_source *source, void **ret_data);

extern const mill_stage rank_summary_stage;

#endif
