/* SPDX-License-Identifier: Apache-2.0 */
/* The outer shape of a trace file: a bare array of events, or an object whose traceEvents they are.
 * Walks it through a bounded window of text and hands over what it finds. */
#ifndef KINETO_DOCUMENT_H
#define KINETO_DOCUMENT_H

#include "event.h"

#include <tracemill/tracemill.h>

#define DOCUMENT_BEYOND 64

typedef enum document_problem {
    DOCUMENT_MALFORMED, /* an event that is no JSON: left out */
    DOCUMENT_TRUNCATED, /* the text ends too early */
    DOCUMENT_TRAILING,  /* something follows the end */
} document_problem;

/* What a document reads from and reports to; `arg` is the first parameter of all. Text and values
 * are valid during the call only; `byte` counts from the start of the text. */
typedef struct document_calls {
    /* Fills up to `room` bytes; *ret_length 0 at the end of the text. */
    mill_status (*read)(void *arg, char *to, size_t room, size_t *ret_length);
    void (*event)(void *arg, const event *e, uint64_t byte);
    /* Takes as many events as it likes from the '{' at `text` on, and returns the bytes they fill;
     * 0 leaves the first one to `event`. DOCUMENT_BEYOND NULs stand at `end`. NULL: takes none. */
    size_t (*events)(void *arg, const char *text, const char *end, uint64_t byte,
                     uint64_t *ret_events);
    /* A member of the top object other than traceEvents; asked by its key first. */
    bool (*wants)(void *arg, const char *key);
    void (*fact)(void *arg, const char *key, json_value value);
    void (*problem)(void *arg, document_problem problem, uint64_t byte);
    /* Asked at the '{' of each event, at `byte`, that is to be read next. If what follows was read
     * elsewhere, takes that over and returns the byte behind its last event, where `read` then goes
     * on; else returns `byte`. *ret_limit: up to there it need not be asked. NULL: never is. */
    uint64_t (*skip)(void *arg, uint64_t byte, uint64_t *ret_events, uint64_t *ret_limit);
    /* For document_read_part: whether an event is not for `event`. NULL: all are. */
    bool (*leaves)(void *arg, const event *e);
} document_calls;

typedef struct document_config {
    event_parser parse;
    size_t window;    /* bytes of text held; grows for a larger event */
    size_t max_event; /* but not beyond this */
} document_config;

typedef struct document_result {
    uint64_t events, bytes; /* whole events; bytes of text */
    uint64_t skipped;       /* of these bytes: read elsewhere */
    bool has_events;        /* there is an array of events, be it empty */
    bool complete;          /* the end is where it should be. An array may lack its ']' */
} document_result;

/* Reads all of the text. Errors (recorded): those of `read`; E_DATA if the text is no trace file at
 * all or one event is larger than max_event. */
mill_status document_read(mill_run *run, const document_config *config, const document_calls *calls,
                          void *arg, document_result *ret_result);

/* What was read of a part: whole events, up to `end`. */
typedef struct document_part {
    uint64_t end, events;
} document_part;

/* Reads events from the '{' at `from`, where `read` begins, and no other event that begins at `to`
 * or behind it. Stops silently before whatever is not a whole and sound event of at most max_event
 * bytes, or is left. The events are what document_read would find if it came to `from` in an array
 * of events, which only it can tell. Errors: those of `read`; *ret_part is good all the same. */
mill_status document_read_part(mill_run *run, const document_config *config,
                               const document_calls *calls, void *arg, uint64_t from, uint64_t to,
                               document_part *ret_part);

/* The first '{' in the text that looks like the beginning of an event behind another one; NULL:
 * none. */
const char *document_guess_event(const char *text, const char *end);

#endif
