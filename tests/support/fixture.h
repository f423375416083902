/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces for the tests of analyzers, written as lists of activities. */
#ifndef TRACEMILL_TESTS_FIXTURE_H
#define TRACEMILL_TESTS_FIXTURE_H

#include "bench_host.h"

#include <tracemill/attribution.h>

typedef struct activity {
    int64_t device, stream, start, dur;
    const char *name;
    mill_class cls;
    const char *kind;      /* or NULL: its class has no kinds */
    const char *operation; /* kind of the collective that the file tells of, or NULL */
    int64_t grid;          /* blocks; 0: not known */
    int64_t bytes;         /* moved or set; 0: not known */
    int64_t elems, ranks;  /* of `operation`: elements in and out, of 4 bytes; 0: not known */
} activity;

/* A slice of a thread of process 1. */
typedef struct slice {
    int64_t thread, start, dur;
    const char *name;
    mill_cpu_kind kind;
    int64_t launches; /* it is the call that launched activity 1, 2, … of the fixture; 0: none */
} slice;

/* A stream of device 0 that waits for an event recorded on another one: when the CPU called. */
typedef struct stream_wait {
    int64_t stream, waited_stream;
    int64_t waits, records; /* of cudaStreamWaitEvent and cudaEventRecord */
} stream_wait;

typedef struct fixture {
    const activity *activities;
    size_t n;
    const slice *slices;
    size_t n_slices;
    const stream_wait *waits;
    size_t n_waits;
    int64_t described_device; /* told of, beside those with activities; MILL_UNKNOWN: none */
    bool diagnostics;         /* with two lost events, FIXTURE_LOST, and cut short */
    const char *stream_label; /* of all streams, or NULL */
    int64_t sms;              /* of device 0; 0: not known */
    bool one_correlation;     /* all activities have 1, as those of a graph */
} fixture;

#define FIXTURE_PATH "rank0.json"
#define FIXTURE_LOST "Events that ended before they began were left out."

/* Of an array. */
#define FIXTURE(list)                                                                              \
    ((fixture){.activities = (list), .n = G_N_ELEMENTS(list), .described_device = MILL_UNKNOWN})

/* The trace of it, which lives as long as the bench. */
mill_trace *fixture_trace(bench *b, const fixture *f);

/* An attribution of a trace of `n` activities: place[i] of row i, or MILL_NONE. Place p is in stage
 * p, whose name is stages[p], and in layer p. Lives as long as the bench. */
mill_attribution *fixture_places(bench *b, const uint32_t *place, size_t n,
                                 const char *const *stages, size_t n_stages);

#endif
