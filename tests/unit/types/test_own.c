/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a plugin's own type, saved and loaded with the kit. */
#include "crossing.h"

#include <string.h>
#include <tracemill/kit/save.h>

#define TYPE "org.acme.own/1"
#define LARGE 10000 /* bytes: more than is put together before it is written */

typedef struct own {
    uint32_t size;
    const char *name, *comment; /* comment: or NULL */
    uint64_t n;
    const int64_t *v;
    const uint8_t *bytes; /* LARGE of them */
} own;

static mill_status own_save(mill_run *run, const void *data, mill_sink *sink) {
    (void)run;
    const own *o = data;
    kit_save s;
    kit_save_begin(&s, sink, 2);
    kit_save_text(&s, o->name);
    kit_save_text(&s, o->comment);
    kit_save_array(&s, &o->n, 1, sizeof o->n);
    kit_save_array(&s, o->v, o->n, sizeof *o->v);
    kit_save_array(&s, o->bytes, LARGE, 1);
    return kit_save_end(&s);
}

/* Format 1 had no comment. */
static mill_status own_load(mill_run *run, mill_source *source, void **ret_data) {
    own *o = mill_value_alloc(run, NULL, sizeof *o);
    kit_load l;
    const uint64_t *n;
    uint32_t format = kit_load_begin(&l, run, source, TYPE, 2);
    o->size = sizeof *o;
    if (format == 0 || !kit_load_text(&l, &o->name) ||
        (format >= 2 && !kit_load_text(&l, &o->comment)) ||
        !(n = kit_load_array(&l, 1, sizeof *n)) || !(o->v = kit_load_array(&l, *n, sizeof *o->v)) ||
        !(o->bytes = kit_load_array(&l, LARGE, 1)))
        return MILL_E_DATA;
    if (!o->name) {
        kit_load_wrong(&l, "it has no %s", "name");
        return MILL_E_DATA;
    }
    o->n = *n;
    mill_status status = kit_load_end(&l);
    if (status == MILL_OK)
        *ret_data = o;
    return status;
}

static const mill_type type = {
    .size = sizeof(mill_type), .id = TYPE, .save = own_save, .load = own_load};

static GByteArray *sample(void) {
    static const int64_t v[] = {1, INT64_MIN, 3};
    static uint8_t bytes[LARGE];
    bytes[LARGE - 1] = 99;
    return crossing_save(&type, &(own){sizeof(own), "näme", NULL, 3, v, bytes});
}

static void assert_refused(const GByteArray *bytes, const char *part) {
    g_autoptr(crossing) c = crossing_load(&type, bytes->data, bytes->len, 0);
    if (!c->cause || !strstr(c->cause, part))
        g_error("not \"%s\", but: %s", part, c->cause);
}

static void test_round_trip(void) {
    g_autoptr(GByteArray) bytes = sample();
    g_autoptr(crossing) c = crossing_load(&type, bytes->data, bytes->len, 0);
    const own *o = c->data;
    g_assert_cmpstr(c->cause, ==, NULL);
    g_assert_cmpstr(o->name, ==, "näme");
    g_assert_null(o->comment);
    g_assert_cmpuint(o->n, ==, 3);
    g_assert_cmpint(o->v[1], ==, INT64_MIN);
    g_assert_cmpuint(o->bytes[LARGE - 1], ==, 99);
    g_assert_true((const uint8_t *)o->v > c->source && o->bytes < c->source + bytes->len);
    g_assert_cmpuint((uintptr_t)o->v % 8, ==, 0);
    g_autoptr(GByteArray) again = crossing_save(&type, o);
    g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
}

static void test_older(void) {
    static const uint8_t large[LARGE];
    const uint64_t words[] = {0x0102030400000001, 2, 'x', 0};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, (const guint8 *)words, sizeof words);
    g_byte_array_append(bytes, large, LARGE);
    g_autoptr(crossing) c = crossing_load(&type, bytes->data, bytes->len, 0);
    g_assert_cmpstr(c->cause, ==, NULL);
    g_assert_cmpstr(((const own *)c->data)->name, ==, "x");
}

static void test_wrong(void) {
    g_autoptr(GByteArray) bytes = sample();
    bytes->data[0] = 3;
    assert_refused(bytes, "it has format 3, this module reads 1 to 2");
    bytes->data[0] = 0;
    assert_refused(bytes, "it has format 0");
    bytes->data[0] = 2;
    bytes->data[4] = 1;
    assert_refused(bytes, "another order of bytes");
    bytes->data[4] = 4;
    g_byte_array_append(bytes, (const guint8 *)"12345678", 8);
    assert_refused(bytes, "it should end here");
    g_byte_array_set_size(bytes, bytes->len - 8);
    bytes->data[16 + 5] = 'x';
    assert_refused(bytes, "not ended by a NUL");
    bytes->data[8] = 0;
    g_autoptr(crossing) c = crossing_load(&type, bytes->data, bytes->len, 4);
    g_assert_nonnull(strstr(c->cause, "multiple of 8"));
}

/* Cut anywhere, and with any byte wrong. */
static void test_damaged(void) {
    g_autoptr(GByteArray) bytes = sample();
    for (guint n = 0; n < bytes->len; n++) {
        g_autoptr(crossing) c = crossing_load(&type, bytes->data, n, 0);
        g_assert_nonnull(c->cause);
    }
    for (guint i = 0; i < 100; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes->data[i] ^= (uint8_t)(1 << bit);
            crossing_destroy(crossing_load(&type, bytes->data, bytes->len, 0));
            bytes->data[i] ^= (uint8_t)(1 << bit);
        }
}

static mill_status full(mill_sink *sink, const void *data, size_t n) {
    (void)data;
    (void)n;
    sink->reserved++;
    return MILL_E_IO;
}

/* After a failure nothing more is written. */
static void test_full_disk(void) {
    static const uint8_t bytes[LARGE];
    mill_sink sink = {sizeof sink, 0, full};
    g_assert_cmpint(own_save(NULL, &(own){.name = "x", .bytes = bytes}, &sink), ==, MILL_E_IO);
    g_assert_cmpuint(sink.reserved, ==, 1);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/own/round-trip", test_round_trip);
    g_test_add_func("/own/older", test_older);
    g_test_add_func("/own/wrong", test_wrong);
    g_test_add_func("/own/damaged", test_damaged);
    g_test_add_func("/own/full-disk", test_full_disk);
    return g_test_run();
}
