/* SPDX-License-Identifier: Apache-2.0 */
/* Renders names and lines. The reader knows a line by the text of its pid and tid, so no two lines
 * may have the same: a word that is not known to be the file's own gets a number behind it. */
#include "lines.h"

#include <inttypes.h>
#include <tracemill/kit/number.h>

static piece keep(lines *l, const GString *text) {
    return (piece){kit_arena_text(&l->arena, text->str, text->len), text->len};
}

static piece render_name(lines *l, GString *text, uint32_t name) {
    const mill_texts *texts = &l->trace->names.texts;
    g_string_assign(text, "\"name\":");
    quote(text, mill_text(l->trace, texts, name), mill_u32(l->trace, &texts->length, name));
    return keep(l, text);
}

/* A number, else a word, else null. A word that would read as a number gets a space before it. */
static void append_id(const lines *l, GString *text, int64_t number, uint32_t word) {
    const mill_texts *strings = &l->trace->strings;
    int64_t ignored;
    if (number != MILL_UNKNOWN) {
        g_string_append_printf(text, "%" PRId64, number);
    } else if (word != MILL_NONE) {
        const char *at = mill_string(l->trace, word);
        size_t length = mill_u32(l->trace, &strings->length, word);
        g_autofree char *padded = g_strdup_printf(" %s", at);
        if (kit_parse_int(at, length, true, &ignored))
            quote(text, padded, strlen(padded));
        else
            quote(text, at, length);
    } else {
        g_string_append(text, "null");
    }
}

static int64_t pid_of(const lines *l, int64_t pid) {
    int64_t shifted;
    if (pid == MILL_UNKNOWN || __builtin_add_overflow(pid, l->first_pid, &shifted))
        return pid;
    return shifted;
}

/* Two rows of threads with one pid and tid: one of them is of slices that may overlap, which the
 * reader keeps apart from the calls of that thread. Only they have no arrows, counters or timers.
 */
static void render_threads(lines *l, GString *text) {
    const mill_trace *t = l->trace;
    const mill_threads *threads = &t->threads;
    uint32_t *first = kit_arena_alloc(&l->arena, (threads->n + 1) * sizeof *first);
    for (uint32_t i = 0; i < threads->n; i++) {
        g_string_assign(text, "\"pid\":");
        append_id(l, text, pid_of(l, mill_i64(t, &threads->pid, i)),
                  mill_u32(t, &threads->process, i));
        g_string_append(text, ",\"tid\":");
        append_id(l, text, mill_i64(t, &threads->tid, i), mill_u32(t, &threads->name, i));
        uint32_t known = kit_intern_count(l->taken);
        uint32_t found = kit_intern_add(l->taken, text->str, text->len, 0);
        l->threads[i] = keep(l, text);
        if (found == known)
            first[found] = i;
        else if (l->async[i]) /* has arrows, counters or timers: see mark_points */
            l->async[first[found]] = true, l->async[i] = false;
        else
            l->async[i] = true;
    }
}

static void mark(lines *l, const mill_column *thread, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        l->async[mill_u32(l->trace, thread, i)] = true;
}

/* Threads that can't be those of async slices. */
static void mark_points(lines *l) {
    const mill_trace *t = l->trace;
    mark(l, &t->flows.thread, t->flows.n);
    mark(l, &t->counters.thread, t->counters.n);
    mark(l, &t->timers.thread, mill_timer_count(t));
}

/* As Kineto has it, a device is a process and a stream a thread. Where that is a thread of the CPU
 * too, the stream is written as Kineto of 2021 did: "stream 7". */
static void render_streams(lines *l, GString *text) {
    const mill_trace *t = l->trace;
    for (uint32_t i = 0; i < t->streams.n; i++) {
        uint32_t device = mill_u32(t, &t->streams.device, i);
        int64_t number = mill_i64(t, &t->devices.id, device), id = mill_i64(t, &t->streams.id, i);
        g_string_truncate(text, 0);
        if (number != MILL_UNKNOWN)
            g_string_append_printf(text, ",\"device\":%" PRId64, number);
        if (id != MILL_UNKNOWN)
            g_string_append_printf(text, ",\"stream\":%" PRId64, id);
        l->stream_args[i] = keep(l, text);
        g_string_assign(text, "\"pid\":");
        if (number != MILL_UNKNOWN)
            g_string_append_printf(text, "%" PRId64, pid_of(l, number));
        else
            g_string_append(text, "\"device\"");
        g_string_append(text, ",\"tid\":");
        size_t before = text->len;
        append_id(l, text, id, mill_u32(t, &t->streams.label, i));
        if (id != MILL_UNKNOWN &&
            kit_intern_find(l->taken, text->str, text->len, 0) != UINT32_MAX) {
            g_string_truncate(text, before);
            g_string_append_printf(text, "\"stream %" PRId64 "\"", id);
        }
        kit_intern_add(l->taken, text->str, text->len, 0);
        l->streams[i] = keep(l, text);
    }
}

void lines_init(lines *l, const mill_trace *trace, int64_t first_pid) {
    g_autoptr(GString) text = g_string_new(NULL);
    uint64_t n_threads = trace->threads.n, n_streams = trace->streams.n;
    *l = (lines){.trace = trace, .first_pid = first_pid, .taken = kit_intern_create()};
    l->names = kit_arena_alloc(&l->arena, trace->names.texts.n * sizeof *l->names);
    l->threads = kit_arena_alloc(&l->arena, n_threads * sizeof *l->threads);
    l->async = kit_arena_alloc(&l->arena, n_threads * sizeof *l->async);
    l->streams = kit_arena_alloc(&l->arena, n_streams * sizeof *l->streams);
    l->stream_args = kit_arena_alloc(&l->arena, n_streams * sizeof *l->stream_args);
    for (uint32_t i = 0; i < trace->names.texts.n; i++)
        l->names[i] = render_name(l, text, i);
    mark_points(l);
    render_threads(l, text);
    render_streams(l, text);
}

void lines_finish(lines *l) {
    kit_intern_destroy(l->taken);
    kit_arena_finish(&l->arena);
}

/* ---------------------------------------------------------------- metadata */

static void tell(const lines *l, out *o, const char *what, piece line, const char *key,
                 uint32_t string) {
    if (string == MILL_NONE)
        return;
    OUT(o, ",\n{\"ph\":\"M\",\"name\":\"");
    out_bytes(o, what, strlen(what));
    OUT(o, "\",");
    out_bytes(o, line.at, line.length);
    OUT(o, ",\"args\":{\"");
    out_bytes(o, key, strlen(key));
    OUT(o, "\":");
    out_quoted(o, mill_string(l->trace, string),
               mill_u32(l->trace, &l->trace->strings.length, string));
    OUT(o, "}}");
}

/* Devices are labelled, not named: what has the pid of a device may be a process of the CPU too. */
static void tell_devices(const lines *l, out *o, const char *item) {
    const mill_trace *t = l->trace;
    for (uint64_t i = 0; i < t->devices.n; i++) {
        int64_t id = mill_i64(t, &t->devices.id, i);
        const char *name = mill_string(t, mill_u32(t, &t->devices.name, i));
        if (id == MILL_UNKNOWN)
            continue;
        g_autofree char *label = g_strdup_printf("GPU %" PRId64 "%s%s%s%s", id, name ? ", " : "",
                                                 name ?: "", *item ? ", " : "", item);
        OUT(o, ",\n{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":");
        out_number(o, pid_of(l, id));
        OUT(o, ",\"tid\":0,\"args\":{\"labels\":");
        out_quoted(o, label, strlen(label));
        OUT(o, "}}");
    }
}

void lines_tell(const lines *l, out *o, const char *item) {
    const mill_trace *t = l->trace;
    for (uint64_t i = 0; i < t->threads.n; i++) {
        tell(l, o, "process_name", l->threads[i], "name", mill_u32(t, &t->threads.process, i));
        tell(l, o, "thread_name", l->threads[i], "name", mill_u32(t, &t->threads.name, i));
    }
    for (uint64_t i = 0; i < t->streams.n; i++)
        tell(l, o, "thread_name", l->streams[i], "name", mill_u32(t, &t->streams.label, i));
    tell_devices(l, o, item);
}
