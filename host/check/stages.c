/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of a plan: finds the class of each section and sets its options. */
#include <string.h>

#include "check/build.h"
#include "config/suggest.h"

/* ---------------------------------------------------------------- run.* */

/* The host's own settings of every stage, declared like a class's options. */
typedef struct run_settings {
    int64_t timeout_ns, memory_bytes;
    int missing;
    bool optional;
    bool isolate;
} run_settings;

/* Below that no module would be loaded; the upper end stands for none. */
#define MEMORY_LEAST (1 << 20)
#define MEMORY_MOST ((double)((int64_t)1 << 50))

static const char *const missing_choices[] = {"error", "ok", NULL};

static const mill_option run_options[] = {
    {.name = "run.timeout",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(run_settings, timeout_ns, DURATION),
     .help = "time limit of one run of the stage"},
    {.name = "run.missing",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(run_settings, missing, ENUM),
     .choices = missing_choices,
     .def = "error",
     .help = "whether a pattern may match no file"},
    {.name = "run.optional",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(run_settings, optional, BOOL),
     .def = "no",
     .help = "whether an item whose content the stage can't work with is only warned of"},
    {.name = "run.isolate",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(run_settings, isolate, BOOL),
     .help = "whether the stage runs in a process of its own"},
    {.name = "run.memory",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(run_settings, memory_bytes, BYTES),
     .min = MEMORY_LEAST,
     .max = MEMORY_MOST,
     .help = "memory that a stage in a process of its own may allocate"},
};

const mill_option *plan_run_options(size_t *ret_n) {
    *ret_n = G_N_ELEMENTS(run_options);
    return run_options;
}

bool build_is_stage(const char *name) {
    return strcmp(name, DOCUMENT_PIPELINE) != 0 && strcmp(name, DOCUMENT_VARS) != 0;
}

bool build_is_input(const char *key) {
    return strcmp(key, "in") == 0 || g_str_has_prefix(key, "in.");
}

/* ---------------------------------------------------------------- classes */

static const stage_class *find_class(build *b, const section *sec) {
    const setting *use = section_get(sec, "use");
    if (use == NULL) {
        build_error(
            b, sec->at,
            g_strdup("stages need one; reserved sections: " DOCUMENT_PIPELINE ", " DOCUMENT_VARS),
            "[%s] has no \"use\"", sec->name);
        return NULL;
    }
    g_autoptr(GPtrArray) items = vars_expand(b->plan->vars, use, ITEMS_ONE, 0, b->problems);
    if (items == NULL)
        return NULL;
    const char *name = ((value_item *)g_ptr_array_index(items, 0))->text;
    g_autofree char *why = NULL;
    const stage_class *cls = modules_class(b->plan->modules, name, &why);
    g_autofree char *quoted = problems_quote(name);
    if (cls == NULL && why == NULL)
        build_error(b, use->at, modules_hint(b->plan->modules, name),
                    "[%s] use = %s: no such stage class", sec->name, quoted);
    else if (cls == NULL)
        problems_add(b->problems, PROBLEM_MODULE, MILL_ERROR, use->at, why,
                     "[%s] use = %s: no loaded module has it", sec->name, quoted);
    return cls;
}

/* ---------------------------------------------------------------- options */

static char *option_hint(const plan_stage *s, const char *key) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (size_t i = 0; i < s->cls->n_options; i++)
        g_ptr_array_add(names, (gpointer)s->cls->options[i].name);
    for (size_t i = 0; i < G_N_ELEMENTS(run_options); i++)
        g_ptr_array_add(names, (gpointer)run_options[i].name);
    g_ptr_array_add(names, (gpointer) "use");
    g_ptr_array_add(names, (gpointer) "in");
    g_ptr_array_add(names, NULL);
    g_autofree char *near = suggest_hint(key, (const char *const *)names->pdata);
    return g_strdup_printf("%s%ssee: tracemill inspect %s", near != NULL ? near : "",
                           near != NULL ? " " : "", s->cls->stage.name);
}

static const mill_option *find_run_option(const char *key) {
    for (size_t i = 0; i < G_N_ELEMENTS(run_options); i++)
        if (strcmp(run_options[i].name, key) == 0)
            return &run_options[i];
    return NULL;
}

static void set_run(build *b, plan_stage *s, const section *sec, run_settings *ret) {
    for (size_t i = 0; i < G_N_ELEMENTS(run_options); i++) {
        const setting *given = section_get(sec, run_options[i].name);
        if (given != NULL)
            values_set(&run_options[i], given, b->plan->vars, s->memory, ret, b->problems);
    }
    s->timeout_ns = ret->timeout_ns;
    s->optional = ret->optional;
    s->isolate = ret->isolate;
    s->memory_bytes = ret->memory_bytes;
    const setting *memory = section_get(sec, "run.memory");
    if (memory != NULL && !s->isolate)
        build_error(b, memory->at, g_strdup("add run.isolate = yes, or run it with --isolate"),
                    "[%s] run.memory limits a process, and the stage has none of its own", s->name);
}

static void set_option(build *b, plan_stage *s, const section *sec, size_t i, bool missing_ok) {
    const mill_option *o = &s->cls->options[i];
    const setting *given = section_get(sec, o->name);
    setting fallback = {.section = sec->name, .key = o->name, .value = o->def, .at = sec->at};
    s->given[i] = given != NULL;
    if (given == NULL && (o->flags & MILL_OPT_REQUIRED)) {
        build_error(b, sec->at, g_strdup(o->help), "[%s] needs \"%s\"", sec->name, o->name);
        return;
    }
    if (given != NULL && (o->flags & MILL_OPT_DEPRECATED))
        build_warning(b, given->at, "option \"%s\" is deprecated: %s", o->name, o->help);
    const setting *used = given != NULL ? given : o->def != NULL ? &fallback : NULL;
    if (used != NULL && o->flags & MILL_OPT_GLOB) { /* not given: the stage runs without a file */
        s->glob = (int)i;
        s->files = globs_expand(used, b->plan->vars, missing_ok, b->problems);
    }
    if (used != NULL)
        values_set(o, used, b->plan->vars, s->memory, s->opts, b->problems);
}

static void set_options(build *b, plan_stage *s, const section *sec) {
    run_settings run = {.isolate = b->isolate};
    for (guint i = 0; i < sec->settings->len; i++) {
        const setting *one = g_ptr_array_index(sec->settings, i);
        if (strcmp(one->key, "use") == 0 || build_is_input(one->key) ||
            stage_class_option(s->cls, one->key) != NULL || find_run_option(one->key) != NULL)
            continue;
        g_autofree char *key = problems_quote(one->key);
        build_error(b, one->at, option_hint(s, one->key), "[%s] has no option %s", sec->name, key);
    }
    set_run(b, s, sec, &run);
    for (size_t i = 0; i < s->cls->n_options; i++)
        set_option(b, s, sec, i, run.missing == 1);
}

/* Of a section whose class is not known, what any class would say of its variables. A value that
 * can't be read as a list may be right for the class: it is left alone. */
static void check_variables(build *b, const section *sec) {
    for (guint i = 0; i < sec->settings->len; i++) {
        const setting *one = g_ptr_array_index(sec->settings, i);
        g_autoptr(problems) untold = problems_create();
        GPtrArray *items = items_split(one, ITEMS_COMMAS, untold), *expanded = NULL;
        if (items != NULL)
            expanded =
                vars_expand(b->plan->vars, one, ITEMS_COMMAS, VARS_ARGS | VARS_ITEM, b->problems);
        g_clear_pointer(&items, g_ptr_array_unref);
        g_clear_pointer(&expanded, g_ptr_array_unref);
    }
}

/* ---------------------------------------------------------------- stages */

static plan_stage *add_stage(build *b, const section *sec, const stage_class *cls) {
    plan_stage *s = g_new0(plan_stage, 1);
    s->index = b->plan->stages->len;
    s->name = sec->name;
    s->at = sec->at;
    s->cls = cls;
    s->memory = values_memory();
    s->opts = g_malloc0(cls->stage.options_size + 1);
    s->given = g_new0(bool, cls->n_options + 1);
    s->glob = -1;
    s->inputs = g_new0(plan_input, cls->n_inputs + 1);
    for (size_t i = 0; i < cls->n_inputs; i++) {
        s->inputs[i].sources = g_array_new(FALSE, FALSE, sizeof(plan_source));
        s->stream |= (cls->inputs[i].flags & MILL_PORT_STREAM) != 0;
    }
    g_ptr_array_add(b->plan->stages, s);
    return s;
}

void build_stages(build *b) {
    for (guint i = 0; i < b->plan->doc->sections->len; i++) {
        const section *sec = g_ptr_array_index(b->plan->doc->sections, i);
        if (!build_is_stage(sec->name))
            continue;
        const stage_class *cls = find_class(b, sec);
        if (cls != NULL) {
            set_options(b, add_stage(b, sec, cls), sec);
            continue;
        }
        g_hash_table_add(b->plan->unknown, (gpointer)sec->name);
        check_variables(b, sec);
    }
}
