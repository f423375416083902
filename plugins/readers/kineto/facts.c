/* SPDX-License-Identifier: Apache-2.0 */
/* Reads distributedInfo, deviceProperties and baseTimeNanoseconds. */
#include "facts.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/number.h>

bool facts_want(const char *key) {
    return !strcmp(key, "distributedInfo") || !strcmp(key, "deviceProperties") ||
           !strcmp(key, "baseTimeNanoseconds");
}

int64_t facts_int(json_value value) {
    int64_t number;
    bool may_be = value.kind == JSON_NUMBER || value.kind == JSON_STRING;
    return may_be && kit_parse_int(value.at, value.length, true, &number) ? number : MILL_UNKNOWN;
}

void facts_pick(json_value object, const char *const *keys, json_value *values, size_t n) {
    json j = {.at = object.at, .end = object.at + object.length};
    json_value key, value;
    for (size_t i = 0; i < n; i++)
        values[i] = (json_value){0};
    if (object.kind != JSON_OBJECT)
        return;
    j.at++;
    for (bool first = true;; first = false) {
        if (json_key(&j, first, &key) != JSON_OK || json_read(&j, &value) != JSON_OK)
            return;
        for (size_t i = 0; i < n; i++)
            if (json_is(key, keys[i]))
                values[i] = value;
    }
}

/* A string unescaped, to be freed; NULL if it is none or an empty one. */
static char *text_of(json_value value, size_t *ret_length) {
    bool bad;
    if (value.kind != JSON_STRING || value.length == 0)
        return NULL;
    char *text = kit_alloc(value.length, 1);
    *ret_length = json_unescape(value, text, &bad);
    return text;
}

uint32_t facts_string(kit_trace *b, json_value value) {
    if (value.kind == JSON_NUMBER || value.kind == JSON_ARRAY)
        return kit_trace_string(b, value.at, value.length);
    size_t length;
    char *text = text_of(value, &length);
    uint32_t string = text ? kit_trace_string(b, text, length) : MILL_NONE;
    free(text);
    return string;
}

/* Jobs that are not set up have -1 for a rank, and 0 ranks: that tells nothing. */
static int64_t known_from(int64_t least, int64_t value) {
    return value < least ? MILL_UNKNOWN : value;
}

static void take_ranks(kit_trace *b, json_value object) {
    static const char *const keys[] = {"rank", "world_size", "backend"};
    json_value values[3];
    facts_pick(object, keys, values, 3);
    mill_trace *t = kit_trace_value(b);
    t->rank = known_from(0, facts_int(values[0]));
    t->world_size = known_from(1, facts_int(values[1]));
    size_t length;
    char *backend = text_of(values[2], &length);
    if (backend)
        t->backend = kit_trace_text(b, backend, length);
    free(backend);
}

static void take_device(kit_trace *b, json_value object) {
    static const char *const keys[] = {"id", "name", "numSms"};
    json_value values[3];
    facts_pick(object, keys, values, 3);
    int64_t id = facts_int(values[0]);
    if (id == MILL_UNKNOWN)
        return;
    kit_trace_describe_device(b, kit_trace_device(b, id), facts_string(b, values[1]),
                              facts_int(values[2]));
}

void facts_take(kit_trace *b, const char *key, json_value value) {
    json j = {.at = value.at, .end = value.at + value.length};
    if (!strcmp(key, "baseTimeNanoseconds")) {
        kit_trace_value(b)->base_ns = facts_int(value);
    } else if (!strcmp(key, "distributedInfo")) {
        take_ranks(b, value);
    } else if (value.kind == JSON_ARRAY) {
        j.at++;
        for (bool first = true; json_element(&j, first) == JSON_OK; first = false) {
            json_read(&j, &value);
            take_device(b, value);
        }
    }
}
