/* SPDX-License-Identifier: Apache-2.0 */
/* Values that break what their headers promise: none of them is loaded, and it is said why. */
#include "crossing.h"
#include "samples.h"

#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>
#include <tracemill/report.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>

#include "bench_host.h"
#include "types/types.h"

/* What is constant for everybody else. */
#define SET(place, value)                                                                          \
    do {                                                                                           \
        const __typeof__(place) wrong = (value);                                                   \
        memcpy((void *)(uintptr_t) & (place), &wrong, sizeof wrong);                               \
    } while (0)
#define SET_AT(type, array, i, value) (((type *)(uintptr_t)(array))[i] = (value))

/* Breaks sample s in one way after the other. */
typedef struct breakage {
    const char *says;
    void (*how)(void *value);
} breakage;

static void assert_refused(const char *type_id, const void *data, const breakage *b) {
    const mill_type *type = types_find(type_id);
    g_autoptr(GByteArray) bytes = crossing_save(type, data);
    g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
    if (c->cause == NULL || strstr(c->cause, b->says) == NULL)
        g_error("%s: not \"%s\", but: %s", type_id, b->says, c->cause);
}

/* ---------------------------------------------------------------- trace */

static void set_cell(mill_trace *t, const mill_column *c, uint64_t row, int64_t value) {
    g_assert_cmpuint(c->width, >, 0);
    memcpy((void *)(uintptr_t)mill_cell(t, c, row), &value, c->width);
}

#define BREAK_CELL(name, column, row, value)                                                       \
    static void name(void *v) {                                                                    \
        mill_trace *t = v;                                                                         \
        set_cell(t, &t->column, (row), (value));                                                   \
    }
BREAK_CELL(gpu_name, gpu.name, 1, 100)
BREAK_CELL(gpu_no_name, gpu.name, 1, UINT8_MAX)
BREAK_CELL(gpu_stream, gpu.stream, 0, 2)
BREAK_CELL(gpu_cat, gpu.cat, 0, 0)
BREAK_CELL(gpu_cat_above, gpu.cat, 0, 4)
BREAK_CELL(gpu_launch, gpu.launch, 1, 2)
BREAK_CELL(gpu_collective, gpu.collective, 1, 1)
BREAK_CELL(gpu_late, gpu.start, 0, 2000)
BREAK_CELL(gpu_no_start, gpu.start, 0, MILL_UNKNOWN)
BREAK_CELL(gpu_negative, gpu.dur, 1, -1)
BREAK_CELL(gpu_too_long, gpu.start, 1, INT64_MAX - 10)
BREAK_CELL(cpu_own_parent, cpu.parent, 1, 1)
BREAK_CELL(cpu_parent, cpu.parent, 0, 1)
BREAK_CELL(cpu_thread, cpu.thread, 0, 1)
BREAK_CELL(cpu_kind, cpu.kind, 0, 8)
BREAK_CELL(name_class, names.cls, 0, 5)
BREAK_CELL(name_kind, names.kind, 0, 1)
BREAK_CELL(name_rule, names.rule, 0, 1)
BREAK_CELL(stream_device, streams.device, 0, 1)
BREAK_CELL(thread_name, threads.name, 0, 100)
BREAK_CELL(flow_end, flows.end, 0, 3)
BREAK_CELL(sync_kind, syncs.kind, 0, 5)
BREAK_CELL(sync_stream, syncs.waited_stream, 0, 2)
BREAK_CELL(timer_thread, timers.thread, 0, 1)
BREAK_CELL(lost, diagnostics.lost, 0, 2)

/* Of slices that start at once the longest is first. */
static void cpu_shortest_first(void *v) {
    mill_trace *t = v;
    set_cell(t, &t->cpu.start, 1, mill_i64(t, &t->cpu.start, 0));
    set_cell(t, &t->cpu.dur, 1, 1000);
}

/* And of activities the shortest. */
static void gpu_longest_first(void *v) {
    mill_trace *t = v;
    set_cell(t, &t->gpu.start, 1, mill_i64(t, &t->gpu.start, 0));
}

static void no_width(void *v) {
    mill_trace *t = v;
    t->gpu.dur.width = 0;
    t->gpu.dur.segments = 0;
}

static void odd_segments(void *v) {
    mill_trace *t = v;
    t->gpu.cat.seg_shift = 40;
}

/* Rows that take no byte. */
static void unknown_threads(void *v) {
    mill_trace *t = v;
    t->threads = (mill_threads){.n = 1000000};
    t->gpu.n = t->cpu.n = t->flows.n = t->counters.n = t->timers.n = 0;
}

static const breakage traces[] = {
    {"threads has 1000000 rows", unknown_threads},
    {"gpu.name", gpu_name},
    {"gpu.name", gpu_no_name},
    {"gpu.stream", gpu_stream},
    {"gpu.cat", gpu_cat},
    {"gpu.cat", gpu_cat_above},
    {"gpu.launch", gpu_launch},
    {"gpu.collective", gpu_collective},
    {"row 1 of gpu should stand before", gpu_late},
    {"row 0 of gpu starts at", gpu_no_start},
    {"row 1 of gpu starts at", gpu_negative},
    {"row 1 of gpu starts at", gpu_too_long},
    {"cpu.parent", cpu_own_parent},
    {"cpu.parent", cpu_parent},
    {"cpu.thread", cpu_thread},
    {"cpu.kind", cpu_kind},
    {"names.cls", name_class},
    {"names.kind", name_kind},
    {"names.rule", name_rule},
    {"streams.device", stream_device},
    {"threads.name", thread_name},
    {"flows.end", flow_end},
    {"syncs.kind", sync_kind},
    {"syncs.waited_stream", sync_stream},
    {"timers.thread", timer_thread},
    {"diagnostics.lost", lost},
    {"row 1 of cpu should stand before", cpu_shortest_first},
    {"row 1 of gpu should stand before", gpu_longest_first},
    {"row 0 of gpu starts at", no_width},
    {"gpu.cat has 1 bytes a row, and segments of 2^40 rows", odd_segments},
    {0},
};

/* ---------------------------------------------------------------- report */

#define BREAK(name, type, place, value)                                                            \
    static void name(void *v) {                                                                    \
        type *x = v;                                                                               \
        SET(x->place, value);                                                                      \
    }
#define BREAK_AT(name, type, element, array, i, value)                                             \
    static void name(void *v) {                                                                    \
        type *x = v;                                                                               \
        SET_AT(element, x->array, i, value);                                                       \
    }

BREAK(figure_kind, mill_report, figures[2]->kind, (mill_kind)99)
BREAK(figure_id, mill_report, figures[0]->id, NULL)
BREAK(column_kind, mill_report, tables[0]->columns[1]->kind, (mill_kind)0)
BREAK(no_columns, mill_report, tables[1]->rows, 1000000)
BREAK(note_level, mill_report, notes[0]->level, (mill_level)9)
BREAK(finding_level, mill_report, findings[0]->level, (mill_level)-1)
BREAK(no_text, mill_report, lanes[0]->texts, NULL)
BREAK_AT(no_element, mill_report, const char *, lanes[0]->texts, 0, NULL)
BREAK_AT(lane_text, mill_report, uint32_t, lanes[0]->text, 1, 2)
BREAK_AT(lane_class, mill_report, uint32_t, lanes[0]->cls, 0, UINT32_MAX)
BREAK_AT(lane_finding, mill_report, int64_t, lanes[0]->finding, 0, 1)
BREAK_AT(lane_before, mill_report, int64_t, lanes[0]->finding, 0, -2)
BREAK_AT(lane_backwards, mill_report, int64_t, lanes[0]->end, 1, 9)
BREAK(series_kind, mill_report, series[0]->kind, 7)
BREAK(no_utf8, mill_report, title, "\xc3(")
BREAK(report_size, mill_report, size, 128)
BREAK(no_start, mill_report, lanes[0]->start, NULL)

static const breakage reports[] = {
    {"\"size\" is of kind 99", figure_kind},
    {"has no id", figure_id},
    {"\"time\" is of kind 0", column_kind},
    {"rows, but no column", no_columns},
    {"\"careful\" is of level 9", note_level},
    {"\"G2_1\" is of level -1", finding_level},
    {"texts has 2 elements, but is not there", no_text},
    {"element 0 of texts is no text", no_element},
    {"label of interval 1 names row 2 of 2", lane_text},
    {"class of interval 0 names row 4294967295 of 2", lane_class},
    {"finding of interval 0 is 1, expected -1 to 0", lane_finding},
    {"finding of interval 0 is -2", lane_before},
    {"interval 1 goes from 10 to 9", lane_backwards},
    {"kind of a series is 7", series_kind},
    {"UTF-8", no_utf8},
    {"a report of 128 bytes, expected 136 to 136", report_size},
    {"start has 2 elements, but is not there", no_start},
    {0},
};

/* ---------------------------------------------------------------- pipelines */

BREAK_AT(place, mill_attribution, uint32_t, place, 2, 2)
BREAK_AT(stage, mill_attribution, uint32_t, stage, 0, 2)
BREAK_AT(step, mill_attribution, uint32_t, step, 0, 1)
BREAK_AT(chunk, mill_attribution, uint8_t, chunk, 1, 5)
BREAK_AT(method, mill_attribution, uint8_t, method, 1, MILL_METHODS)
BREAK_AT(step_end, mill_attribution, int64_t, step_end, 0, -6)
BREAK_AT(whole, mill_attribution, uint8_t, step_whole, 0, 2)
BREAK(no_places, mill_attribution, place, NULL)
BREAK(no_busy, mill_attribution, method_busy, NULL)

static const breakage attributions[] = {
    {"place of activity 2 names row 2 of 2", place},
    {"stage of place 0 names row 2 of 2", stage},
    {"step of place 0 names row 1 of 1", step},
    {"chunk of place 1 is 5", chunk},
    {"method of place 1 is 6", method},
    {"step 0 goes from -5 to -6", step_end},
    {"whole of step 0 is 2", whole},
    {"place has 3 elements, but is not there", no_places},
    {"method_busy has 6 elements, but is not there", no_busy},
    {0},
};

BREAK_AT(first, mill_schedule, uint64_t, first, 1, 4)
BREAK_AT(first_end, mill_schedule, uint64_t, first, 2, 2)
BREAK_AT(first_begin, mill_schedule, uint64_t, first, 0, 1)
BREAK_AT(op_kind, mill_schedule, uint8_t, ops.kind, 0, 0)
BREAK_AT(op_kind_above, mill_schedule, uint8_t, ops.kind, 0, 9)
BREAK_AT(op_end, mill_schedule, int64_t, ops.end, 0, -1)

static const breakage schedules[] = {
    {"operations of rank 1 end before", first},
    {"operations 0 to 2, but there are 3", first_end},
    {"operations 1 to 3, but there are 3", first_begin},
    {"kind of operation 0 is 0", op_kind},
    {"kind of operation 0 is 9", op_kind_above},
    {"operation 0 goes from 0 to -1", op_end},
    {0},
};

/* ---------------------------------------------------------------- experts */

BREAK(no_steps, mill_expert_load, steps, 0)
BREAK(no_load, mill_expert_load, load, NULL)

/* More loads than can be counted. */
static void uncountable(void *v) {
    mill_expert_load *l = v;
    l->layers = l->experts = UINT32_MAX;
    l->steps = UINT64_C(1) << 40;
    l->layer = NULL;
    l->step = NULL;
}

static const breakage loads[] = {
    {"number of steps is 0", no_steps},
    {"load has 12 elements, but is not there", no_load},
    {"load has more elements than can be counted", uncountable},
    {0},
};

BREAK_AT(expert, mill_expert_plan, int32_t, expert, 1, 3)
BREAK_AT(expert_below, mill_expert_plan, int32_t, expert, 1, -2)
BREAK_AT(replica, mill_expert_plan, uint32_t, rank, 0, 2)
BREAK_AT(replicas, mill_expert_plan, uint32_t, replicas, 1, 2)
BREAK_AT(slots, mill_expert_plan, uint32_t, first, 2, 3)
BREAK_AT(slots_back, mill_expert_plan, uint32_t, first, 1, 5)
BREAK_AT(node, mill_expert_plan, uint32_t, node, 0, 2)
BREAK(nodes, mill_expert_plan, nodes, 3)
BREAK(groups, mill_expert_plan, groups, 4)

static const breakage plans[] = {
    {"slot 1 of layer 0 holds expert 3 of 3", expert},
    {"slot 1 of layer 0 holds expert -2 of 3", expert_below},
    {"slot 0 of layer 0 holds replica 2 of 2", replica},
    {"expert 1 of layer 0 has 1 slots, and should have 2", replicas},
    {"the GPUs have slots 0 to 3, but there are 4", slots},
    {"slots of GPU 1 end before", slots_back},
    {"node of GPU 0 names row 2 of 2", node},
    {"number of nodes is 3", nodes},
    {"number of groups is 4", groups},
    {0},
};

static void test_wrong(gconstpointer data) {
    static const breakage *const all[] = {traces,    reports, attributions, NULL,
                                          schedules, loads,   plans};
    const sample *s = data;
    for (const breakage *b = all[s - samples]; b && b->says; b++) {
        bench *memory = bench_create(NULL, NULL);
        void *value = (void *)(uintptr_t)s->make(bench_services(memory));
        b->how(value);
        assert_refused(s->type, value, b);
        bench_destroy(memory);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (const sample *s = samples; s->name; s++) {
        g_autofree char *path = g_strdup_printf("/types/wrong/%s", s->name);
        g_test_add_data_func(path, s, test_wrong);
    }
    return g_test_run();
}
