/* SPDX-License-Identifier: Apache-2.0 */
/* zip archives (PKWARE's APPNOTE 6.3), read forwards: headers, sizes of 32 and 64 bits, and sizes
 * that follow the data. What can be read is checked by its size and CRC. */
#include "input_inflate.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define HEADER 30         /* bytes before a member's name */
#define DESCRIPTOR 24     /* at most, behind a member's data */
#define ZIP64_FIELD 1     /* the extra field with sizes of 64 bits */
#define UNTOLD UINT64_MAX /* a size that only the descriptor tells */

enum method { STORED = 0, DEFLATED = 8, ZSTD = 93 };
enum flag { ENCRYPTED = 1, STREAMED = 8 }; /* STREAMED: a descriptor follows the data */

struct zip {
    source member;
    buffer *below;
    input_state state; /* of the archive as a whole */
    char *name;        /* of the member; NULL before the first */
    bool open, over;   /* the member has not been passed; it has no more bytes */
    unsigned flags, method;
    uint32_t crc, right_crc;
    uint64_t packed, plain; /* bytes up to now, and in all */
    uint64_t packed_size, plain_size;
    uint64_t skipped;
    struct inflate_state inflate;
};

static uint64_t little(const uint8_t *at, size_t bytes) {
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

static bool has_signature(const buffer *b, const char *last_two) {
    const uint8_t *at = b->bytes + b->at;
    return buffer_has(b) >= 4 && at[0] == 'P' && at[1] == 'K' && !memcmp(at + 2, last_two, 2);
}

/* What stands behind the members: their list, or its end where there is none; data about it. */
static bool list_begins(const buffer *b) {
    return has_signature(b, "\1\2") || has_signature(b, "\5\6") || has_signature(b, "\6\6") ||
           has_signature(b, "\6\x08");
}

bool zip_begins(const buffer *below) {
    return has_signature(below, "\3\4") || has_signature(below, "\5\6");
}

/* ---------------------------------------------------------------- the end of a member */

/* Of the descriptor that stands here and fits what was read: its length; 0: none does. Its
 * signature is optional, and whether its sizes have 32 or 64 bits is told nowhere for certain. */
static size_t descriptor_length(const zip *z) {
    const uint8_t *at = z->below->bytes + z->below->at;
    size_t have = buffer_has(z->below), skip = has_signature(z->below, "\7\x08") ? 4 : 0;
    if (have < skip + 12 || little(at + skip, 4) != z->crc)
        return 0;
    at += skip + 4;
    if (have >= skip + 20 && little(at, 8) == z->packed && little(at + 8, 8) == z->plain)
        return skip + 20;
    return little(at, 4) == (uint32_t)z->packed && little(at + 4, 4) == (uint32_t)z->plain
               ? skip + 12
               : 0;
}

/* The member's data has ended where it should: does it fit what is said of it? */
static mill_status check_member(mill_run *run, zip *z) {
    z->over = true;
    bool fits = z->plain_size == UNTOLD || z->plain_size == z->plain;
    if (!(z->flags & STREAMED)) {
        z->member.state = fits && z->crc == z->right_crc ? INPUT_WHOLE : INPUT_CORRUPT;
        return MILL_OK;
    }
    mill_status status = buffer_need(run, z->below, DESCRIPTOR);
    size_t length = fits ? descriptor_length(z) : 0;
    z->below->at += length;
    if (length == 0)
        z->member.state =
            buffer_has(z->below) < DESCRIPTOR && z->below->ended ? INPUT_CUT : INPUT_CORRUPT;
    return status;
}

/* ---------------------------------------------------------------- the bytes of a member */

static mill_status read_deflated(mill_run *run, zip *z, uint8_t *to, size_t room,
                                 size_t *ret_length) {
    source *m = &z->member;
    uint64_t limit = z->packed_size == UNTOLD ? UNTOLD : z->packed_size - z->packed;
    buffer *below = z->below;
    while (m->state == INPUT_WHOLE && *ret_length == 0 && !z->over) {
        if (z->inflate.block_state == ISAL_BLOCK_FINISH)
            return check_member(run, z);
        mill_status status = limit > 0 ? buffer_need(run, below, 1) : MILL_OK;
        size_t had = buffer_has(below);
        if (status == MILL_OK)
            status = inflate_some(run, &z->inflate, below, limit, to, room, ret_length, &m->state);
        if (status != MILL_OK)
            return status;
        z->packed += had - buffer_has(below);
        z->plain += *ret_length;
        z->crc = z->inflate.crc;
        if (m->state == INPUT_CUT && limit == 0)
            m->state = INPUT_CORRUPT; /* the file goes on, but not this member */
        limit -= limit == UNTOLD ? 0 : had - buffer_has(below);
    }
    return MILL_OK;
}

/* How many of the next bytes are the member's for certain, where only the descriptor behind it
 * tells its size. */
static mill_status find_end(mill_run *run, zip *z, uint64_t *ret_certain) {
    mill_status status = buffer_need(run, z->below, DESCRIPTOR);
    size_t have = buffer_has(z->below);
    const uint8_t *at = z->below->bytes + z->below->at;
    *ret_certain = 0;
    if (status != MILL_OK || have == 0 ||
        (has_signature(z->below, "\7\x08") && descriptor_length(z) > 0))
        return status;
    const uint8_t *next = memchr(at + 1, 'P', have - 1);
    *ret_certain = next ? (size_t)(next - at) : have;
    return MILL_OK;
}

static mill_status read_stored(mill_run *run, zip *z, uint8_t *to, size_t room,
                               size_t *ret_length) {
    uint64_t left = z->packed_size - z->packed;
    mill_status status = MILL_OK;
    if (z->packed_size == UNTOLD)
        status = find_end(run, z, &left);
    if (status != MILL_OK)
        return status;
    if (left == 0 && (z->packed_size != UNTOLD || buffer_has(z->below) > 0))
        return check_member(run, z);
    if (left > 0)
        status = buffer_read(run, z->below, to, left < room ? (size_t)left : room, ret_length);
    if (status == MILL_OK && *ret_length == 0)
        z->member.state = INPUT_CUT;
    z->crc = crc32_gzip_refl(z->crc, to, *ret_length);
    z->packed += *ret_length;
    z->plain += *ret_length;
    return status;
}

static mill_status member_read(mill_run *run, source *s, uint8_t *to, size_t room,
                               size_t *ret_length) {
    zip *z = (zip *)s;
    if (z->over || s->state != INPUT_WHOLE)
        return MILL_OK;
    return z->method == DEFLATED ? read_deflated(run, z, to, room, ret_length)
                                 : read_stored(run, z, to, room, ret_length);
}

static void member_destroy(source *s) {
    (void)s;
}

/* ---------------------------------------------------------------- from member to member */

/* Passes over `n` bytes of the archive, or copies them; fewer: it is cut. */
static mill_status take(mill_run *run, zip *z, uint8_t *to, uint64_t n) {
    uint8_t unused[4096];
    for (uint64_t done = 0; done < n;) {
        size_t length, room = to || n - done < sizeof unused ? (size_t)(n - done) : sizeof unused;
        mill_status status = buffer_read(run, z->below, to ? to + done : unused, room, &length);
        if (status != MILL_OK)
            return status;
        if (length == 0) {
            z->state = INPUT_CUT;
            return MILL_OK;
        }
        done += length;
    }
    return MILL_OK;
}

static bool readable(const zip *z) {
    return !(z->flags & ENCRYPTED) &&
           (z->method == STORED || z->method == DEFLATED || z->method == ZSTD);
}

/* To the header behind the current member. */
static mill_status pass_member(mill_run *run, zip *z) {
    uint8_t unused[4096];
    source *m = &z->member;
    size_t length = z->open && readable(z);
    z->open = false;
    while (length > 0) {
        length = 0;
        mill_status status = member_read(run, m, unused, sizeof unused, &length);
        if (status != MILL_OK)
            return status;
    }
    if (z->over && m->state == INPUT_WHOLE)
        return MILL_OK;
    /* Damaged, or packed in a way that is not known: only a size that was told leads further. */
    if (z->packed_size == UNTOLD || z->flags & STREAMED || m->state == INPUT_CUT)
        z->state = m->state == INPUT_CUT ? INPUT_CUT : INPUT_CORRUPT;
    else
        return take(run, z, NULL, z->packed_size - z->packed);
    return MILL_OK;
}

/* The sizes of 64 bits, which stand where those of 32 are all ones. */
static void read_extra(zip *z, const uint8_t *extra, size_t length) {
    while (length >= 4) {
        size_t field = (size_t)little(extra + 2, 2), sizes = 0;
        if (field > length - 4)
            return;
        uint64_t *const wide[] = {&z->plain_size, &z->packed_size};
        for (size_t i = 0; i < 2 && little(extra, 2) == ZIP64_FIELD; i++)
            if (*wide[i] == UINT32_MAX && field >= sizes + 8) {
                *wide[i] = little(extra + 4 + sizes, 8);
                sizes += 8;
            }
        extra += 4 + field;
        length -= 4 + field;
    }
}

static void begin_member(zip *z) {
    z->open = true;
    z->over = false;
    z->member.state = INPUT_WHOLE;
    z->crc = 0;
    z->packed = z->plain = 0;
    isal_inflate_reset(&z->inflate);
    z->inflate.crc_flag = ISAL_GZIP_NO_HDR;
}

static mill_status read_header(mill_run *run, zip *z) {
    uint8_t head[HEADER];
    mill_status status = take(run, z, head, HEADER);
    if (status != MILL_OK || z->state != INPUT_WHOLE)
        return status;
    z->flags = (unsigned)little(head + 6, 2);
    z->method = (unsigned)little(head + 8, 2);
    z->right_crc = (uint32_t)little(head + 14, 4);
    z->packed_size = little(head + 18, 4);
    z->plain_size = little(head + 22, 4);
    size_t name = (size_t)little(head + 26, 2), extra = (size_t)little(head + 28, 2);
    uint8_t *fields = kit_alloc(extra + 1, 1);
    free(z->name);
    z->name = kit_alloc(name + 1, 1);
    status = take(run, z, (uint8_t *)z->name, name);
    if (status == MILL_OK && z->state == INPUT_WHOLE)
        status = take(run, z, fields, extra);
    if (status == MILL_OK && z->state == INPUT_WHOLE)
        read_extra(z, fields, extra);
    free(fields);
    if (z->flags & STREAMED && z->packed_size == 0)
        z->packed_size = z->plain_size = UNTOLD;
    begin_member(z);
    return status;
}

mill_status zip_next(mill_run *run, zip *z, bool *ret_more) {
    *ret_more = false;
    for (;;) {
        mill_status status = z->name ? pass_member(run, z) : MILL_OK;
        if (status == MILL_OK && z->state == INPUT_WHOLE)
            status = buffer_need(run, z->below, 4);
        if (status != MILL_OK || z->state != INPUT_WHOLE || list_begins(z->below))
            return status;
        if (!has_signature(z->below, "\3\4")) {
            z->state = buffer_has(z->below) < 4 ? INPUT_CUT : INPUT_CORRUPT;
            return MILL_OK;
        }
        status = read_header(run, z);
        if (status != MILL_OK || z->state != INPUT_WHOLE)
            return status;
        size_t length = strlen(z->name);
        bool folder = length > 0 && z->name[length - 1] == '/';
        *ret_more = readable(z) && !folder;
        if (*ret_more)
            return MILL_OK;
        z->skipped += !folder;
    }
}

source *zip_member(zip *z) {
    return &z->member;
}

const char *zip_name(const zip *z) {
    return z->name;
}

input_state zip_get_state(const zip *z) {
    return z->state;
}

uint64_t zip_skipped(const zip *z) {
    return z->skipped;
}

zip *zip_create(buffer *below) {
    static const source_class cls = {member_read, member_destroy};
    zip *z = kit_alloc(1, sizeof *z);
    z->member.cls = &cls;
    z->below = below;
    isal_inflate_init(&z->inflate);
    return z;
}

void zip_destroy(zip *z) {
    if (z)
        free(z->name);
    free(z);
}
