/* SPDX-License-Identifier: Apache-2.0 */
/* A module that loads well and whose classes do wrong while they run. */
#include "bad.h"

#include <stdlib.h>
#include <string.h>

#define RUN(NAME) static mill_status NAME(mill_run *run, const void *opts, void *state)
#define UNUSED(x) (void)(x)

/* A failure that says nothing. */
RUN(fail_silently) {
    UNUSED(run), UNUSED(opts), UNUSED(state);
    return MILL_E_DATA;
}

/* Success without the output that is due. */
RUN(post_nothing) {
    UNUSED(run), UNUSED(opts), UNUSED(state);
    return MILL_OK;
}

RUN(post_twice) {
    UNUSED(opts), UNUSED(state);
    mill_status status = mill_output(run, 0, bad_report(run));
    return status == MILL_OK ? mill_output(run, 0, bad_report(run)) : status;
}

/* Eight bytes that are no mill_report. */
RUN(post_other_type) {
    UNUSED(opts), UNUSED(state);
    uint32_t *value = mill_value_alloc(run, NULL, 8);
    value[0] = 8;
    return mill_output(run, 0, value);
}

/* Memory that the host did not give, of a type without a free. */
RUN(post_own_memory) {
    UNUSED(opts), UNUSED(state);
    static mill_report report = {.size = sizeof report, .id = "bad", .title = "Nothing"};
    return mill_output(run, 0, &report);
}

RUN(post_elsewhere) {
    UNUSED(opts), UNUSED(state);
    return mill_output(run, 7, bad_report(run));
}

/* Endless, but ends when asked to. */
RUN(loop) {
    UNUSED(opts), UNUSED(state);
    while (!mill_cancelled(run))
        continue;
    return MILL_E_CANCELLED;
}

/* Endless, whoever asks. */
RUN(loop_for_ever) {
    UNUSED(run), UNUSED(opts), UNUSED(state);
    for (volatile int one = 1; one;)
        continue;
    return MILL_OK;
}

RUN(crash) {
    UNUSED(run), UNUSED(opts), UNUSED(state);
    static int *volatile nowhere;
    *nowhere = 1;
    return MILL_OK;
}

/* Each call keeps `room`, so that no compiler makes a loop of it. */
static int recurse(int depth) {
    volatile char room[4096];
    memset((char *)room, depth, sizeof room);
    return depth < 0 ? 0 : recurse(depth + 1) + room[depth % 4096];
}

RUN(overflow_stack) {
    UNUSED(run), UNUSED(opts), UNUSED(state);
    return recurse(0) ? MILL_OK : MILL_E_DATA;
}

/* Would end the run as if all were well. */
RUN(leave) {
    UNUSED(run), UNUSED(opts), UNUSED(state);
    exit(0);
}

/* Begins a value that is never posted. */
RUN(leak_value) {
    UNUSED(opts), UNUSED(state);
    bad_report(run);
    return mill_output(run, 0, bad_report(run));
}

#define CHECK(NAME) static mill_status NAME(mill_run *run, const void *opts)

CHECK(check_crash) {
    return crash(run, opts, NULL);
}

CHECK(check_leave) {
    return leave(run, opts, NULL);
}

CHECK(check_loop) {
    return loop_for_ever(run, opts, NULL);
}

static void free_crash(void *data) {
    crash(NULL, NULL, data);
}

static const mill_type fatal = {.size = sizeof(mill_type), .id = "bad.fatal/1", .free = free_crash};
static const mill_type *const types[] = {&fatal, NULL};
static const mill_port fatal_outputs[] = {{.name = "fatal", .type = "bad.fatal/1"}, {0}};

/* A value that crashes when it ends. */
RUN(post_fatal) {
    UNUSED(opts), UNUSED(state);
    static uint32_t value = sizeof value;
    return mill_output(run, 0, &value);
}

static const mill_stage all[] = {
    BAD_CLASS("bad.works", bad_run), /* the only one that does no wrong */
    BAD_CLASS("bad.fail-silently", fail_silently),
    BAD_CLASS("bad.post-nothing", post_nothing),
    BAD_CLASS("bad.post-twice", post_twice),
    BAD_CLASS("bad.post-other-type", post_other_type),
    BAD_CLASS("bad.post-own-memory", post_own_memory),
    BAD_CLASS("bad.post-elsewhere", post_elsewhere),
    BAD_CLASS("bad.loop", loop),
    BAD_CLASS("bad.loop-for-ever", loop_for_ever),
    BAD_CLASS("bad.crash", crash),
    BAD_CLASS("bad.overflow-stack", overflow_stack),
    BAD_CLASS("bad.leak-value", leak_value),
    BAD_CLASS("bad.leave", leave),
    {MILL_STAGE_HEAD, .name = "bad.check-crash", .outputs = bad_outputs, .run = bad_run,
     .check = check_crash},
    {MILL_STAGE_HEAD, .name = "bad.check-leave", .outputs = bad_outputs, .run = bad_run,
     .check = check_leave},
    {MILL_STAGE_HEAD, .name = "bad.check-loop", .outputs = bad_outputs, .run = bad_run,
     .check = check_loop},
    {MILL_STAGE_HEAD, .name = "bad.post-fatal", .outputs = fatal_outputs, .run = post_fatal},
};
static const mill_stage *const classes[] = {
    &all[0], &all[1],  &all[2],  &all[3],  &all[4],  &all[5],  &all[6],  &all[7],  &all[8],
    &all[9], &all[10], &all[11], &all[12], &all[13], &all[14], &all[15], &all[16], NULL,
};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD, .id = "bad.running", .version = "1.0", .stages = classes, .types = types};
