/* SPDX-License-Identifier: Apache-2.0 */
/* What the builds of the fast scanner for different instructions share. */
#ifndef KINETO_FAST_PRIVATE_H
#define KINETO_FAST_PRIVATE_H

#include "category.h"
#include "fast.h"

/* Where the scanner stands: behind the value of this member, or at it if it is of few words (ph and
 * cat), or behind a bracket. As the goal of a step: at the value of this member. */
typedef enum place {
    AT_EVENT, /* before an event's '{' */
    AT_CLOSE, /* behind its '}' */
    AT_PH,
    AT_CAT,
    AT_NAME,
    AT_PID,
    AT_TID,
    AT_TS,
    AT_DUR,
    AT_ARGS,
    AT_OTHER,
    AT_GRID, /* from here on: in args */
    AT_BLOCK,
    AT_DEVICE, /* from here on: whole numbers */
    AT_STREAM,
    AT_CORRELATION,
    AT_EXTERNAL_ID,
    AT_BYTES,
    AT_WAITED_EVENT,
    AT_WAITED_STREAM,
    AT_LEFT,      /* of a collective operation or a timer: for the reference parser, all of it */
    AT_OTHER_ARG, /* and the next ones: by a hash of the key, so that what follows is foreseen */
    N_PLACES = AT_OTHER_ARG + 32
} place;
#define N_OTHER_ARGS (N_PLACES - AT_OTHER_ARG)
#define N_NUMBERS (AT_LEFT - AT_GRID)

/* What stood between two values once: if the same bytes stand there again, they mean the same. So
 * one comparison replaces blanks, commas, quotes, brackets of args and the search for the key,
 * whatever the writer's layout; of ph and cat it holds the value too. */
#define SUCCESSOR_MAX 115
typedef struct successor {
    const struct successor *ways; /* what may follow the next value */
    uint8_t text[SUCCESSOR_MAX];
    uint8_t length;
    uint8_t brace; /* where in the text an event's '{' is */
    uint8_t next;  /* place */
    uint8_t word;  /* ph, or the number of the category + 1 */
    bool opens_args;
} successor;

#define N_WAYS 8
#define N_CATEGORIES 64 /* more than there are */
#define N_LINES 256

/* A process or thread, as written. The key is the text itself, if that has up to eight bytes. */
typedef struct fast_id {
    json_value text;
    uint64_t key;
} fast_id;
#define KEY_LONG UINT64_MAX

/* Lines of the timeline and streams found before, by a hash of their numbers. */
typedef struct known_line {
    uint64_t pid, tid; /* keys */
    uint32_t track;
} known_line;
typedef struct known_stream {
    int64_t device, number;
    uint32_t track, stream;
} known_stream;

struct fast {
    rows *to;
    tracks *tracks; /* of the rows */
    size_t (*scan)(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *ret_events);
    successor successors[N_PLACES][N_WAYS];
    uint8_t newest[N_PLACES];
    uint8_t usual_digits[N_PLACES][2]; /* of the last number; before and behind its point */
    const category *categories[N_CATEGORIES];
    bool left_phases[256]; /* by ph: events that are left to the reference parser */
    known_line lines[N_LINES];
    known_stream streams[N_LINES];
};

size_t fast_scan_scalar(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *n);
size_t fast_scan_base(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *n);
size_t fast_scan_avx2(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *n);

/* The place of a key, in args or in the event itself. */
place fast_place_of(bool in_args, const char *key, size_t length);

/* The number, + 1, of a category among f->categories. */
uint8_t fast_category(fast *f, const char *text, size_t length);

/* The members of one event that rows are made of; MILL_UNKNOWN: not there. */
typedef struct fast_event {
    const char *name;
    size_t name_length;
    fast_id pid, tid;
    int64_t ts, dur;
    int64_t number[N_NUMBERS]; /* by place, from AT_GRID on */
    uint8_t word[N_PLACES];    /* of successors, by place: AT_PH and AT_CAT count; 0: none */
    bool has_args;
} fast_event;

/* Makes the row of an event. False: it is one for the reference parser. */
bool fast_take(fast *f, const fast_event *e, uint64_t byte);

#endif
