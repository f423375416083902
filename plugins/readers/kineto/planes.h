/* SPDX-License-Identifier: Apache-2.0 */
/* Events without a category, which mean what their process says. Its name may come after them, so
 * they are held until the end of the file. */
#ifndef KINETO_PLANES_H
#define KINETO_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* Only what such events have: no writer of them gives a stream or a correlation. */
typedef struct held_event {
    int64_t start, dur; /* ns */
    uint64_t byte;
    uint32_t track; /* of tracks_find */
    uint32_t name;  /* of planes_name */
} held_event;

typedef struct planes planes;

planes *planes_create(void);
void planes_destroy(planes *p); /* NULL: nothing */

/* The number of a name, for held_event; and back. */
uint32_t planes_name(planes *p, const char *name, size_t length);
const char *planes_name_text(const planes *p, uint32_t name, size_t *ret_length);

void planes_hold(planes *p, const held_event *e);
/* All of them, in the order of the file; valid until the next one. */
const held_event *planes_held(const planes *p, size_t *ret_n);
/* Takes over those of a later part of the file; lines[]: what its numbers of lines become. */
void planes_join(planes *p, const planes *part, const uint32_t *lines);

#endif
