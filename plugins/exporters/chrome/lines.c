/* SPDX-License-Identifier: Apache-2.0 */
/* Renders names and lines. A line is told apart by its pid and tid. */
#include "lines.h"

#include <inttypes.h>
#include <tracemill/kit/columns.h>
#include <tracemill/kit/number.h>

/* Processes of the second trace of a file get this added to their numbers, and so on: Linux gives
 * none above it. */
#define NEXT_TRACE ((int64_t)1 << 22)

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

static void mark(const lines *l, const mill_column *thread, uint64_t n, bool *marks) {
    for (uint64_t i = 0; i < n; i++)
        marks[mill_u32(l->trace, thread, i)] = true;
}

/* Threads with arrows, counters or timers: these can't be those of async slices. */
static bool *mark_points(lines *l) {
    const mill_trace *t = l->trace;
    bool *marks = kit_arena_alloc(&l->arena, t->threads.n + 1);
    mark(l, &t->flows.thread, t->flows.n, marks);
    mark(l, &t->counters.thread, t->counters.n, marks);
    if (mill_timer_count(t))
        mark(l, &t->timers.thread, t->timers.n, marks);
    return marks;
}

/* Two rows of threads with one pid and tid: one of them is of slices that may overlap, which the
 * reader keeps apart from the calls of that thread. */
static void render_threads(lines *l, GString *text) {
    const mill_trace *t = l->trace;
    const mill_threads *threads = &t->threads;
    const bool *points = mark_points(l);
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
            l->taken_by[found] = i;
        else
            l->async[points[i] ? l->taken_by[found] : i] = true;
    }
}

/* The same text, or none for both. */
static bool same_string(const mill_trace *t, uint32_t a, uint32_t b) {
    return g_strcmp0(mill_string(t, a), mill_string(t, b)) == 0;
}

/* Whether a thread with another name stands on that line. */
static bool is_taken(const lines *l, const GString *line, uint32_t label) {
    uint32_t found = kit_intern_find(l->taken, line->str, line->len, 0);
    return found != UINT32_MAX &&
           !same_string(l->trace, label,
                        mill_u32(l->trace, &l->trace->threads.name, l->taken_by[found]));
}

/* As Kineto has it, a device is a process and a stream a thread of it. Where a thread of another
 * name has that line, the stream is written as Kineto of 2021 did: "stream 7"; so it is in its own
 * profiles, where arrows end on that line. */
static void render_stream(lines *l, GString *text, uint32_t stream) {
    const mill_trace *t = l->trace;
    int64_t device = mill_i64(t, &t->devices.id, mill_u32(t, &t->streams.device, stream));
    int64_t id = mill_i64(t, &t->streams.id, stream);
    uint32_t label = mill_u32(t, &t->streams.label, stream);
    if (device != MILL_UNKNOWN)
        g_string_append_printf(text, ",\"device\":%" PRId64, device);
    if (id != MILL_UNKNOWN)
        g_string_append_printf(text, ",\"stream\":%" PRId64, id);
    l->stream_args[stream] = keep(l, text);
    if (device != MILL_UNKNOWN)
        g_string_printf(text, "\"pid\":%" PRId64 ",\"tid\":", pid_of(l, device));
    else
        g_string_assign(text, "\"pid\":\"device\",\"tid\":");
    size_t before = text->len;
    g_string_append_printf(text, "\"stream %" PRId64 "\"", id);
    uint32_t arrows = kit_intern_find(l->taken, text->str, text->len, 0);
    piece old = keep(l, text);
    g_string_truncate(text, before);
    append_id(l, text, id, label);
    bool found = id != MILL_UNKNOWN && arrows != UINT32_MAX;
    if (found)
        l->is_stream[l->taken_by[arrows]] = true;
    l->streams[stream] =
        found || (id != MILL_UNKNOWN && is_taken(l, text, label)) ? old : keep(l, text);
}

/* Of each number below n that stands in the column `by`. */
static uint32_t *first_rows(lines *l, const mill_column *by, uint64_t rows, uint64_t n) {
    uint32_t *first = kit_arena_alloc(&l->arena, (n + 1) * sizeof *first), number[KIT_BLOCK];
    memset(first, 0xff, (n + 1) * sizeof *first); /* MILL_NONE */
    for (uint64_t row = 0; row < rows; row += KIT_BLOCK) {
        size_t block = kit_block_rows(rows, row);
        kit_read_u32(l->trace, by, row, block, number);
        for (size_t i = 0; i < block; i++)
            if (first[number[i]] == MILL_NONE)
                first[number[i]] = (uint32_t)(row + i);
    }
    return first;
}

void lines_init(lines *l, const mill_trace *trace, int64_t number) {
    g_autoptr(GString) text = g_string_new(NULL);
    uint64_t n_threads = trace->threads.n, n_streams = trace->streams.n;
    *l = (lines){.trace = trace,
                 .number = (uint64_t)number,
                 .first_pid = number * NEXT_TRACE,
                 .taken = kit_intern_create()};
    if (number > 0)
        g_snprintf(l->suffix, sizeof l->suffix, ".%" PRId64, number);
    l->names = kit_arena_alloc(&l->arena, trace->names.texts.n * sizeof *l->names);
    l->threads = kit_arena_alloc(&l->arena, n_threads * sizeof *l->threads);
    l->is_stream = kit_arena_alloc(&l->arena, n_threads * sizeof *l->is_stream);
    l->async = kit_arena_alloc(&l->arena, n_threads * sizeof *l->async);
    l->streams = kit_arena_alloc(&l->arena, n_streams * sizeof *l->streams);
    l->stream_args = kit_arena_alloc(&l->arena, n_streams * sizeof *l->stream_args);
    for (uint32_t i = 0; i < trace->names.texts.n; i++)
        l->names[i] = render_name(l, text, i);
    l->first_gpu = first_rows(l, &trace->gpu.name, trace->gpu.n, trace->names.texts.n);
    l->first_cpu = first_rows(l, &trace->cpu.thread, trace->cpu.n, n_threads);
    l->first_timer = first_rows(l, &trace->timers.thread, mill_timer_count(trace), n_threads);
    l->taken_by = kit_arena_alloc(&l->arena, n_threads * sizeof *l->taken_by);
    render_threads(l, text);
    for (uint32_t i = 0; i < n_streams; i++) {
        g_string_truncate(text, 0);
        render_stream(l, text, i);
    }
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
        if (!l->is_stream[i])
            tell(l, o, "thread_name", l->threads[i], "name", mill_u32(t, &t->threads.name, i));
    }
    for (uint64_t i = 0; i < t->streams.n; i++)
        tell(l, o, "thread_name", l->streams[i], "name", mill_u32(t, &t->streams.label, i));
    tell_devices(l, o, item);
}
