/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a page that is about one item: the answer, its numbers, the timeline, findings, and
 * each report. */
#ifndef HTML_ITEM_H
#define HTML_ITEM_H

#include "page.h"

/* Links to an item and to its parts. */
typedef struct item_links {
    GString *name, *parts; /* <a …>…</a>, <ul>…</ul> */
} item_links;

/* id: "item-1", begins the ids of all its elements. Appends links to `links`. True if it has a
 * timeline, whose script the page then needs. */
bool item_append(GString *out, item_links *links, const page_options *options, const char *id,
                 const char *key, const page_report *reports, size_t n);

#endif
