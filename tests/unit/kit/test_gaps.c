/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps and their causes against a naive reading of the rule, which looks at every nanosecond and
 * at all activities for each gap. */
#include "bench_host.h"

#include <string.h>
#include <tracemill/kit/gaps.h>
#include <tracemill/kit/trace_builder.h>

#define WINDOW 160
#define MOST 40
#define STREAMS 3
#define PLACES 3
#define SMS 10

typedef struct kernel {
    int64_t start, dur, grid, launch; /* launch MILL_UNKNOWN: not in the trace */
    int stream, device;
    mill_class cls;
} kernel;

static const char *const class_names[] = {"", "gemm", "all-reduce", "copy", "spin"};

static void add_launch(kit_trace *t, uint32_t thread, int64_t start, int64_t correlation) {
    kit_cpu_row row = {
        .start = start,
        .dur = 1,
        .correlation = correlation,
        .external_id = MILL_UNKNOWN,
        .name = kit_trace_name(t, "cudaLaunchKernel", strlen("cudaLaunchKernel"), 0),
        .thread = thread,
        .kind = MILL_CPU_RUNTIME,
    };
    kit_trace_cpu(t, &row);
}

static void add_kernel(kit_trace *t, const kernel *k, uint32_t device, int64_t correlation) {
    uint32_t name = kit_trace_name(t, class_names[k->cls], strlen(class_names[k->cls]), 1);
    kit_trace_classify(t, name, k->cls, UINT16_MAX, UINT16_MAX);
    kit_gpu_row row = {
        .start = k->start,
        .dur = k->dur,
        .correlation = correlation,
        .external_id = MILL_UNKNOWN,
        .grid = k->grid,
        .block = MILL_UNKNOWN,
        .bytes = MILL_UNKNOWN,
        .waited_event = MILL_UNKNOWN,
        .collective = MILL_NONE,
        .name = name,
        .stream = kit_trace_stream(t, device, k->stream, MILL_NONE),
        .cat = MILL_GPU_KERNEL,
    };
    kit_trace_gpu(t, &row);
}

/* sms: of device 0; device 1's number is not known. */
static mill_trace *make_trace(bench *b, const kernel *kernels, size_t n, int64_t sms) {
    kit_trace *t = kit_trace_create(bench_services(b));
    uint32_t devices[] = {kit_trace_device(t, 0), kit_trace_device(t, 1)};
    uint32_t thread = kit_trace_thread(t, 1, 1);
    kit_trace_describe_device(t, devices[0], MILL_NONE, sms);
    for (size_t i = 0; i < n; i++) {
        add_kernel(t, &kernels[i], devices[kernels[i].device], (int64_t)i + 1);
        if (kernels[i].launch != MILL_UNKNOWN)
            add_launch(t, thread, kernels[i].launch, (int64_t)i + 1);
    }
    mill_trace *trace = kit_trace_finish(t, INT64_MAX);
    kit_trace_destroy(t);
    return trace;
}

typedef struct scene {
    bench *b;
    uint32_t place[2 * MOST];
    uint32_t stage[PLACES]; /* the last place has none */
    const char *stages[1];
    mill_attribution places;
    kit_activities all;
} scene;

static void scene_init(scene *s, const kernel *kernels, size_t n, int64_t sms) {
    static const kit_selection everything = {.steps = ""};
    memset(s, 0, sizeof *s);
    s->b = bench_create(NULL, NULL);
    const mill_trace *trace = make_trace(s->b, kernels, n, sms);
    g_assert_cmpuint(trace->gpu.n, <=, G_N_ELEMENTS(s->place));
    for (uint64_t i = 0; i < trace->gpu.n; i++) {
        int place = g_test_rand_int_range(-1, PLACES);
        s->place[i] = place < 0 ? MILL_NONE : (uint32_t)place;
    }
    s->places = (mill_attribution){.size = sizeof s->places,
                                   .n_rows = trace->gpu.n,
                                   .place = s->place,
                                   .n_places = PLACES,
                                   .stage = s->stage,
                                   .n_stages = 1,
                                   .stages = s->stages};
    s->stages[0] = "attn(F)";
    s->stage[PLACES - 1] = MILL_NONE;
    g_assert_cmpint(
        kit_activities_select(bench_services(s->b), trace, &s->places, &everything, &s->all), ==,
        MILL_OK);
}

static void scene_finish(scene *s) {
    bench_destroy(s->b);
}

/* Whole numbers of nanoseconds, so that many times coincide. */
static size_t random_kernels(kernel *kernels) {
    size_t n = (size_t)g_test_rand_int_range(0, MOST);
    int longest = g_test_rand_int_range(1, 30);
    for (size_t i = 0; i < n; i++) {
        int64_t start = g_test_rand_int_range(0, WINDOW);
        kernels[i] = (kernel){
            .start = 1000 + start,
            .dur = g_test_rand_int_range(0, longest),
            .grid = g_test_rand_int_range(0, 9) ? g_test_rand_int_range(0, 14) : MILL_UNKNOWN,
            .launch = g_test_rand_int_range(0, 9) ? 1000 + start - g_test_rand_int_range(-2, 30)
                                                  : MILL_UNKNOWN,
            .stream = g_test_rand_int_range(0, STREAMS),
            .device = g_test_rand_int_range(0, 4) == 0,
            .cls = (mill_class)g_test_rand_int_range(1, 5),
        };
    }
    return n;
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
        right.one_place = stream != KIT_ALL_STREAMS && a->place != MILL_NONE &&
                          a->place != PLACES - 1 && a->place == last->place;
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

static void test_random(void) {
    int seen[KIT_GAP_CAUSES] = {0};
    for (int round = 0; round < 3000; round++) {
        kernel kernels[MOST];
        size_t n = random_kernels(kernels);
        kit_gap_rule rule = random_rule();
        scene s;
        scene_init(&s, kernels, n, SMS);
        kit_gaps *each, gaps;
        mill_run *run = bench_services(s.b);
        g_assert_cmpint(kit_gaps_find_each(run, &s.all, &rule, &each), ==, MILL_OK);
        for (size_t d = 0; d < s.all.n_devices; d++) {
            const kit_device *device = &s.all.devices[d];
            kit_gaps_find(run, &s.all, device, KIT_ALL_STREAMS, &rule, &gaps);
            check_gaps(&s.all, device, KIT_ALL_STREAMS, &rule, &gaps);
            for (uint32_t i = 0; i < s.all.n_streams; i++) {
                if (s.all.streams[i].device != d)
                    continue;
                check_gaps(&s.all, device, i, &rule, &each[i]);
                kit_gaps_find(run, &s.all, device, i, &rule, &gaps);
                check_gaps(&s.all, device, i, &rule, &gaps);
                for (size_t g = 0; g < gaps.n; g++)
                    seen[gaps.v[g].cause]++;
            }
        }
        scene_finish(&s);
    }
    for (int c = 0; c < KIT_GAP_CAUSES; c++)
        g_assert_cmpint(seen[c], >, 0);
}

/* All the memory that a broken number of SMs could ask for is not needed. */
static void test_absurd_sms(void) {
    static const kernel kernels[] = {
        {100, 10, INT64_MAX, 90, 0, 0, MILL_CLASS_COMPUTATION},
        {100, 40, INT64_MAX, 90, 1, 0, MILL_CLASS_COMPUTATION},
        {100, 40, INT64_MAX, 90, 2, 0, MILL_CLASS_COMPUTATION},
        {200, 10, INT64_MAX, 90, 0, 0, MILL_CLASS_COMPUTATION},
    };
    const kit_gap_rule rule = {10, 1, 0.1};
    scene s;
    scene_init(&s, kernels, G_N_ELEMENTS(kernels), INT64_MAX);
    kit_gaps gaps;
    kit_gaps_find(bench_services(s.b), &s.all, &s.all.devices[0], 0, &rule, &gaps);
    g_assert_cmpuint(gaps.n, ==, 1);
    g_assert_cmpuint(gaps.v[0].cause, ==, KIT_GAP_UNEXPLAINED);
    scene_finish(&s);
}

static void test_cancelled(void) {
    static const kernel kernels[] = {
        {100, 10, 1, 90, 0, 0, MILL_CLASS_COMPUTATION},
        {200, 10, 1, 90, 0, 0, MILL_CLASS_COMPUTATION},
    };
    const kit_gap_rule rule = {10, 1, 0.1};
    scene s;
    scene_init(&s, kernels, G_N_ELEMENTS(kernels), SMS);
    kit_gaps gaps;
    bench_cancel_at(s.b, 1);
    g_assert_cmpint(kit_gaps_find(bench_services(s.b), &s.all, &s.all.devices[0], 0, &rule, &gaps),
                    ==, MILL_E_CANCELLED);
    scene_finish(&s);
}

static void test_primary_stream(void) {
    static const kernel kernels[] = {
        {100, 90, 1, 90, 0, 0, MILL_CLASS_COMMUNICATION},
        {100, 20, 1, 90, 1, 0, MILL_CLASS_COMPUTATION},
        {100, 10, 1, 90, 2, 0, MILL_CLASS_COMPUTATION},
        {120, 10, 1, 90, 2, 0, MILL_CLASS_COMPUTATION},
        {100, 10, 1, 90, 0, 1, MILL_CLASS_MEMORY},
        {110, 0, 1, 90, 0, 1, MILL_CLASS_COMPUTATION},
    };
    scene s;
    scene_init(&s, kernels, G_N_ELEMENTS(kernels), SMS);
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
