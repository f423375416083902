/* SPDX-License-Identifier: Apache-2.0 */
/* zstd (RFC 8878) as a source: frames in a row are one text, skippable frames are skipped. */
#include "input_source.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd {
    source base;
    buffer *below;
    ZSTD_DCtx *context;
    bool between; /* a frame has ended, or none has begun */
} zstd;

bool zstd_begins(const buffer *below) {
    const uint8_t *at = below->bytes + below->at;
    if (buffer_has(below) < 4)
        return false;
    return !memcmp(at, "\x28\xb5\x2f\xfd", 4) ||
           ((at[0] & 0xf0) == 0x50 && !memcmp(at + 1, "\x2a\x4d\x18", 3));
}

/* One step; *ret_length may be 0 before the end. */
static mill_status step(mill_run *run, zstd *z, uint8_t *to, size_t room, size_t *ret_length) {
    buffer *below = z->below;
    ZSTD_inBuffer in = {below->bytes + below->at, buffer_has(below), 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t left = ZSTD_decompressStream(z->context, &out, &in);
    below->at += in.pos;
    *ret_length = out.pos;
    if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
        return mill_fail(run, MILL_E_DATA,
                         "the file was compressed by zstd with a window of more than 128 MiB "
                         "(--long): compress it again without that");
    if (ZSTD_isError(left))
        z->base.state = INPUT_CORRUPT;
    else if (in.size == 0 && out.pos == 0 && left > 0)
        z->base.state = INPUT_CUT;
    z->between = left == 0;
    return MILL_OK;
}

static mill_status zstd_read(mill_run *run, source *s, uint8_t *to, size_t room,
                             size_t *ret_length) {
    zstd *z = (zstd *)s;
    while (s->state == INPUT_WHOLE && *ret_length == 0) {
        mill_status status = buffer_need(run, z->below, z->between ? 4 : 1);
        if (status == MILL_OK && z->between && !zstd_begins(z->below)) {
            if (buffer_has(z->below) > 0)
                s->state = INPUT_TRAILING;
            return MILL_OK;
        }
        if (status == MILL_OK)
            status = step(run, z, to, room, ret_length);
        if (status != MILL_OK)
            return status;
    }
    return MILL_OK;
}

static void zstd_destroy(source *s) {
    ZSTD_freeDCtx(((zstd *)s)->context);
    free(s);
}

source *zstd_create(buffer *below) {
    static const source_class cls = {zstd_read, zstd_destroy};
    zstd *z = kit_alloc(1, sizeof *z);
    z->base.cls = &cls;
    z->below = below;
    z->between = true;
    z->context = ZSTD_createDCtx();
    if (!z->context)
        abort(); /* memory ran out */
    return &z->base;
}
