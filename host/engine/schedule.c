/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what runs next: counts down what cells wait for, picks tasks, lets go of items. */
#include "config/natural.h"
#include "engine/state.h"

/* ---------------------------------------------------------------- cells that end */

static gint compare_parcels(gconstpointer a, gconstpointer b) {
    const parcel *x = *(const parcel *const *)a, *y = *(const parcel *const *)b;
    return natural_compare(x->key, y->key);
}

/* Nobody needs the items any more. */
static void release_items(engine *e, cell *c, GPtrArray *garbage) {
    for (size_t i = 0; i < c->stage->plan->cls->n_outputs; i++) {
        g_ptr_array_extend_and_steal(garbage, g_steal_pointer(&c->items[i]));
        c->items[i] = g_ptr_array_new_with_free_func(parcel_destroy);
    }
    if (c->counted) {
        c->counted = false;
        e->in_flight--;
    }
}

/* Every instance that is still open is ended by a task of its own. */
static void end_stage(engine *e, estage *s) {
    for (guint i = 0; i < s->all->len; i++) {
        instance *in = g_ptr_array_index(s->all, i);
        if (!in->opened)
            continue;
        task *t = task_create(TASK_END, s, NULL, "");
        t->instance = in;
        g_ptr_array_add(e->ready, t);
        e->tasks_left++;
    }
}

static void make_ready(engine *e, cell *c, GQueue *ended);

static void end_cell(cell *c, cell_state state, GQueue *ended) {
    c->state = state;
    for (size_t i = 0; i < c->stage->plan->cls->n_outputs; i++)
        g_ptr_array_sort(c->items[i], compare_parcels);
    g_queue_push_tail(ended, c);
}

/* Passes on that cells are final, until nothing more follows from it. A queue, not recursion: a
 * chain of cells may be as long as there are items. */
static void settle(engine *e, GQueue *ended, GPtrArray *garbage) {
    for (cell *c; (c = g_queue_pop_head(ended)) != NULL;) {
        e->cells_left--;
        if (c->state == CELL_SKIPPED)
            c->stage->outcome->skipped++;
        for (guint i = 0; i < c->feeds->len; i++) {
            cell *next = g_ptr_array_index(c->feeds, i);
            if (--next->waits == 0)
                make_ready(e, next, ended);
        }
        for (guint i = 0; i < c->takes->len; i++) {
            cell *from = g_ptr_array_index(c->takes, i);
            if (--from->keeps == 0)
                release_items(e, from, garbage);
        }
        if (c->keeps == 0)
            release_items(e, c, garbage);
        if (--c->stage->cells_left == 0)
            end_stage(e, c->stage);
    }
}

/* ---------------------------------------------------------------- cells that begin */

/* Of a SINGLE stage one task at a time is offered. */
static void offer_single(engine *e, estage *s) {
    if (s->busy || g_queue_is_empty(&s->ready))
        return;
    s->busy = true;
    g_ptr_array_add(e->ready, g_queue_pop_head(&s->ready));
}

static void offer(engine *e, task *t) {
    estage *s = t->stage;
    if (s->cls->flags & MILL_STAGE_SINGLE) {
        g_queue_push_tail(&s->ready, t);
        offer_single(e, s);
    } else if (s->plan->cls->n_inputs == 0 && s->plan->keyed) {
        g_queue_push_tail(&e->readers, t);
    } else {
        g_ptr_array_add(e->ready, t);
    }
    e->tasks_left++;
}

static void make_ready(engine *e, cell *c, GQueue *ended) {
    c->state = CELL_READY;
    g_autofree char *why = NULL;
    g_autoptr(GPtrArray) tasks = NULL;
    if (!c->stage->broken && __atomic_load_n(&e->asked, __ATOMIC_ACQUIRE) == ASK_NOTHING)
        tasks = bind_cell(c, &why);
    if (tasks == NULL && why != NULL) {
        causes chain;
        causes_init(&chain);
        causes_addf(&chain, MILL_E_CONFIG, "%s", why);
        engine_fail(e, c->stage->plan, c->key, MILL_E_CONFIG, &chain);
    }
    if (tasks == NULL || tasks->len == 0) {
        end_cell(c, tasks != NULL ? CELL_DONE : why != NULL ? CELL_FAILED : CELL_SKIPPED, ended);
        return;
    }
    c->tasks_left = tasks->len;
    g_ptr_array_set_free_func(tasks, NULL);
    for (guint i = 0; i < tasks->len; i++)
        offer(e, g_ptr_array_index(tasks, i));
}

void schedule_start(engine *e, GPtrArray *garbage) {
    GQueue ended = G_QUEUE_INIT;
    /* By stage, then key: readers are queued in this order. */
    for (unsigned i = 0; i < e->n_stages; i++)
        for (guint k = 0; k < e->stages[i].cells->len; k++) {
            cell *c = g_ptr_array_index(e->stages[i].cells, k);
            if (c->waits == 0 && c->takes->len == 0)
                make_ready(e, c, &ended);
        }
    settle(e, &ended, garbage);
}

/* ---------------------------------------------------------------- tasks */

/* The deepest first, so that items in flight are used up before new ones come in; then by stage and
 * key, for the sake of the order of output. */
static bool goes_before(const task *a, const task *b) {
    const plan_stage *x = a->stage->plan, *y = b->stage->plan;
    if (x->depth != y->depth)
        return x->depth > y->depth;
    if (x->index != y->index)
        return x->index < y->index;
    return a->cell != NULL && b->cell != NULL && a->cell->position < b->cell->position;
}

static instance *take_instance(estage *s) {
    if (s->idle->len > 0)
        return g_ptr_array_steal_index_fast(s->idle, s->idle->len - 1);
    instance *in = g_new0(instance, 1);
    in->stage = s;
    g_ptr_array_add(s->all, in);
    return in;
}

static task *start(engine *e, task *t) {
    e->active++;
    if (t->instance == NULL)
        t->instance = take_instance(t->stage);
    if (t->stage->plan->cls->n_inputs == 0 && t->stage->plan->keyed && t->cell != NULL &&
        !t->cell->counted) {
        t->cell->counted = true;
        e->in_flight++;
    }
    return t;
}

task *schedule_next(engine *e) {
    guint best = 0;
    for (guint i = 1; i < e->ready->len; i++)
        if (goes_before(g_ptr_array_index(e->ready, i), g_ptr_array_index(e->ready, best)))
            best = i;
    if (e->ready->len > 0)
        return start(e, g_ptr_array_steal_index_fast(e->ready, best));
    if (g_queue_is_empty(&e->readers))
        return NULL;
    /* A bound on memory, not a rule: where all items in flight wait for others, the next one
     * starts. */
    if (e->in_flight < e->options.jobs || e->active == 0)
        return start(e, g_queue_pop_head(&e->readers));
    return NULL;
}

/* Moves what a task posted into its cell. */
static void keep_outputs(task *t, GPtrArray **outputs, GPtrArray *garbage, bool ok) {
    for (size_t i = 0; i < t->stage->plan->cls->n_outputs; i++) {
        GPtrArray *to = ok ? t->cell->items[i] : garbage;
        g_ptr_array_extend_and_steal(to, g_steal_pointer(&outputs[i]));
    }
}

void schedule_ended(engine *e, task *t, mill_status status, GPtrArray **outputs,
                    GPtrArray *garbage) {
    GQueue ended = G_QUEUE_INIT;
    estage *s = t->stage;
    if (s->cls->flags & MILL_STAGE_SINGLE && t->kind != TASK_END) {
        s->busy = false;
        offer_single(e, s);
    }
    if (t->kind != TASK_END) {
        g_ptr_array_add(s->idle, t->instance);
        cell *c = t->cell;
        bool ok = status >= MILL_OK;
        keep_outputs(t, outputs, garbage, ok);
        if (ok)
            c->succeeded++;
        else
            g_ptr_array_add(c->lost, g_strdup(t->key));
        if (--c->tasks_left == 0)
            end_cell(c, c->succeeded > 0 ? CELL_DONE : CELL_FAILED, &ended);
    }
    e->tasks_left--;
    e->active--;
    settle(e, &ended, garbage);
}

static void give_up(engine *e, task *t, GQueue *ended) {
    cell *c = t->cell;
    g_ptr_array_add(c->lost, g_strdup(t->key));
    if (--c->tasks_left == 0)
        end_cell(c, c->succeeded > 0 ? CELL_DONE : CELL_SKIPPED, ended);
    e->tasks_left--;
    task_destroy(t);
}

void schedule_cancel(engine *e, GPtrArray *garbage) {
    GQueue ended = G_QUEUE_INIT;
    for (task *t; (t = g_queue_pop_head(&e->readers)) != NULL;)
        give_up(e, t, &ended);
    for (unsigned i = 0; i < e->n_stages; i++)
        for (task *t; (t = g_queue_pop_head(&e->stages[i].ready)) != NULL;)
            give_up(e, t, &ended);
    g_autoptr(GPtrArray) ends = g_ptr_array_new();
    for (guint i = 0; i < e->ready->len; i++) {
        task *t = g_ptr_array_index(e->ready, i);
        if (t->kind == TASK_END) {
            g_ptr_array_add(ends, t);
            continue;
        }
        if (t->stage->cls->flags & MILL_STAGE_SINGLE)
            t->stage->busy = false;
        give_up(e, t, &ended);
    }
    g_ptr_array_set_size(e->ready, 0);
    g_ptr_array_extend(e->ready, ends, NULL, NULL);
    settle(e, &ended, garbage);
}
