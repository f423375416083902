/* SPDX-License-Identifier: Apache-2.0 */
/* Reading saves of mill.* values. */
#include "types/reading.h"

#include <inttypes.h>
#include <string.h>

#include "types/writing.h"

#define NUMBERS_ALIGNMENT 8 /* of all that is read in place */

bool reader_wrong(reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    mill_fail(r->run, MILL_E_DATA, "a saved %s can't be used: byte %" PRIu64 " of %" PRIu64 ": %s",
              r->type, r->at, r->length, text);
    return false;
}

void *reader_alloc(reader *r, uint64_t size) {
    return mill_value_alloc(r->run, r->value, size);
}

/* ---------------------------------------------------------------- bytes */

bool reader_has(reader *r, uint64_t n, uint64_t each) {
    if (n <= (r->length - r->at) / each)
        return true;
    return reader_wrong(
        r, "%" PRIu64 " times %" PRIu64 " bytes should follow, but only %" PRIu64 " are left", n,
        each, r->length - r->at);
}

const void *reader_take(reader *r, uint64_t n, size_t alignment) {
    uint64_t skipped = -r->at & (alignment - 1);
    if (!reader_has(r, skipped, 1))
        return NULL;
    r->at += skipped;
    if (!reader_has(r, n, 1))
        return NULL;
    const void *taken = r->data + r->at;
    r->at += n;
    return taken;
}

const void *reader_array(reader *r, uint64_t n, uint64_t each) {
    return reader_has(r, n, each) ? reader_take(r, n * each, save_alignment(n * each)) : NULL;
}

/* ---------------------------------------------------------------- head and end */

static bool read_head(reader *r) {
    const save_head *head = reader_take(r, sizeof *head, NUMBERS_ALIGNMENT);
    if (head == NULL)
        return false;
    if (head->byte_order == GUINT32_SWAP_LE_BE(SAVE_BYTE_ORDER))
        return reader_wrong(r, "it was written by a processor with another order of bytes; read it "
                               "on one like that");
    if (head->byte_order != SAVE_BYTE_ORDER)
        return reader_wrong(r, "it does not begin as a save does");
    if (head->pointer_bytes != sizeof(void *))
        return reader_wrong(r,
                            "it was written by a program with pointers of %u bytes, this one's "
                            "have %zu; read it with one like that",
                            head->pointer_bytes, sizeof(void *));
    if (head->format != SAVE_FORMAT)
        return reader_wrong(r,
                            "it has format %u, this program reads format %u; use a newer "
                            "tracemill",
                            head->format, SAVE_FORMAT);
    if (strnlen(head->type, sizeof head->type) == sizeof head->type ||
        strcmp(head->type, r->type) != 0)
        return reader_wrong(r, "it holds a value of another type");
    return true;
}

bool reader_init(reader *r, mill_run *run, mill_source *source, const char *type,
                 size_t root_size) {
    *r = (reader){.run = run, .type = type, .data = source->data, .length = source->length};
    r->texts = g_ptr_array_new();
    r->value = mill_value_alloc(run, NULL, root_size);
    if ((uintptr_t)r->data % NUMBERS_ALIGNMENT != 0) /* no source of the host's */
        r->data = memcpy(reader_alloc(r, r->length), source->data, r->length);
    return read_head(r);
}

mill_status reader_finish(reader *r, bool good, void **ret_value) {
    if (good && r->at != r->length)
        good = reader_wrong(r, "it should end here");
    g_ptr_array_unref(r->texts);
    if (good)
        *ret_value = r->value;
    return good ? MILL_OK : MILL_E_DATA;
}

/* ---------------------------------------------------------------- texts */

static const char *new_text(reader *r) {
    const uint64_t *length = reader_take(r, sizeof *length, 8);
    if (length == NULL || !reader_has(r, *length, 1))
        return NULL;
    const char *text = reader_take(r, *length + 1, 1);
    if (text == NULL || reader_take(r, 0, 8) == NULL)
        return NULL;
    if (text[*length] != '\0' || !g_utf8_validate(text, (gssize)*length, NULL)) {
        reader_wrong(r, "a text is not %s", text[*length] != '\0' ? "ended by a NUL" : "UTF-8");
        return NULL;
    }
    return text;
}

bool reader_text(reader *r, uint64_t number, const char **ret_text) {
    if (number > (uint64_t)r->texts->len + 1)
        return reader_wrong(r, "text %" PRIu64 " is named, but there are only %u up to here",
                            number, r->texts->len);
    if (number == (uint64_t)r->texts->len + 1) {
        const char *text = new_text(r);
        if (text == NULL)
            return false;
        g_ptr_array_add(r->texts, (gpointer)text);
    }
    *ret_text = number != 0 ? g_ptr_array_index(r->texts, number - 1) : NULL;
    return true;
}
