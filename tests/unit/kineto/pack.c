/* SPDX-License-Identifier: Apache-2.0 */
/* Packs texts in the containers that the reader knows. */
#include "pack.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <string.h>
#include <zstd.h>

bool pack_is_json(const char *text, size_t length) {
    bool skipped = length >= 4 && !memcmp(text + 1, "*M\x18", 3);
    return length > 0 && (text[0] == '{' || text[0] == '[') && !skipped;
}

static GByteArray *deflate_as(const void *data, size_t length, uint16_t form) {
    struct isal_zstream z;
    GByteArray *to = g_byte_array_new();
    g_byte_array_set_size(to, (guint)length + 1024);
    isal_deflate_stateless_init(&z);
    z.next_in = (uint8_t *)data;
    z.avail_in = (uint32_t)length;
    z.next_out = to->data;
    z.avail_out = to->len;
    z.end_of_stream = 1;
    z.gzip_flag = form;
    g_assert_cmpint(isal_deflate_stateless(&z), ==, COMP_OK);
    g_byte_array_set_size(to, z.total_out);
    return to;
}

GByteArray *pack_gzip(const void *data, size_t length) {
    return deflate_as(data, length, IGZIP_GZIP);
}

/* With a checksum, so that no damage stays unseen. */
static GByteArray *zstd(const void *data, size_t length) {
    GByteArray *to = g_byte_array_new();
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    g_byte_array_set_size(to, (guint)ZSTD_compressBound(length));
    size_t n = ZSTD_compress2(context, to->data, to->len, data, length);
    g_assert_false(ZSTD_isError(n));
    g_byte_array_set_size(to, (guint)n);
    ZSTD_freeCCtx(context);
    return to;
}

/* The text in pieces of 1000 bytes, each packed for itself. */
static GByteArray *in_pieces(pack_fn pack, const void *data, size_t length) {
    GByteArray *to = g_byte_array_new();
    for (size_t at = 0; at < length; at += 1000) {
        GByteArray *piece = pack((const char *)data + at, MIN(length - at, 1000));
        g_byte_array_append(to, piece->data, piece->len);
        g_byte_array_unref(piece);
    }
    return to;
}

static GByteArray *gzip_members(const void *data, size_t length) {
    return in_pieces(pack_gzip, data, length);
}

static GByteArray *zstd_frames(const void *data, size_t length) {
    static const char skipped[] = "\x50\x2a\x4d\x18\5\0\0\0bytes";
    GByteArray *to = in_pieces(zstd, data, length);
    g_byte_array_prepend(to, (const guint8 *)skipped, sizeof skipped - 1);
    g_byte_array_append(to, (const guint8 *)skipped, sizeof skipped - 1);
    return to;
}

/* ---------------------------------------------------------------- zip */

static void put(GByteArray *to, uint64_t value, int bytes) {
    for (; bytes-- > 0; value >>= 8)
        g_byte_array_append(to, &(guint8){(guint8)value}, 1);
}

static void put_sizes(GByteArray *to, uint64_t packed, uint64_t plain, int bytes) {
    put(to, packed, bytes);
    put(to, plain, bytes);
}

/* As the format's specification has it: local header, data, descriptor. */
void pack_zip_add(GByteArray *to, const char *name, const void *data, size_t length, int how) {
    bool described = how & (PACK_DESCRIPTOR | PACK_BARE_DESCRIPTOR);
    GByteArray *packed = how & PACK_DEFLATE
                             ? deflate_as(data, length, IGZIP_DEFLATE)
                             : g_byte_array_append(g_byte_array_new(), data, (guint)length);
    uint32_t crc = crc32_gzip_refl(0, data, length);
    uint64_t sizes[] = {described ? 0 : packed->len, described ? 0 : length};
    put(to, 0x04034b50, 4);
    put(to, 45, 2);
    put(to, (described ? 8 : 0) | (how & PACK_ENCRYPTED ? 1 : 0), 2);
    put(to, how & PACK_DEFLATE ? 8 : 0, 2);
    put(to, 0, 4);
    put(to, described ? 0 : crc, 4);
    if (how & PACK_WIDE)
        put_sizes(to, UINT32_MAX, UINT32_MAX, 4);
    else
        put_sizes(to, sizes[0], sizes[1], 4);
    put(to, strlen(name), 2);
    put(to, how & PACK_WIDE ? 4 + 5 + 4 + 16 : 0, 2);
    g_byte_array_append(to, (const guint8 *)name, (guint)strlen(name));
    if (how & PACK_WIDE) { /* behind another field */
        put(to, 0x5455 | 5u << 16, 4);
        put(to, 0, 5);
        put(to, 1 | 16u << 16, 4);
        put_sizes(to, sizes[1], sizes[0], 8);
    }
    g_byte_array_append(to, packed->data, packed->len);
    if (how & PACK_DESCRIPTOR)
        put(to, 0x08074b50, 4);
    if (described) {
        put(to, crc, 4);
        put_sizes(to, packed->len, length, how & PACK_WIDE ? 8 : 4);
    }
    g_byte_array_unref(packed);
}

/* The end of the list of members; the list itself is not looked at. */
void pack_zip_end(GByteArray *to) {
    static const guint8 end[22] = "PK\5\6";
    g_byte_array_append(to, (const guint8 *)"PK\1\2", 4);
    g_byte_array_append(to, (const guint8 *)&(guint8[42]){0}, 42);
    g_byte_array_append(to, end, sizeof end);
}

static GByteArray *zip_of_one(const void *data, size_t length, int how) {
    GByteArray *to = g_byte_array_new();
    pack_zip_add(to, "trace.json", data, length, how);
    pack_zip_end(to);
    return to;
}

#define ZIP_OF(name, how)                                                                          \
    static GByteArray *name(const void *data, size_t length) {                                     \
        return zip_of_one(data, length, how);                                                      \
    }
ZIP_OF(zip_stored, 0)
ZIP_OF(zip_deflate, PACK_DEFLATE)
ZIP_OF(zip_stored_described, PACK_DESCRIPTOR)
ZIP_OF(zip_deflate_described, PACK_DEFLATE | PACK_DESCRIPTOR)
ZIP_OF(zip_deflate_bare, PACK_DEFLATE | PACK_BARE_DESCRIPTOR)
ZIP_OF(zip_wide, PACK_DEFLATE | PACK_WIDE)
ZIP_OF(zip_wide_described, PACK_DEFLATE | PACK_WIDE | PACK_DESCRIPTOR)

static GByteArray *twice(pack_fn outer, pack_fn inner, const void *data, size_t length) {
    GByteArray *once = inner(data, length), *both = outer(once->data, once->len);
    g_byte_array_unref(once);
    return both;
}

#define PACKED_IN(name, outer, inner)                                                              \
    static GByteArray *name(const void *data, size_t length) {                                     \
        return twice(outer, inner, data, length);                                                  \
    }
PACKED_IN(gzip_in_zip, zip_deflate, pack_gzip)
PACKED_IN(gzip_in_described, zip_stored_described, gzip_members)
PACKED_IN(zstd_in_zip, zip_stored, zstd_frames)
PACKED_IN(gzip_in_gzip, pack_gzip, gzip_members)
PACKED_IN(zip_in_zstd, zstd, zip_deflate_described)

const pack_container pack_containers[PACK_N_CONTAINERS] = {
    {"gzip", pack_gzip},
    {"gzip-members", gzip_members},
    {"zstd", zstd},
    {"zstd-frames", zstd_frames},
    {"zip-stored", zip_stored},
    {"zip-deflate", zip_deflate},
    {"zip-stored-described", zip_stored_described},
    {"zip-deflate-described", zip_deflate_described},
    {"zip-deflate-bare", zip_deflate_bare},
    {"zip-wide", zip_wide},
    {"zip-wide-described", zip_wide_described},
    {"gzip-in-zip", gzip_in_zip},
    {"gzip-in-described", gzip_in_described},
    {"zstd-in-zip", zstd_in_zip},
    {"gzip-in-gzip", gzip_in_gzip},
    {"zip-in-zstd", zip_in_zstd},
};
