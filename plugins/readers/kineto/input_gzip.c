/* SPDX-License-Identifier: Apache-2.0 */
/* gzip (RFC 1952) as a source: members in a row are one text. */
#include "input_inflate.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

typedef struct gzip {
    source base;
    buffer *below;
    struct inflate_state inflate;
} gzip;

bool gzip_begins(const buffer *below) {
    return buffer_has(below) >= 2 && !memcmp(below->bytes + below->at, "\x1f\x8b", 2);
}

static void begin_member(gzip *g) {
    isal_inflate_reset(&g->inflate);
    g->inflate.crc_flag = ISAL_GZIP;
}

/* A member has ended: begins the next one, if there is one. */
static mill_status next_member(mill_run *run, gzip *g, bool *ret_ended) {
    mill_status status = buffer_need(run, g->below, 2);
    *ret_ended = !gzip_begins(g->below);
    if (*ret_ended && buffer_has(g->below) > 0)
        g->base.state = INPUT_TRAILING;
    else if (!*ret_ended)
        begin_member(g);
    return status;
}

static mill_status gzip_read(mill_run *run, source *s, uint8_t *to, size_t room,
                             size_t *ret_length) {
    gzip *g = (gzip *)s;
    while (s->state == INPUT_WHOLE && *ret_length == 0) {
        bool ended = false;
        mill_status status = MILL_OK;
        if (g->inflate.block_state == ISAL_BLOCK_FINISH)
            status = next_member(run, g, &ended);
        if (status == MILL_OK && !ended)
            status = inflate_some(run, &g->inflate, g->below, UINT64_MAX, to, room, ret_length,
                                  &s->state);
        if (status != MILL_OK || ended)
            return status;
    }
    return MILL_OK;
}

static void gzip_destroy(source *s) {
    free(s);
}

source *gzip_create(buffer *below) {
    static const source_class cls = {gzip_read, gzip_destroy};
    gzip *g = kit_alloc(1, sizeof *g);
    g->base.cls = &cls;
    g->below = below;
    isal_inflate_init(&g->inflate);
    begin_member(g);
    return &g->base;
}
