/* SPDX-License-Identifier: Apache-2.0 */
/* A page: its head, a part for each item, and its end. Each is written as soon as it is known, so
 * that a page of many items needs the memory of one. */
#ifndef HTML_PAGE_H
#define HTML_PAGE_H

#include <glib.h>
#include <tracemill/report.h>

typedef struct page page;

typedef struct page_options {
    const char *title; /* or NULL */
    uint64_t rows;     /* of a table, at most */
    uint64_t budget;   /* bytes of an item's timelines */
    int64_t gaps;      /* ns from which on gaps are marked on them */
} page_options;

/* A report, and who made it. */
typedef struct page_report {
    const mill_report *report;
    const char *stage;
} page_report;

page *page_create(void);
void page_destroy(page *p);

/* Appends what comes next to `out`: an item's part, the first with the head before it. */
void page_item(page *p, GString *out, const page_options *options, const char *key,
               const page_report *reports, size_t n);

/* Something that is not there because what makes it failed; told at the end. key: "" for none. */
void page_missing(page *p, const char *stage, const char *key);

/* The end; with no item before it, the whole page. */
void page_end(page *p, GString *out, const page_options *options);

#endif
