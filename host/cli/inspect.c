/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill inspect CLASS`: what a stage class takes, gives and can be told. */
#include "cli/inspect.h"

#include "cli/command.h"
#include "cli/page.h"
#include "config/problems.h"
#include "config/values.h"
#include "config/visible.h"
#include <stdio.h>
#include <string.h>

enum { NAME_INDENT = 2, HELP_INDENT = 6 };

/* What an option's type is called: in JSON, to people, and to people in a list. */
static const struct {
    const char *id, *words, *plural;
} types[] = {
    [MILL_OPT_BOOL] = {"bool", "switch", "switches"},
    [MILL_OPT_INT] = {"int", "whole number", "whole numbers"},
    [MILL_OPT_NUM] = {"num", "number", "numbers"},
    [MILL_OPT_STR] = {"str", "text", "texts"},
    [MILL_OPT_PATH] = {"path", "file", "files"},
    [MILL_OPT_REGEX] = {"regex", "regular expression", "regular expressions"},
    [MILL_OPT_ENUM] = {"enum", "choice", "choices"},
    [MILL_OPT_DURATION] = {"duration", "duration", "durations"},
    [MILL_OPT_BYTES] = {"bytes", "size", "sizes"},
    [MILL_OPT_LIST] = {"list", "list of", NULL},
};

static const struct {
    uint32_t flag;
    const char *id, *words;
} option_flags[] = {{MILL_OPT_REQUIRED, "required", "required"},
                    {MILL_OPT_DEPRECATED, "deprecated", "deprecated"},
                    {MILL_OPT_GLOB, "glob", "wildcards: runs once per file"},
                    {MILL_OPT_ITEM, "item", "may hold ${item}"}},
  port_flags[] = {{MILL_PORT_OPTIONAL, "optional", "optional"},
                  {MILL_PORT_MANY, "many", "takes several stages, all at once"},
                  {MILL_PORT_STREAM, "stream", "takes several stages, item by item"},
                  {MILL_PORT_ITEMS, "items", "any number of items a run"}};

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
        g_autoptr(GString) words = g_string_new(ports[i].type);
        for (size_t j = 0; j < G_N_ELEMENTS(port_flags); j++)
            if (ports[i].flags & port_flags[j].flag)
                g_string_append_printf(words, ", %s", port_flags[j].words);
        entry_text(page, ports[i].name, words->str, ports[i].help);
    }
}

static void options_text(GString *page, const stage_class *c) {
    if (c->n_options > 0)
        g_string_append(page, "\nOptions\n");
    for (size_t i = 0; i < c->n_options; i++) {
        const mill_option *o = &c->options[i];
        g_autofree char *allowed = values_allowed(o);
        g_autoptr(GString) words = g_string_new(types[o->type].words);
        if (o->type == MILL_OPT_LIST)
            g_string_append_printf(words, " %s", types[o->elem].plural);
        if (o->unit)
            g_string_append_printf(words, " in %s", o->unit);
        for (size_t j = 0; j < G_N_ELEMENTS(option_flags); j++)
            if (o->flags & option_flags[j].flag)
                g_string_append_printf(words, ", %s", option_flags[j].words);
        if (allowed)
            g_string_append_printf(words, ", %s", allowed);
        entry_text(page, o->name, words->str, o->help);
    }
}

/* A section to paste into a pipeline; what has a default is there as a comment. */
static char *stanza(const stage_class *c) {
    GString *text = g_string_new(NULL);
    g_autofree char *stage = g_strdelimit(g_strdup(c->stage.name), ".", '-');
    g_string_append_printf(text, "[%s]\nuse = %s\n", stage, c->stage.name);
    for (size_t i = 0; i < c->n_inputs; i++) {
        const mill_port *p = &c->inputs[i];
        g_string_append_printf(text, "%sin%s%s = STAGE   ; of type %s\n",
                               p->flags & MILL_PORT_OPTIONAL ? "; " : "",
                               c->n_inputs > 1 ? "." : "", c->n_inputs > 1 ? p->name : "", p->type);
    }
    for (size_t i = 0; i < c->n_options; i++) {
        const mill_option *o = &c->options[i];
        if (o->flags & MILL_OPT_DEPRECATED)
            continue;
        g_auto(GStrv) lines = g_strsplit(o->def ? o->def : "VALUE", "\n", -1);
        g_autofree char *value = g_strjoinv("\n;     ", lines);
        g_string_append_printf(text, "%s%s = %s\n", o->flags & MILL_OPT_REQUIRED ? "" : "; ",
                               o->name, value);
    }
    return g_string_free(text, FALSE);
}

static GString *class_text(const stage_class *c) {
    const module *m = c->module;
    GString *page = g_string_new(NULL);
    g_autofree char *head =
        g_strdup_printf("%s: %s", c->stage.name, c->stage.summary ? c->stage.summary : "");
    page_wrap(page, head, 0, 0);
    g_autofree char *from = g_strdup_printf("module %s %s, %s\n", m->id, m->version, m->path);
    g_autofree char *shown = visible(from); /* a path stays on one line, to be copied */
    g_string_append(page, shown);
    if (c->stage.help && *c->stage.help) {
        g_string_append_c(page, '\n');
        page_wrap(page, c->stage.help, 0, 0);
    }
    ports_text(page, "Inputs", c->inputs, c->n_inputs);
    ports_text(page, "Outputs", c->outputs, c->n_outputs);
    options_text(page, c);
    g_autofree char *ini = stanza(c);
    g_string_append_printf(page, "\nTo paste into a pipeline\n\n%s", ini);
    return page;
}

/* ---------------------------------------------------------------- for programs */

static void add_text(cJSON *json, const char *key, const char *text) {
    if (text)
        cJSON_AddStringToObject(json, key, text);
    else
        cJSON_AddNullToObject(json, key);
}

static void ports_json(cJSON *json, const char *key, const mill_port *ports, size_t n) {
    cJSON *list = cJSON_AddArrayToObject(json, key);
    for (size_t i = 0; i < n; i++) {
        cJSON *port = cJSON_CreateObject();
        cJSON_AddItemToArray(list, port);
        add_text(port, "name", ports[i].name);
        add_text(port, "type", ports[i].type);
        for (size_t j = 0; j < G_N_ELEMENTS(port_flags); j++)
            cJSON_AddBoolToObject(port, port_flags[j].id, ports[i].flags & port_flags[j].flag);
        add_text(port, "help", ports[i].help);
    }
}

static cJSON *option_json(const mill_option *o) {
    cJSON *json = cJSON_CreateObject();
    add_text(json, "name", o->name);
    add_text(json, "type", types[o->type].id);
    if (o->type == MILL_OPT_LIST)
        add_text(json, "elem", types[o->elem].id);
    for (size_t i = 0; i < G_N_ELEMENTS(option_flags); i++)
        cJSON_AddBoolToObject(json, option_flags[i].id, o->flags & option_flags[i].flag);
    add_text(json, "default", o->def);
    if (o->min < o->max) {
        cJSON_AddNumberToObject(json, "min", o->min);
        cJSON_AddNumberToObject(json, "max", o->max);
    }
    if (o->choices) {
        cJSON *choices = cJSON_AddArrayToObject(json, "choices");
        for (size_t i = 0; o->choices[i]; i++)
            cJSON_AddItemToArray(choices, cJSON_CreateString(o->choices[i]));
    }
    add_text(json, "unit", o->unit);
    add_text(json, "help", o->help);
    return json;
}

static cJSON *class_json(const stage_class *c) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "tracemill.inspect/1");
    add_text(json, "name", c->stage.name);
    add_text(json, "summary", c->stage.summary);
    add_text(json, "help", c->stage.help);
    cJSON_AddBoolToObject(json, "single", c->stage.flags & MILL_STAGE_SINGLE);
    cJSON_AddItemToObject(json, "module", module_to_json(c->module));
    ports_json(json, "inputs", c->inputs, c->n_inputs);
    ports_json(json, "outputs", c->outputs, c->n_outputs);
    cJSON *options = cJSON_AddArrayToObject(json, "options");
    for (size_t i = 0; i < c->n_options; i++)
        cJSON_AddItemToArray(options, option_json(&c->options[i]));
    g_autofree char *ini = stanza(c);
    add_text(json, "stanza", ini);
    return json;
}

/* ---------------------------------------------------------------- the command */

static int inspect_class(const command *c, const char *use) {
    g_autoptr(modules) all = command_scan(c, NULL);
    g_autofree char *why = NULL;
    const stage_class *found = modules_class(all, use, &why);
    if (found)
        return c->json ? command_print_json(class_json(found))
                       : command_print_text(class_text(found));
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
    if (!command_parse(&c, NULL, "CLASS", "Shows what a stage class takes, gives and can be told.",
                       &argc, &argv))
        return COMMAND_USAGE;
    int exit_code = COMMAND_USAGE;
    if (argc == 2)
        exit_code = inspect_class(&c, argv[1]);
    else
        fprintf(stderr, "tracemill inspect: needs one class, such as: tracemill inspect overlap\n"
                        "  hint: tracemill list shows all\n");
    command_finish(&c);
    return exit_code;
}
