/* SPDX-License-Identifier: Apache-2.0 */
/* Which reports have pictures of their own: see views.h. */
#include "views.h"
#include "chart.h"
#include "look.h"
#include "waterfall.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- eplb */

enum { BEFORE, AFTER, BOUND, LOADS };

static const mill_table_column *of_kind(const mill_table *t, const char *id, mill_kind kind) {
    const mill_table_column *c = t ? look_column(t, id) : NULL;
    return c && c->kind == kind ? c : NULL;
}

/* The largest load of a GPU over the mean of each layer: before, after, and what no plan can go
 * below. `gap` is after / bound - 1. */
static void append_bound(GString *page, const mill_report *r) {
    const mill_table *t = look_table(r, "layers");
    const mill_table_column *layer = of_kind(t, "layer", MILL_KIND_ID);
    const mill_table_column *mean = of_kind(t, "mean", MILL_KIND_REAL);
    const mill_table_column *before = of_kind(t, "before", MILL_KIND_REAL);
    const mill_table_column *after = of_kind(t, "after", MILL_KIND_REAL);
    const mill_table_column *gap = of_kind(t, "gap", MILL_KIND_RATIO);
    if (!layer || !mean || !before || !after || !gap || t->rows < 2)
        return;
    g_autofree double *x = g_new(double, t->rows), *y = g_new(double, LOADS * t->rows);
    for (uint64_t i = 0; i < t->rows; i++) {
        double whole = mean->cells[i].d > 0 ? mean->cells[i].d : NAN;
        x[i] = layer->cells[i].i == MILL_UNKNOWN ? NAN : (double)layer->cells[i].i;
        y[BEFORE * t->rows + i] = before->cells[i].d / whole;
        y[AFTER * t->rows + i] = after->cells[i].d / whole;
        y[BOUND * t->rows + i] = after->cells[i].d / (1 + gap->cells[i].d) / whole;
    }
    const chart_curve curves[LOADS] = {
        [BEFORE] = {"before", x, y + BEFORE * t->rows, t->rows},
        [AFTER] = {"after", x, y + AFTER * t->rows, t->rows},
        [BOUND] = {"no plan can have less", x, y + BOUND * t->rows, t->rows},
    };
    chart_append(page, &(chart){.title = "Largest load of a GPU, and its lower bound",
                                .x_label = "layer",
                                .y_label = "largest load / mean",
                                .curves = curves,
                                .n = LOADS});
}

void views_append(GString *page, const mill_report *report) {
    if (g_strcmp0(report->id, "overlap") == 0) {
        waterfall_append(page, report, look_table(report, "exposed_comm_by_reason"));
        matrix_append(page, look_table(report, "overlap_matrix"));
    } else if (g_strcmp0(report->id, "eplb") == 0) {
        append_bound(page, report);
    }
}
