/* SPDX-License-Identifier: Apache-2.0 */
/* One `key = value` as it was written, and how its text falls into items.
 *
 * Items are separated by line ends, and in most lists by commas too; a comma at the end of a line
 * is not followed by another item. Blanks around an item are dropped. Quotes work as in CSV files:
 * in an item that begins with a double quote, everything up to the closing quote belongs to it,
 * commas and blanks too, and "" stands for one quote. */
#ifndef TRACEMILL_CONFIG_ITEMS_H
#define TRACEMILL_CONFIG_ITEMS_H

#include "config/problems.h"

typedef struct setting setting;
struct setting {
    const char *section, *key;
    const char *value; /* raw: nothing expanded, lines joined by '\n' */
    origin at;
    const setting *overrides; /* what this one replaced, or NULL */
};

typedef enum items_form {
    ITEMS_ONE,    /* not a list: exactly one item */
    ITEMS_LINES,  /* one item a line */
    ITEMS_COMMAS, /* line ends and commas separate */
} items_form;

typedef struct value_item {
    char *text;
    bool quoted;  /* was written in quotes */
    bool literal; /* a file named on the command line: no pattern, whatever it holds */
} value_item;

/* A new item that owns `text`. */
value_item *items_new(char *text, bool quoted, bool literal);

/* A new empty array of value_item *, which frees them. */
GPtrArray *items_array(void);

/* The items of s->value, an array of value_item * (empty for a list without items), or NULL if the
 * text is wrong, which is then told in `p`. ${…} stays as it is. */
GPtrArray *items_split(const setting *s, items_form form, problems *p);

/* Writes `text` so that items_split gives it back: in quotes where it needs them in a list of this
 * form. The caller frees it. */
char *items_format(const char *text, items_form form);

#endif
