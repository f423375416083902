/* SPDX-License-Identifier: Apache-2.0 */
/* Holds events whose meaning is not known yet. */
#include "planes.h"

#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>

struct planes {
    kit_intern *names;
    held_event *held;
    size_t n, room;
};

planes *planes_create(void) {
    planes *p = kit_alloc(1, sizeof *p);
    p->names = kit_intern_create();
    return p;
}

void planes_destroy(planes *p) {
    if (!p)
        return;
    kit_intern_destroy(p->names);
    free(p->held);
    free(p);
}

uint32_t planes_name(planes *p, const char *name, size_t length) {
    return kit_intern_add(p->names, name, length, 0);
}

const char *planes_name_text(const planes *p, uint32_t name, size_t *ret_length) {
    return kit_intern_text(p->names, name, ret_length);
}

void planes_hold(planes *p, const held_event *e) {
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 256;
        p->held = kit_realloc(p->held, p->room, sizeof *p->held);
    }
    p->held[p->n++] = *e;
}

const held_event *planes_held(const planes *p, size_t *ret_n) {
    *ret_n = p->n;
    return p->held;
}

void planes_join(planes *p, const planes *part, const uint32_t *lines) {
    for (size_t i = 0; i < part->n; i++) {
        held_event e = part->held[i];
        size_t length;
        const char *name = planes_name_text(part, e.name, &length);
        e.name = planes_name(p, name, length);
        e.track = lines[e.track];
        planes_hold(p, &e);
    }
}
