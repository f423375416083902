/* SPDX-License-Identifier: Apache-2.0 */
/* The stage classes `chunks` and `chunks.join` on values whose right results can be told by looking
 * at them. */
#include "bench_host.h"
#include "fixture.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>

#define GEMM "gemm", MILL_CLASS_COMPUTATION, NULL
#define SEND "dispatch", MILL_CLASS_COMMUNICATION, "dispatch"
#define NOTIFY "notify", MILL_CLASS_COMMUNICATION, "notify"
#define U MILL_UNKNOWN

static const mill_module *module;

/* What one place of a trace is. */
typedef struct place {
    uint8_t chunk;
    uint32_t stage, step;
    int64_t layer, micro_batch;
    uint8_t method;
} place;

/* of: the place of each row, or NULL: that of the same number. Rows stand in the order of (start,
 * end), as the fixtures here do. */
static mill_attribution *places_of(bench *b, const place *list, size_t n, const uint32_t *of,
                                   size_t rows) {
    static const char *const stages[] = {"s0", "s1"};
    static const int64_t steps[] = {1, 2, 3};
    mill_run *run = bench_services(b);
    mill_attribution *p = mill_value_alloc(run, NULL, sizeof *p);
    uint32_t *row = mill_value_alloc(run, p, rows * sizeof *row);
    uint32_t *annotation = mill_value_alloc(run, p, n * sizeof *annotation);
    uint32_t *stage = mill_value_alloc(run, p, n * sizeof *stage);
    uint32_t *step = mill_value_alloc(run, p, n * sizeof *step);
    uint8_t *chunk = mill_value_alloc(run, p, n), *method = mill_value_alloc(run, p, n);
    int64_t *layer = mill_value_alloc(run, p, n * sizeof *layer);
    int64_t *micro_batch = mill_value_alloc(run, p, n * sizeof *micro_batch);
    for (size_t i = 0; i < rows; i++)
        row[i] = of ? of[i] : (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        annotation[i] = (uint32_t)i;
        chunk[i] = list[i].chunk;
        stage[i] = list[i].stage;
        step[i] = list[i].step;
        layer[i] = list[i].layer;
        micro_batch[i] = list[i].micro_batch;
        method[i] = list[i].method ? list[i].method : MILL_METHOD_ANNOTATION;
    }
    *p = (mill_attribution){
        .size = sizeof *p,
        .n_rows = rows,
        .place = row,
        .n_places = n,
        .annotation = annotation,
        .stage = stage,
        .chunk = chunk,
        .method = method,
        .layer = layer,
        .micro_batch = micro_batch,
        .step = step,
        .n_stages = 2,
        .stages = stages,
        .n_steps = 3,
        .step_number = steps,
        .step_start = steps,
        .step_end = steps,
    };
    return p;
}

static mill_status run(bench *b, const fixture *f, const place *places, size_t n,
                       const uint32_t *of) {
    g_autofree slice *annotations = g_new(slice, n); /* one for each place */
    fixture annotated = *f;
    for (size_t i = 0; i < n; i++)
        annotations[i] = (slice){1, (int64_t)i, 1, "chunk", MILL_CPU_ANNOTATION, 0};
    annotated.slices = annotations;
    annotated.n_slices = n;
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &annotated), "trace", "");
    bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, places_of(b, places, n, of, f->n),
                "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return status;
}

static bench *new_bench(const char *setting) {
    bench *b = bench_create(module, "chunks");
    if (setting)
        bench_option(b, setting);
    return b;
}

#define RUN(b, f, places) run(b, f, places, G_N_ELEMENTS(places), NULL)

static const mill_chunk_cost *cost_of(bench *b, mill_basis basis) {
    const mill_chunk_times *times = bench_output(b, "times", 0);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpuint(times->n, ==, 1);
    return &times->costs[basis];
}

static void assert_cost(bench *b, mill_basis basis, mill_chunk_cost right) {
    const mill_chunk_cost *c = cost_of(b, basis);
    g_assert_cmpint(c->forward, ==, right.forward);
    g_assert_cmpint(c->backward, ==, right.backward);
    g_assert_cmpint(c->input, ==, right.input);
    g_assert_cmpint(c->weight, ==, right.weight);
    g_assert_cmpint(c->pair, ==, right.pair);
}

/* A forward and a backward chunk, woven: F 0–40 and its dispatch 40–70 beside B's computation,
 * B's notify 0–40 beside F's. W on two streams at once counts once. */
static const activity woven[] = {
    {0, 7, 0, 40, GEMM},  {0, 27, 0, 40, NOTIFY}, {0, 27, 40, 30, SEND},
    {0, 7, 40, 50, GEMM}, {0, 7, 90, 20, GEMM},   {0, 8, 95, 15, GEMM},
};
static const place woven_places[] = {
    {MILL_CHUNK_FORWARD, 0, 0, 0, U}, {MILL_CHUNK_BACKWARD, 0, 0, 0, U},
    {MILL_CHUNK_FORWARD, 1, 0, 1, U}, {MILL_CHUNK_BACKWARD, 1, 0, 0, U},
    {MILL_CHUNK_WEIGHT, 0, 0, 0, U},  {MILL_CHUNK_WEIGHT, 0, 0, 0, U},
};

static void test_bases(void) {
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_COMPUTE, (mill_chunk_cost){40, 70, 50, 20, 110});
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){70, 70, 50, 20, 110});
    assert_cost(b, MILL_BASIS_ALL, (mill_chunk_cost){70, 110, 90, 20, 110});
    const mill_chunk_times *times = bench_output(b, "times", 0);
    g_assert_cmpint(times->layers[0], ==, 2);
    g_assert_cmpint(times->samples[0], ==, 1);
    g_assert_cmpfloat(times->coverage[0], ==, 1);
    g_assert_cmpstr(times->labels[0], ==, FIXTURE_PATH);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpint(look_int(report, "pair_bound", NULL), ==, 110);
    g_assert_nonnull(look_note(report, "micro_batches_unknown"));
    g_assert_null(look_note(report, "no_weight"));
    bench_destroy(b);
}

static void test_transfer_kinds(void) {
    bench *b = new_bench("transfer-kinds=notify");
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){40, 110, 90, 20, 110});
    bench_destroy(b);
    b = new_bench("transfer-kinds=smoke");
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "transfer-kinds = smoke"));
    bench_destroy(b);
}

static void test_sm_scale(void) {
    bench *b = new_bench("sm-scale=0.5");
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){20 + 30, 35, 25, 10, 110});
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "scaled"));
    bench_destroy(b);
}

/* What a lone chunk could use beside what the transfer held. */
static void test_contention(void) {
    static const activity activities[] = {{0, 7, 0, 40, GEMM, NULL, 112},
                                          {0, 27, 0, 40, SEND, NULL, 20}};
    static const place places[] = {{MILL_CHUNK_FORWARD, 0, 0, 0, U},
                                   {MILL_CHUNK_BACKWARD, 0, 0, 0, U}};
    fixture f = FIXTURE(activities);
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &f, places), ==, MILL_OK);
    g_assert_nonnull(
        strstr(look_note(bench_output(b, "report", 0), "contention")->text, "is not known"));
    bench_destroy(b);
    f.sms = 132;
    b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &f, places), ==, MILL_OK);
    g_assert_nonnull(
        strstr(look_note(bench_output(b, "report", 0), "contention")->text, "0.8485 (112/132)"));
    bench_destroy(b);
}

/* Two micro-batches in two steps: the mean of 10 and 21 is 15.5. */
static void test_micro_batches(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, GEMM}, {0, 7, 20, 30, GEMM}, {0, 7, 60, 21, GEMM}, {0, 7, 90, 30, GEMM}};
    static const place known[] = {{MILL_CHUNK_FORWARD, 0, 0, U, 0},
                                  {MILL_CHUNK_BACKWARD, 0, 0, U, 0},
                                  {MILL_CHUNK_FORWARD, 0, 0, U, 1},
                                  {MILL_CHUNK_BACKWARD, 0, 0, U, 1}};
    static const place unknown[] = {{MILL_CHUNK_FORWARD, 0, 0, U, U},
                                    {MILL_CHUNK_BACKWARD, 0, 0, U, U},
                                    {MILL_CHUNK_FORWARD, 0, 0, U, U},
                                    {MILL_CHUNK_BACKWARD, 0, 0, U, U}};
    bench *b = new_bench("micro-batches=7"); /* not needed where the attribution tells */
    g_assert_cmpint(RUN(b, &FIXTURE(activities), known), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){16, 30, U, U, U});
    const mill_chunk_times *times = bench_output(b, "times", 0);
    g_assert_cmpint(times->samples[0], ==, 2);
    g_assert_cmpint(times->layers[0], ==, U);
    bench_destroy(b);
    b = new_bench("micro-batches=1000000000"); /* less than a ns for each is not 0 */
    g_assert_cmpint(RUN(b, &FIXTURE(activities), unknown), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){U, U, U, U, U});
    bench_destroy(b);
    b = new_bench("micro-batches=2");
    g_assert_cmpint(RUN(b, &FIXTURE(activities), unknown), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){16, 30, U, U, U});
    bench_destroy(b);
}

/* Where there are steps, what lies outside of them is left out. */
static void test_outside_of_steps(void) {
    static const activity activities[] = {{0, 7, 0, 10, GEMM}, {0, 7, 20, 30, GEMM}};
    static const place places[] = {{MILL_CHUNK_FORWARD, 0, MILL_NONE, U, U},
                                   {MILL_CHUNK_FORWARD, 0, 1, U, U}};
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(activities), places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){30, U, U, U, U});
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "coverage"));
    bench_destroy(b);
}

/* F and B that take turns are no pair, however their spans interlock. */
static void test_turns_are_no_pair(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, GEMM}, {0, 7, 10, 10, GEMM}, {0, 7, 20, 10, GEMM}, {0, 7, 30, 10, GEMM}};
    static const place places[] = {{MILL_CHUNK_FORWARD, 0, 0, 0, U},
                                   {MILL_CHUNK_BACKWARD, 0, 0, 0, U},
                                   {MILL_CHUNK_FORWARD, 0, 0, 1, U},
                                   {MILL_CHUNK_BACKWARD, 0, 0, 1, U}};
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(activities), places), ==, MILL_OK);
    g_assert_cmpint(cost_of(b, MILL_BASIS_TRANSFER)->pair, ==, U);
    bench_destroy(b);
}

/* Weights put off until after the pair do not lengthen it. */
static void test_weight_put_off(void) {
    static const activity activities[] = {
        {0, 7, 0, 40, GEMM}, {0, 8, 0, 40, GEMM}, {0, 7, 100, 30, GEMM}};
    static const place places[] = {{MILL_CHUNK_FORWARD, 0, 0, 0, 0},
                                   {MILL_CHUNK_BACKWARD, 0, 0, 0, 0},
                                   {MILL_CHUNK_WEIGHT, 0, 0, 0, 0}};
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(activities), places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){40, 70, 40, 30, 40});
    bench_destroy(b);
}

/* Annotations of whole chunks: each is one, and a pair is told, not found. */
static void test_whole_chunks(void) {
    static const activity activities[] = {
        {0, 7, 0, 40, GEMM}, {0, 7, 50, 60, GEMM}, {0, 7, 120, 20, GEMM}, {0, 7, 150, 30, GEMM}};
    static const place places[] = {{MILL_CHUNK_PAIR, 0, 0, U, U, MILL_METHOD_PIPELINE},
                                   {MILL_CHUNK_PAIR, 0, 0, U, U, MILL_METHOD_PIPELINE},
                                   {MILL_CHUNK_FORWARD, 0, 0, U, U, MILL_METHOD_PIPELINE},
                                   {MILL_CHUNK_FORWARD, 0, 0, U, U, MILL_METHOD_PIPELINE}};
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(activities), places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){25, U, U, U, 50});
    bench_destroy(b);
}

static const activity two[] = {{0, 7, 0, 10, GEMM}, {0, 7, 20, 30, GEMM}};
static const place two_places[] = {{MILL_CHUNK_FORWARD, 0, 0, U, 0},
                                   {MILL_CHUNK_BACKWARD, 0, 0, U, 0}};

static void test_weight(void) {
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(two), two_places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){10, 30, U, U, U});
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "no_weight"));
    bench_destroy(b);
    b = new_bench("weight=0s");
    g_assert_cmpint(RUN(b, &FIXTURE(two), two_places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){10, 30, 30, 0, U});
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "weight_given"));
    bench_destroy(b);
    b = new_bench("weight=31ns");
    g_assert_cmpint(RUN(b, &FIXTURE(two), two_places), ==, MILL_E_CONFIG);
    bench_destroy(b);
    b = new_bench("weight=5ns");
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){70, 70, 50, 20, 110});
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "weight_measured"));
    bench_destroy(b);
}

/* A guess is never mixed with what is told. */
static void test_methods(void) {
    static const place mixed[] = {{MILL_CHUNK_FORWARD, 0, 0, U, 0, MILL_METHOD_RULE},
                                  {MILL_CHUNK_BACKWARD, 0, 0, U, 0, MILL_METHOD_AUTOGRAD}};
    static const place guessed[] = {{MILL_CHUNK_FORWARD, 0, 0, U, 0, MILL_METHOD_AUTOGRAD},
                                    {MILL_CHUNK_BACKWARD, 0, 0, U, 0, MILL_METHOD_AUTOGRAD}};
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(two), mixed), ==, MILL_OK);
    assert_cost(b, MILL_BASIS_TRANSFER, (mill_chunk_cost){10, U, U, U, U});
    const mill_chunk_times *times = bench_output(b, "times", 0);
    g_assert_cmpfloat(times->coverage[0], ==, 0.25);
    g_assert_cmpstr(times->methods[0], ==, "rule");
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_nonnull(look_note(report, "coverage"));
    g_assert_cmpint(look_note(report, "method")->level, ==, MILL_INFO);
    g_assert_cmpuint(look_table(report, "methods")->rows, ==, 2);
    bench_destroy(b);
    b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(two), guessed), ==, MILL_OK);
    g_assert_cmpint(look_note(bench_output(b, "report", 0), "method")->level, ==, MILL_WARNING);
    bench_destroy(b);
}

static void test_nothing(void) {
    static const place none[] = {{MILL_CHUNK_NONE, MILL_NONE, MILL_NONE, U, U}};
    static const uint32_t nowhere[] = {MILL_NONE, MILL_NONE};
    fixture empty = {.described_device = MILL_UNKNOWN};
    const struct {
        const fixture *f;
        const uint32_t *of;
    } cases[] = {{&FIXTURE(two), nowhere}, {&empty, NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = new_bench(NULL);
        g_assert_cmpint(run(b, cases[i].f, none, 1, cases[i].of), ==, MILL_OK);
        const mill_chunk_times *times = bench_output(b, "times", 0);
        g_assert_cmpuint(times->n, ==, 0);
        g_assert_nonnull(look_note(bench_output(b, "report", 0), "no_chunks"));
        bench_destroy(b);
    }
}

static void test_devices_are_not_mixed(void) {
    static const activity activities[] = {{0, 7, 0, 10, GEMM}, {1, 7, 5, 30, GEMM}};
    static const place places[] = {{MILL_CHUNK_FORWARD, 0, 0, U, 0}};
    static const uint32_t of[] = {0, 0};
    bench *b = new_bench(NULL);
    g_assert_cmpint(run(b, &FIXTURE(activities), places, 1, of), ==, MILL_OK);
    const mill_chunk_times *times = bench_output(b, "times", 0);
    g_assert_cmpuint(times->n, ==, 2);
    g_assert_cmpint(times->costs[0].forward, ==, 10);
    g_assert_cmpint(times->costs[MILL_BASES].forward, ==, 30);
    g_assert_cmpstr(times->labels[1], ==, FIXTURE_PATH " device 1");
    g_assert_cmpint(look_int(bench_output(b, "report", 0), "forward", "device 1"), ==, 30);
    bench_destroy(b);
}

/* Zero duration adds no time; unknown layers, steps and micro-batches are one chunk. */
static void test_zero_length(void) {
    static const activity activities[] = {{0, 7, 5, 0, GEMM}};
    static const place places[] = {{MILL_CHUNK_FORWARD, MILL_NONE, MILL_NONE, U, U}};
    bench *b = new_bench(NULL);
    g_assert_cmpint(RUN(b, &FIXTURE(activities), places), ==, MILL_OK);
    const mill_chunk_times *times = bench_output(b, "times", 0);
    g_assert_cmpuint(times->n, ==, 0); /* no method placed any time */
    bench_destroy(b);
}

static void test_odd_pipeline(void) {
    bench *b = new_bench("pp=7");
    bench_option(b, "m=20");
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_OK);
    const mill_report *report = bench_output(b, "report", 0);
    const mill_table *t = look_table(report, "bubble_shares");
    g_assert_true(isnan(look_cell(t, 1, "dualpipe").d));
    g_assert_false(isnan(look_cell(t, 1, "1f1b").d));
    g_assert_nonnull(strstr(look_cell(t, 1, "remark").text, "PP must be even"));
    g_assert_cmpuint(report->n_series, ==, 3);
    bench_destroy(b);
    b = new_bench("pp=0");
    g_assert_cmpint(RUN(b, &FIXTURE(woven), woven_places), ==, MILL_OK);
    g_assert_null(look_table(bench_output(b, "report", 0), "bubbles"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- chunks.join */

/* One stage as `chunks` tells it: F is `forward` on all bases, B twice as long. */
static const mill_chunk_times *times_of(bench *b, int64_t rank, int64_t forward,
                                        const char *label) {
    mill_run *services = bench_services(b);
    mill_chunk_times *t = mill_value_alloc(services, NULL, sizeof *t);
    mill_chunk_cost *costs = mill_value_alloc(services, t, MILL_BASES * sizeof *costs);
    int64_t *facts = mill_value_alloc(services, t, 3 * sizeof *facts);
    double *coverage = mill_value_alloc(services, t, sizeof *coverage);
    const char **texts = mill_value_alloc(services, t, 2 * sizeof *texts);
    for (int i = 0; i < MILL_BASES; i++)
        costs[i] = (mill_chunk_cost){forward, 2 * forward, forward, forward, 3 * forward};
    facts[0] = rank;
    facts[1] = 4;
    facts[2] = 1;
    *coverage = 1;
    texts[0] = label;
    texts[1] = "annotation";
    *t = (mill_chunk_times){sizeof *t, 0,         label,     1,        costs,    texts,
                            facts,     facts + 1, facts + 2, coverage, texts + 1};
    return t;
}

static bench *join_of(const int64_t *ranks, size_t n, const char *setting) {
    static const char *const labels[] = {"a", "b", "c", "d"};
    bench *b = bench_create(module, "chunks.join");
    if (setting)
        bench_option(b, setting);
    for (size_t i = 0; i < n; i++)
        bench_input(b, "times", MILL_TYPE_CHUNK_TIMES,
                    times_of(b, ranks[i], 10 * (int64_t)(i + 1), labels[i]), "chunks", labels[i]);
    return b;
}

static void assert_labels(bench *b, const char *labels) {
    const mill_chunk_times *t = bench_output(b, "times", 0);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpuint(t->n, ==, strlen(labels));
    for (size_t i = 0; i < t->n; i++)
        g_assert_cmpint(t->labels[i][0], ==, labels[i]);
}

static void test_join_by_rank(void) {
    static const int64_t ranks[] = {3, 0, 2, 1};
    bench *b = join_of(ranks, 4, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    assert_labels(b, "bdca");
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpint(look_int(report, "slowest", NULL), ==, 120);
    g_assert_cmpfloat_with_epsilon(look_ratio(report, "imbalance", NULL), 40 / 25.0, 1e-12);
    /* 1F1B over the four stages: (4 - 1)(40 + 80). */
    g_assert_cmpint(look_cell(look_table(report, "bubbles"), 0, "bubble").i, ==, 360);
    g_assert_null(look_note(report, "order"));
    bench_destroy(b);
}

/* The slowest rank stands for its stage. */
static void test_join_ranks_of_a_stage(void) {
    static const int64_t ranks[] = {0, 1, 2, 3};
    bench *b = join_of(ranks, 4, "ranks-per-stage=2");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    assert_labels(b, "bd");
    g_assert_cmpint(look_int(bench_output(b, "report", 0), "profiles", NULL), ==, 4);
    bench_destroy(b);
}

static void test_join_without_ranks(void) {
    static const int64_t same[] = {1, 1}, unknown[] = {U, U};
    bench *b = join_of(same, 2, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    assert_labels(b, "ab");
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "order"));
    bench_destroy(b);
    b = join_of(unknown, 2, "ranks-per-stage=2");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "needs the rank"));
    bench_destroy(b);
}

static void test_join_missing(void) {
    static const int64_t ranks[] = {0};
    bench *b = join_of(ranks, 1, NULL);
    bench_missing(b, "times", "chunks", "rank7");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_nonnull(strstr(look_note(bench_output(b, "report", 0), "missing")->text, "rank7"));
    bench_destroy(b);
    b = join_of(ranks, 0, NULL);
    bench_missing(b, "times", "chunks", "rank7");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    assert_labels(b, "");
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/chunks/chunks.so");
    g_test_add_func("/chunks/bases", test_bases);
    g_test_add_func("/chunks/transfer-kinds", test_transfer_kinds);
    g_test_add_func("/chunks/sm-scale", test_sm_scale);
    g_test_add_func("/chunks/contention", test_contention);
    g_test_add_func("/chunks/micro-batches", test_micro_batches);
    g_test_add_func("/chunks/outside-of-steps", test_outside_of_steps);
    g_test_add_func("/chunks/turns-are-no-pair", test_turns_are_no_pair);
    g_test_add_func("/chunks/weight-put-off", test_weight_put_off);
    g_test_add_func("/chunks/whole-chunks", test_whole_chunks);
    g_test_add_func("/chunks/weight", test_weight);
    g_test_add_func("/chunks/methods", test_methods);
    g_test_add_func("/chunks/nothing", test_nothing);
    g_test_add_func("/chunks/devices-are-not-mixed", test_devices_are_not_mixed);
    g_test_add_func("/chunks/zero-length", test_zero_length);
    g_test_add_func("/chunks/odd-pipeline", test_odd_pipeline);
    g_test_add_func("/chunks/join/by-rank", test_join_by_rank);
    g_test_add_func("/chunks/join/ranks-of-a-stage", test_join_ranks_of_a_stage);
    g_test_add_func("/chunks/join/without-ranks", test_join_without_ranks);
    g_test_add_func("/chunks/join/missing", test_join_missing);
    return g_test_run();
}
