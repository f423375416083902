/* SPDX-License-Identifier: Apache-2.0 */
/* A trace file as Kineto writes it, event by event: see gen_output.h. */
#include "gen_output.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_EVENTS 65536u /* events held back to shuffle them */
#define BLOCK_BYTES (1u << 20)

/* The text between the parts of an event. */
typedef struct layout {
    const char *open, *colon, *comma, *line, *args_open, *args_close, *close;
} layout;

static const layout compact = {"{", ":", ",", ",", "{", "}", "}"};
static const layout kineto = {"  {\n    ", ": ", ", ", ",\n    ", "{\n      ", "\n    }", "\n  }"};

typedef struct event_text {
    gsize start, length;
} event_text;

struct gen_output {
    gen_form form;
    const layout *layout;
    uint64_t random;
    GOutputStream *stream;
    GError *error;  /* the first one */
    GString *text;  /* of the events not yet written */
    GArray *events; /* event_text: each of them */
    bool in_args;
    uint64_t n_events, written;
};

gen_output *gen_output_create(const char *path, const gen_form *form, uint64_t seed,
                              GError **error) {
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno), "cannot write %s: %s",
                    path, g_strerror(errno));
        return NULL;
    }
    gen_output *o = g_new0(gen_output, 1);
    *o = (gen_output){.form = *form, .layout = form->indent ? &kineto : &compact, .random = seed};
    o->stream = g_unix_output_stream_new(fd, !standard);
    if (form->gzip) {
        g_autoptr(GOutputStream) file = o->stream;
        g_autoptr(GZlibCompressor) packer = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, 9);
        o->stream = g_converter_output_stream_new(file, G_CONVERTER(packer));
    }
    o->text = g_string_sized_new(BLOCK_BYTES);
    o->events = g_array_new(FALSE, FALSE, sizeof(event_text));
    return o;
}

static void write_text(gen_output *o, const char *text, gsize length) {
    if (!o->error)
        g_output_stream_write_all(o->stream, text, length, NULL, NULL, &o->error);
    o->written += length;
}

static void write_string(gen_output *o, const char *text) {
    write_text(o, text, strlen(text));
}

static event_text *event_at(gen_output *o, guint i) {
    return &g_array_index(o->events, event_text, i);
}

static void flush(gen_output *o) {
    for (guint i = o->events->len; o->form.shuffle && i > 1; i--) {
        guint other = (guint)(gen_random(&o->random) % i);
        event_text swapped = *event_at(o, other);
        *event_at(o, other) = *event_at(o, i - 1);
        *event_at(o, i - 1) = swapped;
    }
    uint64_t before = o->n_events - o->events->len;
    for (guint i = 0; i < o->events->len; i++) {
        write_string(o, before + i ? ",\n" : "\n");
        write_text(o, o->text->str + event_at(o, i)->start, event_at(o, i)->length);
    }
    g_string_truncate(o->text, 0);
    g_array_set_size(o->events, 0);
}

void gen_output_head(gen_output *o, int64_t rank, int64_t world, int64_t devices) {
    if (o->form.array) {
        write_string(o, "[");
        return;
    }
    g_autoptr(GString) head = g_string_new("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
    for (int64_t i = 0; i < devices; i++)
        g_string_append_printf(
            head, "%s\n    {\"id\": %" PRId64 ", \"name\": \"NVIDIA H800\", \"numSms\": 132}",
            i ? "," : "", i);
    g_string_append_printf(
        head,
        "\n  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRId64
        ", \"world_size\": %" PRId64 "},\n  \"traceEvents\": [",
        rank, world);
    write_text(o, head->str, head->len);
}

bool gen_output_close(gen_output *o, GError **error) {
    flush(o);
    write_string(o, o->form.array ? "\n]\n" : "\n  ]\n}\n");
    g_output_stream_close(o->stream, NULL, o->error ? NULL : &o->error);
    GError *first = o->error;
    g_object_unref(o->stream);
    g_string_free(o->text, TRUE);
    g_array_unref(o->events);
    g_free(o);
    if (first)
        g_propagate_error(error, first);
    return !first;
}

static void append_time(gen_output *o, const char *key, int64_t ns) {
    const char *quote = o->form.times == GEN_TIMES_STRING ? "\"" : "";
    g_string_append_printf(o->text, "\"%s\"%s%s%" PRId64, key, o->layout->colon, quote, ns / 1000);
    if (o->form.times != GEN_TIMES_INTEGER)
        g_string_append_printf(o->text, ".%03d%s", (int)(ns % 1000), quote);
}

void gen_event(gen_output *o, char phase, const char *category, const char *name, int64_t pid,
               int64_t tid, int64_t ts) {
    const layout *l = o->layout;
    event_text event = {o->text->len, 0};
    g_array_append_val(o->events, event);
    g_string_append_printf(o->text, "%s\"ph\"%s\"%c\"%s", l->open, l->colon, phase, l->comma);
    if (category)
        g_string_append_printf(o->text, "\"cat\"%s\"%s\"%s", l->colon, category, l->comma);
    g_string_append_printf(
        o->text, "\"name\"%s\"%s\"%s\"pid\"%s%" PRId64 "%s\"tid\"%s%" PRId64 "%s", l->colon, name,
        l->comma, l->colon, pid, l->comma, l->colon, tid, l->line);
    append_time(o, "ts", ts);
    o->in_args = false;
}

void gen_event_dur(gen_output *o, int64_t dur) {
    g_string_append(o->text, o->layout->comma);
    append_time(o, "dur", dur);
}

void gen_event_flow(gen_output *o, int64_t id, bool end) {
    const layout *l = o->layout;
    g_string_append_printf(o->text, "%s\"id\"%s%" PRId64, l->comma, l->colon, id);
    if (end)
        g_string_append_printf(o->text, "%s\"bp\"%s\"e\"", l->comma, l->colon);
}

void gen_event_end(gen_output *o) {
    g_string_append(o->text, o->in_args ? o->layout->args_close : "");
    g_string_append(o->text, o->layout->close);
    event_text *event = event_at(o, o->events->len - 1);
    event->length = o->text->len - event->start;
    o->n_events++;
    if (o->form.shuffle ? o->events->len >= BLOCK_EVENTS : o->text->len >= BLOCK_BYTES)
        flush(o);
}

static void begin_arg(gen_output *o, const char *key) {
    const layout *l = o->layout;
    if (o->in_args)
        g_string_append(o->text, l->comma);
    else
        g_string_append_printf(o->text, "%s\"args\"%s%s", l->line, l->colon, l->args_open);
    g_string_append_printf(o->text, "\"%s\"%s", key, l->colon);
    o->in_args = true;
}

void gen_arg_int(gen_output *o, const char *key, int64_t value) {
    begin_arg(o, key);
    g_string_append_printf(o->text, "%" PRId64, value);
}

void gen_arg_text(gen_output *o, const char *key, const char *value) {
    begin_arg(o, key);
    g_string_append_printf(o->text, "\"%s\"", value);
}

void gen_arg_triple(gen_output *o, const char *key, int64_t x, int64_t y, int64_t z) {
    begin_arg(o, key);
    g_string_append_printf(o->text, "[%" PRId64 "%s%" PRId64 "%s%" PRId64 "]", x, o->layout->comma,
                           y, o->layout->comma, z);
}

uint64_t gen_output_events(const gen_output *o) {
    return o->n_events;
}

uint64_t gen_output_bytes(const gen_output *o) {
    return o->written + o->text->len;
}
