/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded waits: small programs whose right answer is plain, and random ones that are run on a
 * model of a device, which knows what each activity really waited for. */
#include "bench_host.h"

#include "fixture.h"

#include <tracemill/kit/gaps.h>

#define NONE KIT_NO_ACTIVITY

typedef struct scene {
    bench *b;
    mill_trace *trace;
    kit_activities all;
    kit_waits waits; /* of device 0 */
} scene;

static void scene_select(scene *s, const fixture *f, const kit_selection *selection) {
    s->b = bench_create(NULL, NULL);
    s->trace = fixture_trace(s->b, f);
    g_assert_cmpint(kit_activities_select(bench_services(s->b), s->trace, NULL, selection, &s->all),
                    ==, MILL_OK);
    g_assert_cmpint(kit_waits_init(&s->waits, bench_services(s->b), &s->all, &s->all.devices[0]),
                    ==, MILL_OK);
}

static void scene_init(scene *s, const fixture *f) {
    scene_select(s, f, &(kit_selection){.steps = ""});
}

static void scene_finish(scene *s) {
    kit_waits_finish(&s->waits);
    bench_destroy(s->b);
}

/* ---------------------------------------------------------------- by hand */

/* Computation on stream 7, communication on 27. */
#define ON_7(start, dur)                                                                           \
    { 0, 7, start, dur, "gemm", MILL_CLASS_COMPUTATION, NULL, NULL, 0 }
#define ON_27(start, dur)                                                                          \
    { 0, 27, start, dur, "comm", MILL_CLASS_COMMUNICATION, NULL, NULL, 0 }
#define ON_30(start, dur)                                                                          \
    { 0, 30, start, dur, "copy", MILL_CLASS_MEMORY, NULL, NULL, 0 }
#define LAUNCH(time, activity)                                                                     \
    { 1, time, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, activity }

static void check(const activity *activities, size_t n, const slice *slices, size_t n_slices,
                  const stream_wait *waits, size_t n_waits, const uint32_t *right) {
    const fixture f = {.activities = activities,
                       .n = n,
                       .slices = slices,
                       .n_slices = n_slices,
                       .waits = waits,
                       .n_waits = n_waits,
                       .described_device = MILL_UNKNOWN};
    scene s;
    scene_init(&s, &f);
    for (uint32_t i = 0; i < n; i++)
        g_assert_cmpuint(kit_waited_for(&s.waits, i), ==, right[i]);
    scene_finish(&s);
}

#define CHECK(activities, slices, waits, ...)                                                      \
    check(activities, G_N_ELEMENTS(activities), slices, G_N_ELEMENTS(slices), waits,               \
          G_N_ELEMENTS(waits), (const uint32_t[]){__VA_ARGS__})

static const activity three[] = {ON_7(100, 50), ON_7(150, 50), ON_27(210, 10)};

/* The record stands behind the first launch, not the second; that of the wait before the third. */
static void test_one(void) {
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(3, 2), LAUNCH(6, 3)};
    static const stream_wait first[] = {{27, 7, .records = 2, .waits = 5}};
    static const stream_wait second[] = {{27, 7, .records = 4, .waits = 5}};
    static const stream_wait both[] = {{27, 7, .records = 4, .waits = 5},
                                       {27, 7, .records = 2, .waits = 5}};
    static const stream_wait late[] = {{27, 7, .records = 4, .waits = 7}};
    static const stream_wait early[] = {{27, 7, .records = 0, .waits = 5}};
    static const stream_wait own[] = {{27, 27, .records = 4, .waits = 5}};
    CHECK(three, slices, first, NONE, NONE, 0);
    CHECK(three, slices, second, NONE, NONE, 1);
    CHECK(three, slices, both, NONE, NONE, 1);
    CHECK(three, slices, late, NONE, NONE, NONE);
    CHECK(three, slices, early, NONE, NONE, NONE);
    CHECK(three, slices, own, NONE, NONE, NONE);
}

/* What has the time of a record was launched before it: correlations say so. */
static void test_one_time(void) {
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(2, 2), LAUNCH(6, 3)};
    static const stream_wait waits[] = {{27, 7, .records = 2, .waits = 2}};
    CHECK(three, slices, waits, NONE, NONE, 1);
}

/* The launch of the second is not known: it comes with the first. That of the third is not known
 * either, so that nothing is known of its waits. */
static void test_unknown_launch(void) {
    static const slice first[] = {LAUNCH(1, 1), LAUNCH(6, 3)};
    static const slice none[] = {LAUNCH(1, 1), LAUNCH(3, 2)};
    static const stream_wait waits[] = {{27, 7, .records = 2, .waits = 5}};
    CHECK(three, first, waits, NONE, NONE, 1);
    CHECK(three, none, waits, NONE, NONE, NONE);
}

/* Stream 27 waits for 7, records, without any work of its own between: 30 waits for 7. */
static void test_through(void) {
    static const activity activities[] = {ON_27(50, 20), ON_7(100, 50), ON_30(160, 10)};
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(2, 2), LAUNCH(9, 3)};
    static const stream_wait waits[] = {{27, 7, .records = 3, .waits = 4},
                                        {30, 27, .records = 5, .waits = 6}};
    CHECK(activities, slices, waits, NONE, NONE, 1);
}

/* What takes no time is not waited for, but hands on what it waited for. */
static void test_no_time(void) {
    static const activity activities[] = {ON_7(100, 50), ON_27(150, 0), ON_30(160, 10)};
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(4, 2), LAUNCH(9, 3)};
    static const stream_wait waits[] = {{27, 7, .records = 2, .waits = 3},
                                        {30, 27, .records = 5, .waits = 6}};
    CHECK(activities, slices, waits, NONE, 0, 0);
}

/* Only the first one behind the wait, and of several events that which comes last. */
static void test_several(void) {
    static const activity activities[] = {ON_7(100, 50), ON_30(100, 90), ON_27(200, 10),
                                          ON_27(210, 10)};
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(2, 2), LAUNCH(7, 3), LAUNCH(8, 4)};
    static const stream_wait waits[] = {{27, 30, .records = 3, .waits = 4},
                                        {27, 7, .records = 5, .waits = 6}};
    CHECK(activities, slices, waits, NONE, NONE, 1, NONE);
}

/* What is cut off by the window is not there to be waited for. */
static void test_window(void) {
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(3, 2), LAUNCH(6, 3)};
    static const stream_wait waits[] = {{27, 7, .records = 2, .waits = 5}};
    const fixture f = {.activities = three,
                       .n = G_N_ELEMENTS(three),
                       .slices = slices,
                       .n_slices = G_N_ELEMENTS(slices),
                       .waits = waits,
                       .n_waits = 1,
                       .described_device = MILL_UNKNOWN};
    scene s;
    scene_select(&s, &f, &(kit_selection){.steps = "", .from = 50});
    g_assert_cmpuint(s.all.devices[0].n, ==, 2);
    g_assert_cmpuint(kit_waited_for(&s.waits, 0), ==, NONE);
    g_assert_cmpuint(kit_waited_for(&s.waits, 1), ==, NONE);
    scene_finish(&s);
    scene_select(&s, &f, &(kit_selection){.steps = "", .to = 100}); /* 27 has no activities */
    g_assert_cmpuint(kit_waited_for(&s.waits, 0), ==, NONE);
    scene_finish(&s);
}

/* A trace of a reader that knows nothing of them. */
static void test_older(void) {
    static const slice slices[] = {LAUNCH(1, 1), LAUNCH(3, 2), LAUNCH(6, 3)};
    static const stream_wait waits[] = {{27, 7, .records = 2, .waits = 5}};
    const fixture f = {.activities = three,
                       .n = G_N_ELEMENTS(three),
                       .slices = slices,
                       .n_slices = G_N_ELEMENTS(slices),
                       .waits = waits,
                       .n_waits = 1,
                       .described_device = MILL_UNKNOWN};
    scene s;
    scene_init(&s, &f);
    g_assert_nonnull(s.waits.v);
    kit_waits_finish(&s.waits);
    s.trace->size = offsetof(mill_trace, syncs);
    g_assert_cmpint(kit_waits_init(&s.waits, bench_services(s.b), &s.all, &s.all.devices[0]), ==,
                    MILL_OK);
    g_assert_null(s.waits.v);
    scene_finish(&s);
}

/* ---------------------------------------------------------------- gaps */

/* The cause of the gap between the two activities of stream 7: 100–150, and `start` on. The other
 * streams: communication 120–`comm_end`, a copy 120–`copy_end`. 7 waits for `waited`. */
static kit_gap gap_of(int64_t start, int64_t launch, int64_t comm_end, int64_t copy_end,
                      int64_t waited) {
    const activity activities[] = {ON_7(100, 50), ON_27(120, comm_end - 120),
                                   ON_30(120, copy_end - 120), ON_7(start, 50)};
    const slice slices[] = {LAUNCH(1, 1), LAUNCH(2, 2), LAUNCH(3, 3), LAUNCH(launch, 4)};
    const stream_wait waits[] = {{7, waited, .records = 5, .waits = 6}};
    const fixture f = {.activities = activities,
                       .n = G_N_ELEMENTS(activities),
                       .slices = slices,
                       .n_slices = G_N_ELEMENTS(slices),
                       .waits = waits,
                       .n_waits = waited ? 1 : 0,
                       .described_device = MILL_UNKNOWN};
    const kit_gap_rule rule = {.tolerance = 50, .kernel_gap = 10, .sm_share = 0.9};
    scene s;
    kit_gaps gaps;
    scene_init(&s, &f);
    g_assert_cmpint(kit_gaps_find(bench_services(s.b), &s.all, &s.all.devices[0], 0, &rule, &gaps),
                    ==, MILL_OK);
    g_assert_cmpuint(gaps.n, ==, 1);
    kit_gap gap = gaps.v[0];
    /* Numbers of streams instead of activities, which live no longer. */
    gap.blocker = gap.blocker == NONE
                      ? 0
                      : (uint32_t)s.all.streams[s.all.devices[0].v[gap.blocker].stream].id;
    scene_finish(&s);
    return gap;
}

static void assert_gap(kit_gap gap, kit_gap_cause cause, kit_gap_method method, uint32_t blocker) {
    g_assert_cmpint(gap.cause, ==, cause);
    g_assert_cmpint(gap.method, ==, method);
    g_assert_cmpuint(gap.blocker, ==, blocker);
}

static void test_gap(void) {
    /* Nothing recorded: the copy ended last. */
    assert_gap(gap_of(300, 7, 280, 290, 0), KIT_GAP_WAIT_COMPUTE, KIT_GAP_BY_TIMING, 30);
    /* Recorded: the communication, whatever else ended, and however long before. */
    assert_gap(gap_of(300, 7, 280, 290, 27), KIT_GAP_WAIT_COMM, KIT_GAP_RECORDED, 27);
    assert_gap(gap_of(300, 7, 200, 290, 27), KIT_GAP_WAIT_COMM, KIT_GAP_RECORDED, 27);
    assert_gap(gap_of(300, 7, 200, 290, 30), KIT_GAP_WAIT_COMPUTE, KIT_GAP_RECORDED, 30);
    /* It had ended before the gap began, or before the launch: it did not hold anything up, and
     * nothing else did by an event. */
    assert_gap(gap_of(300, 7, 150, 290, 27), KIT_GAP_UNEXPLAINED, KIT_GAP_RECORDED, 0);
    assert_gap(gap_of(300, 200, 190, 290, 27), KIT_GAP_UNEXPLAINED, KIT_GAP_RECORDED, 0);
    /* Short, and still a wait; or as short as it is by itself. */
    assert_gap(gap_of(155, 7, 152, 154, 27), KIT_GAP_WAIT_COMM, KIT_GAP_RECORDED, 27);
    assert_gap(gap_of(155, 7, 140, 154, 27), KIT_GAP_KERNEL, KIT_GAP_BY_LENGTH, 0);
    assert_gap(gap_of(300, 270, 280, 290, 27), KIT_GAP_WAIT_COMM, KIT_GAP_RECORDED, 27);
    assert_gap(gap_of(300, 270, 260, 290, 27), KIT_GAP_LAUNCH_LATENCY, KIT_GAP_BY_LENGTH, 0);
    /* The record can't be right: it had not ended yet. */
    assert_gap(gap_of(300, 7, 301, 290, 27), KIT_GAP_WAIT_COMPUTE, KIT_GAP_BY_TIMING, 30);
}

/* ---------------------------------------------------------------- a model of a device */

#define MOST 60
#define STREAMS 4

typedef struct model {
    activity activities[MOST];
    slice slices[MOST];
    stream_wait waits[MOST];
    size_t n, n_waits;
    int64_t free[STREAMS]; /* when the stream has done all it was told to do */
    int64_t held[STREAMS]; /* when all is done that it waits for */
} model;

/* A program of random calls, one each ns, and the times at which a device of any size would run
 * it. Activities start at once when they may. */
static void run_model(model *m) {
    int64_t recorded_at = 0, event = 0, recorded_on = 0;
    for (int64_t now = 1; now < MOST; now++) {
        int64_t stream = g_test_rand_int_range(0, STREAMS);
        switch (g_test_rand_int_range(0, 4)) {
        case 0:
            recorded_on = stream;
            recorded_at = now;
            event = MAX(m->free[stream], m->held[stream]);
            break;
        case 1:
            if (recorded_at == 0 || recorded_on == stream)
                break;
            m->waits[m->n_waits++] = (stream_wait){stream, recorded_on, now, recorded_at};
            m->held[stream] = MAX(m->held[stream], event);
            break;
        default: {
            int64_t start = MAX(now, MAX(m->free[stream], m->held[stream]));
            bool comm = g_test_rand_int_range(0, 2);
            m->slices[m->n] = (slice)LAUNCH(now, (int64_t)m->n + 1);
            m->activities[m->n++] = (activity){
                .stream = stream,
                .start = start,
                .dur = g_test_rand_int_range(1, 30),
                .name = comm ? "comm" : "gemm",
                .cls = comm ? MILL_CLASS_COMMUNICATION : MILL_CLASS_COMPUTATION,
            };
            m->free[stream] = start + m->activities[m->n - 1].dur;
        }
        }
    }
}

/* Whatever started later than its launch and its stream allowed waited for another stream, until
 * just then; so also every gap. */
static int check_model(scene *s) {
    const kit_device *device = &s->all.devices[0];
    int64_t ends[STREAMS] = {0};
    int n = 0;
    for (uint32_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        int64_t launch = mill_i64(s->trace, &s->trace->cpu.start,
                                  mill_u32(s->trace, &s->trace->gpu.launch, a->row));
        uint32_t waited = kit_waited_for(&s->waits, i);
        if (waited != NONE) {
            g_assert_cmpint(device->v[waited].end, <=, a->start);
            g_assert_cmpuint(device->v[waited].stream, !=, a->stream);
        }
        if (a->start > MAX(launch, ends[a->stream])) {
            g_assert_cmpuint(waited, !=, NONE);
            g_assert_cmpint(device->v[waited].end, ==, a->start);
            n++;
        }
        ends[a->stream] = a->end;
    }
    kit_gaps *gaps;
    const kit_gap_rule rule = {.tolerance = 3, .kernel_gap = 2, .sm_share = 0.9};
    g_assert_cmpint(kit_gaps_find_each(bench_services(s->b), &s->all, &rule, &gaps), ==, MILL_OK);
    for (size_t k = 0; k < s->all.n_streams; k++)
        for (size_t i = 0; i < gaps[k].n; i++) {
            const kit_gap *gap = &gaps[k].v[i];
            if (gap->ready == gap->end)
                continue; /* it was launched only then */
            g_assert_cmpint(gap->method, ==, KIT_GAP_RECORDED);
            g_assert_cmpint(device->v[gap->blocker].end, ==, gap->end);
            bool comm = device->v[gap->blocker].cls == KIT_COMM;
            g_assert_cmpint(gap->cause, ==, comm ? KIT_GAP_WAIT_COMM : KIT_GAP_WAIT_COMPUTE);
        }
    return n;
}

static void test_model(void) {
    int n = 0;
    for (int round = 0; round < 1000; round++) {
        model m = {0};
        run_model(&m);
        const fixture f = {.activities = m.activities,
                           .n = m.n,
                           .slices = m.slices,
                           .n_slices = m.n,
                           .waits = m.waits,
                           .n_waits = m.n_waits,
                           .described_device = MILL_UNKNOWN};
        scene s;
        scene_init(&s, &f);
        n += check_model(&s);
        scene_finish(&s);
    }
    g_assert_cmpint(n, >, 1000);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/waits/one", test_one);
    g_test_add_func("/waits/one-time", test_one_time);
    g_test_add_func("/waits/unknown-launch", test_unknown_launch);
    g_test_add_func("/waits/through", test_through);
    g_test_add_func("/waits/no-time", test_no_time);
    g_test_add_func("/waits/several", test_several);
    g_test_add_func("/waits/window", test_window);
    g_test_add_func("/waits/older", test_older);
    g_test_add_func("/waits/gap", test_gap);
    g_test_add_func("/waits/model", test_model);
    return g_test_run();
}
