/* SPDX-License-Identifier: Apache-2.0 */
/* The communication there is: by kind, by stage, by stream. */
#include "communication.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/intern.h>

enum { BY_STAGE = 1, BY_STREAM = 2 };

/* What activities of one row have in common; no padding, since its bytes are interned. */
typedef struct key {
    uint32_t stage, stream, kind;
} key;

typedef struct part {
    key key;
    kit_stats stats;
    int64_t sms_min, sms_max; /* held by each; 0: unknown */
} part;

/* Longest first; MILL_UNKNOWN stands for a sum too large to tell, and comes before all. */
static int compare_parts(const void *a, const void *b) {
    const part *x = a, *y = b;
    uint64_t i = (uint64_t)x->stats.sum, j = (uint64_t)y->stats.sum;
    if (i != j)
        return i < j ? 1 : -1;
    if (x->key.stage != y->key.stage)
        return x->key.stage < y->key.stage ? -1 : 1;
    if (x->key.stream != y->key.stream)
        return x->key.stream < y->key.stream ? -1 : 1;
    return (x->key.kind > y->key.kind) - (x->key.kind < y->key.kind);
}

static key key_of(const communication_analysis *analysis, const kit_activity *a, unsigned by) {
    return (key){by & BY_STAGE ? kit_stage_of(&analysis->all, a->place) : MILL_NONE,
                 by & BY_STREAM ? a->stream : MILL_NONE, a->kind};
}

/* Fills in what each part's activities hold; groups: of each communication, in order. */
static void add_sms(const communication_analysis *analysis, const kit_device *device,
                    const uint32_t *groups, part *parts) {
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (a->cls != KIT_COMM)
            continue;
        int64_t sms = kit_activity_sms(&analysis->all, device, a);
        part *p = &parts[*groups++];
        p->sms_min = sms < p->sms_min ? sms : p->sms_min;
        p->sms_max = sms > p->sms_max ? sms : p->sms_max;
    }
}

/* The parts of one device. */
static mill_status find_parts(const communication_analysis *analysis, const kit_device *device,
                              unsigned by, part **ret_parts, size_t *ret_n) {
    mill_run *run = analysis->run;
    uint32_t *groups = mill_scratch(run, analysis->n * sizeof *groups);
    int64_t *durs = mill_scratch(run, analysis->n * sizeof *durs);
    kit_intern *keys = kit_intern_create();
    size_t n = 0;
    mill_status status = MILL_OK;
    for (size_t i = 0; i < device->n && status == MILL_OK; i++) {
        const kit_activity *a = &device->v[i];
        status = communication_cancelled(analysis, i) ? MILL_E_CANCELLED : MILL_OK;
        if (a->cls != KIT_COMM)
            continue;
        key k = key_of(analysis, a, by);
        groups[n] = kit_intern_add(keys, (const char *)&k, sizeof k, 0);
        durs[n++] = a->end - a->start;
    }
    uint32_t n_parts = kit_intern_count(keys);
    part *parts = mill_scratch(run, n_parts * sizeof *parts);
    kit_stats *stats = mill_scratch(run, n_parts * sizeof *stats);
    kit_stats_by(durs, groups, n, stats, n_parts);
    for (uint32_t g = 0; g < n_parts; g++) {
        parts[g] = (part){.stats = stats[g], .sms_min = INT64_MAX};
        memcpy(&parts[g].key, kit_intern_text(keys, g, NULL), sizeof parts[g].key);
    }
    kit_intern_destroy(keys);
    add_sms(analysis, device, groups, parts);
    if (n_parts > 0)
        qsort(parts, n_parts, sizeof *parts, compare_parts);
    *ret_parts = parts;
    *ret_n = n_parts;
    return status;
}

static void tell_part(const communication_analysis *analysis, kit_table *t,
                      const kit_device *device, const part *p, unsigned by) {
    kit_table_row(t);
    kit_cell_int(t, device->id);
    if (by & BY_STREAM)
        kit_cell_int(t, analysis->all.streams[p->key.stream].id);
    if (by & BY_STAGE)
        kit_cell_text(t, p->key.stage == MILL_NONE ? NULL
                                                   : analysis->all.places->stages[p->key.stage]);
    kit_cell_text(t, kit_kind_name(&analysis->all, (uint16_t)p->key.kind));
    kit_cell_stats(t, &p->stats);
    kit_cell_ratio(t, p->stats.sum, analysis->sums[device - analysis->all.devices]);
    kit_cell_int(t, p->sms_min > 0 ? p->sms_min : MILL_UNKNOWN);
    kit_cell_int(t, p->sms_min > 0 ? p->sms_max : MILL_UNKNOWN);
}

static mill_status tell_by(const communication_analysis *analysis, kit_report *r, unsigned by,
                           const char *id, const char *label) {
    kit_table *t = kit_table_begin(r, id, label, NULL);
    kit_table_column(t, MILL_KIND_ID, "device", "dev.", NULL, NULL);
    if (by & BY_STREAM)
        kit_table_column(t, MILL_KIND_ID, "stream", "stream", NULL, NULL);
    if (by & BY_STAGE)
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, NULL);
    kit_table_stats(t);
    kit_table_column(t, MILL_KIND_RATIO, "share", "share", NULL,
                     "of the Σ durations of all communication of the device");
    kit_table_column(t, MILL_KIND_COUNT, "sms_min", "SMs from", NULL,
                     "min(blocks of the grid, SMs of the device): the smallest of them");
    kit_table_column(t, MILL_KIND_COUNT, "sms_max", "to", NULL, "The largest of them.");
    mill_status status = MILL_OK;
    for (size_t i = 0; i < analysis->all.n_devices && status == MILL_OK; i++) {
        part *parts;
        size_t n;
        status = find_parts(analysis, &analysis->all.devices[i], by, &parts, &n);
        for (size_t p = 0; p < n && status == MILL_OK; p++)
            tell_part(analysis, t, &analysis->all.devices[i], &parts[p], by);
    }
    return status;
}

static bool any_stage(const communication_analysis *analysis) {
    for (size_t d = 0; d < analysis->all.n_devices; d++)
        for (size_t i = 0; i < analysis->all.devices[d].n; i++) {
            const kit_activity *a = &analysis->all.devices[d].v[i];
            if (a->cls == KIT_COMM && kit_stage_of(&analysis->all, a->place) != MILL_NONE)
                return true;
        }
    return false;
}

mill_status communication_tell_inventory(const communication_analysis *analysis, kit_report *r) {
    mill_status status = tell_by(analysis, r, 0, "by_kind", "Communication by kind");
    if (status == MILL_OK && any_stage(analysis))
        status = tell_by(analysis, r, BY_STAGE, "by_stage", "Communication by stage and kind");
    if (status == MILL_OK)
        status = tell_by(analysis, r, BY_STREAM, "by_stream", "Communication by stream and kind");
    return status;
}
