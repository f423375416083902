/* SPDX-License-Identifier: Apache-2.0 */
/* What the attribution says of activities, and whether it says enough to tell by. */
#include "overlap.h"

const char *overlap_stage_name(const overlap_analysis *analysis, uint32_t stage) {
    return stage == MILL_NONE ? NULL : analysis->all.places->stages[stage];
}

const char *overlap_chunk_name(mill_chunk chunk) {
    switch (chunk) {
    case MILL_CHUNK_FORWARD:
        return "F";
    case MILL_CHUNK_BACKWARD:
        return "B";
    case MILL_CHUNK_WEIGHT:
        return "W";
    case MILL_CHUNK_PAIR:
        return "F&B";
    default:
        return NULL;
    }
}

int64_t overlap_step_number(const overlap_analysis *analysis, uint32_t step) {
    return step == MILL_NONE ? MILL_UNKNOWN : analysis->all.places->step_number[step];
}

bool overlap_staged(const overlap_analysis *analysis) {
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        if (analysis->devices[i].staged)
            return true;
    return false;
}

bool overlap_several_steps(const overlap_analysis *analysis) {
    return analysis->all.places && analysis->all.places->n_steps > 1;
}

mill_status overlap_find_places(overlap_analysis *analysis, overlap_device *device) {
    kit_tally placed = {0};
    bool stage = false, chunk = false, layer = false;
    for (size_t i = 0; i < device->view->n; i++) {
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->view->v[i];
        bool staged = overlap_stage_of(analysis, a->place) != MILL_NONE;
        bool chunked = overlap_chunk_of(analysis, a->place) != MILL_CHUNK_NONE;
        if (!staged && !chunked)
            continue;
        kit_tally_add(&placed, a->start, a->end);
        stage |= staged;
        chunk |= chunked;
        layer |= staged && overlap_layer_of(analysis, a->place) != MILL_UNKNOWN;
    }
    device->placed = placed.busy;
    bool enough =
        100 * (double)placed.busy >= analysis->options->min_coverage * (double)device->all.busy;
    device->staged = stage && enough;
    device->chunked = chunk && enough;
    device->layered = layer && enough;
    return MILL_OK;
}
