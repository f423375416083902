/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over JSON text that may stop in the middle: it tells "not whole yet" from "wrong". */
#ifndef KINETO_JSON_H
#define KINETO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum json_status {
    JSON_OK,
    JSON_END,  /* of json_key: the object is closed */
    JSON_MORE, /* the text ends before the value does */
    JSON_BAD,  /* no JSON: the cursor stands where it goes wrong */
} json_status;

typedef enum json_kind {
    JSON_NONE, /* all zero bytes: no value was seen */
    JSON_STRING,
    JSON_NUMBER,       /* what begins like a number; not checked further */
    JSON_WORD,         /* true, false, null */
    JSON_NOT_A_NUMBER, /* NaN, inf, -Infinity and the like, which some writers leave behind */
    JSON_OBJECT,
    JSON_ARRAY,
} json_kind;

/* A value as it stands in the text; a string without its quotes, not unescaped. */
typedef struct json_value {
    const char *at;
    size_t length;
    json_kind kind;
    bool escaped; /* a string that holds a backslash */
} json_value;

typedef struct json {
    const char *at, *end;
    uint32_t not_numbers; /* JSON_NOT_A_NUMBER values passed, at any depth */
} json;

/* Values nested deeper than this are JSON_BAD. */
#define JSON_DEPTH_MAX 131072

/* The cursor stands at the first byte of a value: passes it. Depth costs no C stack. */
json_status json_read(json *j, json_value *ret_value);

/* Steps to a member of an object whose '{' (first) or a value (not first) was just passed: the
 * cursor stands at the member's value. JSON_END when the object was closed instead. */
json_status json_key(json *j, bool first, json_value *ret_key);
/* The same for an element of an array. */
json_status json_element(json *j, bool first);

/* Passes blanks; JSON_MORE at the end of the text. */
json_status json_blanks(json *j);

/* Unescapes a string into `to`, which has room for value.length bytes; returns the bytes written.
 * Escapes that JSON does not know, halves of surrogate pairs and \u0000 stay as they are written;
 * *ret_bad tells whether there were any. */
size_t json_unescape(json_value value, char *to, bool *ret_bad);

/* True if the bytes are valid UTF-8. */
bool json_utf8(const char *text, size_t length);

/* True if a string without escapes, or any other value, is written exactly so. */
bool json_is(json_value value, const char *text);

#endif
