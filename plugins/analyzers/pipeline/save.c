/* SPDX-License-Identifier: Apache-2.0 */
/* tracemill.pipeline/1 from one process to another. */
#include "operations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/save.h>

enum { FORMAT = 1 };

/* Operations with the numbers of their names beside them, and the names. */
mill_status pipe_save(mill_run *run, const void *data, mill_sink *sink) {
    (void)run;
    const pipe_operations *p = data;
    kit_intern *names = kit_intern_create();
    pipe_op *ops = kit_alloc(p->n_ops + 1, sizeof *ops);
    uint32_t *name = kit_alloc(p->n_ops + 1, sizeof *name), n_names;
    for (uint64_t i = 0; i < p->n_ops; i++) {
        name[i] = kit_intern_add(names, p->ops[i].name, strlen(p->ops[i].name), 0);
        ops[i] = p->ops[i];
        ops[i].name = NULL;
    }
    n_names = kit_intern_count(names);
    kit_save s;
    kit_save_begin(&s, sink, FORMAT);
    kit_save_array(&s, &p->timeline, 1, sizeof p->timeline);
    kit_save_array(&s, (int64_t[]){p->base_ns, p->unsure, p->lost}, 3, sizeof(int64_t));
    kit_save_array(&s, (uint64_t[]){p->n_workers, p->n_ops, n_names}, 3, sizeof(uint64_t));
    kit_save_text(&s, p->path);
    kit_save_text(&s, p->method);
    kit_save_array(&s, p->workers, p->n_workers, sizeof *p->workers);
    kit_save_array(&s, ops, p->n_ops, sizeof *ops);
    kit_save_array(&s, name, p->n_ops, sizeof *name);
    for (uint32_t i = 0; i < n_names; i++)
        kit_save_text(&s, kit_intern_text(names, i, NULL));
    kit_intern_destroy(names);
    free(ops);
    free(name);
    return kit_save_end(&s);
}

/* ---------------------------------------------------------------- loading */

/* By worker and start, as the operations of one worker are looked for by halves. */
static bool check_op(kit_load *l, const pipe_operations *p, uint64_t i) {
    const pipe_op *op = &p->ops[i], *before = i > 0 ? op - 1 : NULL;
    int64_t length;
    if (op->worker >= p->n_workers || op->kind < PIPE_FORWARD || op->kind > PIPE_OTHER)
        return kit_load_wrong(l, "operation %" PRIu64 " is of kind %u and worker %u of %" PRIu64, i,
                              op->kind, op->worker, p->n_workers);
    if (op->end < op->start || __builtin_sub_overflow(op->end, op->start, &length))
        return kit_load_wrong(l, "operation %" PRIu64 " ends before it starts", i);
    return !before || op->worker > before->worker ||
           (op->worker == before->worker && op->start >= before->start) ||
           kit_load_wrong(l, "operation %" PRIu64 " should stand before the one above it", i);
}

static const char *const *load_names(kit_load *l, uint64_t n) {
    if (n > l->length / sizeof(uint64_t)) {
        kit_load_wrong(l, "%" PRIu64 " names should follow", n);
        return NULL;
    }
    const char **names = mill_scratch(l->run, (n + 1) * sizeof *names);
    for (uint64_t i = 0; i < n; i++) {
        if (!kit_load_text(l, &names[i]))
            return NULL;
        if (!names[i]) {
            kit_load_wrong(l, "name %" PRIu64 " is no text", i);
            return NULL;
        }
    }
    return names;
}

static bool load_ops(kit_load *l, pipe_operations *p, uint64_t n_names) {
    const pipe_op *saved = kit_load_array(l, p->n_ops, sizeof *saved);
    const uint32_t *name = saved ? kit_load_array(l, p->n_ops, sizeof *name) : NULL;
    const char *const *names = name ? load_names(l, n_names) : NULL;
    if (!names)
        return false;
    pipe_op *ops = mill_value_alloc(l->run, p, p->n_ops * sizeof *ops);
    p->ops = ops;
    for (uint64_t i = 0; i < p->n_ops; i++) {
        ops[i] = saved[i];
        if (name[i] >= n_names)
            return kit_load_wrong(l, "operation %" PRIu64 " has name %u of %" PRIu64, i, name[i],
                                  n_names);
        ops[i].name = names[name[i]];
        if (!check_op(l, p, i))
            return false;
    }
    return true;
}

static bool load(kit_load *l, mill_run *run, mill_source *source, pipe_operations *p) {
    const uint32_t *timeline;
    const int64_t *facts;
    const uint64_t *counts;
    if (!kit_load_begin(l, run, source, PIPE_TYPE, FORMAT) ||
        !(timeline = kit_load_array(l, 1, sizeof *timeline)) ||
        !(facts = kit_load_array(l, 3, sizeof *facts)) ||
        !(counts = kit_load_array(l, 3, sizeof *counts)) || !kit_load_text(l, &p->path) ||
        !kit_load_text(l, &p->method) ||
        !(p->workers = kit_load_array(l, counts[0], sizeof *p->workers)))
        return false;
    p->timeline = *timeline;
    p->base_ns = facts[0];
    p->unsure = facts[1];
    p->lost = facts[2];
    p->n_workers = counts[0];
    p->n_ops = counts[1];
    return load_ops(l, p, counts[2]);
}

mill_status pipe_load(mill_run *run, mill_source *source, void **ret_data) {
    kit_load l;
    pipe_operations *p = mill_value_alloc(run, NULL, sizeof *p);
    p->size = sizeof *p;
    if (!load(&l, run, source, p))
        return MILL_E_DATA;
    *ret_data = p;
    return kit_load_end(&l);
}
