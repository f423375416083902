/* SPDX-License-Identifier: Apache-2.0 */
/* The selection of activities: steps, windows, classes, devices; and against a naive one. */
#include "fixture.h"

#include <string.h>
#include <tracemill/kit/activities.h>

#define GEMM "gemm", MILL_CLASS_COMPUTATION, NULL, NULL
#define REDUCE "reduce", MILL_CLASS_COMMUNICATION, "all-reduce", NULL
#define NOTIFY "notify", MILL_CLASS_COMMUNICATION, "notify", NULL
#define COPY "copy", MILL_CLASS_MEMORY, NULL, NULL
#define SPIN "spin", MILL_CLASS_OTHER, NULL, NULL
#define STEPS 3

/* Steps 10, 11 and 12, at [0, 100), [100, 200) and [200, 300) on the CPU; the last is cut. Place i
 * is in step i, the last place in none. */
static const uint32_t no_row[STEPS + 1] = {MILL_NONE, MILL_NONE, MILL_NONE, MILL_NONE};
static const uint32_t stage_of_place[] = {0, MILL_NONE, MILL_NONE, MILL_NONE};
static const uint32_t step_of_place[] = {0, 1, 2, MILL_NONE};
static const char *const stage_names[] = {"attn(F)"};
static const int64_t step_numbers[] = {10, 11, 12}, step_starts[] = {0, 100, 200},
                     step_ends[] = {100, 200, 300};
static const uint8_t step_wholes[] = {1, 1, 0};

static mill_attribution places_of(const uint32_t *place, size_t n) {
    return (mill_attribution){
        .size = sizeof(mill_attribution),
        .n_rows = n,
        .place = place,
        .n_places = STEPS + 1,
        .annotation = no_row,
        .stage = stage_of_place,
        .step = step_of_place,
        .n_stages = 1,
        .stages = stage_names,
        .n_steps = STEPS,
        .step_number = step_numbers,
        .step_start = step_starts,
        .step_end = step_ends,
        .step_whole = step_wholes,
        .step_annotation = no_row,
    };
}

static const kit_selection everything = {.steps = ""};

static kit_activities selected(bench *b, const fixture *f, const mill_attribution *places,
                               const kit_selection *selection) {
    kit_activities all;
    mill_status status =
        kit_activities_select(bench_services(b), fixture_trace(b, f), places, selection, &all);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return all;
}

static void assert_set(const kit_device *device, kit_class cls, size_t n, int64_t length) {
    g_assert_cmpuint(device->sets[cls].n, ==, n);
    g_assert_cmpint(kit_intervals_length(device->sets[cls].v, n), ==, length);
}

/* ---------------------------------------------------------------- all of it */

/* Devices and streams by their numbers, whatever the order of the file. */
static void test_everything(void) {
    static const activity activities[] = {
        {3, 9, 5, 10, REDUCE}, {1, 8, 0, 10, GEMM}, {3, 7, 0, 10, GEMM},
        {3, 7, 10, 10, GEMM},  {3, 7, 30, 0, COPY}, {1, 8, 4, 2, SPIN},
    };
    fixture f = FIXTURE(activities);
    f.described_device = 2; /* nothing runs there */
    bench *b = bench_create(NULL, NULL);
    kit_activities all = selected(b, &f, NULL, &everything);
    g_assert_cmpuint(all.n_devices, ==, 2);
    g_assert_cmpint(all.devices[0].id, ==, 1);
    g_assert_cmpint(all.devices[1].id, ==, 3);
    g_assert_cmpstr(all.devices[1].number, ==, "3");
    g_assert_cmpuint(all.n_streams, ==, 3);
    g_assert_cmpint(all.streams[0].id, ==, 8);
    g_assert_cmpint(all.streams[1].id, ==, 7);
    g_assert_cmpint(all.streams[2].id, ==, 9);
    g_assert_cmpuint(all.streams[2].device, ==, 1);
    g_assert_cmpuint(all.streams[1].n, ==, 3);
    g_assert_cmpuint(all.left_out, ==, 0);
    g_assert_null(all.step_used);

    const kit_device *device = &all.devices[1];
    g_assert_cmpuint(device->n, ==, 4);
    g_assert_cmpint(device->window.start, ==, 0);
    g_assert_cmpint(device->window.end, ==, 30);
    g_assert_cmpint(device->v[1].start, ==, 5);
    g_assert_cmpint(device->v[1].cls, ==, KIT_COMM);
    g_assert_cmpuint(device->v[1].stream, ==, 2);
    g_assert_cmpuint(device->v[1].place, ==, MILL_NONE);
    g_assert_cmpint(device->v[3].cat, ==, MILL_GPU_MEMCPY);
    assert_set(device, KIT_COMP, 1, 20); /* those that touch are one */
    assert_set(device, KIT_COMM, 1, 10);
    assert_set(device, KIT_MEM, 0, 0); /* no length */
    assert_set(&all.devices[0], KIT_OTHER, 1, 2);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- steps */

static const activity five[] = {{0, 7, 50, 10, GEMM},
                                {0, 7, 150, 10, GEMM},
                                {0, 7, 190, 20, REDUCE},
                                {0, 7, 250, 10, GEMM},
                                {0, 7, 400, 10, GEMM}};
static const uint32_t five_places[] = {0, 1, 1, 2, 3};

static void test_steps(void) {
    static const struct {
        kit_selection selection;
        uint64_t n_steps;
        size_t n;
        kit_interval window;
    } right[] = {
        {{.steps = "all"}, 3, 4, {50, 260}},
        {{.steps = "11"}, 1, 2, {150, 210}},
        {{.steps = "11-12"}, 2, 3, {150, 260}},
        {{.steps = "0-10"}, 1, 1, {50, 60}},
        {{.steps = "all", .warm_up = 1}, 2, 3, {150, 260}},
        {{.steps = "10-11", .warm_up = 1}, 1, 2, {150, 210}},
        {{.steps = "all", .whole_steps = true}, 2, 3, {50, 210}},
    };
    const mill_attribution places = places_of(five_places, G_N_ELEMENTS(five));
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        bench *b = bench_create(NULL, NULL);
        kit_activities all = selected(b, &FIXTURE(five), &places, &right[i].selection);
        g_assert_cmpuint(all.n_steps, ==, right[i].n_steps);
        g_assert_cmpuint(all.devices[0].n, ==, right[i].n);
        g_assert_cmpuint(all.left_out, ==, G_N_ELEMENTS(five) - right[i].n);
        g_assert_cmpint(all.devices[0].window.start, ==, right[i].window.start);
        g_assert_cmpint(all.devices[0].window.end, ==, right[i].window.end);
        uint64_t used = 0;
        for (int s = 0; s < STEPS; s++)
            used += all.step_used[s];
        g_assert_cmpuint(used, ==, right[i].n_steps);
        bench_destroy(b);
    }
}

/* Without steps to select, activities of no step belong too, and keep their places. */
static void test_places(void) {
    const mill_attribution places = places_of(five_places, G_N_ELEMENTS(five));
    bench *b = bench_create(NULL, NULL);
    kit_activities all = selected(b, &FIXTURE(five), &places, &everything);
    g_assert_cmpuint(all.devices[0].n, ==, 5);
    for (size_t i = 0; i < G_N_ELEMENTS(five); i++)
        g_assert_cmpuint(all.devices[0].v[i].place, ==, five_places[i]);
    g_assert_cmpstr(kit_stage_name(&all, 0), ==, "attn(F)");
    g_assert_null(kit_stage_name(&all, 1));
    g_assert_null(kit_stage_name(&all, MILL_NONE));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- windows */

/* The CPU interval of step 11 is [100, 200): what runs on is cut, what comes later is lost. */
static void test_clip(void) {
    static const activity activities[] = {{0, 7, 90, 30, GEMM},
                                          {0, 8, 95, 10, GEMM},
                                          {0, 7, 150, 10, REDUCE},
                                          {0, 7, 190, 20, GEMM},
                                          {0, 7, 230, 10, GEMM}};
    static const uint32_t place[] = {1, 1, 1, 1, 1};
    const mill_attribution places = places_of(place, G_N_ELEMENTS(place));
    const kit_selection clip = {.steps = "11", .clip = KIT_CLIP_CPU};
    bench *b = bench_create(NULL, NULL);
    kit_activities all = selected(b, &FIXTURE(activities), &places, &clip);
    const kit_device *device = &all.devices[0];
    g_assert_cmpint(device->window.start, ==, 100);
    g_assert_cmpint(device->window.end, ==, 200);
    g_assert_cmpuint(device->n, ==, 4);
    g_assert_cmpint(device->v[0].end, ==, 105); /* by the end, where cutting makes starts equal */
    g_assert_cmpint(device->v[1].start, ==, 100);
    g_assert_cmpint(device->v[1].end, ==, 120);
    g_assert_cmpint(device->v[3].end, ==, 200);
    assert_set(device, KIT_COMP, 2, 30);
    g_assert_cmpuint(all.left_out, ==, 1);
    bench_destroy(b);
}

/* From each device's own first activity. */
static void test_from_to(void) {
    static const activity activities[] = {{0, 7, 1000, 10, GEMM},
                                          {0, 7, 1010, 0, COPY},
                                          {0, 7, 1020, 20, GEMM},
                                          {1, 7, 50, 20, GEMM},
                                          {1, 7, 90, 0, COPY}};
    const kit_selection window = {.steps = "", .from = 5, .to = 25};
    bench *b = bench_create(NULL, NULL);
    kit_activities all = selected(b, &FIXTURE(activities), NULL, &window);
    g_assert_cmpint(all.devices[0].window.start, ==, 1005);
    g_assert_cmpint(all.devices[0].window.end, ==, 1025);
    g_assert_cmpuint(all.devices[0].n, ==, 3);
    assert_set(&all.devices[0], KIT_COMP, 2, 10);
    g_assert_cmpint(all.devices[1].window.start, ==, 55);
    g_assert_cmpint(all.devices[1].window.end, ==, 75);
    g_assert_cmpuint(all.devices[1].n, ==, 1);
    g_assert_cmpuint(all.left_out, ==, 1);
    bench_destroy(b);

    /* Beyond the last end there is nothing; a late `to` changes nothing. */
    const kit_selection beyond = {.steps = "", .from = 4000}, late = {.steps = "", .to = 4000};
    b = bench_create(NULL, NULL);
    all = selected(b, &FIXTURE(activities), NULL, &beyond);
    g_assert_cmpuint(all.left_out, ==, 5); /* nor a copy of no length at the last end */
    all = selected(b, &FIXTURE(activities), NULL, &late);
    g_assert_cmpuint(all.left_out, ==, 0);
    g_assert_cmpint(all.devices[1].window.end, ==, 90);
    bench_destroy(b);
}

/* A copy of no length where two windows meet, be it the last end or not, is in the second one. */
static void test_side_by_side(void) {
    static const activity activities[] = {
        {0, 7, 100, 10, GEMM}, {0, 7, 110, 0, COPY}, {0, 7, 110, 20, GEMM}, {0, 7, 130, 0, COPY}};
    static const struct {
        int64_t from, to;
        uint64_t n;
    } windows[] = {
        {0, 10, 1}, {10, 30, 2}, {10, 0, 3}, {30, 0, 1}, {30, 31, 1},
        {31, 0, 0}, {0, 30, 3},  {0, 31, 4}, {0, 0, 4},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(windows); i++) {
        const kit_selection window = {.steps = "", .from = windows[i].from, .to = windows[i].to};
        bench *b = bench_create(NULL, NULL);
        kit_activities all = selected(b, &FIXTURE(activities), NULL, &window);
        g_assert_cmpuint(all.left_out, ==, G_N_ELEMENTS(activities) - windows[i].n);
        bench_destroy(b);
    }
}

/* ---------------------------------------------------------------- classes */

static void test_kinds(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, REDUCE},
        {0, 7, 10, 10, NOTIFY},
        {0, 9, 20, 10, GEMM},
        {0, 9, 30, 10, NOTIFY},
        {0, 7, 40, 10, "reduce", MILL_CLASS_COMMUNICATION, "all-reduce",
         "notify"}, /* by metadata */
    };
    static const char *const kinds[] = {"notify"};
    static const int64_t streams[] = {9};
    bench *b = bench_create(NULL, NULL);
    const kit_selection some = {.steps = "", .communication = {kinds, 1}};
    kit_activities all = selected(b, &FIXTURE(activities), NULL, &some);
    static const uint8_t by_kind[] = {KIT_COMP, KIT_COMM, KIT_COMP, KIT_COMM, KIT_COMM};
    for (size_t i = 0; i < G_N_ELEMENTS(by_kind); i++)
        g_assert_cmpint(all.devices[0].v[i].cls, ==, by_kind[i]);
    g_assert_cmpstr(kit_kind_name(&all, all.devices[0].v[0].kind), ==, "all-reduce");
    g_assert_cmpstr(kit_kind_name(&all, all.devices[0].v[2].kind), ==, "(no kind)");
    g_assert_cmpstr(kit_kind_name(&all, all.devices[0].v[4].kind), ==, "notify");

    /* What a stream's option says wins, and a kind that is communication's own is kept. */
    const kit_selection by_stream = {.steps = "", .streams = {streams, 1}};
    all = selected(b, &FIXTURE(activities), NULL, &by_stream);
    g_assert_cmpint(all.devices[0].v[2].cls, ==, KIT_COMM);
    g_assert_cmpstr(kit_kind_name(&all, all.devices[0].v[2].kind), ==, "(by stream)");
    g_assert_cmpstr(kit_kind_name(&all, all.devices[0].v[3].kind), ==, "notify");
    g_assert_true(all.streams[1].named);
    bench_destroy(b);
}

static void test_sms(void) {
    static const activity activities[] = {{0, 7, 0, 10, GEMM, 20},
                                          {0, 7, 10, 10, GEMM, 500},
                                          {0, 7, 20, 10, GEMM, 0},
                                          {1, 7, 0, 10, GEMM, 20}};
    fixture f = FIXTURE(activities);
    f.sms = 132;
    bench *b = bench_create(NULL, NULL);
    kit_activities all = selected(b, &f, NULL, &everything);
    static const int64_t right[] = {20, 132, 0};
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++)
        g_assert_cmpint(kit_activity_sms(&all, &all.devices[0], &all.devices[0].v[i]), ==,
                        right[i]);
    g_assert_cmpint(kit_activity_sms(&all, &all.devices[1], &all.devices[1].v[0]), ==, 0);
    g_autofree uint32_t *sms = kit_device_sms(&all, &all.devices[0]);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++)
        g_assert_cmpint(sms[i], ==, right[i]);
    g_assert_null(kit_device_sms(&all, &all.devices[1])); /* it is not described */
    bench_destroy(b);
}

/* ---------------------------------------------------------------- sets of groups */

static uint32_t stream_group(const void *context, const kit_activity *a) {
    (void)context;
    return a->stream < 2 ? a->stream : MILL_NONE;
}

static void test_groups(void) {
    static const activity activities[] = {{0, 7, 0, 10, GEMM},   {0, 8, 5, 10, GEMM},
                                          {0, 7, 10, 5, REDUCE}, {0, 9, 12, 5, GEMM},
                                          {0, 7, 20, 0, GEMM},   {0, 7, 30, 5, COPY}};
    bench *b = bench_create(NULL, NULL);
    kit_activities all = selected(b, &FIXTURE(activities), NULL, &everything);
    kit_set sets[2];
    kit_sets_of(bench_services(b), &all.devices[0], stream_group, NULL, sets, 2);
    static const kit_interval first[] = {{0, 15}, {30, 35}}, second[] = {{5, 15}};
    g_assert_cmpmem(sets[0].v, sets[0].n * sizeof *sets[0].v, first, sizeof first);
    g_assert_cmpmem(sets[1].v, sets[1].n * sizeof *sets[1].v, second, sizeof second);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- refusals */

static void test_refused(void) {
    static const char *const kinds[] = {"gossip"};
    static const struct {
        kit_selection selection;
        bool places;
        mill_status status;
        const char *words;
    } bad[] = {
        {{.steps = "", .warm_up = 1}, true, MILL_E_CONFIG, "need `steps`: set steps = all"},
        {{.steps = "", .whole_steps = true}, true, MILL_E_CONFIG, "need `steps`"},
        {{.steps = "", .clip = KIT_CLIP_CPU}, true, MILL_E_CONFIG, "need `steps`"},
        {{.steps = "all"}, false, MILL_E_CONFIG, "connect the input `attribution`"},
        {{.steps = "two"}, true, MILL_E_CONFIG, "steps = two is none of"},
        {{.steps = "2-"}, true, MILL_E_CONFIG, "steps = 2- is none of"},
        {{.steps = "-2"}, true, MILL_E_CONFIG, "steps = -2 is none of"},
        {{.steps = "1-2-3"}, true, MILL_E_CONFIG, "steps = 1-2-3 is none of"},
        {{.steps = "99999999999999999999"}, true, MILL_E_CONFIG, "is none of"},
        {{.steps = "13"}, true, MILL_E_DATA, "leaves none of the 3 steps (10 to 12)"},
        {{.steps = "12-11"}, true, MILL_E_CONFIG, "ends before it begins: write 11-12"},
        {{.steps = "all", .warm_up = 3}, true, MILL_E_DATA, "with warm-up = 3 leaves none"},
        {{.steps = "", .from = 5, .to = 5}, true, MILL_E_CONFIG, "the window is empty"},
        {{.steps = "", .communication = {kinds, 1}},
         true,
         MILL_E_CONFIG,
         "communication = gossip: no rule of the trace has a kind of that name"},
    };
    const mill_attribution places = places_of(five_places, G_N_ELEMENTS(five));
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        bench *b = bench_create(NULL, NULL);
        kit_activities all;
        mill_status status =
            kit_activities_select(bench_services(b), fixture_trace(b, &FIXTURE(five)),
                                  bad[i].places ? &places : NULL, &bad[i].selection, &all);
        g_test_message("%s", bad[i].words);
        g_assert_cmpint(status, ==, bad[i].status);
        g_assert_nonnull(strstr(bench_causes(b), bad[i].words));
        bench_destroy(b);
    }
}

static void assert_refused(const fixture *f, const mill_attribution *places,
                           const kit_selection *selection, const char *words) {
    bench *b = bench_create(NULL, NULL);
    kit_activities all;
    g_assert_cmpint(
        kit_activities_select(bench_services(b), fixture_trace(b, f), places, selection, &all), ==,
        MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), words));
    bench_destroy(b);
}

static void test_refused_data(void) {
    static const activity far_apart[] = {{0, 1, -(INT64_MAX / 3 * 2), 5, GEMM},
                                         {0, 2, INT64_MAX / 3 * 2, 5, GEMM}};
    assert_refused(&FIXTURE(far_apart), NULL, &everything, "span more than 146 years");
    const mill_attribution other = places_of(five_places, 4);
    assert_refused(&FIXTURE(five), &other, &everything, "of another trace (4 activities, here 5)");
    static const uint32_t slices[STEPS + 1] = {MILL_NONE, 7};
    mill_attribution elsewhere = places_of(five_places, G_N_ELEMENTS(five));
    elsewhere.annotation = slices;
    assert_refused(&FIXTURE(five), &elsewhere, &everything, "it names CPU slice 7 of 0");
    mill_attribution no_steps = places_of(five_places, G_N_ELEMENTS(five));
    no_steps.n_steps = 0;
    assert_refused(&FIXTURE(five), &no_steps, &(kit_selection){.steps = "all"},
                   "the trace has no profiler steps");
}

static void test_cancelled(void) {
    bench *b = bench_create(NULL, NULL);
    kit_activities all;
    bench_cancel_at(b, 1);
    g_assert_cmpint(kit_activities_select(bench_services(b), fixture_trace(b, &FIXTURE(five)), NULL,
                                          &everything, &all),
                    ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- against a naive selection */

typedef struct round {
    activity activities[40];
    uint32_t place[40];
    size_t n;
    kit_selection selection;
} round;

static void random_round(round *r) {
    static const activity sorts[] = {
        {0, 0, 0, 0, GEMM}, {0, 0, 0, 0, REDUCE}, {0, 0, 0, 0, COPY}, {0, 0, 0, 0, SPIN}};
    static const char *const steps[] = {"", "all", "11", "10-11"};
    *r = (round){.n = (size_t)g_test_rand_int_range(1, 41)};
    int64_t start = 0;
    for (size_t i = 0; i < r->n; i++) { /* starts apart, so that rows are known beforehand */
        start += g_test_rand_int_range(1, 15);
        r->activities[i] = sorts[g_test_rand_int_range(0, G_N_ELEMENTS(sorts))];
        r->activities[i].device = g_test_rand_int_range(0, 2);
        r->activities[i].stream = g_test_rand_int_range(0, 3);
        r->activities[i].start = start;
        r->activities[i].dur = g_test_rand_int_range(0, 40);
        r->place[i] = (uint32_t)g_test_rand_int_range(0, STEPS + 1);
    }
    r->place[0] = 1; /* so that no selection is empty */
    r->selection.steps = steps[g_test_rand_int_range(0, G_N_ELEMENTS(steps))];
    if (r->selection.steps[0])
        r->selection.clip = g_test_rand_int_range(0, 2);
    if (g_test_rand_bit())
        r->selection.from = g_test_rand_int_range(0, 100);
    if (g_test_rand_bit())
        r->selection.to = r->selection.from + g_test_rand_int_range(1, 200);
}

static bool takes(const round *r, size_t i) {
    const char *steps = r->selection.steps;
    uint32_t place = r->place[i];
    return !steps[0] || (!strcmp(steps, "all") && place < STEPS) || place == 1 ||
           (!strcmp(steps, "10-11") && place == 0);
}

static kit_interval window_of(const round *r, int64_t device) {
    static const int64_t first_step[] = {0, 0, 100, 0}, last_step[] = {0, 300, 200, 200};
    static const char *const steps[] = {"", "all", "11", "10-11"};
    kit_interval span = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < r->n; i++) {
        const activity *a = &r->activities[i];
        if (a->device != device || !takes(r, i))
            continue;
        span.start = MIN(span.start, a->start);
        span.end = MAX(span.end, a->start + a->dur);
    }
    kit_interval window = span;
    for (int s = 0; r->selection.clip && s < 4; s++)
        if (!strcmp(steps[s], r->selection.steps))
            window = (kit_interval){first_step[s], last_step[s]};
    if (r->selection.from)
        window.start = MIN(span.start + r->selection.from, span.end);
    if (r->selection.to && r->selection.to < span.end - span.start)
        window.end = span.start + r->selection.to;
    window.end = MAX(window.start, window.end);
    return window;
}

/* Nothing of no length stands where a window that is cut ends, or where one begins behind it. */
static bool belongs(const round *r, const activity *a, int64_t device, const kit_interval *window) {
    if (a->dur > 0)
        return MAX(a->start, window->start) < MIN(a->start + a->dur, window->end);
    const kit_selection *o = &r->selection;
    int64_t first = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < r->n; i++)
        if (r->activities[i].device == device && takes(r, i)) {
            first = MIN(first, r->activities[i].start);
            end = MAX(end, r->activities[i].start + r->activities[i].dur);
        }
    bool is_cut = o->clip || (o->to && o->to < end - first);
    bool late = (o->to && a->start >= first + o->to) || (is_cut && a->start >= window->end);
    bool early = o->from ? a->start < first + o->from : a->start < window->start;
    return !late && !early;
}

static void test_random(void) {
    for (int n = 0; n < 2000; n++) {
        round r;
        random_round(&r);
        fixture f = {.activities = r.activities, .n = r.n, .described_device = MILL_UNKNOWN};
        const mill_attribution places = places_of(r.place, r.n);
        bench *b = bench_create(NULL, NULL);
        kit_activities all = selected(b, &f, &places, &r.selection);
        uint64_t kept = 0;
        for (size_t d = 0; d < all.n_devices; d++) {
            const kit_device *device = &all.devices[d];
            kit_interval window = window_of(&r, device->id);
            g_assert_cmpint(device->window.start, ==, window.start);
            g_assert_cmpint(device->window.end, ==, window.end);
            size_t expected = 0;
            for (size_t i = 0; i < r.n; i++) {
                const activity *a = &r.activities[i];
                expected +=
                    a->device == device->id && takes(&r, i) && belongs(&r, a, device->id, &window);
            }
            g_assert_cmpuint(device->n, ==, expected);
            for (size_t k = 0; k < device->n; k++) {
                const kit_activity *a = &device->v[k];
                const activity *from = &r.activities[a->row];
                bool none = from->dur == 0;
                g_assert_cmpint(a->start, ==, none ? from->start : MAX(from->start, window.start));
                g_assert_cmpint(a->end, ==,
                                none ? from->start : MIN(from->start + from->dur, window.end));
                g_assert_cmpint(all.streams[a->stream].id, ==, from->stream);
                g_assert_cmpuint(all.streams[a->stream].device, ==, d);
                g_assert_cmpuint(a->place, ==, r.place[a->row]);
                g_assert_true(
                    k == 0 || device->v[k - 1].start < a->start ||
                    (device->v[k - 1].start == a->start && device->v[k - 1].end <= a->end));
            }
            kept += device->n;
        }
        g_assert_cmpuint(kept + all.left_out, ==, r.n);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/activities/everything", test_everything);
    g_test_add_func("/activities/steps", test_steps);
    g_test_add_func("/activities/places", test_places);
    g_test_add_func("/activities/clip", test_clip);
    g_test_add_func("/activities/from-to", test_from_to);
    g_test_add_func("/activities/side-by-side", test_side_by_side);
    g_test_add_func("/activities/kinds", test_kinds);
    g_test_add_func("/activities/sms", test_sms);
    g_test_add_func("/activities/groups", test_groups);
    g_test_add_func("/activities/refused", test_refused);
    g_test_add_func("/activities/refused-data", test_refused_data);
    g_test_add_func("/activities/cancelled", test_cancelled);
    g_test_add_func("/activities/random", test_random);
    return g_test_run();
}
