/* SPDX-License-Identifier: Apache-2.0 */
/* Values that go from one process to another, in one. */
#include "crossing.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- saving */

typedef struct byte_sink {
    mill_sink sink; /* first */
    GByteArray *bytes;
} byte_sink;

static mill_status append(mill_sink *sink, const void *data, size_t n) {
    g_byte_array_append(((byte_sink *)sink)->bytes, data, (guint)n);
    return MILL_OK;
}

GByteArray *crossing_save(const mill_type *type, const void *data) {
    static const mill_host nothing = {.size = sizeof nothing};
    mill_run run = {&nothing};
    byte_sink to = {{.size = sizeof to.sink, .write = append}, g_byte_array_new()};
    g_assert_cmpint(type->save(&run, data, &to.sink), ==, MILL_OK);
    return to.bytes;
}

/* ---------------------------------------------------------------- loading */

static void *add_block(GPtrArray *blocks, size_t size) {
    g_assert_cmpuint(size, <, (size_t)1 << 32); /* else a wrong size was believed */
    void *block = calloc(1, MAX(size, 1));
    g_assert_nonnull(block);
    g_ptr_array_add(blocks, block);
    return block;
}

static void *value_alloc(mill_run *run, void *value, size_t size) {
    crossing *c = (crossing *)run;
    g_assert_true(value == (c->blocks->len ? c->blocks->pdata[0] : NULL));
    return add_block(c->blocks, size);
}

static void *scratch(mill_run *run, size_t size) {
    return add_block(((crossing *)run)->scratch, size);
}

static void fail(mill_run *run, mill_status status, const char *file, uint32_t line,
                 const char *text) {
    (void)file;
    (void)line;
    crossing *c = (crossing *)run;
    g_assert_cmpint(status, ==, MILL_E_DATA);
    g_assert_null(c->cause);
    c->cause = g_strdup(text);
}

static const mill_host host = {
    .size = sizeof host, .value_alloc = value_alloc, .scratch = scratch, .fail = fail};

crossing *crossing_load(const mill_type *type, const uint8_t *bytes, size_t length, size_t shift) {
    crossing *c = g_new0(crossing, 1);
    c->run.host = &host;
    c->blocks = g_ptr_array_new_with_free_func(free);
    c->scratch = g_ptr_array_new_with_free_func(free);
    g_assert_cmpint(posix_memalign((void **)&c->source, 64, MAX(length + shift, 1)), ==, 0);
    if (length > 0)
        memcpy(c->source + shift, bytes, length);
    mill_source source = {
        .size = sizeof source, .data = c->source + shift, .length = (uint64_t)length};
    c->status = type->load(&c->run, &source, &c->data);
    g_clear_pointer(&c->scratch, g_ptr_array_unref);
    g_assert_true((c->status == MILL_OK) == (c->data != NULL));
    g_assert_true((c->status == MILL_OK) == (c->cause == NULL));
    g_assert_true(c->status == MILL_OK || c->status == MILL_E_DATA);
    return c;
}

void crossing_destroy(crossing *c) {
    if (c == NULL)
        return;
    g_ptr_array_unref(c->blocks);
    free(c->source);
    g_free(c->cause);
    g_free(c);
}
