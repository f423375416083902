/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page: the lanes of some reports over one time axis, as a picture that needs no
 * JavaScript, and as levels of detail for the script that pans and zooms it.
 *
 * Each pixel stands for a span of time and shows how much of it each class fills: intervals are
 * added up, never sampled. All lanes of one timeline have the same clock.
 */
#ifndef HTML_TIMELINE_H
#define HTML_TIMELINE_H

#include <glib.h>
#include <tracemill/report.h>

typedef struct timeline timeline;

/* `id`: of the page's element, [a-z0-9-]+, unique in the page. budget: bytes of the page that the
 * timeline may take at most; finer levels that do not fit are left out, and the page says so. */
timeline *timeline_create(const char *id, uint64_t budget);
void timeline_destroy(timeline *t);

/* Gaps of streams of at least so many ns are marked (see waits.h); none if this is not called. */
void timeline_mark_gaps(timeline *t, int64_t least);

/* Adds the lanes and the findings' marks of a report; the report outlives the timeline. */
void timeline_add(timeline *t, const mill_report *report);

bool timeline_is_empty(const timeline *t);

/* Writes the <figure>: static SVG, legend, data. */
void timeline_append(timeline *t, GString *page);

/* An <a …> start tag that jumps to where a finding is, where the timeline covers it: without
 * JavaScript to the figure, with it to the time. False, and nothing written, where it does not.
 * ret_shown: that time as the axis counts. */
bool timeline_link(const timeline *t, GString *page, const mill_finding *finding,
                   int64_t *ret_shown);

/* What a page with timelines needs once, in its <style> and <script>. The style uses the page's
 * colours, custom properties of CSS set for light and dark by page.css: --ink, --ink-soft, --paper,
 * --line, --accent, and --class-0 … --class-7, of which no two are alike to the colour-blind. */
const char *timeline_css(void);
const char *timeline_js(void);

#endif
