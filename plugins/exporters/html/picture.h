/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a timeline that needs no JavaScript: a small SVG for each lane. */
#ifndef HTML_PICTURE_H
#define HTML_PICTURE_H

#include "waits.h"

/* Appends the lanes over the whole range, and their axis, in about `limit` bytes: with fewer
 * columns, and then fewer lanes, where they would take more. id: of the figure. waits: waits_gap,
 * each marked with a frame, and a triangle towards the lane of what it waited for. */
void picture_append(const lanes *l, const GArray *waits, const char *id, uint64_t limit,
                    GString *page);

/* A duration as people read it, "12.5 µs" or "1 234.567 ms", exact: to be freed with g_free. */
char *picture_time(int64_t ns);

/* What stands above the lane's group; NULL if it is that of the lane before. Freed with g_free. */
char *picture_group(const lanes *l, guint i);

#endif
