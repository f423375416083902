/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what a trace says beside its rows. */
#include "added.h"
#include "trace.h"

static void put_known(out *o, const char *key, int64_t value, bool *first) {
    if (value == MILL_UNKNOWN)
        return;
    out_bytes(o, *first ? "\"" : ",\"", *first ? 1 : 2);
    out_bytes(o, key, strlen(key));
    OUT(o, "\":");
    out_number(o, value);
    *first = false;
}

static void put_job(const mill_trace *t, out *o) {
    const char *backend = mill_at(t, t->backend);
    bool first = true;
    if (t->rank == MILL_UNKNOWN && t->world_size == MILL_UNKNOWN && !backend)
        return;
    OUT(o, ",\n\"distributedInfo\":{");
    put_known(o, "rank", t->rank, &first);
    put_known(o, "world_size", t->world_size, &first);
    if (backend) {
        out_bytes(o, first ? "\"backend\":" : ",\"backend\":", first ? 10 : 11);
        out_quoted(o, backend, strlen(backend));
    }
    OUT(o, "}");
}

static void put_devices(const mill_trace *t, out *o) {
    bool any = false;
    for (uint64_t i = 0; i < t->devices.n; i++) {
        int64_t id = mill_i64(t, &t->devices.id, i);
        uint32_t name = mill_u32(t, &t->devices.name, i);
        if (id == MILL_UNKNOWN)
            continue;
        out_bytes(o, any ? "," : ",\n\"deviceProperties\":[", any ? 1 : 22);
        OUT(o, "{\"id\":");
        out_number(o, id);
        if (name != MILL_NONE) {
            OUT(o, ",\"name\":");
            out_quoted(o, mill_string(t, name), mill_u32(t, &t->strings.length, name));
        }
        bool first = false;
        put_known(o, "numSms", mill_i64(t, &t->devices.sms, i), &first);
        OUT(o, "}");
        any = true;
    }
    if (any)
        OUT(o, "]");
}

/* What the reader skipped or mended is not in the events any more, but must not be forgotten. */
static void put_diagnostics(const mill_trace *t, out *o) {
    const mill_diagnostics *d = &t->diagnostics;
    OUT(o, ",\"diagnostics\":[");
    for (uint64_t i = 0; i < d->n; i++) {
        uint32_t kind = mill_u32(t, &d->kind, i), text = mill_u32(t, &d->text, i);
        bool first = false;
        out_bytes(o, i ? ",{\"kind\":" : "{\"kind\":", i ? 9 : 8);
        out_quoted(o, mill_string(t, kind), mill_u32(t, &t->strings.length, kind));
        OUT(o, ",\"text\":");
        out_quoted(o, mill_string(t, text), mill_u32(t, &t->strings.length, text));
        put_known(o, "count", (int64_t)mill_u64(t, &d->count, i), &first);
        put_known(o, "first_byte", mill_i64(t, &d->first_byte, i), &first);
        out_bytes(o, mill_u8(t, &d->lost, i) ? ",\"lost\":true}" : ",\"lost\":false}",
                  mill_u8(t, &d->lost, i) ? 13 : 14);
    }
    OUT(o, "]");
}

void trace_facts(const mill_trace *t, out *o) {
    const char *path = mill_at(t, t->path);
    if (t->base_ns != MILL_UNKNOWN) {
        OUT(o, ",\n\"baseTimeNanoseconds\":");
        out_number(o, t->base_ns);
    }
    put_job(t, o);
    put_devices(t, o);
    OUT(o, ",\n\"tracemill\":{\"path\":");
    added_text(o, path ? path : "");
    out_bytes(o, t->complete ? ",\"complete\":true" : ",\"complete\":false", t->complete ? 16 : 17);
    put_diagnostics(t, o);
    OUT(o, "}");
}
