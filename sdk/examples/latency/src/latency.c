/* SPDX-License-Identifier: Apache-2.0 */
/* The stage classes latency.measure and latency.merge. */
#include "value.h"

#include <tracemill/trace.h>

typedef struct settings {
    bool copies;
} settings;

static mill_status too_long(mill_run *run) {
    return mill_fail(run, MILL_E_DATA,
                     "the waits last over 292 years in all; record the profile "
                     "again: its timer was broken");
}

/* ---------------------------------------------------------------- latency.measure */

/* Called once per profile, on any thread. */
static mill_status measure_run(mill_run *run, const void *opts, void *state) {
    const settings *o = opts;
    const mill_trace *t = mill_input(run, 0, 0);
    latency *l = latency_create(run); /* the host frees it if it is never posted */
    (void)state;
    l->profiles = 1;
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        uint32_t call = mill_u32(t, &t->gpu.launch, row);
        int64_t wait;
        if (row % 65536 == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        if (!o->copies && mill_u8(t, &t->gpu.cat, row) != MILL_GPU_KERNEL)
            continue;
        if (call == MILL_NONE)
            l->others++;
        else if (__builtin_sub_overflow(mill_i64(t, &t->gpu.start, row),
                                        mill_i64(t, &t->cpu.start, call), &wait) ||
                 !latency_add(l, wait))
            return too_long(run);
    }
    return mill_output(run, 0, l);
}

static const mill_port measure_inputs[] = {
    {.name = "trace", .type = MILL_TYPE_TRACE, .help = "the profile of one rank"},
    {.name = NULL},
};

static const mill_port outputs[] = {
    {.name = "latency", .type = LATENCY_TYPE, .help = "the waits, by length"},
    {.name = NULL},
};

static const mill_option options[] = {
    {.name = "copies",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(settings, copies, BOOL),
     .def = "no",
     .help = "Count copies and sets, too, not kernels alone."},
    {.name = NULL},
};

static const mill_stage measure = {
    MILL_STAGE_HEAD,
    .name = "latency.measure",
    .summary = "How long activities wait after the calls that launch them",
    .inputs = measure_inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(settings),
    .run = measure_run,
};

/* ---------------------------------------------------------------- latency.merge */

/* Called once, with the values of all profiles: some hundred bytes each, whatever the profiles
 * hold. */
static mill_status merge_run(mill_run *run, const void *opts, void *state) {
    latency *l = latency_create(run);
    (void)opts, (void)state;
    for (size_t i = 0; i < mill_input_count(run, 0); i++)
        if (!latency_merge(l, mill_input(run, 0, i)))
            return too_long(run);
    return mill_output(run, 0, l);
}

static const mill_port merge_inputs[] = {
    {.name = "latency",
     .type = LATENCY_TYPE,
     .help = "the waits of each profile",
     .flags = MILL_PORT_MANY},
    {.name = NULL},
};

static const mill_stage merge = {
    MILL_STAGE_HEAD,
    .name = "latency.merge",
    .summary = "Adds up the waits of many profiles",
    .inputs = merge_inputs,
    .outputs = outputs,
    .run = merge_run,
};

/* ---------------------------------------------------------------- the module */

static const mill_stage *const stages[] = {&measure, &merge, NULL};
static const mill_type *const types[] = {&latency_type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.example.latency",
    .version = "1.1.0",
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Waits between launch and start",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
    .types = types,
};
