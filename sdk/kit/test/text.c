/* SPDX-License-Identifier: Apache-2.0 */
/* Small things of the test harness: memory, growing texts, and the end of a test that is wrong. */
#include "private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kt_mistake(const char *format, ...) {
    va_list args;
    kt_watched_scene(NULL); /* it is not the class that ends the program */
    kt_output_rescue();
    va_start(args, format);
    fputs("test harness: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    exit(99);
}

const char *kt_status_name(mill_status status) {
    static char number[16];
#define NAMED(s)                                                                                   \
    case s:                                                                                        \
        return #s
    switch (status) {
        NAMED(MILL_OK);
        NAMED(MILL_GATE);
        NAMED(MILL_E_DATA);
        NAMED(MILL_E_NOINPUT);
        NAMED(MILL_E_PLUGIN);
        NAMED(MILL_E_IO);
        NAMED(MILL_E_TIMEOUT);
        NAMED(MILL_E_CONFIG);
        NAMED(MILL_E_CANCELLED);
    }
#undef NAMED
    snprintf(number, sizeof number, "%d", (int)status);
    return number;
}

void *kt_alloc(size_t size) {
    void *memory = calloc(1, size > 0 ? size : 1);
    if (!memory)
        kt_mistake("out of memory: %zu bytes", size);
    return memory;
}

void *kt_grow(void *array, size_t n, size_t element) {
    if (n & (n - 1)) /* not 0, and no power of two: there is room */
        return array;
    void *grown = realloc(array, (n ? 2 * n : 1) * element);
    if (!grown)
        kt_mistake("out of memory");
    return grown;
}

char *kt_copy(const char *s) {
    size_t n = strlen(s) + 1;
    return memcpy(kt_alloc(n), s, n);
}

void kt_text_add(kt_text *t, const char *s, size_t n) {
    if (t->n + n >= t->room) {
        t->room = (t->n + n) * 2 + 16;
        t->s = realloc(t->s, t->room);
        if (!t->s)
            kt_mistake("out of memory");
    }
    if (n > 0)
        memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void kt_text_addf(kt_text *t, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *s = kt_alloc((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    kt_text_add(t, s, (size_t)n);
    free(s);
}

void kt_text_put_before(kt_text *t, const char *line) {
    kt_text both = {0};
    kt_text_add(&both, line, strlen(line));
    if (t->n > 0)
        kt_text_addf(&both, "\n%s", t->s);
    kt_text_clear(t);
    *t = both;
}

void kt_text_clear(kt_text *t) {
    free(t->s);
    *t = (kt_text){0};
}

const char *kt_text_of(const kt_text *t) {
    return t->s ? t->s : "";
}
