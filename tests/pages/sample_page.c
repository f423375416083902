/* SPDX-License-Identifier: Apache-2.0 */
/* A page with timelines to look at in a browser: sample_page small|hostile|lanes|N [BUDGET] >
 * page.html */
#include "escape.h"
#include "timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--ink-soft:#59636e;--paper:#fff;--line:#d1d9e0;"
    "--accent:#0969da;--class-0:#0072b2;--class-1:#e69f00;--class-2:#009e73;--class-3:#cc79a7;"
    "--class-4:#56b4e9;--class-5:#d55e00;--class-6:#882255;--class-7:#7d8790}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--ink-soft:#9198a1;--paper:#0d1117;"
    "--line:#3d444d;--accent:#4493f8}}"
    "body{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;"
    "margin:1rem auto;max-width:1200px;padding:0 1rem}";

#define HOSTILE "</script><img src=x onerror=alert(1)>"

static mill_lane *lane_create(const char *label, int64_t base, const char *const *texts,
                              uint64_t n_texts) {
    mill_lane *lane = g_new0(mill_lane, 1);
    *lane = (mill_lane){.size = sizeof *lane,
                        .id = label,
                        .label = label,
                        .rank = 0,
                        .device = 0,
                        .stream = MILL_UNKNOWN,
                        .base_ns = base,
                        .texts = texts,
                        .n_texts = n_texts};
    return lane;
}

static void add(mill_lane *lane, int64_t start, int64_t end, uint32_t text, uint32_t cls) {
    if ((lane->n & (lane->n - 1)) == 0) {
        size_t room = lane->n ? 2 * lane->n : 1;
        lane->start = g_renew(int64_t, (int64_t *)lane->start, room);
        lane->end = g_renew(int64_t, (int64_t *)lane->end, room);
        lane->text = g_renew(uint32_t, (uint32_t *)lane->text, room);
        lane->cls = g_renew(uint32_t, (uint32_t *)lane->cls, room);
    }
    ((int64_t *)lane->start)[lane->n] = start;
    ((int64_t *)lane->end)[lane->n] = end;
    ((uint32_t *)lane->text)[lane->n] = text;
    ((uint32_t *)lane->cls)[lane->n] = cls;
    lane->n++;
}

static void lane_destroy(gpointer p) {
    mill_lane *lane = p;
    g_free((void *)lane->start);
    g_free((void *)lane->end);
    g_free((void *)lane->text);
    g_free((void *)lane->cls);
    g_free(lane);
}

/* Intervals of known places: "first" in [0, 100 µs), and one a ms later of 250.125 µs. */
static void fill_known(mill_lane *lane) {
    add(lane, 0, 100000, 5, 0);
    add(lane, 1100000, 1350125, 6, 1);
    add(lane, 2000000, 5000000, 1, 2);
}

static void fill_random(mill_lane *lane, uint64_t n, int64_t step) {
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    int64_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        at += g_rand_int(random) % 4 ? 0 : g_rand_int(random) % (uint32_t)step;
        int64_t end = at + 1 + g_rand_int(random) % (uint32_t)step;
        uint32_t cls = (uint32_t)(i * 8 / n + g_rand_int(random) % 2) % 8;
        add(lane, at, end, cls, cls);
        at = end;
    }
}

static void append_page(const mill_report *report, uint64_t budget) {
    timeline *t = timeline_create("tl", budget);
    timeline_add(t, report);
    g_autoptr(GString) page = g_string_new("<!doctype html><html lang=en><meta charset=utf-8>"
                                           "<meta name=viewport content=\"width=device-width\">"
                                           "<title>Timelines</title><link rel=icon href=data:,>"
                                           "<style>");
    g_string_append_printf(page, "%s\n%s</style>\n<h1>Timelines</h1>\n", style, timeline_css());
    for (uint64_t i = 0; i < report->n_findings; i++) {
        int64_t shown;
        if (timeline_link(t, page, report->findings[i], &shown)) {
            escape_text(page, report->findings[i]->where);
            g_string_append(page, "</a>\n");
        }
    }
    timeline_append(t, page);
    g_string_append_printf(page, "<script>%s</script></html>\n", timeline_js());
    fwrite(page->str, 1, page->len, stdout);
    timeline_destroy(t);
}

/* Many lanes of few intervals, each in a place of its own. */
static void fill_many(GPtrArray *lanes, const char *const *texts, uint64_t n_texts) {
    for (int i = 0; i < 400; i++) {
        mill_lane *lane = lane_create("one of many", 1740461679471346000, texts, n_texts);
        for (int k = 0; k < 20; k++)
            add(lane, i * 1000 + k * 200000, i * 1000 + k * 200000 + 100000, (uint32_t)k % 8,
                (uint32_t)k % 8);
        g_ptr_array_add(lanes, lane);
    }
}

int main(int argc, char **argv) {
    static const char *const texts[] = {"F",      "B",    "W",           "dispatch", "combine",
                                        "notify", "idle", "computation", "first",    HOSTILE};
    static const char *const known[] = {"F", "B", "W", "x", "y", "first", HOSTILE};
    const char *kind = argc > 1 ? argv[1] : "small";
    uint64_t n = g_ascii_isdigit(kind[0]) ? g_ascii_strtoull(kind, NULL, 10) : 2000;
    mill_lane *first[] = {
        lane_create("stream 7", 1740461679471346000, known, G_N_ELEMENTS(known)),
        lane_create("stream 27", 1740461679471346000, texts, G_N_ELEMENTS(texts)),
        lane_create(strcmp(kind, "hostile") == 0 ? HOSTILE : "overlap", 1740461679471346000, texts,
                    G_N_ELEMENTS(texts)),
    };
    fill_known(first[0]);
    fill_random(first[1], n, 4000);
    fill_random(first[2], n / 10 + 1, 40000);
    g_autoptr(GPtrArray) lanes = g_ptr_array_new_with_free_func(lane_destroy);
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        g_ptr_array_add(lanes, first[i]);
    if (strcmp(kind, "lanes") == 0)
        fill_many(lanes, texts, G_N_ELEMENTS(texts));
    mill_finding finding = {.size = sizeof finding,
                            .level = MILL_WARNING,
                            .id = "G2_1",
                            .rule = "G2",
                            .where = strcmp(kind, "hostile") == 0 ? HOSTILE : "layer 3, stream 7",
                            .at_ns = 1100000,
                            .at_base_ns = 1740461679471346000};
    const mill_finding *findings[] = {&finding};
    mill_report report = {.size = sizeof report,
                          .id = "overlap",
                          .title = strcmp(kind, "hostile") == 0 ? HOSTILE : "Overlap",
                          .findings = findings,
                          .n_findings = 1,
                          .lanes = (const mill_lane *const *)lanes->pdata,
                          .n_lanes = lanes->len};
    append_page(&report, argc > 2 ? g_ascii_strtoull(argv[2], NULL, 10) : 1500000);
    return 0;
}
