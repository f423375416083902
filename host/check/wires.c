/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of a plan: what each stage takes from which, and that the types fit. */
#include <string.h>

#include "check/build.h"
#include "config/suggest.h"
#include "types/types.h"

#include <tracemill/report.h>

/* ---------------------------------------------------------------- names for messages */

static char *port_names(const mill_port *ports, size_t n) {
    GString *names = g_string_new(NULL);
    for (size_t i = 0; i < n; i++)
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", ports[i].name);
    return g_string_free(names, FALSE);
}

/* Sections whose class was not found are meant, too. */
static char *stage_hint(const build *b, const char *name) {
    const GPtrArray *sections = b->plan->doc->sections;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < sections->len; i++) {
        const char *one = ((const section *)sections->pdata[i])->name;
        if (build_is_stage(one))
            g_ptr_array_add(names, (gpointer)one);
    }
    g_ptr_array_add(names, NULL);
    const char *near = suggest_nearest(name, (const char *const *)names->pdata);
    if (near == NULL)
        return NULL;
    g_autofree char *at = origin_format(document_section(b->plan->doc, near)->at);
    return g_strdup_printf("did you mean \"%s\" (%s)?", near, at);
}

/* ---------------------------------------------------------------- one connection */

/* A setting that connects: its stage, its port, and how it is called in messages ("in.load"). */
typedef struct wire {
    build *b;
    plan_stage *to;
    unsigned port;
    const setting *set;
} wire;

static int find_port(const mill_port *ports, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(ports[i].name, name) == 0)
            return (int)i;
    return -1;
}

static const mill_type *type_of(const build *b, const plan_stage *s, const char *id) {
    const mill_type *type = types_find(id);
    return type != NULL ? type : modules_type(b->plan->modules, s->cls->module, id);
}

static bool fits(const build *b, const plan_stage *from, const char *given, const char *wanted) {
    if (strcmp(given, wanted) == 0)
        return true;
    const mill_type *type = type_of(b, from, given);
    return strcmp(wanted, MILL_TYPE_REPORT) == 0 && type != NULL && type->to_report != NULL;
}

/* "x converts", where there is a class that takes the one and gives the other. */
static char *converter_hint(const build *b, const char *given, const char *wanted) {
    g_auto(GStrv) names = modules_class_names(b->plan->modules);
    for (char **name = names; *name != NULL; name++) {
        g_autofree char *why = NULL;
        const stage_class *cls = modules_class(b->plan->modules, *name, &why);
        bool takes = false, gives = false;
        for (size_t i = 0; cls != NULL && i < cls->n_inputs; i++)
            takes |= strcmp(cls->inputs[i].type, given) == 0;
        for (size_t i = 0; cls != NULL && i < cls->n_outputs; i++)
            gives |= strcmp(cls->outputs[i].type, wanted) == 0;
        if (takes && gives)
            return g_strdup_printf("%s converts", *name);
    }
    return NULL;
}

/* The output that "stage" or "stage.port" means, or -1, told. */
static int find_output(const wire *w, const char *text, const plan_stage *from, const char *port) {
    const stage_class *cls = from->cls;
    g_autofree char *names = port_names(cls->outputs, cls->n_outputs);
    const char *key = w->set->key;
    if (cls->n_outputs == 0) {
        build_error(w->b, w->set->at, g_strdup_printf("%s is an exporter", cls->stage.name),
                    "[%s] %s = \"%s\": [%s] has no outputs", w->to->name, key, text, from->name);
        return -1;
    }
    if (port == NULL && cls->n_outputs == 1)
        return 0;
    if (port == NULL) {
        build_error(w->b, w->set->at,
                    g_strdup_printf("write %s.%s", from->name, cls->outputs[0].name),
                    "[%s] %s = %s: has several outputs (%s)", w->to->name, key, text, names);
        return -1;
    }
    int found = find_port(cls->outputs, cls->n_outputs, port);
    if (found < 0)
        build_error(w->b, w->set->at, g_strdup_printf("outputs: %s", names),
                    "[%s] %s = \"%s\": [%s] has no output \"%s\"", w->to->name, key, text,
                    from->name, port);
    return found;
}

static void connect(const wire *w, const char *text, plan_stage *from, const char *port) {
    int output = find_output(w, text, from, port);
    if (output < 0)
        return;
    GArray *sources = w->to->inputs[w->port].sources;
    const char *given = from->cls->outputs[output].type;
    const char *wanted = w->to->cls->inputs[w->port].type;
    for (guint i = 0; i < sources->len; i++) {
        const plan_source *other = &g_array_index(sources, plan_source, i);
        if (other->stage == from && other->output == (unsigned)output) {
            build_error(w->b, w->set->at, NULL, "[%s] %s lists \"%s\" twice", w->to->name,
                        w->set->key, text);
            return;
        }
    }
    if (!fits(w->b, from, given, wanted)) {
        build_error(w->b, w->set->at, converter_hint(w->b, given, wanted),
                    "[%s] %s wants %s, [%s] gives %s", w->to->name, w->set->key, wanted, from->name,
                    given);
        return;
    }
    plan_source source = {from, (unsigned)output};
    g_array_append_val(sources, source);
}

/* One item of the list: "stage", "stage.port", with * in the stage's name. */
static void connect_item(const wire *w, const char *text) {
    g_auto(GStrv) parts = g_strsplit(text, ".", 2);
    const char *name = parts[0] != NULL ? parts[0] : "";
    g_autofree char *quoted = problems_quote(text);
    if (strchr(name, '*') == NULL) {
        plan_stage *from = build_stage(w->b, name);
        if (from != NULL)
            connect(w, text, from, parts[1]);
        else if (!g_hash_table_contains(w->b->plan->unknown, name)) /* else told already */
            build_error(w->b, w->set->at, stage_hint(w->b, name), "[%s] %s = %s: no such stage",
                        w->to->name, w->set->key, quoted);
        return;
    }
    bool any = false;
    for (guint i = 0; i < w->b->plan->stages->len; i++) {
        plan_stage *from = g_ptr_array_index(w->b->plan->stages, i);
        if (from == w->to || from->cls->n_outputs == 0 || !g_pattern_match_simple(name, from->name))
            continue;
        connect(w, from->name, from, parts[1]);
        any = true;
    }
    if (!any)
        build_error(w->b, w->set->at, NULL, "[%s] %s = %s: no stage with an output matches",
                    w->to->name, w->set->key, quoted);
}

/* ---------------------------------------------------------------- the settings of a stage */

/* The port that a bare "in" means: the only one, or the only one that must be connected; or -1. */
static int only_input(const stage_class *cls) {
    int found = -1;
    for (size_t i = 0; i < cls->n_inputs; i++) {
        if (cls->n_inputs > 1 && (cls->inputs[i].flags & MILL_PORT_OPTIONAL))
            continue;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* The port that "in" or "in.PORT" means, or -1, told. */
static int find_input(build *b, const plan_stage *s, const setting *set) {
    const stage_class *cls = s->cls;
    g_autofree char *names = port_names(cls->inputs, cls->n_inputs);
    if (cls->n_inputs == 0) {
        build_error(b, set->at, g_strdup_printf("%s is a reader", cls->stage.name),
                    "[%s] takes no input", s->name);
        return -1;
    }
    if (strcmp(set->key, "in") == 0) {
        int only = only_input(cls);
        if (only < 0)
            build_error(b, set->at, g_strdup_printf("write in.%s = ...", cls->inputs[0].name),
                        "[%s] in = ...: has several inputs (%s)", s->name, names);
        return only;
    }
    int found = find_port(cls->inputs, cls->n_inputs, set->key + strlen("in."));
    if (found < 0)
        build_error(b, set->at, g_strdup_printf("inputs: %s", names), "[%s] has no input \"%s\"",
                    s->name, set->key + strlen("in."));
    return found;
}

static bool takes_list(const mill_port *port) {
    return (port->flags & (MILL_PORT_MANY | MILL_PORT_STREAM)) != 0;
}

static void wire_setting(build *b, plan_stage *s, const setting *set, bool *tried) {
    int port = find_input(b, s, set);
    if (port < 0) {
        for (size_t i = 0; i < s->cls->n_inputs; i++)
            tried[i] = true; /* one mistake, one message */
        return;
    }
    tried[port] = true;
    wire w = {b, s, (unsigned)port, set};
    g_autoptr(GPtrArray) items = vars_expand(b->plan->vars, set, ITEMS_COMMAS, 0, b->problems);
    for (guint i = 0; items != NULL && i < items->len; i++)
        connect_item(&w, ((value_item *)g_ptr_array_index(items, i))->text);
    guint n = s->inputs[port].sources->len;
    if (n > 1 && !takes_list(&s->cls->inputs[port]))
        build_error(b, set->at, NULL, "[%s] %s takes one value, %u are connected", s->name,
                    set->key, n);
    if (items != NULL && items->len == 0)
        tried[port] = false;
}

void build_wires(build *b) {
    for (guint i = 0; i < b->plan->stages->len; i++) {
        plan_stage *s = g_ptr_array_index(b->plan->stages, i);
        const section *sec = document_section(b->plan->doc, s->name);
        g_autofree bool *tried = g_new0(bool, s->cls->n_inputs + 1);
        for (guint k = 0; k < sec->settings->len; k++) {
            const setting *set = g_ptr_array_index(sec->settings, k);
            if (build_is_input(set->key))
                wire_setting(b, s, set, tried);
        }
        for (size_t p = 0; p < s->cls->n_inputs; p++)
            if (!tried[p] && !(s->cls->inputs[p].flags & MILL_PORT_OPTIONAL))
                build_error(b, s->at, NULL, "[%s] input \"%s\" is not connected", s->name,
                            s->cls->inputs[p].name);
    }
}

/* ---------------------------------------------------------------- the order of stages */

enum { UNSEEN, OPEN, ORDERED };

static void tell_cycle(build *b, const GPtrArray *path, const plan_stage *again) {
    GString *names = g_string_new(again->name), *places = g_string_new(NULL);
    g_autofree char *first = origin_format(again->at);
    g_string_append(places, first);
    /* The path goes from takers to sources: back along it, the way items would flow. */
    guint i = path->len - 1;
    for (; path->pdata[i] != again; i--) {
        const plan_stage *s = path->pdata[i];
        g_autofree char *at = origin_format(s->at);
        g_string_append_printf(names, " -> %s", s->name);
        g_string_append_printf(places, ", %s", at);
    }
    build_error(b, again->at, NULL, "cycle: %s -> %s (%s)", names->str, again->name, places->str);
    g_string_free(names, TRUE);
    g_string_free(places, TRUE);
}

static bool visit(build *b, plan_stage *s, char *marks, GPtrArray *path) {
    if (marks[s->index] == ORDERED)
        return true;
    if (marks[s->index] == OPEN) {
        tell_cycle(b, path, s);
        return false;
    }
    marks[s->index] = OPEN;
    g_ptr_array_add(path, s);
    for (size_t p = 0; p < s->cls->n_inputs; p++)
        for (guint i = 0; i < s->inputs[p].sources->len; i++) {
            plan_stage *from = g_array_index(s->inputs[p].sources, plan_source, i).stage;
            if (!visit(b, from, marks, path))
                return false;
            s->depth = MAX(s->depth, from->depth + 1);
        }
    g_ptr_array_set_size(path, (gint)path->len - 1);
    marks[s->index] = ORDERED;
    g_ptr_array_add(b->plan->ordered, s);
    return true;
}

bool build_order(build *b) {
    g_autofree char *marks = g_malloc0(b->plan->stages->len + 1);
    g_autoptr(GPtrArray) path = g_ptr_array_new();
    for (guint i = 0; i < b->plan->stages->len; i++)
        if (!visit(b, g_ptr_array_index(b->plan->stages, i), marks, path))
            return false;
    return true;
}
