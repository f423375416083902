/* SPDX-License-Identifier: Apache-2.0 */
/* The fast engine's part that is the same for all instructions: keys, and rows from members. */
#include "fast_private.h"

#include "syncs.h"

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
        {"wait_on_stream", true, AT_WAITED_STREAM},
        {"Collective name", true, AT_LEFT},
        {"mb_id", true, AT_LEFT},
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

uint8_t fast_category(fast *f, const char *text, size_t length) {
    const category *found = category_find(text, length);
    uint8_t n = 0;
    while (f->categories[n] && f->categories[n] != found)
        n++;
    f->categories[n] = found;
    return (uint8_t)(n + 1);
}

/* ---------------------------------------------------------------- rows */

static size_t slot_of(uint64_t a, uint64_t b) {
    return (a * 31 + b) * UINT64_C(0x9e3779b97f4a7c15) >> 56;
}
_Static_assert(N_LINES == 256, "the top eight bits");

static uint32_t track_of(fast *f, const fast_event *e) {
    if (e->pid.key == KEY_LONG || e->tid.key == KEY_LONG)
        return tracks_find(f->tracks, e->pid.text, e->tid.text);
    known_line *line = &f->lines[slot_of(e->pid.key, e->tid.key)];
    if (line->pid != e->pid.key || line->tid != e->tid.key)
        *line =
            (known_line){e->pid.key, e->tid.key, tracks_find(f->tracks, e->pid.text, e->tid.text)};
    return line->track;
}

static int64_t number_of(const fast_event *e, place at) {
    return e->number[at - AT_GRID];
}

static uint32_t stream_of(fast *f, const fast_event *e, uint32_t track) {
    int64_t device = number_of(e, AT_DEVICE), number = number_of(e, AT_STREAM);
    if (device == MILL_UNKNOWN || number == MILL_UNKNOWN)
        return tracks_stream(f->tracks, track, device, number);
    known_stream *s = &f->streams[slot_of((uint64_t)device, (uint64_t)number)];
    if (s->track != track || s->device != device || s->number != number)
        *s = (known_stream){device, number, track, tracks_stream(f->tracks, track, device, number)};
    else
        tracks_set_stream(f->tracks, track, s->stream);
    return s->stream;
}

static void take_gpu(fast *f, const fast_event *e, uint8_t cat, uint64_t byte) {
    uint32_t track = track_of(f, e);
    kit_gpu_row row = {
        .start = e->ts,
        .dur = e->dur,
        .correlation = number_of(e, AT_CORRELATION),
        .external_id = number_of(e, AT_EXTERNAL_ID),
        .grid = number_of(e, AT_GRID),
        .block = number_of(e, AT_BLOCK),
        .bytes = number_of(e, AT_BYTES),
        .waited_event = number_of(e, AT_WAITED_EVENT),
        .byte = byte,
        .name = rows_name(f->to, e->name, e->name_length, cat),
        .stream = stream_of(f, e, track),
        .track = track,
        .collective = MILL_NONE,
        .cat = cat,
    };
    kit_trace_gpu(rows_builder(f->to), &row);
}

static void take_cpu(fast *f, const fast_event *e, uint8_t kind, uint64_t byte) {
    kit_cpu_row row = {
        .start = e->ts,
        .dur = e->dur,
        .correlation = number_of(e, AT_CORRELATION),
        .external_id = number_of(e, AT_EXTERNAL_ID),
        .byte = byte,
        .name = rows_name(f->to, e->name, e->name_length, 0),
        .thread = tracks_thread(f->tracks, track_of(f, e)),
        .kind = kind,
    };
    kit_trace_cpu(rows_builder(f->to), &row);
}

static void take_sync(fast *f, const fast_event *e, uint64_t byte) {
    sync_event sync = {
        .name = {e->name, e->name_length},
        .start = e->ts,
        .dur = e->dur,
        .correlation = number_of(e, AT_CORRELATION),
        .device = number_of(e, AT_DEVICE),
        .stream = number_of(e, AT_STREAM),
        .waited_stream = number_of(e, AT_WAITED_STREAM),
        .waited_event = number_of(e, AT_WAITED_EVENT),
        .byte = byte,
        .track = track_of(f, e),
    };
    syncs_take(rows_builder(f->to), f->tracks, &sync);
}

bool fast_take(fast *f, const fast_event *e, uint64_t byte) {
    if (e->word[AT_PH] != 'X')
        return !f->left_phases[e->word[AT_PH]]; /* if it is not left: an event, but no row */
    if (e->word[AT_CAT] == 0) {
        rows_hold(f->to, track_of(f, e), e->name, e->name_length, e->ts, e->dur, byte);
        return true;
    }
    const category *cat = f->categories[e->word[AT_CAT] - 1];
    if (cat->gpu)
        take_gpu(f, e, cat->gpu, byte);
    else if (cat->sync)
        take_sync(f, e, byte);
    else if (rows_wants_cpu(f->to, cat->cpu))
        take_cpu(f, e, cat->cpu, byte);
    return true;
}

/* ---------------------------------------------------------------- the engine */

static bool has_avx2(void) {
#if defined __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
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
        f->lines[i].pid = KEY_LONG;
        f->streams[i].track = MILL_NONE;
    }
    for (size_t at = 0; at < N_PLACES; at++)
        for (size_t way = 0; way < N_WAYS; way++) /* what stands nowhere */
            f->successors[at][way] = (successor){.length = 1, .next = AT_LEFT};
    return f;
}

void fast_destroy(fast *f) {
    free(f);
}

size_t fast_events(fast *f, const char *text, const char *end, uint64_t byte,
                   uint64_t *ret_events) {
    return f->scan(f, text, end, byte, ret_events);
}
