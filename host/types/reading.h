/* SPDX-License-Identifier: Apache-2.0 */
/* Reading saves of mill.* values (writing.h), which may come from a process gone wrong: nothing in
 * them is believed. What fails has been told as a cause, MILL_E_DATA. */
#ifndef HOST_TYPES_READING_H
#define HOST_TYPES_READING_H

#include <glib.h>
#include <tracemill/tracemill.h>

typedef struct reader {
    mill_run *run;
    const char *type;
    const uint8_t *data;
    uint64_t length, at;
    void *value;      /* the root */
    GPtrArray *texts; /* number - 1 → text */
} reader;

/* Begins a value whose root has so many bytes. False: the head is not that of such a save. Call
 * reader_finish after either. */
bool reader_init(reader *r, mill_run *run, mill_source *source, const char *type, size_t root_size);
/* ret_value is set if `good`, and all of the source has been read. */
mill_status reader_finish(reader *r, bool good, void **ret_value);

/* Records what is wrong with the save; false, so that a caller can return it. */
MILL_PRINTF(2, 3) bool reader_wrong(reader *r, const char *format, ...);

/* The next n bytes, in place; NULL: there are not so many. */
const void *reader_take(reader *r, uint64_t n, size_t alignment);
/* n elements of `each` bytes, aligned as writer_array does. */
const void *reader_array(reader *r, uint64_t n, uint64_t each);
/* Whether so many bytes are left: asked before memory is allocated for them. */
bool reader_has(reader *r, uint64_t n, uint64_t each);

/* The text of a number, which is read if it is new; UTF-8. 0 is NULL. */
bool reader_text(reader *r, uint64_t number, const char **ret_text);

/* Zeroed memory of the value. */
void *reader_alloc(reader *r, uint64_t size);

#endif
