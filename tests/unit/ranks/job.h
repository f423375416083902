/* SPDX-License-Identifier: Apache-2.0 */
/* A small job: a profile for each rank, written as the PyTorch profiler writes it, and the report
 * on all of them. */
#ifndef TRACEMILL_TESTS_RANKS_JOB_H
#define TRACEMILL_TESTS_RANKS_JOB_H

#include "bench_host.h"

#include <tracemill/trace.h>

#define JOB_RANKS 8

typedef struct job {
    GString *events[JOB_RANKS];
    int64_t rank[JOB_RANKS]; /* or MILL_UNKNOWN */
    int64_t world_size;      /* or MILL_UNKNOWN */
    size_t n;
    GPtrArray *benches;
} job;

/* Ranks 0 to n-1. */
job *job_create(size_t n);
void job_destroy(job *j);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(job, job_destroy)

/* A kernel of profile i; times in ns. launched: the start of its launch call, or MILL_UNKNOWN.
 * group NULL, sequence below 0: the file does not tell. */
void job_kernel(job *j, size_t i, int64_t start, int64_t dur, const char *name, int64_t launched,
                const char *group, int64_t sequence);

/* An all-reduce without anything told. */
void job_all_reduce(job *j, size_t i, int64_t start, int64_t dur);

/* Runs rank.summary on a trace, or on a profile that was read; the bench lives with the job. */
const void *job_summary_of(job *j, const mill_trace *trace);
const void *job_summary(job *j, const bench *reader);

/* A bench of `ranks` with a summary of each profile as its input. */
bench *job_bench(job *j);

/* Runs it, which must go well. */
const mill_report *job_report(job *j, const char *setting);

#endif
