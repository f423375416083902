/* SPDX-License-Identifier: Apache-2.0 */
/* JSON on its way to a sink: numbers and texts go into one buffer, which is written, or packed and
 * written, whenever it is full. */
#ifndef CHROME_OUT_H
#define CHROME_OUT_H

#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <tracemill/trace.h>

#define OUT_ROOM ((size_t)8192) /* what out_begin makes room for */

typedef struct out_gzip out_gzip; /* a gzip stream; goes on from callback to callback */

out_gzip *out_gzip_create(void);
void out_gzip_destroy(out_gzip *gzip); /* NULL: nothing */

typedef struct out {
    mill_run *run;
    mill_sink *sink;
    out_gzip *gzip; /* NULL: as it is */
    char *text, *at, *end;
    mill_status status; /* the first failure, after which nothing is written */
} out;

/* In memory of the run. */
void out_init(out *o, mill_run *run, mill_sink *sink, out_gzip *gzip);
/* Writes what is left. `last`: the gzip stream ends here. */
mill_status out_finish(out *o, bool last);

void out_flush(out *o);
/* Of any length. */
void out_bytes(out *o, const char *text, size_t length);
/* Between quotes, escaped; bytes that are not UTF-8 stay as they are. */
void quote(GString *to, const char *text, size_t length);
void out_quoted(out *o, const char *text, size_t length);
void out_number(out *o, int64_t value);
void out_time(out *o, int64_t ns);

/* The functions below write at `at` without asking for room and return where they ended: a row of a
 * trace asks once. */
static inline char *out_begin(out *o) {
    if ((size_t)(o->end - o->at) < OUT_ROOM)
        out_flush(o);
    return o->at;
}

/* A string literal. */
#define PUT(at, literal)                                                                           \
    ((char *)memcpy((at), (literal), sizeof(literal) - 1) + (sizeof(literal) - 1))
#define OUT(o, literal) out_bytes((o), (literal), sizeof(literal) - 1)

/* At most 20 bytes. */
char *put_int(char *at, int64_t value);
/* Nanoseconds in µs, exact, without zeros at the end: 1500 is 1.5. At most 22 bytes. */
char *put_us(char *at, int64_t ns);
/* ,"bind_id":"0x…", which links slices of one `scope`: a trace of the file, or a schedule. Perfetto
 * takes hexadecimal numbers of up to 64 bits alone, and leaves out the arrows of any other. */
char *put_bind(char *at, uint64_t scope, int64_t value);

#endif
