/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: reads a pipeline and checks all of it, so that every mistake is told at once. */
#include "check/plan.h"

#include <stdio.h>
#include <string.h>

#include "check/build.h"
#include "config/natural.h"
#include "config/suggest.h"
#include "config/visible.h"
#include "engine/engine.h"

#define SUFFIX ".ini"
#define MAX_STAGES                                                                                 \
    4096 /* far beyond what a person or a program writes; bounds the work of a check */

void build_error(build *b, origin at, char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    problems_add(b->problems, PROBLEM_CONFIG, MILL_ERROR, at, hint, "%s", text);
    g_free(hint);
}

void build_warning(build *b, origin at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    problems_add(b->problems, PROBLEM_CONFIG, MILL_WARNING, at, NULL, "%s", text);
}

plan_stage *build_stage(const build *b, const char *name) {
    for (guint i = 0; i < b->plan->stages->len; i++) {
        plan_stage *s = g_ptr_array_index(b->plan->stages, i);
        if (strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

/* ---------------------------------------------------------------- which file */

char **plan_ready(const char *data_dir) {
    g_autofree char *folder = g_build_filename(data_dir, "pipelines", NULL);
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *file; dir != NULL && (file = g_dir_read_name(dir)) != NULL;)
        if (g_str_has_suffix(file, SUFFIX))
            g_ptr_array_add(names, g_strndup(file, strlen(file) - strlen(SUFFIX)));
    g_ptr_array_sort(names, natural_compare_elements);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

/* Whether the file begins as profiles do: packed by gzip, zstd or zip, or with a JSON object, or an
 * array of them, which no INI file can. A pipe is left alone: what is read of it is gone. */
static bool is_profile(const char *path) {
    static const char *const packed[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd", "PK\003\004"};
    static const char blanks[] = " \t\r\n";
    char head[256] = "";
    FILE *f = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "re") : NULL;
    if (f == NULL)
        return false;
    head[fread(head, 1, sizeof head - 1, f)] = '\0';
    fclose(f);
    for (size_t i = 0; i < G_N_ELEMENTS(packed); i++)
        if (g_str_has_prefix(head, packed[i]))
            return true;
    const char *json = head + strspn(head, blanks);
    json += *json == '[' ? 1 + strspn(json + 1, blanks) : 0;
    return *json == '{';
}

/* The pipeline is the file `name`. NULL: it can't be, told. */
static char *check_file(const char *name, problems *p) {
    if (!is_profile(name))
        return g_strdup(name);
    g_autofree char *hint = g_strdup_printf("tracemill run overlap %s", name);
    problems_add(p, PROBLEM_CONFIG, MILL_ERROR, (origin){.file = name}, hint,
                 "is a profile, not a pipeline");
    return NULL;
}

/* A bare name stands for a ready pipeline, anything else for a file. NULL: there is none, told. */
char *plan_find(const plan_request *request, problems *p) {
    const char *name = request->pipeline;
    if (!document_is_name(name) || g_file_test(name, G_FILE_TEST_IS_REGULAR))
        return check_file(name, p);
    g_autofree char *file = g_strconcat(name, SUFFIX, NULL);
    g_autofree char *path = g_build_filename(request->data_dir, "pipelines", file, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&path);
    g_auto(GStrv) names = plan_ready(request->data_dir);
    g_autofree char *hint = suggest_hint(name, (const char *const *)names);
    g_autofree char *all = g_strjoinv(", ", names);
    g_autofree char *list = g_strdup_printf("ready ones: %s; a file needs its suffix", all);
    problems_add(p, PROBLEM_NOINPUT, MILL_ERROR, (origin){.text = name}, hint != NULL ? hint : list,
                 "there is no ready pipeline \"%s\"", name);
    return NULL;
}

/* ---------------------------------------------------------------- [pipeline] */

typedef struct pipeline_settings {
    const char *name;
    int on_error;
} pipeline_settings;

static const char *const on_error_choices[] = {"continue", "stop", NULL};

static const mill_option pipeline_options[] = {
    {.name = "name",
     .type = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(pipeline_settings, name, STR),
     .help = "what the pipeline is called"},
    {.name = "on-error",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(pipeline_settings, on_error, ENUM),
     .choices = on_error_choices,
     .def = "continue",
     .help = "whether the other items go on when one fails"},
};

const mill_option *plan_pipeline_options(size_t *ret_n) {
    *ret_n = G_N_ELEMENTS(pipeline_options);
    return pipeline_options;
}

static const char *const pipeline_names[] = {"name", "on-error", "include", NULL};

static void read_pipeline_section(build *b) {
    pipeline_settings found = {0};
    g_autoptr(GPtrArray) memory = values_memory();
    const section *sec = document_section(b->plan->doc, DOCUMENT_PIPELINE);
    for (guint i = 0; sec != NULL && i < sec->settings->len; i++) {
        const setting *set = g_ptr_array_index(sec->settings, i);
        bool known = strcmp(set->key, "include") == 0; /* read with the document */
        for (size_t k = 0; k < G_N_ELEMENTS(pipeline_options); k++)
            if (strcmp(pipeline_options[k].name, set->key) == 0) {
                known = true;
                values_set(&pipeline_options[k], set, b->plan->vars, memory, &found, b->problems);
            }
        if (!known)
            build_error(b, set->at, suggest_hint(set->key, pipeline_names),
                        "[" DOCUMENT_PIPELINE "] has no setting \"%s\"", set->key);
    }
    b->plan->stop_on_error = found.on_error == 1;
    g_autofree char *base = g_path_get_basename(b->plan->path);
    if (g_str_has_suffix(base, SUFFIX))
        base[strlen(base) - strlen(SUFFIX)] = '\0';
    b->plan->name = found.name != NULL ? g_strdup(found.name) : visible(base);
}

/* ---------------------------------------------------------------- what is odd but runs */

/* A class all of whose outputs are optional does its work without them too, as exporters do. */
static bool has_its_end(const plan_stage *s) {
    for (size_t i = 0; i < s->cls->n_outputs; i++)
        if (!(s->cls->outputs[i].flags & MILL_PORT_OPTIONAL))
            return false;
    return true;
}

static void warn_unused(build *b) {
    bool exports = false;
    g_autoptr(GHashTable) used = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint i = 0; i < b->plan->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(b->plan->stages, i);
        exports |= has_its_end(s);
        for (size_t p = 0; p < s->cls->n_inputs; p++)
            for (guint k = 0; k < s->inputs[p].sources->len; k++)
                g_hash_table_add(used, g_array_index(s->inputs[p].sources, plan_source, k).stage);
    }
    for (guint i = 0; i < b->plan->stages->len; i++) {
        plan_stage *s = g_ptr_array_index(b->plan->stages, i);
        if (!has_its_end(s) && !g_hash_table_contains(used, s))
            build_warning(b, s->at, "output of [%s] goes nowhere", s->name);
    }
    if (!exports)
        build_warning(b, (origin){.file = b->plan->path},
                      "no exporter: the run would print nothing");
}

static void check_args(build *b, const plan_request *request) {
    if (request->args == NULL || *request->args == NULL || vars_used_args(b->plan->vars) ||
        b->plan->stages->len == 0) /* then there is more amiss than that nothing reads them */
        return;
    g_autofree char *quoted = problems_quote(*request->args);
    build_error(b, (origin){.file = b->plan->path},
                g_strdup("write path = ${args} in the stage that reads them"),
                "takes no files from the command line, but %s is named there", quoted);
}

/* ---------------------------------------------------------------- the classes' own rules */

static void check_classes(build *b) {
    for (guint i = 0; i < b->plan->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(b->plan->stages, i);
        if (s->cls->stage.check == NULL)
            continue;
        causes why;
        causes_init(&why);
        bool lost;
        mill_status status = engine_check(b->plan, s, &why, &lost);
        if (status < MILL_OK) {
            g_autofree char *text = causes_text(&why, false);
            g_strdelimit(text, "\n", ' ');
            problem_kind kind = !lost                      ? PROBLEM_CONFIG
                                : status == MILL_E_TIMEOUT ? PROBLEM_TIMEOUT
                                                           : PROBLEM_PLUGIN;
            problems_add(b->problems, kind, MILL_ERROR, s->at, NULL, "[%s] %s", s->name, text);
        }
        causes_finish(&why);
    }
}

/* ---------------------------------------------------------------- a plan */

static void build_plan(build *b, const plan_request *request) {
    read_pipeline_section(b);
    build_stages(b);
    if (b->plan->stages->len > MAX_STAGES) {
        build_error(b, (origin){.file = b->plan->path}, NULL, "has %u stages, the limit is %d",
                    b->plan->stages->len, MAX_STAGES);
        return;
    }
    if (b->plan->stages->len == 0 && problems_errors(b->problems) == 0)
        build_error(b, (origin){.file = b->plan->path},
                    g_strdup("every section but [pipeline] and [vars] is one"), "has no stage");
    build_wires(b);
    check_args(b, request);
    if (!build_order(b))
        return;
    if (problems_errors(b->problems) > 0)
        return;
    build_isolation(b);
    build_keys(b);
    if (problems_errors(b->problems) == 0)
        check_classes(b);
    if (problems_errors(b->problems) == 0)
        warn_unused(b);
}

static void stage_destroy(gpointer data) {
    plan_stage *s = data;
    for (size_t i = 0; i < s->cls->n_inputs; i++)
        g_array_unref(s->inputs[i].sources);
    g_free(s->inputs);
    g_free(s->given);
    g_free(s->opts);
    g_ptr_array_unref(s->memory);
    g_clear_pointer(&s->files, g_ptr_array_unref);
    g_clear_pointer(&s->keys, g_ptr_array_unref);
    g_free(s);
}

plan *plan_create(const plan_request *request, modules *all, problems *told) {
    g_autofree char *path = plan_find(request, told);
    if (path == NULL)
        return NULL;
    plan *p = g_new0(plan, 1);
    p->path = g_steal_pointer(&path);
    p->modules = all;
    p->stages = g_ptr_array_new_with_free_func(stage_destroy);
    p->ordered = g_ptr_array_new();
    p->unknown = g_hash_table_new(g_str_hash, g_str_equal);
    p->doc = document_read(p->path, request->data_dir, told);
    for (const char *const *set = request->sets; set != NULL && *set != NULL; set++)
        document_set(p->doc, *set, told);
    p->vars =
        vars_create(document_section(p->doc, DOCUMENT_VARS), request->data_dir, request->args);
    build b = {.plan = p, .problems = told, .isolate = request->isolate};
    build_plan(&b, request);
    if (problems_errors(told) == 0)
        return p;
    plan_destroy(p);
    return NULL;
}

void plan_destroy(plan *p) {
    if (p == NULL)
        return;
    g_ptr_array_unref(p->ordered);
    g_ptr_array_unref(p->stages);
    g_hash_table_unref(p->unknown);
    vars_destroy(p->vars);
    document_destroy(p->doc);
    g_free(p->path);
    g_free(p->name);
    g_free(p);
}
