/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to write: see samples.h. */
#include "samples.h"

#include <glib.h>
#include <math.h>
#include <string.h>
#include <tracemill/kit/report.h>

static void kinds_table(kit_report *r) {
    static const struct {
        const char *kind;
        int64_t n, sum, exposed;
    } rows[] = {{"combine", 8, 49448000, 2158000},
                {"notify", 16, 32578000, 1206000},
                {"dispatch", 8, 31004125, 798500},
                {"layout", 4, 410000, 28000}};
    kit_table *t =
        kit_table_begin(r, "kinds", "Communication by kind", "What each operation cost.");
    kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "activities", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "sum", "sum of durations", NULL,
                     "Coinciding time counts twice.");
    kit_table_column(t, MILL_KIND_NS, "exposed", "exposed", NULL, NULL);
    kit_table_column(t, MILL_KIND_RATIO, "hidden", "hidden", NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        kit_table_row(t);
        kit_cell_text(t, rows[i].kind);
        kit_cell_int(t, rows[i].n);
        kit_cell_int(t, rows[i].sum);
        kit_cell_int(t, rows[i].exposed);
        kit_cell_ratio(t, rows[i].sum - rows[i].exposed, rows[i].sum);
    }
}

static void pictures(kit_report *r) {
    static const int64_t start[] = {0, 5000}, end[] = {4000, 9000}, finding[] = {-1, 0};
    static const uint32_t text[] = {0, 1}, cls[] = {2, 2};
    static const char *const texts[] = {"dispatch", "combine", "communication"};
    static const double x[] = {0, 1, 2}, y[] = {0.5, NAN, 0.25};
    kit_lane(r, &(mill_lane){.size = sizeof(mill_lane),
                             .id = "s27",
                             .label = "stream 27",
                             .rank = 0,
                             .device = 0,
                             .stream = 27,
                             .base_ns = MILL_UNKNOWN,
                             .n = 2,
                             .start = start,
                             .end = end,
                             .text = text,
                             .cls = cls,
                             .finding = finding,
                             .texts = texts,
                             .n_texts = 3});
    kit_series(r, &(mill_series){.size = sizeof(mill_series),
                                 .id = "hidden",
                                 .label = "hidden share",
                                 .x_label = "step",
                                 .y_label = "share",
                                 .n = 3,
                                 .x = x,
                                 .y = y});
    kit_series(r, &(mill_series){.size = sizeof(mill_series),
                                 .kind = MILL_SERIES_HEAT,
                                 .id = "load",
                                 .label = "layer 3",
                                 .x_label = "GPU",
                                 .y_label = "load",
                                 .y_unit = "tokens",
                                 .n = 1,
                                 .x = x,
                                 .y = y});
}

mill_report *sample_overlap(mill_run *run) {
    kit_report *r = kit_report_begin(run, "overlap", "Compute-communication overlap",
                                     "runs/latest/rank0.json.gz");
    kit_report_summary(r,
                       "96.3 %% of communication is hidden under computation; 4 190 µs (3.2 %% of "
                       "the window) are exposed.");
    kit_note(r, MILL_INFO, "communication_set",
             "Communication is what the names of the kernels say.");
    kit_note(
        r, MILL_WARNING, "negative_duration",
        "3 activities had a negative duration and were dropped; the first one is at byte 1 234.");
    kit_figure_int(r, MILL_KIND_NS, "T", "window", NULL, "From the first start to the last end.",
                   129012000);
    kit_figure_int(r, MILL_KIND_NS, "exposed_comm", "exposed communication", NULL,
                   "Time in which communication runs and no computation.", 4190125);
    kit_figure_ratio(r, "overlap_over_comm", "communication hidden", NULL, NULL, 109250, 113440);
    kit_figure_ratio(r, "exposed_over_T", "exposed share of the window", NULL, NULL, 50, 129012);
    kit_figure_int(r, MILL_KIND_COUNT, "activities", "activities", NULL, NULL, 98300);
    kit_figure_text(r, "devices", "device", NULL, NULL, "NVIDIA H800");
    kinds_table(r);
    kit_finding(r, &(mill_finding){.size = sizeof(mill_finding),
                                   .level = MILL_WARNING,
                                   .id = "G2_1",
                                   .rule = "G2",
                                   .where = "layer 3, stream 7",
                                   .evidence = "attn(B) waits 1 761 µs for the combine kernel of "
                                               "dispatch(B), while no other stream computes.",
                                   .advice = "Issue mlp(W) before it.",
                                   .cost_ns = 1761000,
                                   .gain_ns = MILL_UNKNOWN,
                                   .confidence = 0.8,
                                   .at_ns = 115100000,
                                   .at_base_ns = MILL_UNKNOWN});
    pictures(r);
    return kit_report_end(r);
}

mill_report *sample_devices(mill_run *run) {
    static const char *const scopes[] = {"device 0", "device 1", "device 2"};
    kit_report *r = kit_report_begin(run, "overlap", "Compute-communication overlap", "two.json");
    for (int i = 0; i < 3; i++) {
        kit_figure_int(r, MILL_KIND_NS, "T", "window", scopes[i], NULL, 129012000 + i * 1500);
        kit_figure_ratio(r, "overlap_over_comm", "communication hidden", scopes[i], NULL, 5 - i,
                         i == 2 ? 0 : 7);
        kit_figure_text(r, "name", "device", scopes[i], NULL, "NVIDIA H800");
    }
    kit_figure_int(r, MILL_KIND_COUNT, "devices", "devices", NULL, NULL, 3);
    kit_figure_int(r, MILL_KIND_NS, "T", "window", "device 0", NULL, 1);
    return kit_report_end(r);
}

mill_report *sample_unknown(mill_run *run) {
    static const int64_t extremes[] = {MILL_UNKNOWN, INT64_MAX, INT64_MIN + 1, 0};
    static const double reals[] = {NAN, INFINITY, -1.5e300, 0, 0.5, 1234567.5, 0.999999, 1e-7};
    kit_report *r =
        kit_report_begin(run, "unknown", "Values that are not known, and extremes", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(extremes); i++) {
        kit_figure_int(r, MILL_KIND_COUNT, "count", "count", NULL, NULL, extremes[i]);
        kit_figure_int(r, MILL_KIND_NS, "ns", "time", NULL, NULL, extremes[i]);
        kit_figure_int(r, MILL_KIND_BYTES, "bytes", "bytes", NULL, NULL, extremes[i]);
        kit_figure_int(r, MILL_KIND_ID, "id", "stream", NULL, NULL, extremes[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(reals); i++)
        kit_figure_real(r, "real", "real", NULL, NULL, "GB/s", reals[i]);
    kit_figure_ratio(r, "none", "ratio over nothing", NULL, NULL, 1, 0);
    kit_figure_ratio(r, "tiny", "tiny ratio", NULL, NULL, 1, 100000);
    kit_figure_ratio(r, "almost", "ratio of almost all", NULL, NULL, 99999, 100000);
    kit_figure_ratio(r, "over", "ratio over one", NULL, NULL, 7, 4);
    kit_figure_text(r, "text", "name", NULL, NULL, NULL);
    kit_table *t = kit_table_begin(r, "rows", "Rows that are left short", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "rank", "rank", NULL, NULL);
    kit_table_column(t, MILL_KIND_REAL, "rate", "rate", "GB/s", NULL);
    kit_table_row(t);
    kit_table_row(t);
    kit_cell_text(t, "half");
    kit_cell_int(t, 1166);
    kit_table_row(t);
    kit_cell_text(t, "whole");
    kit_cell_int(t, 7);
    kit_cell_real(t, 0.1 + 0.2);
    return kit_report_end(r);
}

mill_report *sample_hostile(mill_run *run) {
    g_autofree char *name = g_strnfill(100000, 'k');
    memcpy(name, "void first", 10);
    memcpy(name + 100000 - 8, "last(7);", 8);
    kit_report *r =
        kit_report_begin(run, "hostile", "\x1b[2J\x1b]0;owned\x07title", "a\nb\tc\r\x7f");
    kit_report_summary(r, "right-to-left \u202e and isolates \u2066, next line \xc2\x85, \\x1b as "
                          "written, \xff no UTF-8, \"quoted\" </script> \u2028, ends.");
    kit_figure_int(r, MILL_KIND_COUNT, "n", "label \x1b[31mred", "scope \x1b[0m", NULL, 1);
    kit_note(r, MILL_WARNING, "esc", "note \x1b[5m blinks, 日本語 is wide, e\u0301 combines");
    kit_table *t = kit_table_begin(r, "names", "table \x1b[1A", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "name", "kernel \x1b[8m", NULL, NULL);
    kit_table_column(t, MILL_KIND_REAL, "x", "x", "unit\x1b[0m", NULL);
    kit_table_row(t);
    kit_cell_text(t, name);
    kit_cell_real(t, 1);
    kit_table_row(t);
    kit_cell_text(t, "\x1b[31mred\x1b[0m\x01\x02");
    kit_cell_real(t, 2.25);
    return kit_report_end(r);
}

mill_report *sample_wide(mill_run *run) {
    kit_report *r = kit_report_begin(run, "wide", "Tables that are wider than a page", NULL);
    kit_table *t = kit_table_begin(r, "matrix", "Time of each stage under each other", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "stage", "computation stage", NULL, NULL);
    for (int i = 0; i < 9; i++) {
        g_autofree char *id = g_strdup_printf("c%d", i);
        g_autofree char *label = g_strdup_printf("under communication of kind %d", i);
        kit_table_column(t, MILL_KIND_NS, id, label, NULL, NULL);
    }
    for (int row = 0; row < 3; row++) {
        kit_table_row(t);
        kit_cell_text(t, row ? "attn(F)" : "a stage with a name that is far too long for a column");
        for (int i = 0; i < 9; i++)
            kit_cell_int(t, (int64_t)1000 * (1 << (3 * i)) + 500 * row);
    }
    t = kit_table_begin(r, "names", "Names", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "kernel", "kernel", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "rule", "rule that decided", NULL, NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "activities", NULL, NULL);
    kit_table_row(t);
    kit_cell_text(t, "void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*, long*)");
    kit_cell_text(t, "dispatch");
    kit_cell_int(t, 4);
    kit_table_row(t);
    kit_cell_text(t, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    kit_cell_text(t, "the rule for all gathers of the two libraries");
    kit_cell_int(t, 12000);
    return kit_report_end(r);
}

mill_report *sample_fine(mill_run *run) {
    static const int64_t times[][8] = {
        {480029179, 472454441, 468153602, 0, 499, 500, 7574738, 480029179},
        {MILL_UNKNOWN, 1500, 1499, -1500, -400, 1, 999999, 999999500},
    };
    kit_report *r = kit_report_begin(run, "fine", "Times finer than a page is wide", NULL);
    kit_figure_int(r, MILL_KIND_NS, "T", "window", NULL, NULL, 480029179);
    for (int wide = 0; wide < 2; wide++) {
        kit_table *t = kit_table_begin(r, wide ? "blocks" : "rounded",
                                       wide ? "Too wide in any case" : "Streams", NULL);
        kit_table_column(t, MILL_KIND_ID, "stream", "stream", NULL, NULL);
        kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL, NULL);
        for (int i = 0; i < 8 + 2 * wide; i++) {
            g_autofree char *id = g_strdup_printf("t%d", i);
            kit_table_column(t, MILL_KIND_NS, id, id, NULL, NULL);
        }
        for (size_t row = 0; row < G_N_ELEMENTS(times); row++) {
            kit_table_row(t);
            kit_cell_int(t, (int64_t)row);
            kit_cell_text(t, row ? "compute" : "a stream with a long name");
            for (int i = 0; i < 8 + 2 * wide; i++)
                kit_cell_int(t, times[row][i % 8]);
        }
    }
    return kit_report_end(r);
}

mill_report *sample_empty(mill_run *run) {
    kit_report *r = kit_report_begin(run, "empty", "Nothing to say", NULL);
    kit_table *t = kit_table_begin(r, "none", "A table without rows", NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    kit_table_begin(r, "no_columns", "A table without columns", NULL);
    return kit_report_end(r);
}

#define NO_UTF8 "\xff, a half \xe2\x80, cut \xf0"
#define STEERS "\u202eback\x1b[31m"

/* Not by the kit, which mends texts: a plugin may be written without it. */
const mill_report *sample_mangled(void) {
    static const mill_figure figure = {sizeof figure, MILL_KIND_TEXT, "f",  NO_UTF8,
                                       NO_UTF8,       NULL,           NULL, {.text = NO_UTF8}};
    static const mill_figure *const figures[] = {&figure};
    static const mill_note note = {sizeof note, MILL_WARNING, "n", NO_UTF8};
    static const mill_note *const notes[] = {&note};
    static const mill_finding finding = {.size = sizeof finding,
                                         .id = "X_1",
                                         .rule = NO_UTF8,
                                         .where = STEERS,
                                         .evidence = NO_UTF8,
                                         .advice = NO_UTF8,
                                         .cost_ns = INT64_MAX,
                                         .gain_ns = -INT64_MAX,
                                         .at_ns = 1500};
    static const mill_finding *const findings[] = {&finding};
    static const int64_t start[] = {1000, MILL_UNKNOWN, -INT64_MAX, 9000};
    static const int64_t end[] = {4000, 2000, INT64_MAX, 8000}, of[] = {0, -1, 0, -1};
    static const uint32_t first[] = {0, 1, 0, 1};
    static const char *const texts[] = {NO_UTF8, STEERS};
    static const mill_lane lane = {.size = sizeof lane,
                                   .id = "l",
                                   .label = NO_UTF8,
                                   .rank = MILL_UNKNOWN,
                                   .device = MILL_UNKNOWN,
                                   .stream = MILL_UNKNOWN,
                                   .base_ns = MILL_UNKNOWN,
                                   .n = G_N_ELEMENTS(start),
                                   .start = start,
                                   .end = end,
                                   .text = first,
                                   .cls = first,
                                   .finding = of,
                                   .texts = texts,
                                   .n_texts = G_N_ELEMENTS(texts)};
    static const mill_lane *const lanes[] = {&lane};
    static const mill_report report = {.size = sizeof report,
                                       .id = "mangled",
                                       .title = NO_UTF8,
                                       .subject = NO_UTF8,
                                       .summary = NO_UTF8,
                                       .figures = figures,
                                       .notes = notes,
                                       .findings = findings,
                                       .lanes = lanes,
                                       .n_figures = 1,
                                       .n_notes = 1,
                                       .n_findings = 1,
                                       .n_lanes = 1};
    return &report;
}

/* By what chunks were told: twice by annotation, by rule, and what was not used. */
mill_report *sample_methods(mill_run *run) {
    static const char *const rows[][2] = {
        {"annotation", "yes"}, {"annotation", "yes"}, {"rule", "yes"}, {"sequence", "no"}};
    kit_report *r = kit_report_begin(run, "chunks", "C", NULL);
    kit_table *t = kit_table_begin(r, "methods", "Methods", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "method", "method", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "used", "used", NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        kit_table_row(t);
        kit_cell_text(t, rows[i][0]);
        kit_cell_text(t, rows[i][1]);
    }
    return kit_report_end(r);
}
