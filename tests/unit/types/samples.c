/* SPDX-License-Identifier: Apache-2.0 */
/* A small value of each mill.* type. */
#include "samples.h"

#include <glib.h>
#include <math.h>
#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/expert_load.h>
#include <tracemill/kit/expert_plan.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/trace_builder.h>
#include <tracemill/schedule.h>

/* An array in memory of the value. */
#define COPY(run, value, ...)                                                                      \
    memcpy(mill_value_alloc((run), (value), sizeof(__VA_ARGS__)), (__VA_ARGS__),                   \
           sizeof(__VA_ARGS__))

/* Not the NaN that others have. */
static double odd_nan(void) {
    uint64_t bits = 0x7ff8000000abcdefu;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* ---------------------------------------------------------------- trace */

static uint32_t string(kit_trace *b, const char *text) {
    return kit_trace_string(b, text, strlen(text));
}

static uint32_t name(kit_trace *b, const char *text, uint32_t tag, mill_class cls, uint16_t kind) {
    uint32_t n = kit_trace_name(b, text, strlen(text), tag);
    kit_trace_classify(b, n, cls, kind, kit_trace_rule(b, "the rule"));
    return n;
}

static void add_activities(kit_trace *b, uint32_t device, uint32_t stream) {
    uint16_t kind = kit_trace_kind(b, "all-reduce");
    uint32_t other = kit_trace_stream(b, device, INT64_C(1) << 40, MILL_NONE);
    uint32_t nccl = name(b, "ncclKernel", MILL_GPU_KERNEL, MILL_CLASS_COMMUNICATION, kind);
    uint32_t copy = name(b, "Memcpy \xff\xfe", MILL_GPU_MEMCPY, MILL_CLASS_MEMORY, UINT16_MAX);
    kit_collective_row c = {1000,
                            2000,
                            MILL_UNKNOWN,
                            8,
                            77,
                            MILL_UNKNOWN,
                            string(b, "allreduce"),
                            string(b, "BFloat16"),
                            MILL_NONE,
                            string(b, "[0, 1]"),
                            kind};
    uint32_t collective = kit_trace_collective(b, &c);
    kit_trace_gpu(b, &(kit_gpu_row){1000, 50, 7, INT64_C(5000000000), 132, 1024, MILL_UNKNOWN, 3,
                                    10, nccl, stream, 1, collective, MILL_GPU_KERNEL});
    kit_trace_gpu(b, &(kit_gpu_row){-20, 70000, 8, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN, 4096,
                                    MILL_UNKNOWN, 20, copy, other, 2, MILL_NONE, MILL_GPU_MEMCPY});
    kit_trace_sync(b, &(kit_sync_row){30, 4, 9, 7, 30, name(b, "Stream Wait Event", 0, 0, 0xffff),
                                      stream, other, MILL_SYNC_STREAM_WAIT});
}

static void add_slices(kit_trace *b) {
    uint32_t thread = kit_trace_thread(b, 4711, MILL_UNKNOWN);
    uint32_t op = name(b, "aten::mm", 0, MILL_CLASS_NONE, UINT16_MAX);
    uint32_t call = name(b, "cudaLaunchKernel", 0, MILL_CLASS_NONE, UINT16_MAX);
    kit_trace_name_thread(b, thread, string(b, "python"), string(b, "thread 1"));
    kit_trace_cpu(b, &(kit_cpu_row){-100, 900, MILL_UNKNOWN, 5, 40, op, thread, MILL_CPU_OP});
    kit_trace_cpu(b, &(kit_cpu_row){-50, 10, 7, 5, 41, call, thread, MILL_CPU_RUNTIME});
    kit_trace_flow(b, &(kit_flow_row){99, -50, 42, thread, call, 2});
    kit_trace_counter(b, &(kit_counter_row){5, odd_nan(), 43, thread, op});
    kit_trace_timer(b, &(kit_timer_row){.start = 3,
                                        .dur = 4,
                                        .step = 5,
                                        .chunk = 1,
                                        .micro_batch = 6,
                                        .sequence = MILL_UNKNOWN,
                                        .name = op,
                                        .thread = thread});
}

static const void *make_trace(mill_run *run) {
    static const kit_diagnostic lost = {"lost", "Something was lost.", true};
    kit_trace *b = kit_trace_create(run);
    mill_trace *t = kit_trace_value(b);
    uint32_t device = kit_trace_device(b, 3);
    kit_trace_describe_device(b, device, string(b, "NVIDIA H800"), 132);
    add_activities(b, device, kit_trace_stream(b, device, 7, string(b, "main")));
    add_slices(b);
    kit_trace_diagnose(b, &lost, 1234);
    kit_trace_string(b, "with\0NUL", 8);
    t->path = kit_trace_text(b, "rank0.json", 10);
    t->backend = kit_trace_text(b, "nccl", 4);
    t->rank = 1;
    t->world_size = 16;
    t->base_ns = INT64_C(1700000000000000000);
    t->events = 12;
    t->bytes = 345;
    t->complete = 0;
    mill_trace *value = kit_trace_finish(b, INT64_MAX);
    kit_trace_destroy(b);
    return value;
}

const void *sample_long_trace(mill_run *run, unsigned n) {
    kit_trace *b = kit_trace_create(run);
    uint32_t stream = kit_trace_stream(b, kit_trace_device(b, 0), 7, MILL_NONE);
    uint32_t thread = kit_trace_thread(b, 1, 2);
    for (unsigned i = 0; i < n; i++) {
        char text[32];
        g_snprintf(text, sizeof text, "kernel %u", i % 300);
        uint32_t kernel = name(b, text, 1, MILL_CLASS_COMPUTATION, UINT16_MAX);
        int64_t unknown = MILL_UNKNOWN, at = 10 * (int64_t)i;
        kit_trace_gpu(b, &(kit_gpu_row){at + 5, 9, (int64_t)i + 1, unknown, i % 100 ? unknown : i,
                                        unknown, unknown, unknown, i, kernel, stream, 0, MILL_NONE,
                                        MILL_GPU_KERNEL});
        kit_trace_cpu(
            b, &(kit_cpu_row){at, 2, (int64_t)i + 1, unknown, i, kernel, thread, MILL_CPU_RUNTIME});
    }
    mill_trace *value = kit_trace_finish(b, INT64_MAX);
    kit_trace_destroy(b);
    return value;
}

/* ---------------------------------------------------------------- report */

static void add_table(kit_report *r) {
    kit_table *t = kit_table_begin(r, "kernels", "Kernels", "What ran.");
    kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "time", "time", NULL, "Σ durations");
    kit_table_column(t, MILL_KIND_REAL, "share", "share", "%", NULL);
    kit_table_row(t);
    kit_cell_text(t, "gemm");
    kit_cell_int(t, 1500);
    kit_cell_real(t, 12.5);
    kit_table_row(t);
    kit_cell_text(t, NULL);
    kit_cell_int(t, MILL_UNKNOWN);
    kit_cell_real(t, odd_nan());
    kit_table_begin(r, "empty", "Nothing", NULL);
}

static const void *make_report(mill_run *run) {
    static const char *const texts[] = {"gemm", "computation"};
    kit_report *r = kit_report_begin(run, "sample", "A sample", "rank0.json");
    kit_report_summary(r, "It is %s.", "good");
    kit_figure_text(r, "who", "who", "device 0", NULL, "µ");
    kit_figure_text(r, "nobody", "nobody", NULL, "Not known.", NULL);
    kit_figure_int(r, MILL_KIND_BYTES, "size", "size", NULL, NULL, INT64_MAX);
    kit_figure_real(r, "rate", "rate", NULL, NULL, "GB/s", odd_nan());
    add_table(r);
    kit_note(r, MILL_WARNING, "careful", "Be careful.");
    kit_finding(r, &(mill_finding){.level = MILL_INFO,
                                   .id = "G2_1",
                                   .rule = "G2",
                                   .where = "stream 7",
                                   .advice = "Wait less.",
                                   .cost_ns = 10,
                                   .gain_ns = MILL_UNKNOWN,
                                   .confidence = 0.5,
                                   .at_ns = 99,
                                   .at_base_ns = 1000});
    kit_lane(r, &(mill_lane){.id = "s7",
                             .label = "stream 7",
                             .rank = 0,
                             .device = MILL_UNKNOWN,
                             .stream = 7,
                             .base_ns = 1000,
                             .n = 2,
                             .start = (int64_t[]){0, 10},
                             .end = (int64_t[]){5, 10},
                             .text = (uint32_t[]){0, 1},
                             .cls = (uint32_t[]){1, 1},
                             .finding = (int64_t[]){-1, 0},
                             .texts = texts,
                             .n_texts = 2});
    kit_lane(r, &(mill_lane){.id = "s8", .label = "stream 8"});
    kit_series(r, &(mill_series){.kind = MILL_SERIES_HEAT,
                                 .id = "heat",
                                 .label = "layer 3",
                                 .x_label = "GPU",
                                 .y_label = "load",
                                 .y_unit = "tokens",
                                 .n = 2,
                                 .x = (double[]){0, -0.0},
                                 .y = (double[]){odd_nan(), INFINITY}});
    mill_report *report = kit_report_end(r);
    /* One text in two places. */
    ((mill_figure *)report->figures[0])->unit = report->figures[1]->help;
    return report;
}

/* ---------------------------------------------------------------- pipelines */

static const void *make_attribution(mill_run *run) {
    static const char *const stages[] = {"attention(F)", "dispatch(F)"};
    mill_attribution *a = mill_value_alloc(run, NULL, sizeof *a);
    *a = (mill_attribution){
        .size = sizeof *a,
        .n_rows = 3,
        .place = COPY(run, a, (uint32_t[]){0, MILL_NONE, 1}),
        .n_places = 2,
        .annotation = COPY(run, a, (uint32_t[]){17, MILL_NONE}),
        .stage = COPY(run, a, (uint32_t[]){1, MILL_NONE}),
        .chunk = COPY(run, a, (uint8_t[]){MILL_CHUNK_FORWARD, MILL_CHUNK_PAIR}),
        .method = COPY(run, a, (uint8_t[]){MILL_METHOD_ANNOTATION, MILL_METHOD_PIPELINE}),
        .layer = COPY(run, a, (int64_t[]){3, MILL_UNKNOWN}),
        .micro_batch = COPY(run, a, (int64_t[]){MILL_UNKNOWN, 2}),
        .step = COPY(run, a, (uint32_t[]){0, MILL_NONE}),
        .n_stages = 2,
        .stages = COPY(run, a, stages),
        .n_steps = 1,
        .step_number = COPY(run, a, (int64_t[]){12}),
        .step_start = COPY(run, a, (int64_t[]){-5}),
        .step_end = COPY(run, a, (int64_t[]){500}),
        .step_whole = COPY(run, a, (uint8_t[]){1}),
        .step_annotation = COPY(run, a, (uint32_t[]){4}),
        .method_busy = COPY(run, a, (int64_t[]){1, 2, 3, 4, 5, 6}),
        .busy = 21,
    };
    return a;
}

static const void *make_chunk_times(mill_run *run) {
    static const char *const labels[] = {"a.json", "b.json"};
    static const char *const methods[] = {"annotation", NULL};
    mill_chunk_times *t = mill_value_alloc(run, NULL, sizeof *t);
    mill_chunk_cost *costs = mill_value_alloc(run, t, 2 * MILL_BASES * sizeof *costs);
    for (int64_t i = 0; i < 2 * MILL_BASES; i++)
        costs[i] = (mill_chunk_cost){i, 2 * i, 3 * i, MILL_UNKNOWN, 5 * i};
    *t = (mill_chunk_times){.size = sizeof *t,
                            .subject = "two stages",
                            .n = 2,
                            .costs = costs,
                            .labels = labels,
                            .ranks = COPY(run, t, (int64_t[]){0, MILL_UNKNOWN}),
                            .layers = COPY(run, t, (int64_t[]){4, 5}),
                            .samples = COPY(run, t, (int64_t[]){10, 11}),
                            .coverage = COPY(run, t, (double[]){0.25, NAN}),
                            .methods = methods};
    return t;
}

static const void *make_schedule(mill_run *run) {
    static const char *const labels[] = {"F0", NULL, "F0"};
    uint32_t none[] = {MILL_NO_OP, MILL_NO_OP, 1};
    mill_schedule *s = mill_value_alloc(run, NULL, sizeof *s);
    *s = (mill_schedule){
        .size = sizeof *s,
        .simulated = 1,
        .id = "dualpipe",
        .name = "DualPipe",
        .subject = "step 3",
        .communication = "dep",
        .ranks = 2,
        .chunks = 2,
        .stages = 2,
        .micro_batches = 3,
        .bidirectional = 1,
        .transfer_ns = 50,
        .makespan_ns = 700,
        .n_ops = 3,
        .first = COPY(run, s, (uint64_t[]){0, 1, 3}),
        .ops = {.kind = COPY(run, s, (uint8_t[]){MILL_OP_FORWARD, MILL_OP_WEIGHT, MILL_OP_PAIR}),
                .chunk = COPY(run, s, (uint32_t[]){0, 1, 0}),
                .stage = COPY(run, s, (uint32_t[]){0, 1, MILL_NO_OP}),
                .micro_batch = COPY(run, s, (uint32_t[]){2, 1, 0}),
                .chunk_back = COPY(run, s, none),
                .stage_back = COPY(run, s, none),
                .micro_batch_back = COPY(run, s, none),
                .start = COPY(run, s, (int64_t[]){0, 10, 20}),
                .end = COPY(run, s, (int64_t[]){10, 20, MILL_UNKNOWN}),
                .label = labels},
        .live = COPY(run, s, (int64_t[]){3, 4}),
    };
    return s;
}

/* ---------------------------------------------------------------- experts */

static const void *make_load(mill_run *run) {
    mill_expert_load *l = mill_value_alloc(run, NULL, sizeof *l);
    *l = (mill_expert_load){
        .size = sizeof *l,
        .integral = 1,
        .subject = "loads.csv",
        .unit = "tokens",
        .layers = 2,
        .experts = 3,
        .steps = 2,
        .load = COPY(run, l, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9, odd_nan(), 11, 12}),
        .step = COPY(run, l, (int64_t[]){100, 200}),
        .layer = COPY(run, l, (int64_t[]){3, 4}),
        .ranks = 5,
    };
    return l;
}

static const void *make_plan(mill_run *run) {
    mill_expert_plan like = {
        .layers = 2,
        .experts = 3,
        .slots = 4,
        .gpus = 2,
        .nodes = 2,
        .groups = 1,
        .subject = "eplb of loads.csv",
        .policy = "reference",
        .first = (uint32_t[]){0, 1, 4},
        .node = (uint32_t[]){1, 0},
        .expert = (int32_t[]){0, 1, 2, 0, 2, MILL_NO_EXPERT, 1, 0},
        .rank = (uint32_t[]){1, 0, 0, 0, 0, 0, 0, 0},
        .layer = (int64_t[]){3, 9},
    };
    return kit_expert_plan(run, &like);
}

const sample samples[] = {
    {"trace", MILL_TYPE_TRACE, make_trace},
    {"report", MILL_TYPE_REPORT, make_report},
    {"attribution", MILL_TYPE_ATTRIBUTION, make_attribution},
    {"chunk-times", MILL_TYPE_CHUNK_TIMES, make_chunk_times},
    {"schedule", MILL_TYPE_SCHEDULE, make_schedule},
    {"expert-load", MILL_TYPE_EXPERT_LOAD, make_load},
    {"expert-plan", MILL_TYPE_EXPERT_PLAN, make_plan},
    {NULL, NULL, NULL},
};
