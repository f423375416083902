/* acme.thing alone: files and what is in them, worked out by hand, and what the ABI asks of a stage
 * (the harness looks for that by itself: kit/test.h). */
#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/test.h>
#include <tracemill/trace.h>

#define HEADER "name,class,device,stream,start_ns,duration_ns\n"

static const char *plugin, *tiny;

/* A test of the reader on a file. */
static kit_test *begin(const char *path) {
    kit_test *t = kit_test_open(plugin, "acme.thing");

    kit_test_file(t, "it", path);
    return t;
}

/* The same on a file with that text, in the working directory. */
static kit_test *begin_text(const char *text) {
    FILE *file = fopen("test.csv", "wb");

    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror("test.csv");
        exit(99);
    }
    return begin("test.csv");
}

static void test_what_is_read(void) {
    kit_test *t = begin(tiny);
    const mill_trace *trace;
    uint32_t name;

    KIT_EXPECT_OK(t);
    trace = (const mill_trace *)kit_test_output(t, "trace", 0);
    KIT_EXPECT_INT((int64_t)trace->gpu.n, 4);
    KIT_EXPECT_INT((int64_t)trace->devices.n, 2);
    /* Rows are sorted by start: gemm and copy at 100 µs, then all-reduce, then norm. */
    KIT_EXPECT_INT(mill_i64(trace, &trace->gpu.start, 2), 105000);
    KIT_EXPECT_INT(mill_i64(trace, &trace->gpu.dur, 2), 20000);
    name = mill_u32(trace, &trace->gpu.name, 2);
    KIT_EXPECT_TEXT(mill_name(trace, name), "all-reduce");
    KIT_EXPECT_INT(mill_name_class(trace, name), MILL_CLASS_COMMUNICATION);
    KIT_EXPECT_INT(mill_i64(trace, &trace->streams.id, mill_u32(trace, &trace->gpu.stream, 2)), 8);
    KIT_EXPECT_INT(mill_i64(trace, &trace->gpu.bytes, 2), MILL_UNKNOWN);
    kit_test_destroy(t);
}

static void test_lines_may_end_with_cr_lf(void) {
    kit_test *t = begin_text("name,class,device,stream,start_ns,duration_ns\r\n"
                             "gemm,computation,0,7,5,6\r\n");

    KIT_EXPECT_OK(t);
    KIT_EXPECT_INT((int64_t)((const mill_trace *)kit_test_output(t, "trace", 0))->gpu.n, 1);
    kit_test_destroy(t);
}

static void test_what_is_wrong_is_told_with_its_line(void) {
    static const char *const cases[][2] = {
        {"", ":1: expected the line"},
        {"name\n", ":1: expected the line"},
        {HEADER "gemm,computation,0,7,5\n", ":2: no duration_ns"},
        {HEADER "\ngemm,computation,0,7,5,6,x\n", ":3: \"x\" is left over"},
        {HEADER "gemm,work,0,7,5,6\n", ":2: class \"work\": expected computation"},
        {HEADER "gemm,computation,0,7,5.5,6\n", ":2: start_ns \"5.5\": expected"},
        {HEADER "gemm,computation,0,7,5,-6\n", ":2: duration_ns \"-6\": expected"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kit_test *t = begin_text(cases[i][0]);

        KIT_EXPECT_FAILURE(t, MILL_E_DATA, cases[i][1]);
        kit_test_destroy(t);
    }
}

int main(int argc, char **argv) {
    plugin = argc > 1 ? argv[1] : "build/acme-thing.so";
    tiny = argc > 2 ? argv[2] : "test/tiny.csv";
    test_what_is_read();
    test_lines_may_end_with_cr_lf();
    test_what_is_wrong_is_told_with_its_line();
    return kit_test_result();
}
