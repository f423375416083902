/* SPDX-License-Identifier: Apache-2.0 */
/* Writing saves of mill.* values. */
#include "types/writing.h"

#include <string.h>

#define ROOM ((size_t)64 * 1024)
#define LARGE ((size_t)16 * 1024) /* not worth a copy */

static void to_sink(writer *w, const void *bytes, size_t n) {
    if (w->status == MILL_OK && n > 0)
        w->status = w->sink->write(w->sink, bytes, n);
}

static void flush(writer *w) {
    to_sink(w, w->buffer, w->n);
    w->n = 0;
}

void writer_put(writer *w, const void *bytes, uint64_t n) {
    w->at += n;
    if (n >= LARGE) {
        flush(w);
        to_sink(w, bytes, n);
        return;
    }
    if (n > ROOM - w->n)
        flush(w);
    if (n > 0)
        memcpy(w->buffer + w->n, bytes, n);
    w->n += n;
}

void writer_align(writer *w, size_t alignment) {
    static const char zeroes[64];
    writer_put(w, zeroes, -w->at & (alignment - 1));
}

void writer_array(writer *w, const void *bytes, uint64_t n) {
    writer_align(w, save_alignment(n));
    writer_put(w, bytes, n);
}

void writer_init(writer *w, mill_sink *sink, const char *type) {
    save_head head = {
        .format = SAVE_FORMAT, .byte_order = SAVE_BYTE_ORDER, .pointer_bytes = sizeof(void *)};
    g_assert(strlen(type) < sizeof head.type);
    memcpy(head.type, type, strlen(type));
    *w = (writer){.sink = sink, .buffer = g_malloc(ROOM)};
    w->numbers = g_hash_table_new(g_direct_hash, g_direct_equal);
    writer_put(w, &head, sizeof head);
}

mill_status writer_finish(writer *w) {
    flush(w);
    g_hash_table_unref(w->numbers);
    g_free(w->buffer);
    return w->status;
}

uint64_t writer_number(writer *w, const char *text) {
    if (text == NULL)
        return 0;
    gpointer number = g_hash_table_lookup(w->numbers, text);
    if (number == NULL) {
        number = GSIZE_TO_POINTER(g_hash_table_size(w->numbers) + 1);
        g_hash_table_insert(w->numbers, (gpointer)text, number);
    }
    return GPOINTER_TO_SIZE(number);
}

void writer_text(writer *w, const char *text) {
    if (text == NULL || writer_number(w, text) <= w->told)
        return;
    uint64_t length = strlen(text);
    w->told++;
    writer_align(w, 8);
    writer_put(w, &length, sizeof length);
    writer_put(w, text, length + 1);
    writer_align(w, 8);
}
