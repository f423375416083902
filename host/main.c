/* SPDX-License-Identifier: Apache-2.0 */
/* The `tracemill` program: picks the command. */
#include <glib.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/inspect.h"
#include "cli/list.h"
#include "config/suggest.h"
#include "engine/engine.h"
#include "module/probe.h"

#define USAGE 64

typedef struct named_command {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} named_command;

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);

static const named_command commands[] = {
    {"run", run_main, "run a pipeline: a file, or a ready one by name (overlap)"},
    {"check", check_main, "tell everything that is wrong with a pipeline; run nothing"},
    {"list", list_main, "show the modules found, and why some can't be used"},
    {"inspect", inspect_main, "show a stage class: its ports, its options, a stanza to paste"},
    {"graph", graph_main, "show how the stages of a pipeline are connected"},
    {"help", help_main, "show this, or the options of a command"},
    {"version", version_main, "show the version and the plugin ABI"},
};

static const named_command *find_command(const char *name) {
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *names[G_N_ELEMENTS(commands) + 1] = {0};
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        names[i] = commands[i].name;
    g_autofree char *hint = suggest_hint(name, names);
    fprintf(stderr, "tracemill: there is no command \"%s\"\n  hint: %s\n", name,
            hint != NULL ? hint : "tracemill help shows them");
    return USAGE;
}

static int version_main(int argc, char **argv) {
    bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
    printf(json ? "{\"schema\": \"tracemill.version/1\", \"version\": \"%s\", \"abi\": \"%d.%d\"}\n"
                : "tracemill %s, plugin ABI %d.%d\n",
           TRACEMILL_VERSION, MILL_ABI_MAJOR, MILL_ABI_MINOR);
    return 0;
}

static void print_commands(FILE *out) {
    fputs("Tracemill runs pipelines of plugins over profiles of large-scale training and\n"
          "inference.\n\nusage: tracemill COMMAND [ARGUMENT…]\n\n",
          out);
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs("\nTry: tracemill run overlap TRACE.json.gz\n"
          "\nExit codes: 0 good, 1 a gate was not met, 64 wrong usage, 65 wrong data, 66 an\n"
          "input is missing, 69 a module can't be loaded, 70 a plugin's bug, 74 reading or\n"
          "writing failed, 75 a time limit, 78 a wrong pipeline, 130 stopped by the user.\n",
          out);
}

static void print_commands_json(void) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "tracemill.help/1");
    cJSON *list = cJSON_AddArrayToObject(json, "commands");
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", commands[i].name);
        cJSON_AddStringToObject(one, "summary", commands[i].summary);
        cJSON_AddItemToArray(list, one);
    }
    char *text = cJSON_Print(json);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
}

static int help_main(int argc, char **argv) {
    if (argc < 2) {
        print_commands(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--json") == 0) {
        print_commands_json();
        return 0;
    }
    const named_command *c = find_command(argv[1]);
    if (c == NULL)
        return unknown_command(argv[1]);
    if (c->main == help_main || c->main == version_main) {
        printf("tracemill %s: %s\n", c->name, c->summary);
        return 0;
    }
    char *asked[] = {argv[1], (char[]){"--help"}, NULL};
    return c->main(2, asked);
}

int main(int argc, char **argv) {
    if (probe_requested(argc, argv))
        return probe_child(argc, argv, &engine_host);
    setlocale(LC_CTYPE, ""); /* for names of files; numbers stay as in the C locale */
    if (argc < 2) {
        print_commands(stderr);
        return USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help_main(1, argv + 1);
    if (strcmp(argv[1], "--version") == 0)
        return version_main(argc - 1, argv + 1);
    const named_command *c = find_command(argv[1]);
    return c != NULL ? c->main(argc - 1, argv + 1) : unknown_command(argv[1]);
}
