/* SPDX-License-Identifier: Apache-2.0 */
/* Writes activities, slices and facts. Which member has which name is Kineto's choice
 * (pytorch/kineto, libkineto/src/output_json.cpp). */
#include "trace.h"

#include "points.h"

#include <strings.h>
#include <tracemill/kit/columns.h>

#define CAT(text)                                                                                  \
    { ",\"cat\":\"" text "\",", sizeof(",\"cat\":\"" text "\",") - 1 }

/* ---------------------------------------------------------------- activities */

static void put_text_arg(const lines *l, out *o, const char *key, uint32_t string) {
    if (string == MILL_NONE)
        return;
    OUT(o, ",\"");
    out_bytes(o, key, strlen(key));
    OUT(o, "\":");
    out_quoted(o, mill_string(l->trace, string),
               mill_u32(l->trace, &l->trace->strings.length, string));
}

/* The peer of a receive is whence it comes, of all else where it goes. */
static bool receives(const char *operation) {
    return !strncasecmp(operation, "recv", 4);
}

static char *put_collective(const lines *l, out *o, char *at, uint32_t row) {
    const mill_trace *t = l->trace;
    const mill_collectives *c = &t->collectives;
    uint32_t operation = mill_u32(t, &c->operation, row);
    o->at = at;
    put_text_arg(l, o, "Collective name", operation);
    put_text_arg(l, o, "dtype", mill_u32(t, &c->dtype, row));
    put_text_arg(l, o, "Process Group Name", mill_u32(t, &c->group, row));
    put_text_arg(l, o, "Process Group Ranks", mill_u32(t, &c->ranks, row));
    at = out_begin(o);
    PUT_KNOWN(at, ",\"In msg nelems\":", mill_i64(t, &c->in_elems, row));
    PUT_KNOWN(at, ",\"Out msg nelems\":", mill_i64(t, &c->out_elems, row));
    PUT_KNOWN(at, ",\"Group size\":", mill_i64(t, &c->group_size, row));
    PUT_KNOWN(at, ",\"Seq\":", mill_i64(t, &c->sequence, row));
    if (receives(mill_string(t, operation)))
        PUT_KNOWN(at, ",\"Src Rank\":", mill_i64(t, &c->peer, row));
    else
        PUT_KNOWN(at, ",\"Dst Rank\":", mill_i64(t, &c->peer, row));
    return at;
}

typedef struct gpu_block {
    int64_t start[KIT_BLOCK], dur[KIT_BLOCK], correlation[KIT_BLOCK], external_id[KIT_BLOCK];
    int64_t grid[KIT_BLOCK], block[KIT_BLOCK], bytes[KIT_BLOCK], waited[KIT_BLOCK];
    uint32_t name[KIT_BLOCK], stream[KIT_BLOCK], collective[KIT_BLOCK];
    uint8_t cat[KIT_BLOCK];
} gpu_block;

static void read_gpu(const mill_trace *t, uint64_t first, size_t n, gpu_block *b) {
    const mill_gpu *g = &t->gpu;
    kit_read_i64(t, &g->start, first, n, b->start);
    kit_read_i64(t, &g->dur, first, n, b->dur);
    kit_read_i64(t, &g->correlation, first, n, b->correlation);
    kit_read_i64(t, &g->external_id, first, n, b->external_id);
    kit_read_i64(t, &g->grid, first, n, b->grid);
    kit_read_i64(t, &g->block, first, n, b->block);
    kit_read_i64(t, &g->bytes, first, n, b->bytes);
    kit_read_i64(t, &g->waited_event, first, n, b->waited);
    kit_read_u32(t, &g->name, first, n, b->name);
    kit_read_u32(t, &g->stream, first, n, b->stream);
    kit_read_u32(t, &g->collective, first, n, b->collective);
    kit_read_u8(t, &g->cat, first, n, b->cat);
}

/* The arrow from a call to what it launched, where the trace has none of the file's own. */
static bool draws_launches(const mill_trace *t) {
    return t->flows.n == 0;
}

#define CLASS(text)                                                                                \
    { ",\"args\":{\"class\":\"" text "\"", sizeof(",\"args\":{\"class\":\"" text "\"") - 1 }

/* Not Kineto's: what the rules say of the name, to search and colour by. */
static const piece classes[] = {
    [MILL_CLASS_NONE] = CLASS("none"),
    [MILL_CLASS_COMPUTATION] = CLASS("computation"),
    [MILL_CLASS_COMMUNICATION] = CLASS("communication"),
    [MILL_CLASS_MEMORY] = CLASS("memory"),
    [MILL_CLASS_OTHER] = CLASS("other"),
};

static void put_gpu(const lines *l, out *o, const gpu_block *b, size_t i, int64_t shift) {
    static const piece cats[] = {
        [MILL_GPU_KERNEL] = CAT("kernel"),
        [MILL_GPU_MEMCPY] = CAT("gpu_memcpy"),
        [MILL_GPU_MEMSET] = CAT("gpu_memset"),
    };
    char *at = PUT(out_begin(o), ",\n{\"ph\":\"X\"");
    at = put_piece(o, at, cats[b->cat[i]]);
    at = put_piece(o, at, l->names[b->name[i]]);
    at = put_piece(o, PUT(at, ","), l->streams[b->stream[i]]);
    at = put_us(PUT(at, ",\"ts\":"), shifted(b->start[i], shift));
    at = put_us(PUT(at, ",\"dur\":"), b->dur[i]);
    if (draws_launches(l->trace) && b->correlation[i] > 0)
        at = PUT(put_bind(at, l->number, b->correlation[i]), ",\"flow_in\":true");
    at = put_piece(o, at, classes[mill_name_class(l->trace, b->name[i])]);
    PUT_KNOWN(at, ",\"External id\":", b->external_id[i]);
    at = put_piece(o, at, l->stream_args[b->stream[i]]);
    PUT_KNOWN(at, ",\"correlation\":", b->correlation[i]);
    if (b->grid[i] != MILL_UNKNOWN)
        at = PUT(put_int(PUT(at, ",\"grid\":["), b->grid[i]), ",1,1]");
    if (b->block[i] != MILL_UNKNOWN)
        at = PUT(put_int(PUT(at, ",\"block\":["), b->block[i]), ",1,1]");
    PUT_KNOWN(at, ",\"bytes\":", b->bytes[i]);
    PUT_KNOWN(at, ",\"wait_on_cuda_event_record_corr_id\":", b->waited[i]);
    if (b->collective[i] != MILL_NONE)
        at = put_collective(l, o, at, b->collective[i]);
    o->at = PUT(at, "}}");
}

static void write_first_gpu(const lines *l, out *o, int64_t shift) {
    gpu_block b;
    for (uint64_t i = 0; i < l->trace->names.texts.n; i++) {
        if (l->first_gpu[i] == MILL_NONE)
            continue;
        read_gpu(l->trace, l->first_gpu[i], 1, &b);
        put_gpu(l, o, &b, 0, shift);
    }
}

static void write_gpu(const lines *l, out *o, int64_t shift) {
    const mill_trace *t = l->trace;
    gpu_block b;
    for (uint64_t row = 0; row < t->gpu.n && !o->status; row += KIT_BLOCK) {
        size_t n = kit_block_rows(t->gpu.n, row);
        read_gpu(t, row, n, &b);
        for (size_t i = 0; i < n; i++)
            if (l->first_gpu[b.name[i]] != row + i)
                put_gpu(l, o, &b, i, shift);
    }
}

/* ---------------------------------------------------------------- slices */

typedef struct cpu_block {
    int64_t start[KIT_BLOCK], dur[KIT_BLOCK], correlation[KIT_BLOCK], external_id[KIT_BLOCK];
    uint32_t name[KIT_BLOCK], thread[KIT_BLOCK];
    uint8_t kind[KIT_BLOCK];
} cpu_block;

static void read_cpu(const mill_trace *t, uint64_t first, size_t n, cpu_block *b) {
    const mill_cpu *c = &t->cpu;
    kit_read_i64(t, &c->start, first, n, b->start);
    kit_read_i64(t, &c->dur, first, n, b->dur);
    kit_read_i64(t, &c->correlation, first, n, b->correlation);
    kit_read_i64(t, &c->external_id, first, n, b->external_id);
    kit_read_u32(t, &c->name, first, n, b->name);
    kit_read_u32(t, &c->thread, first, n, b->thread);
    kit_read_u8(t, &c->kind, first, n, b->kind);
}

static bool is_call(uint8_t kind) {
    return kind == MILL_CPU_RUNTIME || kind == MILL_CPU_DRIVER;
}

/* All up to the time. */
static char *put_head(const lines *l, out *o, const cpu_block *b, size_t i, char phase,
                      uint64_t row) {
    static const piece cats[] = {
        [MILL_CPU_OP] = CAT("cpu_op"),
        [MILL_CPU_RUNTIME] = CAT("cuda_runtime"),
        [MILL_CPU_DRIVER] = CAT("cuda_driver"),
        [MILL_CPU_ANNOTATION] = CAT("user_annotation"),
        [MILL_CPU_PYTHON] = CAT("python_function"),
        [MILL_CPU_MEMORY] = CAT("cpu_instant_event"),
        [MILL_CPU_OTHER] = CAT("other"),
    };
    char *at = PUT(out_begin(o), ",\n{\"ph\":\"X\"");
    at[-2] = phase;
    at = put_piece(o, at, cats[b->kind[i]]);
    at = put_piece(o, at, l->names[b->name[i]]);
    at = put_piece(o, PUT(at, ","), l->threads[b->thread[i]]);
    if (phase == 'b' || phase == 'e')
        at = PUT(put_int(PUT(at, ",\"id2\":{\"local\":\""), (int64_t)row), "\"}");
    return PUT(at, ",\"ts\":");
}

/* X where that can say it; begin and end for slices that may overlap on their line, and for those
 * of no category of ours; an instant for what has no length. */
static char phase_of(const lines *l, const cpu_block *b, size_t i) {
    if (b->kind[i] == MILL_CPU_MEMORY)
        return 'i';
    if (l->async[b->thread[i]])
        return 'b';
    return b->kind[i] == MILL_CPU_OTHER ? 'B' : 'X';
}

static char *put_cpu_args(char *at, const cpu_block *b, size_t i) {
    if (b->external_id[i] == MILL_UNKNOWN && b->correlation[i] == MILL_UNKNOWN)
        return at;
    at = PUT(at, ",\"args\":{");
    char *args = at;
    PUT_KNOWN(at, ",\"External id\":", b->external_id[i]);
    PUT_KNOWN(at, ",\"correlation\":", b->correlation[i]);
    *args = ' '; /* instead of the comma before the first */
    return PUT(at, "}");
}

static void put_cpu(const lines *l, out *o, const cpu_block *b, size_t i, uint64_t row,
                    int64_t shift) {
    char phase = phase_of(l, b, i);
    char *at = put_us(put_head(l, o, b, i, phase, row), shifted(b->start[i], shift));
    if (phase == 'X')
        at = put_us(PUT(at, ",\"dur\":"), b->dur[i]);
    if (phase == 'i')
        at = PUT(at, ",\"s\":\"t\"");
    if (phase == 'X' && is_call(b->kind[i]) && b->correlation[i] > 0 && draws_launches(l->trace))
        at = PUT(put_bind(at, l->number, b->correlation[i]), ",\"flow_out\":true");
    o->at = PUT(put_cpu_args(at, b, i), "}");
    if (phase == 'b' || phase == 'B') {
        at = put_head(l, o, b, i, phase == 'b' ? 'e' : 'E', row);
        o->at = PUT(put_us(at, shifted(b->start[i] + b->dur[i], shift)), "}");
    }
}

static void write_first_of_threads(const lines *l, out *o, int64_t shift) {
    cpu_block b;
    for (uint64_t i = 0; i < l->trace->threads.n; i++) {
        if (l->first_cpu[i] != MILL_NONE) {
            read_cpu(l->trace, l->first_cpu[i], 1, &b);
            put_cpu(l, o, &b, 0, l->first_cpu[i], shift);
        }
        if (l->first_timer[i] != MILL_NONE)
            points_timer(l, o, l->first_timer[i], shift);
    }
}

static void write_cpu(const lines *l, out *o, int64_t shift) {
    const mill_trace *t = l->trace;
    cpu_block b;
    for (uint64_t row = 0; row < t->cpu.n && !o->status; row += KIT_BLOCK) {
        size_t n = kit_block_rows(t->cpu.n, row);
        read_cpu(t, row, n, &b);
        for (size_t i = 0; i < n; i++)
            if (l->first_cpu[b.thread[i]] != row + i)
                put_cpu(l, o, &b, i, row + i, shift);
    }
}

void trace_events(const lines *l, out *o, int64_t shift) {
    write_first_of_threads(l, o, shift);
    write_first_gpu(l, o, shift);
    write_cpu(l, o, shift);
    write_gpu(l, o, shift);
    points_events(l, o, shift);
}
