/* SPDX-License-Identifier: Apache-2.0 */
/* Performs one task: calls the plugin, and holds it to the contract. */
#include "engine/state.h"

#include <string.h>
#include <tracemill/report.h>

#include "config/units.h"
#include "engine/crash.h"
#include "types/types.h"

typedef mill_status (*callback)(mill_run *, const void *, void *);

static bool is_status(mill_status status) {
    return status >= MILL_E_CANCELLED && status <= MILL_GATE;
}

/* The limit that a callback exceeded, whatever it made of it. */
static mill_status too_late(run *r, const char *what, int asked) {
    bool whole = asked == ASK_LIMIT;
    g_autofree char *limit =
        units_format(UNITS_DURATION, whole ? r->engine->options.timeout_ns : r->plan->timeout_ns);
    causes_addf(&r->causes, MILL_E_TIMEOUT, "`%s` did not end within %s%s", what,
                whole ? "--timeout " : "run.timeout = ", limit);
    return MILL_E_TIMEOUT;
}

/* What a callback's result amounts to, beside the facts. */
static mill_status judge(run *r, const char *what, mill_status status) {
    int asked = __atomic_load_n(&r->asked, __ATOMIC_ACQUIRE);
    if (r->contract_broken)
        return MILL_E_PLUGIN;
    if (!is_status(status))
        return run_bug(r, "returned %d from `%s`, which is no status", (int)status, what);
    if (asked == ASK_RUN_LIMIT || asked == ASK_LIMIT)
        return too_late(r, what, asked);
    if (status == MILL_E_CANCELLED)
        return asked != ASK_NOTHING
                   ? status
                   : run_bug(r, "gave up in `%s` as cancelled, though nobody asked", what);
    if (status < MILL_OK && causes_empty(&r->causes))
        return run_bug(r, "failed in `%s` with %s and said no cause", what, status_name(status));
    return status;
}

static void set_deadline(run *r, int64_t deadline_ns) {
    pthread_mutex_lock(&r->engine->lock);
    r->deadline_ns = deadline_ns;
    pthread_mutex_unlock(&r->engine->lock);
}

/* Around each call of the plugin. Returns the crash note of before. */
static const char *enter(run *r) {
    r->began_ns = now_ns();
    set_deadline(r, r->plan->timeout_ns > 0 ? r->began_ns + r->plan->timeout_ns : 0);
    return crash_note(r->note);
}

static void leave(run *r, const char *before) {
    crash_note(before);
    set_deadline(r, 0);
    r->busy_ns += now_ns() - r->began_ns;
}

static mill_status call(run *r, const char *what, callback fn, const void *opts) {
    if (fn == NULL)
        return MILL_OK;
    const char *before = enter(r);
    mill_status status = fn(&r->public, opts, r->instance->state);
    leave(r, before);
    status = judge(r, what, status);
    run_callback_ended(r, status);
    return status;
}

/* ---------------------------------------------------------------- inputs */

/* The type is not always of this stage's module, which must not be blamed for it. */
static mill_status type_bug(run *r, const bound *b, const char *what) {
    causes_addf(&r->causes, MILL_E_PLUGIN,
                "`to_report` of %s %s: this is a bug of the module that describes the type",
                b->type, what);
    return MILL_E_PLUGIN;
}

/* The only implicit conversion: a port of reports takes whatever can become one. */
static mill_status to_report(run *r, bound *b) {
    mill_report *report = NULL;
    const char *before = enter(r);
    mill_status status = b->value->type->to_report(&r->public, b->value->data, &report);
    leave(r, before);
    if (is_status(status) && status < MILL_OK && status != MILL_E_CANCELLED &&
        causes_empty(&r->causes))
        status = type_bug(r, b, "failed and said no cause");
    status = judge(r, "to_report", status);
    run_callback_ended(r, status);
    if (status < MILL_OK) {
        causes_addf(&r->causes, status, "cannot make a report of the %s from [%s]", b->type,
                    b->stage);
        return status;
    }
    const mill_type *type = types_find(MILL_TYPE_REPORT);
    value_memory *memory = run_take_value(r, report);
    if (memory == NULL || value_misfit(type, report, memory) != NULL) {
        value_memory_destroy(memory);
        return type_bug(r, b, "made no report");
    }
    value_unref(b->value);
    b->value = value_create(type, report, memory);
    return MILL_OK;
}

static mill_status convert_inputs(run *r) {
    for (size_t p = 0; p < r->plan->cls->n_inputs; p++) {
        if (strcmp(r->plan->cls->inputs[p].type, MILL_TYPE_REPORT) != 0)
            continue;
        for (guint i = 0; i < r->task->ports[p]->len; i++) {
            bound *b = &g_array_index(r->task->ports[p], bound, i);
            if (strcmp(b->type, MILL_TYPE_REPORT) == 0)
                continue;
            mill_status status = to_report(r, b);
            if (status < MILL_OK)
                return status;
        }
    }
    return MILL_OK;
}

/* The options of this run: the file of a GLOB option, ${item} replaced. */
static void *run_options(run *r, GPtrArray *memory) {
    const stage_class *cls = r->plan->cls;
    char *opts = g_malloc0(cls->stage.options_size + 1);
    g_ptr_array_add(memory, opts);
    if (cls->stage.options_size > 0)
        memcpy(opts, r->plan->opts, cls->stage.options_size);
    for (size_t i = 0; i < cls->n_options; i++) {
        const mill_option *o = &cls->options[i];
        const char **field = (const char **)(void *)(opts + o->offset);
        if (o->flags & MILL_OPT_GLOB) {
            const globs_file *file = g_ptr_array_index(r->plan->files, r->task->cell->position);
            *field = file->path;
        } else if (o->flags & MILL_OPT_ITEM && *field != NULL) {
            char *text = vars_item(*field, r->key);
            g_ptr_array_add(memory, text);
            *field = text;
        }
    }
    return opts;
}

/* ---------------------------------------------------------------- outputs */

static mill_status check_outputs(run *r) {
    for (size_t i = 0; i < r->plan->cls->n_outputs; i++) {
        const mill_port *port = &r->plan->cls->outputs[i];
        if (r->outputs[i]->len == 0 && !(port->flags & (MILL_PORT_OPTIONAL | MILL_PORT_ITEMS)))
            return run_bug(r, "ended well but posted no \"%s\"", port->name);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- an instance's life */

static bool is_broken(run *r) {
    pthread_mutex_lock(&r->engine->lock);
    bool broken = r->stage->broken;
    pthread_mutex_unlock(&r->engine->lock);
    return broken;
}

/* Returns whether it was broken before. */
static bool set_broken(run *r) {
    pthread_mutex_lock(&r->engine->lock);
    bool broken = r->stage->broken;
    r->stage->broken = true;
    pthread_mutex_unlock(&r->engine->lock);
    return broken;
}

static mill_status begin(run *r) {
    instance *in = r->instance;
    if (is_broken(r))
        return MILL_E_CANCELLED;
    if (in->opened)
        return MILL_OK;
    in->state = g_malloc0(r->plan->cls->stage.state_size + 1);
    in->opened = true;
    mill_status status = call(r, "open", r->plan->cls->stage.open, r->plan->opts);
    in->usable = status >= MILL_OK;
    /* Of several instances that fail at a time, one says so. */
    return in->usable || !set_broken(r) ? status : MILL_E_CANCELLED;
}

static void forget_values(run *r) {
    guint n = r->instance->making != NULL ? g_hash_table_size(r->instance->making) : 0;
    if (n > 0 && !r->contract_broken && r->instance->usable &&
        __atomic_load_n(&r->asked, __ATOMIC_ACQUIRE) == ASK_NOTHING) {
        g_autofree char *text =
            g_strdup_printf("class %s began %u value%s that it never posted; the host has freed %s",
                            r->plan->cls->stage.name, n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
        console_log(r->plan->name, r->key, MILL_DEBUG, text);
    }
    g_clear_pointer(&r->instance->making, g_hash_table_unref);
}

static mill_status worse(mill_status a, mill_status b) {
    if (a < MILL_OK)
        return a;
    return b != MILL_OK ? b : a;
}

/* finish, the end of the sinks, close. `status` is that of the callbacks before. */
static mill_status end(run *r, mill_status status, bool owes_outputs) {
    instance *in = r->instance;
    if (!in->opened)
        return status;
    /* A STREAM stage that comes to an end of its instance only has not had all items. */
    bool cut = r->plan->stream && !owes_outputs;
    bool whole = in->usable && !cut && __atomic_load_n(&r->asked, __ATOMIC_ACQUIRE) == ASK_NOTHING;
    mill_status finished = MILL_OK;
    if (whole && (status >= MILL_OK || !owes_outputs)) {
        r->may_output = owes_outputs;
        finished = call(r, "finish", r->plan->cls->stage.finish, r->plan->opts);
        r->may_output = false;
        if (owes_outputs && finished >= MILL_OK)
            finished = worse(finished, check_outputs(r));
    }
    status = worse(status, finished);
    status = worse(status, run_sinks_end(r, whole && finished >= MILL_OK));
    if (r->plan->cls->stage.close != NULL) {
        const char *before = enter(r);
        r->plan->cls->stage.close(&r->public, in->state);
        leave(r, before);
        run_callback_ended(r, MILL_OK);
        if (r->contract_broken)
            status = worse(status, MILL_E_PLUGIN);
    }
    forget_values(r);
    g_clear_pointer(&in->held, g_hash_table_unref);
    g_clear_pointer(&in->regexes, g_ptr_array_unref);
    g_clear_pointer(&in->sinks, g_ptr_array_unref);
    g_clear_pointer(&in->state, g_free);
    in->opened = false;
    return status;
}

static mill_status run_item(run *r) {
    g_autoptr(GPtrArray) memory = g_ptr_array_new_with_free_func(g_free);
    mill_status status = convert_inputs(r);
    if (status < MILL_OK)
        return status;
    r->may_output = !r->plan->stream;
    status = call(r, "run", r->plan->cls->stage.run, run_options(r, memory));
    r->may_output = false;
    if (status >= MILL_OK && r->plan->keyed)
        status = worse(status, check_outputs(r));
    if (stage_sinks_per_run(r->plan))
        status = worse(status, run_sinks_end(r, status >= MILL_OK));
    return status;
}

/* A stage that runs once: run, finish and close are one task, and the outputs may come in either.
 */
static bool runs_once(const plan_stage *p) {
    return !p->keyed && !p->stream;
}

static mill_status perform_callbacks(run *r) {
    task *t = r->task;
    mill_status status = MILL_OK;
    if (t->kind != TASK_END)
        status = begin(r);
    if (status >= MILL_OK && t->kind == TASK_RUN)
        status = run_item(r);
    if (t->kind == TASK_END || t->kind == TASK_LAST || runs_once(r->plan))
        status = end(r, status, t->kind != TASK_END);
    return status;
}

/* ---------------------------------------------------------------- the task as a whole */

static void account(run *r, mill_status status) {
    stage_outcome *o = r->stage->outcome;
    if (r->task->kind == TASK_RUN && status >= MILL_OK)
        o->done++;
    if (r->task->cell != NULL && status < MILL_OK && status != MILL_E_CANCELLED) {
        o->failed++;
        r->task->cell->failed++;
    }
    o->busy_ns += r->busy_ns;
    o->longest_ns = MAX(o->longest_ns, r->busy_ns);
    o->peak_bytes = MAX(o->peak_bytes, r->bytes);
}

void perform(engine *e, task *t) {
    run r;
    garbage rest;
    garbage_init(&rest);
    run_init(&r, e, t->stage->plan, t->stage, t);
    pthread_mutex_lock(&e->lock);
    if (e->asked > ASK_STOP) {
        r.asked = e->asked;
        r.asked_ns = now_ns();
    }
    g_ptr_array_add(e->running, &r);
    pthread_mutex_unlock(&e->lock);

    mill_status status = perform_callbacks(&r);
    task_drop_inputs(t);

    pthread_mutex_lock(&e->lock);
    g_ptr_array_remove(e->running, &r);
    account(&r, status);
    /* A stage whose open failed has said so once; a user who cancels needs no list. */
    if (status != MILL_OK && status != MILL_E_CANCELLED)
        engine_fail(e, r.plan, t->instance->usable ? r.key : "", status, &r.causes);
    schedule_ended(e, t, status, r.outputs, &rest);
    if (e->asked != ASK_NOTHING)
        schedule_cancel(e, &rest);
    pthread_cond_broadcast(&e->work);
    pthread_cond_signal(&e->news);
    pthread_mutex_unlock(&e->lock);
    run_finish(&r);
    task_destroy(t);
    garbage_free(&rest, e, true);
}
