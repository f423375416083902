/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule as a process: a thread for each rank, an arrow along each micro-batch's way through
 * the stages, and how many activations a rank holds. */
#include "added.h"

#include "points.h"

#include <inttypes.h>

/* cname: colours that Chrome's viewer has words for. */
static const struct kind {
    const char *name, *colour;
} kinds[] = {
    [MILL_OP_FORWARD] = {"F", "thread_state_runnable"},
    [MILL_OP_BACKWARD] = {"B", "thread_state_running"},
    [MILL_OP_INPUT] = {"Bi", "rail_response"},
    [MILL_OP_WEIGHT] = {"W", "rail_load"},
    [MILL_OP_PAIR] = {"F&B", "detailed_memory_dump"},
    [MILL_OP_SEND] = {"send", "grey"},
    [MILL_OP_RECEIVE] = {"receive", "grey"},
    [MILL_OP_OTHER] = {"other", "generic_work"},
};

/* An unknown kind is of a newer SDK. */
static const struct kind *kind_of(uint8_t kind) {
    return kind < G_N_ELEMENTS(kinds) && kinds[kind].name ? &kinds[kind] : &kinds[MILL_OP_OTHER];
}

static int64_t number(uint32_t value) {
    return value == MILL_NO_OP ? MILL_UNKNOWN : value;
}

/* Where a schedule is shown. */
typedef struct place {
    int64_t pid, shift;
} place;

/* A slice: an operation, or half of a pair. */
typedef struct slice {
    uint8_t kind;
    uint32_t chunk, stage, micro_batch;
} slice;

#define SCHEDULES ((uint64_t)1 << 14) /* scopes of arrows from here on are schedules' */

/* All of a micro-batch's way is one flow: viewers draw an arrow from each slice to the next one in
 * time. It begins at the first forward stage and ends at the backward of that stage. */
static void put_flow(const mill_schedule *s, out *o, int64_t pid, const slice *x) {
    bool forward = x->kind == MILL_OP_FORWARD;
    bool backward = x->kind == MILL_OP_BACKWARD || x->kind == MILL_OP_INPUT;
    if ((!forward && !backward) || x->micro_batch == MILL_NO_OP || x->stage == MILL_NO_OP)
        return;
    uint32_t way =
        s->bidirectional ? x->chunk : 0; /* whose micro-batches have numbers of their own */
    uint64_t scope = SCHEDULES | ((uint64_t)pid & (SCHEDULES - 1));
    o->at = put_bind(out_begin(o), scope, (int64_t)((uint64_t)way << 32 | x->micro_batch));
    if (!forward || x->stage > 0)
        OUT(o, ",\"flow_in\":true");
    if (!backward || x->stage > 0)
        OUT(o, ",\"flow_out\":true");
}

static void put_name(out *o, const slice *x, const char *label) {
    g_autofree char *name = x->micro_batch == MILL_NO_OP
                                ? g_strdup(kind_of(x->kind)->name)
                                : g_strdup_printf("%s %u", kind_of(x->kind)->name, x->micro_batch);
    const char *shown = label ?: name;
    added_text(o, shown);
}

static void put_slice(const mill_schedule *s, out *o, place p, uint32_t rank, uint64_t op,
                      const slice *x) {
    const char *colour = kind_of(x->kind)->colour;
    OUT(o, ",\n{\"ph\":\"X\",\"cat\":\"schedule\",\"name\":");
    put_name(o, x, s->ops.label ? s->ops.label[op] : NULL);
    added_int(o, "pid", p.pid);
    added_int(o, "tid", rank);
    OUT(o, ",\"ts\":");
    out_time(o, shifted(s->ops.start[op], p.shift));
    OUT(o, ",\"dur\":");
    out_time(o, s->ops.end[op] - s->ops.start[op]);
    OUT(o, ",\"cname\":\"");
    out_bytes(o, colour, strlen(colour));
    OUT(o, "\"");
    put_flow(s, o, p.pid, x);
    OUT(o, ",\"args\":{\"kind\":");
    out_quoted(o, kind_of(x->kind)->name, strlen(kind_of(x->kind)->name));
    added_int(o, "micro-batch", number(x->micro_batch));
    added_int(o, "stage", number(x->stage));
    added_int(o, "chunk", number(x->chunk));
    OUT(o, "}}");
}

/* A pair's halves lie inside it, each with the flow of its micro-batch. */
static void put_op(const mill_schedule *s, out *o, place p, uint32_t rank, uint64_t op) {
    const mill_ops *v = &s->ops;
    slice whole = {v->kind[op], v->chunk[op], v->stage[op], v->micro_batch[op]};
    if (whole.kind != MILL_OP_PAIR) {
        put_slice(s, o, p, rank, op, &whole);
        return;
    }
    slice forward = {MILL_OP_FORWARD, whole.chunk, whole.stage, whole.micro_batch};
    slice backward = {MILL_OP_BACKWARD, v->chunk_back[op], v->stage_back[op],
                      v->micro_batch_back[op]};
    slice pair = {MILL_OP_PAIR, MILL_NO_OP, MILL_NO_OP, MILL_NO_OP};
    put_slice(s, o, p, rank, op, &pair);
    put_slice(s, o, p, rank, op, &forward);
    put_slice(s, o, p, rank, op, &backward);
}

static void put_live(out *o, place p, uint32_t rank, int64_t time, int64_t live) {
    OUT(o, ",\n{\"ph\":\"C\",\"name\":\"live activations of rank ");
    out_number(o, rank);
    OUT(o, "\"");
    added_int(o, "pid", p.pid);
    added_int(o, "tid", rank);
    OUT(o, ",\"ts\":");
    out_time(o, shifted(time, p.shift));
    OUT(o, ",\"args\":{\"chunks\":");
    out_number(o, live);
    OUT(o, "}}");
}

/* As mill_schedule.live counts: a chunk is held from the start of F to the end of B, Bi, or F&B. */
static void put_lives(const mill_schedule *s, out *o, place p, uint32_t rank) {
    int64_t live = 0;
    for (uint64_t op = s->first[rank]; op < s->first[rank + 1]; op++) {
        uint8_t kind = s->ops.kind[op];
        if (kind == MILL_OP_FORWARD || kind == MILL_OP_PAIR)
            put_live(o, p, rank, s->ops.start[op], ++live);
        if (kind == MILL_OP_BACKWARD || kind == MILL_OP_INPUT || kind == MILL_OP_PAIR)
            put_live(o, p, rank, s->ops.end[op], --live);
    }
}

void schedule_events(const mill_schedule *s, out *o, int64_t pid, const char *item, int64_t shift) {
    g_autofree char *name = g_strdup_printf("%s%s%s, %s", s->name, *item ? ", " : "", item,
                                            s->simulated ? "simulated" : "measured");
    added_name(o, pid, -1, name);
    for (uint32_t rank = 0; rank < s->ranks && !o->status; rank++) {
        g_autofree char *of_rank = g_strdup_printf("rank %u", rank);
        added_name(o, pid, rank, of_rank);
        for (uint64_t op = s->first[rank]; op < s->first[rank + 1]; op++)
            put_op(s, o, (place){pid, shift}, rank, op);
        put_lives(s, o, (place){pid, shift}, rank);
    }
}
