/* SPDX-License-Identifier: Apache-2.0 */
/* Communication in which ranks only wait for each other, as DeepEP's notify and barriers do: what
 * exceeds the shortest of them bounds the time that this rank waits for slower ones. */
#ifndef TRACEMILL_KIT_RANK_WAITS_H
#define TRACEMILL_KIT_RANK_WAITS_H

#include <tracemill/kit/activities.h>
#include <tracemill/kit/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The option that names their kinds; field: a mill_list in `owner`. */
#define KIT_WAIT_OPTION(owner, field)                                                              \
    {                                                                                              \
        .name = "notify-kinds", .type = MILL_OPT_LIST, .elem = MILL_OPT_STR,                       \
        .offset = MILL_OPT_OFF(owner, field, LIST), .def = "notify, barrier",                      \
        .help = "Heuristic: kinds of communication in which ranks only wait for each other.",      \
    }

typedef struct kit_layer_wait {
    uint32_t step; /* of the attribution's, or MILL_NONE */
    int64_t layer;
    int64_t n, sum, min, max;
} kit_layer_wait;

typedef struct kit_rank_waits {
    kit_stats all;
    int64_t excess;         /* Σ (duration - shortest); unknown where there are none */
    kit_layer_wait *layers; /* of those with a layer, by step and layer */
    size_t n_layers;
} kit_rank_waits;

/* Of one device; memory is the run's scratch. MILL_OK or E_CANCELLED. */
mill_status kit_rank_waits_find(mill_run *run, const kit_activities *all, const kit_device *device,
                                const mill_list *kinds, kit_rank_waits *ret_waits);

#ifdef __cplusplus
}
#endif
#endif
