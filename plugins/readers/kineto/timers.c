/* SPDX-License-Identifier: Apache-2.0 */
/* From the args of an event to a row of the timers. The keys are those of MegaScale's step
 * timelines (ByteDance-Seed/StragglerAnalysis, analyzer/to_timeline.py). */
#include "timers.h"

#include "facts.h"

/* A negative number says that there is none: a send has no micro-batch of its own. */
static int64_t counted(json_value value) {
    int64_t number = facts_int(value);
    return number < 0 ? MILL_UNKNOWN : number;
}

void timers_take(kit_trace *b, kit_timer_row *row, json_value args) {
    enum { STEP, CHUNK, MICRO_BATCH, SEQUENCE, N_KEYS };
    static const char *const keys[N_KEYS] = {
        [STEP] = "step",
        [CHUNK] = "model_chunk",
        [MICRO_BATCH] = "mb_id",
        [SEQUENCE] = "seq_id",
    };
    json_value v[N_KEYS];
    facts_pick(args, keys, v, N_KEYS);
    row->step = counted(v[STEP]);
    row->chunk = counted(v[CHUNK]);
    row->micro_batch = counted(v[MICRO_BATCH]);
    row->sequence = counted(v[SEQUENCE]);
    kit_trace_timer(b, row);
}
