/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the gaps of streams and of whole devices, and why each is there. All questions about what
 * else ran are answered in one sweep over time, whatever the number of gaps. */
#include <tracemill/kit/gaps.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/sweep.h>

#define CANCEL_ROWS (1u << 16) /* activities between two looks at `cancelled` */

const char *const kit_gap_names[KIT_GAP_CAUSES] = {
    "launch_latency", "kernel_gap", "sm_wait", "wait_comm", "wait_compute", "unexplained",
};

const char *const kit_gap_method_names[KIT_GAP_METHODS] = {"by length", "recorded", "by timing"};

/* ---------------------------------------------------------------- what else runs */

/* What a device has done up to the moment `now`. */
typedef struct past {
    const kit_activities *all;
    const kit_device *device;
    kit_sweep sweep;
    kit_change next; /* comes after `now`, if more */
    bool more;
    int64_t now;
    uint32_t *sms_of;          /* of each activity; NULL: unknown, and so are waits for them */
    int64_t sms;               /* that what runs wants together */
    size_t open;               /* gaps that lie at `now`: only in these time counts */
    const kit_activity *ended; /* what ended last, or NULL */
    int64_t *time_free;        /* Fenwick tree: [i] counts the time with i - 1 SMs free; or NULL */
    size_t n_levels;           /* its length: no SM free … all of them free */
} past;

static void past_init(past *p, mill_run *run, const kit_activities *all, const kit_device *device) {
    *p = (past){.all = all, .device = device, .now = device->window.start};
    kit_sweep_init(&p->sweep, run, device);
    p->more = kit_sweep_next(&p->sweep, &p->next);
    p->sms_of = kit_device_sms(all, device);
    if (p->sms_of) {
        p->n_levels = (size_t)device->sms + 1;
        p->time_free = mill_scratch(run, (p->n_levels + 1) * sizeof *p->time_free);
    }
}

static void past_finish(past *p) {
    free(p->sms_of);
}

static int64_t sms_of(const past *p, const kit_activity *a) {
    return p->sms_of ? p->sms_of[a - p->device->v] : 0;
}

/* Of two at the same time the one on the lower stream counts, then the one launched first. */
static bool comes_first(const kit_activities *all, const kit_activity *a, const kit_activity *b) {
    if (a->stream != b->stream)
        return a->stream < b->stream;
    const mill_trace *trace = all->trace;
    int64_t i = mill_i64(trace, &trace->gpu.correlation, a->row);
    int64_t j = mill_i64(trace, &trace->gpu.correlation, b->row);
    return i != j ? i < j : a->row < b->row;
}

/* Counts the time up to `time` at what runs now. */
static void pass(past *p, int64_t time) {
    if (p->time_free && p->open > 0 && time > p->now) {
        int64_t left = p->sms < p->device->sms ? p->device->sms - p->sms : 0;
        for (size_t i = (size_t)left + 1; i <= p->n_levels; i += i & -i)
            p->time_free[i] += time - p->now;
    }
    p->now = time;
}

/* Goes on to `time`, past what begins and ends then. */
static void go_to(past *p, int64_t time) {
    for (; p->more && p->next.time <= time; p->more = kit_sweep_next(&p->sweep, &p->next)) {
        const kit_activity *a = p->next.activity;
        pass(p, p->next.time);
        p->sms += p->next.begins ? sms_of(p, a) : -sms_of(p, a);
        if (!p->next.begins &&
            (!p->ended || a->end > p->ended->end || comes_first(p->all, a, p->ended)))
            p->ended = a;
    }
    pass(p, time);
}

/* How long until now fewer than `wanted` SMs were free. */
static int64_t time_short_of(const past *p, int64_t wanted) {
    int64_t time = 0;
    if (p->time_free)
        for (size_t i = (size_t)wanted; i > 0; i -= i & -i)
            time += p->time_free[i];
    return time;
}

/* ---------------------------------------------------------------- causes */

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

static kit_gap_cause wait_for(const kit_activity *blocker) {
    return blocker->cls == KIT_COMM ? KIT_GAP_WAIT_COMM : KIT_GAP_WAIT_COMPUTE;
}

/* What can be told of a gap alone, before what else ran is known. waited: what the trace records
 * that the next activity waited for, or KIT_NO_ACTIVITY; a record that times contradict counts as
 * none. */
static void begin(const kit_device *device, uint32_t waited, const kit_gap_rule *rule,
                  kit_gap *gap) {
    bool recorded = waited != KIT_NO_ACTIVITY && device->v[waited].end <= gap->end;
    gap->blocker = KIT_NO_ACTIVITY;
    gap->method = recorded ? KIT_GAP_RECORDED : KIT_GAP_BY_TIMING;
    if (recorded && device->v[waited].end > gap->ready) {
        gap->blocker = waited;
        gap->cause = (uint8_t)wait_for(&device->v[waited]);
        return;
    }
    gap->cause = (uint8_t)cause_by_length(gap, rule);
    if (gap->cause != KIT_GAP_UNEXPLAINED)
        gap->method = KIT_GAP_BY_LENGTH;
}

/* The causes that need to know what else ran; the past goes up to the end of the gap. full: for how
 * long of the rest not all the SMs were free that the next activity wants. */
static void settle(const past *p, kit_gap *gap, int64_t full, const kit_gap_rule *rule) {
    const kit_activity *ended = p->ended;
    if (gap->method == KIT_GAP_BY_TIMING && ended && ended->end > gap->start &&
        gap->end - ended->end <= rule->tolerance)
        gap->blocker = (uint32_t)(ended - p->device->v);
    bool short_of_sms =
        full > 0 && (double)full >= rule->sm_share * (double)(gap->end - gap->ready);
    if (short_of_sms && (gap->one_place || gap->blocker == KIT_NO_ACTIVITY))
        gap->cause = KIT_GAP_SM_WAIT;
    else if (gap->blocker != KIT_NO_ACTIVITY)
        gap->cause = (uint8_t)wait_for(ended);
}

/* Gaps that their length does not explain, as indices in two orders. */
typedef struct open_gaps {
    kit_gap *v;
    uint32_t *by_ready, *by_end;
    int64_t *full; /* of each of v: first up to where it got ready, then in the rest */
    size_t n;
} open_gaps;

static int compare_ready(const void *a, const void *b, void *gaps) {
    const kit_gap *v = gaps;
    int64_t x = v[*(const uint32_t *)a].ready, y = v[*(const uint32_t *)b].ready;
    return (x > y) - (x < y);
}

static int compare_end(const void *a, const void *b, void *gaps) {
    const kit_gap *v = gaps;
    int64_t x = v[*(const uint32_t *)a].end, y = v[*(const uint32_t *)b].end;
    return (x > y) - (x < y);
}

/* The gaps of one stream are in both orders already. */
static void sort(uint32_t *order, size_t n, int (*compare)(const void *, const void *, void *),
                 kit_gap *gaps) {
    for (size_t i = 1; i < n; i++)
        if (compare(&order[i - 1], &order[i], gaps) > 0) {
            qsort_r(order, n, sizeof *order, compare, gaps);
            return;
        }
}

static void open_gaps_init(open_gaps *o, kit_gap *gaps, size_t n) {
    size_t open = 0;
    for (size_t i = 0; i < n; i++)
        open += gaps[i].cause == KIT_GAP_UNEXPLAINED;
    *o = (open_gaps){
        .v = gaps,
        .by_ready = kit_alloc(open, sizeof *o->by_ready),
        .by_end = kit_alloc(open, sizeof *o->by_end),
        .full = kit_alloc(n, sizeof *o->full),
    };
    for (uint32_t i = 0; i < n; i++)
        if (gaps[i].cause == KIT_GAP_UNEXPLAINED)
            o->by_ready[o->n++] = i;
    memcpy(o->by_end, o->by_ready, o->n * sizeof *o->by_end);
    sort(o->by_ready, o->n, compare_ready, gaps);
    sort(o->by_end, o->n, compare_end, gaps);
}

static void open_gaps_finish(open_gaps *o) {
    free(o->by_ready);
    free(o->by_end);
    free(o->full);
}

/* Looks at each gap twice, where it got ready and where it ends. */
static mill_status answer(mill_run *run, past *p, const open_gaps *o, const kit_gap_rule *rule) {
    for (size_t r = 0, e = 0; e < o->n;) {
        bool ready = r < o->n && o->v[o->by_ready[r]].ready <= o->v[o->by_end[e]].end;
        uint32_t i = ready ? o->by_ready[r++] : o->by_end[e++];
        kit_gap *gap = &o->v[i];
        if ((r + e) % CANCEL_ROWS == 1 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        go_to(p, ready ? gap->ready : gap->end);
        int64_t wanted = sms_of(p, &p->device->v[gap->next]);
        p->open += ready ? 1 : (size_t)-1;
        o->full[i] = time_short_of(p, wanted) - o->full[i];
        if (!ready)
            settle(p, gap, o->full[i], rule);
    }
    return MILL_OK;
}

mill_status kit_gaps_explain(mill_run *run, const kit_activities *all, const kit_device *device,
                             const kit_gap_rule *rule, kit_gap *gaps, size_t n) {
    kit_waits waits;
    mill_status status = kit_waits_init(&waits, run, all, device);
    for (size_t i = 0; i < n && status == MILL_OK; i++) {
        gaps[i].ready = ready_time(all, device, &gaps[i]);
        begin(device, kit_waited_for(&waits, gaps[i].next), rule, &gaps[i]);
    }
    kit_waits_finish(&waits);
    if (status != MILL_OK)
        return status;
    open_gaps o;
    open_gaps_init(&o, gaps, n);
    if (o.n > 0) {
        past p;
        past_init(&p, run, all, device);
        status = answer(run, &p, &o, rule);
        past_finish(&p);
    }
    open_gaps_finish(&o);
    return status;
}

/* ---------------------------------------------------------------- gaps */

#define EACH_STREAM (KIT_ALL_STREAMS - 1)

/* How far a stream has come, or a whole device. */
typedef struct front {
    int64_t end;    /* INT64_MAX: it has not begun */
    uint32_t place; /* of what ended last */
} front;

/* One front for each stream, or one for all that is looked at. */
typedef struct fronts {
    const kit_device *device;
    uint32_t stream;
    front *v;
} fronts;

static void fronts_init(fronts *f, const kit_device *device, uint32_t stream, front *v, size_t n) {
    *f = (fronts){device, stream, v};
    for (size_t i = 0; i < n; i++)
        v[i] = (front){INT64_MAX, MILL_NONE};
}

/* The front that the activity moves, or NULL. What takes no time ends no idle time of a device. */
static front *front_of(const fronts *f, const kit_activity *a) {
    if (f->stream == EACH_STREAM)
        return &f->v[a->stream];
    bool counts = f->stream == KIT_ALL_STREAMS ? a->end > a->start : a->stream == f->stream;
    return counts ? f->v : NULL;
}

static void advance(front *f, const kit_activity *a) {
    if (f->end == INT64_MAX || a->end >= f->end)
        *f = (front){a->end, a->place};
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
        if (comes_first(all, &device->v[i], &device->v[best]))
            best = (uint32_t)i;
    return best;
}

/* Counts the gaps of each front into its list. */
static void count_gaps(const fronts *f, kit_gaps *lists) {
    for (size_t i = 0; i < f->device->n; i++) {
        const kit_activity *a = &f->device->v[i];
        front *at = front_of(f, a);
        if (!at)
            continue;
        lists[at - f->v].n += a->start > at->end;
        advance(at, a);
    }
}

/* Appends the gaps of each front to its list. */
static void list_gaps(const kit_activities *all, const fronts *f, kit_gaps *lists) {
    bool whole = f->stream == KIT_ALL_STREAMS;
    for (size_t i = 0; i < f->device->n; i++) {
        const kit_activity *a = &f->device->v[i];
        front *at = front_of(f, a);
        if (!at)
            continue;
        kit_gaps *list = &lists[at - f->v];
        if (a->start > at->end)
            list->v[list->n++] = (kit_gap){
                .start = at->end,
                .end = a->start,
                .next = whole ? first_of_start(all, f->device, i) : (uint32_t)i,
                .one_place = !whole && kit_one_place(all, at->place, a->place),
            };
        advance(at, a);
    }
}

mill_status kit_gaps_find(mill_run *run, const kit_activities *all, const kit_device *device,
                          uint32_t stream, const kit_gap_rule *rule, kit_gaps *ret_gaps) {
    front one;
    fronts f;
    *ret_gaps = (kit_gaps){0};
    fronts_init(&f, device, stream, &one, 1);
    count_gaps(&f, ret_gaps);
    *ret_gaps = (kit_gaps){mill_scratch(run, ret_gaps->n * sizeof *ret_gaps->v), 0};
    fronts_init(&f, device, stream, &one, 1);
    list_gaps(all, &f, ret_gaps);
    return kit_gaps_explain(run, all, device, rule, ret_gaps->v, ret_gaps->n);
}

mill_status kit_gaps_find_each(mill_run *run, const kit_activities *all, const kit_gap_rule *rule,
                               kit_gaps **ret_gaps) {
    kit_gaps *gaps = mill_scratch(run, all->n_streams * sizeof *gaps);
    front *v = mill_scratch(run, all->n_streams * sizeof *v);
    mill_status status = MILL_OK;
    fronts f;
    for (size_t d = 0, stream = 0; d < all->n_devices && status == MILL_OK; d++) {
        const kit_device *device = &all->devices[d];
        size_t first = stream, n = 0;
        fronts_init(&f, device, EACH_STREAM, v, all->n_streams);
        count_gaps(&f, gaps);
        for (; stream < all->n_streams && all->streams[stream].device == d; stream++)
            n += gaps[stream].n;
        kit_gap *list = mill_scratch(run, n * sizeof *list); /* one stream's behind another's */
        for (size_t i = first, at = 0; i < stream; i++) {
            size_t length = gaps[i].n;
            gaps[i] = (kit_gaps){list + at, 0};
            at += length;
        }
        fronts_init(&f, device, EACH_STREAM, v, all->n_streams);
        list_gaps(all, &f, gaps);
        status = kit_gaps_explain(run, all, device, rule, list, n);
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
