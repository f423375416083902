/* SPDX-License-Identifier: Apache-2.0 */
/* Which stages run once per key, and for which keys: known from the INI file and the names of
 * files. */
#include <string.h>

#include "check/build.h"
#include "config/natural.h"

/* A port that gets one item a run, of the run's own key. */
static const plan_source *joined(const plan_stage *s, size_t port) {
    if (s->cls->inputs[port].flags & (MILL_PORT_MANY | MILL_PORT_STREAM) ||
        s->inputs[port].sources->len == 0)
        return NULL;
    return &g_array_index(s->inputs[port].sources, plan_source, 0);
}

static bool gives_keys(const plan_source *source) {
    return source != NULL && (source->stage->keyed || source->stage->dynamic);
}

static bool has_key(const plan_stage *s, const char *key) {
    return g_ptr_array_find_with_equal_func(s->keys, key, g_str_equal, NULL);
}

static void add_keys(plan_stage *s, const plan_stage *from) {
    for (guint i = 0; i < from->keys->len; i++)
        if (!has_key(s, g_ptr_array_index(from->keys, i)))
            g_ptr_array_add(s->keys, g_strdup(g_ptr_array_index(from->keys, i)));
    g_ptr_array_sort(s->keys, natural_compare_elements);
}

static origin wire_origin(const build *b, const plan_stage *s, size_t port) {
    const section *sec = document_section(b->plan->doc, s->name);
    g_autofree char *key = g_strdup_printf("in.%s", s->cls->inputs[port].name);
    const setting *set = section_get(sec, key);
    set = set != NULL ? set : section_get(sec, "in");
    return set != NULL ? set->at : s->at;
}

/* Every required port must have an item for every key. */
static void check_join(build *b, const plan_stage *s) {
    for (size_t p = 0; p < s->cls->n_inputs; p++) {
        const plan_source *source = joined(s, p);
        if (!gives_keys(source) || s->cls->inputs[p].flags & MILL_PORT_OPTIONAL)
            continue;
        for (guint i = 0; i < s->keys->len; i++) {
            const char *key = g_ptr_array_index(s->keys, i);
            if (has_key(source->stage, key))
                continue;
            build_error(
                b, wire_origin(b, s, p),
                g_strdup("items are joined by key; both sides need the same ones"),
                "[%s] input \"%s\": [%s] has no item \"%s\", which another input of [%s] has",
                s->name, s->cls->inputs[p].name, source->stage->name, key, s->name);
            return;
        }
    }
}

static void find_keys(build *b, plan_stage *s) {
    s->keys = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < s->cls->n_outputs; i++)
        s->dynamic |= (s->cls->outputs[i].flags & MILL_PORT_ITEMS) != 0;
    if (s->stream) {
        g_ptr_array_add(s->keys, g_strdup(""));
        return;
    }
    s->keyed = s->glob >= 0;
    for (guint i = 0; s->files != NULL && i < s->files->len; i++)
        g_ptr_array_add(s->keys, g_strdup(((globs_file *)g_ptr_array_index(s->files, i))->key));
    for (size_t p = 0; p < s->cls->n_inputs; p++) {
        const plan_source *source = joined(s, p);
        if (!gives_keys(source))
            continue;
        s->dynamic |= source->stage->dynamic;
        s->keyed = true;
        if (s->glob < 0)
            add_keys(s, source->stage);
    }
    if (!s->keyed)
        g_ptr_array_add(s->keys, g_strdup(""));
    check_join(b, s);
}

void build_keys(build *b) {
    for (guint i = 0; i < b->plan->ordered->len; i++)
        find_keys(b, g_ptr_array_index(b->plan->ordered, i));
}
