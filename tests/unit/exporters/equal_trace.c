/* SPDX-License-Identifier: Apache-2.0 */
/* Compares traces by what their rows say. */
#include "equal_trace.h"

#include <glib.h>
#include <inttypes.h>

typedef struct pair {
    const char *name;
    const mill_trace *x, *y;
} pair;

/* Frees a text, which lives on as one of those that are kept once each. */
static const char *keep(char *text) {
    const char *kept = g_intern_string(text);
    g_free(text);
    return kept;
}

/* What a row says in a column. */
typedef int64_t (*get_int)(const mill_trace *t, const mill_column *c, uint64_t row);
typedef const char *(*get_text)(const mill_trace *t, const mill_column *c, uint64_t row);

static int64_t of_i64(const mill_trace *t, const mill_column *c, uint64_t row) {
    return mill_i64(t, c, row);
}

static int64_t of_u8(const mill_trace *t, const mill_column *c, uint64_t row) {
    return mill_u8(t, c, row);
}

/* Of references to tables in an order of their own. */
static int64_t of_u32(const mill_trace *t, const mill_column *c, uint64_t row) {
    return mill_u32(t, c, row);
}

static const char *of_string(const mill_trace *t, const mill_column *c, uint64_t row) {
    return mill_string(t, mill_u32(t, c, row));
}

static const char *of_name(const mill_trace *t, const mill_column *c, uint64_t row) {
    return mill_name(t, mill_u32(t, c, row));
}

/* Class and kind of the name, and the rule that decided. */
static const char *of_class(const mill_trace *t, const mill_column *c, uint64_t row) {
    static const char *const classes[] = {"none", "computation", "communication", "memory",
                                          "other"};
    uint32_t name = mill_u32(t, c, row);
    uint16_t rule = mill_u16(t, &t->names.rule, name);
    return keep(g_strdup_printf("%s %s %s", classes[mill_name_class(t, name)],
                                mill_name_kind(t, name) ?: "-",
                                rule == UINT16_MAX ? "-" : mill_text(t, &t->rules, rule)));
}

static const char *of_kind(const mill_trace *t, const mill_column *c, uint64_t row) {
    uint16_t kind = mill_u16(t, c, row);
    return kind == UINT16_MAX ? NULL : mill_text(t, &t->kinds, kind);
}

static const char *number(int64_t value) {
    return value == MILL_UNKNOWN ? "-" : keep(g_strdup_printf("%" PRId64, value));
}

static const char *of_thread(const mill_trace *t, const mill_column *c, uint64_t row) {
    uint32_t i = mill_u32(t, c, row);
    return keep(g_strdup_printf("%s %s \"%s\" \"%s\"", number(mill_i64(t, &t->threads.pid, i)),
                                number(mill_i64(t, &t->threads.tid, i)),
                                mill_string(t, mill_u32(t, &t->threads.process, i)) ?: "(none)",
                                mill_string(t, mill_u32(t, &t->threads.name, i)) ?: "(none)"));
}

static void ints(const pair *p, const char *what, const mill_column *a, const mill_column *b,
                 uint64_t n, get_int get) {
    for (uint64_t i = 0; i < n; i++)
        if (get(p->x, a, i) != get(p->y, b, i))
            g_error("%s: %s, row %" PRIu64 ": %" PRId64 " and %" PRId64, p->name, what, i,
                    get(p->x, a, i), get(p->y, b, i));
}

static void texts(const pair *p, const char *what, const mill_column *a, const mill_column *b,
                  uint64_t n, get_text get) {
    for (uint64_t i = 0; i < n; i++)
        if (g_strcmp0(get(p->x, a, i), get(p->y, b, i)) != 0)
            g_error("%s: %s, row %" PRIu64 ": %s and %s", p->name, what, i,
                    get(p->x, a, i) ?: "(none)", get(p->y, b, i) ?: "(none)");
}

static void reals(const pair *p, const mill_column *a, const mill_column *b, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (mill_f64(p->x, a, i) != mill_f64(p->y, b, i))
            g_error("%s: counters.value, row %" PRIu64, p->name, i);
}

#define INTS(table, field, get)                                                                    \
    ints(p, #table "." #field, &p->x->table.field, &p->y->table.field, p->x->table.n, get)
#define TEXTS(table, field, get)                                                                   \
    texts(p, #table "." #field, &p->x->table.field, &p->y->table.field, p->x->table.n, get)
#define SAME(what)                                                                                 \
    do {                                                                                           \
        if (p->x->what != p->y->what)                                                              \
            g_error("%s: " #what " is %" PRId64 " and %" PRId64, p->name, (int64_t)p->x->what,     \
                    (int64_t)p->y->what);                                                          \
    } while (0)

static void equal_facts(const pair *p) {
    SAME(rank);
    SAME(world_size);
    SAME(base_ns);
    g_assert_cmpstr(mill_at(p->x, p->x->backend), ==, mill_at(p->y, p->y->backend));
    SAME(devices.n);
    INTS(devices, id, of_i64);
    TEXTS(devices, name, of_string);
    INTS(devices, sms, of_i64);
    INTS(devices, rows, of_i64);
    SAME(streams.n);
    INTS(streams, device, of_u32);
    INTS(streams, id, of_i64);
    TEXTS(streams, label, of_string);
}

static void equal_gpu(const pair *p) {
    SAME(gpu.n);
    INTS(gpu, start, of_i64);
    INTS(gpu, dur, of_i64);
    INTS(gpu, stream, of_u32);
    TEXTS(gpu, name, of_name);
    TEXTS(gpu, name, of_class);
    INTS(gpu, cat, of_u8);
    INTS(gpu, correlation, of_i64);
    INTS(gpu, external_id, of_i64);
    INTS(gpu, launch, of_u32);
    INTS(gpu, grid, of_i64);
    INTS(gpu, block, of_i64);
    INTS(gpu, bytes, of_i64);
    INTS(gpu, collective, of_u32);
    INTS(gpu, waited_event, of_i64);
    SAME(collectives.n);
    TEXTS(collectives, operation, of_string);
    INTS(collectives, in_elems, of_i64);
    INTS(collectives, out_elems, of_i64);
    TEXTS(collectives, dtype, of_string);
    INTS(collectives, elem_bytes, of_i64);
    TEXTS(collectives, group, of_string);
    INTS(collectives, group_size, of_i64);
    TEXTS(collectives, ranks, of_string);
    INTS(collectives, sequence, of_i64);
    INTS(collectives, peer, of_i64);
    TEXTS(collectives, kind, of_kind);
}

static void equal_cpu(const pair *p) {
    SAME(cpu.n);
    INTS(cpu, start, of_i64);
    INTS(cpu, dur, of_i64);
    TEXTS(cpu, name, of_name);
    TEXTS(cpu, thread, of_thread);
    INTS(cpu, kind, of_u8);
    INTS(cpu, correlation, of_i64);
    INTS(cpu, external_id, of_i64);
    INTS(cpu, parent, of_u32);
}

static void equal_points(const pair *p) {
    SAME(flows.n);
    INTS(flows, id, of_i64);
    INTS(flows, time, of_i64);
    TEXTS(flows, thread, of_thread);
    INTS(flows, end, of_u8);
    TEXTS(flows, name, of_name);
    SAME(counters.n);
    INTS(counters, time, of_i64);
    TEXTS(counters, name, of_name);
    TEXTS(counters, thread, of_thread);
    reals(p, &p->x->counters.value, &p->y->counters.value, p->x->counters.n);
    SAME(syncs.n);
    INTS(syncs, start, of_i64);
    INTS(syncs, dur, of_i64);
    INTS(syncs, kind, of_u8);
    TEXTS(syncs, name, of_name);
    INTS(syncs, stream, of_u32);
    INTS(syncs, correlation, of_i64);
    INTS(syncs, waited_stream, of_u32);
    INTS(syncs, waited_event, of_i64);
    INTS(syncs, launch, of_u32);
    INTS(syncs, record, of_u32);
    SAME(timers.n);
    INTS(timers, start, of_i64);
    INTS(timers, dur, of_i64);
    TEXTS(timers, name, of_name);
    TEXTS(timers, thread, of_thread);
    INTS(timers, step, of_i64);
    INTS(timers, chunk, of_i64);
    INTS(timers, micro_batch, of_i64);
    INTS(timers, sequence, of_i64);
}

void equal_trace(const char *name, const mill_trace *x, const mill_trace *y) {
    const pair p = {name, x, y};
    equal_facts(&p);
    equal_gpu(&p);
    equal_cpu(&p);
    equal_points(&p);
}
