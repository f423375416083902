/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what runs next: counts down what cells wait for, picks tasks, lets go of items. */
#include "config/natural.h"
#include "engine/state.h"

/* ---------------------------------------------------------------- tasks that may begin */

/* The deepest first, so that items in flight are used up before new ones come in; then by stage and
 * key, for the sake of the order of output. */
static gint compare_ready(gconstpointer a, gconstpointer b, gpointer unused) {
    const task *x = a, *y = b;
    const plan_stage *p = x->stage->plan, *q = y->stage->plan;
    (void)unused;
    if (p->depth != q->depth)
        return p->depth > q->depth ? -1 : 1;
    if (p->index != q->index)
        return p->index < q->index ? -1 : 1;
    return natural_compare(x->key, y->key);
}

/* By key, then by stage, so that items of several readers that are joined come in together. */
static gint compare_readers(gconstpointer a, gconstpointer b, gpointer unused) {
    const task *x = a, *y = b;
    (void)unused;
    int order = natural_compare(x->key, y->key);
    return order != 0 ? order : (int)x->stage->plan->index - (int)y->stage->plan->index;
}

static void enqueue(engine *e, task *t) {
    bool brings_in = t->stage->plan->glob >= 0 && t->kind == TASK_RUN;
    g_sequence_insert_sorted(brings_in ? e->readers : e->ready, t,
                             brings_in ? compare_readers : compare_ready, NULL);
}

/* Of a SINGLE stage one task at a time is offered. */
static void offer_single(engine *e, estage *s) {
    if (s->busy || g_queue_is_empty(&s->ready))
        return;
    s->busy = true;
    enqueue(e, g_queue_pop_head(&s->ready));
}

static void offer(engine *e, task *t) {
    e->tasks_left++;
    if (t->kind == TASK_END || !(t->stage->cls->flags & MILL_STAGE_SINGLE)) {
        enqueue(e, t);
        return;
    }
    g_queue_push_tail(&t->stage->ready, t);
    offer_single(e, t->stage);
}

/* ---------------------------------------------------------------- what is no longer needed */

void garbage_init(garbage *rest) {
    *rest = (garbage){.parcels = g_ptr_array_new_with_free_func(parcel_destroy)};
}

void garbage_free(garbage *rest, engine *e, bool ends_task) {
    g_ptr_array_unref(rest->parcels);
    if (rest->cells == 0 && !ends_task)
        return;
    /* Only now there is room for new items. */
    pthread_mutex_lock(&e->lock);
    e->in_flight -= rest->cells;
    e->stuck = MIN(e->stuck, e->in_flight);
    if (ends_task)
        e->active--;
    pthread_cond_broadcast(&e->work);
    pthread_mutex_unlock(&e->lock);
}

/* ---------------------------------------------------------------- cells that end */

static gint compare_parcels(gconstpointer a, gconstpointer b) {
    const parcel *x = *(const parcel *const *)a, *y = *(const parcel *const *)b;
    return natural_compare(x->key, y->key);
}

/* Nobody needs the items any more. */
static void release_items(cell *c, garbage *rest) {
    for (size_t i = 0; i < c->stage->plan->cls->n_outputs; i++) {
        g_ptr_array_extend_and_steal(rest->parcels, g_steal_pointer(&c->items[i]));
        c->items[i] = g_ptr_array_new_with_free_func(parcel_destroy);
    }
    if (c->counted) {
        c->counted = false;
        rest->cells++;
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
        s->ends_left++;
        offer(e, t);
    }
}

static void make_ready(engine *e, cell *c, GQueue *ended);

static gint compare_prints(gconstpointer a, gconstpointer b) {
    const print *x = *(const print *const *)a, *y = *(const print *const *)b;
    return natural_compare(y->key, x->key);
}

static void end_cell(cell *c, cell_state state, GQueue *ended) {
    c->state = state;
    if (!c->last) /* the end of a STREAM stage is no run */
        c->stage->outcome->skipped += c->lost->len - c->failed;
    g_ptr_array_sort(c->lost, natural_compare_elements);
    g_ptr_array_sort(c->prints, compare_prints);
    for (size_t i = 0; i < c->stage->plan->cls->n_outputs; i++)
        g_ptr_array_sort(c->items[i], compare_parcels);
    g_queue_push_tail(ended, c);
}

/* Passes on that cells are final, until nothing more follows from it. A queue, not recursion: a
 * chain of cells may be as long as there are items. */
static void settle(engine *e, GQueue *ended, garbage *rest) {
    for (cell *c; (c = g_queue_pop_head(ended)) != NULL;) {
        e->cells_left--;
        for (guint i = 0; i < c->feeds->len; i++) {
            cell *next = g_ptr_array_index(c->feeds, i);
            if (--next->waits == 0)
                make_ready(e, next, ended);
        }
        for (guint i = 0; i < c->takes->len; i++) {
            cell *from = g_ptr_array_index(c->takes, i);
            if (--from->keeps == 0)
                release_items(from, rest);
        }
        if (c->keeps == 0)
            release_items(c, rest);
        if (--c->stage->cells_left == 0)
            end_stage(e, c->stage);
    }
}

/* ---------------------------------------------------------------- cells that begin */

/* NULL: there is nothing to do for the cell, and `lost` says what it will not make. */
static GPtrArray *make_tasks(engine *e, cell *c) {
    g_autofree char *why = NULL;
    g_autoptr(GPtrArray) tasks = e->asked == ASK_NOTHING ? bind_cell(c, &why) : NULL;
    if (why != NULL) {
        engine_fail_text(e, c->stage->plan, c->key, MILL_E_CONFIG, why);
        c->stage->outcome->failed++;
        c->failed++;
        g_ptr_array_set_size(c->lost, 0);
    }
    if (tasks == NULL && c->lost->len == 0)
        g_ptr_array_add(c->lost, g_strdup(c->key));
    if (tasks == NULL || tasks->len == 0 || !c->stage->broken)
        return g_steal_pointer(&tasks);
    for (guint i = 0; i < tasks->len; i++)
        g_ptr_array_add(c->lost, g_strdup(((task *)g_ptr_array_index(tasks, i))->key));
    return NULL;
}

static void make_ready(engine *e, cell *c, GQueue *ended) {
    c->state = CELL_READY;
    g_autoptr(GPtrArray) tasks = make_tasks(e, c);
    if (tasks == NULL || tasks->len == 0) {
        end_cell(c, tasks != NULL ? CELL_DONE : c->failed > 0 ? CELL_FAILED : CELL_SKIPPED, ended);
        return;
    }
    c->tasks_left = tasks->len;
    g_ptr_array_set_free_func(tasks, NULL);
    for (guint i = 0; i < tasks->len; i++)
        offer(e, g_ptr_array_index(tasks, i));
}

void schedule_start(engine *e, garbage *rest) {
    GQueue ended = G_QUEUE_INIT;
    for (unsigned i = 0; i < e->n_stages; i++)
        for (guint k = 0; k < e->stages[i].cells->len; k++) {
            cell *c = g_ptr_array_index(e->stages[i].cells, k);
            if (c->waits == 0 && c->takes->len == 0)
                make_ready(e, c, &ended);
        }
    settle(e, &ended, rest);
}

/* ---------------------------------------------------------------- tasks */

static instance *take_instance(estage *s) {
    if (s->idle->len > 0)
        return g_ptr_array_steal_index_fast(s->idle, s->idle->len - 1);
    instance *in = g_new0(instance, 1);
    in->stage = s;
    g_ptr_array_add(s->all, in);
    return in;
}

static task *start(engine *e, GSequence *from) {
    GSequenceIter *first = g_sequence_get_begin_iter(from);
    task *t = g_sequence_get(first);
    g_sequence_remove(first);
    e->active++;
    if (t->instance == NULL)
        t->instance = take_instance(t->stage);
    if (from == e->readers && !t->cell->counted) {
        t->cell->counted = true;
        e->in_flight++;
    }
    return t;
}

task *schedule_next(engine *e) {
    if (!g_sequence_is_empty(e->ready))
        return start(e, e->ready);
    if (g_sequence_is_empty(e->readers))
        return NULL;
    /* A bound on memory, not a rule: where nothing can run, all items in flight wait for others. */
    if (e->active == 0)
        e->stuck = e->in_flight;
    return e->in_flight - e->stuck < e->options.jobs ? start(e, e->readers) : NULL;
}

/* Moves what a task posted into its cell. */
static void keep_outputs(task *t, GPtrArray **outputs, garbage *rest, bool ok) {
    for (size_t i = 0; i < t->stage->plan->cls->n_outputs; i++) {
        GPtrArray *to = ok ? t->cell->items[i] : rest->parcels;
        g_ptr_array_extend_and_steal(to, g_steal_pointer(&outputs[i]));
    }
}

void schedule_ended(engine *e, task *t, mill_status status, GPtrArray **outputs, garbage *rest) {
    GQueue ended = G_QUEUE_INIT;
    estage *s = t->stage;
    if (s->cls->flags & MILL_STAGE_SINGLE && t->kind != TASK_END) {
        s->busy = false;
        offer_single(e, s);
    }
    if (t->kind == TASK_END) {
        s->ends_left--;
    } else {
        g_ptr_array_add(s->idle, t->instance);
        cell *c = t->cell;
        bool ok = status >= MILL_OK;
        keep_outputs(t, outputs, rest, ok);
        if (ok)
            c->succeeded++;
        else
            g_ptr_array_add(c->lost, g_strdup(t->key));
        if (--c->tasks_left == 0)
            end_cell(c, c->succeeded > 0 ? CELL_DONE : CELL_FAILED, &ended);
    }
    e->tasks_left--;
    settle(e, &ended, rest);
}

static void give_up(engine *e, task *t, GQueue *ended) {
    cell *c = t->cell;
    g_ptr_array_add(c->lost, g_strdup(t->key));
    if (--c->tasks_left == 0)
        end_cell(c, c->succeeded > 0 ? CELL_DONE : CELL_SKIPPED, ended);
    e->tasks_left--;
    task_destroy(t);
}

static void give_up_all(engine *e, GSequence *tasks, GQueue *ended) {
    for (GSequenceIter *i = g_sequence_get_begin_iter(tasks), *next; !g_sequence_iter_is_end(i);
         i = next) {
        next = g_sequence_iter_next(i);
        task *t = g_sequence_get(i);
        if (t->kind == TASK_END)
            continue;
        g_sequence_remove(i);
        t->stage->busy = false;
        give_up(e, t, ended);
    }
}

void schedule_cancel(engine *e, garbage *rest) {
    GQueue ended = G_QUEUE_INIT;
    for (unsigned i = 0; i < e->n_stages; i++)
        for (task *t; (t = g_queue_pop_head(&e->stages[i].ready)) != NULL;)
            give_up(e, t, &ended);
    give_up_all(e, e->readers, &ended);
    give_up_all(e, e->ready, &ended);
    settle(e, &ended, rest);
}
