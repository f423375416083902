/* SPDX-License-Identifier: Apache-2.0 */
/* A page as a browser reads it: see html_parse.h. Pages are written so that they are well-formed
 * XML too, but for the contents of <script> and <style>, which are taken out first. */
#include "html_parse.h"

#include <string.h>

/* Elements that a page may hold; nothing that could fetch or embed is among them. */
static const char *const elements[] = {
    "a",      "abbr",       "article", "aside",  "b",       "body",    "br",      "button",
    "circle", "clipPath",   "code",    "dd",     "defs",    "details", "div",     "dl",
    "dt",     "figcaption", "figure",  "footer", "g",       "h1",      "h2",      "h3",
    "h4",     "head",       "header",  "html",   "kbd",     "label",   "li",      "line",
    "main",   "meta",       "nav",     "ol",     "p",       "path",    "pattern", "rect",
    "script", "section",    "span",    "strong", "style",   "summary", "svg",     "table",
    "tbody",  "td",         "text",    "tfoot",  "th",      "thead",   "title",   "tr",
    "tspan",  "ul",         "use",     "canvas", "template"};

static const char *const blocks[] = {"dd", "div", "dt", "figcaption", "h1", "h2", "h3",   "h4",
                                     "li", "p",   "td", "text",       "th", "tr", "title"};

typedef struct reading {
    GString *text;
    GHashTable *ids;
    GPtrArray *links;
    unsigned cells, width; /* of the row that is read, of the table */
} reading;

static bool is_in(const char *const *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static void read_attribute(reading *r, const char *element, const char *name, const char *value) {
    if (g_str_has_prefix(name, "on") || strcmp(name, "src") == 0 || strcmp(name, "srcdoc") == 0)
        g_error("<%s %s=\"%s\"> could run or fetch something", element, name, value);
    if (strcmp(name, "id") == 0 && !g_hash_table_add(r->ids, g_strdup(value)))
        g_error("the id %s comes twice", value);
    if (strcmp(name, "href") == 0 && value[0] != '#')
        g_error("<%s href=\"%s\"> leads out of the page", element, value);
    if (strcmp(name, "href") == 0)
        g_ptr_array_add(r->links, g_strdup(value + 1));
}

static void start(GMarkupParseContext *context, const char *element, const char **names,
                  const char **values, gpointer data, GError **error) {
    (void)context;
    (void)error;
    reading *r = data;
    if (!is_in(elements, G_N_ELEMENTS(elements), element))
        g_error("the page has an element <%s>", element);
    for (; *names; names++, values++)
        read_attribute(r, element, *names, *values);
    if (strcmp(element, "table") == 0)
        r->width = 0;
    if (strcmp(element, "tr") == 0)
        r->cells = 0;
    if (strcmp(element, "td") == 0 || strcmp(element, "th") == 0)
        r->cells++;
}

static void end(GMarkupParseContext *context, const char *element, gpointer data, GError **error) {
    (void)context;
    (void)error;
    reading *r = data;
    if (is_in(blocks, G_N_ELEMENTS(blocks), element))
        g_string_append_c(r->text, '\n');
    if (strcmp(element, "tr") != 0)
        return;
    if (r->width && r->width != r->cells)
        g_error("a row of %u cells in a table of %u columns", r->cells, r->width);
    r->width = r->cells;
}

static void text(GMarkupParseContext *context, const char *words, gsize length, gpointer data,
                 GError **error) {
    (void)context;
    (void)error;
    g_string_append_len(((reading *)data)->text, words, (gssize)length);
}

/* Without the contents of an element whose text is no markup. */
static void take_out(GString *page, const char *element) {
    g_autofree char *open = g_strconcat("<", element, NULL);
    g_autofree char *close = g_strconcat("</", element, ">", NULL);
    for (char *at = page->str; (at = strstr(at, open)) != NULL; at++) {
        char *content = strchr(at, '>');
        char *stop = content ? strstr(content, close) : NULL;
        if (!stop)
            g_error("<%s> is not closed", element);
        g_string_erase(page, content + 1 - page->str, stop - content - 1);
    }
}

GString *html_parse(const GString *page) {
    static const GMarkupParser parser = {.start_element = start, .end_element = end, .text = text};
    g_assert_nonnull(page);
    g_assert_true(g_str_has_prefix(page->str, "<!DOCTYPE html>\n"));
    g_assert_true(g_utf8_validate(page->str, (gssize)page->len, NULL));
    g_autoptr(GString) bare = g_string_new(page->str + strlen("<!DOCTYPE html>\n"));
    take_out(bare, "script");
    take_out(bare, "style");
    reading r = {.text = g_string_new(NULL),
                 .ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                 .links = g_ptr_array_new_with_free_func(g_free)};
    g_autoptr(GError) error = NULL;
    g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, &r, NULL);
    g_markup_parse_context_parse(context, bare->str, (gssize)bare->len, &error);
    g_assert_no_error(error);
    g_markup_parse_context_end_parse(context, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < r.links->len; i++)
        if (!g_hash_table_contains(r.ids, g_ptr_array_index(r.links, i)))
            g_error("a link leads to #%s, which is not there", (char *)r.links->pdata[i]);
    g_hash_table_unref(r.ids);
    g_ptr_array_unref(r.links);
    return r.text;
}

char *html_script(const GString *page) {
    const char *begin = g_strrstr(page->str, "<script>");
    const char *stop = begin ? strstr(begin, "</script>") : NULL;
    return stop ? g_strndup(begin + strlen("<script>"), (gsize)(stop - begin) - strlen("<script>"))
                : NULL;
}

unsigned html_count(const char *all, const char *part) {
    unsigned n = 0;
    for (const char *at = all; (at = strstr(at, part)) != NULL; at += strlen(part))
        n++;
    return n;
}
