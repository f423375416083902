/* SPDX-License-Identifier: Apache-2.0 */
/* The trace builder against brute force: order, duplicates, broken timers, launches, parents. */
#include "bench_host.h"

#include <string.h>
#include <tracemill/kit/trace_builder.h>

#define ROUNDS 400
#define MAX_OVERLAP 3

/* ---------------------------------------------------------------- GPU activities */

typedef struct activity {
    int64_t start, dur, device, stream, correlation;
    int64_t name, track;
} activity;

static int compare_activities(const void *pa, const void *pb) {
    const activity *a = pa, *b = pb;
    const int64_t keys[][2] = {
        {a->start, b->start},   {a->start + a->dur, b->start + b->dur}, {a->device, b->device},
        {a->stream, b->stream}, {a->correlation, b->correlation},       {a->name, b->name},
        {a->track, b->track}};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Few values, so that everything coincides often. */
static activity random_activity(GRand *rand) {
    return (activity){
        .start = g_rand_int_range(rand, 1, 40),
        .dur = g_rand_int_range(rand, 0, 12),
        .device = g_rand_int_range(rand, 0, 2),
        .stream = g_rand_int_range(rand, 0, 2) * 7,
        .correlation = g_rand_int_range(rand, 1, 4),
        .name = g_rand_int_range(rand, 0, 2),
        .track = g_rand_int_range(rand, 0, 2),
    };
}

static void append(kit_trace *b, const activity *a) {
    char name[] = {(char)('a' + a->name), '\0'};
    kit_gpu_row row = {
        .start = a->start,
        .dur = a->dur,
        .correlation = a->correlation,
        .external_id = MILL_UNKNOWN,
        .grid = MILL_UNKNOWN,
        .block = MILL_UNKNOWN,
        .bytes = MILL_UNKNOWN,
        .waited_event = MILL_UNKNOWN,
        .name = kit_trace_name(b, name, 1, MILL_GPU_KERNEL),
        .stream = kit_trace_stream(b, kit_trace_device(b, a->device), a->stream, MILL_NONE),
        .track = (uint32_t)a->track,
        .collective = MILL_NONE,
        .cat = MILL_GPU_KERNEL,
    };
    kit_trace_gpu(b, &row);
}

/* Removes duplicates and cuts broken timers the slow way. Returns how many are left. */
static size_t brute_force(activity *v, size_t n, uint64_t *ret_clipped) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (size_t j = 0; j < kept; j++)
            seen |= memcmp(&v[j], &v[i], sizeof v[i]) == 0;
        if (!seen)
            v[kept++] = v[i];
    }
    *ret_clipped = 0;
    for (size_t i = 0; i < kept; i++) {
        int64_t next = INT64_MAX;
        for (size_t j = 0; j < kept; j++)
            if (v[j].device == v[i].device && v[j].stream == v[i].stream && v[j].start > v[i].start)
                next = MIN(next, v[j].start);
        if (next != INT64_MAX && v[i].start + v[i].dur - next > MAX_OVERLAP) {
            v[i].dur = next - v[i].start;
            ++*ret_clipped;
        }
    }
    qsort(v, kept, sizeof *v, compare_activities);
    return kept;
}

static uint64_t count_of(const mill_trace *t, const char *kind) {
    for (uint64_t i = 0; i < t->diagnostics.n; i++)
        if (!strcmp(mill_string(t, mill_u32(t, &t->diagnostics.kind, i)), kind))
            return mill_u64(t, &t->diagnostics.count, i);
    return 0;
}

static void test_activities(void) {
    GRand *rand = g_rand_new_with_seed(1);
    for (int round = 0; round < ROUNDS; round++) {
        activity v[60];
        size_t n = (size_t)g_rand_int_range(rand, 0, G_N_ELEMENTS(v) + 1);
        bench *host = bench_create(NULL, NULL);
        kit_trace *b = kit_trace_create(bench_services(host));
        /* Names and streams get the numbers of their order, as the brute force has them. */
        kit_trace_name(b, "a", 1, MILL_GPU_KERNEL);
        for (size_t i = 0; i < n; i++) {
            v[i] = random_activity(rand);
            append(b, &v[i]);
        }
        const mill_trace *t = kit_trace_finish(b, MAX_OVERLAP);
        uint64_t clipped;
        size_t left = brute_force(v, n, &clipped);
        g_assert_cmpuint(t->gpu.n, ==, left);
        g_assert_cmpuint(count_of(t, "duplicate"), ==, n - left);
        g_assert_cmpuint(count_of(t, "clipped-timer"), ==, clipped);
        uint64_t rows[2] = {0};
        for (size_t i = 0; i < left; i++) {
            uint32_t stream = mill_u32(t, &t->gpu.stream, i);
            uint32_t device = mill_u32(t, &t->streams.device, stream);
            g_assert_cmpint(mill_i64(t, &t->gpu.start, i), ==, v[i].start);
            g_assert_cmpint(mill_i64(t, &t->gpu.dur, i), ==, v[i].dur);
            g_assert_cmpint(mill_i64(t, &t->gpu.correlation, i), ==, v[i].correlation);
            g_assert_cmpint(mill_i64(t, &t->streams.id, stream), ==, v[i].stream);
            g_assert_cmpint(mill_i64(t, &t->devices.id, device), ==, v[i].device);
            g_assert_cmpint(mill_name(t, mill_u32(t, &t->gpu.name, i))[0], ==, 'a' + v[i].name);
            rows[v[i].device]++;
        }
        for (uint64_t d = 0; d < t->devices.n; d++)
            g_assert_cmpuint(mill_u64(t, &t->devices.rows, d), ==,
                             rows[mill_i64(t, &t->devices.id, d)]);
        kit_trace_destroy(b);
        bench_destroy(host);
    }
    g_rand_free(rand);
}

/* ---------------------------------------------------------------- CPU slices */

static void append_slice(kit_trace *b, int64_t start, int64_t dur, int64_t correlation,
                         uint32_t thread, uint8_t kind) {
    kit_cpu_row row = {.start = start,
                       .dur = dur,
                       .correlation = correlation,
                       .external_id = MILL_UNKNOWN,
                       .name = kit_trace_name(b, "call", 4, 0),
                       .thread = thread,
                       .kind = kind};
    kit_trace_cpu(b, &row);
}

static bool encloses(const mill_trace *t, uint64_t outer, uint64_t inner) {
    int64_t s = mill_i64(t, &t->cpu.start, outer), e = s + mill_i64(t, &t->cpu.dur, outer);
    int64_t a = mill_i64(t, &t->cpu.start, inner), z = a + mill_i64(t, &t->cpu.dur, inner);
    return mill_u32(t, &t->cpu.thread, outer) == mill_u32(t, &t->cpu.thread, inner) && s <= a &&
           a < e && z <= e;
}

static uint32_t brute_parent(const mill_trace *t, uint64_t row) {
    for (uint64_t i = row; i-- > 0;)
        if (encloses(t, i, row))
            return (uint32_t)i;
    return MILL_NONE;
}

static uint32_t brute_launch(const mill_trace *t, int64_t correlation) {
    for (uint64_t i = 0; i < t->cpu.n; i++) {
        uint8_t kind = mill_u8(t, &t->cpu.kind, i);
        bool call = kind == MILL_CPU_RUNTIME || kind == MILL_CPU_DRIVER;
        if (call && mill_i64(t, &t->cpu.correlation, i) == correlation)
            return (uint32_t)i;
    }
    return MILL_NONE;
}

static void test_slices(void) {
    GRand *rand = g_rand_new_with_seed(2);
    for (int round = 0; round < ROUNDS; round++) {
        bench *host = bench_create(NULL, NULL);
        kit_trace *b = kit_trace_create(bench_services(host));
        uint32_t threads[] = {kit_trace_thread(b, 1, 1), kit_trace_thread(b, 1, 2)};
        for (int n = g_rand_int_range(rand, 0, 40); n > 0; n--)
            append_slice(b, g_rand_int_range(rand, 1, 30), g_rand_int_range(rand, 0, 15),
                         g_rand_int_range(rand, 1, 6), threads[g_rand_int_range(rand, 0, 2)],
                         (uint8_t)g_rand_int_range(rand, MILL_CPU_OP, MILL_CPU_ANNOTATION + 1));
        for (int n = 0; n < 10; n++) {
            activity a = random_activity(rand);
            append(b, &a);
        }
        const mill_trace *t = kit_trace_finish(b, INT64_MAX);
        for (uint64_t i = 0; i < t->cpu.n; i++)
            g_assert_cmpuint(mill_u32(t, &t->cpu.parent, i), ==, brute_parent(t, i));
        for (uint64_t i = 0; i < t->gpu.n; i++)
            g_assert_cmpuint(mill_u32(t, &t->gpu.launch, i), ==,
                             brute_launch(t, mill_i64(t, &t->gpu.correlation, i)));
        kit_trace_destroy(b);
        bench_destroy(host);
    }
    g_rand_free(rand);
}

/* ---------------------------------------------------------------- recorded waits */

static const int64_t sync_streams[] = {20, 7}; /* not in the order of their numbers */

/* Of call i, whose correlation is i; some say nothing of streams or events. */
static void append_sync(kit_trace *b, GRand *rand, int64_t i) {
    uint32_t device = kit_trace_device(b, 0);
    int64_t event = g_rand_int_range(rand, -1, 6);
    kit_sync_row row = {
        .start = g_rand_int_range(rand, 1, 9),
        .dur = 3,
        .correlation = i,
        .waited_event = event < 0 ? MILL_UNKNOWN : event,
        .name = kit_trace_name(b, "wait", 4, 0),
        .stream = kit_trace_stream(b, device, sync_streams[i % 2], MILL_NONE),
        .waited_stream =
            event < 0 ? MILL_NONE : kit_trace_stream(b, device, sync_streams[event % 2], MILL_NONE),
        .kind = MILL_SYNC_STREAM_WAIT,
    };
    kit_trace_sync(b, &row);
}

static void check_sync(const mill_trace *t, uint64_t i) {
    const mill_syncs *s = &t->syncs;
    int64_t correlation = mill_i64(t, &s->correlation, i), event = mill_i64(t, &s->waited_event, i);
    if (i > 0) {
        int64_t start = mill_i64(t, &s->start, i), before = mill_i64(t, &s->start, i - 1);
        g_assert_true(before < start ||
                      (before == start && mill_i64(t, &s->correlation, i - 1) <= correlation));
    }
    g_assert_cmpint(mill_i64(t, &t->streams.id, mill_u32(t, &s->stream, i)), ==,
                    sync_streams[correlation % 2]);
    uint32_t waited = mill_u32(t, &s->waited_stream, i);
    g_assert_cmpint(waited == MILL_NONE, ==, event == MILL_UNKNOWN);
    if (waited != MILL_NONE)
        g_assert_cmpint(mill_i64(t, &t->streams.id, waited), ==, sync_streams[event % 2]);
    g_assert_cmpuint(mill_u32(t, &s->launch, i), ==,
                     correlation ? brute_launch(t, correlation) : MILL_NONE);
    g_assert_cmpuint(mill_u32(t, &s->record, i), ==,
                     event > 0 ? brute_launch(t, event) : MILL_NONE); /* 0 is CUPTI's "none" */
}

static void test_syncs(void) {
    GRand *rand = g_rand_new_with_seed(3);
    for (int round = 0; round < ROUNDS; round++) {
        bench *host = bench_create(NULL, NULL);
        kit_trace *b = kit_trace_create(bench_services(host));
        uint32_t thread = kit_trace_thread(b, 1, 1);
        for (int64_t i = 0; i < 8; i++)
            if (g_rand_int_range(rand, 0, 4) > 0)
                append_slice(b, i + 1, 1, i, thread, MILL_CPU_RUNTIME);
        uint64_t n = (uint64_t)g_rand_int_range(rand, 0, 12);
        for (uint64_t i = 0; i < n; i++)
            append_sync(b, rand, g_rand_int_range(rand, 0, 8));
        const mill_trace *t = kit_trace_finish(b, INT64_MAX);
        g_assert_cmpuint(mill_sync_count(t), ==, n);
        g_assert_cmpuint(t->gpu.n, ==, 0);
        for (uint64_t i = 0; i < n; i++)
            check_sync(t, i);
        kit_trace_destroy(b);
        bench_destroy(host);
    }
    g_rand_free(rand);
}

/* A wait needs a time, but no duration. */
static void test_sync_limits(void) {
    static const struct {
        int64_t start, dur, right;
    } rows[] = {
        {1, 0, 0},
        {1, -1, MILL_UNKNOWN},
        {1, MILL_UNKNOWN, MILL_UNKNOWN},
        {1, KIT_TRACE_LONGEST, KIT_TRACE_LONGEST},
        {1, KIT_TRACE_LONGEST + 1, MILL_UNKNOWN},
        {INT64_MAX - 5, 6, MILL_UNKNOWN},
    };
    bench *host = bench_create(NULL, NULL);
    kit_trace *b = kit_trace_create(bench_services(host));
    kit_sync_row row = {.start = MILL_UNKNOWN, .stream = MILL_NONE, .waited_stream = MILL_NONE};
    kit_trace_sync(b, &row);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        row.start = rows[i].start;
        row.dur = rows[i].dur;
        row.correlation = (int64_t)i + 1;
        kit_trace_sync(b, &row);
    }
    mill_trace *t = kit_trace_finish(b, 0);
    g_assert_cmpuint(count_of(t, "no-time"), ==, 1);
    g_assert_cmpuint(mill_sync_count(t), ==, G_N_ELEMENTS(rows));
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpint(mill_i64(t, &t->syncs.dur, i), ==, rows[i].right);
    t->size = offsetof(mill_trace, syncs); /* as an older reader's */
    g_assert_cmpuint(mill_sync_count(t), ==, 0);
    kit_trace_destroy(b);
    bench_destroy(host);
}

/* ---------------------------------------------------------------- size and limits */

/* Rows in three segments, given backwards, which is the worst order there is. */
static void test_segments(void) {
    const int64_t n = 150000;
    bench *host = bench_create(NULL, NULL);
    kit_trace *b = kit_trace_create(bench_services(host));
    for (int64_t i = n; i > 0; i--)
        append(b, &(activity){.start = i, .dur = 1, .correlation = n - i});
    const mill_trace *t = kit_trace_finish(b, MAX_OVERLAP);
    g_assert_cmpuint(t->gpu.n, ==, (uint64_t)n);
    uint64_t row = 0;
    for (uint64_t s = 0; row < t->gpu.n; s++) {
        const int64_t *start = mill_segment(t, &t->gpu.start, s);
        uint64_t rows = mill_segment_rows(&t->gpu.start, t->gpu.n, s);
        g_assert_cmpuint(rows, >, 0);
        for (uint64_t i = 0; i < rows; i++, row++) {
            g_assert_cmpint(start[i], ==, (int64_t)row + 1);
            g_assert_cmpint(mill_i64(t, &t->gpu.correlation, row), ==, n - start[i]);
        }
    }
    kit_trace_destroy(b);
    bench_destroy(host);
}

/* Times of row i of n, in the orders that files have and in some that none should have. */
static int64_t in_order(int64_t i, int64_t n) {
    (void)n;
    return i / 3;
}
static int64_t backwards(int64_t i, int64_t n) {
    return n - i;
}
static int64_t children_first(int64_t i, int64_t n) { /* 2, 3, 1; 5, 6, 4; … and one over all */
    return i == n - 1 ? 0 : i % 3 == 2 ? i - 1 : i + 2;
}
static int64_t five_queues(int64_t i, int64_t n) { /* one behind the other */
    return i % (n / 5) * 7 + i % 2;
}
static int64_t one_far_off(int64_t i, int64_t n) {
    return i == 70000 ? 10 * n : i == 140000 ? 3 : i;
}
static int64_t mixed(int64_t i, int64_t n) {
    return (int64_t)((uint64_t)i * 2654435761u % (uint64_t)n) / 4;
}

/* Over several segments; rows of one time stay as they stand. */
static void test_orders(void) {
    static int64_t (*const orders[])(int64_t, int64_t) = {
        in_order, backwards, children_first, five_queues, one_far_off, mixed,
    };
    const int64_t n = 200001;
    for (size_t k = 0; k < G_N_ELEMENTS(orders); k++) {
        bench *host = bench_create(NULL, NULL);
        kit_trace *b = kit_trace_create(bench_services(host));
        for (int64_t i = 0; i < n; i++)
            kit_trace_counter(
                b, &(kit_counter_row){.time = orders[k](i, n), .value = (double)i, .name = 0});
        const mill_trace *t = kit_trace_finish(b, 0);
        g_assert_cmpuint(t->counters.n, ==, (uint64_t)n);
        int64_t before = MILL_UNKNOWN, before_row = -1;
        for (uint64_t i = 0; i < t->counters.n; i++) {
            int64_t time = mill_i64(t, &t->counters.time, i);
            int64_t row = (int64_t)mill_f64(t, &t->counters.value, i);
            g_assert_true(time > before || (time == before && row > before_row));
            g_assert_cmpint(time, ==, orders[k](row, n));
            before = time;
            before_row = row;
        }
        kit_trace_destroy(b);
        bench_destroy(host);
    }
}

/* Every third activity twice, over several segments. */
static void test_many_duplicates(void) {
    const int64_t n = 150000;
    bench *host = bench_create(NULL, NULL);
    kit_trace *b = kit_trace_create(bench_services(host));
    for (int64_t i = 0; i < n; i++)
        for (int64_t copies = i % 3 == 0 ? 2 : 1; copies > 0; copies--)
            append(b, &(activity){.start = i + 1, .dur = 1, .correlation = i});
    const mill_trace *t = kit_trace_finish(b, MAX_OVERLAP);
    g_assert_cmpuint(t->gpu.n, ==, (uint64_t)n);
    g_assert_cmpuint(count_of(t, "duplicate"), ==, (uint64_t)n / 3);
    for (uint64_t i = 0; i < t->gpu.n; i++)
        g_assert_cmpint(mill_i64(t, &t->gpu.correlation, i), ==, (int64_t)i);
    kit_trace_destroy(b);
    bench_destroy(host);
}

static void test_limits(void) {
    static const struct {
        int64_t start, dur;
        const char *kind; /* NULL: a row */
    } rows[] = {
        {INT64_MAX - 5, 5, NULL},
        {INT64_MAX - 5, 6, "broken-timer"},
        {1, KIT_TRACE_LONGEST, NULL},
        {1, KIT_TRACE_LONGEST + 1, "broken-timer"},
        {INT64_MIN + 1, 7, NULL},
        {MILL_UNKNOWN, 7, "no-duration"},
        {1, MILL_UNKNOWN, "no-duration"},
        {1, -1, "negative-duration"},
        {0, 0, "empty-record"},
        {0, 1, NULL},
        {1, 0, NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        bench *host = bench_create(NULL, NULL);
        kit_trace *b = kit_trace_create(bench_services(host));
        append(b, &(activity){.start = rows[i].start, .dur = rows[i].dur});
        const mill_trace *t = kit_trace_finish(b, 0);
        g_assert_cmpuint(t->gpu.n, ==, rows[i].kind == NULL);
        g_assert_cmpuint(t->diagnostics.n, ==, rows[i].kind != NULL);
        if (rows[i].kind)
            g_assert_cmpuint(count_of(t, rows[i].kind), ==, 1);
        kit_trace_destroy(b);
        bench_destroy(host);
    }
}

/* Two far ends of time in one stream: differences must not overflow. */
static void test_far_apart(void) {
    bench *host = bench_create(NULL, NULL);
    kit_trace *b = kit_trace_create(bench_services(host));
    append(b, &(activity){.start = INT64_MIN + 1, .dur = 1});
    append(b, &(activity){.start = INT64_MAX - 1, .dur = 1});
    const mill_trace *t = kit_trace_finish(b, 0);
    g_assert_cmpuint(t->gpu.n, ==, 2);
    g_assert_cmpuint(t->diagnostics.n, ==, 0);
    kit_trace_destroy(b);
    bench_destroy(host);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/trace/activities", test_activities);
    g_test_add_func("/kit/trace/slices", test_slices);
    g_test_add_func("/kit/trace/syncs", test_syncs);
    g_test_add_func("/kit/trace/sync-limits", test_sync_limits);
    g_test_add_func("/kit/trace/segments", test_segments);
    g_test_add_func("/kit/trace/orders", test_orders);
    g_test_add_func("/kit/trace/many-duplicates", test_many_duplicates);
    g_test_add_func("/kit/trace/limits", test_limits);
    g_test_add_func("/kit/trace/far-apart", test_far_apart);
    return g_test_run();
}
