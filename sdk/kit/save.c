/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and loading values of a plugin's own types. */
#include <tracemill/kit/save.h>

#include <inttypes.h>
#include <string.h>

#define BYTE_ORDER_MARK 0x01020304u
#define ALIGNMENT 8

typedef struct head {
    uint32_t format, byte_order;
} head;

/* ---------------------------------------------------------------- saving */

static void flush(kit_save *s) {
    if (s->status == MILL_OK && s->n > 0)
        s->status = s->sink->write(s->sink, s->buffer, s->n);
    s->n = 0;
}

static void put(kit_save *s, const void *bytes, uint64_t n) {
    s->at += n;
    if (n > sizeof s->buffer - s->n)
        flush(s);
    if (n > sizeof s->buffer) {
        if (s->status == MILL_OK)
            s->status = s->sink->write(s->sink, bytes, n);
        return;
    }
    if (n > 0)
        memcpy(s->buffer + s->n, bytes, n);
    s->n += n;
}

static void align(kit_save *s) {
    static const char zeroes[ALIGNMENT];
    put(s, zeroes, -s->at % ALIGNMENT);
}

void kit_save_begin(kit_save *s, mill_sink *sink, uint32_t format) {
    const head h = {format, BYTE_ORDER_MARK};
    s->sink = sink;
    s->status = MILL_OK;
    s->at = s->n = 0;
    put(s, &h, sizeof h);
}

void kit_save_array(kit_save *s, const void *v, uint64_t n, size_t each) {
    put(s, v, n * each);
    align(s);
}

/* A length of 0 is no text: the NUL counts. */
void kit_save_text(kit_save *s, const char *text) {
    uint64_t length = text ? strlen(text) + 1 : 0;
    put(s, &length, sizeof length);
    put(s, text, length);
    align(s);
}

mill_status kit_save_end(kit_save *s) {
    flush(s);
    return s->status;
}

/* ---------------------------------------------------------------- loading */

bool kit_load_wrong(kit_load *l, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mill_fail(l->run, MILL_E_DATA, "a saved %s can't be used: byte %" PRIu64 " of %" PRIu64 ": %s",
              l->type, l->at, l->length, text);
    return false;
}

const void *kit_load_array(kit_load *l, uint64_t n, size_t each) {
    const void *v = l->data + l->at;
    if (n > (l->length - l->at) / each) {
        kit_load_wrong(l, "%" PRIu64 " times %zu bytes should follow", n, each);
        return NULL;
    }
    l->at += n * each;
    l->at += -l->at % ALIGNMENT;
    if (l->at <= l->length)
        return v;
    l->at = l->length;
    kit_load_wrong(l, "the end is missing");
    return NULL;
}

uint32_t kit_load_begin(kit_load *l, mill_run *run, const mill_source *source, const char *type,
                        uint32_t newest) {
    *l = (kit_load){run, type, source->data, source->length, 0};
    if ((uintptr_t)l->data % ALIGNMENT != 0) {
        kit_load_wrong(l, "it does not lie at a multiple of %d bytes", ALIGNMENT);
        return 0;
    }
    const head *h = kit_load_array(l, 1, sizeof *h);
    if (!h)
        return 0;
    if (h->byte_order != BYTE_ORDER_MARK)
        kit_load_wrong(l, "it was written by a processor with another order of bytes, or is no "
                          "save at all");
    else if (h->format < 1 || h->format > newest)
        kit_load_wrong(
            l, "it has format %" PRIu32 ", this module reads 1 to %" PRIu32 "; use a newer one",
            h->format, newest);
    else
        return h->format;
    return 0;
}

bool kit_load_text(kit_load *l, const char **ret_text) {
    const uint64_t *length = kit_load_array(l, 1, sizeof *length);
    const char *text = length ? kit_load_array(l, *length, 1) : NULL;
    if (!text)
        return false;
    if (*length > 0 && text[*length - 1] != '\0')
        return kit_load_wrong(l, "a text is not ended by a NUL");
    *ret_text = *length > 0 ? text : NULL;
    return true;
}

mill_status kit_load_end(kit_load *l) {
    if (l->at == l->length)
        return MILL_OK;
    kit_load_wrong(l, "it should end here");
    return MILL_E_DATA;
}
