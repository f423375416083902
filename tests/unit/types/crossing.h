/* SPDX-License-Identifier: Apache-2.0 */
/* Values that go from one process to another, in one: saved, then loaded as by a stranger. */
#ifndef TYPES_CROSSING_H
#define TYPES_CROSSING_H

#include <glib.h>
#include <tracemill/tracemill.h>

/* The bytes of a save. */
GByteArray *crossing_save(const mill_type *type, const void *data);

/* A loaded value, with the bytes that it lies in. */
typedef struct crossing {
    mill_run run; /* first, so that a mill_run is its crossing */
    GPtrArray *blocks, *scratch;
    uint8_t *source; /* a copy, as long as the save to the byte, so that a sanitizer sees its end */
    mill_status status;
    void *data;  /* NULL: it failed */
    char *cause; /* or NULL */
} crossing;

/* `shift` bytes lie before the save in its memory, which is aligned but for these. */
crossing *crossing_load(const mill_type *type, const uint8_t *bytes, size_t length, size_t shift);
void crossing_destroy(crossing *c);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(crossing, crossing_destroy)

#endif
