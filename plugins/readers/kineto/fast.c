/* SPDX-License-Identifier: Apache-2.0 */
/* The fast engine's part that is the same for all instructions: keys, and rows from members. */
#include "fast_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

place fast_place_of(bool in_args, const char *key, size_t length) {
    static const struct {
        const char *key;
        bool in_args;
        place at;
    } keys[] = {
        {"ph", false, AT_PH},
        {"cat", false, AT_CAT},
        {"name", false, AT_NAME},
        {"pid", false, AT_PID},
        {"tid", false, AT_TID},
        {"ts", false, AT_TS},
        {"dur", false, AT_DUR},
        {"args", false, AT_ARGS},
        {"device", true, AT_DEVICE},
        {"stream", true, AT_STREAM},
        {"correlation", true, AT_CORRELATION},
        {"External id", true, AT_EXTERNAL_ID},
        {"external id", true, AT_EXTERNAL_ID},
        {"grid", true, AT_GRID},
        {"block", true, AT_BLOCK},
        {"bytes", true, AT_BYTES},
        {"wait_on_cuda_event_record_corr_id", true, AT_WAITED_EVENT},
        {"Collective name", true, AT_COLLECTIVE},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].in_args == in_args && strlen(keys[i].key) == length &&
            memcmp(keys[i].key, key, length) == 0)
            return keys[i].at;
    if (!in_args)
        return AT_OTHER;
    uint32_t hash = (uint32_t)length;
    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (uint8_t)key[i];
    return (place)(AT_OTHER_ARG + (hash ^ hash >> 8) % N_OTHER_ARGS);
}

/* ---------------------------------------------------------------- rows */

static size_t slot_of(int64_t a, int64_t b) {
    return (uint64_t)(a * 31 + b) * UINT64_C(0x9e3779b97f4a7c15) >> 56;
}
_Static_assert(N_LINES == 256, "the top eight bits");

static uint32_t track_of(fast *f, const fast_event *e) {
    if (e->pid_number == MILL_UNKNOWN || e->tid_number == MILL_UNKNOWN)
        return tracks_find(f->tracks, e->pid, e->tid);
    known_line *line = &f->lines[slot_of(e->pid_number, e->tid_number)];
    if (line->track == MILL_NONE || line->pid != e->pid_number || line->tid != e->tid_number)
        *line = (known_line){e->pid_number, e->tid_number, tracks_find(f->tracks, e->pid, e->tid)};
    return line->track;
}

static uint32_t stream_of(fast *f, const fast_event *e, uint32_t track) {
    if (e->device == MILL_UNKNOWN || e->stream == MILL_UNKNOWN)
        return tracks_stream(f->tracks, track, e->device, e->stream);
    known_stream *s = &f->streams[slot_of(e->device, e->stream)];
    if (s->track != track || s->device != e->device || s->number != e->stream)
        *s = (known_stream){e->device, e->stream, track,
                            tracks_stream(f->tracks, track, e->device, e->stream)};
    else
        tracks_set_stream(f->tracks, track, s->stream);
    return s->stream;
}

static void take_gpu(fast *f, const fast_event *e, uint64_t byte) {
    uint32_t track = track_of(f, e);
    kit_gpu_row row = {
        .start = e->ts,
        .dur = e->dur,
        .correlation = e->correlation,
        .external_id = e->external_id,
        .grid = e->grid,
        .block = e->block,
        .bytes = e->bytes,
        .waited_event = e->waited_event,
        .byte = byte,
        .name = rows_name(f->to, e->name, e->name_length, e->category->gpu),
        .stream = stream_of(f, e, track),
        .track = track,
        .collective = MILL_NONE,
        .cat = e->category->gpu,
    };
    kit_trace_gpu(rows_builder(f->to), &row);
}

static void take_cpu(fast *f, const fast_event *e, uint64_t byte) {
    kit_cpu_row row = {
        .start = e->ts,
        .dur = e->dur,
        .correlation = e->correlation,
        .external_id = e->external_id,
        .byte = byte,
        .name = rows_name(f->to, e->name, e->name_length, 0),
        .thread = tracks_thread(f->tracks, track_of(f, e)),
        .kind = e->category->cpu,
    };
    kit_trace_cpu(rows_builder(f->to), &row);
}

bool fast_take(fast *f, const fast_event *e, uint64_t byte) {
    if (e->ph != 'X')
        return !f->left_phases[(uint8_t)e->ph]; /* if it is not left: an event, but no row */
    if (e->category == NULL)
        rows_hold(f->to, track_of(f, e), e->name, e->name_length, e->ts, e->dur, byte);
    else if (e->category->gpu)
        take_gpu(f, e, byte);
    else if (rows_wants_cpu(f->to, e->category->cpu))
        take_cpu(f, e, byte);
    return true;
}

/* ---------------------------------------------------------------- the engine */

static bool has_avx2(void) {
#if defined __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

fast *fast_create(rows *to, fast_isa isa) {
    if (isa == FAST_BEST)
        isa = has_avx2() ? FAST_AVX2 : FAST_BASE;
    if (isa == FAST_AVX2 && !has_avx2())
        return NULL;
    fast *f = kit_alloc(1, sizeof *f);
    f->to = to;
    f->tracks = rows_tracks(to);
    f->scan = isa == FAST_SCALAR ? fast_scan_scalar : fast_scan_base;
#if defined __x86_64__
    if (isa == FAST_AVX2)
        f->scan = fast_scan_avx2;
#endif
    for (size_t ph = 0; ph < sizeof f->left_phases; ph++)
        f->left_phases[ph] = ph == '\0' || rows_wants_phase(to, (char)ph);
    for (size_t i = 0; i < N_LINES; i++) {
        f->lines[i].track = MILL_NONE;
        f->streams[i].track = MILL_NONE;
    }
    return f;
}

void fast_destroy(fast *f) {
    free(f);
}

size_t fast_events(fast *f, const char *text, const char *end, uint64_t byte,
                   uint64_t *ret_events) {
    return f->scan(f, text, end, byte, ret_events);
}
