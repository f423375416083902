/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the gaps of streams and of whole devices, and why each is there. All questions about what
 * else ran are answered in one sweep over time, whatever the number of gaps. */
#include <tracemill/kit/gaps.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define CANCEL_ROWS (1u << 16) /* activities between two looks at `cancelled` */
#define MOST_SMS 65536         /* a device with more is described wrong: its number is not known */

const char *const kit_gap_names[KIT_GAP_CAUSES] = {
    "launch_latency", "kernel_gap", "sm_wait", "wait_comm", "wait_compute", "unexplained",
};

/* ---------------------------------------------------------------- the sweep */

typedef struct running {
    int64_t end, sms;
    uint32_t activity;
} running;

/* What a device does up to the moment `now`. Activities of no length take no part. */
typedef struct sweep {
    const kit_activities *all;
    const kit_device *device;
    int64_t now;
    size_t next;   /* the first activity that has not begun */
    running *heap; /* those that run; the first ends first */
    size_t n_heap, room;
    int64_t sms;        /* that they want together */
    uint32_t ended;     /* the one that ended last, or KIT_NO_ACTIVITY */
    int64_t *time_free; /* Fenwick tree: [i] counts the time with i - 1 SMs free; NULL: unknown */
    size_t n_levels;    /* its length: no SM free … all of them free */
} sweep;

static void sweep_init(sweep *s, mill_run *run, const kit_activities *all,
                       const kit_device *device) {
    *s = (sweep){
        .all = all, .device = device, .now = device->window.start, .ended = KIT_NO_ACTIVITY};
    if (device->sms > 0 && device->sms <= MOST_SMS) {
        s->n_levels = (size_t)device->sms + 1;
        s->time_free = mill_scratch(run, (s->n_levels + 1) * sizeof *s->time_free);
    }
}

static void sweep_finish(sweep *s) {
    free(s->heap);
}

static void push(sweep *s, running r) {
    if (s->n_heap == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->heap = kit_realloc(s->heap, s->room, sizeof *s->heap);
    }
    size_t i = s->n_heap++;
    for (; i > 0 && s->heap[(i - 1) / 2].end > r.end; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = r;
}

static running pop(sweep *s) {
    running first = s->heap[0], last = s->heap[--s->n_heap];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->n_heap) {
        child += child + 1 < s->n_heap && s->heap[child + 1].end < s->heap[child].end;
        if (s->heap[child].end >= last.end)
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

/* Of two at the same time the one on the lower stream counts, then the one launched first. */
static bool comes_first(const kit_activities *all, const kit_device *device, uint32_t a,
                        uint32_t b) {
    const kit_activity *x = &device->v[a], *y = &device->v[b];
    if (x->stream != y->stream)
        return x->stream < y->stream;
    const mill_trace *trace = all->trace;
    int64_t i = mill_i64(trace, &trace->gpu.correlation, x->row);
    int64_t j = mill_i64(trace, &trace->gpu.correlation, y->row);
    return i != j ? i < j : a < b;
}

static void note_end(sweep *s, uint32_t activity) {
    const kit_activity *v = s->device->v;
    if (s->ended == KIT_NO_ACTIVITY || v[activity].end > v[s->ended].end ||
        comes_first(s->all, s->device, activity, s->ended))
        s->ended = activity;
}

/* Counts the time up to `time` at what runs now. */
static void pass(sweep *s, int64_t time) {
    if (s->time_free && time > s->now) {
        int64_t left = s->sms < s->device->sms ? s->device->sms - s->sms : 0;
        for (size_t i = (size_t)left + 1; i <= s->n_levels; i += i & -i)
            s->time_free[i] += time - s->now;
    }
    s->now = time;
}

/* Goes on to `time`: what ended by then has ended, what starts then has not begun. */
static void sweep_to(sweep *s, int64_t time) {
    const kit_activity *v = s->device->v;
    for (;;) {
        int64_t end = s->n_heap > 0 ? s->heap[0].end : INT64_MAX;
        int64_t start = s->next < s->device->n ? v[s->next].start : INT64_MAX;
        if (s->n_heap > 0 && end <= start && end <= time) {
            pass(s, end);
            running r = pop(s);
            s->sms -= r.sms;
            note_end(s, r.activity);
        } else if (start < time) {
            pass(s, start);
            const kit_activity *a = &v[s->next];
            if (a->end > a->start) {
                int64_t sms = s->time_free ? kit_activity_sms(s->all, s->device, a) : 0;
                running r = {a->end, sms, (uint32_t)s->next};
                s->sms += r.sms;
                push(s, r);
            }
            s->next++;
        } else {
            break;
        }
    }
    pass(s, time);
}

/* How long until now fewer than `wanted` SMs were free. */
static int64_t time_short_of(const sweep *s, int64_t wanted) {
    int64_t time = 0;
    if (s->time_free)
        for (size_t i = (size_t)wanted; i > 0; i -= i & -i)
            time += s->time_free[i];
    return time;
}

/* ---------------------------------------------------------------- causes */

/* A gap that its length alone does not explain, and a moment at which the sweep looks at it. */
typedef struct question {
    kit_gap *gap;
    int64_t wanted; /* SMs, by what comes after the gap */
    int64_t full;   /* for how long they were not free */
} question;

typedef struct moment {
    int64_t time;
    uint32_t question;
    bool last; /* the end of the gap, not where it got ready */
} moment;

static int compare_moments(const void *a, const void *b) {
    const moment *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Where the gap's next activity was launched, as far as that lies in the gap. */
static int64_t ready_time(const kit_activities *all, const kit_device *device, const kit_gap *gap) {
    const mill_trace *trace = all->trace;
    uint32_t launch = mill_u32(trace, &trace->gpu.launch, device->v[gap->next].row);
    int64_t time = launch == MILL_NONE ? gap->start : mill_i64(trace, &trace->cpu.start, launch);
    return time < gap->start ? gap->start : time > gap->end ? gap->end : time;
}

/* The cause as far as the gap's length tells it; else unexplained, for a start. */
static kit_gap_cause cause_by_length(const kit_gap *gap, const kit_gap_rule *rule) {
    int64_t rest = gap->end - gap->ready;
    if (gap->ready > gap->start && rest <= rule->tolerance)
        return KIT_GAP_LAUNCH_LATENCY;
    return rest <= rule->kernel_gap ? KIT_GAP_KERNEL : KIT_GAP_UNEXPLAINED;
}

/* The causes that need to know what else ran; the sweep stands at the end of the gap. */
static void settle(const sweep *s, const question *q, const kit_gap_rule *rule) {
    kit_gap *gap = q->gap;
    const kit_activity *ended = s->ended == KIT_NO_ACTIVITY ? NULL : &s->device->v[s->ended];
    if (ended && ended->end > gap->start && gap->end - ended->end <= rule->tolerance)
        gap->blocker = s->ended;
    bool short_of_sms =
        q->full > 0 && (double)q->full >= rule->sm_share * (double)(gap->end - gap->ready);
    if (short_of_sms && (gap->one_place || gap->blocker == KIT_NO_ACTIVITY))
        gap->cause = KIT_GAP_SM_WAIT;
    else if (gap->blocker != KIT_NO_ACTIVITY)
        gap->cause = ended->cls == KIT_COMM ? KIT_GAP_WAIT_COMM : KIT_GAP_WAIT_COMPUTE;
}

static mill_status answer(mill_run *run, sweep *s, question *questions, const moment *moments,
                          size_t n, const kit_gap_rule *rule) {
    for (size_t i = 0; i < n; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        question *q = &questions[moments[i].question];
        sweep_to(s, moments[i].time);
        int64_t full = time_short_of(s, q->wanted);
        q->full = moments[i].last ? full - q->full : full;
        if (moments[i].last)
            settle(s, q, rule);
    }
    return MILL_OK;
}

mill_status kit_gaps_explain(mill_run *run, const kit_activities *all, const kit_device *device,
                             const kit_gap_rule *rule, kit_gap *gaps, size_t n) {
    size_t n_open = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        kit_gap *gap = &gaps[i];
        gap->ready = ready_time(all, device, gap);
        gap->cause = (uint8_t)cause_by_length(gap, rule);
        gap->blocker = KIT_NO_ACTIVITY;
        n_open += gap->cause == KIT_GAP_UNEXPLAINED;
    }
    question *questions = mill_scratch(run, n_open * sizeof *questions);
    moment *moments = mill_scratch(run, 2 * n_open * sizeof *moments);
    for (size_t i = 0; i < n; i++) {
        if (gaps[i].cause != KIT_GAP_UNEXPLAINED)
            continue;
        int64_t wanted = kit_activity_sms(all, device, &device->v[gaps[i].next]);
        questions[at] = (question){&gaps[i], wanted, 0};
        moments[2 * at] = (moment){gaps[i].ready, (uint32_t)at, false};
        moments[2 * at + 1] = (moment){gaps[i].end, (uint32_t)at, true};
        at++;
    }
    qsort(moments, 2 * n_open, sizeof *moments, compare_moments);
    sweep s;
    sweep_init(&s, run, all, device);
    mill_status status = answer(run, &s, questions, moments, 2 * n_open, rule);
    sweep_finish(&s);
    return status;
}

/* ---------------------------------------------------------------- gaps */

#define EACH_STREAM (KIT_ALL_STREAMS - 1)

/* How far a stream has come, or a whole device. */
typedef struct front {
    bool begun;
    int64_t end;
    uint32_t place; /* of what ended last */
} front;

/* Moves the front past the activity. True if it began after a gap, which is then described. */
static bool advance(front *f, const kit_activity *a, uint32_t index, kit_gap *ret_gap) {
    bool after_gap = f->begun && a->start > f->end;
    if (after_gap)
        *ret_gap = (kit_gap){.start = f->end,
                             .end = a->start,
                             .next = index,
                             .one_place = f->place != MILL_NONE && f->place == a->place};
    if (!f->begun || a->end >= f->end) {
        f->end = a->end;
        f->place = a->place;
    }
    f->begun = true;
    return after_gap;
}

/* Of the activities that start together with number `index`, the first by stream and correlation:
 * they stand in the order of their ends. */
static uint32_t first_of_start(const kit_activities *all, const kit_device *device, size_t index) {
    int64_t start = device->v[index].start;
    size_t i = index;
    while (i > 0 && device->v[i - 1].start == start)
        i--;
    uint32_t best = (uint32_t)i;
    for (; i < device->n && device->v[i].start == start; i++)
        if (comes_first(all, device, (uint32_t)i, best))
            best = (uint32_t)i;
    return best;
}

/* Appends all gaps of the device, of a stream, or of each stream to its own list; only counts them
 * where there is no memory yet. `fronts` and `lists` are one long, or one for each stream. */
static void list_gaps(const kit_activities *all, const kit_device *device, uint32_t stream,
                      front *fronts, kit_gaps *lists) {
    bool whole = stream == KIT_ALL_STREAMS, each = stream == EACH_STREAM;
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (whole ? a->end == a->start : !each && a->stream != stream)
            continue; /* what takes no time ends no idle time */
        kit_gaps *list = &lists[each ? a->stream : 0];
        kit_gap gap;
        if (!advance(&fronts[each ? a->stream : 0], a, (uint32_t)i, &gap))
            continue;
        if (whole && list->v) {
            gap.next = first_of_start(all, device, i);
            gap.one_place = false;
        }
        if (list->v)
            list->v[list->n] = gap;
        list->n++;
    }
}

mill_status kit_gaps_find(mill_run *run, const kit_activities *all, const kit_device *device,
                          uint32_t stream, const kit_gap_rule *rule, kit_gaps *ret_gaps) {
    *ret_gaps = (kit_gaps){0};
    list_gaps(all, device, stream, &(front){0}, ret_gaps);
    *ret_gaps = (kit_gaps){mill_scratch(run, ret_gaps->n * sizeof *ret_gaps->v), 0};
    list_gaps(all, device, stream, &(front){0}, ret_gaps);
    return kit_gaps_explain(run, all, device, rule, ret_gaps->v, ret_gaps->n);
}

mill_status kit_gaps_find_each(mill_run *run, const kit_activities *all, const kit_gap_rule *rule,
                               kit_gaps **ret_gaps) {
    kit_gaps *gaps = mill_scratch(run, all->n_streams * sizeof *gaps);
    front *fronts = mill_scratch(run, all->n_streams * sizeof *fronts);
    size_t n = 0;
    for (size_t d = 0; d < all->n_devices; d++)
        list_gaps(all, &all->devices[d], EACH_STREAM, fronts, gaps);
    for (size_t i = 0; i < all->n_streams; i++)
        n += gaps[i].n;
    kit_gap *v = mill_scratch(run, n * sizeof *v);
    memset(fronts, 0, all->n_streams * sizeof *fronts);
    for (size_t i = 0, at = 0; i < all->n_streams; i++) {
        size_t length = gaps[i].n;
        gaps[i] = (kit_gaps){v + at, 0};
        at += length;
    }
    mill_status status = MILL_OK;
    for (size_t d = 0, stream = 0; d < all->n_devices && status == MILL_OK; d++) {
        const kit_device *device = &all->devices[d];
        list_gaps(all, device, EACH_STREAM, fronts, gaps);
        kit_gap *first = v;
        for (; stream < all->n_streams && all->streams[stream].device == d; stream++)
            v += gaps[stream].n; /* the lists of one device lie one behind the other */
        status = kit_gaps_explain(run, all, device, rule, first, (size_t)(v - first));
    }
    *ret_gaps = gaps;
    return status;
}

uint32_t kit_primary_stream(mill_run *run, const kit_activities *all, const kit_device *device) {
    int64_t *sums = mill_scratch(run, all->n_streams * sizeof *sums);
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (a->cls == KIT_COMP)
            sums[a->stream] = kit_add(sums[a->stream], a->end - a->start);
    }
    /* As unsigned, so that MILL_UNKNOWN, a sum that does not fit, is above all others. */
    uint32_t best = KIT_ALL_STREAMS;
    for (uint32_t i = 0; i < all->n_streams; i++)
        if (sums[i] != 0 && (best == KIT_ALL_STREAMS || (uint64_t)sums[i] > (uint64_t)sums[best]))
            best = i;
    return best;
}
