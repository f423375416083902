/* SPDX-License-Identifier: Apache-2.0 */
/* Events in, rows of the trace builder out. */
#include "rows.h"

#include "collective.h"
#include "demangle.h"
#include "facts.h"
#include "pairs.h"
#include "planes.h"
#include "points.h"
#include "syncs.h"
#include "timers.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/number.h>

static const kit_diagnostic not_a_number = {
    "not-a-number", "Events hold NaN or inf, which is no JSON; those values are unknown.", false};
static const kit_diagnostic bad_escape = {
    "bad-escape", "Names hold backslashes that are no escapes of JSON; they were kept as written.",
    false};
static const kit_diagnostic invalid_utf8 = {
    "invalid-utf8", "Names hold bytes that are not UTF-8; they were kept as they are.", false};

/* Places for texts that must be changed before use. */
enum { ROOM_NAME, ROOM_CAT, ROOM_LABEL, ROOM_KEY, N_ROOMS };

struct rows {
    mill_run *run;
    kit_trace *b;
    rows_config config;
    collectives *collectives; /* NULL: not wanted */
    pairs *pairs;
    planes *planes; /* NULL: not wanted */
    tracks *tracks;
    kit_intern *mangled;
    uint32_t *demangled; /* names, by number of mangled */
    text_room rooms[N_ROOMS];
};

/* All of them, so that their order is that of the rules, whatever comes first in the file. */
static void add_kinds(kit_trace *b, const rule_set *rules) {
    for (size_t i = 0; rules && i < rules->n; i++)
        if (rules->rules[i].kind)
            kit_trace_kind(b, rules->rules[i].kind);
}

rows *rows_create(mill_run *run, kit_trace *b, const rows_config *config) {
    rows *r = kit_alloc(1, sizeof *r);
    *r = (rows){.run = run, .b = b, .config = *config, .pairs = pairs_create(b)};
    if (config->collectives)
        r->collectives = collectives_create(run, b, config->collectives);
    add_kinds(b, config->kernels);
    add_kinds(b, config->collectives);
    if (config->planes)
        r->planes = planes_create();
    r->tracks = tracks_create(run, b, config->planes);
    r->mangled = kit_intern_create();
    return r;
}

void rows_destroy(rows *r) {
    if (!r)
        return;
    collectives_destroy(r->collectives);
    pairs_destroy(r->pairs);
    planes_destroy(r->planes);
    tracks_destroy(r->tracks);
    kit_intern_destroy(r->mangled);
    free(r->demangled);
    for (size_t i = 0; i < N_ROOMS; i++)
        free(r->rooms[i].at);
    free(r);
}

tracks *rows_tracks(rows *r) {
    return r->tracks;
}

kit_trace *rows_builder(rows *r) {
    return r->b;
}

bool rows_wants_cpu(const rows *r, uint8_t kind) {
    return r->config.cpu && kind != 0 && (kind != MILL_CPU_PYTHON || r->config.python);
}

bool rows_wants_phase(const rows *r, char ph) {
    switch (ph) {
    case 'M':
    case 'B':
    case 'E':
    case 'b':
    case 'e':
    case 'S':
    case 'F':
        return true;
    case 'C':
        return r->config.counters;
    case 's':
    case 't':
    case 'f':
        return r->config.flows;
    case 'i':
    case 'I':
        return r->config.memory;
    default:
        return false;
    }
}

/* ---------------------------------------------------------------- values */

int64_t rows_time(json_value value) {
    int64_t ns;
    bool may_be = value.kind == JSON_NUMBER || value.kind == JSON_STRING;
    return may_be && kit_parse_us(value.at, value.length, &ns) ? ns : MILL_UNKNOWN;
}

/* x*y*z of an array [x, y, z]. */
static int64_t product_of(json_value value) {
    json j = {.at = value.at, .end = value.at + value.length};
    int64_t product = 1;
    if (value.kind != JSON_ARRAY)
        return MILL_UNKNOWN;
    j.at++;
    for (bool first = true; json_element(&j, first) == JSON_OK; first = false) {
        json_value number;
        if (json_read(&j, &number) != JSON_OK)
            return MILL_UNKNOWN;
        int64_t n = facts_int(number);
        if (n < 0 || __builtin_mul_overflow(product, n, &product))
            return MILL_UNKNOWN;
    }
    return product;
}

/* The row of a name, demangled if it needs to be. */
uint32_t rows_name(rows *r, const char *name, size_t length, uint32_t tag) {
    if (length < 3 || memcmp(name, "_Z", 2) != 0)
        return kit_trace_name(r->b, name, length, tag);
    uint32_t n = kit_intern_count(r->mangled);
    uint32_t found = kit_intern_add(r->mangled, name, length, tag);
    if (found == n) {
        char *plain = demangle(kit_intern_text(r->mangled, n, NULL));
        r->demangled = kit_realloc(r->demangled, n + 1, sizeof *r->demangled);
        r->demangled[n] = plain ? kit_trace_name(r->b, plain, strlen(plain), tag)
                                : kit_trace_name(r->b, name, length, tag);
        free(plain);
    }
    return r->demangled[found];
}

/* ---------------------------------------------------------------- events */

static uint32_t track_of(rows *r, const event *e) {
    return tracks_find(r->tracks, e->member[EVENT_PID], e->member[EVENT_TID]);
}

/* Of an event that begins or is the whole slice; its duration is that of an X. */
static slice slice_of(rows *r, const event *e, span name, const category *cat, uint64_t byte) {
    uint32_t number = track_of(r, e);
    slice s = {
        .category = cat,
        .row =
            {
                .start = rows_time(e->member[EVENT_TS]),
                .dur = rows_time(e->member[EVENT_DUR]),
                .correlation = facts_int(e->member[EVENT_ARG_CORRELATION]),
                .external_id = facts_int(e->member[EVENT_ARG_EXTERNAL_ID]),
                .grid = product_of(e->member[EVENT_ARG_GRID]),
                .block = product_of(e->member[EVENT_ARG_BLOCK]),
                .bytes = facts_int(e->member[EVENT_ARG_BYTES]),
                .waited_event = facts_int(e->member[EVENT_ARG_WAITED_EVENT]),
                .byte = byte,
                .name = rows_name(r, name.at, name.length, cat->gpu),
                .track = number,
                .collective = MILL_NONE,
                .cat = cat->gpu,
            },
    };
    if (cat->gpu)
        s.row.stream = tracks_stream(r->tracks, number, facts_int(e->member[EVENT_ARG_DEVICE]),
                                     facts_int(e->member[EVENT_ARG_STREAM]));
    if (cat->gpu && r->collectives && e->member[EVENT_ARG_COLLECTIVE].kind != JSON_NONE)
        s.row.collective = collectives_add(r->collectives, e->member[EVENT_ARGS]);
    return s;
}

static void put_slice(rows *r, const slice *s) {
    if (s->category->gpu) {
        kit_trace_gpu(r->b, &s->row);
        return;
    }
    kit_cpu_row row = {
        .start = s->row.start,
        .dur = s->row.dur,
        .correlation = s->row.correlation,
        .external_id = s->row.external_id,
        .byte = s->row.byte,
        .name = s->row.name,
        .thread = s->async ? tracks_async_thread(r->tracks, s->row.track)
                           : tracks_thread(r->tracks, s->row.track),
        .kind = s->category->cpu,
    };
    kit_trace_cpu(r->b, &row);
}

static bool wants(const rows *r, const category *cat) {
    return cat->gpu || rows_wants_cpu(r, cat->cpu);
}

void rows_hold(rows *r, uint32_t number, const char *name, size_t length, int64_t start,
               int64_t dur, uint64_t byte) {
    if (!r->planes)
        return;
    held_event e = {start, dur, byte, number, planes_name(r->planes, name, length)};
    planes_hold(r->planes, &e);
}

static const category *category_of(rows *r, const event *e) {
    bool bad;
    if (e->member[EVENT_CAT].kind != JSON_STRING)
        return &category_unknown;
    span cat = text_of(e->member[EVENT_CAT], &r->rooms[ROOM_CAT], &bad);
    return category_find(cat.at, cat.length);
}

static void take_sync(rows *r, const event *e, span name, uint64_t byte) {
    sync_event sync = {
        .name = name,
        .start = rows_time(e->member[EVENT_TS]),
        .dur = rows_time(e->member[EVENT_DUR]),
        .correlation = facts_int(e->member[EVENT_ARG_CORRELATION]),
        .device = facts_int(e->member[EVENT_ARG_DEVICE]),
        .stream = facts_int(e->member[EVENT_ARG_STREAM]),
        .waited_stream = facts_int(e->member[EVENT_ARG_WAITED_STREAM]),
        .waited_event = facts_int(e->member[EVENT_ARG_WAITED_EVENT]),
        .byte = byte,
        .track = track_of(r, e),
    };
    syncs_take(r->b, r->tracks, &sync);
}

static void take_timer(rows *r, const event *e, span name, uint64_t byte) {
    kit_timer_row row = {
        .start = rows_time(e->member[EVENT_TS]),
        .dur = rows_time(e->member[EVENT_DUR]),
        .byte = byte,
        .name = kit_trace_name(r->b, name.at, name.length, 0),
        .thread = tracks_thread(r->tracks, track_of(r, e)),
    };
    timers_take(r->b, &row, e->member[EVENT_ARGS]);
}

static void take_slice(rows *r, const event *e, span name, uint64_t byte) {
    const category *cat = category_of(r, e);
    if (e->member[EVENT_CAT].kind == JSON_NONE) {
        rows_hold(r, track_of(r, e), name.at, name.length, rows_time(e->member[EVENT_TS]),
                  rows_time(e->member[EVENT_DUR]), byte);
    } else if (cat->sync) {
        take_sync(r, e, name, byte);
    } else if (wants(r, cat)) {
        slice s = slice_of(r, e, name, cat, byte);
        put_slice(r, &s);
    } else if (cat == &category_unknown && e->member[EVENT_ARG_MICRO_BATCH].kind != JSON_NONE) {
        take_timer(r, e, name, byte);
    }
}

/* What a begin and its end have in common: their thread; of async ones their category, id and
 * scope, as the Trace Event Format has it. */
static span pair_key(rows *r, const event *e, bool async) {
    if (!async) {
        uint32_t number = track_of(r, e);
        char *key = text_room_for(&r->rooms[ROOM_KEY], sizeof number);
        memcpy(key, &number, sizeof number);
        return (span){key, sizeof number};
    }
    static const event_member members[] = {EVENT_CAT, EVENT_ID, EVENT_ID2, EVENT_SCOPE};
    size_t length = 0;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        length += e->member[members[i]].length + 1;
    char *key = text_room_for(&r->rooms[ROOM_KEY], length), *to = key;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_value value = e->member[members[i]];
        if (value.length)
            memcpy(to, value.at, value.length);
        to += value.length;
        *to++ = '"'; /* can't be in a value without a backslash before it, but in id2 */
    }
    return (span){key, length};
}

static void take_pair(rows *r, const event *e, span name, char ph, uint64_t byte) {
    bool async = strchr("beSF", ph) != NULL;
    slice s;
    if (ph == 'B' || ph == 'b' || ph == 'S') {
        const category *cat = category_of(r, e);
        s = slice_of(r, e, name, cat->gpu || cat->cpu ? cat : &category_other, byte);
        s.async = async;
        span key = pair_key(r, e, async);
        pairs_begin(r->pairs, key.at, key.length, name.at, name.length, &s);
        return;
    }
    span key = pair_key(r, e, async);
    if (pairs_end(r->pairs, key.at, key.length, name.at, name.length,
                  rows_time(e->member[EVENT_TS]), byte, &s) &&
        wants(r, s.category))
        put_slice(r, &s);
}

/* A "[memory]" instant: a slice without length, so that its parent tells who asked for the memory,
 * and the amounts as counters. */
static void take_memory(rows *r, const event *e, span name, uint64_t byte) {
    static const category memory = {"", 0, MILL_CPU_MEMORY};
    static const char called[] = "[memory]";
    if (name.length != sizeof called - 1 || memcmp(name.at, called, name.length) != 0)
        return;
    points_memory(r, e, byte);
    if (!wants(r, &memory))
        return;
    slice s = slice_of(r, e, name, &memory, byte);
    s.row.dur = 0;
    put_slice(r, &s);
}

static void take_metadata(rows *r, const event *e, span name) {
    bool bad, of_process = name.length == 12 && !memcmp(name.at, "process_name", 12);
    if (!of_process && !(name.length == 11 && !memcmp(name.at, "thread_name", 11)))
        return;
    if (e->member[EVENT_ARG_NAME].kind != JSON_STRING)
        return;
    span label = text_of(e->member[EVENT_ARG_NAME], &r->rooms[ROOM_LABEL], &bad);
    while (label.length && label.at[label.length - 1] == ' ') /* Kineto writes "stream 7 " */
        label.length--;
    if (of_process)
        tracks_name_process(r->tracks, e->member[EVENT_PID], label);
    else
        tracks_name_thread(r->tracks, e->member[EVENT_PID], e->member[EVENT_TID], label);
}

static void diagnose(rows *r, const kit_diagnostic *what, bool found, uint64_t byte) {
    if (found)
        kit_trace_diagnose(r->b, what, (int64_t)byte);
}

/* NUL: none. */
static char phase_of(rows *r, json_value ph) {
    bool bad;
    span t = text_of(ph, &r->rooms[ROOM_LABEL], &bad);
    return ph.kind == JSON_STRING && t.length == 1 ? *t.at : '\0';
}

void rows_event(rows *r, const event *e, uint64_t byte) {
    bool bad;
    span name = text_of(e->member[EVENT_NAME], &r->rooms[ROOM_NAME], &bad);
    diagnose(r, &bad_escape, bad, byte);
    diagnose(r, &invalid_utf8, !json_utf8(name.at, name.length), byte);
    diagnose(r, &not_a_number, e->not_numbers > 0, byte);

    char ph = phase_of(r, e->member[EVENT_PH]);
    if (ph == '\0')
        return;
    if (ph == 'X')
        take_slice(r, e, name, byte);
    else if (!rows_wants_phase(r, ph))
        return;
    else if (ph == 'M')
        take_metadata(r, e, name);
    else if (ph == 'C')
        points_counter(r, e, name.at, name.length, byte);
    else if (strchr("stf", ph))
        points_flow(r, e, name.at, name.length, byte);
    else if (strchr("iI", ph))
        take_memory(r, e, name, byte);
    else
        take_pair(r, e, name, ph, byte);
}

/* ---------------------------------------------------------------- parts of a file */

bool rows_lacks_begin(rows *r, const event *e) {
    bool bad;
    char ph = phase_of(r, e->member[EVENT_PH]);
    if (ph == '\0' || !strchr("EeF", ph))
        return false;
    span name = text_of(e->member[EVENT_NAME], &r->rooms[ROOM_NAME], &bad);
    span key = pair_key(r, e, ph != 'E');
    return !pairs_has(r->pairs, key.at, key.length, name.at, name.length);
}

void rows_join(rows *r, rows *part) {
    kit_join j;
    kit_join_init(&j, r->b, part->b);
    uint32_t *lines = tracks_join(r->tracks, part->tracks, &j);
    pairs_join(r->pairs, part->pairs, &j, lines);
    if (r->planes)
        planes_join(r->planes, part->planes, lines);
    kit_trace_join(r->b, part->b, &j, lines);
    free(lines);
    kit_join_finish(&j);
}

/* ---------------------------------------------------------------- the end of the file */

/* Where the tag of a name holds the number, + 1, of the plane that gives its class. */
#define TAG_PLANE 8

static void release_held(rows *r, const held_event *e) {
    const rule *plane = tracks_plane(r->tracks, e->track);
    const category *cat = plane ? plane->category : &category_unknown;
    if (!wants(r, cat))
        return;
    size_t length;
    const char *name = planes_name_text(r->planes, e->name, &length);
    uint32_t tag = cat->gpu;
    if (cat->gpu && plane->cls)
        tag |= (uint32_t)(plane - r->config.planes->rules + 1) << TAG_PLANE;
    slice s = {
        .category = cat,
        .row =
            {
                .start = e->start,
                .dur = e->dur,
                .correlation = MILL_UNKNOWN,
                .external_id = MILL_UNKNOWN,
                .grid = MILL_UNKNOWN,
                .block = MILL_UNKNOWN,
                .bytes = MILL_UNKNOWN,
                .waited_event = MILL_UNKNOWN,
                .byte = e->byte,
                .name = rows_name(r, name, length, tag),
                .track = e->track,
                .collective = MILL_NONE,
                .cat = cat->gpu,
            },
    };
    if (cat->gpu)
        s.row.stream = tracks_plane_stream(r->tracks, e->track);
    put_slice(r, &s);
}

/* The class that a plane gives its activities stands; what the name says of the kind is taken where
 * it does not contradict. */
static void classify(rows *r, uint32_t name, uint32_t tag, const rule *by_name) {
    uint8_t cls = by_name ? by_name->cls : MILL_CLASS_OTHER;
    const char *kind = by_name ? by_name->kind : NULL, *rule_name = by_name ? by_name->name : NULL;
    if (tag >> TAG_PLANE) {
        const rule *plane = &r->config.planes->rules[(tag >> TAG_PLANE) - 1];
        if (cls != plane->cls) {
            cls = plane->cls;
            kind = NULL;
            rule_name = plane->name;
        }
    }
    kit_trace_classify(r->b, name, cls, kind ? kit_trace_kind(r->b, kind) : UINT16_MAX,
                       rule_name ? kit_trace_rule(r->b, rule_name) : UINT16_MAX);
}

mill_status rows_finish(rows *r) {
    size_t n = 0;
    pairs_finish(r->pairs);
    const held_event *held = r->planes ? planes_held(r->planes, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        release_held(r, &held[i]);
    tracks_finish(r->tracks);
    const rule_set *kernels = r->config.kernels;
    for (size_t i = 0; i < kernels->n; i++) /* all of them, in the order of the files */
        kit_trace_rule(r->b, kernels->rules[i].name);
    for (uint32_t i = 0; i < kit_trace_name_count(r->b); i++) {
        size_t length;
        uint32_t tag;
        const char *name = kit_trace_name_text(r->b, i, &length, &tag);
        if (tag == 0)
            continue;
        if (mill_cancelled(r->run)) /* a name of many bytes can take ms */
            return MILL_E_CANCELLED;
        classify(r, i, tag, rules_find(r->run, kernels, (uint8_t)tag, name, length));
    }
    return MILL_OK;
}
