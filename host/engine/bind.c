/* SPDX-License-Identifier: Apache-2.0 */
/* Binds items to the ports of tasks: join by key, broadcast of what has none, fan-in. */
#include "config/natural.h"
#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

void parcel_destroy(gpointer data) {
    parcel *i = data;
    g_free(i->key);
    value_unref(i->value);
    g_free(i);
}

static void bound_clear(gpointer data) {
    value_unref(((bound *)data)->value);
}

task *task_create(task_kind kind, estage *s, cell *c, const char *key) {
    size_t n = s->plan->cls->n_inputs;
    task *t = g_new0(task, 1);
    t->kind = kind;
    t->stage = s;
    t->cell = c;
    t->key = g_strdup(key);
    t->ports = g_new0(GArray *, n + 1);
    t->missing = g_new0(GArray *, n + 1);
    for (size_t p = 0; p < n; p++) {
        t->ports[p] = g_array_new(FALSE, FALSE, sizeof(bound));
        g_array_set_clear_func(t->ports[p], bound_clear);
        /* Shared, since it does not change before the task has ended. */
        t->missing[p] =
            s->gone[p] != NULL ? g_array_ref(s->gone[p]) : g_array_new(FALSE, FALSE, sizeof(lost));
    }
    return t;
}

void task_drop_inputs(task *t) {
    for (size_t p = 0; p < t->stage->plan->cls->n_inputs; p++)
        g_array_set_size(t->ports[p], 0);
}

void task_destroy(task *t) {
    for (size_t p = 0; p < t->stage->plan->cls->n_inputs; p++) {
        g_array_unref(t->ports[p]);
        g_array_unref(t->missing[p]);
    }
    g_free(t->ports);
    g_free(t->missing);
    g_free(t->key);
    g_free(t);
}

static void bind_parcel(task *t, unsigned port, const parcel *i) {
    bound b = {value_ref(i->value), i->from->plan->name, i->key, i->type};
    g_array_append_val(t->ports[port], b);
}

/* Adds to `missing` what will not come from a cell. */
static void note_lost(GArray *missing, const cell *from) {
    for (guint i = 0; i < from->lost->len; i++) {
        lost one = {from->stage->plan->name, g_ptr_array_index(from->lost, i)};
        g_array_append_val(missing, one);
    }
}

static estage *stage_at(const cell *c, const plan_source *source) {
    return &c->stage->engine->stages[source->stage->index];
}

/* All items of all listed stages. */
static void bind_many(task *t, const cell *c, unsigned port) {
    const GArray *sources = c->stage->plan->inputs[port].sources;
    for (guint i = 0; i < sources->len; i++) {
        const plan_source *source = &g_array_index(sources, plan_source, i);
        const GPtrArray *cells = stage_at(c, source)->cells;
        for (guint k = 0; k < cells->len; k++) {
            const cell *from = g_ptr_array_index(cells, k);
            if (!cells_has_outputs(from))
                continue;
            const GPtrArray *items = from->items[source->output];
            for (guint j = 0; j < items->len; j++)
                bind_parcel(t, port, g_ptr_array_index(items, j));
            note_lost(t->missing[port], from);
        }
    }
}

/* The port's source cell where one item is taken for each key, or NULL. */
static const cell *joined_source(const cell *c, unsigned port, unsigned *ret_output) {
    const plan_stage *p = c->stage->plan;
    if ((p->cls->inputs[port].flags & (MILL_PORT_MANY | MILL_PORT_STREAM)) ||
        p->inputs[port].sources->len == 0)
        return NULL;
    const plan_source *source = &g_array_index(p->inputs[port].sources, plan_source, 0);
    *ret_output = source->output;
    return cells_source(stage_at(c, source), c->key);
}

static int compare_to_parcel(const void *key, const void *at) {
    return natural_compare(key, (*(const parcel *const *)at)->key);
}

/* The item for a task of that key: with the key it has, or the only one. NULL: there is none. */
static const parcel *find_parcel(const cell *from, unsigned output, const char *key) {
    const GPtrArray *items = from->items[output];
    if (items->len == 0)
        return NULL;
    if (!from->stage->plan->dynamic)
        return g_ptr_array_index(items, 0);
    const parcel **found =
        bsearch(key, items->pdata, items->len, sizeof *items->pdata, compare_to_parcel);
    return found != NULL ? *found : NULL;
}

static bool was_lost(const cell *from, const char *key) {
    return g_ptr_array_find_with_equal_func(from->lost, key, g_str_equal, NULL);
}

typedef enum fit { FITS, SKIP, UNFIT } fit;

/* Binds the ports that take one item for each key. */
static fit bind_joined(task *t, const cell *c, char **ret_why) {
    const stage_class *cls = c->stage->plan->cls;
    fit result = FITS;
    for (unsigned p = 0; p < cls->n_inputs; p++) {
        unsigned output;
        const cell *from = joined_source(c, p, &output);
        if (from == NULL)
            continue;
        const parcel *one = find_parcel(from, output, t->key);
        if (one != NULL)
            bind_parcel(t, p, one);
        else if (was_lost(from, t->key))
            return SKIP; /* not for want of a partner, whatever the other ports have */
        else if (cls->inputs[p].flags & MILL_PORT_OPTIONAL)
            continue;
        else if (!from->stage->plan->dynamic)
            return SKIP; /* an output that may be left unset, and was */
        else if (result == FITS) {
            *ret_why = g_strdup_printf("input \"%s\" takes the items of [%s] by key, and [%s] gave "
                                       "none with the key \"%s\"",
                                       cls->inputs[p].name, from->stage->plan->name,
                                       from->stage->plan->name, t->key);
            result = UNFIT;
        }
    }
    return result;
}

/* All keys that the items of the joined ports have or should have had, in natural order; where none
 * of them has keys of its own, the cell's. */
static GPtrArray *task_keys(const cell *c) {
    GPtrArray *keys = g_ptr_array_new();
    bool dynamic = false;
    for (unsigned p = 0; p < c->stage->plan->cls->n_inputs; p++) {
        unsigned output;
        const cell *from = joined_source(c, p, &output);
        if (from == NULL || !from->stage->plan->dynamic)
            continue;
        dynamic = true;
        for (guint i = 0; i < from->items[output]->len; i++)
            g_ptr_array_add(keys, ((parcel *)g_ptr_array_index(from->items[output], i))->key);
        g_ptr_array_extend(keys, from->lost, NULL, NULL);
    }
    if (!dynamic)
        g_ptr_array_add(keys, (gpointer)c->key);
    g_ptr_array_sort(keys, natural_compare_elements);
    return keys;
}

/* Of what the cell takes for itself (not by fan-in), the first that failed as a whole, or NULL. */
static const cell *failed_source(const cell *c) {
    for (unsigned p = 0; p < c->stage->plan->cls->n_inputs; p++) {
        unsigned output;
        const cell *from = joined_source(c, p, &output);
        if (from != NULL && from->state != CELL_DONE)
            return from;
    }
    return c->entry != NULL && c->entry->state != CELL_DONE ? c->entry : NULL;
}

static fit bind_task(task *t, const cell *c, char **ret_why) {
    const stage_class *cls = c->stage->plan->cls;
    for (unsigned p = 0; p < cls->n_inputs; p++) {
        if (!(cls->inputs[p].flags & MILL_PORT_MANY))
            continue;
        bind_many(t, c, p);
        /* With nothing left to work on, there is nothing to say. */
        if (t->ports[p]->len == 0 && t->missing[p]->len > 0)
            return SKIP;
    }
    return bind_joined(t, c, ret_why);
}

/* False: items do not fit together. */
static bool add_task(GPtrArray *tasks, cell *c, const char *key, const parcel *entry,
                     char **ret_why) {
    task *t = task_create(TASK_RUN, c->stage, c, key);
    if (entry != NULL)
        bind_parcel(t, c->entry_port, entry);
    fit fits = bind_task(t, c, ret_why);
    if (fits == FITS) {
        g_ptr_array_add(tasks, t);
        return true;
    }
    task_destroy(t);
    if (fits == SKIP)
        g_ptr_array_add(c->lost, g_strdup(key));
    return fits == SKIP;
}

static bool add_entries(GPtrArray *tasks, cell *c, char **ret_why) {
    const GPtrArray *items = c->entry->items[c->entry_output];
    for (guint i = 0; i < items->len; i++) {
        const parcel *one = g_ptr_array_index(items, i);
        if (!add_task(tasks, c, one->key, one, ret_why))
            return false;
    }
    return true;
}

static bool add_keys(GPtrArray *tasks, cell *c, char **ret_why) {
    g_autoptr(GPtrArray) keys = task_keys(c);
    for (guint i = 0; i < keys->len; i++) {
        const char *key = g_ptr_array_index(keys, i);
        bool again = i > 0 && strcmp(key, g_ptr_array_index(keys, i - 1)) == 0;
        if (!again && !add_task(tasks, c, key, NULL, ret_why))
            return false;
    }
    return true;
}

/* Was every item that a STREAM stage was to get lost? Then its end would make an empty output. */
static bool all_lost(const cell *last) {
    const GPtrArray *cells = last->stage->cells;
    for (guint i = 0; i < last->position; i++)
        if (((cell *)g_ptr_array_index(cells, i))->state == CELL_DONE)
            return false;
    return last->position > 0 && last->stage->all->len == 0;
}

/* The cells of a STREAM stage are bound one after another: each adds what the one before lacked. */
static void note_gone(cell *c) {
    if (!c->stage->plan->stream || c->position == 0)
        return;
    const cell *before = g_ptr_array_index(c->stage->cells, c->position - 1);
    note_lost(c->stage->gone[before->entry_port], before->entry);
}

GPtrArray *bind_cell(cell *c, char **ret_why) {
    note_gone(c);
    const cell *failed = failed_source(c);
    if (failed != NULL && failed->stage->plan->dynamic)
        for (guint i = 0; i < failed->lost->len; i++)
            g_ptr_array_add(c->lost, g_strdup(g_ptr_array_index(failed->lost, i)));
    if (failed != NULL || (c->last && all_lost(c)))
        return NULL;
    g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)task_destroy);
    bool fits = true;
    if (c->last)
        g_ptr_array_add(tasks, task_create(TASK_LAST, c->stage, c, ""));
    else
        fits = c->entry != NULL ? add_entries(tasks, c, ret_why) : add_keys(tasks, c, ret_why);
    if (!fits || (tasks->len == 0 && c->lost->len > 0))
        return NULL;
    return g_steal_pointer(&tasks);
}
