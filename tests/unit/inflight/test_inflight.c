/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `inflight` on small traces whose right values can be told by looking at them. */
#include "bench_host.h"
#include "fixture.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/attribution.h>

#define DISPATCH "deep_ep::internode_ll::dispatch<1>", MILL_CLASS_COMMUNICATION, "dispatch"
#define COMBINE "deep_ep::internode_ll::combine<1>", MILL_CLASS_COMMUNICATION, "combine"
#define EXPERTS "m_grouped_gemm", MILL_CLASS_COMPUTATION, NULL
#define GEMM "gemm", MILL_CLASS_COMPUTATION, NULL

static const mill_module *module;

static bench *new_bench(const char *setting) {
    bench *b = bench_create(module, "inflight");
    if (setting)
        bench_option(b, setting);
    return b;
}

static const mill_report *run(bench *b, const mill_trace *trace, const mill_attribution *places) {
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    if (places)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, places, "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

static const mill_report *report_of(bench *b, const fixture *f) {
    return run(b, fixture_trace(b, f), NULL);
}

static int64_t pairs_of(const fixture *f, const char *setting) {
    bench *b = new_bench(setting);
    int64_t pairs = look_int(report_of(b, f), "pairs", NULL);
    bench_destroy(b);
    return pairs;
}

/* A dispatch: sent 0–10, computing 12–40, received 45–60. And one whose receive is the shortest. */
static const activity two_dispatches[] = {
    {0, 7, 0, 10, DISPATCH},  {0, 7, 12, 28, GEMM},      {0, 7, 45, 15, DISPATCH},
    {0, 7, 60, 20, EXPERTS},  {0, 7, 100, 10, DISPATCH}, {0, 7, 110, 30, GEMM},
    {0, 7, 140, 5, DISPATCH}, {0, 7, 150, 20, EXPERTS},
};

static void test_figures(void) {
    static const struct {
        const char *id;
        int64_t value;
    } expected[] = {
        {"pairs", 2},          {"unpaired", 0},
        {"send", 20},          {"flight", 35 + 30},
        {"recv", 20},          {"recv_wait", 10},
        {"flight_hidden", 58}, {"flight_idle", 7},
        {"latency", 105},      {"exposed", 47},
        {"comm", 40},          {"comm_with_flight", 105},
        {"overlap", 0},        {"overlap_with_flight", 58},
        {"exposed_comm", 40},  {"exposed_comm_with_flight", 47},
        {"idle_in_flight", 7},
    };
    bench *b = new_bench(NULL);
    const mill_report *report = report_of(b, &FIXTURE(two_dispatches));
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_test_message("%s", expected[i].id);
        g_assert_cmpint(look_int(report, expected[i].id, NULL), ==, expected[i].value);
    }
    const mill_table *t = look_table(report, "transfers");
    g_assert_cmpint(look_cell(t, 0, "at_least").i, ==, 45);
    g_assert_cmpint(look_cell(t, 0, "at_most").i, ==, MILL_UNKNOWN);
    g_assert_cmpint(look_cell(t, 1, "at_least").i, ==, MILL_UNKNOWN);
    g_assert_cmpint(look_cell(t, 1, "at_most").i, ==, 30);
    bench_destroy(b);
}

static void test_off(void) {
    bench *b = new_bench("inflight=off");
    const mill_report *report = report_of(b, &FIXTURE(two_dispatches));
    g_assert_cmpint(look_int(report, "pairs", NULL), ==, 0);
    g_assert_cmpint(look_int(report, "comm_with_flight", NULL), ==, 40);
    g_assert_null(look_table(report, "groups"));
    bench_destroy(b);
}

/* The experts' computation tells where a cut profile begins; without it the first one sends. */
static void test_phase(void) {
    static const activity combines[] = {
        {0, 7, 0, 10, COMBINE},  {0, 7, 10, 20, GEMM}, {0, 7, 30, 10, EXPERTS},
        {0, 7, 40, 10, COMBINE}, {0, 7, 50, 20, GEMM}, {0, 7, 70, 10, COMBINE},
    };
    static const activity untold[] = {
        {0, 7, 0, 10, COMBINE}, {0, 7, 10, 20, GEMM},    {0, 7, 40, 10, COMBINE},
        {0, 7, 50, 20, GEMM},   {0, 7, 70, 10, COMBINE},
    };
    const fixture f[] = {
        FIXTURE(combines),
        FIXTURE(untold),
        {.activities = two_dispatches + 2, .n = 6, .described_device = MILL_UNKNOWN}};
    static const struct {
        const char *phase;
        int64_t start;
    } alone[] = {{"receive", 0}, {"send", 70}, {"receive", 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(f); i++) {
        bench *b = new_bench(NULL);
        const mill_report *report = report_of(b, &f[i]);
        const mill_table *t = look_table(report, "unpaired");
        g_assert_cmpint(look_int(report, "pairs", NULL), ==, 1);
        g_assert_cmpuint(t->rows, ==, 1);
        g_assert_cmpstr(look_cell(t, 0, "phase").text, ==, alone[i].phase);
        g_assert_cmpint(look_cell(t, 0, "start").i, ==, alone[i].start);
        bench_destroy(b);
    }
}

/* One kernel does both phases where the stream computes nothing between them. */
static void test_whole_kernels(void) {
    static const activity activities[] = {{0, 27, 0, 30, DISPATCH},
                                          {0, 7, 0, 90, GEMM},
                                          {0, 27, 40, 30, DISPATCH},
                                          {0, 27, 80, 30, DISPATCH}};
    bench *b = new_bench(NULL);
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "pairs", NULL), ==, 0);
    g_assert_cmpint(look_int(report, "unpaired", NULL), ==, 0);
    g_assert_cmpint(look_int(report, "comm_with_flight", NULL), ==, 90);
    g_assert_nonnull(look_note(report, "whole_kernels"));
    bench_destroy(b);
    g_assert_cmpint(pairs_of(&FIXTURE(activities), "inflight=on"), ==, 1);
}

/* Kernels of other grids are other transfers. */
static void test_groups(void) {
    static const activity activities[] = {{0, 7, 0, 10, DISPATCH, NULL, 96},  {0, 7, 10, 10, GEMM},
                                          {0, 7, 20, 10, DISPATCH, NULL, 24}, {0, 7, 30, 10, GEMM},
                                          {0, 7, 40, 10, DISPATCH, NULL, 96}, {0, 7, 50, 10, GEMM},
                                          {0, 7, 60, 10, DISPATCH, NULL, 24}};
    bench *b = new_bench(NULL);
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpuint(look_table(report, "groups")->rows, ==, 2);
    g_assert_cmpint(look_int(report, "flight", NULL), ==, 60);
    /* The flights 10–40 and 30–60 coincide: two lanes, and their union counts once. */
    g_assert_cmpuint(report->n_lanes, ==, 2);
    g_assert_cmpint(look_int(report, "comm_with_flight", NULL), ==, 70);
    bench_destroy(b);
}

static void test_fifo(void) {
    static const activity activities[] = {{0, 7, 0, 10, DISPATCH},  {0, 7, 10, 10, GEMM},
                                          {0, 7, 20, 10, DISPATCH}, {0, 7, 30, 10, GEMM},
                                          {0, 7, 40, 10, DISPATCH}, {0, 7, 50, 10, EXPERTS},
                                          {0, 7, 60, 10, DISPATCH}, {0, 7, 70, 10, EXPERTS}};
    bench *b = new_bench("pairing=fifo");
    bench_option(b, "depth=2");
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "pairs", NULL), ==, 2);
    g_assert_cmpint(look_int(report, "flight", NULL), ==, 60); /* 10–40 and 30–60 */
    bench_destroy(b);
}

static void test_too_far(void) {
    bench *b = new_bench("max-flight=32ns");
    const mill_report *report = report_of(b, &FIXTURE(two_dispatches));
    g_assert_cmpint(look_int(report, "pairs", NULL), ==, 1);
    g_assert_cmpint(look_int(report, "unpaired", NULL), ==, 2);
    g_assert_cmpstr(look_cell(look_table(report, "unpaired"), 0, "reason").text, ==,
                    "partner is further than max-flight");
    bench_destroy(b);
}

static void test_base(void) {
    bench *b = new_bench("recv-time=12ns");
    g_assert_cmpint(look_int(report_of(b, &FIXTURE(two_dispatches)), "recv_wait", NULL), ==, 3);
    bench_destroy(b);
    b = new_bench("recv-base=p10");
    g_assert_cmpint(look_int(report_of(b, &FIXTURE(two_dispatches)), "recv_wait", NULL), ==, 10);
    bench_destroy(b);
}

/* Names that tell the phases, in pairs of two names. */
static void test_names(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, "deep_ep::dispatch_ll_send", MILL_CLASS_COMMUNICATION, "dispatch"},
        {0, 7, 20, 10, "deep_ep::dispatch_ll_recv", MILL_CLASS_COMMUNICATION, "dispatch"},
        {0, 7, 40, 10, "deep_ep::dispatch_ll_both", MILL_CLASS_COMMUNICATION, "dispatch"}};
    bench *b = new_bench("pairing=annotation");
    bench_option(b, "send-regex=_send$");
    bench_option(b, "recv-regex=_recv$");
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "pairs", NULL), ==, 1);
    g_assert_cmpstr(look_cell(look_table(report, "unpaired"), 0, "reason").text, ==,
                    "neither send-regex nor recv-regex matches");
    bench_destroy(b);
}

/* To look on from each place that fits the beginning would take a minute. */
static void test_hostile_name(void) {
    g_autoptr(GString) name = g_string_new(NULL);
    for (int i = 0; i < 15000; i++)
        g_string_append(name, "deep_ep");
    const activity one[] = {{0, 7, 0, 10, name->str, MILL_CLASS_COMMUNICATION, "dispatch"}};
    bench *b = new_bench(NULL);
    g_assert_nonnull(look_note(report_of(b, &FIXTURE(one)), "no_candidates"));
    bench_destroy(b);
}

/* A step ends between the phases. */
static void test_steps(void) {
    static const uint32_t place[] = {0, 0, 1, 1, 1, 1, 1, 1}, none[] = {MILL_NONE, MILL_NONE};
    static const uint32_t step[] = {0, 1};
    static const int64_t number[] = {0, 1}, unknown[] = {MILL_UNKNOWN, MILL_UNKNOWN};
    static const uint8_t zero[] = {0, 0};
    const mill_attribution places = {
        .size = sizeof places,
        .n_rows = 8,
        .place = place,
        .n_places = 2,
        .annotation = none,
        .stage = none,
        .chunk = zero,
        .method = zero,
        .layer = unknown,
        .micro_batch = unknown,
        .step = step,
        .n_steps = 2,
        .step_number = number,
        .step_start = number,
        .step_end = number,
        .step_whole = zero,
        .step_annotation = none,
    };
    bench *b = new_bench(NULL);
    const mill_report *report = run(b, fixture_trace(b, &FIXTURE(two_dispatches)), &places);
    g_assert_cmpint(look_int(report, "pairs", NULL), ==, 1);
    g_assert_cmpstr(look_cell(look_table(report, "unpaired"), 0, "reason").text, ==,
                    "partner is in another step");
    bench_destroy(b);
}

static void test_devices_are_not_mixed(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, DISPATCH}, {1, 7, 20, 10, DISPATCH}, {0, 7, 30, 10, GEMM}};
    bench *b = new_bench("inflight=on");
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "pairs", "device 0"), ==, 0);
    g_assert_cmpint(look_int(report, "unpaired", "device 0"), ==, 1);
    g_assert_cmpint(look_int(report, "unpaired", "device 1"), ==, 1);
    bench_destroy(b);
}

static void test_nothing(void) {
    static const activity gemm[] = {{0, 7, 0, 10, GEMM}};
    fixture empty = {.described_device = MILL_UNKNOWN};
    bench *b = new_bench(NULL);
    const mill_report *report = report_of(b, &empty);
    g_assert_nonnull(look_note(report, "no_device_events"));
    bench_destroy(b);
    b = new_bench(NULL);
    report = report_of(b, &FIXTURE(gemm));
    g_assert_nonnull(look_note(report, "no_candidates"));
    g_assert_true(isnan(look_ratio(report, "overlap_over_comm_with_flight", NULL)));
    bench_destroy(b);
}

/* What the rules call computation can't be a transfer. */
static void test_not_communication(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, "deep_ep::internode_ll::dispatch", MILL_CLASS_COMPUTATION, NULL},
        {0, 7, 20, 10, "deep_ep::internode_ll::clean_low_latency_dispatch",
         MILL_CLASS_COMMUNICATION, "notify"}};
    bench *b = new_bench(NULL);
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_nonnull(strstr(look_note(report, "not_communication")->text, "1 kernels"));
    g_assert_null(look_table(report, "groups"));
    bench_destroy(b);
}

static void test_options(void) {
    bench *b = new_bench("depth=2");
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &FIXTURE(two_dispatches)), "trace",
                "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "pairing = fifo"));
    bench_destroy(b);
    b = new_bench("send-regex=x");
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &FIXTURE(two_dispatches)), "trace",
                "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    bench_destroy(b);
}

/* Any activities: what must hold between the figures. */
static void test_invariants(void) {
    static const activity sorts[] = {
        {0, 0, 0, 0, GEMM}, {0, 0, 0, 0, EXPERTS}, {0, 0, 0, 0, DISPATCH}, {0, 0, 0, 0, COMBINE}};
    static const char *const settings[] = {"inflight=auto", "inflight=on", "pairing=fifo"};
    for (int round = 0; round < 300; round++) {
        activity activities[60];
        size_t n = (size_t)g_test_rand_int_range(1, G_N_ELEMENTS(activities) + 1);
        int64_t phases = 0;
        for (size_t i = 0; i < n; i++) {
            activities[i] = sorts[g_test_rand_int_range(0, G_N_ELEMENTS(sorts))];
            activities[i].stream = g_test_rand_int_range(0, 2);
            activities[i].start = g_test_rand_int_range(0, 500);
            activities[i].dur = g_test_rand_int_range(0, 30);
            phases += activities[i].cls == MILL_CLASS_COMMUNICATION;
        }
        fixture f = {.activities = activities, .n = n, .described_device = MILL_UNKNOWN};
        bench *b = new_bench(settings[round % 3]);
        if (round % 3 == 2)
            bench_option(b, round % 2 ? "depth=2" : "depth=1");
        const mill_report *report = report_of(b, &f);
        int64_t pairs = look_int(report, "pairs", NULL);
        int64_t comm = look_int(report, "comm_with_flight", NULL);
        g_assert_cmpint(2 * pairs + look_int(report, "unpaired", NULL), <=, phases);
        g_assert_cmpint(look_int(report, "overlap_with_flight", NULL) +
                            look_int(report, "exposed_comm_with_flight", NULL),
                        ==, comm);
        g_assert_cmpint(comm, >=, look_int(report, "comm", NULL));
        g_assert_cmpint(look_int(report, "idle_in_flight", NULL), <=,
                        look_int(report, "idle", NULL));
        if (pairs > 0)
            g_assert_cmpint(look_int(report, "send", NULL) + look_int(report, "flight", NULL) +
                                look_int(report, "recv", NULL),
                            ==, look_int(report, "latency", NULL));
        uint64_t in_lanes = 0;
        for (uint64_t i = 0; i < report->n_lanes; i++) {
            const mill_lane *lane = report->lanes[i];
            in_lanes += lane->n;
            for (uint64_t k = 1; k < lane->n; k++)
                g_assert_cmpint(lane->end[k - 1], <=, lane->start[k]);
        }
        g_assert_cmpuint(in_lanes, ==, (uint64_t)pairs);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/inflight/inflight.so");
    g_test_add_func("/inflight/figures", test_figures);
    g_test_add_func("/inflight/off", test_off);
    g_test_add_func("/inflight/phase", test_phase);
    g_test_add_func("/inflight/whole-kernels", test_whole_kernels);
    g_test_add_func("/inflight/groups", test_groups);
    g_test_add_func("/inflight/fifo", test_fifo);
    g_test_add_func("/inflight/too-far", test_too_far);
    g_test_add_func("/inflight/base", test_base);
    g_test_add_func("/inflight/names", test_names);
    g_test_add_func("/inflight/hostile-name", test_hostile_name);
    g_test_add_func("/inflight/steps", test_steps);
    g_test_add_func("/inflight/devices-are-not-mixed", test_devices_are_not_mixed);
    g_test_add_func("/inflight/nothing", test_nothing);
    g_test_add_func("/inflight/not-communication", test_not_communication);
    g_test_add_func("/inflight/options", test_options);
    g_test_add_func("/inflight/invariants", test_invariants);
    return g_test_run();
}
