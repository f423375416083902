/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of expert-parallel communication, told by its order alone.
 *
 * A dispatch that reuses the layout of an earlier one ("cached") is the backward pass of a combine;
 * any other belongs to the forward pass (DeepEP, deep_ep/buffer.py: dispatch with a handle). Each
 * combine on the stream answers the earliest dispatch not yet answered: that of a forward dispatch
 * is the forward combine, that of a cached one the backward pass of a dispatch. What notifies or
 * lays out belongs to the next of either. */
#include "attribution.h"

#include <string.h>
#include <tracemill/kit/columns.h>

/* What the order on one stream has told up to now. Lists go through `next`. */
typedef struct stream_order {
    uint32_t open, open_end; /* dispatches without their combine, or MILL_NONE */
    uint32_t ahead;          /* kernels that belong to the next dispatch or combine */
    uint32_t step;
    uint32_t counts[4]; /* by part, in the step */
} stream_order;

enum { IS_NOTHING, IS_DISPATCH, IS_COMBINE, IS_AHEAD };
enum { FORWARD_DISPATCH, FORWARD_COMBINE, BACKWARD_DISPATCH, BACKWARD_COMBINE };

typedef struct ordering {
    mill_run *run;
    const mill_trace *trace;
    const pattern_set *patterns;
    const site_table *sites;
    kernel_sequence *sequence;
    const uint8_t *roles; /* of each kind */
    uint8_t *name_roles;  /* of each name, by its own kind */
    uint8_t *cached;      /* of each name, once it was asked for */
    uint32_t *next;       /* of each kernel of the sequence: the next of its list */
} ordering;

/* The part of each kind of the trace. */
static uint8_t *role_kinds(mill_run *run, const mill_trace *trace) {
    uint8_t *roles = mill_scratch(run, trace->kinds.n + 1);
    for (uint32_t k = 0; k < trace->kinds.n; k++) {
        const char *kind = mill_text(trace, &trace->kinds, k);
        if (!strcmp(kind, "dispatch"))
            roles[k] = IS_DISPATCH;
        else if (!strcmp(kind, "combine"))
            roles[k] = IS_COMBINE;
        else if (!strcmp(kind, "notify") || !strcmp(kind, "layout"))
            roles[k] = IS_AHEAD;
    }
    return roles;
}

/* Columns of some rows of the trace's gpu, and what their kinds are. */
typedef struct block {
    uint32_t name[KIT_BLOCK], collective[KIT_BLOCK], stream[KIT_BLOCK];
    uint8_t role[KIT_BLOCK];
} block;

/* The operation that the file tells beats the name, as in mill_gpu_kind_row. */
static void read_block(const ordering *o, uint64_t first, size_t n, block *b) {
    const mill_trace *trace = o->trace;
    kit_read_u32(trace, &trace->gpu.name, first, n, b->name);
    kit_read_u32(trace, &trace->gpu.collective, first, n, b->collective);
    kit_read_u32(trace, &trace->gpu.stream, first, n, b->stream);
    for (size_t i = 0; i < n; i++) {
        b->role[i] = o->name_roles[b->name[i]];
        if (b->collective[i] == MILL_NONE)
            continue;
        uint16_t kind = mill_gpu_kind_row(trace, first + i);
        b->role[i] = kind < trace->kinds.n ? o->roles[kind] : IS_NOTHING;
    }
}

/* What each name is; false if none is any of them: most profiles have none, and then no row need be
 * looked at. */
static bool role_names(ordering *o) {
    uint64_t n = o->trace->names.texts.n;
    bool any = false;
    o->name_roles = mill_scratch(o->run, n);
    for (uint32_t name = 0; name < n; name++) {
        uint16_t kind = mill_u16(o->trace, &o->trace->names.kind, name);
        o->name_roles[name] = kind < o->trace->kinds.n ? o->roles[kind] : IS_NOTHING;
        any |= o->name_roles[name] != IS_NOTHING;
    }
    return any;
}

static bool is_cached(const ordering *o, uint32_t index) {
    enum { NOT_ASKED, NO, YES };
    uint32_t name = mill_u32(o->trace, &o->trace->gpu.name, o->sequence->v[index].row);
    place_meaning ignored;
    if (o->cached[name] == NOT_ASKED)
        o->cached[name] =
            pattern_match(o->run, &o->patterns->cached, mill_name(o->trace, name), &ignored) ? YES
                                                                                            : NO;
    return o->cached[name] == YES;
}

static void tell(const ordering *o, stream_order *s, uint32_t index, int part) {
    static const struct {
        const char *stage;
        mill_chunk chunk;
    } parts[] = {
        [FORWARD_DISPATCH] = {"dispatch", MILL_CHUNK_FORWARD},
        [FORWARD_COMBINE] = {"combine", MILL_CHUNK_FORWARD},
        [BACKWARD_DISPATCH] = {"dispatch", MILL_CHUNK_BACKWARD},
        [BACKWARD_COMBINE] = {"combine", MILL_CHUNK_BACKWARD},
    };
    sequenced *v = o->sequence->v;
    uint32_t number;
    sites_of(o->sites, o->trace, v[index].row, 1, &number);
    site here = sites_get(o->sites, number);
    if (here.step != s->step)
        memset(s->counts, 0, sizeof s->counts);
    s->step = here.step;
    v[index].stage = parts[part].stage;
    v[index].chunk = parts[part].chunk;
    v[index].ordinal = s->counts[part]++;
    for (uint32_t i = s->ahead; i != MILL_NONE; i = o->next[i])
        v[i] = (sequenced){v[i].row, v[index].stage, v[index].chunk, v[index].ordinal};
    s->ahead = MILL_NONE;
}

static void on_dispatch(const ordering *o, stream_order *s, uint32_t index) {
    bool cached = is_cached(o, index);
    for (uint32_t i = s->ahead; i != MILL_NONE; i = o->next[i])
        cached |= is_cached(o, i);
    tell(o, s, index, cached ? BACKWARD_COMBINE : FORWARD_DISPATCH);
    o->next[index] = MILL_NONE;
    if (s->open == MILL_NONE)
        s->open = index;
    else
        o->next[s->open_end] = index;
    s->open_end = index;
}

static void on_combine(const ordering *o, stream_order *s, uint32_t index) {
    if (s->open == MILL_NONE) { /* of a dispatch before the profile's start */
        s->ahead = MILL_NONE;
        return;
    }
    bool forward = o->sequence->v[s->open].chunk == MILL_CHUNK_FORWARD;
    s->open = o->next[s->open];
    tell(o, s, index, forward ? FORWARD_COMBINE : BACKWARD_DISPATCH);
}

static size_t count_parts(const ordering *o) {
    uint64_t n_rows = o->trace->gpu.n;
    size_t count = 0;
    block b;
    for (uint64_t first = 0; first < n_rows; first += KIT_BLOCK) {
        size_t n = kit_block_rows(n_rows, first);
        read_block(o, first, n, &b);
        for (size_t i = 0; i < n; i++)
            count += b.role[i] != IS_NOTHING;
    }
    return count;
}

static void follow(const ordering *o, stream_order *s, uint64_t row, uint8_t role) {
    uint32_t index = (uint32_t)o->sequence->n++;
    o->sequence->v[index] = (sequenced){.row = row};
    if (role == IS_DISPATCH) {
        on_dispatch(o, s, index);
    } else if (role == IS_COMBINE) {
        on_combine(o, s, index);
    } else {
        o->next[index] = s->ahead;
        s->ahead = index;
    }
}

void sequence_find(mill_run *run, const mill_trace *trace, const pattern_set *patterns,
                   const site_table *sites, kernel_sequence *ret_sequence) {
    ordering o = {.run = run,
                  .trace = trace,
                  .patterns = patterns,
                  .sites = sites,
                  .sequence = ret_sequence,
                  .roles = role_kinds(run, trace)};
    *ret_sequence = (kernel_sequence){0};
    if (!role_names(&o))
        return;
    size_t all = count_parts(&o);
    *ret_sequence = (kernel_sequence){.v = mill_scratch(run, all * sizeof *ret_sequence->v)};
    o.next = mill_scratch(run, all * sizeof *o.next);
    o.cached = mill_scratch(run, trace->names.texts.n);
    stream_order *streams = mill_scratch(run, trace->streams.n * sizeof *streams);
    for (uint64_t i = 0; i < trace->streams.n; i++)
        streams[i] = (stream_order){.open = MILL_NONE, .ahead = MILL_NONE, .step = MILL_NONE};
    block b;
    for (uint64_t first = 0; first < trace->gpu.n && ret_sequence->n < all; first += KIT_BLOCK) {
        size_t n = kit_block_rows(trace->gpu.n, first);
        read_block(&o, first, n, &b);
        for (size_t i = 0; i < n; i++)
            if (b.role[i] != IS_NOTHING)
                follow(&o, &streams[b.stream[i]], first + i, b.role[i]);
    }
}
