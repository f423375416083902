/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of the threads that launch the work: the stages that they are in, and their polls. */
#include "communication.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Classes of the lanes' intervals; the first are those of chunks, as in the lanes of overlap. */
enum { STAGE, POLL = STAGE + 5, CLASSES };
static const char *const classes[CLASSES] = {[STAGE] = "stage",
                                             [STAGE + MILL_CHUNK_FORWARD] = "F",
                                             [STAGE + MILL_CHUNK_BACKWARD] = "B",
                                             [STAGE + MILL_CHUNK_WEIGHT] = "W",
                                             [STAGE + MILL_CHUNK_PAIR] = "F&B",
                                             [POLL] = "poll"};

/* An annotation or a poll of a thread, in ns after the lanes' time 0. */
typedef struct slice {
    uint32_t thread, row, text, cls;
    int64_t start, end;
} slice;

/* Annotations that hold others come before them. */
static int compare_slices(const void *a, const void *b) {
    const slice *p = a, *q = b;
    if (p->thread != q->thread)
        return p->thread < q->thread ? -1 : 1;
    if (p->start != q->start)
        return p->start < q->start ? -1 : 1;
    if (p->end != q->end)
        return p->end > q->end ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static int64_t origin(const communication_analysis *analysis) {
    return analysis->all.devices[0].window.start;
}

/* Times that are too far from the device's are left out. */
static void add(slice *slices, size_t *n, slice s, int64_t start, int64_t end, int64_t zero) {
    s.start = kit_subtract(start, zero);
    s.end = kit_subtract(end, zero);
    if (s.start != MILL_UNKNOWN && s.end != MILL_UNKNOWN && s.start < s.end)
        slices[(*n)++] = s;
}

/* The annotations of the places; one that several places have comes several times. */
static size_t find_stages(const communication_analysis *analysis, slice *slices) {
    const mill_attribution *places = analysis->all.places;
    const mill_trace *trace = analysis->all.trace;
    size_t n = 0;
    for (uint64_t i = 0; i < places->n_places; i++) {
        uint32_t row = places->annotation[i];
        if (row == MILL_NONE || places->stage[i] == MILL_NONE)
            continue;
        int64_t start = mill_i64(trace, &trace->cpu.start, row);
        int64_t dur = mill_i64(trace, &trace->cpu.dur, row);
        uint32_t chunk = places->chunk[i] < POLL - STAGE ? places->chunk[i] : 0;
        slice s = {mill_u32(trace, &trace->cpu.thread, row),
                   row,
                   CLASSES + places->stage[i],
                   STAGE + chunk,
                   0,
                   0};
        add(slices, &n, s, start, kit_add(start, dur), origin(analysis));
    }
    return n;
}

/* ---------------------------------------------------------------- lanes */

typedef struct lane {
    int64_t *start, *end;
    uint32_t *text, *cls;
    uint64_t n;
} lane;

static lane lane_of(mill_run *run, size_t room) {
    return (lane){.start = mill_scratch(run, room * sizeof(int64_t)),
                  .end = mill_scratch(run, room * sizeof(int64_t)),
                  .text = mill_scratch(run, room * sizeof(uint32_t)),
                  .cls = mill_scratch(run, room * sizeof(uint32_t))};
}

static void put(lane *l, const slice *s, int64_t start, int64_t end) {
    if (start >= end)
        return;
    l->start[l->n] = start;
    l->end[l->n] = end;
    l->text[l->n] = s->text;
    l->cls[l->n] = s->cls;
    l->n++;
}

/* At each time the innermost one. Each slice is at most two pieces: one that begins with it, one
 * after each slice within it. */
static void flatten(mill_run *run, lane *l, const slice *slices, size_t n) {
    const slice **open = mill_scratch(run, n * sizeof *open);
    size_t depth = 0;
    int64_t now = INT64_MIN;
    for (size_t i = 0; i <= n; i++) {
        int64_t until = i < n ? slices[i].start : INT64_MAX;
        while (depth > 0 && open[depth - 1]->end <= until) {
            const slice *top = open[--depth];
            put(l, top, now, top->end);
            now = top->end > now ? top->end : now;
        }
        if (i == n)
            break;
        if (depth > 0)
            put(l, open[depth - 1], now, until);
        now = until > now ? until : now;
        open[depth++] = &slices[i];
    }
}

static void tell(const communication_analysis *analysis, kit_report *r, const char *what,
                 uint32_t thread, const lane *l, const char *const *texts, uint64_t n_texts) {
    const mill_trace *trace = analysis->all.trace;
    char id[KIT_NUMBER_MAX], label[2 * KIT_NUMBER_MAX], number[KIT_NUMBER_MAX];
    int64_t tid = mill_i64(trace, &trace->threads.tid, thread);
    snprintf(id, sizeof id, "cpu_%s_%u", what, (unsigned)thread);
    snprintf(label, sizeof label, "CPU thread %s: %s", kit_format_int(number, tid, 0), what);
    kit_lane(r, &(mill_lane){.size = sizeof(mill_lane),
                             .id = id,
                             .label = label,
                             .rank = trace->rank,
                             .device = MILL_UNKNOWN,
                             .stream = MILL_UNKNOWN,
                             .base_ns = origin(analysis),
                             .n = l->n,
                             .start = l->start,
                             .end = l->end,
                             .text = l->text,
                             .cls = l->cls,
                             .texts = texts,
                             .n_texts = n_texts});
}

/* The texts of all lanes: classes, then stages. */
static const char **texts_of(const communication_analysis *analysis, uint64_t *ret_n) {
    const mill_attribution *places = analysis->all.places;
    uint64_t stages = places ? places->n_stages : 0;
    const char **texts = mill_scratch(analysis->run, (CLASSES + stages) * sizeof *texts);
    memcpy(texts, classes, sizeof classes);
    for (uint64_t i = 0; i < stages; i++)
        texts[CLASSES + i] = places->stages[i];
    *ret_n = CLASSES + stages;
    return texts;
}

/* A lane for each thread that has any. */
static void tell_threads(const communication_analysis *analysis, kit_report *r, const char *what,
                         slice *slices, size_t n) {
    uint64_t n_texts, kept = 0;
    const char **texts = texts_of(analysis, &n_texts);
    qsort(slices, n, sizeof *slices, compare_slices);
    for (size_t i = 0; i < n; i++) /* each annotation once */
        if (i == 0 || slices[i].row != slices[i - 1].row ||
            slices[i].thread != slices[i - 1].thread || slices[i].start != slices[i - 1].start)
            slices[kept++] = slices[i];
    for (size_t i = 0, next; i < kept; i = next) {
        for (next = i + 1; next < kept && slices[next].thread == slices[i].thread;)
            next++;
        lane l = lane_of(analysis->run, 2 * (next - i));
        flatten(analysis->run, &l, slices + i, next - i);
        tell(analysis, r, what, slices[i].thread, &l, texts, n_texts);
    }
}

void communication_tell_lanes(const communication_analysis *analysis, kit_report *r,
                              const kit_host *host) {
    const mill_attribution *places = analysis->all.places;
    size_t room = host->n_polls > (places ? places->n_places : 0) ? host->n_polls
                  : places                                        ? places->n_places
                                                                  : 0;
    slice *slices = mill_scratch(analysis->run, room * sizeof *slices);
    size_t n = places ? find_stages(analysis, slices) : 0;
    tell_threads(analysis, r, "stages", slices, n);
    n = 0;
    for (size_t i = 0; i < host->n_polls; i++) {
        const kit_poll *poll = &host->polls[i];
        const kit_activity *notify = &analysis->all.devices[poll->device].v[poll->notify];
        bool staged = kit_stage_name(&analysis->all, notify->place) != NULL;
        slice s = {
            poll->thread, (uint32_t)i, staged ? CLASSES + places->stage[notify->place] : POLL,
            POLL,         0,           0};
        add(slices, &n, s, poll->start, poll->end, origin(analysis));
    }
    tell_threads(analysis, r, "polls", slices, n);
}
