/* SPDX-License-Identifier: Apache-2.0 */
/* A small pipeline: profiles of its ranks as the PyTorch profiler writes them, or a step timeline
 * as MegaScale's, and what the class `pipeline` makes of them. Times are µs. */
#ifndef TRACEMILL_TESTS_PIPELINE_JOB_H
#define TRACEMILL_TESTS_PIPELINE_JOB_H

#include "bench_host.h"

#include <tracemill/chunk_times.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>

#define JOB_PROFILES 8

typedef struct job {
    GString *events[JOB_PROFILES];
    int64_t rank[JOB_PROFILES]; /* or MILL_UNKNOWN */
    int64_t skew[JOB_PROFILES]; /* what its clock is ahead */
    size_t n;
    GPtrArray *benches;
    bench *pipeline; /* after job_run */
} job;

/* Ranks 0 to n-1, without events. */
job *job_create(size_t n);
void job_destroy(job *j);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(job, job_destroy)

/* A kernel of profile i on a stream, launched under an annotation ("work(F)"), or NULL. args: more
 * members of the kernel's args, with a comma before them, or "". */
void job_kernel(job *j, size_t i, int64_t stream, int64_t start, int64_t end, const char *name,
                const char *annotation, const char *args);
/* Computation of a chunk: 'F', 'B' or 'W'. */
void job_compute(job *j, size_t i, char chunk, int64_t start, int64_t end);
/* A kernel that hands work on. operation NULL: the file tells nothing of it. */
void job_hand_over(job *j, size_t i, int64_t start, int64_t end, const char *operation,
                   int64_t peer);

/* An operation of profile i, which is a timeline. */
void job_timer(job *j, size_t i, int64_t dp, int64_t pp, const char *name, int64_t start,
               int64_t end, int64_t chunk, int64_t micro_batch, int64_t sequence);

/* Reads the profiles and runs pipeline.operations on each, `settings` of which are for the
 * attribution, and `pipeline` on all, with the setting, or NULL. */
mill_status job_run(job *j, const char *setting);
const mill_report *job_report(const job *j);
const mill_schedule *job_schedule(const job *j);
const mill_chunk_times *job_times(const job *j);

#endif
