/* SPDX-License-Identifier: Apache-2.0 */
/* The reference parser of one event. */
#include "event.h"

#include <string.h>

#define KEY_MAX 128 /* bytes of a key with escapes; longer ones are none of ours */

typedef struct known_key {
    const char *text;
    size_t length;
    event_member member;
} known_key;

#define KEY(text, member)                                                                          \
    { (text), sizeof(text) - 1, (member) }

static const known_key event_keys[] = {
    KEY("ph", EVENT_PH),       KEY("cat", EVENT_CAT),   KEY("name", EVENT_NAME),
    KEY("pid", EVENT_PID),     KEY("tid", EVENT_TID),   KEY("ts", EVENT_TS),
    KEY("dur", EVENT_DUR),     KEY("id", EVENT_ID),     KEY("id2", EVENT_ID2),
    KEY("scope", EVENT_SCOPE), KEY("args", EVENT_ARGS), {NULL, 0, EVENT_MEMBERS},
};
static const known_key arg_keys[] = {
    KEY("device", EVENT_ARG_DEVICE),
    KEY("stream", EVENT_ARG_STREAM),
    KEY("correlation", EVENT_ARG_CORRELATION),
    KEY("External id", EVENT_ARG_EXTERNAL_ID),
    KEY("external id", EVENT_ARG_EXTERNAL_ID), /* Kineto of 2021 */
    KEY("grid", EVENT_ARG_GRID),
    KEY("block", EVENT_ARG_BLOCK),
    KEY("bytes", EVENT_ARG_BYTES),
    KEY("wait_on_cuda_event_record_corr_id", EVENT_ARG_WAITED_EVENT),
    KEY("wait_on_stream", EVENT_ARG_WAITED_STREAM),
    KEY("Collective name", EVENT_ARG_COLLECTIVE),
    KEY("name", EVENT_ARG_NAME),
    KEY("mb_id", EVENT_ARG_MICRO_BATCH),
    {NULL, 0, EVENT_MEMBERS},
};

/* EVENT_MEMBERS: none of them. */
static event_member find_key(const known_key *keys, json_value key) {
    char plain[KEY_MAX];
    if (key.escaped && key.length <= KEY_MAX) {
        bool bad;
        key.length = json_unescape(key, plain, &bad);
        key.at = plain;
    }
    while (keys->text &&
           (keys->length != key.length || memcmp(keys->text, key.at, key.length) != 0))
        keys++;
    return keys->member;
}

/* The cursor stands at the '{'. */
static json_status parse_args(json *j, event *e, json_value *ret_args) {
    const char *begin = j->at++;
    memset(&e->member[EVENT_ARG], 0, sizeof e->member - sizeof e->member[0] * EVENT_ARG);
    json_value key, value;
    for (bool first = true;; first = false) {
        json_status s = json_key(j, first, &key);
        if (s == JSON_OK)
            s = json_read(j, &value);
        if (s != JSON_OK) {
            *ret_args = (json_value){begin, (size_t)(j->at - begin), JSON_OBJECT, false};
            return s == JSON_END ? JSON_OK : s;
        }
        event_member member = find_key(arg_keys, key);
        if (member != EVENT_MEMBERS)
            e->member[member] = value;
    }
}

json_status event_parse(json *j, event *e) {
    *e = (event){0};
    j->at++;
    json_value key, value;
    for (bool first = true;; first = false) {
        json_status s = json_key(j, first, &key);
        if (s == JSON_END) {
            e->not_numbers = j->not_numbers;
            return JSON_OK;
        }
        event_member member = s == JSON_OK ? find_key(event_keys, key) : EVENT_MEMBERS;
        if (member == EVENT_ARGS && *j->at == '{')
            s = parse_args(j, e, &value);
        else if (s == JSON_OK)
            s = json_read(j, &value);
        if (s != JSON_OK)
            return s;
        if (member != EVENT_MEMBERS)
            e->member[member] = value;
    }
}

json_status event_begins(json *j) {
    json_status s = json_blanks(j);
    if (s != JSON_OK || *j->at != '{')
        return s == JSON_OK ? JSON_BAD : s;
    j->at++;
    json_value key;
    s = json_key(j, true, &key);
    if (s != JSON_OK)
        return s == JSON_END ? JSON_BAD : s;
    return find_key(event_keys, key) != EVENT_MEMBERS ? JSON_OK : JSON_BAD;
}
