/* SPDX-License-Identifier: Apache-2.0 */
/* tracemill.rank/1 from one process to another. */
#include "rank.h"

#include <inttypes.h>
#include <tracemill/kit/save.h>

enum { FORMAT = 1 };

mill_status rank_save(mill_run *run, const void *data, mill_sink *sink) {
    (void)run;
    const rank_summary *r = data;
    kit_save s;
    kit_save_begin(&s, sink, FORMAT);
    kit_save_array(&s, (int64_t[]){r->rank, r->world_size}, 2, sizeof(int64_t));
    kit_save_array(&s, (uint64_t[]){r->n_devices, r->n_texts}, 2, sizeof(uint64_t));
    kit_save_text(&s, r->path);
    for (uint64_t i = 0; i < r->n_texts; i++)
        kit_save_text(&s, r->texts[i]);
    for (uint64_t i = 0; i < r->n_devices; i++) {
        rank_device d = r->devices[i];
        d.collectives = NULL;
        d.stages = NULL;
        kit_save_array(&s, &d, 1, sizeof d);
        kit_save_array(&s, r->devices[i].collectives, d.n_collectives, sizeof *d.collectives);
        kit_save_array(&s, r->devices[i].stages, d.n_stages, sizeof *d.stages);
    }
    return kit_save_end(&s);
}

/* ---------------------------------------------------------------- loading */

static bool names_text(uint32_t text, const rank_summary *r) {
    return text == MILL_NONE || text < r->n_texts;
}

static bool within(int64_t time, int64_t least, int64_t most) {
    return time >= least && time <= most;
}

static bool check_collectives(kit_load *l, const rank_summary *r, const rank_device *d) {
    for (uint64_t i = 0; i < d->n_collectives; i++) {
        const rank_collective *c = &d->collectives[i];
        if (!names_text(c->group, r) || !names_text(c->group_ranks, r) || !names_text(c->kind, r) ||
            !names_text(c->stage, r))
            return kit_load_wrong(l, "collective %" PRIu64 " names a text that is not there", i);
        if (!within(c->start, 0, MAX_SPAN) || !within(c->dur, 0, MAX_SPAN) ||
            (c->launch != MILL_UNKNOWN && !within(c->launch, -MAX_SPAN, MAX_SPAN)))
            return kit_load_wrong(l, "collective %" PRIu64 " is out of all time", i);
        if (i > 0 && c->start < d->collectives[i - 1].start)
            return kit_load_wrong(l, "collective %" PRIu64 " should stand before the one above it",
                                  i);
    }
    return true;
}

static bool check_device(kit_load *l, const rank_summary *r, const rank_device *d) {
    if (!within(d->origin, -MAX_TIME, MAX_TIME) || !within(d->window, 0, MAX_SPAN))
        return kit_load_wrong(l, "the times of a device are out of all time");
    for (uint64_t i = 0; i < d->n_stages; i++)
        if (!names_text(d->stages[i].stage, r))
            return kit_load_wrong(l, "stage %" PRIu64 " names a text that is not there", i);
    return check_collectives(l, r, d);
}

static bool load_device(kit_load *l, const rank_summary *r, rank_device *d) {
    const rank_device *saved = kit_load_array(l, 1, sizeof *saved);
    if (!saved)
        return false;
    *d = *saved;
    d->collectives = kit_load_array(l, d->n_collectives, sizeof *d->collectives);
    d->stages = d->collectives ? kit_load_array(l, d->n_stages, sizeof *d->stages) : NULL;
    return d->stages && check_device(l, r, d);
}

static bool load_texts(kit_load *l, rank_summary *r) {
    if (r->n_texts > l->length / sizeof(uint64_t))
        return kit_load_wrong(l, "%" PRIu64 " texts should follow", r->n_texts);
    const char **texts = mill_value_alloc(l->run, r, r->n_texts * sizeof *texts);
    r->texts = texts;
    for (uint64_t i = 0; i < r->n_texts; i++)
        if (!kit_load_text(l, &texts[i]) ||
            (!texts[i] && !kit_load_wrong(l, "text %" PRIu64 " is none", i)))
            return false;
    return true;
}

static bool load_devices(kit_load *l, rank_summary *r) {
    if (r->n_devices > l->length / sizeof *r->devices)
        return kit_load_wrong(l, "%" PRIu64 " devices should follow", r->n_devices);
    rank_device *devices = mill_value_alloc(l->run, r, r->n_devices * sizeof *devices);
    r->devices = devices;
    for (uint64_t i = 0; i < r->n_devices; i++)
        if (!load_device(l, r, &devices[i]))
            return false;
    return true;
}

static bool load(kit_load *l, mill_run *run, mill_source *source, rank_summary *r) {
    const int64_t *facts;
    const uint64_t *counts;
    if (!kit_load_begin(l, run, source, RANK_TYPE, FORMAT) ||
        !(facts = kit_load_array(l, 2, sizeof *facts)) ||
        !(counts = kit_load_array(l, 2, sizeof *counts)) || !kit_load_text(l, &r->path))
        return false;
    r->rank = facts[0];
    r->world_size = facts[1];
    r->n_devices = counts[0];
    r->n_texts = counts[1];
    return load_texts(l, r) && load_devices(l, r);
}

mill_status rank_load(mill_run *run, mill_source *source, void **ret_data) {
    kit_load l;
    rank_summary *r = mill_value_alloc(run, NULL, sizeof *r);
    r->size = sizeof *r;
    if (!load(&l, run, source, r))
        return MILL_E_DATA;
    *ret_data = r;
    return kit_load_end(&l);
}
