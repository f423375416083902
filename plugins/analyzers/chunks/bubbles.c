/* SPDX-License-Identifier: Apache-2.0 */
/* What the published formulas make of chunk durations: bubbles, their shares of a step, curves. */
#include "chunks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const kit_column bubble_columns[] = {
    {MILL_KIND_TEXT, "basis", "basis", "What counts as a chunk's own time."},
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_NS, "bubble", "bubble", "Of a device, in one step."},
    {MILL_KIND_TEXT, "formula", "formula", NULL},
    {MILL_KIND_TEXT, "source", "source", NULL},
    {0},
};

static const kit_column share_columns[] = {
    {MILL_KIND_TEXT, "basis", "basis", NULL},
    {MILL_KIND_COUNT, "m", "m", "Micro-batches in a step."},
    {MILL_KIND_RATIO, "1f1b", "1F1B", "bubble / (m(F + B) + bubble)"},
    {MILL_KIND_RATIO, "zb1p", "ZB1P", "bubble / (m(F + B) + bubble)"},
    {MILL_KIND_RATIO, "dualpipe", "DualPipe", "bubble / (m F&B + bubble)"},
    {MILL_KIND_TEXT, "remark", "remark", NULL},
    {0},
};

/* What the bubble is a share of: work and bubble. Unknown where the schedule does not run, and
 * where the formula gives nonsense. */
static int64_t whole_of(kit_schedule schedule, const mill_chunk_cost *cost, int64_t stages,
                        int64_t m) {
    int64_t bubble = kit_bubble(schedule, cost, stages);
    if (kit_schedulable(schedule, stages, m) != m || bubble < 0)
        return MILL_UNKNOWN;
    return kit_add(kit_bubble_work(schedule, cost, m), bubble);
}

static void tell_bubble(kit_report *r, int64_t stages, const chunks_row *rows, size_t n) {
    kit_table *t =
        kit_table_of(r, "bubbles", "Pipeline bubbles, by published formulas",
                     "For equal stages and free transfers between them.", bubble_columns);
    if (n > 1)
        kit_table_column(t, MILL_KIND_TEXT, "of", "of", NULL, NULL);
    for (size_t i = 0; i < n; i++)
        for (int basis = 0; basis < MILL_BASES; basis++)
            for (int s = 0; s < KIT_SCHEDULES; s++) {
                kit_table_row(t);
                kit_cell_text(t, chunks_basis_names[basis]);
                kit_cell_text(t, kit_closed_forms[s].name);
                kit_cell_int(t, kit_bubble((kit_schedule)s, &rows[i].costs[basis], stages));
                kit_cell_text(t, kit_closed_forms[s].formula);
                kit_cell_text(t, kit_closed_forms[s].source);
                if (n > 1)
                    kit_cell_text(t, rows[i].label);
            }
}

static const char *remark(mill_run *run, int64_t stages, int64_t m) {
    int64_t nearest = kit_schedulable(KIT_SCHEDULE_DUALPIPE, stages, m);
    char *text = mill_scratch(run, 96);
    if (nearest == m)
        return "";
    if (nearest == 0)
        return "no DualPipe: PP must be even";
    snprintf(text, 96, "no DualPipe: nearest m is %lld", (long long)nearest);
    return text;
}

static void tell_share(mill_run *run, kit_table *t, int64_t stages, int64_t m,
                       const mill_chunk_cost *cost) {
    kit_cell_int(t, m);
    for (int s = 0; s < KIT_SCHEDULES; s++) {
        int64_t whole = whole_of((kit_schedule)s, cost, stages, m);
        kit_cell_ratio(t, kit_bubble((kit_schedule)s, cost, stages),
                       whole == MILL_UNKNOWN ? 0 : whole);
    }
    kit_cell_text(t, remark(run, stages, m));
}

static void tell_shares(mill_run *run, kit_report *r, const chunks_pipeline *p, int64_t stages,
                        const chunks_row *rows, size_t n) {
    const int64_t *m = p->micro_batches.v;
    kit_table *t = kit_table_of(r, "bubble_shares", "Share of a step that is bubble",
                                "By the same formulas. Schedules with other work for a device "
                                "(pairs take F&B, not F + B) are not told apart by their shares.",
                                share_columns);
    if (n > 1)
        kit_table_column(t, MILL_KIND_TEXT, "of", "of", NULL, NULL);
    for (size_t i = 0; i < n; i++)
        for (int basis = 0; basis < MILL_BASES; basis++)
            for (size_t k = 0; k < p->micro_batches.n; k++) {
                kit_table_row(t);
                kit_cell_text(t, chunks_basis_names[basis]);
                tell_share(run, t, stages, m[k], &rows[i].costs[basis]);
                if (n > 1)
                    kit_cell_text(t, rows[i].label);
            }
}

/* A curve for each schedule, of the first row on the basis that counts. */
static void tell_curves(mill_run *run, kit_report *r, const chunks_pipeline *p, int64_t stages,
                        const mill_chunk_cost *cost) {
    const int64_t *m = p->micro_batches.v;
    double *x = mill_scratch(run, p->micro_batches.n * sizeof *x);
    double *y = mill_scratch(run, p->micro_batches.n * sizeof *y);
    for (int s = 0; s < KIT_SCHEDULES; s++) {
        char id[32];
        snprintf(id, sizeof id, "bubble_%s", kit_closed_forms[s].id);
        for (size_t k = 0; k < p->micro_batches.n; k++) {
            int64_t whole = whole_of((kit_schedule)s, cost, stages, m[k]);
            x[k] = (double)m[k];
            y[k] = whole <= 0 ? NAN
                              : (double)kit_bubble((kit_schedule)s, cost, stages) / (double)whole;
        }
        kit_series(r, &(mill_series){
                          .id = id,
                          .label = kit_closed_forms[s].name,
                          .x_label = "micro-batches",
                          .y_label = "share of the step that is bubble",
                          .n = p->micro_batches.n,
                          .x = x,
                          .y = y,
                      });
    }
}

/* Where simulation shows that a published formula is not what the schedule does. */
static void note_domain(kit_report *r, const chunks_row *row) {
    const mill_chunk_cost *c = &row->costs[MILL_BASIS_TRANSFER];
    if (c->forward == MILL_UNKNOWN || c->input == MILL_UNKNOWN)
        return;
    if (c->weight > c->forward || c->weight > c->input)
        kit_note(r, MILL_WARNING, "closed_form_domain",
                 "%s: W is longer than F or Bi, so the formulas of ZB1P and DualPipe give too "
                 "small a bubble: simulate the schedule instead (tracemill run bubble).",
                 row->label);
    else if (c->input != c->forward)
        kit_note(r, MILL_INFO, "closed_form_domain",
                 "%s: Bi differs from F, where DualPipe's formula is not exact: simulate the "
                 "schedule for exact figures (tracemill run bubble).",
                 row->label);
}

void chunks_tell_bubbles(mill_run *run, kit_report *r, const chunks_pipeline *pipeline,
                         int64_t stages, const chunks_row *rows, size_t n) {
    if (n == 0 || stages < 2)
        return;
    for (size_t i = 0; i < n; i++)
        note_domain(r, &rows[i]);
    tell_bubble(r, stages, rows, n);
    tell_shares(run, r, pipeline, stages, rows, n);
    tell_curves(run, r, pipeline, stages, rows[0].costs);
}
