/* SPDX-License-Identifier: Apache-2.0 */
/* The record behind a plugin's `mill_run *`: what one task of one stage instance has and owes. */
#include "engine/state.h"

#include "config/visible.h"
#include "isolate/page.h"

#include <string.h>

bool stage_sinks_per_run(const plan_stage *p) {
    return p->keyed && !(p->cls->stage.flags & MILL_STAGE_SINGLE);
}

/* What a crash is told as. */
static char *note(const plan_stage *p, const char *key) {
    const module *m = p->cls->module;
    g_autofree char *item = *key != '\0' ? g_strdup_printf(", item \"%s\",", key) : g_strdup("");
    g_autofree char *text = g_strdup_printf("stage \"%s\" (%s, module %s %s, %s)%s", p->name,
                                            p->cls->stage.name, m->id, m->version, m->path, item);
    return visible(text);
}

void run_init(run *r, engine *e, const plan_stage *p, estage *s, task *t) {
    *r = (run){.public.host = &engine_host, .engine = e, .plan = p, .stage = s, .task = t};
    pthread_mutex_init(&r->lock, NULL);
    causes_init(&r->causes);
    r->scratch = g_ptr_array_new_with_free_func(g_free);
    r->key = t != NULL ? t->key : "";
    r->instance = t != NULL ? t->instance : NULL;
    r->outputs = g_new0(GPtrArray *, p->cls->n_outputs + 1);
    for (size_t i = 0; i < p->cls->n_outputs; i++)
        r->outputs[i] = g_ptr_array_new_with_free_func(parcel_destroy);
    r->posted = g_hash_table_new(g_direct_hash, g_direct_equal);
    r->emitted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    /* Files that an earlier run of the instance has opened may be written to in this one. */
    for (guint i = 0;
         r->instance != NULL && r->instance->sinks != NULL && i < r->instance->sinks->len; i++)
        sink_bind(g_ptr_array_index(r->instance->sinks, i), &r->causes);
    r->note = note(p, r->key);
}

void run_finish(run *r) {
    for (size_t i = 0; i < r->plan->cls->n_outputs; i++)
        g_clear_pointer(&r->outputs[i], g_ptr_array_unref);
    g_free(r->outputs);
    g_hash_table_unref(r->posted);
    g_hash_table_unref(r->emitted);
    g_free(r->note);
    g_ptr_array_unref(r->scratch);
    causes_finish(&r->causes);
    pthread_mutex_destroy(&r->lock);
}

int run_asked(const run *r) {
    return __atomic_load_n(r->page != NULL ? &r->page->asked : &r->asked, __ATOMIC_ACQUIRE);
}

static _Thread_local causes *causes_of_piece;

causes *run_causes(run *r) {
    return causes_of_piece != NULL ? causes_of_piece : &r->causes;
}

causes *run_causes_swap(causes *why) {
    causes *before = causes_of_piece;
    causes_of_piece = why;
    return before;
}

mill_status run_bug(run *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    const module *m = r->plan->cls->module;
    causes_addf(run_causes(r), MILL_E_PLUGIN, "class %s %s: this is a bug of module %s %s (%s)",
                r->plan->cls->stage.name, what, m->id, m->version, m->path);
    pthread_mutex_lock(&r->lock);
    r->contract_broken = true;
    pthread_mutex_unlock(&r->lock);
    return MILL_E_PLUGIN;
}

value_memory *run_take_value(run *r, const void *data) {
    gpointer memory = NULL;
    if (r->instance == NULL)
        return NULL;
    pthread_mutex_lock(&r->lock);
    if (r->instance->making != NULL)
        g_hash_table_steal_extended(r->instance->making, data, NULL, &memory);
    pthread_mutex_unlock(&r->lock);
    return memory;
}

void run_callback_ended(run *r, mill_status status) {
    g_ptr_array_set_size(r->scratch, 0);
    /* In a process of the stage's own, sinks are the host's. */
    GPtrArray *sinks = r->instance != NULL && r->page == NULL ? r->instance->sinks : NULL;
    for (guint i = 0; sinks != NULL && i < sinks->len; i++) {
        sink *s = g_ptr_array_index(sinks, i);
        if (status < MILL_OK && sink_dirty(s))
            sink_taint(s);
        sink_clean(s);
        if (sinks->len > FEW_SINKS)
            sink_rest(s);
    }
}

/* What was printed waits for its turn: with the cell of the run, or with the stage. */
static void hand_over(run *r) {
    if (r->instance->out == NULL)
        return;
    bool per_run = stage_sinks_per_run(r->plan);
    print *p = g_new0(print, 1);
    p->key = g_strdup(per_run ? r->key : "");
    p->out = g_steal_pointer(&r->instance->out);
    pthread_mutex_lock(&r->engine->lock);
    if (per_run)
        g_ptr_array_add(r->task->cell->prints, p);
    else
        r->stage->print = p;
    pthread_mutex_unlock(&r->engine->lock);
}

mill_status run_sinks_end(run *r, bool keep) {
    mill_status status = MILL_OK;
    GPtrArray *sinks = r->instance->sinks;
    for (guint i = 0; sinks != NULL && i < sinks->len; i++) {
        sink *s = g_ptr_array_index(sinks, i);
        if (!keep)
            sink_taint(s);
        if (!sink_end(s, &r->causes))
            status = MILL_E_IO;
    }
    if (sinks != NULL)
        g_ptr_array_set_size(sinks, 0);
    hand_over(r);
    return status;
}
