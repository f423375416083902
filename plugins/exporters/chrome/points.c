/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arrows, counters, recorded waits and timers. */
#include "points.h"

#include <math.h>

static void put_flow(const lines *l, out *o, uint64_t row, int64_t shift) {
    static const char phases[] = "stf";
    const mill_trace *t = l->trace;
    const mill_flows *f = &t->flows;
    uint8_t end = mill_u8(t, &f->end, row);
    char *at = PUT(out_begin(o), ",\n{\"ph\":\"s\"");
    at[-2] = phases[end];
    at = PUT(put_suffix(l, PUT(at, ",\"cat\":\"ac2g")), "\",");
    at = put_piece(o, at, l->names[mill_u32(t, &f->name, row)]);
    at = put_piece(o, PUT(at, ","), l->threads[mill_u32(t, &f->thread, row)]);
    PUT_KNOWN(at, ",\"id\":", mill_i64(t, &f->id, row));
    at = put_us(PUT(at, ",\"ts\":"), shifted(mill_i64(t, &f->time, row), shift));
    if (end == 2)
        at = PUT(at, ",\"bp\":\"e\"");
    o->at = PUT(at, "}");
}

/* The shortest text that reads back as the same number. */
static char *put_real(char *at, double value) {
    if (fabs(value) < 9e15 && value == (double)(int64_t)value)
        return put_int(at, (int64_t)value);
    for (int digits = 15; digits <= 17; digits++) {
        char format[8];
        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(at, G_ASCII_DTOSTR_BUF_SIZE, format, value);
        if (g_ascii_strtod(at, NULL) == value)
            break;
    }
    return at + strlen(at);
}

/* The reader calls a series as the counter if the arg's key repeats its name. */
static void put_counter(const lines *l, out *o, uint64_t row, int64_t shift) {
    const mill_trace *t = l->trace;
    const mill_counters *c = &t->counters;
    piece name = l->names[mill_u32(t, &c->name, row)];
    char *at = PUT(out_begin(o), ",\n{\"ph\":\"C\",");
    at = put_piece(o, at, name);
    at = put_piece(o, PUT(at, ","), l->threads[mill_u32(t, &c->thread, row)]);
    at = put_us(PUT(at, ",\"ts\":"), shifted(mill_i64(t, &c->time, row), shift));
    at = PUT(at, ",\"args\":{");
    at = put_piece(
        o, at, (piece){name.at + sizeof "\"name\":" - 1, name.length - (sizeof "\"name\":" - 1)});
    o->at = PUT(put_real(PUT(at, ":"), mill_f64(t, &c->value, row)), "}}");
}

/* What has no stream is drawn on the line of the first one; the args tell. */
static void put_sync(const lines *l, out *o, uint64_t row, int64_t shift) {
    const mill_trace *t = l->trace;
    const mill_syncs *s = &t->syncs;
    uint32_t stream = mill_u32(t, &s->stream, row), waited = mill_u32(t, &s->waited_stream, row);
    uint32_t line = stream != MILL_NONE ? stream : waited;
    char *at = PUT(out_begin(o), ",\n{\"ph\":\"X\",\"cat\":\"cuda_sync\",");
    at = put_piece(o, at, l->names[mill_u32(t, &s->name, row)]);
    if (line != MILL_NONE)
        at = put_piece(o, PUT(at, ","), l->streams[line]);
    else
        at = PUT(at, ",\"pid\":-1,\"tid\":-1");
    at = put_us(PUT(at, ",\"ts\":"), shifted(mill_i64(t, &s->start, row), shift));
    int64_t dur = mill_i64(t, &s->dur, row);
    if (dur != MILL_UNKNOWN)
        at = put_us(PUT(at, ",\"dur\":"), dur);
    at = PUT(at, ",\"args\":{\"stream\":");
    at = put_int(at, stream != MILL_NONE ? mill_i64(t, &t->streams.id, stream) : -1);
    if (line != MILL_NONE)
        PUT_KNOWN(
            at, ",\"device\":", mill_i64(t, &t->devices.id, mill_u32(t, &t->streams.device, line)));
    PUT_KNOWN(at, ",\"correlation\":", mill_i64(t, &s->correlation, row));
    if (waited != MILL_NONE)
        PUT_KNOWN(at, ",\"wait_on_stream\":", mill_i64(t, &t->streams.id, waited));
    PUT_KNOWN(at, ",\"wait_on_cuda_event_record_corr_id\":", mill_i64(t, &s->waited_event, row));
    o->at = PUT(at, "}}");
}

/* The reader knows a timer by its micro-batch, which -1 says that it has none of. */
void points_timer(const lines *l, out *o, uint64_t row, int64_t shift) {
    const mill_trace *t = l->trace;
    const mill_timers *m = &t->timers;
    int64_t micro_batch = mill_i64(t, &m->micro_batch, row);
    char *at = PUT(out_begin(o), ",\n{\"ph\":\"X\",\"cat\":\"timer\",");
    at = put_piece(o, at, l->names[mill_u32(t, &m->name, row)]);
    at = put_piece(o, PUT(at, ","), l->threads[mill_u32(t, &m->thread, row)]);
    at = put_us(PUT(at, ",\"ts\":"), shifted(mill_i64(t, &m->start, row), shift));
    at = put_us(PUT(at, ",\"dur\":"), mill_i64(t, &m->dur, row));
    at = put_int(PUT(at, ",\"args\":{\"mb_id\":"), micro_batch == MILL_UNKNOWN ? -1 : micro_batch);
    PUT_KNOWN(at, ",\"step\":", mill_i64(t, &m->step, row));
    PUT_KNOWN(at, ",\"model_chunk\":", mill_i64(t, &m->chunk, row));
    PUT_KNOWN(at, ",\"seq_id\":", mill_i64(t, &m->sequence, row));
    o->at = PUT(at, "}}");
}

void points_events(const lines *l, out *o, int64_t shift) {
    const mill_trace *t = l->trace;
    for (uint64_t i = 0; i < t->flows.n && !o->status; i++)
        put_flow(l, o, i, shift);
    for (uint64_t i = 0; i < t->counters.n && !o->status; i++)
        put_counter(l, o, i, shift);
    for (uint64_t i = 0; i < mill_sync_count(t) && !o->status; i++)
        put_sync(l, o, i, shift);
    for (uint64_t i = 0; i < mill_timer_count(t) && !o->status; i++)
        if (l->first_timer[mill_u32(t, &t->timers.thread, i)] != i)
            points_timer(l, o, i, shift);
}
