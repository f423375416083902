/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what html.write's timelines mark: places of findings, and gaps. */
#include "timeline_lanes.h"

#include <inttypes.h>
#include <string.h>

/* Whether a finding at a time of a clock has a link, and to where. */
static void check_link(const timeline *t, int64_t at, int64_t base, const char *href,
                       int64_t shown) {
    int64_t axis = -1;
    mill_finding finding = {.size = sizeof finding, .at_ns = at, .at_base_ns = base};
    g_autoptr(GString) page = g_string_new(NULL);
    g_assert_true(timeline_link(t, page, &finding, &axis) == (href != NULL));
    g_assert_cmpstr(page->str, ==, href ? href : "");
    g_assert_cmpint(axis, ==, shown);
}

#define TO(at) "<a href=\"#tl-1\" data-at=\"" #at "\" data-timeline=\"tl-1\">"

static void test_links(void) {
    static const span v[] = {{-100, 900, 0, 0}};
    g_autoptr(GPtrArray) made = lanes_new();
    g_ptr_array_add(made, lane_of(v, 1, 5000));
    mill_report report = report_of(made);
    timeline *t = timeline_create("tl-1", 100000);
    timeline_add(t, &report);
    check_link(t, 0, 5000, TO(100), 0);
    check_link(t, 900, 5000, TO(1000), 900);
    check_link(t, 4900, 0, TO(0), -100);
    check_link(t, 0, MILL_UNKNOWN, TO(100), 0);
    static const int64_t outside[] = {-101, 901, MILL_UNKNOWN, INT64_MAX, INT64_MIN + 1};
    for (size_t i = 0; i < G_N_ELEMENTS(outside); i++)
        check_link(t, outside[i], 5000, NULL, -1);
    timeline_destroy(t);
}

/* Two devices, of which the second begins 300 later: a finding's time counts from its own. */
static void test_links_of_devices(void) {
    static const span v[] = {{0, 900, 0, 0}};
    g_autoptr(GPtrArray) made = lanes_new();
    g_ptr_array_add(made, lane_of(v, 1, 5000));
    g_ptr_array_add(made, lane_of(v, 1, 5300));
    mill_report report = report_of(made);
    mill_finding finding = {.size = sizeof finding, .at_ns = 50, .at_base_ns = 5300};
    report.findings = (const mill_finding *const[]){&finding};
    report.n_findings = 1;
    timeline *t = timeline_create("tl-1", 100000);
    timeline_add(t, &report);
    check_link(t, 50, 5000, TO(50), 50);
    check_link(t, 50, 5300, TO(350), 350);
    check_link(t, 50, MILL_UNKNOWN, NULL, -1);
    GString *page = g_string_new(NULL);
    timeline_append(t, page);
    g_assert_nonnull(strstr(page->str, "\"marks\":[{\"at\":350,"));
    g_string_free(page, TRUE);
    timeline_destroy(t);
}

/* ---------------------------------------------------------------- gaps */

#define COLUMN(name, of, ...)                                                                      \
    &(const mill_table_column) {                                                                   \
        .size = sizeof(mill_table_column), .id = name, .kind = MILL_KIND_##of,                     \
        .cells = (const mill_datum[]) {                                                            \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* Of stream 7: a long gap that waits for stream 27, one for a stream without a lane, one that is
 * too short, and one beyond the timeline. */
static const mill_table_column *const gap_columns[] = {
    COLUMN("device", ID, {.i = 0}, {.i = 0}, {.i = 0}, {.i = 0}),
    COLUMN("stream", ID, {.i = 7}, {.i = 7}, {.i = 7}, {.i = 7}),
    COLUMN("start", NS, {.i = 100}, {.i = 600}, {.i = 900}, {.i = INT64_MAX}),
    COLUMN("time", NS, {.i = 400}, {.i = 200}, {.i = 99}, {.i = 1000}),
    COLUMN("not_launched", NS, {.i = 0}, {.i = 101}, {.i = 0}, {.i = 0}),
    COLUMN("cause", TEXT, {.text = "wait_comm"}, {.text = "wait_compute"}, {.text = "x"},
           {.text = "x"}),
    COLUMN("next_stage", TEXT, {.text = "attn(B)"}, {NULL}, {NULL}, {NULL}),
    COLUMN("next", TEXT, {.text = "gemm"}, {.text = "<gemm>"}, {NULL}, {NULL}),
    COLUMN("blocker_stream", ID, {.i = 27}, {.i = 99}, {.i = MILL_UNKNOWN}, {.i = MILL_UNKNOWN}),
    COLUMN("blocker_stage", TEXT, {.text = "dispatch(B)"}, {NULL}, {NULL}, {NULL}),
    COLUMN("blocker", TEXT, {.text = "combine"}, {.text = "copy"}, {NULL}, {NULL}),
    COLUMN("blocker_end", NS, {.i = 480}, {.i = 790}, {.i = MILL_UNKNOWN}, {.i = MILL_UNKNOWN}),
};

static mill_lane *stream_of(GPtrArray *made, const span *v, size_t n, int64_t stream) {
    lane_data *d = lane_of(v, n, 5000);
    d->lane.device = 0;
    d->lane.stream = stream;
    g_ptr_array_add(made, d);
    return &d->lane;
}

/* The report of the streams, and that of their gaps, whose table is the one above. */
static GString *gaps_page(int64_t least) {
    static const span seven[] = {{0, 100, 0, 0}, {500, 600, 0, 0}, {800, 2000, 0, 0}};
    static const span other[] = {{50, 300, 0, 0}, {300, 480, 0, 0}};
    static const span gaps[] = {{100, 500, 1, 1}, {600, 800, 1, 1}};
    g_autoptr(GPtrArray) streams = lanes_new(), of_gaps = lanes_new();
    stream_of(streams, seven, G_N_ELEMENTS(seven), 7);
    stream_of(streams, other, G_N_ELEMENTS(other), 27);
    stream_of(of_gaps, gaps, G_N_ELEMENTS(gaps), 7);
    mill_table table = {.size = sizeof table,
                        .id = "largest",
                        .columns = gap_columns,
                        .n_columns = G_N_ELEMENTS(gap_columns),
                        .rows = 4};
    const mill_table *const tables[] = {&table};
    mill_report reports[] = {report_of(streams), report_of(of_gaps)};
    reports[1].tables = tables;
    reports[1].n_tables = 1;
    timeline *t = timeline_create("tl-1", 100000);
    timeline_mark_gaps(t, least);
    timeline_add(t, &reports[0]);
    timeline_add(t, &reports[1]);
    GString *page = g_string_new(NULL);
    timeline_append(t, page);
    timeline_destroy(t);
    return page;
}

static int64_t number(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return item ? (int64_t)item->valuedouble : -1;
}

static void test_gaps(void) {
    GString *page = gaps_page(100);
    cJSON *json = data_of(page);
    const cJSON *waits = cJSON_GetObjectItem(json, "waits"), *gap = cJSON_GetArrayItem(waits, 0);
    g_assert_cmpint(cJSON_GetArraySize(waits), ==, 2);
    g_assert_cmpint(number(gap, "lane"), ==, 2);
    g_assert_cmpint(number(gap, "from"), ==, 100);
    g_assert_cmpint(number(gap, "to"), ==, 500);
    g_assert_cmpint(number(gap, "other"), ==, 1);
    g_assert_cmpint(number(gap, "at"), ==, 480);
    g_assert_cmpstr(cJSON_GetObjectItem(gap, "text")->valuestring, ==,
                    "attn(B) waits 0.4 µs for combine of dispatch(B) on stream 27 (wait_comm)");
    gap = cJSON_GetArrayItem(waits, 1);
    g_assert_cmpstr(cJSON_GetObjectItem(gap, "text")->valuestring, ==,
                    "<gemm> waits 0.2 µs for copy on stream 99 (not launched for 0.101 µs, then "
                    "wait_compute)");
    g_assert_cmpstr(cJSON_GetObjectItem(gap, "cause")->valuestring, ==, "not_launched");
    g_assert_cmpint(number(gap, "other"), ==, -1);
    cJSON_Delete(json);
    g_assert_nonnull(strstr(page->str, "2 gaps of 0.1 µs or more are marked"));
    g_assert_nonnull(strstr(page->str, "&lt;gemm&gt; waits"));
    g_assert_null(strstr(page->str, "<gemm> waits"));
    g_assert_nonnull(strstr(page->str, "data-at=\"300\" data-timeline=\"tl-1\">0.1 µs</a>"));
    g_assert_nonnull(strstr(page->str, "class=\"tl-to\""));
    g_string_free(page, TRUE);

    page = gaps_page(401);
    g_assert_null(strstr(page->str, "tl-wait"));
    g_assert_null(strstr(page->str, "are marked"));
    g_string_free(page, TRUE);
}

void timeline_marks_tests(void) {
    g_test_add_func("/timeline/links", test_links);
    g_test_add_func("/timeline/links/devices", test_links_of_devices);
    g_test_add_func("/timeline/gaps", test_gaps);
}
