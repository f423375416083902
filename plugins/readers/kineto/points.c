/* SPDX-License-Identifier: Apache-2.0 */
/* From events without a duration to rows of the counters and the flows. */
#include "points.h"

#include "facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define NUMBER_MAX 64

/* A double, if the value is a number. */
static bool number_of(json_value value, double *ret) {
    char text[NUMBER_MAX], *end;
    if (value.kind != JSON_NUMBER || value.length >= sizeof text)
        return false;
    memcpy(text, value.at, value.length);
    text[value.length] = '\0';
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret);
}

static uint32_t thread_of(rows *r, const event *e) {
    tracks *t = rows_tracks(r);
    return tracks_thread(t, tracks_find(t, e->member[EVENT_PID], e->member[EVENT_TID]));
}

static void add_counter(rows *r, const event *e, const char *series, size_t length, double value,
                        uint64_t byte) {
    kit_counter_row row = {
        .time = rows_time(e->member[EVENT_TS]),
        .value = value,
        .byte = byte,
        .thread = thread_of(r, e),
        .name = kit_trace_name(rows_builder(r), series, length, 0),
    };
    kit_trace_counter(rows_builder(r), &row);
}

static char *append(char *to, const char *text, size_t length) {
    return length ? mempcpy(to, text, length) : to;
}

/* A series is told apart by the counter's name, its id if it has one, and the arg's key; a key that
 * repeats the name says nothing. */
void points_counter(rows *r, const event *e, const char *name, size_t length, uint64_t byte) {
    json_value args = e->member[EVENT_ARGS], id = e->member[EVENT_ID], key, value;
    json j = {.at = args.at, .end = args.at + args.length};
    if (args.kind != JSON_OBJECT)
        return;
    char *series = kit_alloc(length + id.length + args.length + sizeof "[] ", 1);
    char *named = append(series, name, length);
    if (id.length) {
        *named++ = '[';
        named = append(named, id.at, id.length);
        *named++ = ']';
    }
    j.at++;
    for (bool first = true; json_key(&j, first, &key) == JSON_OK; first = false) {
        double number;
        char *end = named;
        if (json_read(&j, &value) != JSON_OK)
            break;
        if (!number_of(value, &number))
            continue;
        if (key.length != length || memcmp(key.at, name, length) != 0) {
            *end++ = ' ';
            end = append(end, key.at, key.length);
        }
        add_counter(r, e, series, (size_t)(end - series), number, byte);
    }
    free(series);
}

void points_memory(rows *r, const event *e, uint64_t byte) {
    static const char *const keys[] = {"Device Type", "Device Id", "Bytes", "Total Allocated",
                                       "Total Reserved"};
    json_value v[5];
    facts_pick(e->member[EVENT_ARGS], keys, v, 5);
    int64_t type = facts_int(v[0]), id = facts_int(v[1]);
    for (size_t i = 2; i < 5; i++) {
        char series[128];
        double number;
        if (!number_of(v[i], &number))
            continue;
        int n = type == MILL_UNKNOWN || id == MILL_UNKNOWN
                    ? snprintf(series, sizeof series, "[memory] %s", keys[i])
                    : snprintf(series, sizeof series,
                               "[memory] %s (Device Type %" PRId64 ", Device Id %" PRId64 ")",
                               keys[i], type, id);
        add_counter(r, e, series, (size_t)n, number, byte);
    }
}

void points_flow(rows *r, const event *e, const char *name, size_t length, uint64_t byte) {
    char ph = *e->member[EVENT_PH].at;
    kit_flow_row row = {
        .id = facts_int(e->member[EVENT_ID]),
        .time = rows_time(e->member[EVENT_TS]),
        .byte = byte,
        .thread = thread_of(r, e),
        .name = rows_name(r, name, length, 0),
        .end = ph == 's'   ? 0
               : ph == 't' ? 1
                           : 2,
    };
    kit_trace_flow(rows_builder(r), &row);
}
