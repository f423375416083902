/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that look at modules have in common: options, search, JSON output. */
#ifndef HOST_CLI_COMMAND_H
#define HOST_CLI_COMMAND_H

#include "module/modules.h"

/* Exit codes of sysexits(3) that commands return themselves. */
#define COMMAND_USAGE 64
#define COMMAND_NO_MODULE 69
#define COMMAND_IO 74

/* A command of the program; a list of them ends with name NULL. */
typedef struct named_command {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
    const char
        *parameters; /* of one that takes nothing else but --json; NULL: command_parse knows */
} named_command;

/* What a command takes. */
typedef struct command_description {
    const char *parameters; /* "PIPELINE [FILE…]", or "" */
    const char *summary;    /* a sentence, or "" */
    GArray *options;        /* of GOptionEntry; --help, which all have, is not among them */
} command_description;

/* Asks its main for it, which has to begin with one of the parse functions below. */
void command_describe(const named_command *c, command_description *ret);
void command_description_finish(command_description *d);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(command_description, command_description_finish)

typedef struct command {
    char **plugin_paths;
    gboolean trust_writable, json;
} command;

/* Takes the options of `entries` out of argv, where argv[0] is the command's name and `parameters`
 * describes the rest ("CLASS", or NULL for none). False after a wrong one, told on stderr, and
 * where the command is only described: the exit code is COMMAND_USAGE. --help prints and ends the
 * process. For commands that need no modules; --json is not among the options by itself. */
bool command_parse_plain(const GOptionEntry *entries, const char *parameters, const char *summary,
                         int *argc, char ***argv);

/* The same for others. Takes the common options, and those of `more` (NULL: none). */
bool command_parse(command *c, const GOptionEntry *more, const char *parameters,
                   const char *summary, int *argc, char ***argv);
void command_finish(command *c);

/* The modules that the options lead to; `host` as in modules_options. */
modules *command_scan(const command *c, const mill_host *host);

/* Print to stdout; the argument is freed. Return the exit code. */
int command_print_text(GString *text);
int command_print_json(cJSON *json);

#endif
