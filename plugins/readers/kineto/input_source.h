/* SPDX-License-Identifier: Apache-2.0 */
/* Where bytes come from: a file, or what a container unpacks from another source. A container looks
 * ahead in the source below it through a buffer. */
#ifndef KINETO_INPUT_SOURCE_H
#define KINETO_INPUT_SOURCE_H

#include "input.h"

typedef struct source source;

typedef struct source_class {
    /* Up to `room` (at least 1) bytes; *ret_length 0: the end, and `state` says what sort of.
     * Errors (recorded): E_IO, E_CANCELLED, E_DATA for what is never read here. */
    mill_status (*read)(mill_run *run, source *s, uint8_t *to, size_t room, size_t *ret_length);
    void (*destroy)(source *s);
} source_class;

struct source {
    const source_class *cls;
    input_state state;
};

#define BUFFER_BEHIND 8 /* used up bytes that stay, for a decoder that took more than it needed */
#define BUFFER_SIZE (128 * 1024)

typedef struct buffer {
    source *from;
    bool ended;     /* the source has no more bytes */
    size_t at, end; /* bytes[at, end) is not used up */
    uint8_t bytes[BUFFER_BEHIND + BUFFER_SIZE];
} buffer;

/* Takes over the source. */
buffer *buffer_create(source *from);
void buffer_destroy(buffer *b); /* NULL: nothing */

static inline size_t buffer_has(const buffer *b) {
    return b->end - b->at;
}
/* At least `n` bytes at `at` (n up to BUFFER_SIZE), unless the source ends before. */
mill_status buffer_need(mill_run *run, buffer *b, size_t n);
/* Like a source's read: what the buffer holds, or else straight from the source. */
mill_status buffer_read(mill_run *run, buffer *b, uint8_t *to, size_t room, size_t *ret_length);

/* "-" is standard input. Errors (recorded): E_NOINPUT. */
mill_status file_open(mill_run *run, const char *path, source **ret_file);
/* Bytes read so far, and the size (0: not known, since the file can be read only once). */
uint64_t file_done(const source *file);
uint64_t file_size(const source *file);
/* Of a file whose size is known. Any thread. Errors (recorded): E_IO. */
mill_status file_read_at(mill_run *run, const source *file, uint64_t byte, char *to, size_t room,
                         size_t *ret_length);

/* The buffers below are borrowed. */
bool gzip_begins(const buffer *below);
source *gzip_create(buffer *below);
bool zstd_begins(const buffer *below);
source *zstd_create(buffer *below);

/* A zip archive is walked from its first byte on by what stands before each member, so that it can
 * come from a pipe, and be cut. */
typedef struct zip zip;

bool zip_begins(const buffer *below);
zip *zip_create(buffer *below);
void zip_destroy(zip *z); /* NULL: nothing */
/* Passes over what is left of the member, if there is one, and goes to the next that is a file and
 * can be unpacked here. *ret_more false: there is none, and zip_get_state says what sort of end it
 * is. */
mill_status zip_next(mill_run *run, zip *z, bool *ret_more);
/* Of the current member: its bytes (owned by the archive, destroying it does nothing) and name. */
source *zip_member(zip *z);
const char *zip_name(const zip *z);
input_state zip_get_state(const zip *z);
uint64_t zip_skipped(const zip *z); /* encrypted members, and those packed by other methods */

#endif
