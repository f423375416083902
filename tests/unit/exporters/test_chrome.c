/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of chrome.write but for profiles, which test_chrome_roundtrip reads back: lanes, schedules,
 * several items, and files. */
#include "bench_host.h"
#include "fixture.h"
#include "itemised.h"
#include "overwrite.h"
#include "samples.h"

#include <cjson/cJSON.h>
#include <isa-l/igzip_lib.h>
#include <string.h>
#include <tracemill/schedule.h>

#define MODULE "plugins/exporters/chrome/chrome.so"
#define NONE MILL_NO_OP

static bench *begin(void) {
    return bench_create(bench_open(MODULE), "chrome.write");
}

/* What stands at a path, as JSON; ends the test where it is none. */
static cJSON *written(bench *b, const char *path) {
    const GString *text = bench_written(b, path);
    g_assert_nonnull(text);
    cJSON *json = cJSON_ParseWithLength(text->str, text->len);
    if (!json)
        g_error("no JSON: %s", text->str);
    return json;
}

static const char *text_of(const cJSON *event, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(event, key)) ?: "";
}

static double number_of(const cJSON *event, const char *key) {
    return cJSON_GetNumberValue(cJSON_GetObjectItem(event, key));
}

/* As Perfetto reads it. */
static gint64 bind_id(const cJSON *event) {
    const char *text = text_of(event, "bind_id");
    char *end;
    gint64 id = (gint64)g_ascii_strtoull(text, &end, 16);
    if (end == text || *end != '\0')
        g_error("bind_id is no hexadecimal number: %s", text);
    return id;
}

/* The n-th event of that phase and name. */
static const cJSON *event_at(const cJSON *json, const char *ph, const char *name, int n) {
    const cJSON *event;
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) {
        if (!strcmp(text_of(event, "ph"), ph) && !strcmp(text_of(event, "name"), name) && n-- == 0)
            return event;
    }
    return NULL;
}

static const cJSON *find(const cJSON *json, const char *ph, const char *name) {
    const cJSON *event = event_at(json, ph, name, 0);
    if (!event)
        g_error("no event %s of name %s", ph, name);
    return event;
}

static mill_trace *small_trace(bench *b, int64_t base_ns) {
    static const activity rows[] = {
        {0, 7, 1500, 2001, "gemm", MILL_CLASS_COMPUTATION, NULL, NULL, 4, 0, 0, 0},
        {0, 7, -250, 100, "</script>\"\\\x01\n", MILL_CLASS_OTHER, NULL, NULL, 0, 0, 0, 0},
    };
    fixture f = FIXTURE(rows);
    mill_trace *t = fixture_trace(b, &f);
    t->base_ns = base_ns;
    return t;
}

/* Times are exact, and text is no more than text. */
static void test_trace(void) {
    bench *b = begin(), *own = bench_create(NULL, NULL);
    bench_input(b, "trace", MILL_TYPE_TRACE, small_trace(own, 5), "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const char *text = bench_written(b, "-")->str;
    g_assert_nonnull(strstr(text, "\"ts\":1.5,\"dur\":2.001,"));
    g_assert_nonnull(strstr(text, "\"ts\":-0.25,\"dur\":0.1,"));
    g_assert_nonnull(strstr(text, "\"name\":\"</script>\\\"\\\\\\u0001\\u000a\""));
    g_assert_nonnull(strstr(text, "\"grid\":[4,1,1]"));
    cJSON *json = written(b, "-");
    g_assert_cmpfloat(number_of(json, "baseTimeNanoseconds"), ==, 5);
    find(json, "X", "</script>\"\\\x01\n");
    cJSON_Delete(json);
    bench_destroy(own);
    bench_destroy(b);
}

/* The second rank's clock began 3 µs later; its processes have numbers of their own. */
static void test_two_traces(void) {
    bench *b = begin(), *own = bench_create(NULL, NULL);
    bench_input(b, "trace", MILL_TYPE_TRACE, small_trace(own, 1000), "trace", "0");
    bench_input(b, "trace", MILL_TYPE_TRACE, small_trace(own, 4000), "trace", "1");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *json = written(b, "-");
    const cJSON *first = event_at(json, "X", "gemm", 0), *second = event_at(json, "X", "gemm", 1);
    g_assert_cmpfloat(number_of(first, "ts"), ==, 1.5);
    g_assert_cmpfloat(number_of(second, "ts"), ==, 4.5);
    g_assert_cmpfloat(number_of(first, "pid"), ==, 0);
    g_assert_cmpfloat(number_of(second, "pid"), ==, 1 << 22);
    g_assert_cmpint(bind_id(first) ^ bind_id(second), ==, 1ll << 48);
    g_assert_cmpfloat(number_of(json, "baseTimeNanoseconds"), ==, 1000);
    cJSON_Delete(json);
    bench_destroy(own);
    bench_destroy(b);
}

static void test_lanes(void) {
    bench *b = begin(), *own = bench_create(NULL, NULL);
    const mill_report *report = sample_overlap(bench_services(own));
    g_assert_cmpuint(report->n_lanes, >, 0);
    bench_input(b, "report", MILL_TYPE_REPORT, report, "overlap", "rank0");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *json = written(b, "-");
    const mill_lane *lane = report->lanes[0];
    for (int i = 0; i < (int)lane->n; i++) {
        const cJSON *event = find(json, "X", lane->texts[lane->text[i]]);
        g_assert_cmpstr(text_of(event, "cat"), ==, "lane");
        g_assert_cmpstr(text_of(cJSON_GetObjectItem(event, "args"), "class"), ==,
                        lane->texts[lane->cls[i]]);
    }
    const cJSON *first = find(json, "X", lane->texts[lane->text[0]]);
    g_assert_cmpint(lane->base_ns, ==, MILL_UNKNOWN); /* then times count from 0 */
    g_assert_cmpfloat_with_epsilon(number_of(first, "ts"), (double)lane->start[0] / 1000, 1e-9);
    cJSON_Delete(json);
    bench_destroy(own);
    bench_destroy(b);
}

/* One rank: F 0, then F&B of two micro-batches, then W of one that is not known. */
/* Texts of plugins may be no UTF-8; intervals that can't be drawn are left out. */
static void test_mangled(void) {
    bench *b = begin();
    bench_input(b, "report", MILL_TYPE_REPORT, sample_mangled(), "odd", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const GString *text = bench_written(b, "-");
    g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
    cJSON *json = written(b, "-");
    const cJSON *event = find(json, "X", "\uFFFD, a half \uFFFD\uFFFD, cut \uFFFD");
    g_assert_cmpfloat(number_of(event, "ts"), ==, 1);
    g_assert_cmpfloat(number_of(event, "dur"), ==, 3);
    g_assert_null(event_at(json, "X", text_of(event, "name"), 1));
    cJSON_Delete(json);
    bench_destroy(b);
}

/* Nor may names of files be. */
static void test_path(void) {
    bench *b = begin();
    mill_trace *t = small_trace(b, 0);
    ((char *)mill_at(t, t->path))[0] = '\xff';
    bench_input(b, "trace", MILL_TYPE_TRACE, t, "trace", "rank0");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const GString *text = bench_written(b, "-");
    g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
    bench_destroy(b);
}

static const mill_schedule *small_schedule(void) {
    static const uint8_t kind[] = {MILL_OP_FORWARD, MILL_OP_PAIR, MILL_OP_WEIGHT};
    static const uint32_t chunk[] = {0, 0, 0}, stage[] = {0, 0, 0}, mb[] = {0, 1, NONE};
    static const uint32_t chunk_back[] = {NONE, 0, NONE}, stage_back[] = {NONE, 0, NONE},
                          mb_back[] = {NONE, 0, NONE};
    static const int64_t start[] = {0, 1000, 3000}, end[] = {1000, 3000, 4500};
    static const uint64_t first[] = {0, 3};
    static const mill_schedule s = {.size = sizeof s,
                                    .simulated = 1,
                                    .id = "own",
                                    .name = "Own",
                                    .ranks = 1,
                                    .chunks = 1,
                                    .stages = 1,
                                    .n_ops = 3,
                                    .first = first,
                                    .ops = {.kind = kind,
                                            .chunk = chunk,
                                            .stage = stage,
                                            .micro_batch = mb,
                                            .chunk_back = chunk_back,
                                            .stage_back = stage_back,
                                            .micro_batch_back = mb_back,
                                            .start = start,
                                            .end = end}};
    return &s;
}

static void test_schedule(void) {
    bench *b = begin();
    bench_input(b, "schedule", MILL_TYPE_SCHEDULE, small_schedule(), "bubble", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *json = written(b, "-");
    g_assert_cmpfloat(number_of(find(json, "X", "F&B"), "dur"), ==, 2);
    g_assert_cmpfloat(number_of(find(json, "X", "F 1"), "ts"), ==, 1);
    g_assert_cmpfloat(number_of(find(json, "X", "W"), "dur"), ==, 1.5);
    const cJSON *from = find(json, "X", "F 0"), *to = find(json, "X", "B 0");
    g_assert_cmpint(bind_id(from), ==, bind_id(to));
    g_assert_true(cJSON_IsTrue(cJSON_GetObjectItem(from, "flow_out")));
    g_assert_false(cJSON_HasObjectItem(from, "flow_in"));
    g_assert_true(cJSON_IsTrue(cJSON_GetObjectItem(to, "flow_in")));
    g_assert_false(cJSON_HasObjectItem(to, "flow_out"));
    g_assert_false(cJSON_HasObjectItem(find(json, "X", "W"), "bind_id"));
    static const double live[] = {1, 2, 1};
    for (int i = 0; i < 3; i++) {
        const cJSON *counter = event_at(json, "C", "live activations of rank 0", i);
        g_assert_cmpfloat(number_of(cJSON_GetObjectItem(counter, "args"), "chunks"), ==, live[i]);
    }
    cJSON_Delete(json);
    bench_destroy(b);
}

/* A simulated schedule has no clock: it is shown where the profile beside it begins. */
static void test_beside(void) {
    bench *b = begin(), *own = bench_create(NULL, NULL);
    bench_input(b, "trace", MILL_TYPE_TRACE, small_trace(own, 5), "trace", "rank0");
    bench_input(b, "schedule", MILL_TYPE_SCHEDULE, small_schedule(), "bubble", "rank0:own");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *json = written(b, "-");
    g_assert_cmpfloat(number_of(find(json, "X", "F 0"), "ts"), ==, -0.25);
    cJSON_Delete(json);
    bench_destroy(own);
    bench_destroy(b);
}

/* Reports of one file follow each other in it, with processes of their own. */
static void test_two_reports(void) {
    bench *b = begin(), *own = bench_create(NULL, NULL);
    const mill_report *report = sample_overlap(bench_services(own));
    bench_input(b, "report", MILL_TYPE_REPORT, report, "overlap", "a");
    bench_input(b, "report", MILL_TYPE_REPORT, report, "gaps", "a");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *json = written(b, "-");
    const cJSON *first = find(json, "M", "process_name");
    const cJSON *second = event_at(json, "M", "process_name", 1);
    g_assert_cmpfloat(number_of(first, "pid") + 1, ==, number_of(second, "pid"));
    cJSON_Delete(json);
    bench_destroy(own);
    bench_destroy(b);
}

/* Each key has a file, and each is whole. */
static void test_items(void) {
    static const char *const keys[] = {"a", "b", NULL};
    bench *b = itemised_run(MODULE, keys);
    cJSON_Delete(written(b, "a.out"));
    cJSON_Delete(written(b, "b.out"));
    bench_destroy(b);
}

/* Nothing came: a file without events, and a word on why. */
static void test_none(void) {
    bench *b = begin();
    bench_missing(b, "trace", "trace", "rank3");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *json = written(b, "-");
    g_assert_cmpint(cJSON_GetArraySize(cJSON_GetObjectItem(json, "traceEvents")), ==, 1);
    cJSON_Delete(json);
    g_assert_nonnull(strstr(bench_log(b), "no profile from trace for rank3"));
    bench_destroy(b);
    b = begin();
    bench_option(b, "path=x-${item}.json");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_null(bench_written(b, "x-${item}.json"));
    bench_destroy(b);
}

static void test_gzip(void) {
    bench *b = begin(), *own = bench_create(NULL, NULL);
    g_autofree uint8_t *plain = g_malloc(1 << 20);
    bench_option(b, "path=x.json.gz");
    bench_input(b, "trace", MILL_TYPE_TRACE, small_trace(own, 5), "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const GString *packed = bench_written(b, "x.json.gz");
    struct inflate_state *z = g_new0(struct inflate_state, 1);
    isal_inflate_init(z);
    z->crc_flag = ISAL_GZIP;
    z->next_in = (uint8_t *)packed->str;
    z->avail_in = (uint32_t)packed->len;
    z->next_out = plain;
    z->avail_out = 1 << 20;
    g_assert_cmpint(isal_inflate(z), ==, ISAL_DECOMP_OK);
    g_assert_cmpint(z->block_state, ==, ISAL_BLOCK_FINISH);
    cJSON *json = cJSON_ParseWithLength((char *)plain, z->total_out);
    find(json, "X", "gemm");
    cJSON_Delete(json);
    g_free(z);
    bench_destroy(own);
    bench_destroy(b);
}

static void test_failures(void) {
    bench *b = begin();
    bench_disk_size(b, 10);
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "-"));
    bench_destroy(b);

    b = begin();
    bench_cancel_at(b, 1);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "chrome.write");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/chrome/trace", test_trace);
    g_test_add_func("/chrome/two-traces", test_two_traces);
    g_test_add_func("/chrome/lanes", test_lanes);
    g_test_add_func("/chrome/mangled", test_mangled);
    g_test_add_func("/chrome/path", test_path);
    g_test_add_func("/chrome/schedule", test_schedule);
    g_test_add_func("/chrome/beside", test_beside);
    g_test_add_func("/chrome/two-reports", test_two_reports);
    g_test_add_func("/chrome/items", test_items);
    g_test_add_func("/chrome/none", test_none);
    g_test_add_func("/chrome/gzip", test_gzip);
    g_test_add_func("/chrome/failures", test_failures);
    g_test_add_func("/chrome/overwrite", test_overwrite);
    return g_test_run();
}
