/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes made by hand: see timeline_lanes.h. */
#include "timeline_lanes.h"

#include <string.h>

static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

lane_data *lane_of(const span *v, size_t n, int64_t base) {
    lane_data *d = g_new0(lane_data, 1);
    d->start = g_new(int64_t, n + 1);
    d->end = g_new(int64_t, n + 1);
    d->text = g_new(uint32_t, n + 1);
    d->cls = g_new(uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        d->start[i] = v[i].start;
        d->end[i] = v[i].end;
        d->text[i] = v[i].text;
        d->cls[i] = v[i].cls;
    }
    d->lane = (mill_lane){.size = sizeof d->lane,
                          .id = "lane",
                          .label = "lane",
                          .rank = MILL_UNKNOWN,
                          .device = MILL_UNKNOWN,
                          .stream = MILL_UNKNOWN,
                          .base_ns = base,
                          .n = n,
                          .start = d->start,
                          .end = d->end,
                          .text = d->text,
                          .cls = d->cls,
                          .texts = letters,
                          .n_texts = G_N_ELEMENTS(letters)};
    return d;
}

static void lane_free(gpointer p) {
    lane_data *d = p;
    g_free(d->start);
    g_free(d->end);
    g_free(d->text);
    g_free(d->cls);
    g_free(d);
}

mill_report report_of(GPtrArray *made) {
    return (mill_report){.size = sizeof(mill_report),
                         .id = "r",
                         .title = "Report",
                         .lanes = (const mill_lane *const *)made->pdata,
                         .n_lanes = made->len};
}

GPtrArray *lanes_new(void) {
    return g_ptr_array_new_with_free_func(lane_free);
}

GString *figure(const mill_report *report, uint64_t budget) {
    timeline *t = timeline_create("tl-1", budget);
    timeline_add(t, report);
    GString *page = g_string_new(NULL);
    timeline_append(t, page);
    timeline_destroy(t);
    return page;
}

cJSON *data_of(const GString *page) {
    const char *begin = strstr(page->str, "class=\"tl-data\">");
    g_assert_nonnull(begin);
    begin += strlen("class=\"tl-data\">");
    const char *end = strstr(begin, "</script>");
    g_assert_nonnull(end);
    cJSON *json = cJSON_ParseWithLength(begin, (size_t)(end - begin));
    g_assert_nonnull(json);
    return json;
}
