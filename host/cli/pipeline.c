/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that take a pipeline have in common: options, check, telling what is wrong. */
#include "cli/pipeline.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"

/* --color wins, then NO_COLOR (no-color.org) and TERM=dumb, then whether a person looks. */
static bool wants_colour(const char *option, bool *ret_wrong) {
    *ret_wrong = false;
    if (option != NULL && strcmp(option, "always") == 0)
        return true;
    if (option != NULL && strcmp(option, "never") == 0)
        return false;
    if (option != NULL && strcmp(option, "auto") != 0)
        *ret_wrong = true;
    const char *no_color = g_getenv("NO_COLOR");
    if ((no_color != NULL && *no_color != '\0') || g_strcmp0(g_getenv("TERM"), "dumb") == 0)
        return false;
    return isatty(STDERR_FILENO);
}

static bool parse(pipeline *p, const GOptionEntry *more, const char *summary, int *argc,
                  char ***argv) {
    const char *command_name = (*argv)[0];
    /* FILENAME: the bytes as they are. GLib would convert a STRING from the locale's charset, which
     * is ASCII where none is set. */
    const GOptionEntry entries[] = {
        {"set", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &p->sets,
         "Set an option over the files (repeatable)", "STAGE.KEY=VALUE"},
        {"color", 0, 0, G_OPTION_ARG_FILENAME, &p->colour, "Colour messages", "auto|always|never"},
        {"isolate", 0, 0, G_OPTION_ARG_NONE, &p->isolate, "Run each stage in a process of its own",
         NULL},
        {0}};
    g_autoptr(GArray) all = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    g_array_append_vals(all, entries, G_N_ELEMENTS(entries) - 1);
    for (; more != NULL && more->long_name != NULL; more++)
        g_array_append_vals(all, more, 1);
    if (!command_parse(&p->common, (const GOptionEntry *)(void *)all->data, "PIPELINE [FILE…]",
                       summary, argc, argv))
        return false;
    bool wrong;
    p->coloured = wants_colour(p->colour, &wrong);
    if (wrong) {
        fprintf(stderr, "tracemill %s: --color is one of auto, always, never\n", command_name);
        return false;
    }
    if (*argc < 2 || *(*argv)[1] == '\0') {
        fprintf(stderr,
                "tracemill %s: which pipeline? Name a file, or a ready one such as \"overlap\"\n",
                command_name);
        return false;
    }
    return true;
}

bool pipeline_open(pipeline *p, const GOptionEntry *more, const char *summary, int argc,
                   char **argv, int *ret_exit) {
    *p = (pipeline){0};
    if (!parse(p, more, summary, &argc, &argv)) {
        *ret_exit = COMMAND_USAGE;
        return false;
    }
    p->where = place_create(NULL);
    p->problems = problems_create();
    p->modules = command_scan(&p->common, &engine_host);
    plan_request request = {
        .pipeline = argv[1],
        .args = (const char *const *)(argv + 2),
        .sets = (const char *const *)p->sets,
        .data_dir = p->where->data_dir,
        .isolate = p->isolate,
    };
    p->plan = plan_create(&request, p->modules, p->problems);
    *ret_exit = problems_exit_code(p->problems);
    return true;
}

void pipeline_finish(pipeline *p) {
    plan_destroy(p->plan);
    if (p->modules != NULL)
        modules_destroy(p->modules);
    if (p->problems != NULL)
        problems_destroy(p->problems);
    if (p->where != NULL)
        place_destroy(p->where);
    g_strfreev(p->sets);
    g_free(p->colour);
    command_finish(&p->common);
}

void pipeline_tell(pipeline *p) {
    g_autofree char *text = problems_format(p->problems, p->coloured);
    fputs(text, stderr);
}

cJSON *pipeline_json(pipeline *p, const char *schema, int exit_code) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", schema);
    if (p->plan != NULL) {
        cJSON_AddStringToObject(json, "pipeline", p->plan->name);
        cJSON_AddStringToObject(json, "file", p->plan->path);
    }
    cJSON_AddNumberToObject(json, "exit", exit_code);
    cJSON_AddItemToObject(json, "problems", problems_to_json(p->problems));
    return json;
}
