/* SPDX-License-Identifier: Apache-2.0 */
/* Events in, rows of the trace builder out. */
#include "rows.h"

#include "category.h"
#include "demangle.h"
#include "facts.h"

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
static const kit_diagnostic begin_end = {
    "begin-end", "Slices written as separate begin and end events (ph B, E, b, e) are not read.",
    true};

typedef struct text {
    const char *at;
    size_t length;
} text;

/* A line of the file's timeline: a (pid, tid). */
typedef struct track {
    int64_t pid, tid;            /* MILL_UNKNOWN: a word, or nothing */
    uint32_t process;            /* number among `processes` */
    uint32_t pid_word, tid_word; /* strings: as written where it is no number, or MILL_NONE */
    uint32_t name;               /* string: its thread_name, or MILL_NONE */
    uint32_t thread, stream;     /* of the builder, or MILL_NONE: has no such rows */
} track;

/* Places for texts that must be changed before use. */
enum { TEXT_NAME, TEXT_CAT, TEXT_OTHER, TEXT_KEY, N_TEXTS };

struct rows {
    mill_run *run;
    kit_trace *b;
    const rule_set *rules;
    bool cpu, python;
    kit_intern *track_keys, *processes, *mangled;
    track *tracks;           /* by number of track_keys */
    uint32_t *process_names; /* strings or MILL_NONE, by number of processes */
    uint32_t *demangled;     /* names, by number of mangled */
    struct {
        char *at;
        size_t room;
    } texts[N_TEXTS];
};

rows *rows_create(mill_run *run, kit_trace *b, const rule_set *rules, bool cpu, bool python) {
    rows *r = kit_alloc(1, sizeof *r);
    *r = (rows){.run = run, .b = b, .rules = rules, .cpu = cpu, .python = python};
    r->track_keys = kit_intern_create();
    r->processes = kit_intern_create();
    r->mangled = kit_intern_create();
    return r;
}

void rows_destroy(rows *r) {
    if (!r)
        return;
    kit_intern_destroy(r->track_keys);
    kit_intern_destroy(r->processes);
    kit_intern_destroy(r->mangled);
    free(r->tracks);
    free(r->process_names);
    free(r->demangled);
    for (size_t i = 0; i < N_TEXTS; i++)
        free(r->texts[i].at);
    free(r);
}

static char *room_for(rows *r, size_t place, size_t length) {
    if (length > r->texts[place].room) {
        r->texts[place].room = length * 2;
        r->texts[place].at = kit_realloc(r->texts[place].at, length * 2, 1);
    }
    return r->texts[place].at;
}

/* The text of a value: of a string what it says, of anything else as it is written. */
static text text_of(rows *r, size_t place, json_value value, bool *ret_bad) {
    *ret_bad = false;
    if (!value.escaped)
        return (text){value.at ? value.at : "", value.length};
    char *to = room_for(r, place, value.length);
    return (text){to, json_unescape(value, to, ret_bad)};
}

/* Adds one to an array that grows with an intern table, of `n` elements until now. */
static void *grow(void *array, uint32_t n, size_t size) {
    return (n & (n - 1)) == 0 ? kit_realloc(array, n ? 2 * (size_t)n : 1, size) : array;
}

/* ---------------------------------------------------------------- lines */

static uint32_t word_of(rows *r, json_value value) {
    bool bad;
    if (value.kind != JSON_STRING || facts_int(value) != MILL_UNKNOWN)
        return MILL_NONE;
    text t = text_of(r, TEXT_OTHER, value, &bad);
    return kit_trace_string(r->b, t.at, t.length);
}

static uint32_t find_process(rows *r, json_value pid) {
    uint32_t n = kit_intern_count(r->processes);
    uint32_t process = kit_intern_add(r->processes, pid.at ? pid.at : "", pid.length, 0);
    if (process == n) {
        r->process_names = grow(r->process_names, n, sizeof *r->process_names);
        r->process_names[n] = MILL_NONE;
    }
    return process;
}

uint32_t rows_track(rows *r, json_value pid, json_value tid) {
    char *key = room_for(r, TEXT_KEY, pid.length + 1 + tid.length);
    if (pid.length)
        memcpy(key, pid.at, pid.length);
    key[pid.length] = '"'; /* can't be in either without a backslash before it */
    if (tid.length)
        memcpy(key + pid.length + 1, tid.at, tid.length);
    uint32_t n = kit_intern_count(r->track_keys);
    uint32_t found = kit_intern_add(r->track_keys, key, pid.length + 1 + tid.length, 0);
    if (found == n) {
        r->tracks = grow(r->tracks, n, sizeof *r->tracks);
        r->tracks[n] = (track){.pid = facts_int(pid),
                               .tid = facts_int(tid),
                               .process = find_process(r, pid),
                               .pid_word = word_of(r, pid),
                               .tid_word = word_of(r, tid),
                               .name = MILL_NONE,
                               .thread = MILL_NONE,
                               .stream = MILL_NONE};
    }
    return found;
}

static uint32_t track_of(rows *r, const event *e) {
    return rows_track(r, e->member[EVENT_PID], e->member[EVENT_TID]);
}

uint32_t rows_thread(rows *r, uint32_t number) {
    track *t = &r->tracks[number];
    if (t->thread == MILL_NONE)
        t->thread = kit_trace_thread(r->b, t->pid, t->tid);
    return t->thread;
}

/* "stream 7", as Kineto wrote it in 2021, is 7. */
static int64_t stream_number(json_value tid) {
    static const char before[] = "stream ";
    size_t n = sizeof before - 1;
    if (tid.kind == JSON_STRING && tid.length > n && !memcmp(tid.at, before, n)) {
        tid.at += n;
        tid.length -= n;
    }
    return facts_int(tid);
}

uint32_t rows_stream(rows *r, uint32_t number, int64_t device, int64_t stream, json_value tid) {
    track *t = &r->tracks[number];
    if (device == MILL_UNKNOWN)
        device = t->pid;
    if (stream == MILL_UNKNOWN)
        stream = stream_number(tid);
    t->stream = kit_trace_stream(r->b, kit_trace_device(r->b, device), stream,
                                 stream == MILL_UNKNOWN ? t->tid_word : MILL_NONE);
    return t->stream;
}

void rows_set_stream(rows *r, uint32_t number, uint32_t stream) {
    r->tracks[number].stream = stream;
}

kit_trace *rows_builder(rows *r) {
    return r->b;
}

bool rows_wants_cpu(const rows *r, uint8_t kind) {
    return r->cpu && (kind != MILL_CPU_PYTHON || r->python);
}

/* ---------------------------------------------------------------- values */

static int64_t time_of(json_value value) {
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
uint32_t rows_name(rows *r, const char *name, size_t length, uint8_t cat) {
    if (length < 3 || memcmp(name, "_Z", 2) != 0)
        return kit_trace_name(r->b, name, length, cat);
    uint32_t n = kit_intern_count(r->mangled);
    uint32_t found = kit_intern_add(r->mangled, name, length, cat);
    if (found == n) {
        char *plain = demangle(kit_intern_text(r->mangled, n, NULL));
        r->demangled = grow(r->demangled, n, sizeof *r->demangled);
        r->demangled[n] = plain ? kit_trace_name(r->b, plain, strlen(plain), cat)
                                : kit_trace_name(r->b, name, length, cat);
        free(plain);
    }
    return r->demangled[found];
}

/* ---------------------------------------------------------------- events */

static void take_gpu(rows *r, const event *e, text name, uint8_t cat, uint64_t byte) {
    uint32_t line = track_of(r, e);
    kit_gpu_row row = {
        .start = time_of(e->member[EVENT_TS]),
        .dur = time_of(e->member[EVENT_DUR]),
        .correlation = facts_int(e->member[EVENT_ARG_CORRELATION]),
        .external_id = facts_int(e->member[EVENT_ARG_EXTERNAL_ID]),
        .grid = product_of(e->member[EVENT_ARG_GRID]),
        .block = product_of(e->member[EVENT_ARG_BLOCK]),
        .bytes = facts_int(e->member[EVENT_ARG_BYTES]),
        .waited_event = facts_int(e->member[EVENT_ARG_WAITED_EVENT]),
        .byte = byte,
        .name = rows_name(r, name.at, name.length, cat),
        .stream = rows_stream(r, line, facts_int(e->member[EVENT_ARG_DEVICE]),
                              facts_int(e->member[EVENT_ARG_STREAM]), e->member[EVENT_TID]),
        .track = line,
        .cat = cat,
    };
    kit_trace_gpu(r->b, &row);
}

static void take_cpu(rows *r, const event *e, text name, uint8_t kind, uint64_t byte) {
    if (!rows_wants_cpu(r, kind))
        return;
    kit_cpu_row row = {
        .start = time_of(e->member[EVENT_TS]),
        .dur = time_of(e->member[EVENT_DUR]),
        .correlation = facts_int(e->member[EVENT_ARG_CORRELATION]),
        .external_id = facts_int(e->member[EVENT_ARG_EXTERNAL_ID]),
        .byte = byte,
        .name = rows_name(r, name.at, name.length, 0),
        .thread = rows_thread(r, track_of(r, e)),
        .kind = kind,
    };
    kit_trace_cpu(r->b, &row);
}

static void take_metadata(rows *r, const event *e, text name) {
    bool bad, process = name.length == 12 && !memcmp(name.at, "process_name", 12);
    if (!process && !(name.length == 11 && !memcmp(name.at, "thread_name", 11)))
        return;
    if (e->member[EVENT_ARG_NAME].kind != JSON_STRING)
        return;
    text label = text_of(r, TEXT_OTHER, e->member[EVENT_ARG_NAME], &bad);
    while (label.length && label.at[label.length - 1] == ' ') /* Kineto writes "stream 7 " */
        label.length--;
    uint32_t string = kit_trace_string(r->b, label.at, label.length);
    if (process) {
        uint32_t found = find_process(r, e->member[EVENT_PID]);
        r->process_names[found] = string;
    } else {
        uint32_t line = track_of(r, e);
        r->tracks[line].name = string;
    }
}

static void diagnose(rows *r, const kit_diagnostic *what, bool found, uint64_t byte) {
    if (found)
        kit_trace_diagnose(r->b, what, (int64_t)byte);
}

/* NUL: none. */
static char phase_of(rows *r, json_value ph) {
    bool bad;
    text t = text_of(r, TEXT_OTHER, ph, &bad);
    return ph.kind == JSON_STRING && t.length == 1 ? *t.at : '\0';
}

void rows_event(rows *r, const event *e, uint64_t byte) {
    bool bad;
    text name = text_of(r, TEXT_NAME, e->member[EVENT_NAME], &bad);
    diagnose(r, &bad_escape, bad, byte);
    diagnose(r, &invalid_utf8, !json_utf8(name.at, name.length), byte);
    diagnose(r, &not_a_number, e->not_numbers > 0, byte);

    char ph = phase_of(r, e->member[EVENT_PH]);
    if (ph == '\0')
        return;
    if (ph == 'M')
        take_metadata(r, e, name);
    diagnose(r, &begin_end, strchr("BEbe", ph) != NULL, byte);
    if (ph != 'X' || e->member[EVENT_CAT].kind != JSON_STRING)
        return;
    text cat = text_of(r, TEXT_CAT, e->member[EVENT_CAT], &bad);
    const category *known = category_find(cat.at, cat.length);
    if (known && known->gpu)
        take_gpu(r, e, name, known->gpu, byte);
    else if (known)
        take_cpu(r, e, name, known->cpu, byte);
}

mill_status rows_finish(rows *r) {
    for (uint32_t i = 0; i < kit_intern_count(r->track_keys); i++) {
        const track *t = &r->tracks[i];
        uint32_t process = r->process_names[t->process];
        if (t->thread != MILL_NONE)
            kit_trace_name_thread(r->b, t->thread, process != MILL_NONE ? process : t->pid_word,
                                  t->name != MILL_NONE ? t->name : t->tid_word);
        if (t->stream != MILL_NONE && t->name != MILL_NONE)
            kit_trace_label_stream(r->b, t->stream, t->name);
    }
    for (size_t i = 0; i < r->rules->n; i++) /* all of them, in the order of the files */
        kit_trace_rule(r->b, r->rules->rules[i].name);
    for (uint32_t i = 0; i < kit_trace_name_count(r->b); i++) {
        size_t length;
        uint8_t cat;
        const char *name = kit_trace_name_text(r->b, i, &length, &cat);
        if (cat == 0)
            continue;
        if (mill_cancelled(r->run)) /* a name of many bytes can take ms */
            return MILL_E_CANCELLED;
        const kernel_rule *rule = rules_find(r->run, r->rules, cat, name, length);
        if (rule)
            kit_trace_classify(r->b, i, rule->cls,
                               rule->kind ? kit_trace_kind(r->b, rule->kind) : UINT16_MAX,
                               kit_trace_rule(r->b, rule->name));
        else
            kit_trace_classify(r->b, i, MILL_CLASS_OTHER, UINT16_MAX, UINT16_MAX);
    }
    return MILL_OK;
}
