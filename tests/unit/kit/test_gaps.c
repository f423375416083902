/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps and their causes against a naive reading of the rule, which looks at every nanosecond and
 * at all activities for each gap. */
#include "bench_host.h"

#include "fixture.h"

#include <tracemill/kit/gaps.h>

#define WINDOW 160
#define MOST 40
#define STREAMS 3
#define PLACES 3
#define SMS 10

typedef struct scene {
    bench *b;
    uint32_t place[MOST];
    kit_activities all;
} scene;

/* sms: of device 0; device 1's number is not known. */
static void scene_init(scene *s, const fixture *f) {
    static const kit_selection everything = {.steps = ""};
    static const char *const stages[PLACES] = {"attn(F)", "mlp(F)", NULL}; /* the last has none */
    s->b = bench_create(NULL, NULL);
    const mill_trace *trace = fixture_trace(s->b, f);
    for (uint64_t i = 0; i < trace->gpu.n; i++) {
        int place = g_test_rand_int_range(-1, PLACES);
        s->place[i] = place < 0 ? MILL_NONE : (uint32_t)place;
    }
    const mill_attribution *places = fixture_places(s->b, s->place, trace->gpu.n, stages, PLACES);
    g_assert_cmpint(
        kit_activities_select(bench_services(s->b), trace, places, &everything, &s->all), ==,
        MILL_OK);
}

static void scene_finish(scene *s) {
    bench_destroy(s->b);
}

static kit_gap_rule random_rule(void) {
    return (kit_gap_rule){
        .tolerance = g_test_rand_int_range(0, 12),
        .kernel_gap = g_test_rand_int_range(0, 6),
        .sm_share = g_test_rand_int_range(0, 11) / 10.0,
    };
}

/* ---------------------------------------------------------------- the naive rule */

static int64_t correlation_of(const kit_activities *all, const kit_activity *a) {
    return mill_i64(all->trace, &all->trace->gpu.correlation, a->row);
}

/* x rather than y, of two at the same time. */
static bool preferred(const kit_activities *all, const kit_activity *x, const kit_activity *y) {
    return x->stream != y->stream ? x->stream < y->stream
                                  : correlation_of(all, x) < correlation_of(all, y);
}

static int64_t naive_full(const kit_activities *all, const kit_device *device, const kit_gap *gap) {
    int64_t full = 0, own = kit_activity_sms(all, device, &device->v[gap->next]);
    for (int64_t t = gap->ready; t < gap->end && own > 0; t++) {
        int64_t wanted = own;
        for (size_t i = 0; i < device->n; i++) {
            const kit_activity *a = &device->v[i];
            if (a->stream != device->v[gap->next].stream && a->start <= t && t < a->end)
                wanted += kit_activity_sms(all, device, a);
        }
        full += wanted > device->sms;
    }
    return full;
}

static uint32_t naive_blocker(const kit_activities *all, const kit_device *device,
                              const kit_gap *gap, const kit_gap_rule *rule) {
    uint32_t best = KIT_NO_ACTIVITY;
    for (uint32_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i], *b = &device->v[best == KIT_NO_ACTIVITY ? 0 : best];
        if (a->stream == device->v[gap->next].stream || a->start == a->end)
            continue;
        if (a->end <= gap->start || a->end > gap->end || a->end < gap->end - rule->tolerance)
            continue;
        if (best == KIT_NO_ACTIVITY || a->end > b->end ||
            (a->end == b->end && preferred(all, a, b)))
            best = i;
    }
    return best;
}

static void naive_explain(const kit_activities *all, const kit_device *device,
                          const kit_gap_rule *rule, kit_gap *gap) {
    uint32_t launch = mill_u32(all->trace, &all->trace->gpu.launch, device->v[gap->next].row);
    gap->ready = gap->start;
    if (launch != MILL_NONE)
        gap->ready =
            CLAMP(mill_i64(all->trace, &all->trace->cpu.start, launch), gap->start, gap->end);
    gap->blocker = KIT_NO_ACTIVITY;
    int64_t rest = gap->end - gap->ready;
    if (gap->ready > gap->start && rest <= rule->tolerance) {
        gap->cause = KIT_GAP_LAUNCH_LATENCY;
        return;
    }
    gap->cause = KIT_GAP_KERNEL;
    if (rest <= rule->kernel_gap)
        return;
    int64_t full = naive_full(all, device, gap);
    bool sm_wait = full > 0 && (double)full >= rule->sm_share * (double)rest;
    gap->blocker = naive_blocker(all, device, gap, rule);
    if (sm_wait && gap->one_place)
        gap->cause = KIT_GAP_SM_WAIT;
    else if (gap->blocker != KIT_NO_ACTIVITY)
        gap->cause =
            device->v[gap->blocker].cls == KIT_COMM ? KIT_GAP_WAIT_COMM : KIT_GAP_WAIT_COMPUTE;
    else
        gap->cause = sm_wait ? KIT_GAP_SM_WAIT : KIT_GAP_UNEXPLAINED;
}

static bool counts(const kit_activity *a, uint32_t stream) {
    return stream == KIT_ALL_STREAMS ? a->end > a->start : a->stream == stream;
}

/* What ended last of what came before activity i; NULL: nothing came. */
static const kit_activity *naive_before(const kit_device *device, uint32_t stream, size_t i) {
    const kit_activity *last = NULL;
    for (size_t k = 0; k < i; k++)
        if (counts(&device->v[k], stream) && (!last || device->v[k].end >= last->end))
            last = &device->v[k];
    return last;
}

static void check_gaps(const kit_activities *all, const kit_device *device, uint32_t stream,
                       const kit_gap_rule *rule, const kit_gaps *gaps) {
    size_t n = 0;
    for (uint32_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i], *last = naive_before(device, stream, i);
        if (!counts(a, stream) || !last || a->start <= last->end)
            continue;
        kit_gap right = {.start = last->end, .end = a->start, .next = i};
        right.one_place =
            stream != KIT_ALL_STREAMS && a->place < PLACES - 1 && a->place == last->place;
        for (uint32_t k = 0; k < device->n && stream == KIT_ALL_STREAMS; k++)
            if (device->v[k].start == a->start &&
                preferred(all, &device->v[k], &device->v[right.next]))
                right.next = k;
        naive_explain(all, device, rule, &right);
        g_assert_cmpuint(n, <, gaps->n);
        const kit_gap *gap = &gaps->v[n++];
        g_assert_cmpint(gap->start, ==, right.start);
        g_assert_cmpint(gap->ready, ==, right.ready);
        g_assert_cmpint(gap->end, ==, right.end);
        g_assert_cmpuint(gap->next, ==, right.next);
        g_assert_cmpuint(gap->cause, ==, right.cause);
        g_assert_cmpuint(gap->blocker, ==, right.blocker);
        g_assert_cmpint(gap->one_place, ==, right.one_place);
    }
    g_assert_cmpuint(n, ==, gaps->n);
}

/* ---------------------------------------------------------------- tests */

typedef struct random_trace {
    activity activities[MOST];
    slice slices[MOST];
    fixture fixture;
} random_trace;

/* Whole numbers of nanoseconds, so that many times coincide. */
static void random_trace_init(random_trace *r) {
    static const char *const names[] = {"", "gemm", "all-reduce", "copy", "spin"};
    int n = g_test_rand_int_range(0, MOST), longest = g_test_rand_int_range(1, 30);
    r->fixture = (fixture){.activities = r->activities,
                           .n = (size_t)n,
                           .slices = r->slices,
                           .described_device = MILL_UNKNOWN,
                           .sms = SMS};
    for (int i = 0; i < n; i++) {
        int64_t start = 1000 + g_test_rand_int_range(0, WINDOW);
        mill_class cls = (mill_class)g_test_rand_int_range(1, 5);
        r->activities[i] = (activity){
            .start = start,
            .dur = g_test_rand_int_range(0, longest),
            .grid = g_test_rand_int_range(0, 14),
            .stream = g_test_rand_int_range(0, STREAMS),
            .device = g_test_rand_int_range(0, 4) == 0,
            .name = names[cls],
            .cls = cls,
        };
        if (g_test_rand_int_range(0, 9))
            r->slices[r->fixture.n_slices++] = (slice){1,
                                                       start - g_test_rand_int_range(-2, 30),
                                                       1,
                                                       "cudaLaunchKernel",
                                                       MILL_CPU_RUNTIME,
                                                       i + 1};
    }
}

static void check_device(scene *s, const kit_device *device, const kit_gap_rule *rule,
                         const kit_gaps *each, int seen[KIT_GAP_CAUSES]) {
    mill_run *run = bench_services(s->b);
    kit_gaps gaps;
    kit_gaps_find(run, &s->all, device, KIT_ALL_STREAMS, rule, &gaps);
    check_gaps(&s->all, device, KIT_ALL_STREAMS, rule, &gaps);
    for (uint32_t i = 0; i < s->all.n_streams; i++) {
        if (&s->all.devices[s->all.streams[i].device] != device)
            continue;
        check_gaps(&s->all, device, i, rule, &each[i]);
        kit_gaps_find(run, &s->all, device, i, rule, &gaps);
        check_gaps(&s->all, device, i, rule, &gaps);
        for (size_t g = 0; g < gaps.n; g++)
            seen[gaps.v[g].cause]++;
    }
}

static void test_random(void) {
    int seen[KIT_GAP_CAUSES] = {0};
    for (int round = 0; round < 3000; round++) {
        random_trace r;
        random_trace_init(&r);
        kit_gap_rule rule = random_rule();
        scene s;
        scene_init(&s, &r.fixture);
        kit_gaps *each;
        g_assert_cmpint(kit_gaps_find_each(bench_services(s.b), &s.all, &rule, &each), ==, MILL_OK);
        for (size_t d = 0; d < s.all.n_devices; d++)
            check_device(&s, &s.all.devices[d], &rule, each, seen);
        scene_finish(&s);
    }
    for (int c = 0; c < KIT_GAP_CAUSES; c++)
        g_assert_cmpint(seen[c], >, 0);
}

#define GEMM .name = "gemm", .cls = MILL_CLASS_COMPUTATION

/* All the memory that a broken number of SMs could ask for is not needed. */
static void test_absurd_sms(void) {
    static const activity activities[] = {
        {0, 0, 100, 10, GEMM, .grid = INT64_MAX},
        {0, 1, 100, 40, GEMM, .grid = INT64_MAX},
        {0, 2, 100, 40, GEMM, .grid = INT64_MAX},
        {0, 0, 200, 10, GEMM, .grid = INT64_MAX},
    };
    const kit_gap_rule rule = {10, 1, 0.1};
    fixture f = FIXTURE(activities);
    f.sms = INT64_MAX;
    scene s;
    scene_init(&s, &f);
    kit_gaps gaps;
    kit_gaps_find(bench_services(s.b), &s.all, &s.all.devices[0], 0, &rule, &gaps);
    g_assert_cmpuint(gaps.n, ==, 1);
    g_assert_cmpuint(gaps.v[0].cause, ==, KIT_GAP_UNEXPLAINED);
    scene_finish(&s);
}

static void test_cancelled(void) {
    static const activity activities[] = {{0, 0, 100, 10, GEMM}, {0, 0, 200, 10, GEMM}};
    const kit_gap_rule rule = {10, 1, 0.1};
    scene s;
    scene_init(&s, &FIXTURE(activities));
    kit_gaps gaps;
    bench_cancel_at(s.b, 1);
    g_assert_cmpint(kit_gaps_find(bench_services(s.b), &s.all, &s.all.devices[0], 0, &rule, &gaps),
                    ==, MILL_E_CANCELLED);
    scene_finish(&s);
}

static void test_primary_stream(void) {
    static const activity activities[] = {
        {0, 0, 100, 90, "all-reduce", MILL_CLASS_COMMUNICATION},
        {0, 1, 100, 20, GEMM},
        {0, 2, 100, 10, GEMM},
        {0, 2, 120, 10, GEMM},
        {1, 0, 100, 10, "copy", MILL_CLASS_MEMORY},
        {1, 0, 110, 0, GEMM},
    };
    scene s;
    scene_init(&s, &FIXTURE(activities));
    mill_run *run = bench_services(s.b);
    g_assert_cmpuint(kit_primary_stream(run, &s.all, &s.all.devices[0]), ==, 1);
    g_assert_cmpuint(kit_primary_stream(run, &s.all, &s.all.devices[1]), ==, KIT_ALL_STREAMS);
    scene_finish(&s);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/gaps/random", test_random);
    g_test_add_func("/kit/gaps/absurd-sms", test_absurd_sms);
    g_test_add_func("/kit/gaps/cancelled", test_cancelled);
    g_test_add_func("/kit/gaps/primary-stream", test_primary_stream);
    return g_test_run();
}
