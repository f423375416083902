/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a plan's connections into cells, and says which waits for which. */
#include "config/natural.h"
#include "engine/state.h"
#include "types/types.h"

void print_destroy(gpointer data) {
    print *p = data;
    if (p == NULL)
        return;
    g_free(p->key);
    spool_destroy(p->out);
    g_free(p);
}

static cell *cell_create(estage *s, const char *key) {
    cell *c = g_new0(cell, 1);
    c->stage = s;
    c->key = key;
    c->position = s->cells->len;
    c->takes = g_ptr_array_new();
    c->feeds = g_ptr_array_new();
    c->lost = g_ptr_array_new_with_free_func(g_free);
    c->prints = g_ptr_array_new_with_free_func(print_destroy);
    c->items = g_new0(GPtrArray *, s->plan->cls->n_outputs);
    for (size_t i = 0; i < s->plan->cls->n_outputs; i++)
        c->items[i] = g_ptr_array_new_with_free_func(parcel_destroy);
    g_ptr_array_add(s->cells, c);
    return c;
}

static void cell_destroy(gpointer data) {
    cell *c = data;
    g_ptr_array_unref(c->takes);
    g_ptr_array_unref(c->feeds);
    g_ptr_array_unref(c->lost);
    for (size_t i = 0; i < c->stage->plan->cls->n_outputs; i++)
        g_ptr_array_unref(c->items[i]);
    g_free(c->items);
    g_ptr_array_unref(c->prints);
    g_free(c);
}

static void take(cell *c, cell *from) {
    g_ptr_array_add(c->takes, from);
    g_ptr_array_add(from->feeds, c);
    c->waits++;
    from->keeps++;
}

/* Comes after another cell without needing its items. */
static void follow(cell *c, cell *before) {
    g_ptr_array_add(before->feeds, c);
    c->waits++;
}

static estage *stage_of(engine *e, const plan_stage *p) {
    return &e->stages[p->index];
}

cell *cells_source(const estage *s, const char *key) {
    return g_hash_table_lookup(s->by_key, s->plan->keyed ? key : "");
}

bool cells_has_outputs(const cell *c) {
    return !c->stage->plan->stream || c->last;
}

/* Everything but the STREAM port. */
static void take_ports(engine *e, cell *c) {
    const stage_class *cls = c->stage->plan->cls;
    for (size_t p = 0; p < cls->n_inputs; p++) {
        const GArray *sources = c->stage->plan->inputs[p].sources;
        if (cls->inputs[p].flags & MILL_PORT_STREAM)
            continue;
        for (guint i = 0; i < sources->len; i++) {
            estage *from = stage_of(e, g_array_index(sources, plan_source, i).stage);
            if (cls->inputs[p].flags & MILL_PORT_MANY) {
                for (guint k = 0; k < from->cells->len; k++)
                    if (cells_has_outputs(g_ptr_array_index(from->cells, k)))
                        take(c, g_ptr_array_index(from->cells, k));
            } else {
                cell *one = cells_source(from, c->key);
                if (one != NULL)
                    take(c, one);
            }
        }
    }
}

/* Where a STREAM port's items come from, and where they stand in its order. */
typedef struct entry {
    cell *from;
    unsigned port, output, listed;
} entry;

/* By key, then as listed; what has no key sums up the rest and comes last. */
static gint compare_entries(gconstpointer a, gconstpointer b) {
    const entry *x = a, *y = b;
    bool x_keyed = *x->from->key != '\0', y_keyed = *y->from->key != '\0';
    if (x_keyed != y_keyed)
        return x_keyed ? -1 : 1;
    int order = natural_compare(x->from->key, y->from->key);
    return order != 0 ? order : (x->listed > y->listed) - (x->listed < y->listed);
}

static GArray *stream_entries(engine *e, const plan_stage *p) {
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(entry));
    for (unsigned port = 0; port < p->cls->n_inputs; port++) {
        if (!(p->cls->inputs[port].flags & MILL_PORT_STREAM))
            continue;
        for (guint i = 0; i < p->inputs[port].sources->len; i++) {
            plan_source source = g_array_index(p->inputs[port].sources, plan_source, i);
            const GPtrArray *cells = stage_of(e, source.stage)->cells;
            for (guint k = 0; k < cells->len; k++) {
                entry added = {g_ptr_array_index(cells, k), port, source.output, port << 16 | i};
                if (cells_has_outputs(added.from))
                    g_array_append_val(entries, added);
            }
        }
    }
    g_array_sort(entries, compare_entries);
    return entries;
}

static void build_stream(engine *e, estage *s) {
    g_autoptr(GArray) entries = stream_entries(e, s->plan);
    cell *before = NULL;
    for (guint i = 0; i < entries->len; i++) {
        const entry *one = &g_array_index(entries, entry, i);
        cell *c = cell_create(s, one->from->key);
        c->entry = one->from;
        c->entry_port = one->port;
        c->entry_output = one->output;
        take(c, one->from);
        take_ports(e, c);
        if (before != NULL)
            follow(c, before);
        before = c;
    }
    cell *last = cell_create(s, "");
    last->last = true;
    if (before != NULL)
        follow(last, before);
    g_hash_table_insert(s->by_key, (gpointer)last->key, last);
}

static void build_keys(engine *e, estage *s) {
    cell *before = NULL;
    for (guint i = 0; i < s->plan->keys->len; i++) {
        cell *c = cell_create(s, g_ptr_array_index(s->plan->keys, i));
        take_ports(e, c);
        /* SINGLE: one after another, in the order of keys. */
        if (before != NULL && (s->cls->flags & MILL_STAGE_SINGLE))
            follow(c, before);
        before = c;
        g_hash_table_insert(s->by_key, (gpointer)c->key, c);
    }
}

static void stage_init(engine *e, estage *s, const plan_stage *p) {
    s->engine = e;
    s->plan = p;
    s->cls = &p->cls->stage;
    s->outcome = &e->outcome->stages[p->index];
    s->outcome->stage = p;
    s->cells = g_ptr_array_new_with_free_func(cell_destroy);
    s->by_key = g_hash_table_new(g_str_hash, g_str_equal);
    s->idle = g_ptr_array_new();
    s->all = g_ptr_array_new();
    g_queue_init(&s->ready);
    s->gone = g_new0(GArray *, p->cls->n_inputs + 1);
    for (size_t i = 0; i < p->cls->n_inputs; i++)
        if (p->cls->inputs[i].flags & MILL_PORT_STREAM)
            s->gone[i] = g_array_new(FALSE, FALSE, sizeof(lost));
    s->output_types = g_new0(const mill_type *, p->cls->n_outputs + 1);
    for (size_t i = 0; i < p->cls->n_outputs; i++) {
        const char *id = p->cls->outputs[i].type;
        s->output_types[i] = types_find(id);
        if (s->output_types[i] == NULL)
            s->output_types[i] = modules_type(e->plan->modules, p->cls->module, id);
    }
}

void cells_build(engine *e) {
    e->n_stages = e->plan->stages->len;
    e->stages = g_new0(estage, e->n_stages);
    for (guint i = 0; i < e->plan->ordered->len; i++) {
        const plan_stage *p = g_ptr_array_index(e->plan->ordered, i);
        estage *s = stage_of(e, p);
        stage_init(e, s, p);
        if (p->stream)
            build_stream(e, s);
        else
            build_keys(e, s);
        s->cells_left = s->cells->len;
        e->cells_left += s->cells->len;
    }
}

void cells_destroy(engine *e) {
    for (unsigned i = 0; i < e->n_stages; i++) {
        estage *s = &e->stages[i];
        g_ptr_array_unref(s->cells);
        g_hash_table_unref(s->by_key);
        g_ptr_array_unref(s->idle);
        for (guint k = 0; k < s->all->len; k++)
            g_free(g_ptr_array_index(s->all, k));
        g_ptr_array_unref(s->all);
        for (size_t k = 0; k < s->plan->cls->n_inputs; k++)
            g_clear_pointer(&s->gone[k], g_array_unref);
        g_free(s->gone);
        g_free(s->output_types);
        print_destroy(s->print);
    }
    g_free(e->stages);
}
