/* SPDX-License-Identifier: Apache-2.0 */
/* One event of a Chrome trace: the members that the columns are made of, as text. */
#ifndef KINETO_EVENT_H
#define KINETO_EVENT_H

#include "json.h"

typedef enum event_member {
    EVENT_PH,
    EVENT_CAT,
    EVENT_NAME,
    EVENT_PID,
    EVENT_TID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_ID,
    EVENT_ID2,
    EVENT_SCOPE,
    EVENT_ARGS, /* as a whole */
    EVENT_ARG,  /* from here on: of "args" */
    EVENT_ARG_DEVICE = EVENT_ARG,
    EVENT_ARG_STREAM,
    EVENT_ARG_CORRELATION,
    EVENT_ARG_EXTERNAL_ID,
    EVENT_ARG_GRID,
    EVENT_ARG_BLOCK,
    EVENT_ARG_BYTES,
    EVENT_ARG_WAITED_EVENT,
    EVENT_ARG_WAITED_STREAM,
    EVENT_ARG_COLLECTIVE,
    EVENT_ARG_NAME,
    EVENT_ARG_MICRO_BATCH,
    EVENT_MEMBERS
} event_member;

/* Members that the text lacks have kind JSON_NONE. Valid as long as the text is. */
typedef struct event {
    json_value member[EVENT_MEMBERS];
    uint32_t not_numbers; /* NaN, inf and the like among its values */
} event;

/* Parses the event whose '{' the cursor stands at, and passes it. The one interface of an event
 * parser: JSON_MORE means "call again from the start with more text". */
typedef json_status (*event_parser)(json *j, event *ret_event);

/* Clear and complete rather than fast. Of a key that comes twice the last one counts. */
json_status event_parse(json *j, event *ret_event);

/* JSON_OK if the cursor stands at what looks like the beginning of an event: an object whose first
 * key is one that events have. */
json_status event_begins(json *j);

#endif
