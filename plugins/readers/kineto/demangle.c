/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles C++ names with libstdc++, within bounds.
 *
 * A back reference (S_, S0_, S1_ …) stands for a part of the name before it. Each may double the
 * text, so 300 bytes can stand for gigabytes, and __cxa_demangle knows no limit. Therefore they are
 * let in from the left, as many at a time as can't make the text much too long. Those further right
 * are hidden until then: each is a name of the same length ("1x" for "S_"), which may stand
 * wherever a reference may. */
#include "demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define MANGLED_MAX 1024      /* bytes; __cxa_demangle of GCC 9 and later takes no longer ones */
#define PLAIN_MAX (256 << 10) /* bytes; real ones have a few KB */
#define MARGIN 16    /* a template's arguments, and with them a reference, may be printed again */
#define DIGITS_MAX 2 /* of a reference, since the name has fewer than 36^2 parts */

/* Of libstdc++, since the C library has none. To be freed. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* The next reference from p on, or what looks like one; NULL: there is none. */
static const char *next_reference(const char *p, size_t *ret_length) {
    for (; (p = strchr(p, 'S')) != NULL; p++) {
        size_t digits = strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        *ret_length = digits + 2;
        if (p[digits + 1] == '_' && (digits <= DIGITS_MAX || p[1] == '0'))
            return p;
    }
    return NULL;
}

/* False: that can't be done. */
static bool hide_references(char *text) {
    size_t length;
    for (const char *p = text; (p = next_reference(p, &length)) != NULL; p += length) {
        if (length > DIGITS_MAX + 2) /* padded with zeros, as no compiler does */
            return false;
        char *to = text + (p - text);
        memset(to, 'x', length);
        if (p == text || p[-1] < '0' || p[-1] > '9') /* else a name begins here: let it be one */
            *to = (char)('0' + length - 1);
    }
    return true;
}

/* Lets the next references in, at least one; returns where the ones after them begin. */
static const char *let_in(char *trial, const char *mangled, const char *p, size_t length) {
    size_t n;
    do {
        p = next_reference(p, &n);
        if (p == NULL)
            return mangled + strlen(mangled);
        memcpy(trial + (p - mangled), p, n);
        p += n;
        length *= 2;
    } while (length * MARGIN < PLAIN_MAX);
    return p;
}

char *demangle(const char *mangled) {
    size_t size = strlen(mangled) + 1;
    int status;
    if (size > MANGLED_MAX)
        return NULL;
    char *trial = kit_alloc(size, 1), *plain = NULL;
    memcpy(trial, mangled, size);
    if (hide_references(trial))
        plain = __cxa_demangle(trial, NULL, NULL, &status);
    for (const char *p = mangled; plain != NULL && *p != '\0';) {
        size_t length = strlen(plain);
        free(plain);
        if (length > PLAIN_MAX) {
            plain = NULL;
            break;
        }
        p = let_in(trial, mangled, p, length);
        plain = __cxa_demangle(trial, NULL, NULL, &status);
    }
    free(trial);
    return plain;
}
