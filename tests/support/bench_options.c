/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the options struct of a stage on the bench from texts as a user would write them. A wrong
 * text is a mistake of the test, and ends it. */
#include "bench_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/number.h>

typedef struct unit {
    const char *name;
    int64_t size;
} unit;

static const unit durations[] = {{"ns", 1},
                                 {"us", 1000},
                                 {"ms", 1000 * 1000},
                                 {"s", 1000 * 1000 * 1000},
                                 {"min", INT64_C(60) * 1000 * 1000 * 1000},
                                 {NULL, 0}};
static const unit sizes[] = {
    {"B", 1},      {"kB", 1000},     {"MB", 1000 * 1000}, {"GB", 1000 * 1000 * 1000},
    {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1 << 30},    {NULL, 0}};

static const mill_option *option_at(const mill_stage *stage, size_t i) {
    const mill_option *option =
        (const mill_option *)((const char *)stage->options + i * stage->option_stride);
    return option->name ? option : NULL;
}

const mill_option *bench_find_option(const mill_stage *stage, const char *name) {
    const mill_option *option;
    for (size_t i = 0; stage->options && (option = option_at(stage, i)); i++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

static _Noreturn void refuse(const mill_option *option, const char *text) {
    g_error("bench: %s = \"%s\" is no value of its type", option->name, text);
}

/* Decimals as in "1.5ms" are not read: tests can say 1500us. */
static int64_t with_unit(const mill_option *option, const char *text, const unit *units) {
    size_t digits = strspn(text, "0123456789-");
    int64_t count;
    if (!kit_parse_int(text, digits, false, &count))
        refuse(option, text);
    for (; units->name; units++)
        if (strcmp(text + digits, units->name) == 0)
            return count * units->size;
    refuse(option, text);
}

static bool truth(const mill_option *option, const char *text) {
    static const char *const yes[] = {"yes", "true", "on", NULL};
    static const char *const no[] = {"no", "false", "off", NULL};
    if (!g_strv_contains(yes, text) && !g_strv_contains(no, text))
        refuse(option, text);
    return g_strv_contains(yes, text);
}

static int choice(const mill_option *option, const char *text) {
    for (int i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], text) == 0)
            return i;
    refuse(option, text);
}

static double real(const mill_option *option, const char *text) {
    char *end;
    double value = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0')
        refuse(option, text);
    return value;
}

static const char *keep_text(bench *b, const char *text) {
    char *copy = g_strdup(text);
    g_ptr_array_add(b->option_memory, copy);
    return copy;
}

/* Writes one value to `field` and returns its size. */
static size_t set_value(bench *b, const mill_option *option, mill_opt_type type, const char *text,
                        void *field) {
    int64_t *number = field;
    switch (type) {
    case MILL_OPT_BOOL:
        *(bool *)field = truth(option, text);
        return sizeof(bool);
    case MILL_OPT_INT:
        if (!kit_parse_int(text, strlen(text), false, number))
            refuse(option, text);
        return sizeof *number;
    case MILL_OPT_DURATION:
        *number = with_unit(option, text, durations);
        return sizeof *number;
    case MILL_OPT_BYTES:
        *number = with_unit(option, text, sizes);
        return sizeof *number;
    case MILL_OPT_NUM:
        *(double *)field = real(option, text);
        return sizeof(double);
    case MILL_OPT_ENUM:
        *(int *)field = choice(option, text);
        return sizeof(int);
    case MILL_OPT_STR:
    case MILL_OPT_PATH:
    case MILL_OPT_REGEX:
        *(const char **)field = keep_text(b, text);
        return sizeof(const char *);
    case MILL_OPT_LIST:
        break;
    }
    refuse(option, text);
}

static mill_list make_list(bench *b, const mill_option *option, const char *text) {
    g_auto(GStrv) parts = g_strsplit_set(text, ",\n", -1);
    char *values = g_malloc0((g_strv_length(parts) + 1) * sizeof(int64_t)); /* the widest one */
    g_ptr_array_add(b->option_memory, values);
    mill_list list = {.v = values};
    for (char *at = values, **part = parts; *part; part++) {
        if (*g_strstrip(*part) == '\0')
            continue;
        at += set_value(b, option, option->elem, *part, at);
        list.n++;
    }
    return list;
}

void bench_set_option(bench *b, const mill_option *option, const char *text) {
    g_autofree char *data = g_strconcat(g_getenv("TRACEMILL_TEST_SOURCE") ?: ".", "/etc", NULL);
    g_autoptr(GString) expanded = g_string_new(text);
    g_string_replace(expanded, "${tracemill:data}", data, 0);
    void *field = (char *)b->own_opts + option->offset;
    if (option->type == MILL_OPT_LIST)
        *(mill_list *)field = make_list(b, option, expanded->str);
    else
        set_value(b, option, option->type, expanded->str, field);
}

void bench_set_defaults(bench *b) {
    const mill_option *option;
    for (size_t i = 0; b->stage->options && (option = option_at(b->stage, i)); i++)
        if (option->def)
            bench_set_option(b, option, option->def);
}

void bench_need_options(const bench *b) {
    const mill_option *option;
    for (size_t i = 0; b->stage->options && (option = option_at(b->stage, i)); i++)
        if (option->flags & MILL_OPT_REQUIRED && !g_hash_table_contains(b->given, option->name))
            g_error("bench: class %s needs \"%s\"", b->stage->name, option->name);
}
