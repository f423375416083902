/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded waits: of a file that has every sort, and of a real profile that has some. */
#include "data.h"

#include <tracemill/kit/waits.h>

typedef struct right_sync {
    const char *name;
    int64_t start, dur; /* µs; or MILL_UNKNOWN */
    mill_sync_kind kind;
    int64_t stream, waited_stream; /* numbers; -1: none */
    const char *launch, *record;   /* names of the calls, or NULL */
} right_sync;

static int64_t stream_number(const mill_trace *t, uint32_t stream) {
    return stream == MILL_NONE ? -1 : mill_i64(t, &t->streams.id, stream);
}

static const char *call_name(const mill_trace *t, uint32_t call) {
    return call == MILL_NONE ? NULL : mill_name(t, mill_u32(t, &t->cpu.name, call));
}

static int64_t as_us(int64_t ns) {
    return ns == MILL_UNKNOWN ? ns : ns / 1000;
}

static void check_sync(const mill_trace *t, uint64_t i, const right_sync *right) {
    const mill_syncs *s = &t->syncs;
    g_assert_cmpstr(mill_name(t, mill_u32(t, &s->name, i)), ==, right->name);
    g_assert_cmpint(as_us(mill_i64(t, &s->start, i)), ==, right->start);
    g_assert_cmpint(as_us(mill_i64(t, &s->dur, i)), ==, right->dur);
    g_assert_cmpint(mill_u8(t, &s->kind, i), ==, right->kind);
    g_assert_cmpint(stream_number(t, mill_u32(t, &s->stream, i)), ==, right->stream);
    g_assert_cmpint(stream_number(t, mill_u32(t, &s->waited_stream, i)), ==, right->waited_stream);
    g_assert_cmpstr(call_name(t, mill_u32(t, &s->launch, i)), ==, right->launch);
    g_assert_cmpstr(call_name(t, mill_u32(t, &s->record, i)), ==, right->record);
}

static void test_case(void) {
    static const right_sync right[] = {
        {"Stream Wait Event", 140, 2, MILL_SYNC_STREAM_WAIT, 27, 7, "cudaStreamWaitEvent",
         "cudaEventRecord"},
        {"Event Sync", 700, 30, MILL_SYNC_EVENT, -1, -1, NULL, NULL},
        {"Stream Sync", 800, 40, MILL_SYNC_STREAM, 7, -1, NULL, NULL},
        {"A new kind", 850, MILL_UNKNOWN, MILL_SYNC_OTHER, -1, -1, NULL, NULL},
        {"Context Sync", 900, 50, MILL_SYNC_CONTEXT, -1, -1, NULL, NULL},
    };
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/cases/syncs.json", NULL);
    bench *b = data_read(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_assert_cmpuint(mill_sync_count(t), ==, G_N_ELEMENTS(right));
    for (uint64_t i = 0; i < G_N_ELEMENTS(right); i++)
        check_sync(t, i, &right[i]);
    g_assert_cmpuint(t->streams.n, ==, 2); /* "Device 0" is none, nor its label that of one */
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->streams.label, 0)), ==, "stream 7");
    g_assert_cmpuint(mill_u32(t, &t->streams.label, 1), ==, MILL_NONE);
    bench_destroy(b);
}

/* Stream 24 was made to wait for stream 20 before anything ran on it. */
static void test_profile(void) {
    static const right_sync right[] = {
        {"Event Sync", 1712867402348628, 4, MILL_SYNC_EVENT, -1, -1, "cudaEventQuery", NULL},
        {"Event Sync", 1712867402349057, 4, MILL_SYNC_EVENT, -1, 20, "cudaEventQuery",
         "cudaEventRecord"},
        {"Stream Wait Event", 1712867402367683, 2, MILL_SYNC_STREAM_WAIT, 24, 20,
         "cudaStreamWaitEvent", "cudaEventRecord"},
        {"Event Sync", 1712867402368008, 4, MILL_SYNC_EVENT, -1, 28, "cudaEventQuery",
         "cudaEventRecord"},
        {"Context Sync", 1712867402368167, 19, MILL_SYNC_CONTEXT, -1, -1, "cudaDeviceSynchronize",
         NULL},
    };
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path =
        g_build_filename(folder, "traces/hta-event-sync-multi-stream.json.gz", NULL);
    bench *b = data_read(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_assert_cmpuint(mill_sync_count(t), ==, G_N_ELEMENTS(right));
    for (uint64_t i = 0; i < G_N_ELEMENTS(right); i++)
        check_sync(t, i, &right[i]);
    kit_activities all;
    kit_waits waits;
    mill_run *run = bench_services(b);
    g_assert_cmpint(kit_activities_select(run, t, NULL, &(kit_selection){.steps = ""}, &all), ==,
                    MILL_OK);
    g_assert_cmpint(kit_waits_init(&waits, run, &all, &all.devices[0]), ==, MILL_OK);
    const kit_activity *v = all.devices[0].v;
    g_assert_cmpuint(all.devices[0].n, ==, 6);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t waited = kit_waited_for(&waits, i);
        bool first_of_24 = i == 4; /* a memset and a gemm on each of 20, 28, 24 */
        g_assert_cmpint(waited != KIT_NO_ACTIVITY, ==, first_of_24);
        if (first_of_24) {
            g_assert_cmpint(all.streams[v[i].stream].id, ==, 24);
            g_assert_cmpint(all.streams[v[waited].stream].id, ==, 20);
            g_assert_cmpint(mill_i64(t, &t->gpu.correlation, v[waited].row), ==, 27);
        }
    }
    kit_waits_finish(&waits);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/syncs/case", test_case);
    g_test_add_func("/kineto/syncs/profile", test_profile);
    return g_test_run();
}
