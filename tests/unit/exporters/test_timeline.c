/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of html.write's timelines: levels of detail against sums made one tick at a time, the
 * budget, and lanes that no analysis would make. */
#include "data.h"
#include "levels.h"
#include "picture.h"
#include "timeline.h"
#include "timeline_lanes.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

/* Intervals up to `length` long; some touch, some are far from the one before. In any order. */
static void random_spans(GRand *r, span *v, size_t n, int64_t span_ns, int64_t length) {
    for (size_t i = 0; i < n; i++) {
        int64_t start = g_rand_int_range(r, 0, (gint32)span_ns);
        v[i] = (span){start, start + g_rand_int_range(r, 1, (gint32)length),
                      (uint32_t)g_rand_int_range(r, 0, 3), (uint32_t)g_rand_int_range(r, 0, 5)};
    }
}

/* ---------------------------------------------------------------- rows */

/* Rows have no overlaps, and all the time that the intervals have, where eight rows are enough. */
static void test_rows(void) {
    g_autoptr(GRand) r = g_rand_new_with_seed(1);
    for (int round = 0; round < 200; round++) {
        span v[64];
        size_t n = (size_t)g_rand_int_range(r, 1, 64);
        random_spans(r, v, n, 500, round % 2 ? 20 : 200);
        g_autoptr(GPtrArray) made = lanes_new();
        g_ptr_array_add(made, lane_of(v, n, 1000));
        mill_report report = report_of(made);
        lanes *l = lanes_create();
        lanes_add(l, &report);
        lanes_finish(l, 10000);
        const lanes_lane *lane = g_ptr_array_index(l->lanes, 0);
        int64_t want = 0, got = 0;
        for (size_t i = 0; i < n; i++)
            want += v[i].end - v[i].start;
        for (unsigned k = 0; k < lane->n_rows; k++) {
            int64_t end = 0;
            for (size_t i = 0; i < lane->rows[k].n; i++) {
                const lanes_interval *x = &lane->rows[k].v[i];
                g_assert_cmpint(x->start, >=, end);
                g_assert_cmpint(x->end, >, x->start);
                g_assert_cmpint(x->end, <=, l->span);
                end = x->end;
                got += (x->end - x->start) * l->tick_ns;
            }
        }
        if (l->losses.crowded)
            g_assert_cmpint(got, <, want);
        else
            g_assert_cmpint(got, ==, want);
        g_assert_true(lane->n_rows == LANES_ROWS || !l->losses.crowded);
        lanes_destroy(l);
    }
}

/* ---------------------------------------------------------------- levels */

#define BINS 600

typedef struct sums {
    uint64_t ticks[BINS][8];
    uint64_t width, last_bin;
    uint32_t last_cls;
    bool any;
} sums;

static void take(void *arg, const levels_piece *piece) {
    sums *s = arg;
    g_assert_true(!s->any || piece->bin > s->last_bin ||
                  (piece->bin == s->last_bin && piece->cls > s->last_cls));
    g_assert_cmpuint(piece->ticks, >, 0);
    g_assert_cmpuint(piece->ticks, <=, s->width);
    g_assert_true(piece->run == 1 || piece->ticks == s->width);
    for (uint64_t b = piece->bin; b < piece->bin + piece->run; b++)
        s->ticks[b][piece->cls] += piece->ticks;
    s->any = true;
    s->last_bin = piece->bin + piece->run - 1;
    s->last_cls = piece->cls;
}

/* Each tick of the row by itself. */
static void count_ticks(const lanes_row *row, const kinds *k, sums *s) {
    for (size_t i = 0; i < row->n; i++)
        for (int64_t t = row->v[i].start; t < row->v[i].end; t++)
            s->ticks[(uint64_t)t / s->width][kinds_at(k, row->v[i].kind).cls]++;
}

static uint64_t next_number(const GByteArray *bytes, guint *at) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        g_assert_cmpuint(*at, <, bytes->len);
        guint8 byte = bytes->data[(*at)++];
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

/* As the script reads them. */
static void read_bins(const GByteArray *bytes, sums *s) {
    uint64_t bin = 0;
    for (guint at = 0; at < bytes->len;) {
        uint64_t head = next_number(bytes, &at), cls = next_number(bytes, &at);
        uint64_t amount = next_number(bytes, &at), run = head % 2 ? amount : 1;
        bin += head / 2;
        levels_piece piece = {bin, run, (uint32_t)cls, head % 2 ? s->width : amount};
        take(s, &piece);
        bin += run - 1;
    }
}

static void read_exact(const GByteArray *bytes, const lanes_row *row) {
    int64_t end = 0;
    guint at = 0;
    for (size_t i = 0; i < row->n; i++) {
        int64_t start = end + (int64_t)next_number(bytes, &at);
        end = start + (int64_t)next_number(bytes, &at);
        g_assert_cmpint(start, ==, row->v[i].start);
        g_assert_cmpint(end, ==, row->v[i].end);
        g_assert_cmpuint(next_number(bytes, &at), ==, row->v[i].kind);
    }
    g_assert_cmpuint(at, ==, bytes->len);
}

static void check_level(const lanes *l, const lanes_row *row, uint64_t width) {
    static sums want, walked, read;
    want = walked = read = (sums){.width = width};
    count_ticks(row, l->kinds, &want);
    levels_walk(row, l->kinds, width, take, &walked);
    g_assert_cmpmem(walked.ticks, sizeof walked.ticks, want.ticks, sizeof want.ticks);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    levels_bins(row, l->kinds, width, bytes);
    g_assert_cmpuint(bytes->len, ==, levels_bins_size(row, l->kinds, width));
    read_bins(bytes, &read);
    g_assert_cmpmem(read.ticks, sizeof read.ticks, want.ticks, sizeof want.ticks);
}

static void test_levels(void) {
    g_autoptr(GRand) r = g_rand_new_with_seed(2);
    for (int round = 0; round < 60; round++) {
        span v[40];
        size_t n = (size_t)g_rand_int_range(r, 1, 40);
        random_spans(r, v, n, 400, round % 3 ? 12 : 180);
        g_autoptr(GPtrArray) made = lanes_new();
        g_ptr_array_add(made, lane_of(v, n, -77));
        mill_report report = report_of(made);
        lanes *l = lanes_create();
        lanes_add(l, &report);
        lanes_finish(l, 10000);
        const lanes_lane *lane = g_ptr_array_index(l->lanes, 0);
        for (unsigned k = 0; k < lane->n_rows; k++) {
            for (uint64_t width = 1; width <= 1024; width *= 2)
                check_level(l, &lane->rows[k], width);
            check_level(l, &lane->rows[k], 7);
            g_autoptr(GByteArray) bytes = g_byte_array_new();
            levels_exact(&lane->rows[k], bytes);
            read_exact(bytes, &lane->rows[k]);
        }
        lanes_destroy(l);
    }
}

/* The finest level that fits: the next finer one does not. */
static void test_fit(void) {
    g_autoptr(GRand) r = g_rand_new_with_seed(3);
    span *v = g_new(span, 5000);
    for (int i = 0; i < 5000; i++)
        v[i] = (span){i * 100, i * 100 + g_rand_int_range(r, 1, 100), 0, (uint32_t)i % 3};
    g_autoptr(GPtrArray) made = lanes_new();
    g_ptr_array_add(made, lane_of(v, 5000, 0));
    g_free(v);
    mill_report report = report_of(made);
    lanes *l = lanes_create();
    lanes_add(l, &report);
    lanes_finish(l, 10000);
    const lanes_row *row = &((lanes_lane *)g_ptr_array_index(l->lanes, 0))->rows[0];
    for (uint64_t limit = 50; limit < 10000; limit *= 2) {
        uint64_t width = levels_fit(row, l->kinds, l->span, limit);
        g_assert_cmpuint(levels_bins_size(row, l->kinds, width), <=, limit);
        g_assert_cmpuint(levels_bins_size(row, l->kinds, width / 2), >, limit);
    }
    g_assert_cmpuint(levels_fit(row, l->kinds, l->span, 2), ==, 0);
    lanes_destroy(l);
}

/* ---------------------------------------------------------------- the figure */

/* Bytes of all rows, by what they hold. */
static void count_rows(const cJSON *json, unsigned *exact, unsigned *bins) {
    const cJSON *lane, *row;
    *exact = *bins = 0;
    cJSON_ArrayForEach(lane, cJSON_GetObjectItem(json, "lanes")) {
        cJSON_ArrayForEach(row, cJSON_GetObjectItem(lane, "rows")) {
            *exact += cJSON_HasObjectItem(row, "exact");
            *bins += cJSON_HasObjectItem(row, "bins");
        }
    }
}

/* Lanes of many sizes and labels: never more than the budget, and what is given up is said. */
static void test_budget(void) {
    g_autoptr(GRand) r = g_rand_new_with_seed(4);
    static const struct {
        unsigned lanes, n;
        uint64_t budget;
    } cases[] = {{1, 20000, 20000},  {1, 20000, 100000}, {1, 20000, 1000000}, {40, 500, 60000},
                 {40, 500, 1000000}, {3000, 3, 100000},  {3000, 3, 20000}};
    for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
        g_autoptr(GPtrArray) made = lanes_new();
        for (unsigned i = 0; i < cases[c].lanes; i++) {
            g_autofree span *v = g_new(span, cases[c].n);
            int64_t at = 0;
            for (unsigned k = 0; k < cases[c].n; k++) {
                at += g_rand_int_range(r, 0, 5000);
                v[k] = (span){at, at + g_rand_int_range(r, 1, 5000), k % 9, k % 8};
                at = v[k].end;
            }
            g_ptr_array_add(made, lane_of(v, cases[c].n, 0));
        }
        mill_report report = report_of(made);
        GString *page = figure(&report, cases[c].budget);
        g_assert_cmpuint(page->len, <=, cases[c].budget);
        cJSON *json = data_of(page);
        unsigned exact, bins;
        count_rows(json, &exact, &bins);
        bool all = exact == cases[c].lanes;
        g_assert_true(all == (cases[c].budget == 1000000));
        g_assert_true(all || strstr(page->str, "do not fit into the") ||
                      strstr(page->str, "to keep the page small"));
        g_assert_true((bins > 0) == (strstr(page->str, "added up over at most") != NULL));
        cJSON_Delete(json);
        g_string_free(page, TRUE);
    }
}

/* Findings with long texts, and intervals that belong to them; the index of one is wrong. */
static void test_marks(void) {
    enum { N = 3000 };
    g_autofree char *where = g_strnfill(1000, 'w');
    mill_finding finding = {
        .size = sizeof finding, .level = MILL_INFO, .rule = "R", .where = where, .at_ns = 10};
    g_autofree const mill_finding **findings = g_new(const mill_finding *, N);
    g_autofree span *v = g_new(span, N);
    g_autofree int64_t *belongs = g_new(int64_t, N);
    for (int i = 0; i < N; i++) {
        findings[i] = &finding;
        v[i] = (span){i * 10, i * 10 + 5, 0, 0};
        belongs[i] = i == 1 ? N : i / 2;
    }
    g_autoptr(GPtrArray) made = lanes_new();
    g_ptr_array_add(made, lane_of(v, N, 0));
    ((lane_data *)made->pdata[0])->lane.finding = belongs;
    mill_report report = report_of(made);
    report.findings = findings;
    report.n_findings = N;
    GString *page = figure(&report, 50000);
    g_assert_cmpuint(page->len, <=, 50000);
    g_assert_nonnull(strstr(page->str, "findings have no mark, to keep the page small"));
    g_assert_nonnull(strstr(page->str, "2000 more findings have no mark"));
    cJSON *json = data_of(page);
    cJSON *lane = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "lanes"), 0);
    cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(lane, "rows"), 0);
    cJSON *marks = cJSON_GetObjectItem(row, "marks");
    static const int want[] = {0, 0, 2, 1, 3, 1, 4, 2};
    for (size_t i = 0; i < G_N_ELEMENTS(want); i++)
        g_assert_cmpint(cJSON_GetArrayItem(marks, (int)i)->valueint, ==, want[i]);
    cJSON_Delete(json);
    g_string_free(page, TRUE);
}

/* One label and one class for each interval. */
static void test_many_texts(void) {
    enum { N = 5000 };
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    g_autofree span *v = g_new(span, N);
    for (int i = 0; i < N; i++) {
        g_ptr_array_add(texts, g_strdup_printf("class of number %d", i));
        v[i] = (span){i * 10, i * 10 + (i < 63 ? 9 : 5), (uint32_t)i, (uint32_t)i};
    }
    g_autoptr(GPtrArray) made = lanes_new();
    lane_data *d = lane_of(v, N, 0);
    d->lane.texts = (const char *const *)texts->pdata;
    d->lane.n_texts = N;
    g_ptr_array_add(made, d);
    mill_report report = report_of(made);
    lanes *l = lanes_create();
    lanes_add(l, &report);
    lanes_finish(l, 10000);
    g_assert_cmpuint(kinds_n_classes(l->kinds), ==, KINDS_CLASSES);
    g_assert_cmpstr(kinds_class_at(l->kinds, 62)->name, ==, "class of number 62");
    g_assert_cmpstr(kinds_class_at(l->kinds, 63)->name, ==, "other (4937 classes)");
    g_assert_cmpuint(kinds_class_at(l->kinds, 63)->ns, ==, 4937 * 5);
    lanes_destroy(l);
    GString *page = figure(&report, 40000);
    g_assert_cmpuint(page->len, <=, 40000);
    g_assert_nonnull(strstr(page->str, "rare labels are left out"));
    g_string_free(page, TRUE);
}

/* Colours: those that readers know stay, the others differ as long as there are colours. */
static void test_colours(void) {
    kinds *k = kinds_create();
    static const char *const names[] = {"notify", "x", "F", "y", "idle", "z"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        kinds_add(k, kinds_text(k, names[i]), kinds_text(k, names[i]), 1);
    kinds_finish(k, 1000);
    g_assert_cmpuint(kinds_class_at(k, 2)->colour, ==, 1);
    g_assert_false(kinds_class_at(k, 2)->hatched);
    g_assert_true(kinds_class_at(k, 0)->hatched);
    g_assert_cmpuint(kinds_class_at(k, 4)->colour, ==, KINDS_NEUTRAL);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        for (size_t j = 0; j < i; j++)
            g_assert_true(kinds_class_at(k, i)->colour != kinds_class_at(k, j)->colour ||
                          kinds_class_at(k, i)->hatched != kinds_class_at(k, j)->hatched);
    kinds_destroy(k);
}

/* A title above the lanes of each device, but not above each lane. */
static void check_groups(const int64_t *ranks, size_t n, const char *const *want) {
    static const span v[] = {{0, 10, 0, 0}};
    g_autoptr(GPtrArray) made = lanes_new();
    for (size_t i = 0; i < n; i++) {
        lane_data *d = lane_of(v, 1, 0);
        d->lane.rank = ranks[i];
        g_ptr_array_add(made, d);
    }
    mill_report report = report_of(made);
    lanes *l = lanes_create();
    lanes_add(l, &report);
    lanes_finish(l, 1000);
    for (guint i = 0; i < n; i++) {
        g_autofree char *group = picture_group(l, i);
        g_assert_cmpstr(group, ==, want[i]);
    }
    lanes_destroy(l);
}

static void test_groups(void) {
    check_groups((int64_t[]){0, 1, 2}, 3, (const char *[]){"Report", NULL, NULL});
    check_groups((int64_t[]){0, 0, 1}, 3,
                 (const char *[]){"Report, rank 0", NULL, "Report, rank 1"});
    check_groups((int64_t[]){4}, 1, (const char *[]){"Report, rank 4"});
}

/* ---------------------------------------------------------------- hostile lanes */

static void test_hostile(void) {
    static const span broken[] = {
        {5, 3, 0, 0},
        {7, 7, 0, 0},
        {MILL_UNKNOWN, 9, 0, 0},
        {1, MILL_UNKNOWN, 0, 0},
        {INT64_MAX - 5, INT64_MAX, 0, 0},
        {100, 200, 77, 99},
        {50, 60, 0, 1},
    };
    g_autoptr(GPtrArray) made = lanes_new();
    g_ptr_array_add(made, lane_of(broken, G_N_ELEMENTS(broken), 1000));
    g_ptr_array_add(made, lane_of(broken, 0, 0));
    ((lane_data *)made->pdata[0])->lane.label = "</script><img src=x onerror=alert(1)>";
    mill_report report = report_of(made);
    report.title = "</script><b>";
    GString *page = figure(&report, 100000);
    g_assert_null(strstr(page->str, "</script><"));
    g_assert_null(strstr(page->str, "<img"));
    g_assert_nonnull(strstr(page->str, "2 intervals on 1 lanes, 0.15 µs"));
    g_assert_nonnull(strstr(page->str, "1 intervals end before they begin"));
    g_assert_nonnull(strstr(page->str, "3 intervals have no usable time"));
    g_assert_nonnull(strstr(page->str, "1 intervals of no duration"));
    cJSON *json = data_of(page);
    g_assert_cmpfloat(cJSON_GetObjectItem(json, "span")->valuedouble, ==, 15); /* ticks of 10 ns */
    cJSON_Delete(json);
    g_string_free(page, TRUE);
}

/* Times that JavaScript's numbers can't hold: near ones stay exact, far ones are cut off. */
static void test_far(void) {
    int64_t base = INT64_MAX - 10000;
    static const span v[] = {{1, 4, 0, 0}, {11, 14, 0, 1}, {21, 24, 0, 2}, {31, 33, 0, 0}};
    static const span early[] = {{INT64_MIN + 1, INT64_MIN + 50, 0, 0}, {-5, 5, 0, 0}};
    g_autoptr(GPtrArray) made = lanes_new();
    g_ptr_array_add(made, lane_of(v, G_N_ELEMENTS(v), base));
    g_ptr_array_add(made, lane_of(early, G_N_ELEMENTS(early), 0));
    mill_report report = report_of(made);
    lanes *l = lanes_create();
    lanes_add(l, &report);
    lanes_finish(l, 1000);
    g_assert_cmpuint(l->losses.far, ==, 2);
    g_assert_cmpint(l->start_ns, ==, base + 1);
    g_assert_cmpint(l->span * l->tick_ns, ==, 32);
    lanes_destroy(l);

    static const span endless[] = {{INT64_MIN + 1, INT64_MAX, 0, 0}};
    g_autoptr(GPtrArray) other = lanes_new();
    g_ptr_array_add(other, lane_of(endless, 1, 0));
    report = report_of(other);
    GString *page = figure(&report, 50000);
    g_assert_nonnull(strstr(page->str, "are cut off there"));
    g_string_free(page, TRUE);
}

static void test_empty(void) {
    mill_report report = {.size = sizeof report, .title = "nothing"};
    timeline *t = timeline_create("tl-1", 1000);
    timeline_add(t, &report);
    g_assert_true(timeline_is_empty(t));
    g_autoptr(GString) page = g_string_new(NULL);
    int64_t shown;
    g_assert_false(timeline_link(t, page, &(mill_finding){.at_ns = 0}, &shown));
    timeline_append(t, page);
    g_assert_cmpstr(page->str, ==, "");
    timeline_destroy(t);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timeline/rows", test_rows);
    g_test_add_func("/timeline/levels", test_levels);
    g_test_add_func("/timeline/fit", test_fit);
    g_test_add_func("/timeline/budget", test_budget);
    g_test_add_func("/timeline/marks", test_marks);
    g_test_add_func("/timeline/many-texts", test_many_texts);
    g_test_add_func("/timeline/colours", test_colours);
    g_test_add_func("/timeline/groups", test_groups);
    g_test_add_func("/timeline/hostile", test_hostile);
    g_test_add_func("/timeline/far", test_far);
    g_test_add_func("/timeline/empty", test_empty);
    timeline_marks_tests();
    return g_test_run();
}
