/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of lines and processes, in the order of their appearance. */
#include "tracks.h"

#include "facts.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/intern.h>

typedef struct track {
    int64_t pid, tid;            /* MILL_UNKNOWN: a word, or nothing */
    int64_t stream_number;       /* what the tid says of it, or MILL_UNKNOWN */
    uint32_t process;            /* number among `processes` */
    uint32_t pid_word, tid_word; /* strings: as written where it is no number, or MILL_NONE */
    uint32_t name;               /* string: its thread_name, or MILL_NONE */
    uint32_t thread, async_thread, stream; /* of the builder; MILL_NONE: has no such rows */
} track;

typedef struct process {
    uint32_t name;     /* string: its process_name, or MILL_NONE */
    const rule *plane; /* fits its name, else its pid; or NULL */
} process;

struct tracks {
    mill_run *run;
    kit_trace *b;
    const rule_set *planes;
    kit_intern *keys, *process_keys;
    track *v;           /* by number of keys */
    process *processes; /* by number of process_keys */
    text_room key, word;
};

tracks *tracks_create(mill_run *run, kit_trace *b, const rule_set *planes) {
    tracks *t = kit_alloc(1, sizeof *t);
    *t = (tracks){.run = run, .b = b, .planes = planes};
    t->keys = kit_intern_create();
    t->process_keys = kit_intern_create();
    return t;
}

void tracks_destroy(tracks *t) {
    if (!t)
        return;
    kit_intern_destroy(t->keys);
    kit_intern_destroy(t->process_keys);
    free(t->v);
    free(t->processes);
    free(t->key.at);
    free(t->word.at);
    free(t);
}

/* Room for one more in an array that grows with an intern table, of n elements until now. */
static void *grow(void *array, uint32_t n, size_t size) {
    return (n & (n - 1)) == 0 ? kit_realloc(array, n ? 2 * (size_t)n : 1, size) : array;
}

static bool is_word(json_value value) {
    return value.kind == JSON_STRING && facts_int(value) == MILL_UNKNOWN;
}

static uint32_t word_of(tracks *t, json_value value) {
    bool bad;
    if (!is_word(value))
        return MILL_NONE;
    span word = text_of(value, &t->word, &bad);
    return kit_trace_string(t->b, word.at, word.length);
}

static const rule *find_plane(tracks *t, span name) {
    return t->planes ? rules_find(t->run, t->planes, 0, name.at, name.length) : NULL;
}

static uint32_t find_process(tracks *t, json_value pid) {
    bool bad;
    uint32_t n = kit_intern_count(t->process_keys);
    uint32_t found = kit_intern_add(t->process_keys, pid.at ? pid.at : "", pid.length, 0);
    if (found == n) {
        t->processes = grow(t->processes, n, sizeof *t->processes);
        t->processes[n] = (process){MILL_NONE, find_plane(t, text_of(pid, &t->word, &bad))};
    }
    return found;
}

/* "stream 7", as Kineto wrote it in 2021, is 7. */
static int64_t stream_number(json_value tid) {
    static const char before[] = "stream ";
    size_t n = sizeof before - 1;
    if (tid.kind == JSON_STRING && tid.length > n && !memcmp(tid.at, before, n)) {
        tid.at += n;
        tid.length -= n;
    }
    return facts_int(tid);
}

uint32_t tracks_find(tracks *t, json_value pid, json_value tid) {
    char *key = text_room_for(&t->key, pid.length + 1 + tid.length);
    if (pid.length)
        memcpy(key, pid.at, pid.length);
    key[pid.length] = '"'; /* can't be in either without a backslash before it */
    if (tid.length)
        memcpy(key + pid.length + 1, tid.at, tid.length);
    uint32_t n = kit_intern_count(t->keys);
    /* The tag tells "null" from null, so that all there is of a line follows from its key. */
    uint32_t tag = (uint32_t)(2 * is_word(pid) + is_word(tid));
    uint32_t found = kit_intern_add(t->keys, key, pid.length + 1 + tid.length, tag);
    if (found == n) {
        t->v = grow(t->v, n, sizeof *t->v);
        t->v[n] = (track){.pid = facts_int(pid),
                          .tid = facts_int(tid),
                          .stream_number = stream_number(tid),
                          .process = find_process(t, pid),
                          .pid_word = word_of(t, pid),
                          .tid_word = word_of(t, tid),
                          .name = MILL_NONE,
                          .thread = MILL_NONE,
                          .async_thread = MILL_NONE,
                          .stream = MILL_NONE};
    }
    return found;
}

uint32_t tracks_thread(tracks *t, uint32_t number) {
    track *line = &t->v[number];
    if (line->thread == MILL_NONE)
        line->thread = kit_trace_thread(t->b, line->pid, line->tid);
    return line->thread;
}

uint32_t tracks_async_thread(tracks *t, uint32_t number) {
    track *line = &t->v[number];
    if (line->async_thread == MILL_NONE)
        line->async_thread = kit_trace_thread(t->b, line->pid, line->tid);
    return line->async_thread;
}

uint32_t tracks_other_stream(tracks *t, uint32_t number, int64_t device, int64_t stream) {
    const track *line = &t->v[number];
    if (device == MILL_UNKNOWN)
        device = line->pid;
    return kit_trace_stream(t->b, kit_trace_device(t->b, device), stream,
                            stream == MILL_UNKNOWN ? line->tid_word : MILL_NONE);
}

uint32_t tracks_stream(tracks *t, uint32_t number, int64_t device, int64_t stream) {
    track *line = &t->v[number];
    if (stream == MILL_UNKNOWN)
        stream = line->stream_number;
    line->stream = tracks_other_stream(t, number, device, stream);
    return line->stream;
}

void tracks_set_stream(tracks *t, uint32_t number, uint32_t stream) {
    t->v[number].stream = stream;
}

const rule *tracks_plane(const tracks *t, uint32_t number) {
    return t->processes[t->v[number].process].plane;
}

uint32_t tracks_plane_stream(tracks *t, uint32_t number) {
    track *line = &t->v[number];
    const char *plane = tracks_plane(t, number)->name;
    line->stream = kit_trace_stream(t->b, kit_trace_device(t->b, MILL_UNKNOWN), line->stream_number,
                                    kit_trace_string(t->b, plane, strlen(plane)));
    return line->stream;
}

void tracks_name_process(tracks *t, json_value pid, span name) {
    uint32_t found = find_process(t, pid);
    t->processes[found] =
        (process){kit_trace_string(t->b, name.at, name.length), find_plane(t, name)};
}

void tracks_name_thread(tracks *t, json_value pid, json_value tid, span name) {
    uint32_t found = tracks_find(t, pid, tid);
    t->v[found].name = kit_trace_string(t->b, name.at, name.length);
}

/* ---------------------------------------------------------------- joining */

static uint32_t mapped(const uint32_t *map, uint32_t number) {
    return number == MILL_NONE ? MILL_NONE : map[number];
}

static uint32_t join_process(tracks *t, const tracks *part, uint32_t number, const kit_join *j) {
    const process *p = &part->processes[number];
    size_t length;
    const char *key = kit_intern_text(part->process_keys, number, &length);
    uint32_t n = kit_intern_count(t->process_keys);
    uint32_t found = kit_intern_add(t->process_keys, key, length, 0);
    if (found == n)
        t->processes = grow(t->processes, n, sizeof *t->processes);
    if (found == n || p->name != MILL_NONE)
        t->processes[found] = (process){mapped(j->strings, p->name), p->plane};
    return found;
}

static uint32_t join_track(tracks *t, const tracks *part, uint32_t number, const kit_join *j) {
    const track *line = &part->v[number];
    size_t length;
    const char *key = kit_intern_text(part->keys, number, &length);
    uint32_t n = kit_intern_count(t->keys), of_process = join_process(t, part, line->process, j);
    uint32_t found = kit_intern_add(t->keys, key, length, kit_intern_tag(part->keys, number));
    if (found == n) {
        t->v = grow(t->v, n, sizeof *t->v);
        t->v[n] = (track){.pid = line->pid,
                          .tid = line->tid,
                          .stream_number = line->stream_number,
                          .process = of_process,
                          .pid_word = mapped(j->strings, line->pid_word),
                          .tid_word = mapped(j->strings, line->tid_word),
                          .name = MILL_NONE,
                          .thread = MILL_NONE,
                          .async_thread = MILL_NONE,
                          .stream = MILL_NONE};
    }
    if (line->name != MILL_NONE) /* what comes later in the file stands */
        t->v[found].name = j->strings[line->name];
    if (line->stream != MILL_NONE)
        t->v[found].stream = j->streams[line->stream];
    return found;
}

/* Threads in the order of the part's, which is that of their first rows. */
static void join_threads(tracks *t, const tracks *part, const uint32_t *map, const kit_join *j) {
    typedef struct line_of_thread {
        uint32_t number;
        bool async;
    } line_of_thread;
    line_of_thread *lines = kit_alloc(j->n_threads + 1, sizeof *lines);
    for (uint32_t i = 0; i < kit_intern_count(part->keys); i++) {
        const track *line = &part->v[i];
        if (line->thread != MILL_NONE)
            lines[line->thread] = (line_of_thread){map[i], false};
        if (line->async_thread != MILL_NONE)
            lines[line->async_thread] = (line_of_thread){map[i], true};
    }
    for (uint32_t i = 0; i < j->n_threads; i++)
        j->threads[i] = lines[i].async ? tracks_async_thread(t, lines[i].number)
                                       : tracks_thread(t, lines[i].number);
    free(lines);
}

uint32_t *tracks_join(tracks *t, const tracks *part, const kit_join *j) {
    uint32_t n = kit_intern_count(part->keys), *map = kit_alloc(n + 1, sizeof *map);
    for (uint32_t i = 0; i < kit_intern_count(part->process_keys); i++)
        join_process(t, part, i, j);
    for (uint32_t i = 0; i < n; i++)
        map[i] = join_track(t, part, i, j);
    join_threads(t, part, map, j);
    return map;
}

/* ---------------------------------------------------------------- the end */

void tracks_finish(tracks *t) {
    for (uint32_t i = 0; i < kit_intern_count(t->keys); i++) {
        const track *line = &t->v[i];
        uint32_t of_process = t->processes[line->process].name;
        if (of_process == MILL_NONE)
            of_process = line->pid_word;
        uint32_t name = line->name != MILL_NONE ? line->name : line->tid_word;
        if (line->thread != MILL_NONE)
            kit_trace_name_thread(t->b, line->thread, of_process, name);
        if (line->async_thread != MILL_NONE)
            kit_trace_name_thread(t->b, line->async_thread, of_process, name);
        if (line->stream != MILL_NONE && line->name != MILL_NONE)
            kit_trace_label_stream(t->b, line->stream, line->name);
    }
}
