/* SPDX-License-Identifier: Apache-2.0 */
/* Containers of one text, and archives of several, for tests of what reads them. */
#ifndef KINETO_TESTS_PACK_H
#define KINETO_TESTS_PACK_H

#include <glib.h>
#include <stdbool.h>

typedef GByteArray *(*pack_fn)(const void *data, size_t length);

typedef struct pack_container {
    const char *name;
    pack_fn pack;
} pack_container;

#define PACK_N_CONTAINERS 16
/* Each of a text; those with members or frames begin a new one every 1000 bytes. */
extern const pack_container pack_containers[PACK_N_CONTAINERS];

/* Whether a text begins as JSON does, and as no container: a frame of zstd may begin with '['. */
bool pack_is_json(const char *text, size_t length);

GByteArray *pack_gzip(const void *data, size_t length);

/* How a member of a zip is written. A descriptor: its sizes stand behind the data, with or without
 * a signature before them; wide: sizes of 64 bits. */
enum {
    PACK_DEFLATE = 1,
    PACK_DESCRIPTOR = 2,
    PACK_BARE_DESCRIPTOR = 4,
    PACK_WIDE = 8,
    PACK_ENCRYPTED = 16
};

/* Appends a member to an archive, which pack_zip_end completes. */
void pack_zip_add(GByteArray *to, const char *name, const void *data, size_t length, int how);
void pack_zip_end(GByteArray *to);

#endif
