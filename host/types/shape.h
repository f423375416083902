/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: tables that say how the structs of a mill.* value hang together, by which all of them are
 * saved and loaded. A struct is saved as it lies in memory, with 0 or 1 in place of its pointers
 * (of texts: their number, see writing.h), then what these point to, field by field. What is loaded
 * has its structs and arrays of pointers in memory of its own, all else lies in the source. */
#ifndef HOST_TYPES_SHAPE_H
#define HOST_TYPES_SHAPE_H

#include "types/reading.h"
#include "types/writing.h"

#include <tracemill/report.h>

typedef struct shape shape;

typedef enum shape_kind {
    SHAPE_PLAIN,   /* a number, or reserved */
    SHAPE_TEXT,    /* const char * */
    SHAPE_ARRAY,   /* of numbers, or of structs of numbers */
    SHAPE_TEXTS,   /* const char *const * */
    SHAPE_STRUCTS, /* of pointers to structs of a shape, each of which begins with its size */
    SHAPE_DATUM,   /* mill_datum: what it is, says the struct's mill_kind */
    SHAPE_DATA,    /* array of them */
} shape_kind;

/* How many elements an array has: the product of fields, plus a number. */
typedef struct shape_count {
    struct {
        uint16_t at, size;
    } factors[3];         /* to the first of size 0 */
    bool outer;           /* fields of the struct that lists this one */
    uint16_t times, plus; /* times 0: 1 */
} shape_count;

typedef struct shape_field {
    shape_kind kind;
    uint16_t at, size; /* in the struct */
    uint16_t each;     /* bytes of an element of an ARRAY */
    uint16_t kind_at;  /* DATUM, DATA: where the mill_kind lies */
    bool optional;     /* may be NULL; an array without elements always may */
    bool gaps;         /* TEXTS: so may elements */
    shape_count count;
    const shape *of; /* STRUCTS */
    const char *name;
} shape_field;

/* A struct that begins with its size, an uint32_t. */
struct shape {
    const char *name;
    uint16_t size;  /* as this host knows it */
    uint16_t least; /* as ABI 1.0 had it */
    const shape_field *fields;
    size_t n_fields;
    /* What consumers rely on beyond that all pointers are good: numbers that name rows, order.
     * False: told by reader_wrong. outer: the struct that lists this one, or NULL. May be NULL. */
    bool (*check)(reader *r, const void *data, const void *outer);
};

/* size and least. Sizes of ABI 1.0 are told for pointers of 8 bytes. */
#if UINTPTR_MAX == UINT64_MAX
#define SHAPE_SIZES(type, least) sizeof(type), (least)
#else
#define SHAPE_SIZES(type, least) sizeof(type), sizeof(type)
#endif

/* The fields are told in the order of the struct, without gaps (a test sees to that). */
#define SHAPE_AT(type, field) .at = offsetof(type, field), .size = sizeof(((type *)0)->field)
/* Does not compile for a pointer or a struct. */
#define SHAPE_PLAIN(type, field)                                                                   \
    {                                                                                              \
        .kind = SHAPE_PLAIN, SHAPE_AT(type, field) + 0 * sizeof(((type *)0)->field * 1),           \
        .name = #field                                                                             \
    }
#define SHAPE_TEXT(type, field, ...)                                                               \
    { .kind = SHAPE_TEXT, SHAPE_AT(type, field), .name = #field, __VA_ARGS__ }
#define SHAPE_TEXTS(type, field, ...)                                                              \
    { .kind = SHAPE_TEXTS, SHAPE_AT(type, field), .name = #field, __VA_ARGS__ }
#define SHAPE_ARRAY(type, field, ...)                                                              \
    {                                                                                              \
        .kind = SHAPE_ARRAY, SHAPE_AT(type, field), .name = #field,                                \
        .each = sizeof *((type *)0)->field, __VA_ARGS__                                            \
    }
#define SHAPE_STRUCTS(type, field, shape, ...)                                                     \
    { .kind = SHAPE_STRUCTS, SHAPE_AT(type, field), .name = #field, .of = (shape), __VA_ARGS__ }
#define SHAPE_DATUM(type, field, kind_field)                                                       \
    {                                                                                              \
        .kind = SHAPE_DATUM, SHAPE_AT(type, field), .name = #field,                                \
        .kind_at = offsetof(type, kind_field), .optional = true                                    \
    }
#define SHAPE_DATA(type, field, kind_field, ...)                                                   \
    {                                                                                              \
        .kind = SHAPE_DATA, SHAPE_AT(type, field), .name = #field,                                 \
        .kind_at = offsetof(type, kind_field), __VA_ARGS__                                         \
    }

#define SHAPE_FACTOR(type, field)                                                                  \
    { offsetof(type, field), sizeof(((type *)0)->field) }
#define SHAPE_COUNT(type, field) .count = {.factors = {SHAPE_FACTOR(type, field)}}

mill_status shape_save(const shape *s, const char *type, const void *data, mill_sink *sink);
mill_status shape_load(const shape *s, const char *type, mill_run *run, mill_source *source,
                       void **ret_data);

#endif
