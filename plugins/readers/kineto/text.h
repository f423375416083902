/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of events: where they lie in the file, or unescaped in a buffer that is used again. */
#ifndef KINETO_TEXT_H
#define KINETO_TEXT_H

#include "json.h"

#include <tracemill/kit/arena.h>

typedef struct span {
    const char *at;
    size_t length;
} span;

/* All zero bytes: empty. `at` is freed by the owner. */
typedef struct text_room {
    char *at;
    size_t room;
} text_room;

static inline char *text_room_for(text_room *to, size_t length) {
    if (length > to->room) {
        to->room = length * 2;
        to->at = kit_realloc(to->at, to->room, 1);
    }
    return to->at;
}

/* The text of a value: of a string what it says, of anything else as it is written. Valid until the
 * room is used again. */
static inline span text_of(json_value value, text_room *to, bool *ret_bad) {
    *ret_bad = false;
    if (!value.escaped)
        return (span){value.at ? value.at : "", value.length};
    char *plain = text_room_for(to, value.length);
    return (span){plain, json_unescape(value, plain, ret_bad)};
}

#endif
