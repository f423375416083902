/* SPDX-License-Identifier: Apache-2.0 */
/* Builds lanes of a timeline. */
#include <tracemill/kit/lane.h>

#include <stdlib.h>
#include <tracemill/kit/arena.h>

kit_lane_texts kit_lane_texts_of(mill_run *run, const kit_activities *all,
                                 const char *const *classes, size_t n_classes) {
    uint64_t n_stages = all->places ? all->places->n_stages : 0, n_kinds = all->trace->kinds.n;
    kit_lane_texts texts = {
        .all = all,
        .v = mill_scratch(run, (n_classes + n_stages + n_kinds + 2) * sizeof *texts.v),
        .stages = (uint32_t)n_classes,
        .kinds = (uint32_t)(n_classes + n_stages),
    };
    for (size_t i = 0; i < n_classes; i++)
        texts.v[texts.n++] = classes[i];
    for (uint64_t i = 0; i < n_stages; i++)
        texts.v[texts.n++] = all->places->stages[i];
    for (uint16_t i = 0; i < n_kinds; i++)
        texts.v[texts.n++] = kit_kind_name(all, i);
    texts.v[texts.n++] = kit_kind_name(all, KIT_KIND_NONE);
    texts.v[texts.n++] = kit_kind_name(all, KIT_KIND_STREAM);
    return texts;
}

uint32_t kit_lane_text(const kit_lane_texts *texts, const kit_activity *activity) {
    if (kit_stage_name(texts->all, activity->place))
        return texts->stages + texts->all->places->stage[activity->place];
    if (activity->kind == KIT_KIND_STREAM)
        return texts->n - 1;
    return activity->kind == KIT_KIND_NONE ? texts->n - 2 : texts->kinds + activity->kind;
}

void kit_lane_add(kit_lane_rows *rows, int64_t start, int64_t end, uint32_t text, uint32_t cls) {
    if (start == end)
        return;
    if (rows->n == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 64;
        rows->start = kit_realloc(rows->start, rows->room, sizeof *rows->start);
        rows->end = kit_realloc(rows->end, rows->room, sizeof *rows->end);
        rows->text = kit_realloc(rows->text, rows->room, sizeof *rows->text);
        rows->cls = kit_realloc(rows->cls, rows->room, sizeof *rows->cls);
    }
    rows->start[rows->n] = start - rows->base;
    rows->end[rows->n] = end - rows->base;
    rows->text[rows->n] = text;
    rows->cls[rows->n] = cls;
    rows->n++;
}

void kit_lane_put(kit_report *report, const char *id, const char *label, const kit_device *device,
                  int64_t stream, const kit_lane_texts *texts, kit_lane_rows *rows) {
    kit_lane(report, &(mill_lane){
                         .size = sizeof(mill_lane),
                         .id = id,
                         .label = label,
                         .rank = texts->all->trace->rank,
                         .device = device->id,
                         .stream = stream,
                         .base_ns = rows->base,
                         .n = rows->n,
                         .start = rows->start,
                         .end = rows->end,
                         .text = rows->text,
                         .cls = rows->cls,
                         .texts = texts->v,
                         .n_texts = texts->n,
                     });
    free(rows->start);
    free(rows->end);
    free(rows->text);
    free(rows->cls);
    *rows = (kit_lane_rows){0};
}
