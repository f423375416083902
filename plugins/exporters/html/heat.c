/* SPDX-License-Identifier: Apache-2.0 */
/* Heat maps: see heat.h. */
#include "heat.h"
#include "write.h"

#include <inttypes.h>
#include <math.h>

#define COLUMNS 240 /* cells of a map at most, across and down: more are joined */
#define ROWS 120
#define SINGLE 1200 /* cells with a tooltip each */
#define LEFT 90
#define TOP 8

/* Rows of a report that are one map, and how many of its columns and rows are one cell. */
typedef struct map {
    const mill_series *const *rows;
    uint64_t n, columns, join_columns, join_rows;
    double low, high; /* of the scale */
    double width, height;
} map;

int heat_level(double value, double low, double high) {
    double share = high > low ? (value - low) / (high - low) : 0.5;
    return (int)fmin(HEAT_LEVELS - 1, fmax(0, floor(share * HEAT_LEVELS)));
}

static void append_legend(GString *page, double low, double high, const char *what,
                          const char *unit) {
    g_string_append(page, "<p class=\"heat-key\"><span>");
    html_text(page, what);
    g_string_append(page, " </span><span>");
    html_number(page, low);
    g_string_append_printf(page,
                           "</span><svg viewBox=\"0 0 %d 12\" width=\"%d\" height=\"12\" "
                           "aria-hidden=\"true\">",
                           HEAT_LEVELS * 20, HEAT_LEVELS * 20);
    for (int i = 0; i < HEAT_LEVELS; i++)
        g_string_append_printf(page, "<path class=\"h%d\" d=\"M%d 0h20v12h-20z\"/>", i, i * 20);
    g_string_append(page, "</svg><span>");
    html_number(page, high);
    if (unit) {
        g_string_append_c(page, ' ');
        html_text(page, unit);
    }
    g_string_append(page, "</span></p>\n");
}

/* ---------------------------------------------------------------- cells */

/* The hottest of the values that one cell stands for; NaN: none is known. */
static double cell_of(const map *m, uint64_t row, uint64_t column) {
    double hottest = NAN;
    for (uint64_t r = row * m->join_rows; r < MIN(m->n, (row + 1) * m->join_rows); r++)
        for (uint64_t c = column * m->join_columns;
             c < MIN(m->rows[r]->n, (column + 1) * m->join_columns); c++)
            if (isfinite(m->rows[r]->y[c]))
                hottest = fmax(hottest, m->rows[r]->y[c]); /* fmax leaves NaN out */
    return hottest;
}

static uint64_t across(const map *m) {
    return (m->columns + m->join_columns - 1) / m->join_columns;
}

static uint64_t down(const map *m) {
    return (m->n + m->join_rows - 1) / m->join_rows;
}

static void append_rectangle(GString *page, const map *m, uint64_t row, uint64_t column,
                             uint64_t cells) {
    g_string_append_c(page, 'M');
    html_coordinate(page, LEFT + (double)column * m->width);
    g_string_append_c(page, ' ');
    html_coordinate(page, TOP + (double)row * m->height);
    g_string_append_c(page, 'h');
    html_coordinate(page, (double)cells * m->width);
    g_string_append_c(page, 'v');
    html_coordinate(page, m->height);
    g_string_append_c(page, 'h');
    html_coordinate(page, -(double)cells * m->width);
    g_string_append_c(page, 'z');
}

/* Its level, HEAT_LEVELS where no value is known. */
static int level_of(const map *m, uint64_t row, uint64_t column) {
    double value = cell_of(m, row, column);
    return isnan(value) ? HEAT_LEVELS : heat_level(value, m->low, m->high);
}

/* Few cells: each with a tooltip, and its value where that has room. */
static void append_cell(GString *page, const map *m, uint64_t r, uint64_t c) {
    const mill_series *row = m->rows[r * m->join_rows];
    double value = cell_of(m, r, c);
    int level = level_of(m, r, c);
    g_string_append_printf(page, "<path class=\"h%c\" d=\"",
                           level < HEAT_LEVELS ? '0' + level : 'x');
    append_rectangle(page, m, r, c, 1);
    g_string_append(page, "\"><title>");
    html_text(page, html_label(row->label, row->id));
    g_string_append(page, ", ");
    html_text(page, row->x_label);
    g_string_append_c(page, ' ');
    html_number(page, c * m->join_columns < row->n ? row->x[c * m->join_columns] : NAN);
    g_string_append(page, ": ");
    html_number(page, value);
    g_string_append(page, "</title></path>\n");
    if (level == HEAT_LEVELS || m->width < 40 || m->height < 16)
        return;
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(page, "<text class=\"middle %s\" x=\"",
                           level > HEAT_LEVELS / 2 ? "hot" : "cool");
    html_coordinate(page, LEFT + ((double)c + 0.5) * m->width);
    g_string_append(page, "\" y=\"");
    html_coordinate(page, TOP + ((double)r + 0.5) * m->height + 4);
    g_string_append_printf(page, "\">%s</text>\n",
                           g_ascii_formatd(digits, sizeof digits, "%.3g", value));
}

static void append_single(GString *page, const map *m) {
    for (uint64_t r = 0; r < down(m); r++)
        for (uint64_t c = 0; c < across(m); c++)
            append_cell(page, m, r, c);
}

/* Many cells: one path a level, in which neighbours are one rectangle. */
static void append_levels(GString *page, const map *m) {
    GString *paths[HEAT_LEVELS + 1];
    for (int i = 0; i <= HEAT_LEVELS; i++)
        paths[i] = g_string_new(NULL);
    for (uint64_t r = 0; r < down(m); r++)
        for (uint64_t c = 0, next; c < across(m); c = next) {
            int level = level_of(m, r, c);
            for (next = c + 1; next < across(m) && level_of(m, r, next) == level;)
                next++;
            append_rectangle(paths[level], m, r, c, next - c);
        }
    for (int i = 0; i <= HEAT_LEVELS; i++) {
        if (paths[i]->len && i < HEAT_LEVELS)
            g_string_append_printf(page, "<path class=\"h%d\" d=\"%s\"/>\n", i, paths[i]->str);
        else if (paths[i]->len)
            g_string_append_printf(page, "<path class=\"hx\" d=\"%s\"/>\n", paths[i]->str);
        g_string_free(paths[i], TRUE);
    }
}

/* ---------------------------------------------------------------- a map */

static void append_row_names(GString *page, const map *m) {
    uint64_t every = (uint64_t)ceil(14 / m->height);
    for (uint64_t r = 0; r < down(m); r += every) {
        const mill_series *row = m->rows[r * m->join_rows];
        g_string_append_printf(page, "<text class=\"end\" x=\"%d\" y=\"", LEFT - 6);
        html_coordinate(page, TOP + ((double)r + 0.5) * m->height + 4);
        g_string_append(page, "\">");
        html_short(page, html_label(row->label, row->id), 12);
        g_string_append(page, "</text>\n");
    }
}

static void append_column_names(GString *page, const map *m) {
    const mill_series *longest = m->rows[0];
    for (uint64_t r = 1; r < m->n; r++)
        if (m->rows[r]->n > longest->n)
            longest = m->rows[r];
    uint64_t every = (uint64_t)ceil(46 / m->width);
    double y = TOP + (double)down(m) * m->height;
    for (uint64_t c = 0; c < across(m); c += every) {
        g_string_append(page, "<text class=\"middle\" x=\"");
        html_coordinate(page, LEFT + ((double)c + 0.5) * m->width);
        g_string_append(page, "\" y=\"");
        html_coordinate(page, y + 16);
        g_string_append(page, "\">");
        html_number(page, longest->x[c * m->join_columns]);
        g_string_append(page, "</text>\n");
    }
    g_string_append(page, "<text class=\"middle name\" x=\"");
    html_coordinate(page, LEFT + (double)across(m) * m->width / 2);
    g_string_append(page, "\" y=\"");
    html_coordinate(page, y + 36);
    g_string_append(page, "\">");
    html_text(page, longest->x_label);
    g_string_append(page, "</text>\n");
}

static void append_map(GString *page, const map *m) {
    const char *what = m->rows[0]->y_label;
    g_string_append(page, "<figure class=\"heat\"><figcaption>");
    html_text(page, html_label(what, m->rows[0]->id));
    if (m->join_columns > 1 || m->join_rows > 1)
        g_string_append_printf(page,
                               "<span class=\"soft\"> (a cell is the hottest of %" PRIu64
                               " × %" PRIu64 ")</span>",
                               m->join_columns, m->join_rows);
    g_string_append(page, "</figcaption><div class=\"scroll\" tabindex=\"0\"><svg viewBox=\"0 0 ");
    double width = LEFT + (double)across(m) * m->width + 10;
    double height = TOP + (double)down(m) * m->height + 44;
    html_coordinate(page, width);
    g_string_append_c(page, ' ');
    html_coordinate(page, height);
    g_string_append(page, "\" width=\"");
    html_coordinate(page, width);
    g_string_append(page, "\" role=\"img\"");
    html_attribute(page, "aria-label", what);
    g_string_append(page, ">\n");
    if (across(m) * down(m) <= SINGLE)
        append_single(page, m);
    else
        append_levels(page, m);
    append_row_names(page, m);
    append_column_names(page, m);
    g_string_append(page, "</svg></div></figure>\n");
}

/* ---------------------------------------------------------------- a report's */

static bool next_of_map(const mill_series *a, const mill_series *b) {
    return b->kind == MILL_SERIES_HEAT && g_strcmp0(a->y_label, b->y_label) == 0;
}

static bool next_of_scale(const mill_series *a, const mill_series *b) {
    return b->kind == MILL_SERIES_HEAT && g_strcmp0(a->x_label, b->x_label) == 0 &&
           g_strcmp0(a->y_unit, b->y_unit) == 0;
}

/* The range of all rows. False if nothing in them is known. */
static bool range_of(const mill_series *const *rows, uint64_t n, double *ret_low,
                     double *ret_high) {
    *ret_low = INFINITY;
    *ret_high = -INFINITY;
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c < rows[r]->n; c++)
            if (isfinite(rows[r]->y[c])) {
                *ret_low = fmin(*ret_low, rows[r]->y[c]);
                *ret_high = fmax(*ret_high, rows[r]->y[c]);
            }
    return *ret_low <= *ret_high && isfinite(*ret_high - *ret_low);
}

static uint64_t longest_row(const mill_series *const *rows, uint64_t n) {
    uint64_t longest = 0;
    for (uint64_t r = 0; r < n; r++)
        longest = MAX(longest, rows[r]->n);
    return longest;
}

/* Maps with one scale, side by side. */
static void append_maps(GString *page, const mill_series *const *rows, uint64_t n) {
    double low, high;
    if (!range_of(rows, n, &low, &high)) {
        g_string_append(page, "<p class=\"soft\">");
        html_text(page, rows[0]->y_label);
        g_string_append(page, ": no values that can be drawn.</p>\n");
        return;
    }
    g_string_append(page, "<div class=\"side-by-side\">\n");
    for (uint64_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && next_of_map(rows[i], rows[next]);)
            next++;
        map m = {.rows = rows + i, .n = next - i, .low = low, .high = high};
        m.columns = longest_row(m.rows, m.n);
        if (m.columns == 0)
            continue;
        m.join_columns = (m.columns + COLUMNS - 1) / COLUMNS;
        m.join_rows = (m.n + ROWS - 1) / ROWS;
        m.width = fmax(2, fmin(46, floor(360 / (double)across(&m))));
        m.height = fmax(5, fmin(26, floor(420 / (double)down(&m))));
        append_map(page, &m);
    }
    g_string_append(page, "</div>\n");
    append_legend(page, low, high, "scale of all:", rows[0]->y_unit);
}

void heat_series(GString *page, const mill_report *report) {
    for (uint64_t i = 0, next; i < report->n_series; i = next) {
        next = i + 1;
        if (report->series[i]->kind != MILL_SERIES_HEAT)
            continue;
        while (next < report->n_series && next_of_scale(report->series[i], report->series[next]))
            next++;
        append_maps(page, report->series + i, next - i);
    }
}
