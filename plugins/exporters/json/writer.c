/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON document written from its start to its end: see writer.h. */
#include "writer.h"

#include <inttypes.h>
#include <math.h>
#include <tracemill/kit/value.h>
#include <tracemill/report.h>

#define FLUSH_BYTES (64u * 1024u)

void json_writer_begin(json_writer *w, mill_sink *sink, bool indent, unsigned depth, bool first) {
    *w = (json_writer){sink, g_string_sized_new(FLUSH_BYTES * 2), indent, depth, first, MILL_OK};
}

static void flush(json_writer *w) {
    if (!w->status && w->text->len)
        w->status = w->sink->write(w->sink, w->text->str, w->text->len);
    g_string_truncate(w->text, 0);
}

mill_status json_writer_end(json_writer *w) {
    flush(w);
    g_string_free(w->text, TRUE);
    return w->status;
}

static void new_line(json_writer *w) {
    if (!w->indent)
        return;
    g_string_append_c(w->text, '\n');
    for (unsigned i = 0; i < w->depth; i++)
        g_string_append(w->text, "  ");
}

/* The comma, the line and the key before a value. Keys are ours: nothing in them needs escaping. */
static void begin_value(json_writer *w, const char *key) {
    if (!w->first)
        g_string_append_c(w->text, ',');
    w->first = false;
    if (w->depth)
        new_line(w);
    if (key)
        g_string_append_printf(w->text, w->indent ? "\"%s\": " : "\"%s\":", key);
}

void json_put(json_writer *w, const char *key, cJSON *value) {
    begin_value(w, key);
    char *text = cJSON_PrintUnformatted(value);
    if (!text)
        g_error("out of memory while writing JSON");
    g_string_append(w->text, text);
    cJSON_free(text);
    cJSON_Delete(value);
    if (w->text->len >= FLUSH_BYTES)
        flush(w);
}

void json_open(json_writer *w, const char *key, char bracket) {
    begin_value(w, key);
    g_string_append_c(w->text, bracket);
    w->depth++;
    w->first = true;
}

void json_close(json_writer *w, char bracket) {
    w->depth--;
    if (!w->first)
        new_line(w);
    w->first = false;
    g_string_append_c(w->text, bracket);
}

void json_end_line(json_writer *w) {
    g_string_append_c(w->text, '\n');
    w->first = true;
}

cJSON *json_text(const char *text) {
    if (!text)
        return cJSON_CreateNull();
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return cJSON_CreateString(valid);
}

cJSON *json_int(int64_t value) {
    char digits[24];
    if (value == MILL_UNKNOWN)
        return cJSON_CreateNull();
    g_snprintf(digits, sizeof digits, "%" PRId64, value);
    return cJSON_CreateRaw(digits); /* a cJSON number is a double: 53 bits */
}

/* cJSON takes 15 digits where these are nearly the number: 0.3 for 0.1 + 0.2. */
cJSON *json_real(double value) {
    char digits[KIT_NUMBER_MAX];
    return isfinite(value) ? cJSON_CreateRaw(kit_format_real(digits, value)) : cJSON_CreateNull();
}
