/* SPDX-License-Identifier: Apache-2.0 */
/* Writing saves of mill.* values: the head of a save, bytes and their alignment, texts that many
 * fields share. The other end is reading.h. */
#ifndef HOST_TYPES_WRITING_H
#define HOST_TYPES_WRITING_H

#include <glib.h>
#include <tracemill/tracemill.h>

/* A save begins with this. Numbers are those of the processor that wrote them. */
typedef struct save_head {
    uint32_t format;        /* SAVE_FORMAT */
    uint32_t byte_order;    /* SAVE_BYTE_ORDER */
    uint32_t pointer_bytes; /* structs are saved as they lie in memory */
    uint32_t reserved;      /* 0 */
    char type[48];          /* the type's id */
} save_head;

#define SAVE_FORMAT 1u
#define SAVE_BYTE_ORDER 0x01020304u

/* Where an array of so many bytes may begin: large ones at a cache line. */
static inline size_t save_alignment(uint64_t bytes) {
    return bytes < 4096 ? 8 : 64;
}

/* A field that holds a text is saved as the number of the text, from 1 on in the order in which
 * texts are first needed; 0 is NULL. A text that is new follows what first needs it: uint64 bytes,
 * then the bytes, a NUL, and up to 8. */
typedef struct writer {
    mill_sink *sink;
    mill_status status; /* the first one of the sink that was not OK; then nothing more happens */
    uint64_t at;        /* bytes up to here */
    size_t n;           /* of them in the buffer */
    char *buffer;
    GHashTable *numbers; /* text → its number */
    uint64_t told;       /* texts that have been written */
} writer;

void writer_init(writer *w, mill_sink *sink, const char *type);
mill_status writer_finish(writer *w);

/* What is large goes to the sink from where it lies. */
void writer_put(writer *w, const void *bytes, uint64_t n);
/* Zeroes up to the next multiple. */
void writer_align(writer *w, size_t alignment);
/* Aligned as an array of its size. */
void writer_array(writer *w, const void *bytes, uint64_t n);

/* Texts are known by where they lie: first all their numbers, then those that are new. */
uint64_t writer_number(writer *w, const char *text);
void writer_text(writer *w, const char *text);

#endif
