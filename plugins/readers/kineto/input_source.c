/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: looking ahead in a source, without a copy where nobody looks. */
#include "input_source.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

buffer *buffer_create(source *from) {
    buffer *b = kit_alloc(1, sizeof *b);
    b->from = from;
    return b;
}

void buffer_destroy(buffer *b) {
    if (b)
        b->from->cls->destroy(b->from);
    free(b);
}

/* Moves what is not used up, and what stays behind it, to the front. */
static void make_room(buffer *b) {
    size_t behind = b->at < BUFFER_BEHIND ? b->at : BUFFER_BEHIND;
    memmove(b->bytes, b->bytes + b->at - behind, behind + buffer_has(b));
    b->end = behind + buffer_has(b);
    b->at = behind;
}

mill_status buffer_need(mill_run *run, buffer *b, size_t n) {
    while (buffer_has(b) < n && !b->ended) {
        make_room(b);
        size_t length = 0;
        mill_status status =
            b->from->cls->read(run, b->from, b->bytes + b->end, sizeof b->bytes - b->end, &length);
        if (status != MILL_OK)
            return status;
        b->ended = length == 0;
        b->end += length;
    }
    return MILL_OK;
}

mill_status buffer_read(mill_run *run, buffer *b, uint8_t *to, size_t room, size_t *ret_length) {
    *ret_length = 0;
    if (buffer_has(b) == 0) {
        if (b->ended)
            return MILL_OK;
        mill_status status = b->from->cls->read(run, b->from, to, room, ret_length);
        b->ended = status == MILL_OK && *ret_length == 0;
        return status;
    }
    *ret_length = buffer_has(b) < room ? buffer_has(b) : room;
    memcpy(to, b->bytes + b->at, *ret_length);
    b->at += *ret_length;
    return MILL_OK;
}
