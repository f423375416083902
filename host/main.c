/* SPDX-License-Identifier: Apache-2.0 */
/* The `tracemill` program: picks the command. */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/complete.h"
#include "cli/inspect.h"
#include "cli/list.h"
#include "cli/manual.h"
#include "cli/new.h"
#include "config/problems.h"
#include "config/suggest.h"
#include "engine/engine.h"
#include "isolate/serve.h"
#include "module/probe.h"

static int help_main(int argc, char **argv);
static int version_main(int argc, char **argv);

static const named_command commands[] = {
    {"run", run_main, "run a pipeline: a file, or a ready one by name (overlap)"},
    {"check", check_main, "tell everything that is wrong with a pipeline; run nothing"},
    {"list", list_main, "show the modules found, and why some can't be used"},
    {"inspect", inspect_main, "show a stage class: its ports, its options, a stanza to paste"},
    {"graph", graph_main, "show how the stages of a pipeline are connected"},
    {"new", new_main, "write a project of your own: a stage, reader, exporter or type"},
    {"help", help_main, "show this, or the options of a command"},
    {"version", version_main, "show the version and the plugin ABI"},
    {0},
};

static const named_command *find_command(const char *name) {
    const named_command *c = commands;
    while (c->name != NULL && strcmp(c->name, name) != 0)
        c++;
    return c->name != NULL ? c : NULL;
}

static int unknown_command(const char *name) {
    const char *names[G_N_ELEMENTS(commands)] = {0};
    for (gsize i = 0; commands[i].name != NULL; i++)
        names[i] = commands[i].name;
    g_autofree char *hint = suggest_hint(name, names);
    g_autofree char *quoted = problems_quote(name);
    fprintf(stderr, "tracemill: there is no command %s\n  hint: %s\n", quoted,
            hint != NULL ? hint : "tracemill help shows them");
    return COMMAND_USAGE;
}

/* For commands whose only option is --json. */
static bool parse_json(const char *parameters, const char *summary, gboolean *ret_json, int *argc,
                       char ***argv) {
    const GOptionEntry entries[] = {{"json", 0, 0, G_OPTION_ARG_NONE, ret_json, "Print JSON", NULL},
                                    {0}};
    *ret_json = FALSE;
    return command_parse_plain(entries, parameters, summary, argc, argv);
}

/* Told where there are more words than the command takes. */
static bool has_excess(int argc, char **argv, int most) {
    if (argc - 1 <= most)
        return false;
    g_autofree char *quoted = problems_quote(argv[most + 1]);
    fprintf(stderr, "tracemill %s: %s is not expected here\n  hint: tracemill help\n", argv[0],
            quoted);
    return true;
}

static int version_main(int argc, char **argv) {
    gboolean json;
    if (!parse_json(NULL, "Shows the version of the program and of the plugin ABI.", &json, &argc,
                    &argv) ||
        has_excess(argc, argv, 0))
        return COMMAND_USAGE;
    GString *text = g_string_new(NULL);
    g_string_printf(
        text,
        json ? "{\"schema\": \"tracemill.version/1\", \"version\": \"%s\", \"abi\": \"%d.%d\"}\n"
             : "tracemill %s, plugin ABI %d.%d\n",
        TRACEMILL_VERSION, MILL_ABI_MAJOR, MILL_ABI_MINOR);
    return command_print_text(text);
}

static GString *commands_text(void) {
    GString *text = g_string_new(
        "Tracemill runs pipelines of plugins over profiles of large-scale training and\n"
        "inference.\n\nusage: tracemill COMMAND [ARGUMENT…]\n\n");
    for (gsize i = 0; commands[i].name != NULL; i++)
        g_string_append_printf(text, "  %-9s %s\n", commands[i].name, commands[i].summary);
    g_string_append(
        text, "\nTry: tracemill run overlap TRACE.json.gz\n"
              "\nExit codes: 0 good, 1 a gate was not met, 64 wrong usage, 65 wrong data, 66 an\n"
              "input is missing, 69 a module can't be loaded, 70 a plugin's bug, 74 reading or\n"
              "writing failed, 75 a time limit, 78 a wrong pipeline, 130 stopped by the user.\n");
    return text;
}

/* `only` NULL: all. */
static cJSON *commands_json(const named_command *only) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "tracemill.help/1");
    cJSON *list = cJSON_AddArrayToObject(json, "commands");
    for (gsize i = 0; commands[i].name != NULL; i++) {
        if (only != NULL && only != &commands[i])
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", commands[i].name);
        cJSON_AddStringToObject(one, "summary", commands[i].summary);
        cJSON_AddItemToArray(list, one);
    }
    return json;
}

static int help_main(int argc, char **argv) {
    gboolean json;
    if (!parse_json("[COMMAND]", "Shows all commands, or the options of one.", &json, &argc,
                    &argv) ||
        has_excess(argc, argv, 1))
        return COMMAND_USAGE;
    const named_command *c = argc > 1 ? find_command(argv[1]) : NULL;
    if (argc > 1 && c == NULL)
        return unknown_command(argv[1]);
    if (json)
        return command_print_json(commands_json(c));
    if (c == NULL)
        return command_print_text(commands_text());
    char *asked[] = {argv[1], (char[]){"--help"}, NULL};
    return c->main(2, asked);
}

/* A file that is opened while 0, 1 or 2 is closed would get that number, and with it what is
 * printed or said. So each is taken here, the wrong way round: to use it fails as if it were
 * closed. A folder can't be written to by the name /dev/stdout either. */
static void take_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open(fd == STDIN_FILENO ? "/dev/null" : "/", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
    take_standard_files();
    if (probe_requested(argc, argv))
        return probe_child(argc, argv, &engine_host);
    if (serve_requested(argc, argv))
        return serve_main(argc, argv);
    setlocale(LC_CTYPE, ""); /* for names of files; numbers stay as in the C locale */
    if (argc < 2) {
        g_autoptr(GString) text = commands_text();
        fputs(text->str, stderr);
        return COMMAND_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "complete") == 0) /* for the shells; see etc/completion */
        return complete_main(commands, argc - 1, argv + 1);
    if (strcmp(name, "manual") == 0) /* for the build; see etc/manual */
        return manual_main(commands, argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const named_command *c = find_command(name);
    return c != NULL ? c->main(argc - 1, argv + 1) : unknown_command(name);
}
