/* SPDX-License-Identifier: Apache-2.0 */
/* Performs one task: the life of an instance, callback by callback, here or in its own process. */
#include "engine/state.h"

#include "isolate/peer.h"

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

/* The process of the instance is gone, and with it all state. The next item of a keyed stage gets a
 * new one; where results are carried from item to item, nothing more can be right. */
static void lose_instance(run *r) {
    run_sinks_end(r, false);
    callback_release(r);
    r->instance->opened = false;
    if (!stage_sinks_per_run(r->plan))
        set_broken(r);
}

static mill_status call(run *r, callback what) {
    if (!r->plan->isolate)
        return callback_call(r, what);
    if (what != CALLBACK_OPEN && r->instance->peer == NULL)
        return MILL_OK; /* it has died, which is told */
    mill_status status = r->instance->peer == NULL ? peer_begin(r) : MILL_OK;
    if (status == MILL_OK) {
        const char *before = callback_enter(r);
        status = peer_call(r, what);
        callback_leave(r, before);
        if (what != CALLBACK_CLOSE)
            status = callback_judge(r, callback_names[what], status);
    }
    run_callback_ended(r, status);
    if (r->instance->peer == NULL)
        lose_instance(r);
    return status;
}

static mill_status begin(run *r) {
    instance *in = r->instance;
    if (is_broken(r))
        return MILL_E_CANCELLED;
    if (in->opened)
        return MILL_OK;
    in->opened = true;
    mill_status status = call(r, CALLBACK_OPEN);
    in->usable = status >= MILL_OK;
    /* Of several instances that fail at a time, one says so. */
    return in->usable || !set_broken(r) ? status : MILL_E_CANCELLED;
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
    bool whole = in->usable && !cut && run_asked(r) == ASK_NOTHING;
    mill_status finished = MILL_OK;
    if (whole && (status >= MILL_OK || !owes_outputs)) {
        r->may_output = owes_outputs;
        finished = call(r, CALLBACK_FINISH);
        r->may_output = false;
        if (owes_outputs && finished >= MILL_OK)
            finished = worse(finished, check_outputs(r));
    }
    status = worse(status, finished);
    status = worse(status, run_sinks_end(r, whole && finished >= MILL_OK));
    status = worse(status, call(r, CALLBACK_CLOSE));
    if (r->plan->isolate)
        status = worse(status, peer_end(r));
    callback_release(r);
    in->opened = false;
    return status;
}

static mill_status run_item(run *r) {
    r->may_output = !r->plan->stream;
    mill_status status = call(r, CALLBACK_RUN);
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
