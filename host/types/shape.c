/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads values by their shapes. */
#include "types/shape.h"

#include <inttypes.h>
#include <string.h>

#define IMAGE_MOST 256 /* bytes of a struct */

static const void *pointer_at(const void *data, const shape_field *f) {
    return *(const void *const *)(const void *)((const char *)data + f->at);
}

static bool is_text(const void *data, const shape_field *f) {
    mill_kind kind;
    if (f->kind != SHAPE_DATUM && f->kind != SHAPE_DATA)
        return f->kind == SHAPE_TEXT || f->kind == SHAPE_TEXTS;
    memcpy(&kind, (const char *)data + f->kind_at, sizeof kind);
    return kind == MILL_KIND_TEXT;
}

/* Whether a struct of that size, maybe of an older SDK, has the field. */
static bool has_field(const shape_field *f, uint32_t size) {
    return (uint32_t)f->at + f->size <= size;
}

/* False: more than can be counted. */
static bool count_of(const shape_field *f, const void *data, const void *outer, uint64_t *ret_n) {
    const char *of = f->count.outer ? outer : data;
    uint64_t n = f->count.times ? f->count.times : 1;
    bool over = false;
    for (size_t i = 0; i < G_N_ELEMENTS(f->count.factors) && f->count.factors[i].size; i++) {
        uint64_t factor = 0;
        if (f->count.factors[i].size == sizeof(uint32_t))
            factor = *(const uint32_t *)(const void *)(of + f->count.factors[i].at);
        else
            factor = *(const uint64_t *)(const void *)(of + f->count.factors[i].at);
        over |= __builtin_mul_overflow(n, factor, &n);
    }
    over |= __builtin_add_overflow(n, f->count.plus, &n);
    *ret_n = n;
    return !over;
}

/* ---------------------------------------------------------------- saving */

static void save_struct(writer *w, const shape *s, const void *data, const void *outer);

static void save_texts(writer *w, const char *const *texts, uint64_t n) {
    writer_align(w, save_alignment(n * sizeof *texts));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t number = writer_number(w, texts[i]);
        writer_put(w, &number, sizeof number);
    }
    for (uint64_t i = 0; i < n; i++)
        writer_text(w, texts[i]);
}

static void save_field(writer *w, const shape_field *f, const void *data, const void *outer) {
    const void *v = pointer_at(data, f);
    uint64_t n;
    if (v == NULL || !count_of(f, data, outer, &n)) /* a count like that can't be true */
        return;
    if (f->kind == SHAPE_STRUCTS)
        for (uint64_t i = 0; i < n; i++)
            save_struct(w, f->of, ((const void *const *)v)[i], data);
    else if (is_text(data, f))
        save_texts(w, v, n);
    else
        writer_array(w, v, n * (f->kind == SHAPE_DATA ? sizeof(mill_datum) : f->each));
}

static bool is_inside(const shape_field *f) {
    return f->kind == SHAPE_PLAIN || f->kind == SHAPE_TEXT || f->kind == SHAPE_DATUM;
}

/* The struct with numbers in place of pointers. */
static void save_image(writer *w, const shape *s, const void *data, uint32_t size) {
    char image[IMAGE_MOST] = {0};
    g_assert(s->size <= sizeof image);
    memcpy(image, data, size);
    memcpy(image, &size, sizeof size);
    for (size_t i = 0; i < s->n_fields && has_field(&s->fields[i], size); i++) {
        const shape_field *f = &s->fields[i];
        uintptr_t number;
        if (f->kind == SHAPE_PLAIN || (f->kind == SHAPE_DATUM && !is_text(data, f)))
            continue;
        number = is_inside(f) ? writer_number(w, pointer_at(data, f)) : pointer_at(data, f) != NULL;
        memcpy(image + f->at, &number, sizeof number);
    }
    writer_align(w, 8);
    writer_put(w, image, size);
}

static void save_struct(writer *w, const shape *s, const void *data, const void *outer) {
    uint32_t size = MIN(*(const uint32_t *)data, s->size);
    save_image(w, s, data, size);
    for (size_t i = 0; i < s->n_fields && has_field(&s->fields[i], size); i++)
        if (is_inside(&s->fields[i]) && is_text(data, &s->fields[i]))
            writer_text(w, pointer_at(data, &s->fields[i]));
    for (size_t i = 0; i < s->n_fields && has_field(&s->fields[i], size); i++)
        if (!is_inside(&s->fields[i]))
            save_field(w, &s->fields[i], data, outer);
}

mill_status shape_save(const shape *s, const char *type, const void *data, mill_sink *sink) {
    writer w;
    writer_init(&w, sink, type);
    save_struct(&w, s, data, NULL);
    return writer_finish(&w);
}

/* ---------------------------------------------------------------- loading */

static bool load_struct(reader *r, const shape *s, const void *outer, void **ret_data);

static void set_pointer(void *data, const shape_field *f, const void *v) {
    memcpy((char *)data + f->at, &v, sizeof v);
}

static uint64_t number_at(const void *data, const shape_field *f) {
    uintptr_t number;
    memcpy(&number, (const char *)data + f->at, sizeof number);
    return number;
}

static bool load_texts(reader *r, const shape_field *f, uint64_t n, const void **ret_v) {
    const uint64_t *numbers = reader_array(r, n, sizeof *numbers);
    if (numbers == NULL)
        return false;
    const char **texts = reader_alloc(r, n * sizeof *texts);
    for (uint64_t i = 0; i < n; i++) {
        if (!reader_text(r, numbers[i], &texts[i]))
            return false;
        if (texts[i] == NULL && f->kind == SHAPE_TEXTS && !f->gaps)
            return reader_wrong(r, "element %" PRIu64 " of %s is no text", i, f->name);
    }
    *ret_v = texts;
    return true;
}

static bool load_structs(reader *r, const shape_field *f, uint64_t n, const void *data,
                         const void **ret_v) {
    if (!reader_has(r, n, f->of->least))
        return false;
    void **structs = reader_alloc(r, n * sizeof *structs);
    for (uint64_t i = 0; i < n; i++)
        if (!load_struct(r, f->of, data, &structs[i]))
            return false;
    *ret_v = structs;
    return true;
}

static bool load_numbers(reader *r, const shape_field *f, uint64_t n, const void **ret_v) {
    *ret_v = reader_array(r, n, f->kind == SHAPE_DATA ? sizeof(mill_datum) : f->each);
    return *ret_v != NULL;
}

static bool load_field(reader *r, const shape_field *f, void *data, const void *outer) {
    uint64_t there = number_at(data, f), n;
    const void *v = NULL;
    bool good;
    if (!count_of(f, data, outer, &n))
        return reader_wrong(r, "%s has more elements than can be counted", f->name);
    if (there > 1 || (there == 0 && n > 0 && !f->optional))
        return reader_wrong(r, "%s has %" PRIu64 " elements, but is not there", f->name, n);
    if (there == 0)
        return true;
    if (f->kind == SHAPE_STRUCTS)
        good = load_structs(r, f, n, data, &v);
    else if (is_text(data, f))
        good = load_texts(r, f, n, &v);
    else
        good = load_numbers(r, f, n, &v);
    set_pointer(data, f, v);
    return good;
}

static bool load_text(reader *r, const shape_field *f, void *data) {
    const char *text;
    if (!reader_text(r, number_at(data, f), &text))
        return false;
    set_pointer(data, f, text);
    return text != NULL || f->optional || reader_wrong(r, "it has no %s", f->name);
}

/* The image, in memory of its own; data NULL: that has to be made. */
static void *load_image(reader *r, const shape *s, void *data) {
    const void *begin = reader_take(r, 0, 8);
    if (begin == NULL || !reader_has(r, sizeof(uint32_t), 1))
        return NULL;
    uint32_t size = *(const uint32_t *)begin;
    if (size < s->least || size > s->size) {
        reader_wrong(r,
                     "a %s of %u bytes, expected %u to %u; use a newer tracemill if it was "
                     "written by one",
                     s->name, size, s->least, s->size);
        return NULL;
    }
    const void *image = reader_take(r, size, 8);
    if (image == NULL)
        return NULL;
    if (data == NULL)
        data = reader_alloc(r, s->size);
    return memcpy(data, image, size);
}

static bool load_fields(reader *r, const shape *s, void *data, const void *outer) {
    uint32_t size = *(uint32_t *)data;
    for (size_t i = 0; i < s->n_fields && has_field(&s->fields[i], size); i++) {
        const shape_field *f = &s->fields[i];
        if (is_inside(f) && is_text(data, f) && !load_text(r, f, data))
            return false;
    }
    for (size_t i = 0; i < s->n_fields && has_field(&s->fields[i], size); i++)
        if (!is_inside(&s->fields[i]) && !load_field(r, &s->fields[i], data, outer))
            return false;
    return s->check == NULL || s->check(r, data, outer);
}

static bool load_struct(reader *r, const shape *s, const void *outer, void **ret_data) {
    *ret_data = load_image(r, s, *ret_data);
    return *ret_data != NULL && load_fields(r, s, *ret_data, outer);
}

mill_status shape_load(const shape *s, const char *type, mill_run *run, mill_source *source,
                       void **ret_data) {
    reader r;
    bool good = reader_init(&r, run, source, type, s->size);
    void *root = r.value;
    good = good && load_struct(&r, s, NULL, &root);
    return reader_finish(&r, good, ret_data);
}
