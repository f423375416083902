/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of open slices, one for each thread or id. */
#include "pairs.h"

#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>

static const kit_diagnostic unclosed = {
    "unclosed-begin",
    "Slices that begin (ph B or b) but never end were left out: how long they last is unknown.",
    true};
static const kit_diagnostic unopened = {
    "end-without-begin", "Ends of slices (ph E or e) that do not begin before them were left out.",
    true};
static const kit_diagnostic backward = {
    "backward-pair", "Slices written as begin and end that end before they begin were left out.",
    true};

#define LOOK_BACK 1024 /* open slices that an end looks through for its own: bounds the time */

typedef struct open_slice {
    slice slice;
    uint32_t name; /* number among `names` */
} open_slice;

typedef struct stack {
    open_slice *v;
    size_t n, room;
} stack;

struct pairs {
    kit_trace *b;
    kit_intern *keys, *names;
    stack *stacks; /* by number of keys */
    size_t room;
};

pairs *pairs_create(kit_trace *b) {
    pairs *p = kit_alloc(1, sizeof *p);
    *p = (pairs){.b = b, .keys = kit_intern_create(), .names = kit_intern_create()};
    return p;
}

void pairs_destroy(pairs *p) {
    if (!p)
        return;
    for (uint32_t i = 0; i < kit_intern_count(p->keys); i++)
        free(p->stacks[i].v);
    free(p->stacks);
    kit_intern_destroy(p->keys);
    kit_intern_destroy(p->names);
    free(p);
}

void pairs_begin(pairs *p, const char *key, size_t key_length, const char *name, size_t length,
                 const slice *s) {
    uint32_t n = kit_intern_count(p->keys), found = kit_intern_add(p->keys, key, key_length, 0);
    if (found == n) {
        if (n == p->room) {
            p->room = p->room ? 2 * p->room : 16;
            p->stacks = kit_realloc(p->stacks, p->room, sizeof *p->stacks);
        }
        p->stacks[n] = (stack){0};
    }
    stack *open = &p->stacks[found];
    if (open->n == open->room) {
        open->room = open->room ? 2 * open->room : 1; /* ids mostly hold one slice each */
        open->v = kit_realloc(open->v, open->room, sizeof *open->v);
    }
    open->v[open->n++] = (open_slice){*s, kit_intern_add(p->names, name, length, 0)};
}

/* The stack of that key and the place in it of the innermost slice of that name (any name, if it is
 * empty). NULL: there is none. */
static stack *find_open(const pairs *p, const char *key, size_t key_length, const char *name,
                        size_t length, size_t *ret_at) {
    uint32_t found = kit_intern_find(p->keys, key, key_length, 0);
    if (found == UINT32_MAX)
        return NULL;
    uint32_t wanted = length ? kit_intern_find(p->names, name, length, 0) : UINT32_MAX;
    if (length && wanted == UINT32_MAX)
        return NULL;
    stack *open = &p->stacks[found];
    size_t last = open->n > LOOK_BACK ? open->n - LOOK_BACK : 0;
    for (size_t i = open->n; i-- > last;)
        if (wanted == UINT32_MAX || open->v[i].name == wanted) {
            *ret_at = i;
            return open;
        }
    return NULL;
}

bool pairs_has(const pairs *p, const char *key, size_t key_length, const char *name,
               size_t length) {
    size_t at;
    return find_open(p, key, key_length, name, length, &at) != NULL;
}

bool pairs_end(pairs *p, const char *key, size_t key_length, const char *name, size_t length,
               int64_t time, uint64_t byte, slice *ret_slice) {
    size_t at;
    stack *open = find_open(p, key, key_length, name, length, &at);
    if (!open) {
        kit_trace_diagnose(p->b, &unopened, (int64_t)byte);
        return false;
    }
    *ret_slice = open->v[at].slice;
    for (open->n--; at < open->n; at++)
        open->v[at] = open->v[at + 1];
    kit_gpu_row *row = &ret_slice->row;
    if (row->start == MILL_UNKNOWN || time == MILL_UNKNOWN) {
        row->dur = MILL_UNKNOWN;
    } else if (time < row->start) {
        kit_trace_diagnose(p->b, &backward, (int64_t)row->byte);
        return false;
    } else if (__builtin_sub_overflow(time, row->start, &row->dur)) {
        row->dur = INT64_MAX;
    }
    return true;
}

void pairs_join(pairs *p, const pairs *part, const kit_join *j, const uint32_t *lines) {
    for (uint32_t i = 0; i < kit_intern_count(part->keys); i++)
        for (size_t k = 0; k < part->stacks[i].n; k++) {
            const open_slice *open = &part->stacks[i].v[k];
            slice s = open->slice;
            size_t key_length, length;
            const char *key = kit_intern_text(part->keys, i, &key_length);
            const char *name = kit_intern_text(part->names, open->name, &length);
            s.row.name = j->names[s.row.name];
            s.row.track = lines[s.row.track];
            if (s.category->gpu)
                s.row.stream = j->streams[s.row.stream];
            if (s.row.collective != MILL_NONE)
                s.row.collective = j->collectives[s.row.collective];
            if (!s.async) /* the key is the line, and was another number */
                key = (const char *)&s.row.track;
            pairs_begin(p, key, key_length, name, length, &s);
        }
}

void pairs_finish(pairs *p) {
    for (uint32_t i = 0; i < kit_intern_count(p->keys); i++)
        for (size_t k = 0; k < p->stacks[i].n; k++)
            kit_trace_diagnose(p->b, &unclosed, (int64_t)p->stacks[i].v[k].slice.row.byte);
}
