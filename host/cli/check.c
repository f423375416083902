/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill check` and `tracemill graph`: what is wrong with a pipeline, and what it looks like.
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/pipeline.h"
#include "cli/show.h"
#include "config/visible.h"

static GString *verdict(const plan *p) {
    GString *text = g_string_new(NULL);
    guint items = 0;
    for (guint i = 0; i < p->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->stages, i);
        items += s->files != NULL ? s->files->len : 0;
    }
    g_autofree char *path = visible(p->path);
    g_string_append_printf(text, "%s: good: %u stage%s, %u file%s to read\n", path, p->stages->len,
                           p->stages->len == 1 ? "" : "s", items, items == 1 ? "" : "s");
    return text;
}

int check_main(int argc, char **argv) {
    gboolean print = FALSE;
    const GOptionEntry more[] = {{"print", 'p', 0, G_OPTION_ARG_NONE, &print,
                                  "Print every setting and where it came from", NULL},
                                 {0}};
    pipeline p;
    int exit_code;
    if (!pipeline_open(&p, more, "Tells everything that is wrong with a pipeline; runs nothing.",
                       argc, argv, &exit_code)) {
        pipeline_finish(&p);
        return exit_code;
    }
    int printed = 0;
    if (p.common.json) {
        cJSON *json = pipeline_json(&p, "tracemill.check/1", exit_code);
        if (p.plan != NULL)
            cJSON_AddItemToObject(json, "settings", show_settings_json(p.plan));
        printed = command_print_json(json);
    } else {
        pipeline_tell(&p);
        if (p.plan != NULL)
            printed = command_print_text(print ? show_settings(p.plan) : verdict(p.plan));
    }
    pipeline_finish(&p);
    return exit_code != 0 ? exit_code : printed;
}

int graph_main(int argc, char **argv) {
    g_autofree char *format = NULL;
    const GOptionEntry more[] = {{"format", 'f', 0, G_OPTION_ARG_FILENAME, &format,
                                  "In what form (default: text)", "text|dot|mermaid"},
                                 {0}};
    pipeline p;
    int exit_code;
    bool open = pipeline_open(&p, more, "Shows how the stages of a pipeline are connected.", argc,
                              argv, &exit_code);
    GString *(*show)(const plan *) = format == NULL || strcmp(format, "text") == 0 ? show_steps
                                     : strcmp(format, "dot") == 0                  ? show_dot
                                     : strcmp(format, "mermaid") == 0              ? show_mermaid
                                                                                   : NULL;
    if (open && show == NULL) {
        fprintf(stderr, "tracemill graph: --format is one of text, dot, mermaid\n");
        exit_code = COMMAND_USAGE;
    } else if (open && p.common.json) {
        cJSON *json = pipeline_json(&p, "tracemill.graph/1", exit_code);
        if (p.plan != NULL)
            cJSON_AddItemToObject(json, "stages", show_steps_json(p.plan));
        int printed = command_print_json(json);
        exit_code = exit_code != 0 ? exit_code : printed;
    } else if (open) {
        pipeline_tell(&p);
        if (p.plan != NULL)
            exit_code = command_print_text(show(p.plan));
    }
    pipeline_finish(&p);
    return exit_code;
}
