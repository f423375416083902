/* SPDX-License-Identifier: Apache-2.0 */
/* Binds items to the ports of tasks: join by key, broadcast of what has none, fan-in. */
#include "config/natural.h"
#include "engine/state.h"

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
        t->missing[p] = g_array_new(FALSE, FALSE, sizeof(lost));
    }
    return t;
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

static void bind_lost(task *t, unsigned port, const cell *from) {
    const char *stage = from->stage->plan->name;
    for (guint i = 0; i < from->lost->len; i++) {
        lost one = {stage, g_ptr_array_index(from->lost, i)};
        g_array_append_val(t->missing[port], one);
    }
    if (from->state != CELL_DONE && from->lost->len == 0) {
        lost one = {stage, from->key};
        g_array_append_val(t->missing[port], one);
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
            bind_lost(t, port, from);
        }
    }
}

/* What a STREAM stage's `run` or `finish` is told of items that will not come: up to cell c. */
static void bind_stream_lost(task *t, const cell *c) {
    const GPtrArray *cells = c->stage->cells;
    for (guint i = 0; i < c->position; i++) {
        const cell *earlier = g_ptr_array_index(cells, i);
        bind_lost(t, earlier->entry_port, earlier->entry);
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

static const parcel *find_parcel(const GPtrArray *items, const char *key) {
    for (guint i = 0; i < items->len; i++)
        if (strcmp(((const parcel *)g_ptr_array_index(items, i))->key, key) == 0)
            return g_ptr_array_index(items, i);
    return NULL;
}

static bool was_lost(const cell *from, const char *key) {
    for (guint i = 0; i < from->lost->len; i++)
        if (strcmp(g_ptr_array_index(from->lost, i), key) == 0)
            return true;
    return false;
}

typedef enum fit { FITS, SKIP, UNFIT } fit;

/* Binds the ports that take one item for each key. */
static fit bind_joined(task *t, const cell *c, char **ret_why) {
    const stage_class *cls = c->stage->plan->cls;
    for (unsigned p = 0; p < cls->n_inputs; p++) {
        unsigned output;
        const cell *from = joined_source(c, p, &output);
        if (from == NULL)
            continue;
        const GPtrArray *items = from->items[output];
        const parcel *one = from->stage->plan->dynamic ? find_parcel(items, t->key)
                            : items->len > 0           ? g_ptr_array_index(items, 0)
                                                       : NULL;
        if (one != NULL) {
            bind_parcel(t, p, one);
        } else if (was_lost(from, t->key) || !from->stage->plan->dynamic) {
            if (!(cls->inputs[p].flags & MILL_PORT_OPTIONAL))
                return SKIP;
        } else if (!(cls->inputs[p].flags & MILL_PORT_OPTIONAL)) {
            *ret_why = g_strdup_printf("input \"%s\" takes the items of [%s] by key, and [%s] gave "
                                       "none with the key \"%s\"",
                                       cls->inputs[p].name, from->stage->plan->name,
                                       from->stage->plan->name, t->key);
            return UNFIT;
        }
    }
    return FITS;
}

static gint compare_keys(gconstpointer a, gconstpointer b) {
    return natural_compare(*(const char *const *)a, *(const char *const *)b);
}

/* All keys that the items of the joined ports have, in natural order; where none of them has keys
 * of its own, the cell's. */
static GPtrArray *task_keys(const cell *c) {
    GPtrArray *keys = g_ptr_array_new();
    bool dynamic = false;
    for (unsigned p = 0; p < c->stage->plan->cls->n_inputs; p++) {
        unsigned output;
        const cell *from = joined_source(c, p, &output);
        if (from == NULL || !from->stage->plan->dynamic)
            continue;
        dynamic = true;
        for (guint i = 0; i < from->items[output]->len; i++) {
            const char *key = ((parcel *)g_ptr_array_index(from->items[output], i))->key;
            if (!g_ptr_array_find_with_equal_func(keys, key, g_str_equal, NULL))
                g_ptr_array_add(keys, (gpointer)key);
        }
    }
    if (!dynamic)
        g_ptr_array_add(keys, (gpointer)c->key);
    g_ptr_array_sort(keys, compare_keys);
    return keys;
}

/* Of what the cell takes for itself (not by fan-in), did something fail as a whole? */
static bool needs_failed(const cell *c) {
    for (unsigned p = 0; p < c->stage->plan->cls->n_inputs; p++) {
        unsigned output;
        const cell *from = joined_source(c, p, &output);
        if (from != NULL && from->state != CELL_DONE)
            return true;
    }
    return c->entry != NULL && c->entry->state != CELL_DONE;
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
    if (c->stage->plan->stream)
        bind_stream_lost(t, c);
    return bind_joined(t, c, ret_why);
}

/* Did every item that a STREAM stage was to get fail? Then its end would make an empty output. */
static bool all_lost(const cell *last) {
    const GPtrArray *cells = last->stage->cells;
    for (guint i = 0; i < last->position; i++)
        if (((cell *)g_ptr_array_index(cells, i))->state == CELL_DONE)
            return false;
    return last->position > 0;
}

static GPtrArray *bind_stream(cell *c, char **ret_why) {
    g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)task_destroy);
    const GPtrArray *items = c->entry->items[c->entry_output];
    for (guint i = 0; i < items->len; i++) {
        const parcel *one = g_ptr_array_index(items, i);
        task *t = task_create(TASK_RUN, c->stage, c, one->key);
        g_ptr_array_add(tasks, t);
        bind_parcel(t, c->entry_port, one);
        if (bind_task(t, c, ret_why) != FITS)
            return NULL;
    }
    return g_steal_pointer(&tasks);
}

static GPtrArray *bind_keys(cell *c, char **ret_why) {
    g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)task_destroy);
    g_autoptr(GPtrArray) keys = task_keys(c);
    for (guint i = 0; i < keys->len; i++) {
        task *t = task_create(TASK_RUN, c->stage, c, g_ptr_array_index(keys, i));
        g_ptr_array_add(tasks, t);
        fit fits = bind_task(t, c, ret_why);
        if (fits == UNFIT || (fits == SKIP && keys->len == 1))
            return NULL;
        if (fits == SKIP) {
            g_ptr_array_add(c->lost, g_strdup(t->key));
            g_ptr_array_set_size(tasks, (gint)tasks->len - 1);
        }
    }
    return g_steal_pointer(&tasks);
}

GPtrArray *bind_cell(cell *c, char **ret_why) {
    if (needs_failed(c) || (c->last && all_lost(c)))
        return NULL;
    if (c->entry != NULL)
        return bind_stream(c, ret_why);
    if (!c->last)
        return bind_keys(c, ret_why);
    g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)task_destroy);
    task *t = task_create(TASK_LAST, c->stage, c, "");
    g_ptr_array_add(tasks, t);
    bind_stream_lost(t, c);
    return g_steal_pointer(&tasks);
}
