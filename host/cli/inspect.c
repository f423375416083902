/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill inspect CLASS`: what a stage class takes, gives and can be told. */
#include "cli/inspect.h"

#include "cli/class.h"
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/page.h"
#include "config/problems.h"
#include "config/visible.h"
#include <stdio.h>
#include <string.h>

enum { NAME_INDENT = 2, HELP_INDENT = 6 };

/* ---------------------------------------------------------------- for people */

/* "  name  first words\n      help\n" */
static void entry_text(GString *page, const char *name, const char *words, const char *help) {
    g_string_append_printf(page, "%*s%s  ", NAME_INDENT, "", name);
    page_wrap(page, words, (unsigned)(NAME_INDENT + strlen(name) + 2), HELP_INDENT);
    if (help && *help)
        page_wrap(page, help, 0, HELP_INDENT);
}

static void ports_text(GString *page, const char *title, const mill_port *ports, size_t n) {
    if (n > 0)
        g_string_append_printf(page, "\n%s\n", title);
    for (size_t i = 0; i < n; i++) {
        g_autofree char *words = class_port_words(&ports[i]);
        entry_text(page, ports[i].name, words, ports[i].help);
    }
}

static void options_text(GString *page, const stage_class *c) {
    if (c->n_options > 0)
        g_string_append(page, "\nOptions\n");
    for (size_t i = 0; i < c->n_options; i++) {
        g_autofree char *words = class_option_words(&c->options[i]);
        entry_text(page, c->options[i].name, words, c->options[i].help);
    }
}

/* Modules that have a class of this name too: their author looks for it in vain otherwise. */
static void others_text(GString *page, const modules *all, const stage_class *c) {
    const GPtrArray *list = modules_list(all);
    for (guint i = 0; i < list->len; i++) {
        const module *m = list->pdata[i];
        if (m == c->module || m->state != MODULE_LOADED ||
            !g_ptr_array_find_with_equal_func(m->class_names, c->stage.name, g_str_equal, NULL))
            continue;
        g_autofree char *text =
            g_strdup_printf("module %s %s has a class of this name too: use = %s:%s\n", m->id,
                            m->version, m->id, c->stage.name);
        g_autofree char *shown = visible(text);
        g_string_append(page, shown);
    }
}

static GString *class_text(const modules *all, const stage_class *c) {
    const module *m = c->module;
    GString *page = g_string_new(NULL);
    g_autofree char *head =
        g_strdup_printf("%s: %s", c->stage.name, c->stage.summary ? c->stage.summary : "");
    page_wrap(page, head, 0, 0);
    g_autofree char *from = g_strdup_printf("module %s %s, %s\n", m->id, m->version, m->path);
    g_autofree char *shown = visible(from); /* a path stays on one line, to be copied */
    g_string_append(page, shown);
    others_text(page, all, c);
    if (c->stage.help && *c->stage.help) {
        g_string_append_c(page, '\n');
        page_wrap(page, c->stage.help, 0, 0);
    }
    ports_text(page, "Inputs", c->inputs, c->n_inputs);
    ports_text(page, "Outputs", c->outputs, c->n_outputs);
    options_text(page, c);
    g_autofree char *ini = class_stanza(c);
    g_string_append_printf(page, "\nTo paste into a pipeline\n\n%s", ini);
    return page;
}

/* ---------------------------------------------------------------- the command */

static int inspect_class(const command *c, bool manual, const char *use) {
    g_autoptr(modules) all = command_scan(c, NULL);
    g_autofree char *why = NULL;
    const stage_class *found = modules_class(all, use, &why);
    if (found)
        return c->json  ? command_print_json(class_schema(found))
               : manual ? command_print_text(manual_class(found))
                        : command_print_text(class_text(all, found));
    g_autofree char *quoted = problems_quote(use);
    if (why) {
        g_autofree char *reason = visible(why);
        fprintf(stderr, "tracemill inspect: no loaded module has the class %s\n  hint: %s\n",
                quoted, reason);
        return COMMAND_NO_MODULE;
    }
    g_autofree char *told = modules_hint(all, use);
    g_autofree char *hint = visible(told ? told : "tracemill list shows all");
    fprintf(stderr, "tracemill inspect: there is no class %s\n  hint: %s\n", quoted, hint);
    return COMMAND_USAGE;
}

int inspect_main(int argc, char **argv) {
    command c;
    gboolean manual = FALSE;
    const GOptionEntry more[] = {{"man", 0, 0, G_OPTION_ARG_NONE, &manual,
                                  "Print a manual page, which man -l - shows", NULL},
                                 {0}};
    if (!command_parse(&c, more, "CLASS", "Shows what a stage class takes, gives and can be told.",
                       &argc, &argv))
        return COMMAND_USAGE;
    int exit_code = COMMAND_USAGE;
    if (argc == 2)
        exit_code = inspect_class(&c, manual, argv[1]);
    else
        fprintf(stderr, "tracemill inspect: needs one class, such as: tracemill inspect overlap\n"
                        "  hint: tracemill list shows all\n");
    command_finish(&c);
    return exit_code;
}
