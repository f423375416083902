/* SPDX-License-Identifier: Apache-2.0 */
/* What the host sends to the process of a stage. */
#include "isolate/peer_send.h"

#include <string.h>

#include "engine/transfer.h"
#include "isolate/wire.h"

void peer_sent_init(peer_sent *sent) {
    sent->kept = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    sent->once = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void peer_sent_finish(peer_sent *sent) {
    g_hash_table_unref(sent->kept);
    g_hash_table_unref(sent->once);
}

bool peer_output_wanted(const run *r, uint32_t port) {
    const GPtrArray *stages = r->engine->plan->stages;
    for (guint i = 0; i < stages->len; i++) {
        const plan_stage *to = g_ptr_array_index(stages, i);
        for (size_t p = 0; p < to->cls->n_inputs; p++)
            for (guint k = 0; k < to->inputs[p].sources->len; k++) {
                const plan_source *from = &g_array_index(to->inputs[p].sources, plan_source, k);
                if (from->stage == r->plan && from->output == port)
                    return true;
            }
    }
    return false;
}

/* ---------------------------------------------------------------- hello */

/* The file of the module that describes a type; NULL: the host does. */
static const char *type_file(const run *r, const mill_type *type) {
    const module *m = type != NULL ? modules_type_module(r->engine->plan->modules, type) : NULL;
    return m != NULL ? m->path : NULL;
}

static void put_options(GByteArray *body, const plan_stage *p) {
    for (size_t i = 0; i < p->cls->n_options; i++) {
        const mill_option *o = &p->cls->options[i];
        bool set = p->given[i] || o->def != NULL;
        g_autofree char *text = set ? values_format(o, p->opts) : NULL;
        wire_put_u32(body, p->given[i]);
        wire_put_text(body, text);
    }
}

bool peer_send_hello(int socket, const run *r, int page_file) {
    const plan_stage *p = r->plan;
    GByteArray *body = wire_body();
    wire_put_text(body, p->cls->module->path);
    wire_put_text(body, p->cls->stage.name);
    wire_put_text(body, p->name);
    wire_put_u32(body, (uint32_t)r->engine->options.log_level);
    wire_put_u32(body, r->engine->options.jobs);
    wire_put_u32(body, p->keyed);
    wire_put_u32(body, p->glob >= 0);
    wire_put_u64(body, (uint64_t)p->memory_bytes);
    put_options(body, p);
    for (size_t i = 0; i < p->cls->n_outputs; i++) {
        wire_put_u32(body, peer_output_wanted(r, (uint32_t)i));
        wire_put_text(body, type_file(r, r->stage->output_types[i]));
    }
    return wire_send(socket, WIRE_HELLO, body, page_file);
}

/* ---------------------------------------------------------------- inputs */

/* Will the next task of the instance take this value too? */
static bool is_kept(const run *r, size_t port) {
    if (!r->plan->keyed)
        return false;
    if (r->plan->cls->inputs[port].flags & MILL_PORT_MANY)
        return true;
    const GArray *sources = r->plan->inputs[port].sources;
    if (sources->len == 0)
        return false;
    const plan_stage *from = g_array_index(sources, plan_source, 0).stage;
    return !from->keyed && !from->dynamic;
}

static mill_status send_value(int socket, run *r, const bound *b, bool keep, peer_sent *sent) {
    mill_status status = transfer_save(r, b->value);
    if (status != MILL_OK) {
        causes_addf(&r->causes, status, "cannot send the %s from [%s] to the process of the stage",
                    b->value->type->id, b->stage);
        return status;
    }
    if (g_hash_table_contains(sent->kept, &b->value->id) ||
        g_hash_table_contains(sent->once, &b->value->id))
        return MILL_OK;
    g_hash_table_add(keep ? sent->kept : sent->once, g_memdup2(&b->value->id, sizeof b->value->id));
    GByteArray *body = wire_body();
    wire_put_u64(body, b->value->id);
    wire_put_u32(body, keep);
    wire_put_text(body, b->value->type->id);
    wire_put_text(body, type_file(r, b->value->type));
    wire_send(socket, WIRE_VALUE, body, b->value->saved); /* a failure shows at the call */
    return MILL_OK;
}

mill_status peer_send_inputs(int socket, run *r, peer_sent *sent) {
    g_hash_table_remove_all(sent->once);
    mill_status status = MILL_OK;
    for (size_t p = 0; p < r->plan->cls->n_inputs; p++)
        for (guint i = 0; i < r->task->ports[p]->len && status == MILL_OK; i++)
            status = send_value(socket, r, &g_array_index(r->task->ports[p], bound, i),
                                is_kept(r, p), sent);
    return status;
}

/* ---------------------------------------------------------------- calls */

/* Items are there from RUN on. */
static void put_inputs(GByteArray *body, const run *r, bool with_items) {
    for (size_t p = 0; p < r->plan->cls->n_inputs; p++) {
        const GArray *port = r->task->ports[p], *missing = r->task->missing[p];
        guint n = with_items ? port->len : 0;
        wire_put_u32(body, n);
        for (guint i = 0; i < n; i++) {
            const bound *b = &g_array_index(port, bound, i);
            wire_put_u64(body, b->value->id);
            wire_put_text(body, b->stage);
            wire_put_text(body, b->key);
            wire_put_text(body, b->type);
        }
        wire_put_u32(body, missing->len);
        for (guint i = 0; i < missing->len; i++) {
            wire_put_text(body, g_array_index(missing, lost, i).stage);
            wire_put_text(body, g_array_index(missing, lost, i).key);
        }
    }
}

bool peer_send_call(int socket, const run *r, callback what, bool begins_task) {
    const plan_stage *p = r->plan;
    const globs_file *file = p->glob >= 0 && r->task != NULL && r->task->cell != NULL &&
                                     r->task->cell->position < p->files->len
                                 ? g_ptr_array_index(p->files, r->task->cell->position)
                                 : NULL;
    GByteArray *body = wire_body();
    wire_put_u32(body, what);
    wire_put_u32(body, begins_task);
    wire_put_u32(body, r->may_output);
    wire_put_text(body, r->key);
    wire_put_text(body, file != NULL ? file->path : NULL);
    if (what != CALLBACK_CHECK)
        put_inputs(body, r, what == CALLBACK_RUN);
    return wire_send(socket, WIRE_CALL, body, -1);
}
