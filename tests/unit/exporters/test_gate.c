/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of gate. */
#include "bench_host.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/report.h>

#define MODULE "plugins/exporters/gate/gate.so"

/* A report with a value of each kind, one figure in two scopes, one unknown, and two tables. */
static mill_report *sample(bench *b) {
    kit_report *r = kit_report_begin(bench_services(b), "sample", "Sample", NULL);
    kit_figure_int(r, MILL_KIND_NS, "time", "time", "device 0", NULL, 1500000);
    kit_figure_int(r, MILL_KIND_NS, "time", "time", "device 1, part 2", NULL, 2500001);
    kit_figure_int(r, MILL_KIND_BYTES, "bytes", "bytes", NULL, NULL, 1536);
    kit_figure_int(r, MILL_KIND_COUNT, "count", "count", NULL, NULL, 7);
    kit_figure_int(r, MILL_KIND_ID, "stream", "stream", NULL, NULL, 27);
    kit_figure_share(r, "share", "share", NULL, NULL, 0.123);
    kit_figure_share(r, "nothing", "nothing", NULL, NULL, NAN);
    kit_figure_real(r, "rate", "rate", NULL, NULL, "GB/s", 40.5);
    kit_figure_text(r, "method", "method", NULL, NULL, "by name");
    kit_figure_int(r, MILL_KIND_NS, "delta", "delta", NULL, NULL, -3000);
    kit_table *t = kit_table_begin(r, "kinds", "Kinds", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "stream", "stream", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "exposed", "exposed", NULL, NULL);
    static const struct {
        const char *kind;
        int64_t stream, exposed;
    } rows[] = {{"combine", 7, 4000},
                {"dispatch", 13, 9000},
                {"notify", 13, MILL_UNKNOWN},
                {"v[0]::operator[]<int>", 13, 6000}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        kit_table_row(t);
        kit_cell_text(t, rows[i].kind);
        kit_cell_int(t, rows[i].stream);
        kit_cell_int(t, rows[i].exposed);
    }
    t = kit_table_begin(r, "empty", "Empty", NULL);
    kit_table_column(t, MILL_KIND_NS, "time", "time", NULL, NULL);
    return kit_report_end(r);
}

static bench *begin(const char *condition) {
    g_autofree char *setting = g_strconcat("fail-if=", condition, NULL);
    bench *b = bench_create(bench_open(MODULE), "gate");
    bench_option(b, setting);
    return b;
}

static void add(bench *b, const char *key) {
    bench_input(b, "report", MILL_TYPE_REPORT, sample(b), "stage-a", key);
}

/* Each condition alone; for those that fail, the value that is told. */
static void test_conditions(void) {
    static const struct {
        const char *condition, *value; /* NULL: passes */
    } cases[] = {
        {"sample.share > 0.123", NULL},
        {"sample.share > 12.3%", NULL},
        {"sample.share >= 12.3 %", "12.3 %"},
        {"sample.share > 0.12299999999", "0.123"},
        {"sample.share < 0.12300000001", "0.123"},
        {"sample.share == 12.3%", "12.3 %"},
        {"stage-a.share > 1%", "12.3 %"},
        {"sample.time > 2.500001ms", NULL},
        {"sample.time > 2500us", "2 500.001 µs"},
        {"sample.time < 1.5ms", NULL},
        {"sample.time <= 1.5ms", "1 500 µs"},
        {"sample.time[device 0]>=1500000ns", "1 500 µs"},
        {"sample.time [device 0] > 0.025min", NULL},
        {"sample.delta < -2us", "-3 µs"},
        {"sample.delta > -3us", NULL},
        {"sample.bytes >= 1.5KiB", "1 536 B"},
        {"sample.bytes > 1.536KB", NULL},
        {"sample.count != 7", NULL},
        {"sample.count != 8", "7"},
        {"sample.stream == 27", "27"},
        {"sample.rate < 41 GB/s", "40.5 GB/s"},
        {"sample.rate < 40.5", NULL},
        {"sample.method == by name", "by name"},
        {"sample.method != by name", NULL},
        {"sample.kinds.exposed [dispatch] > 8.9us", "9 µs"},
        {"sample.kinds.exposed [7] > 3us", "4 µs"},
        {"sample.kinds.exposed [combine] > 4us", NULL},
        {"sample.kinds.exposed [v[0]::operator[]<int>] > 5us", "6 µs"},
        {"sample.kinds.exposed > 3us", "9 µs"},
        {"sample.kinds.exposed < 5us", "4 µs"},
        {"sample.kinds.kind == notify", "notify"},
        {"sample.empty.time > 0ns", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = begin(cases[i].condition);
        add(b, "");
        g_test_message("%s", cases[i].condition);
        g_assert_cmpint(bench_run(b), ==, cases[i].value ? MILL_GATE : MILL_OK);
        const mill_report *report = bench_output(b, "report", 0);
        const mill_table *checks = look_table(report, "checks");
        g_assert_cmpstr(look_cell(checks, 0, "verdict").text, ==, cases[i].value ? "fail" : "pass");
        if (cases[i].value)
            g_assert_cmpstr(look_cell(checks, 0, "value").text, ==, cases[i].value);
        g_assert_cmpint(look_int(report, "failed", NULL), ==, cases[i].value != NULL);
        bench_destroy(b);
    }
}

static void test_says_which(void) {
    bench *b = begin("sample.time > 1ms, sample.share > 50%");
    add(b, "rank0");
    add(b, "rank1");
    g_assert_cmpint(bench_run(b), ==, MILL_GATE);
    g_assert_cmpstr(bench_log(b), ==,
                    "error: sample.time (device 1, part 2) of rank0 is 2 500.001 µs: fails by "
                    "`sample.time > 1ms` (2 of 2 values)\n"
                    "error: sample.time (device 1, part 2) of rank1 is 2 500.001 µs: fails by "
                    "`sample.time > 1ms` (2 of 2 values)\n");
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpint(look_int(report, "conditions", NULL), ==, 2);
    g_assert_cmpint(look_int(report, "checks", NULL), ==, 4);
    g_assert_cmpint(look_int(report, "failed", NULL), ==, 2);
    g_assert_nonnull(look_note(report, "gate"));
    bench_destroy(b);
}

/* With both values of `unknown`; what is told. */
static void test_unknown(void) {
    static const struct {
        const char *condition, *said;
    } cases[] = {
        {"sample.nothing > 1", "sample.nothing is unknown"},
        {"sample.kinds.exposed [notify] > 1us", "sample.kinds.exposed (notify) is unknown"},
        {"sample.kinds.exposed [notlfy] > 1us", "sample.kinds.exposed (notlfy) is not there"},
        {"sample.time [device 9] > 1us", "sample.time (device 9) is not there"},
        {"sample.kinds.exposed > 1s", "sample.kinds.exposed (kind dispatch, stream 13) is unknown"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (int pass = 0; pass < 2; pass++) {
            bench *b = begin(cases[i].condition);
            if (pass)
                bench_option(b, "unknown=pass");
            add(b, "");
            g_assert_cmpint(bench_run(b), ==, pass ? MILL_OK : MILL_GATE);
            g_assert_nonnull(strstr(bench_log(b), cases[i].said));
            g_assert_true(g_str_has_prefix(bench_log(b), pass ? "warning: " : "error: "));
            bench_destroy(b);
        }
}

/* Nothing came to check, or not all: the gate does not pass. */
static void test_missing(void) {
    bench *b = begin("sample.count > 100");
    g_assert_cmpint(bench_run(b), ==, MILL_GATE);
    g_assert_nonnull(strstr(bench_log(b), "sample.count is not there"));
    bench_destroy(b);

    b = begin("other.count > 100");
    add(b, "rank0");
    bench_missing(b, "report", "other", "rank0");
    g_assert_cmpint(bench_run(b), ==, MILL_GATE);
    g_assert_nonnull(strstr(bench_log(b), "other.count is not there"));
    bench_destroy(b);
}

/* Wrong in the pipeline: told at the check, or when the report is there. */
static void test_refused(void) {
    static const struct {
        const char *condition, *said;
    } cases[] = {
        {"sample.share", "not a condition"},
        {"share > 5", "not a condition"},
        {"a.b.c.d > 5", "not a condition"},
        {"sample.time [device 0 > 5ms", "not a condition"},
        {"sample.share >", "not a condition"},
        {"sample.share = 5", "not a condition"},
        {"sample.share > much", "\"much\" is not a number"},
        {"sample.shares > 5%", "sample has no figure \"shares\"; did you mean \"share\"?"},
        {"sample.xyz > 5%", "sample has no figure \"xyz\""},
        {"sample.kinds > 5", "sample.kinds is a table; say also which column"},
        {"sample.kind.exposed > 5us", "sample has no table \"kind\"; did you mean \"kinds\"?"},
        {"sample.kinds.expose > 5us", "sample has no column \"expose\"; did you mean \"exposed\"?"},
        {"simple.share > 5%", "no report \"simple\" came; did you mean \"sample\"?"},
        {"sample.time > 5", "\"5\" is not a duration"},
        {"sample.time > 1.5ns", "\"1.5ns\" is not a duration"},
        {"sample.bytes > 5ms", "\"5ms\" is not a size"},
        {"sample.count > 5.5", "\"5.5\" is not a whole number"},
        {"sample.share > 5ms", "\"5ms\" is not a ratio"},
        {"sample.share > 5e1%", "\"5e1%\" is not a ratio"},
        {"sample.rate > 5 MB/s", "\"5 MB/s\" is not a number"},
        {"sample.method > 5", "that value is text"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = begin(cases[i].condition);
        add(b, "");
        g_test_message("%s", cases[i].condition);
        g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
        if (!strstr(bench_causes(b), cases[i].said))
            g_error("%s", bench_causes(b));
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/gate/conditions", test_conditions);
    g_test_add_func("/gate/says-which", test_says_which);
    g_test_add_func("/gate/unknown", test_unknown);
    g_test_add_func("/gate/missing", test_missing);
    g_test_add_func("/gate/refused", test_refused);
    return g_test_run();
}
