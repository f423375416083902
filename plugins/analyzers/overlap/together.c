/* SPDX-License-Identifier: Apache-2.0 */
/* What runs at the same time: stages, streams, and forward and backward chunks. */
#include "overlap.h"

#include <tracemill/kit/sweep.h>

#define MOST_GROUPS 1000 /* pairs of more take too much memory, and no one reads so many */

/* ---------------------------------------------------------------- the sweep */

/* The groups of which something runs now. */
typedef struct side {
    uint32_t *running; /* activities of each group */
    uint32_t *active;  /* the groups that run */
    uint32_t *at;      /* of a group that runs: where it stands in `active` */
    size_t n;
} side;

static side new_side(mill_run *run, size_t groups) {
    return (side){.running = mill_scratch(run, groups * sizeof(uint32_t)),
                  .active = mill_scratch(run, groups * sizeof(uint32_t)),
                  .at = mill_scratch(run, groups * sizeof(uint32_t))};
}

static void change_side(side *s, uint32_t group, bool begins) {
    if (begins && s->running[group]++ == 0) {
        s->at[group] = (uint32_t)s->n;
        s->active[s->n++] = group;
    } else if (!begins && --s->running[group] == 0) {
        uint32_t last = s->active[--s->n];
        s->active[s->at[group]] = last;
        s->at[last] = s->at[group];
    }
}

/* Everything that depends on what runs at once is found in one sweep over time. */
typedef struct together {
    const overlap_analysis *analysis;
    overlap_device *device;
    side streams, comp, comm; /* comp, comm: by stage */
    uint32_t running[OVERLAP_B + 1];
    unsigned chunks; /* the bits whose `running` is above 0 */
} together;

static overlap_pairs new_pairs(mill_run *run, size_t n) {
    if (n > MOST_GROUPS)
        return (overlap_pairs){0};
    return (overlap_pairs){n, mill_scratch(run, n * n * sizeof(int64_t))};
}

/* Adds time in which nothing begins or ends. */
static void pass(together *t, int64_t time) {
    overlap_device *device = t->device;
    overlap_pairs *streams = &device->streams, *stages = &device->stages;
    for (size_t a = 0; a < t->streams.n; a++)
        for (size_t b = 0; b < a; b++)
            streams->time[t->streams.active[a] * streams->n + t->streams.active[b]] += time;
    for (size_t a = 0; a < t->comp.n; a++)
        for (size_t b = 0; b < t->comm.n; b++)
            stages->time[t->comp.active[a] * stages->n + t->comm.active[b]] += time;
    device->chunks[t->chunks] += time;
    kit_sms_pass(&device->sm, device->view, time);
}

/* Which bits of the chunks' state an activity sets: a mask. */
static unsigned chunk_bits(mill_chunk chunk, const kit_activity *a) {
    bool forward = chunk == MILL_CHUNK_FORWARD;
    if (!forward && chunk != MILL_CHUNK_BACKWARD && chunk != MILL_CHUNK_WEIGHT)
        return 0;
    unsigned bits = 1u << (forward ? OVERLAP_F : OVERLAP_B);
    if (a->cls == KIT_COMP)
        bits |= 1u << (forward ? OVERLAP_F_COMP : OVERLAP_B_COMP);
    if (a->cls == KIT_COMM)
        bits |= 1u << (forward ? OVERLAP_F_COMM : OVERLAP_B_COMM);
    return bits;
}

static void change_chunks(together *t, const kit_activity *a, bool begins) {
    unsigned bits = chunk_bits(overlap_chunk_of(t->analysis, a->place), a);
    for (; bits; bits &= bits - 1) {
        unsigned b = (unsigned)__builtin_ctz(bits);
        t->running[b] += begins ? 1 : -1u;
        t->chunks = t->running[b] > 0 ? t->chunks | 1u << b : t->chunks & ~(1u << b);
    }
}

static void change(together *t, const kit_change *c) {
    const kit_activity *a = c->activity;
    overlap_device *device = t->device;
    if (device->streams.n > 0)
        change_side(&t->streams, a->stream - (uint32_t)device->first_stream, c->begins);
    if (device->stages.n > 0 && (a->cls == KIT_COMP || a->cls == KIT_COMM)) {
        uint32_t stage = overlap_stage_of(t->analysis, a->place);
        if (stage != MILL_NONE)
            change_side(a->cls == KIT_COMP ? &t->comp : &t->comm, stage, c->begins);
    }
    if (device->chunked)
        change_chunks(t, a, c->begins);
    kit_sms_change(&device->sm, device->view, c);
}

mill_status overlap_find_together(overlap_analysis *analysis, overlap_device *device) {
    mill_run *run = analysis->run;
    device->streams = new_pairs(run, device->n_streams);
    if (device->staged)
        device->stages = new_pairs(run, analysis->all.places->n_stages);
    together t = {
        .analysis = analysis,
        .device = device,
        .streams = new_side(run, device->streams.n),
        .comp = new_side(run, device->stages.n),
        .comm = new_side(run, device->stages.n),
    };
    int64_t now = device->view->window.start;
    kit_sweep sweep;
    kit_sweep_init(&sweep, run, device->view);
    kit_change next;
    for (size_t i = 0; kit_sweep_next(&sweep, &next); i++) {
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        if (next.time > now)
            pass(&t, next.time - now);
        now = next.time;
        change(&t, &next);
    }
    pass(&t, device->view->window.end - now);
    return MILL_OK;
}

/* ---------------------------------------------------------------- tables of pairs */

static const kit_column stage_pair_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "comp_stage", "computation of", NULL},
    {MILL_KIND_TEXT, "comm_stage", "communication of", NULL},
    {MILL_KIND_NS, "time", "at once", "|∩| of the two"},
    {0},
};

static const kit_column stream_pair_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "stream", "stream", NULL},
    {MILL_KIND_ID, "other", "and stream", NULL},
    {MILL_KIND_NS, "time", "at once", "|∩| of what runs on the two"},
    {0},
};

static void tell_stage_pairs(kit_table *t, const overlap_analysis *analysis,
                             const overlap_device *device) {
    size_t n = device->stages.n;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            if (device->stages.time[a * n + b] == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, device->view->id);
            kit_cell_text(t, overlap_stage_name(analysis, a));
            kit_cell_text(t, overlap_stage_name(analysis, b));
            kit_cell_int(t, device->stages.time[a * n + b]);
        }
}

static void tell_stream_pairs(kit_table *t, const overlap_analysis *analysis,
                              const overlap_device *device) {
    size_t n = device->streams.n;
    const overlap_stream *streams = analysis->streams + device->first_stream;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            int64_t time = device->streams.time[a * n + b] + device->streams.time[b * n + a];
            if (time == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, device->view->id);
            kit_cell_int(t, streams[a].view->id);
            kit_cell_int(t, streams[b].view->id);
            kit_cell_int(t, time);
        }
}

void overlap_tell_pairs(kit_report *r, const overlap_analysis *analysis) {
    bool staged = false, several = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        staged |= analysis->devices[i].stages.n > 0;
        several |= analysis->devices[i].streams.n > 1;
    }
    if (staged) {
        kit_table *t = kit_table_of(r, "overlap_matrix", "Which stages run at once",
                                    "Pairs that never do are left out.", stage_pair_columns);
        for (size_t i = 0; i < analysis->all.n_devices; i++)
            tell_stage_pairs(t, analysis, &analysis->devices[i]);
    }
    if (several) {
        kit_table *t = kit_table_of(r, "stream_pairs", "Streams that run at once",
                                    "Pairs that never do are left out.", stream_pair_columns);
        for (size_t i = 0; i < analysis->all.n_devices; i++)
            tell_stream_pairs(t, analysis, &analysis->devices[i]);
    }
}

/* ---------------------------------------------------------------- forward and backward */

/* The time in which all bits of `with` are set and none of `without` is. */
static int64_t chunk_time(const overlap_device *device, unsigned with, unsigned without) {
    int64_t time = 0;
    for (unsigned s = 0; s < OVERLAP_CHUNK_STATES; s++)
        time += (s & with) == with && !(s & without) ? device->chunks[s] : 0;
    return time;
}

static const kit_column phase_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_NS, "forward", "forward", "Anything of a chunk F runs."},
    {MILL_KIND_NS, "backward", "backward", "Anything of a chunk B or W runs."},
    {MILL_KIND_NS, "both", "both", NULL},
    {MILL_KIND_NS, "forward_only", "only fwd.", NULL},
    {MILL_KIND_NS, "backward_only", "only bwd.", NULL},
    {MILL_KIND_NS, "neither", "neither", "of the window"},
    {0},
};

static void tell_phases(kit_table *t, const overlap_device *device) {
    const unsigned f = 1u << OVERLAP_F, b = 1u << OVERLAP_B;
    kit_table_row(t);
    kit_cell_int(t, device->view->id);
    kit_cell_int(t, chunk_time(device, f, 0));
    kit_cell_int(t, chunk_time(device, b, 0));
    kit_cell_int(t, chunk_time(device, f | b, 0));
    kit_cell_int(t, chunk_time(device, f, b));
    kit_cell_int(t, chunk_time(device, b, f));
    kit_cell_int(t, chunk_time(device, 0, f | b));
}

static const kit_column cross_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "chunk", "communication of", NULL},
    {MILL_KIND_NS, "comm", "comm.", "|union|"},
    {MILL_KIND_NS, "under_forward", "under fwd.", "while a chunk F computes"},
    {MILL_KIND_NS, "under_backward", "under bwd.", "while a chunk B or W computes"},
    {0},
};

static void tell_cross(kit_table *t, const overlap_device *device, const char *name,
                       unsigned comm) {
    kit_table_row(t);
    kit_cell_int(t, device->view->id);
    kit_cell_text(t, name);
    kit_cell_int(t, chunk_time(device, 1u << comm, 0));
    kit_cell_int(t, chunk_time(device, 1u << comm | 1u << OVERLAP_F_COMP, 0));
    kit_cell_int(t, chunk_time(device, 1u << comm | 1u << OVERLAP_B_COMP, 0));
}

void overlap_tell_chunks(kit_report *r, const overlap_analysis *analysis) {
    bool chunked = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        chunked |= analysis->devices[i].chunked;
    if (!chunked)
        return;
    kit_table *t = kit_table_of(r, "chunk_phases", "Forward and backward at once",
                                "How long chunks of each sort are at work.", phase_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        if (analysis->devices[i].chunked)
            tell_phases(t, &analysis->devices[i]);
    t = kit_table_of(r, "cross_chunk", "What hides communication",
                     "Communication of one chunk under computation of its own and of the other.",
                     cross_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        if (!analysis->devices[i].chunked)
            continue;
        tell_cross(t, &analysis->devices[i], "forward", OVERLAP_F_COMM);
        tell_cross(t, &analysis->devices[i], "backward", OVERLAP_B_COMM);
    }
}
