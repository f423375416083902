/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the mill.* types, saved and loaded: nothing is lost, old saves load for ever, and what
 * a process gone wrong writes is refused with a sentence. */
#include "crossing.h"
#include "same_trace.h"
#include "samples.h"

#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>
#include <tracemill/schedule.h>

#include "bench_host.h"
#include "types/shapes.h"
#include "types/trace.h"
#include "types/types.h"
#include "types/writing.h"

static void assert_bytes(const GByteArray *a, const GByteArray *b) {
    g_assert_cmpmem(a->data, a->len, b->data, b->len);
}

/* What is loaded from the bytes is saved as the same bytes. */
static void assert_survives(const mill_type *type, const uint8_t *bytes, size_t n, size_t shift) {
    g_autoptr(crossing) c = crossing_load(type, bytes, n, shift);
    g_assert_cmpstr(c->cause, ==, NULL);
    g_autoptr(GByteArray) again = crossing_save(type, c->data);
    g_assert_cmpmem(bytes, n, again->data, again->len);
}

static void assert_refused(const mill_type *type, const uint8_t *bytes, size_t n,
                           const char *part) {
    g_autoptr(crossing) c = crossing_load(type, bytes, n, 0);
    if (c->cause == NULL || strstr(c->cause, part) == NULL)
        g_error("%s: not \"%s\", but: %s", type->id, part, c->cause);
}

static GByteArray *saved_sample(const sample *s) {
    bench *b = bench_create(NULL, NULL);
    GByteArray *bytes = crossing_save(types_find(s->type), s->make(bench_services(b)));
    bench_destroy(b);
    return bytes;
}

/* ---------------------------------------------------------------- nothing is lost */

static void test_round_trip(gconstpointer data) {
    const sample *s = data;
    g_autoptr(GByteArray) bytes = saved_sample(s);
    for (size_t shift = 0; shift <= 8; shift++)
        assert_survives(types_find(s->type), bytes->data, bytes->len, shift);
}

static void test_trace_is_the_same(void) {
    bench *b = bench_create(NULL, NULL);
    const mill_trace *t = samples[0].make(bench_services(b));
    g_autoptr(GByteArray) bytes = crossing_save(types_find(MILL_TYPE_TRACE), t);
    g_autoptr(crossing) c = crossing_load(types_find(MILL_TYPE_TRACE), bytes->data, bytes->len, 0);
    const mill_trace *u = c->data;
    same_trace(t, u);
    g_assert_cmpstr(mill_at(u, u->path), ==, "rank0.json");
    g_assert_cmpstr(mill_at(u, u->backend), ==, "nccl");
    g_assert_true(u->writer == 0);
    g_assert_cmpint(u->world_size, ==, 16);
    g_assert_cmpuint(u->bytes, ==, 345);
    bench_destroy(b);
}

/* Segments that are full, and the rest. */
static void test_segments(void) {
    const mill_type *type = types_find(MILL_TYPE_TRACE);
    for (const unsigned *n = (const unsigned[]){65535, 65536, 65537, 150000, 0}; *n; n++) {
        bench *b = bench_create(NULL, NULL);
        const mill_trace *t = sample_long_trace(bench_services(b), *n);
        g_assert_cmpuint(t->gpu.n, ==, *n);
        g_autoptr(GByteArray) bytes = crossing_save(type, t);
        g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
        g_assert_cmpstr(c->cause, ==, NULL);
        same_trace(t, c->data);
        bench_destroy(b);
    }
}

/* The same columns in other segments, of which the last one is not full. */
static void divide_column(mill_run *run, mill_trace *t, mill_column *c, uint64_t rows,
                          uint32_t shift) {
    const mill_column was = *c;
    c->seg_shift = shift;
    if (!was.segments)
        return;
    uint64_t n = trace_segments(c, rows);
    mill_off *segments = mill_value_alloc(run, t, n * sizeof *segments);
    c->segments = (mill_off)((uintptr_t)segments - (uintptr_t)t);
    for (uint64_t s = 0; s < n; s++) {
        char *to = mill_value_alloc(run, t, c->width << shift);
        for (uint64_t i = 0; i < mill_segment_rows(c, rows, s); i++)
            memcpy(to + i * c->width, mill_cell(t, &was, (s << shift) + i), c->width);
        segments[s] = (mill_off)((uintptr_t)to - (uintptr_t)t);
    }
}

static void test_small_segments(void) {
    const mill_type *type = types_find(MILL_TYPE_TRACE);
    for (uint32_t shift = 0; shift < 8; shift++) {
        bench *b = bench_create(NULL, NULL);
        mill_run *run = bench_services(b);
        mill_trace *t = (mill_trace *)(uintptr_t)sample_long_trace(run, 300);
        for (size_t k = 0; k < trace_n_tables; k++)
            for (size_t i = 0; i < trace_tables[k].n; i++)
                divide_column(run, t, trace_column_at(t, &trace_tables[k], i),
                              trace_rows(t, trace_tables[k].at), shift);
        g_autoptr(GByteArray) bytes = crossing_save(type, t);
        g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
        g_assert_cmpstr(c->cause, ==, NULL);
        same_trace(t, c->data);
        assert_survives(type, bytes->data, bytes->len, 0);
        bench_destroy(b);
    }
}

typedef struct watching_sink {
    mill_sink sink; /* first */
    const void *expected;
    bool seen;
    uint64_t n;
} watching_sink;

static mill_status watch(mill_sink *sink, const void *data, size_t n) {
    watching_sink *w = (watching_sink *)sink;
    w->seen |= data == w->expected;
    w->n += n;
    return w->n > 1000000 ? MILL_E_IO : MILL_OK;
}

/* Large columns are not copied, neither on the way out nor on the way in; and a full disk ends the
 * saving. */
static void test_in_place(void) {
    const mill_type *type = types_find(MILL_TYPE_TRACE);
    bench *b = bench_create(NULL, NULL);
    const mill_trace *t = sample_long_trace(bench_services(b), 70000);
    watching_sink w = {{.size = sizeof w.sink, .write = watch}, 0};
    w.expected = mill_segment(t, &t->gpu.start, 0);
    g_assert_cmpint(type->save(bench_services(b), t, &w.sink), ==, MILL_E_IO);
    g_assert_true(w.seen);
    g_assert_cmpuint(w.n, <, 3000000);

    g_autoptr(GByteArray) bytes = crossing_save(type, t);
    g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
    const mill_trace *u = c->data;
    const uint8_t *start = mill_segment(u, &u->gpu.start, 1);
    g_assert_true(start > c->source && start < c->source + bytes->len);
    g_assert_cmpuint((uintptr_t)mill_segment(u, &u->gpu.start, 0) % 64, ==, 0);
    bench_destroy(b);
}

/* A text that many places share is saved once. */
static void test_shared_texts(void) {
    enum { N = 1000 };
    g_autofree char *text = g_strnfill(500, 'x');
    const char *texts[N];
    for (int i = 0; i < N; i++)
        texts[i] = text;
    mill_chunk_cost costs[N * MILL_BASES] = {0};
    int64_t zeroes[N] = {0};
    double coverage[N] = {0};
    mill_chunk_times t = {sizeof t, 0,      text,   N,        costs, texts,
                          zeroes,   zeroes, zeroes, coverage, texts};
    const mill_type *type = types_find(MILL_TYPE_CHUNK_TIMES);
    g_autoptr(GByteArray) bytes = crossing_save(type, &t);
    g_assert_cmpuint(bytes->len, <, N * (MILL_BASES * sizeof *costs + 6 * 8) + 2000);
    assert_survives(type, bytes->data, bytes->len, 0);
    g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
    const mill_chunk_times *u = c->data;
    g_assert_cmpstr(u->labels[N - 1], ==, text);
    g_assert_true(u->labels[N - 1] == u->subject);
}

/* ---------------------------------------------------------------- old saves */

/* Saves of format 1 and ABI 1.0, written once: each of them must load for ever. A missing one is
 * written by TRACEMILL_GOLDEN=update; none is ever written again. */
static void test_frozen(gconstpointer data) {
    const sample *s = data;
    g_autofree char *path =
        g_strdup_printf("%s/tests/data/saves/%s.save", g_getenv("TRACEMILL_TEST_SOURCE"), s->name);
    const char *golden = g_getenv("TRACEMILL_GOLDEN");
    if (golden && strcmp(golden, "update") == 0 && !g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_autoptr(GByteArray) bytes = saved_sample(s);
        g_assert_true(g_file_set_contents(path, (char *)bytes->data, bytes->len, NULL));
    }
    g_autofree char *text = NULL;
    gsize n;
    g_assert_true(g_file_get_contents(path, &text, &n, NULL));
    assert_survives(types_find(s->type), (uint8_t *)text, n, 0);
}

/* ---------------------------------------------------------------- the tables */

/* A pointer that a shape does not tell of would be saved as it is. */
static void assert_complete(const shape *s) {
    uint32_t at = 0;
    for (size_t i = 0; i < s->n_fields; i++) {
        const shape_field *f = &s->fields[i];
        if (f->at != at)
            g_error("%s: %s is at %u, the field before it ends at %u", s->name, f->name, f->at, at);
        if (f->kind != SHAPE_PLAIN && f->kind != SHAPE_DATUM)
            g_assert_cmpuint(f->size, ==, sizeof(void *));
        at += f->size;
        if (f->of)
            assert_complete(f->of);
    }
    g_assert_cmpuint(at, ==, s->size);
    g_assert_cmpuint(s->least, <=, s->size);
}

static void test_complete(void) {
    const shape *const shapes[] = {&report_shape,   &attribution_shape, &chunk_times_shape,
                                   &schedule_shape, &expert_load_shape, &expert_plan_shape};
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
        assert_complete(shapes[i]);
}

/* Nor may a table or a column be left out: they are the rest of the struct. */
static void test_trace_complete(void) {
    size_t at = offsetof(mill_trace, strings);
    for (size_t k = 0; k < trace_n_tables; k++) {
        g_assert_cmpuint(trace_tables[k].at, ==, at);
        at += sizeof(uint64_t) + trace_tables[k].n * sizeof(mill_column);
    }
    g_assert_cmpuint(at, ==, sizeof(mill_trace));
}

/* A struct as it was, and with two fields more. */
typedef struct grown {
    uint32_t size, n;
    const char *name;
    const int64_t *numbers;
    const char *const *notes; /* new: n of them */
    uint64_t count;           /* new */
} grown;

static const shape_field grown_fields[] = {
    SHAPE_PLAIN(grown, size),
    SHAPE_PLAIN(grown, n),
    SHAPE_TEXT(grown, name),
    SHAPE_ARRAY(grown, numbers, SHAPE_COUNT(grown, n)),
    SHAPE_TEXTS(grown, notes, SHAPE_COUNT(grown, n)),
    SHAPE_PLAIN(grown, count),
};

static const shape old_shape = {"grown", offsetof(grown, notes), 16, grown_fields, 4, NULL};
static const shape new_shape = {"grown", sizeof(grown), 16, grown_fields, 6, NULL};

#define DEFINE_TYPE(which)                                                                         \
    static mill_status which##_save(mill_run *run, const void *data, mill_sink *sink) {            \
        (void)run;                                                                                 \
        return shape_save(&which##_shape, "test.grown/1", data, sink);                             \
    }                                                                                              \
    static mill_status which##_load(mill_run *run, mill_source *source, void **ret) {              \
        return shape_load(&which##_shape, "test.grown/1", run, source, ret);                       \
    }                                                                                              \
    static const mill_type which##_type = {.size = sizeof(mill_type),                              \
                                           .id = "test.grown/1",                                   \
                                           .save = which##_save,                                   \
                                           .load = which##_load}
DEFINE_TYPE(old);
DEFINE_TYPE(new);

/* Old saves load in a newer host, and old values are saved by one, without the fields that they
 * lack; the other way round it is said. */
static void test_growth(void) {
    grown old = {offsetof(grown, notes), 2, "name", (int64_t[]){5, 6}, (void *)1, 99};
    g_autoptr(GByteArray) bytes = crossing_save(&old_type, &old);
    g_autoptr(GByteArray) by_new = crossing_save(&new_type, &old);
    assert_bytes(bytes, by_new);
    g_autoptr(crossing) c = crossing_load(&new_type, bytes->data, bytes->len, 0);
    const grown *loaded = c->data;
    g_assert_cmpint(loaded->numbers[1], ==, 6);
    g_assert_false(MILL_HAS(loaded, notes));
    g_assert_null(loaded->notes);
    g_assert_cmpuint(loaded->count, ==, 0);

    grown new = {sizeof new, 1, "name", (int64_t[]){5}, (const char *[]){"note"}, 99};
    g_autoptr(GByteArray) newer = crossing_save(&new_type, &new);
    assert_survives(&new_type, newer->data, newer->len, 0);
    assert_refused(&old_type, newer->data, newer->len, "use a newer tracemill");
}

/* ---------------------------------------------------------------- wrong bytes */

static void test_head(void) {
    const mill_type *type = types_find(MILL_TYPE_REPORT);
    g_autoptr(GByteArray) bytes = saved_sample(&samples[1]);
    save_head *head = (save_head *)(void *)bytes->data;
    const save_head good = *head;
    g_assert_cmpuint(*(uint32_t *)(void *)bytes->data, ==, 1); /* begins with a format number */

    head->byte_order = 0x04030201;
    assert_refused(type, bytes->data, bytes->len, "another order of bytes");
    head->byte_order = 0x12345678;
    assert_refused(type, bytes->data, bytes->len, "does not begin as a save does");
    *head = good;
    head->pointer_bytes = 4;
    assert_refused(type, bytes->data, bytes->len, "pointers of 4 bytes");
    *head = good;
    head->format = 2;
    assert_refused(type, bytes->data, bytes->len, "format 2");
    *head = good;
    memset(head->type, 'm', sizeof head->type);
    assert_refused(type, bytes->data, bytes->len, "another type");
    *head = good;
    assert_refused(types_find(MILL_TYPE_TRACE), bytes->data, bytes->len, "another type");
    g_byte_array_append(bytes, (const guint8 *)"", 1);
    assert_refused(type, bytes->data, bytes->len, "should end here");
}

static void test_cut(gconstpointer data) {
    const sample *s = data;
    g_autoptr(GByteArray) bytes = saved_sample(s);
    for (guint n = 0; n < bytes->len; n++)
        assert_refused(types_find(s->type), bytes->data, n, "can't be used");
}

/* Any byte may be wrong: what is loaded all the same is a value, which can be saved. */
static void test_damaged(gconstpointer data) {
    const sample *s = data;
    const mill_type *type = types_find(s->type);
    static const uint8_t wrong[] = {0x01, 0x80, 0xff, 0x10};
    g_autoptr(GByteArray) bytes = saved_sample(s);
    unsigned refused = 0;
    for (guint i = 0; i < bytes->len; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(wrong); k++) {
            bytes->data[i] ^= wrong[k];
            g_autoptr(crossing) c = crossing_load(type, bytes->data, bytes->len, 0);
            refused += c->data == NULL;
            if (c->data != NULL)
                g_byte_array_unref(crossing_save(type, c->data));
            bytes->data[i] ^= wrong[k];
        }
    g_assert_cmpuint(refused, >, bytes->len);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    static const struct {
        const char *name;
        GTestDataFunc test;
    } each[] = {{"round-trip", test_round_trip},
                {"frozen", test_frozen},
                {"cut", test_cut},
                {"damaged", test_damaged}};
    for (const sample *s = samples; s->name; s++)
        for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
            g_autofree char *path = g_strdup_printf("/types/%s/%s", each[i].name, s->name);
            g_test_add_data_func(path, s, each[i].test);
        }
    g_test_add_func("/types/trace-is-the-same", test_trace_is_the_same);
    g_test_add_func("/types/segments", test_segments);
    g_test_add_func("/types/small-segments", test_small_segments);
    g_test_add_func("/types/in-place", test_in_place);
    g_test_add_func("/types/shared-texts", test_shared_texts);
    g_test_add_func("/types/complete", test_complete);
    g_test_add_func("/types/trace-complete", test_trace_complete);
    g_test_add_func("/types/growth", test_growth);
    g_test_add_func("/types/head", test_head);
    return g_test_run();
}
