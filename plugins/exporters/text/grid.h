/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and columns of text on a page of a given width. */
#ifndef TEXT_GRID_H
#define TEXT_GRID_H

#include <glib.h>
#include <stdbool.h>

/* How narrow a column of text may become before the grid is broken into blocks: so that names can
 * still be read; so that they can just be told apart. */
enum { TEXT_READABLE = 24, TEXT_TIGHT = 12 };

typedef struct text_grid text_grid;

/* The first `keep` columns come again in each block of a grid that is wider than its page. wrap:
 * text of the first column that is too long goes on below, instead of being shortened. */
text_grid *text_grid_create(size_t keep, bool wrap);
void text_grid_destroy(text_grid *grid); /* NULL: nothing */

/* Adds a column. Numbers stand with their decimal points under each other, text at the left. label
 * is clean, or NULL, and taken; unit is constant text, or NULL. */
void text_grid_column(text_grid *grid, char *label, const char *unit, bool number);

/* Adds the next cell, from left to right, row by row. Clean, or NULL for an empty one; taken. */
void text_grid_cell(text_grid *grid, char *text);

/* How wide the grid is in one block, once its labels and text have been made narrower, text down to
 * `least`, where it is wider than the page. */
size_t text_grid_width(const text_grid *grid, size_t page, size_t least);

/* Appends the grid: where it is too wide, first text is shortened, then columns go to further
 * blocks, all about as wide. Nothing is left out. */
void text_grid_print(const text_grid *grid, size_t width, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(text_grid, text_grid_destroy)

#endif
