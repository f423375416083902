/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a plugin's callbacks in this process, with inputs and options as they want them, and holds
 * what comes back to the contract. */
#include <string.h>
#include <tracemill/report.h>

#include "config/units.h"
#include "engine/crash.h"
#include "engine/state.h"
#include "engine/transfer.h"
#include "isolate/page.h"
#include "types/types.h"

typedef mill_status (*callback_fn)(mill_run *, const void *, void *);

const char *const callback_names[] = {"open", "run", "finish", "close", "check"};

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
mill_status callback_judge(run *r, const char *what, mill_status status) {
    int asked = run_asked(r);
    if (r->contract_broken)
        return MILL_E_PLUGIN;
    if (!is_status(status))
        return run_bug(r, "returned %d from `%s`, which is no status", (int)status, what);
    if (r->page != NULL && asked != ASK_NOTHING) /* the host knows why, and judges for itself */
        return status;
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
const char *callback_enter(run *r) {
    r->began_ns = now_ns();
    set_deadline(r, r->plan->timeout_ns > 0 ? r->began_ns + r->plan->timeout_ns : 0);
    return crash_note(r->note);
}

void callback_leave(run *r, const char *before) {
    crash_note(before);
    set_deadline(r, 0);
    r->busy_ns += now_ns() - r->began_ns;
}

static mill_status call(run *r, const char *what, callback_fn fn, const void *opts) {
    if (fn == NULL)
        return MILL_OK;
    const char *before = callback_enter(r);
    mill_status status = fn(&r->public, opts, r->instance->state);
    callback_leave(r, before);
    status = callback_judge(r, what, status);
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
    const char *before = callback_enter(r);
    mill_status status = b->value->type->to_report(&r->public, b->value->data, &report);
    callback_leave(r, before);
    if (is_status(status) && status < MILL_OK && status != MILL_E_CANCELLED &&
        causes_empty(&r->causes))
        status = type_bug(r, b, "failed and said no cause");
    status = callback_judge(r, "to_report", status);
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

/* ---------------------------------------------------------------- what is called */

static void forget_values(run *r) {
    guint n = r->instance->making != NULL ? g_hash_table_size(r->instance->making) : 0;
    if (n > 0 && !r->contract_broken && r->instance->usable && run_asked(r) == ASK_NOTHING) {
        g_autofree char *text =
            g_strdup_printf("class %s began %u value%s that it never posted; the host has freed %s",
                            r->plan->cls->stage.name, n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
        console_log(r->plan->name, r->key, MILL_DEBUG, text);
    }
    g_clear_pointer(&r->instance->making, g_hash_table_unref);
}

static mill_status call_run(run *r) {
    g_autoptr(GPtrArray) memory = g_ptr_array_new_with_free_func(g_free);
    mill_status status = transfer_load_inputs(r);
    if (status == MILL_OK)
        status = convert_inputs(r);
    return status < MILL_OK ? status
                            : call(r, "run", r->plan->cls->stage.run, run_options(r, memory));
}

static mill_status call_check(run *r) {
    const char *before = crash_note(r->note);
    mill_status status = r->plan->cls->stage.check(&r->public, r->plan->opts);
    crash_note(before);
    return status;
}

static mill_status call_close(run *r) {
    if (r->plan->cls->stage.close != NULL) {
        const char *before = callback_enter(r);
        r->plan->cls->stage.close(&r->public, r->instance->state);
        callback_leave(r, before);
        run_callback_ended(r, MILL_OK);
    }
    return r->contract_broken ? MILL_E_PLUGIN : MILL_OK;
}

mill_status callback_call(run *r, callback what) {
    const mill_stage *class = &r->plan->cls->stage;
    switch (what) {
    case CALLBACK_OPEN:
        r->instance->state = g_malloc0(class->state_size + 1);
        return call(r, "open", class->open, r->plan->opts);
    case CALLBACK_RUN:
        return call_run(r);
    case CALLBACK_FINISH:
        return call(r, "finish", class->finish, r->plan->opts);
    case CALLBACK_CHECK:
        return call_check(r);
    default:
        return call_close(r);
    }
}

void callback_release(run *r) {
    instance *in = r->instance;
    forget_values(r);
    g_clear_pointer(&in->held, g_hash_table_unref);
    g_clear_pointer(&in->regexes, g_ptr_array_unref);
    g_clear_pointer(&in->sinks, g_ptr_array_unref);
    g_clear_pointer(&in->state, g_free);
}
