/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns of text on a page of a given width: see grid.h. */
#include "grid.h"
#include "page.h"

#include <string.h>

#define GAP 2u        /* blanks between columns */
#define LABEL_MAX 16u /* labels that are wider are broken into lines */

typedef struct column {
    char *label, *unit; /* or NULL */
    bool number;
    size_t head, tail; /* widest cell before, and from, the decimal point */
    size_t width;      /* of the widest cell, and of the unit */
    size_t word;       /* the longest word of the cells */
} column;

struct text_grid {
    size_t keep;
    bool wrap;
    GArray *columns;  /* column */
    GPtrArray *cells; /* char *, row by row */
};

static void column_clear(gpointer data) {
    column *c = data;
    g_free(c->label);
    g_free(c->unit);
}

text_grid *text_grid_create(size_t keep, bool wrap) {
    text_grid *grid = g_new(text_grid, 1);
    *grid = (text_grid){keep, wrap, g_array_new(FALSE, TRUE, sizeof(column)),
                        g_ptr_array_new_with_free_func(g_free)};
    g_array_set_clear_func(grid->columns, column_clear);
    return grid;
}

void text_grid_destroy(text_grid *grid) {
    if (!grid)
        return;
    g_array_unref(grid->columns);
    g_ptr_array_unref(grid->cells);
    g_free(grid);
}

static column *column_at(const text_grid *grid, size_t i) {
    return &g_array_index(grid->columns, column, i);
}

void text_grid_column(text_grid *grid, char *label, const char *unit, bool number) {
    column c = {.label = label, .unit = g_strdup(unit), .number = number};
    c.width = unit ? text_width(unit) : 0;
    g_array_append_val(grid->columns, c);
}

/* The part of a number from its decimal point on. */
static const char *number_tail(const char *text) {
    const char *point = strchr(text, '.');
    return point ? point : text + strlen(text);
}

void text_grid_cell(text_grid *grid, char *text) {
    column *c = column_at(grid, grid->cells->len % grid->columns->len);
    g_ptr_array_add(grid->cells, text);
    if (!text)
        return;
    if (c->number && g_ascii_isdigit(text[strlen(text) - 1])) {
        size_t tail = text_width(number_tail(text));
        c->tail = MAX(c->tail, tail);
        c->head = MAX(c->head, text_width(text) - tail);
        c->width = MAX(c->width, c->head + c->tail);
    } else {
        c->width = MAX(c->width, text_width(text));
        c->word = MAX(c->word, text_longest_word(text));
    }
}

static size_t total_width(const size_t *widths, size_t n) {
    size_t total = n ? (n - 1) * GAP : 0;
    for (size_t i = 0; i < n; i++)
        total += widths[i];
    return total;
}

/* The width of a column with its label: on one line if it is short and there is room. */
static size_t labelled_width(const column *c, bool room) {
    size_t label = c->label ? text_width(c->label) : 0;
    if (!room || label > LABEL_MAX)
        label = MIN(c->label ? text_longest_word(c->label) : 0, LABEL_MAX);
    return MAX(c->width, label);
}

/* How far a text column may shrink. Wrapped text keeps its words whole. */
static size_t least_width(const text_grid *grid, size_t i, size_t least) {
    return grid->wrap && i == 0 ? MAX(least, MIN(column_at(grid, i)->word, LABEL_MAX)) : least;
}

/* Takes from the widest text columns until all fit, or no text is wider than its least width. */
static void shrink_text(const text_grid *grid, size_t *widths, size_t page, size_t least) {
    size_t n = grid->columns->len;
    for (size_t i = 0; i < n; i++)
        if (!column_at(grid, i)->number)
            widths[i] = MIN(widths[i], MAX(page, least_width(grid, i, least)));
    while (total_width(widths, n) > page) {
        size_t widest = n;
        for (size_t i = 0; i < n; i++)
            if (!column_at(grid, i)->number && widths[i] > least_width(grid, i, least) &&
                (widest == n || widths[i] > widths[widest]))
                widest = i;
        if (widest == n)
            return;
        widths[widest]--;
    }
}

static void print_padded(GString *out, const char *text, size_t width, bool right) {
    size_t used = text_width(text), blanks = MAX(width, used) - used;
    text_repeat(out, " ", right ? blanks : 0);
    g_string_append(out, text);
    text_repeat(out, " ", right ? 0 : blanks);
}

static void print_cell(GString *out, const column *c, const char *text, size_t width) {
    if (!c->number) {
        g_autofree char *fitting = text_shorten(text, width);
        print_padded(out, fitting, width, false);
    } else if (*text && g_ascii_isdigit(text[strlen(text) - 1])) {
        size_t after = c->tail - text_width(number_tail(text));
        print_padded(out, text, width - after, true);
        text_repeat(out, " ", after);
    } else {
        print_padded(out, text, width, true);
    }
}

/* The labels of a block, standing on the line of their units, over a rule. */
static void print_labels(const text_grid *grid, const size_t *shown, size_t n, const size_t *widths,
                         GString *out) {
    g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    size_t lines = 0;
    bool units = false;
    for (size_t i = 0; i < n; i++) {
        const column *c = column_at(grid, shown[i]);
        GPtrArray *label = text_lines(c->label ? c->label : "", MAX(widths[shown[i]], 1));
        g_ptr_array_add(labels, label);
        lines = MAX(lines, label->len);
        units |= c->unit != NULL;
    }
    for (size_t line = 0; line < lines + units; line++) {
        for (size_t i = 0; i < n; i++) {
            const column *c = column_at(grid, shown[i]);
            const GPtrArray *label = labels->pdata[i];
            size_t above = lines - label->len; /* empty lines, so that the label stands below */
            const char *text = line == lines  ? c->unit
                               : line < above ? ""
                                              : label->pdata[line - above];
            text_repeat(out, " ", i ? GAP : 0);
            print_padded(out, text ? text : "", widths[shown[i]], c->number);
        }
        text_end_line(out);
    }
    for (size_t i = 0; lines && i < n; i++) {
        text_repeat(out, " ", i ? GAP : 0);
        text_repeat(out, "─", widths[shown[i]]);
    }
    if (lines)
        text_end_line(out);
}

/* The lines of a cell that is wider than its column: of the first one where the grid says so, and
 * of sentences in the last one. Else NULL: it is shortened to one line. */
static GPtrArray *lines_of(const text_grid *grid, size_t i, const char *text, size_t width) {
    bool first = grid->wrap && i == 0;
    bool last = i > 0 && i + 1 == grid->columns->len && !column_at(grid, i)->number &&
                width >= TEXT_READABLE && text && text_width(text) > width &&
                text_longest_word(text) <= width;
    return text && (first || last) ? text_lines(text, MAX(width, 1)) : NULL;
}

/* cells: of the whole row. */
static void print_row(const text_grid *grid, const size_t *shown, size_t n, const size_t *widths,
                      gpointer *cells, GString *out) {
    g_autoptr(GPtrArray) wrapped = NULL; /* lines of one cell */
    size_t indent = 0;                   /* where its lines begin */
    for (size_t i = 0, left = 0; i < n; left += widths[shown[i]] + GAP, i++) {
        const char *text = cells[shown[i]];
        GPtrArray *lines = wrapped ? NULL : lines_of(grid, shown[i], text, widths[shown[i]]);
        if (lines) {
            wrapped = lines;
            indent = left;
        }
        text = lines && lines->len ? lines->pdata[0] : text;
        text_repeat(out, " ", i ? GAP : 0);
        print_cell(out, column_at(grid, shown[i]), text ? text : "", widths[shown[i]]);
    }
    text_end_line(out);
    for (guint i = 1; wrapped && i < wrapped->len; i++) {
        text_repeat(out, " ", indent);
        g_string_append_printf(out, "%s\n", (const char *)wrapped->pdata[i]);
    }
}

static void print_block(const text_grid *grid, const size_t *shown, size_t n, const size_t *widths,
                        GString *out) {
    print_labels(grid, shown, n, widths, out);
    for (guint cell = 0; cell < grid->cells->len; cell += grid->columns->len)
        print_row(grid, shown, n, widths, grid->cells->pdata + cell, out);
}

/* Sets the width of each column; returns that of all. */
static size_t fit_widths(const text_grid *grid, size_t *widths, size_t page, size_t least) {
    size_t n = grid->columns->len;
    for (int room = 1; room >= 0; room--) {
        for (size_t i = 0; i < n; i++)
            widths[i] = labelled_width(column_at(grid, i), room);
        if (total_width(widths, n) <= page)
            return total_width(widths, n);
    }
    shrink_text(grid, widths, page, least);
    return total_width(widths, n);
}

size_t text_grid_width(const text_grid *grid, size_t page, size_t least) {
    g_autofree size_t *widths = g_new(size_t, grid->columns->len + 1);
    return fit_widths(grid, widths, page, least);
}

/* ---------------------------------------------------------------- blocks */

/* The end of the columns that fit in a block behind the kept ones, from `next` on: at least one. */
static size_t block_end(const text_grid *grid, const size_t *widths, size_t next, size_t page) {
    size_t n = grid->columns->len, used = total_width(widths, MIN(grid->keep, n));
    for (size_t first = next; next < n; next++) {
        used += GAP + widths[next];
        if (next > first && used > page)
            break;
    }
    return next;
}

static size_t count_blocks(const text_grid *grid, const size_t *widths, size_t page) {
    size_t count = 0, next = MIN(grid->keep, grid->columns->len);
    do {
        next = block_end(grid, widths, next, page);
        count++;
    } while (next < grid->columns->len);
    return count;
}

void text_grid_print(const text_grid *grid, size_t page, GString *out) {
    size_t n = grid->columns->len, keep = MIN(grid->keep, n);
    g_autofree size_t *widths = g_new(size_t, n + 1), *shown = g_new(size_t, n + 1);
    if (fit_widths(grid, widths, page, TEXT_READABLE) > page &&
        fit_widths(grid, widths, page, TEXT_TIGHT) > page)
        fit_widths(grid, widths, page, MIN(TEXT_READABLE, page * 3 / 10));
    size_t blocks = count_blocks(grid, widths, page), width = page;
    while (width > 1 && count_blocks(grid, widths, width - 1) == blocks)
        width--; /* else the last block might be left with a single column */
    for (size_t i = 0; i < keep; i++)
        shown[i] = i;
    for (size_t next = keep; blocks > 0; blocks--) {
        size_t count = keep, end = block_end(grid, widths, next, width);
        while (next < end)
            shown[count++] = next++;
        print_block(grid, shown, count, widths, out);
        if (blocks > 1)
            g_string_append_c(out, '\n');
    }
}
