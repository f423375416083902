/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the buffer, the packing, and how numbers and texts look. */
#include "out.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>

#define TEXT_BYTES ((size_t)256 * 1024)
#define PACKED_BYTES ((size_t)64 * 1024)

struct out_gzip {
    struct isal_zstream stream;
    uint8_t level[ISAL_DEF_LVL1_DEFAULT], packed[PACKED_BYTES];
};

out_gzip *out_gzip_create(void) {
    out_gzip *gzip = kit_alloc(1, sizeof *gzip);
    isal_deflate_init(&gzip->stream);
    gzip->stream.gzip_flag = IGZIP_GZIP;
    gzip->stream.level = 1;
    gzip->stream.level_buf = gzip->level;
    gzip->stream.level_buf_size = sizeof gzip->level;
    return gzip;
}

void out_gzip_destroy(out_gzip *gzip) {
    free(gzip);
}

void out_init(out *o, mill_run *run, mill_sink *sink, out_gzip *gzip) {
    char *text = mill_scratch(run, TEXT_BYTES);
    *o = (out){run, sink, gzip, text, text, text + TEXT_BYTES, MILL_OK};
}

static void pack(out *o, size_t n, bool last) {
    struct isal_zstream *z = &o->gzip->stream;
    z->next_in = (uint8_t *)o->text;
    z->avail_in = (uint32_t)n;
    z->end_of_stream = last;
    do {
        z->next_out = o->gzip->packed;
        z->avail_out = PACKED_BYTES;
        if (isal_deflate(z) != COMP_OK)
            o->status = mill_fail(o->run, MILL_E_PLUGIN, "igzip can't pack what is written");
        size_t packed = PACKED_BYTES - z->avail_out;
        if (!o->status && packed)
            o->status = o->sink->write(o->sink, o->gzip->packed, packed);
    } while (!o->status && z->avail_out == 0);
}

static void flush(out *o, bool last) {
    size_t n = (size_t)(o->at - o->text);
    o->at = o->text;
    if (!o->status && mill_cancelled(o->run))
        o->status = MILL_E_CANCELLED;
    if (o->status)
        return;
    if (o->gzip)
        pack(o, n, last);
    else if (n)
        o->status = o->sink->write(o->sink, o->text, n);
}

void out_flush(out *o) {
    flush(o, false);
}

mill_status out_finish(out *o, bool last) {
    flush(o, last);
    return o->status;
}

void out_bytes(out *o, const char *text, size_t length) {
    while (length > 0) {
        if (o->at == o->end)
            out_flush(o);
        size_t room = (size_t)(o->end - o->at), n = length < room ? length : room;
        memcpy(o->at, text, n);
        o->at += n;
        text += n;
        length -= n;
    }
}

static bool is_plain(char c) {
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static void escape(GString *to, char c) {
    if (c == '"' || c == '\\')
        g_string_append_printf(to, "\\%c", c);
    else
        g_string_append_printf(to, "\\u%04x", (unsigned)c);
}

void quote(GString *to, const char *text, size_t length) {
    const char *end = text + length;
    g_string_append_c(to, '"');
    while (text < end) {
        const char *plain = text;
        while (text < end && is_plain(*text))
            text++;
        g_string_append_len(to, plain, text - plain);
        if (text < end)
            escape(to, *text++);
    }
    g_string_append_c(to, '"');
}

void out_quoted(out *o, const char *text, size_t length) {
    g_autoptr(GString) quoted = g_string_new(NULL);
    quote(quoted, text, length);
    out_bytes(o, quoted->str, quoted->len);
}

void out_number(out *o, int64_t value) {
    o->at = put_int(out_begin(o), value);
}

void out_time(out *o, int64_t ns) {
    o->at = put_us(out_begin(o), ns);
}

/* ---------------------------------------------------------------- numbers */

/* The two digits of each number below 100. */
static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

static char *put_digits(char *at, uint64_t value) {
    char text[20], *first = text + sizeof text;
    for (; value >= 100; value /= 100)
        first = memcpy(first - 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        first = memcpy(first - 2, pairs + 2 * value, 2);
    else
        *--first = (char)('0' + value);
    return (char *)memcpy(at, first, (size_t)(text + sizeof text - first)) +
           (text + sizeof text - first);
}

static uint64_t size_of(int64_t value) {
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

char *put_int(char *at, int64_t value) {
    if (value < 0)
        *at++ = '-';
    return put_digits(at, size_of(value));
}

char *put_us(char *at, int64_t ns) {
    uint64_t size = size_of(ns);
    unsigned fraction = (unsigned)(size % 1000);
    if (ns < 0)
        *at++ = '-';
    at = put_digits(at, size / 1000);
    if (fraction == 0)
        return at;
    *at++ = '.';
    *at++ = (char)('0' + fraction / 100);
    if (fraction % 100 == 0)
        return at;
    memcpy(at, pairs + 2 * (fraction % 100), 2);
    return at + (fraction % 10 ? 2 : 1);
}

/* Mixes all bits, so that what differs differs after it (the finalizer of SplitMix64). */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* What fits is short, which packs better. The highest bit tells what does not. */
char *put_bind(char *at, uint64_t scope, int64_t value) {
    static const char digits[] = "0123456789abcdef";
    bool fits = scope < (1u << 15) && value >= 0 && value < (int64_t)1 << 48;
    uint64_t id = fits ? scope << 48 | (uint64_t)value
                       : (uint64_t)1 << 63 | mix((uint64_t)value ^ mix(scope)) >> 1;
    int bits = 60;
    while (bits > 0 && id >> bits == 0)
        bits -= 4;
    at = PUT(at, ",\"bind_id\":\"0x");
    for (; bits >= 0; bits -= 4)
        *at++ = digits[id >> bits & 15];
    *at++ = '"';
    return at;
}
