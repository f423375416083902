/* SPDX-License-Identifier: Apache-2.0 */
/* A page: see page.h. */
#include "page.h"
#include "definitions.h"
#include "embedded.h"
#include "item.h"
#include "timeline.h"
#include "write.h"

#include <string.h>

struct page {
    definitions *words;
    GArray *contents; /* item_links of all items */
    GString *missing;
    bool begun, timed;
};

static void clear_links(gpointer data) {
    item_links *links = data;
    g_string_free(links->name, TRUE);
    g_string_free(links->parts, TRUE);
}

page *page_create(void) {
    page *p = g_new0(page, 1);
    p->words = definitions_create();
    p->contents = g_array_new(FALSE, FALSE, sizeof(item_links));
    g_array_set_clear_func(p->contents, clear_links);
    p->missing = g_string_new(NULL);
    return p;
}

void page_destroy(page *p) {
    if (!p)
        return;
    definitions_destroy(p->words);
    g_array_unref(p->contents);
    g_string_free(p->missing, TRUE);
    g_free(p);
}

/* ---------------------------------------------------------------- head */

/* Nothing is fetched, and no script runs but the page's own, which the hash is of (Content Security
 * Policy Level 3, section 2.3.1): text of a profile that got past the escaping could do nothing. */
static void append_policy(GString *out) {
    const char *script = timeline_js();
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize length = sizeof digest;
    g_checksum_update(sum, (const guchar *)script, (gssize)strlen(script));
    g_checksum_get_digest(sum, digest, &length);
    g_autofree char *hash = g_base64_encode(digest, length);
    g_string_append_printf(out,
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                           "&#39;none&#39;; style-src &#39;unsafe-inline&#39;; script-src "
                           "&#39;sha256-%s&#39;; base-uri &#39;none&#39;; form-action "
                           "&#39;none&#39;\"/>\n",
                           hash);
}

static void append_head(page *p, GString *out, const char *title, const char *name) {
    if (p->begun)
        return;
    p->begun = true;
    g_string_append(out,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    append_policy(out);
    g_string_append(out, "<meta name=\"viewport\" content=\"width=device-width, "
                         "initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light "
                         "dark\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n<title>");
    html_text(out, title ? title : name);
    g_string_append(out, title ? "" : " · Tracemill");
    g_string_append_printf(out, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<main>\n",
                           embedded_page_css, timeline_css());
}

void page_item(page *p, GString *out, const page_options *options, const char *key,
               const page_report *reports, size_t n) {
    g_autofree char *id = g_strdup_printf("item-%u", p->contents->len + 1);
    item_links links = {g_string_new(NULL), g_string_new(NULL)};
    const char *subject = n && reports[0].report->subject ? reports[0].report->subject : "";
    append_head(p, out, options->title,
                key && *key ? key
                : *subject  ? html_file_name(subject)
                            : html_label(n ? reports[0].report->title : NULL, "reports"));
    p->timed |= item_append(out, &links, options, id, key, reports, n);
    g_array_append_val(p->contents, links);
    for (size_t i = 0; i < n; i++)
        definitions_add(p->words, reports[i].report);
}

/* ---------------------------------------------------------------- end */

void page_missing(page *p, const char *stage, const char *key) {
    g_string_append(p->missing, "<li class=\"warning\"><span class=\"level\">warning</span> no "
                                "report from ");
    html_text(p->missing, stage);
    g_string_append(p->missing, *key ? " for " : "");
    html_text(p->missing, key);
    g_string_append(p->missing, ": what makes it failed</li>\n");
}

static const char reading[] =
    "<p>Times are in µs, exact to the nanosecond, and count from the first activity of the device "
    "unless said otherwise. Shares are in per cent of what their definition says. Numbers in "
    "groups of three digits are whole; decimals that are zero are left out. “unknown” is not "
    "zero: the input does not tell it.</p>\n";

/* The parts of one item are in sight, those of several are folded. */
static void append_contents(GString *out, const page *p) {
    bool many = p->contents->len > 1;
    g_string_append(out, "<nav aria-label=\"Contents\"><ul>\n");
    for (guint i = 0; i < p->contents->len; i++) {
        const item_links *links = &g_array_index(p->contents, item_links, i);
        g_string_append_printf(
            out, many ? "<li><details><summary>%s</summary>%s</details></li>\n" : "<li>%s%s</li>\n",
            links->name->str, links->parts->str);
    }
    g_string_append(out, "<li><a href=\"#definitions\">Definitions</a></li>\n</ul></nav>\n");
}

/* The contents stand beside or above the items, which style sees to: what they list is known only
 * here. */
void page_end(page *p, GString *out, const page_options *options) {
    append_head(p, out, options->title, "No reports");
    if (p->contents->len == 0)
        g_string_append(out, "<article><header class=\"lead\"><h1>No reports.</h1></header>"
                             "</article>\n");
    if (p->missing->len)
        g_string_append_printf(out,
                               "<aside class=\"missing\"><ul class=\"notes\">\n%s</ul>"
                               "</aside>\n",
                               p->missing->str);
    g_string_append(out, "</main>\n<footer id=\"definitions\">\n<h2>Definitions</h2>\n");
    g_string_append(out, reading);
    definitions_append(p->words, out);
    g_string_append_printf(out,
                           "<p class=\"soft\">Written by Tracemill %s, html.write. Tables show "
                           "%" G_GUINT64_FORMAT " rows at most; csv.write and json.write write "
                           "all of them.</p>\n</footer>\n",
                           MODULE_VERSION, options->rows);
    append_contents(out, p);
    if (p->timed)
        g_string_append_printf(out, "<script>%s</script>\n", timeline_js());
    g_string_append(out, "</body>\n</html>\n");
}
