/* SPDX-License-Identifier: Apache-2.0 */
/* Line charts: see chart.h. */
#include "chart.h"
#include "axis.h"
#include "write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 740
#define HEIGHT 300
#define LEFT 76 /* where the axes are */
#define RIGHT 700
#define TOP 12
#define BOTTOM 248
#define CURVES 24   /* in one chart */
#define MARKERS 400 /* points with a mark of their own, in one chart */
#define ORDERED 4000

typedef struct plot {
    axis x, y;
    bool markers;
} plot;

static double x_of(const plot *p, double x) {
    return LEFT + axis_place(&p->x, x) * (RIGHT - LEFT);
}

static double y_of(const plot *p, double y) {
    return BOTTOM - axis_place(&p->y, y) * (BOTTOM - TOP);
}

/* ---------------------------------------------------------------- axes */

static void append_ticks(GString *page, const plot *p) {
    for (int i = 0; i < axis_ticks(&p->y); i++) {
        double y = y_of(p, axis_tick(&p->y, i));
        g_string_append_printf(page, "<path class=\"grid\" d=\"M%d ", LEFT);
        html_coordinate(page, y);
        g_string_append_printf(page, "H%d\"/><text class=\"end\" x=\"%d\" y=\"", RIGHT, LEFT - 8);
        html_coordinate(page, y + 4);
        g_string_append(page, "\">");
        axis_label(page, &p->y, axis_tick(&p->y, i));
        g_string_append(page, "</text>\n");
    }
    for (int i = 0; i < axis_ticks(&p->x); i++) {
        double x = x_of(p, axis_tick(&p->x, i));
        g_string_append(page, "<path class=\"axis\" d=\"M");
        html_coordinate(page, x);
        g_string_append_printf(page, " %dv5\"/><text class=\"middle\" x=\"", BOTTOM);
        html_coordinate(page, x);
        g_string_append_printf(page, "\" y=\"%d\">", BOTTOM + 20);
        axis_label(page, &p->x, axis_tick(&p->x, i));
        g_string_append(page, "</text>\n");
    }
    g_string_append_printf(page, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM,
                           RIGHT);
}

static void append_axis_name(GString *page, const char *label, const char *unit) {
    html_text(page, label);
    if (unit && *unit) {
        g_string_append(page, " [");
        html_text(page, unit);
        g_string_append_c(page, ']');
    }
}

/* ---------------------------------------------------------------- curves */

/* The points of one pixel's column that follow each other. */
typedef struct column {
    double x, first, low, high, last;
    bool any;
} column;

static void append_point(GString *page, char command, double x, double y) {
    g_string_append_c(page, command);
    html_coordinate(page, x);
    g_string_append_c(page, ' ');
    html_coordinate(page, y);
}

static void flush_column(GString *page, column *c, bool *begun) {
    if (!c->any)
        return;
    append_point(page, *begun ? 'L' : 'M', c->x, c->first);
    if (c->low < c->high) {
        append_point(page, 'L', c->x, c->low);
        append_point(page, 'L', c->x, c->high);
        append_point(page, 'L', c->x, c->last);
    } else if (!*begun) {
        g_string_append(page, "h0"); /* a point alone is seen by its round ends */
    }
    *begun = true;
    c->any = false;
}

static bool is_ascending(const chart_curve *curve) {
    for (uint64_t i = 1; i < curve->n; i++)
        if (!(curve->x[i - 1] <= curve->x[i]))
            return false;
    return true;
}

typedef struct point {
    double x, y;
} point;

static int compare_points(const void *a, const void *b) {
    const point *p = a, *q = b;
    return isnan(p->x) || isnan(q->x) ? isnan(p->x) - isnan(q->x) : (p->x > q->x) - (p->x < q->x);
}

/* The points, by x where there are so many that only their ranges are drawn. */
static point *points_of(const chart_curve *curve) {
    point *points = g_new(point, curve->n + 1);
    for (uint64_t i = 0; i < curve->n; i++)
        points[i] = (point){curve->x[i], curve->y[i]};
    if (curve->n > ORDERED && !is_ascending(curve))
        qsort(points, curve->n, sizeof *points, compare_points);
    return points;
}

static void append_line(GString *page, const plot *p, const chart_curve *curve, size_t number) {
    g_autofree point *points = points_of(curve);
    bool begun = false;
    column c = {0};
    g_string_append_printf(page, "<path class=\"line c%zu d%zu\" d=\"", number % 8, number % 3);
    for (uint64_t i = 0; i < curve->n; i++) {
        if (!isfinite(points[i].x) || !isfinite(points[i].y)) {
            flush_column(page, &c, &begun);
            begun = false;
            continue;
        }
        double x = x_of(p, points[i].x), y = y_of(p, points[i].y);
        if (curve->n > RIGHT - LEFT)
            x = floor(x);
        if (c.any && x != c.x)
            flush_column(page, &c, &begun);
        if (!c.any)
            c = (column){x, y, y, y, y, true};
        c.low = fmin(c.low, y);
        c.high = fmax(c.high, y);
        c.last = y;
    }
    flush_column(page, &c, &begun);
    g_string_append(page, "\"/>\n");
}

/* What lies under a curve; those below it are painted over it. */
static void append_area(GString *page, const plot *p, const chart_curve *curve, size_t number) {
    if (curve->n == 0)
        return;
    g_string_append_printf(page, "<path class=\"area c%zu\" d=\"", number % 8);
    append_point(page, 'M', x_of(p, curve->x[0]), y_of(p, 0));
    for (uint64_t i = 0; i < curve->n; i++)
        append_point(page, 'L', x_of(p, curve->x[i]), y_of(p, curve->y[i]));
    append_point(page, 'L', x_of(p, curve->x[curve->n - 1]), y_of(p, 0));
    g_string_append(page, "z\"/>\n");
}

/* Shapes tell curves apart where colours don't. */
static const char *const shapes[] = {"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m-3.5-3.5h7v7h-7z",
                                     "m0-5l5 5l-5 5l-5-5z", "m0-5l4.5 8h-9z"};

static void append_markers(GString *page, const plot *p, const chart_curve *curve, size_t number) {
    for (uint64_t i = 0; i < curve->n; i++) {
        if (!isfinite(curve->x[i]) || !isfinite(curve->y[i]))
            continue;
        g_string_append_printf(page, "<path class=\"mark c%zu\" d=\"", number % 8);
        append_point(page, 'M', x_of(p, curve->x[i]), y_of(p, curve->y[i]));
        g_string_append_printf(page, "%s\"><title>", shapes[number % G_N_ELEMENTS(shapes)]);
        html_text(page, curve->label);
        g_string_append(page, ": ");
        html_number(page, curve->x[i]);
        g_string_append(page, ", ");
        html_number(page, curve->y[i]);
        g_string_append(page, "</title></path>\n");
    }
}

static void append_legend(GString *page, const chart *c, const plot *p) {
    g_string_append(page, "<ul class=\"legend\">");
    for (size_t i = 0; i < MIN(c->n, CURVES); i++) {
        g_string_append_printf(page, "<li><svg class=\"key\" viewBox=\"0 0 32 12\" width=\"32\" "
                                     "height=\"12\" aria-hidden=\"true\">");
        if (c->stacked)
            g_string_append_printf(page, "<path class=\"area c%zu\" d=\"M1 0h30v12h-30z\"/>",
                                   i % 8);
        else
            g_string_append_printf(page, "<path class=\"line c%zu d%zu\" d=\"M1 6H31\"/>", i % 8,
                                   i % 3);
        if (p->markers)
            g_string_append_printf(page, "<path class=\"mark c%zu\" d=\"M16 6%s\"/>", i % 8,
                                   shapes[i % G_N_ELEMENTS(shapes)]);
        g_string_append(page, "</svg>");
        html_short(page, c->curves[i].label, 60);
        g_string_append(page, "</li>\n");
    }
    if (c->n > CURVES)
        g_string_append_printf(page, "<li>and %zu more curves, not drawn</li>", c->n - CURVES);
    g_string_append(page, "</ul>\n");
}

/* ---------------------------------------------------------------- the chart */

/* Fits both axes around all points. False if there is nothing that can be drawn. */
static bool fit(const chart *c, plot *ret_plot) {
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    uint64_t points = 0;
    for (size_t k = 0; k < MIN(c->n, CURVES); k++)
        for (uint64_t i = 0; i < c->curves[k].n; i++) {
            double px = c->curves[k].x[i], py = c->curves[k].y[i];
            if (!isfinite(px) || !isfinite(py))
                continue;
            points++;
            x[0] = fmin(x[0], px), x[1] = fmax(x[1], px);
            y[0] = fmin(y[0], py), y[1] = fmax(y[1], py);
        }
    /* From zero, unless that would flatten the curve to a line. */
    if (y[0] > 0 && (y[0] < 0.7 * y[1] || c->stacked))
        y[0] = 0;
    ret_plot->markers = points <= MARKERS && !c->stacked;
    return points && axis_fit(&ret_plot->x, x[0], x[1], 8) && axis_fit(&ret_plot->y, y[0], y[1], 5);
}

/* Points only at whole numbers, such as layers: no ticks between them. */
static void whole_ticks(const chart *c, axis *a) {
    for (size_t k = 0; k < MIN(c->n, CURVES); k++)
        for (uint64_t i = 0; i < c->curves[k].n; i++)
            if (isfinite(c->curves[k].x[i]) && c->curves[k].x[i] != floor(c->curves[k].x[i]))
                return;
    if (a->step < 1)
        *a = (axis){floor(a->lo), ceil(a->hi), 1, 0};
}

static void append_curves(GString *page, const chart *c, const plot *p) {
    size_t n = MIN(c->n, CURVES);
    for (size_t i = 0; i < n; i++) {
        if (c->stacked)
            append_area(page, p, &c->curves[n - 1 - i], n - 1 - i);
        else
            append_line(page, p, &c->curves[i], i);
    }
    for (size_t i = 0; p->markers && i < n; i++)
        append_markers(page, p, &c->curves[i], i);
}

void chart_append(GString *page, const chart *c) {
    plot p;
    g_string_append(page, "<figure class=\"chart\"><figcaption>");
    html_text(page, c->title);
    g_string_append(page, "</figcaption>\n");
    if (!fit(c, &p)) {
        g_string_append(page, "<p class=\"soft\">No values that can be drawn.</p></figure>\n");
        return;
    }
    whole_ticks(c, &p.x);
    g_string_append_printf(page,
                           "<div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 %d %d\" "
                           "role=\"img\"",
                           WIDTH, HEIGHT);
    html_attribute(page, "aria-label", c->title);
    g_string_append(page, ">\n");
    append_ticks(page, &p);
    append_curves(page, c, &p);
    g_string_append_printf(page, "<text class=\"middle name\" x=\"%d\" y=\"%d\">",
                           (LEFT + RIGHT) / 2, HEIGHT - 8);
    append_axis_name(page, c->x_label, c->x_unit);
    g_string_append_printf(page,
                           "</text><text class=\"middle name\" transform=\"translate(16 %d) "
                           "rotate(-90)\">",
                           (TOP + BOTTOM) / 2);
    append_axis_name(page, c->y_label, c->y_unit);
    g_string_append(page, "</text></svg></div>\n");
    if (c->n > 1 || (c->n && g_strcmp0(c->curves[0].label, c->title) != 0))
        append_legend(page, c, &p);
    g_string_append(page, "</figure>\n");
}

/* ---------------------------------------------------------------- a report's */

static bool same_axes(const mill_series *a, const mill_series *b) {
    return b->kind == MILL_SERIES_CURVE && g_strcmp0(a->x_label, b->x_label) == 0 &&
           g_strcmp0(a->y_label, b->y_label) == 0 && g_strcmp0(a->x_unit, b->x_unit) == 0 &&
           g_strcmp0(a->y_unit, b->y_unit) == 0;
}

/* Parts of a whole at each time, as the analysis of overlap tells them. */
static bool are_parts(const mill_report *r, const chart_curve *curves, const mill_series *first,
                      size_t n) {
    if (g_strcmp0(r->id, "overlap") != 0 || !g_str_has_prefix(first->id, "sms_"))
        return false;
    for (size_t k = 0; k < n; k++)
        for (uint64_t i = 0; i < curves[k].n; i++)
            if (curves[k].n != curves[0].n || curves[k].x[i] != curves[0].x[i] ||
                !(curves[k].y[i] >= 0))
                return false;
    return true;
}

/* Each curve on those before it. Returns what holds the sums. */
static double *stack(chart_curve *curves, size_t n) {
    uint64_t points = curves[0].n;
    double *sums = g_new(double, n *points + 1);
    for (size_t k = 0; k < n; k++) {
        for (uint64_t i = 0; i < points; i++)
            sums[k * points + i] = curves[k].y[i] + (k ? sums[(k - 1) * points + i] : 0);
        curves[k].y = sums + k * points;
    }
    return sums;
}

void chart_series(GString *page, const mill_report *report) {
    for (uint64_t i = 0, next; i < report->n_series; i = next) {
        const mill_series *s = report->series[i];
        for (next = i + 1; next < report->n_series && same_axes(s, report->series[next]);)
            next++;
        if (s->kind != MILL_SERIES_CURVE) {
            next = i + 1;
            continue;
        }
        g_autofree chart_curve *curves = g_new0(chart_curve, next - i);
        for (uint64_t k = i; k < next; k++) {
            const mill_series *one = report->series[k];
            curves[k - i] = (chart_curve){html_label(one->label, one->id), one->x, one->y, one->n};
        }
        g_autofree char *title =
            g_strdup_printf("%s by %s", html_label(s->y_label, s->id), html_label(s->x_label, "x"));
        bool parts = are_parts(report, curves, s, next - i);
        double *sums = parts ? stack(curves, next - i) : NULL;
        chart_append(page, &(chart){.title = next - i == 1 ? curves[0].label : title,
                                    .stacked = parts,
                                    .x_label = s->x_label,
                                    .x_unit = s->x_unit,
                                    .y_label = s->y_label,
                                    .y_unit = s->y_unit,
                                    .curves = curves,
                                    .n = next - i});
        g_free(sums);
    }
}
