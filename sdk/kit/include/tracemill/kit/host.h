/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of the CPU do with the device: at work, synchronising, or polling.
 *
 * A thread polls (a heuristic) when it does nothing that a profile shows, no operator and no API
 * call, for longer than `stall`, the last communication that it launched before only waits for
 * other ranks, and it goes on while that runs, or at most `late` after it. DeepEP's dispatch does
 * so until the count of tokens to receive has arrived.
 */
#ifndef TRACEMILL_KIT_HOST_H
#define TRACEMILL_KIT_HOST_H

#include <tracemill/kit/activities.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The thresholds; part of an analysis' own options. */
typedef struct kit_poll_rule {
    int64_t stall, late; /* ns */
} kit_poll_rule;

#define KIT_POLL_OPTIONS(owner, field)                                                             \
    {.name = "poll-stall",                                                                         \
     .type = MILL_OPT_DURATION,                                                                    \
     .offset = MILL_OPT_OFF(owner, field.stall, DURATION),                                         \
     .def = "500us",                                                                               \
     .min = 0,                                                                                     \
     .max = 1e18,                                                                                  \
     .help = "Heuristic: a thread that does nothing for longer than this may poll."},              \
    {                                                                                              \
        .name = "poll-late", .type = MILL_OPT_DURATION,                                            \
        .offset = MILL_OPT_OFF(owner, field.late, DURATION), .def = "100us", .min = 0,             \
        .max = 1e18,                                                                               \
        .help = "Heuristic: it polled if it goes on while communication that waits for other "     \
                "ranks, the last that it launched, runs, or at most this much after it.",          \
    }

/* A thread of the trace, in the whole of it. */
typedef struct kit_thread {
    int64_t calls;  /* of the runtime and driver API */
    kit_tally work; /* operators and API calls */
    int64_t sync;   /* Σ of API calls with Synchronize in their name */
    int64_t poll;   /* Σ of its polls */
} kit_thread;

typedef struct kit_poll {
    uint32_t thread;     /* of the trace */
    uint32_t device;     /* of the kit_activities */
    uint32_t notify;     /* of the device's activities: what it polled for */
    int64_t start, end;  /* of the thread's stall */
    int64_t next_launch; /* of communication, from `end` on; or MILL_UNKNOWN */
    int64_t next_start;  /* of what was launched from there on; or MILL_UNKNOWN */
} kit_poll;

typedef struct kit_host {
    kit_thread *threads; /* of the trace */
    kit_poll *polls;     /* in order of their ends */
    size_t n_polls;
} kit_host;

/* notify: kinds of communication that waits for other ranks. Memory is the run's scratch. MILL_OK
 * or E_CANCELLED. */
mill_status kit_host_measure(mill_run *run, const kit_activities *all, const mill_list *notify,
                             const kit_poll_rule *rule, kit_host *ret_host);

/* What a poll costs the device: from the end of the communication polled for to the start of the
 * next; unknown where there is none. */
int64_t kit_poll_cost(const kit_activities *all, const kit_poll *poll);

#ifdef __cplusplus
}
#endif
#endif
