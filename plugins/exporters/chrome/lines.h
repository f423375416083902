/* SPDX-License-Identifier: Apache-2.0 */
/* What many events of a trace have in common, rendered once: names, and the lines that they are
 * shown on. */
#ifndef CHROME_LINES_H
#define CHROME_LINES_H

#include "out.h"

#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>

typedef struct piece {
    const char *at;
    size_t length;
} piece;

typedef struct lines {
    const mill_trace *trace;
    uint64_t number;   /* of the trace in its file, from 0 */
    int64_t first_pid; /* added to each process */
    char suffix[24]; /* of the categories of arrows: "", or of the second trace of a file .1, … */
    piece *names;    /* "name":"…" */
    piece *threads;  /* "pid":1,"tid":2 */
    piece *streams;  /* the same */
    piece *stream_args; /* "device":0,"stream":7 */
    bool *async;        /* threads whose slices may overlap those of another row of threads */
    bool *is_stream;    /* of a thread: a stream is written on its line, and tells its name */
    /* The first row of each name, of each thread, or MILL_NONE. The reader numbers names and
     * threads as they come, and puts rows that are alike in all else in the order of those numbers:
     * so these rows are written before all others. */
    uint32_t *first_gpu, *first_cpu, *first_timer;
    kit_arena arena;
    kit_intern *taken;  /* "pid":1,"tid":2 of threads, … */
    uint32_t *taken_by; /* … and by which thread first */
} lines;

/* `number`: of the trace in its file, from 0; so that its processes and arrows are its own. */
void lines_init(lines *l, const mill_trace *trace, int64_t number);
void lines_finish(lines *l);

/* The metadata that names processes, threads and streams, each event with the comma before it. */
void lines_tell(const lines *l, out *o, const char *item);

static inline char *put_suffix(const lines *l, char *at) {
    return stpcpy(at, l->suffix);
}

/* Writes a piece at `at`. Those longer than a quarter of OUT_ROOM go through the buffer. */
static inline char *put_piece(out *o, char *at, piece p) {
    if (p.length > OUT_ROOM / 4) {
        o->at = at;
        out_bytes(o, p.at, p.length);
        return out_begin(o);
    }
    return (char *)memcpy(at, p.at, p.length) + p.length;
}

#endif
