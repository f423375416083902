/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that look at modules have in common. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/visible.h"

/* "--" ends the options. GLib leaves it in argv where a word behind it begins with '-'. */
static void drop_dashes(int *argc, char **argv) {
    for (int i = 1; i < *argc; i++)
        if (strcmp(argv[i], "--") == 0) {
            memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof *argv);
            (*argc)--;
            return;
        }
}

static int print(const char *text) {
    if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "tracemill: can't write to standard output: %s\n", g_strerror(errno));
    return COMMAND_IO;
}

/* Where a command is to tell what it would parse, instead of parsing. */
static command_description *asked;

static void describe(const GOptionEntry *entries, const char *parameters, const char *summary) {
    asked->parameters = parameters != NULL ? parameters : "";
    asked->summary = summary;
    for (; entries->long_name != NULL; entries++)
        g_array_append_vals(asked->options, entries, 1);
}

void command_describe(const named_command *c, command_description *ret) {
    *ret = (command_description){"", "", g_array_new(FALSE, FALSE, sizeof(GOptionEntry))};
    g_autofree char *name = g_strdup(c->name);
    char *argv[] = {name, NULL};
    asked = ret;
    c->main(1, argv); /* goes as far as to parse */
    asked = NULL;
}

void command_description_finish(command_description *d) {
    g_array_unref(d->options);
}

bool command_parse_plain(const GOptionEntry *entries, const char *parameters, const char *summary,
                         int *argc, char ***argv) {
    if (asked != NULL) {
        describe(entries, parameters, summary);
        return false;
    }
    gboolean help = FALSE;
    const GOptionEntry for_all[] = {{"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this", NULL},
                                    {0}};
    g_autofree char *program = g_strdup_printf("tracemill %s", (*argv)[0]);
    g_set_prgname(program);
    g_autoptr(GOptionContext) context = g_option_context_new(parameters);
    g_option_context_set_summary(context, summary);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_add_main_entries(context, for_all, NULL);
    g_autoptr(GError) error = NULL;
    if (g_option_context_parse(context, argc, argv, &error)) {
        if (help) { /* GLib would end here too, but with 0 where the text can't be written */
            g_autofree char *text = g_option_context_get_help(context, TRUE, NULL);
            int exit_code = print(text);
            g_clear_pointer(&text, g_free);
            g_clear_pointer(&context, g_option_context_free);
            g_clear_pointer(&program, g_free);
            exit(exit_code);
        }
        drop_dashes(argc, *argv);
        return true;
    }
    g_autofree char *why = visible(error->message);
    fprintf(stderr, "%s: %s\n  hint: %s --help\n", program, why, program);
    return false;
}

bool command_parse(command *c, const GOptionEntry *more, const char *parameters,
                   const char *summary, int *argc, char ***argv) {
    *c = (command){0};
    const GOptionEntry common[] = {{"plugin-path", 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
                                    &c->plugin_paths, "Look for plugins in DIR first (repeatable)",
                                    "DIR"},
                                   {"trust-writable", 0, 0, G_OPTION_ARG_NONE, &c->trust_writable,
                                    "Load plugins that others may write to, too", NULL},
                                   {"json", 0, 0, G_OPTION_ARG_NONE, &c->json, "Print JSON", NULL}};
    g_autoptr(GArray) entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    for (; more != NULL && more->long_name != NULL; more++)
        g_array_append_vals(entries, more, 1);
    g_array_append_vals(entries, common, G_N_ELEMENTS(common));
    if (command_parse_plain((const GOptionEntry *)(void *)entries->data, parameters, summary, argc,
                            argv))
        return true;
    command_finish(c);
    return false;
}

void command_finish(command *c) {
    g_clear_pointer(&c->plugin_paths, g_strfreev);
}

modules *command_scan(const command *c, const mill_host *host) {
    return modules_scan(&(modules_options){
        .plugin_paths = (const char *const *)c->plugin_paths,
        .trust_writable = c->trust_writable,
        .host = host,
    });
}

int command_print_text(GString *text) {
    int exit_code = print(text->str);
    g_string_free(text, TRUE);
    return exit_code;
}

int command_print_json(cJSON *json) {
    char *text = cJSON_Print(json);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    cJSON_free(text);
    cJSON_Delete(json);
    return print(line);
}
