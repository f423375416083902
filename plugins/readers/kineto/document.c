/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the outer shape of a trace file and finds its way back after a broken event. */
#include "document.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define KEY_MAX 128    /* bytes of a key of the top object as written; longer ones are not ours */
#define EVENT_HEAD 256 /* bytes by which the beginning of an event is recognised */

typedef struct document {
    mill_run *run;
    const document_config *config;
    const document_calls *calls;
    void *arg;
    char *text; /* the window: [at, end) of it is not used up */
    size_t room, at, end;
    uint64_t base;  /* the byte of the file's text that text[0] is */
    bool ended;     /* there is no text beyond the window */
    bool part;      /* a value larger than max_event is not read, without an error */
    uint64_t limit; /* no event that begins here or behind is to be read with others */
    document_result result;
} document;

static uint64_t byte_at(const document *d, size_t at) {
    return d->base + at;
}

/* Brings more text in behind what is not used up, until the window is full or the text ends. */
static mill_status fill(document *d) {
    memmove(d->text, d->text + d->at, d->end - d->at);
    d->base += d->at;
    d->end -= d->at;
    d->at = 0;
    if (d->end == d->room) {
        if (d->room >= d->config->max_event)
            return mill_fail(d->run, MILL_E_DATA,
                             "byte %llu: one value is larger than max-event (%zu bytes): set "
                             "max-event higher, or see what is wrong with the file there",
                             (unsigned long long)d->base, d->config->max_event);
        d->room = d->room * 2 < d->config->max_event ? d->room * 2 : d->config->max_event;
        d->text = kit_realloc(d->text, d->room + DOCUMENT_BEYOND, 1);
    }
    while (d->end < d->room && !d->ended) {
        size_t length = 0;
        mill_status status = d->calls->read(d->arg, d->text + d->end, d->room - d->end, &length);
        if (status != MILL_OK)
            return status;
        d->ended = length == 0;
        d->end += length;
    }
    memset(d->text + d->end, 0, DOCUMENT_BEYOND);
    return MILL_OK;
}

/* The next byte that is no blank, not used up; -1 at the end of the text. */
static mill_status peek(document *d, int *ret_byte) {
    for (;;) {
        json j = {.at = d->text + d->at, .end = d->text + d->end};
        json_status s = json_blanks(&j);
        d->at = (size_t)(j.at - d->text);
        if (s == JSON_OK || d->ended) {
            *ret_byte = s == JSON_OK ? (unsigned char)*j.at : -1;
            return MILL_OK;
        }
        mill_status status = fill(d);
        if (status != MILL_OK)
            return status;
    }
}

static void truncated(document *d) {
    d->result.complete = false;
    d->calls->problem(d->arg, DOCUMENT_TRUNCATED, byte_at(d, d->end));
}

static void malformed(document *d) {
    d->calls->problem(d->arg, DOCUMENT_MALFORMED, byte_at(d, d->at));
}

/* Goes on to the comma before the next thing that begins like an event, or to the end of the text.
 */
static mill_status resynchronise(document *d) {
    for (;;) {
        const char *comma = memchr(d->text + d->at, ',', d->end - d->at);
        d->at = comma ? (size_t)(comma - d->text) : d->end;
        size_t left = d->end - d->at;
        json j = {.at = d->text + d->at + (comma != NULL),
                  .end = d->text + d->at + (left < EVENT_HEAD ? left : EVENT_HEAD)};
        json_status s = event_begins(&j);
        if (s == JSON_OK)
            return MILL_OK;
        if (s == JSON_MORE && left < EVENT_HEAD && !d->ended) {
            mill_status status = fill(d);
            if (status != MILL_OK)
                return status;
        } else if (comma) {
            d->at++;
        } else {
            return MILL_OK;
        }
    }
}

/* Reads one value whole into the window, by the event parser (e) or as it stands (v). */
static mill_status read_whole(document *d, event *e, json_value *v, json *ret_j, json_status *ret) {
    for (;;) {
        *ret_j = (json){.at = d->text + d->at, .end = d->text + d->end};
        *ret = e ? d->config->parse(ret_j, e) : json_read(ret_j, v);
        bool full = d->at == 0 && d->end == d->room && d->room >= d->config->max_event;
        if (*ret != JSON_MORE || d->ended || (d->part && full))
            return MILL_OK;
        mill_status status = fill(d);
        if (status != MILL_OK)
            return status;
    }
}

static mill_status read_event(document *d) {
    event e;
    json j;
    json_status s;
    mill_status status = read_whole(d, &e, NULL, &j, &s);
    if (status != MILL_OK)
        return status;
    if (s == JSON_OK) {
        d->calls->event(d->arg, &e, byte_at(d, d->at));
        d->result.events++;
        d->at = (size_t)(j.at - d->text);
    } else if (s == JSON_MORE) {
        truncated(d);
        d->at = d->end;
    } else {
        malformed(d);
        d->at = (size_t)(j.at - d->text);
        status = resynchronise(d);
        d->result.complete = d->at < d->end;
    }
    return status;
}

/* As many events as the caller takes by itself, as if the text ended at the limit; false: none. */
static bool read_many(document *d) {
    if (!d->calls->events)
        return false;
    bool limited = d->limit < byte_at(d, d->end);
    char beyond[DOCUMENT_BEYOND], *end = d->text + (limited ? d->limit - d->base : d->end);
    if (limited) {
        memcpy(beyond, end, sizeof beyond);
        memset(end, 0, sizeof beyond);
    }
    uint64_t n = 0;
    size_t used = d->calls->events(d->arg, d->text + d->at, end, byte_at(d, d->at), &n);
    if (limited)
        memcpy(end, beyond, sizeof beyond);
    d->at += used;
    d->result.events += n;
    return used > 0;
}

/* Goes on behind what was read elsewhere; false: nothing was. */
static bool skip(document *d) {
    uint64_t byte = byte_at(d, d->at), n = 0;
    if (!d->calls->skip)
        return false;
    uint64_t behind = d->calls->skip(d->arg, byte, &n, &d->limit);
    if (behind == byte)
        return false;
    d->result.events += n;
    d->result.skipped += behind - byte;
    d->base = behind;
    d->at = d->end = 0;
    d->ended = false;
    return true;
}

/* The elements of the array whose '[' was passed, and its ']' if there is one. */
static mill_status read_events(document *d) {
    d->result.has_events = true;
    for (;;) {
        int c;
        mill_status status = peek(d, &c);
        if (status != MILL_OK || c < 0)
            return status;
        if (c == ',') {
            d->at++;
        } else if (c == ']') {
            d->at++;
            return MILL_OK;
        } else if (c == '{') {
            if (!skip(d) && !read_many(d))
                status = read_event(d);
        } else {
            malformed(d);
            status = resynchronise(d);
            d->result.complete = d->at < d->end;
        }
        if (status != MILL_OK)
            return status;
    }
}

/* Passes a value of any size without holding it: only strings and brackets are looked at. */
static mill_status skip_value(document *d) {
    uint64_t depth = 0;
    bool string = false, escape = false;
    for (;; d->at++) {
        if (d->at == d->end) {
            if (d->ended)
                return MILL_OK;
            mill_status status = fill(d);
            if (status != MILL_OK)
                return status;
            if (d->at == d->end)
                return MILL_OK;
        }
        char c = d->text[d->at];
        if (string) {
            string = escape || c != '"';
            escape = !escape && c == '\\';
        } else if (c == '"') {
            string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return MILL_OK;
            depth--;
        } else if (c == ',' && depth == 0) {
            return MILL_OK;
        }
    }
}

/* A key of the top object, with its ':', into `key` ("" if it can't be one of ours). *ret_ok false:
 * no key stands there. */
static mill_status read_key(document *d, char key[KEY_MAX], bool *ret_ok) {
    json_value value;
    json j;
    json_status s;
    mill_status status = read_whole(d, NULL, &value, &j, &s);
    *ret_ok = false;
    key[0] = '\0';
    if (status != MILL_OK || s == JSON_MORE) {
        d->at = d->end;
        return status;
    }
    bool bad, string = s == JSON_OK && value.kind == JSON_STRING;
    if (string && value.length < KEY_MAX)
        key[json_unescape(value, key, &bad)] = '\0';
    if (string)
        d->at = (size_t)(j.at - d->text);
    int c = 0;
    status = peek(d, &c);
    *ret_ok = string && c == ':';
    d->at += *ret_ok;
    return status;
}

/* The value of a key other than traceEvents. */
static mill_status read_fact(document *d, const char *key) {
    if (!d->calls->wants(d->arg, key))
        return skip_value(d);
    json_value value;
    json j;
    json_status s;
    mill_status status = read_whole(d, NULL, &value, &j, &s);
    if (status != MILL_OK || s == JSON_MORE) {
        d->at = d->end;
        return status;
    }
    if (s != JSON_OK) {
        malformed(d);
        return skip_value(d);
    }
    d->calls->fact(d->arg, key, value);
    d->at = (size_t)(j.at - d->text);
    return MILL_OK;
}

/* One member of the top object. *ret_ok false: what stands there is none. */
static mill_status read_member(document *d, bool *ret_ok) {
    char key[KEY_MAX];
    int c = -1;
    mill_status status = read_key(d, key, ret_ok);
    if (status == MILL_OK && *ret_ok)
        status = peek(d, &c);
    if (status != MILL_OK || !*ret_ok)
        return status;
    if (strcmp(key, "traceEvents"))
        return read_fact(d, key);
    if (c != '[')
        return c < 0 ? MILL_OK
                     : mill_fail(d->run, MILL_E_DATA,
                                 "byte %llu: traceEvents is no array: give the file that holds the "
                                 "events themselves",
                                 (unsigned long long)byte_at(d, d->at));
    d->at++;
    return read_events(d);
}

/* Goes on to the key traceEvents after something broken before it; to the end of the text if it
 * does not come, or was there: then there is nothing to hold on to. */
static mill_status find_events(document *d) {
    static const char key[] = "\"traceEvents\"";
    const size_t length = sizeof key - 1;
    while (!d->result.has_events) {
        const char *found = memmem(d->text + d->at, d->end - d->at, key, length);
        if (found) {
            d->at = (size_t)(found - d->text);
            return MILL_OK;
        }
        if (d->ended)
            break;
        if (d->end - d->at >= length)
            d->at = d->end - (length - 1);
        mill_status status = fill(d);
        if (status != MILL_OK)
            return status;
    }
    d->at = d->end;
    return MILL_OK;
}

/* The object whose '{' was passed. */
static mill_status read_object(document *d) {
    for (;;) {
        int c;
        mill_status status = peek(d, &c);
        if (status != MILL_OK)
            return status;
        if (c < 0) {
            if (d->result.complete)
                truncated(d);
            return MILL_OK;
        }
        if (c == ',' || c == '}') {
            d->at++;
            if (c == '}')
                return MILL_OK;
            continue;
        }
        bool ok;
        status = read_member(d, &ok);
        if (status != MILL_OK)
            return status;
        if (!ok && d->ended && d->at == d->end)
            continue;
        if (!ok) {
            malformed(d);
            status = find_events(d);
            if (status != MILL_OK)
                return status;
            if (d->at == d->end) {
                d->result.complete = false;
                return MILL_OK;
            }
        }
    }
}

static mill_status read_top(document *d) {
    int c;
    mill_status status = fill(d);
    if (status == MILL_OK && d->end >= 3 && !memcmp(d->text, "\xef\xbb\xbf", 3))
        d->at = 3;
    if (status == MILL_OK)
        status = peek(d, &c);
    if (status != MILL_OK)
        return status;
    if (c < 0)
        return mill_fail(d->run, MILL_E_DATA,
                         "the file is empty: give a trace of the PyTorch profiler (.json or "
                         ".json.gz)");
    if (c != '[' && c != '{')
        return mill_fail(d->run, MILL_E_DATA,
                         "byte %llu: no JSON begins here: give a trace of the PyTorch profiler "
                         "(.json or .json.gz), which begins with { or [",
                         (unsigned long long)byte_at(d, d->at));
    d->at++;
    return c == '{' ? read_object(d) : read_events(d);
}

mill_status document_read(mill_run *run, const document_config *config, const document_calls *calls,
                          void *arg, document_result *ret_result) {
    document d = {.run = run,
                  .config = config,
                  .calls = calls,
                  .arg = arg,
                  .room = config->window,
                  .limit = UINT64_MAX};
    d.text = kit_alloc(d.room + DOCUMENT_BEYOND, 1);
    d.result.complete = true;
    mill_status status = read_top(&d);
    int c = -1;
    if (status == MILL_OK && d.result.complete)
        status = peek(&d, &c);
    if (c >= 0)
        calls->problem(arg, DOCUMENT_TRAILING, byte_at(&d, d.at));
    while (status == MILL_OK && !d.ended) { /* so that a damaged end of the container shows */
        d.at = d.end;
        status = fill(&d);
    }
    d.result.bytes = byte_at(&d, d.end);
    free(d.text);
    *ret_result = d.result;
    return status;
}

/* ---------------------------------------------------------------- parts */

/* False: what stands there is not for a part. */
static mill_status read_event_of_part(document *d, bool *ret_ok) {
    event e;
    json j;
    json_status s;
    mill_status status = read_whole(d, &e, NULL, &j, &s);
    *ret_ok =
        status == MILL_OK && s == JSON_OK && !(d->calls->leaves && d->calls->leaves(d->arg, &e));
    if (!*ret_ok)
        return status;
    d->calls->event(d->arg, &e, byte_at(d, d->at));
    d->result.events++;
    d->at = (size_t)(j.at - d->text);
    return MILL_OK;
}

mill_status document_read_part(mill_run *run, const document_config *config,
                               const document_calls *calls, void *arg, uint64_t from, uint64_t to,
                               document_part *ret_part) {
    document d = {.run = run,
                  .config = config,
                  .calls = calls,
                  .arg = arg,
                  .room = config->window,
                  .base = from,
                  .part = true,
                  .limit = to};
    d.text = kit_alloc(d.room + DOCUMENT_BEYOND, 1);
    ret_part->end = from;
    int c = -1;
    bool ok = true;
    mill_status status = peek(&d, &c);
    while (status == MILL_OK && ok) {
        if (c == ',') {
            d.at++;
        } else if (c != '{' || byte_at(&d, d.at) >= to) {
            break;
        } else {
            if (!read_many(&d))
                status = read_event_of_part(&d, &ok);
            if (ok)
                ret_part->end = byte_at(&d, d.at);
        }
        if (status == MILL_OK)
            status = peek(&d, &c);
    }
    ret_part->events = d.result.events;
    free(d.text);
    return status;
}

const char *document_guess_event(const char *text, const char *end) {
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), "},", 2)) != NULL; at += 2) {
        json j = {.at = at + 2, .end = end}, begin;
        if (json_blanks(&j) != JSON_OK)
            return NULL;
        begin = j;
        if (event_begins(&j) == JSON_OK)
            return begin.at;
    }
    return NULL;
}
