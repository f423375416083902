/* SPDX-License-Identifier: Apache-2.0 */
/* A stage class in words, and as a section to paste. */
#include "cli/class.h"

#include "config/units.h"
#include "config/values.h"
#include <string.h>

/* What an option's type is called: in JSON, to people, and to people in a list; what stands for a
 * value that the user has to give. */
static const struct {
    const char *id, *words, *plural, *example;
} types[] = {
    [MILL_OPT_BOOL] = {"bool", "switch", "switches", "no"},
    [MILL_OPT_INT] = {"int", "whole number", "whole numbers", "1"},
    [MILL_OPT_NUM] = {"num", "number", "numbers", "1"},
    [MILL_OPT_STR] = {"str", "text", "texts", "TEXT"},
    [MILL_OPT_PATH] = {"path", "file", "files", "FILE"},
    [MILL_OPT_REGEX] = {"regex", "regular expression", "regular expressions", ".*"},
    [MILL_OPT_ENUM] = {"enum", "choice", "choices", NULL},
    [MILL_OPT_DURATION] = {"duration", "duration", "durations", "1ms"},
    [MILL_OPT_BYTES] = {"bytes", "size", "sizes", "1MiB"},
    [MILL_OPT_LIST] = {"list", "list of", NULL, NULL},
};

const char *class_type_id(mill_opt_type type) {
    return types[type].id;
}

/* ---------------------------------------------------------------- words */

static const struct {
    uint32_t flag;
    const char *words;
} option_flags[] = {{MILL_OPT_REQUIRED, "required"},
                    {MILL_OPT_DEPRECATED, "deprecated"},
                    {MILL_OPT_GLOB, "wildcards: runs once per file"},
                    {MILL_OPT_ITEM, "may hold ${item}"}},
  port_flags[] = {{MILL_PORT_OPTIONAL, "optional"},
                  {MILL_PORT_MANY, "takes several stages, all at once"},
                  {MILL_PORT_STREAM, "takes several stages, item by item"},
                  {MILL_PORT_ITEMS, "any number of items a run"}};

char *class_port_words(const mill_port *p) {
    GString *words = g_string_new(p->type);
    for (size_t i = 0; i < G_N_ELEMENTS(port_flags); i++)
        if (p->flags & port_flags[i].flag)
            g_string_append_printf(words, ", %s", port_flags[i].words);
    return g_string_free(words, FALSE);
}

char *class_option_words(const mill_option *o) {
    g_autofree char *allowed = values_allowed(o);
    GString *words = g_string_new(types[o->type].words);
    if (o->type == MILL_OPT_LIST)
        g_string_append_printf(words, " %s", types[o->elem].plural);
    if (o->unit)
        g_string_append_printf(words, " in %s", o->unit);
    for (size_t i = 0; i < G_N_ELEMENTS(option_flags); i++)
        if (o->flags & option_flags[i].flag)
            g_string_append_printf(words, ", %s", option_flags[i].words);
    if (allowed)
        g_string_append_printf(words, ", %s", allowed);
    return g_string_free(words, FALSE);
}

/* ---------------------------------------------------------------- a stanza */

/* A value that the option accepts, for one without a default. */
static char *example(const mill_option *o) {
    mill_opt_type type = o->type == MILL_OPT_LIST ? o->elem : o->type;
    bool bounded = o->min < o->max;
    if (o->flags & MILL_OPT_GLOB)
        return g_strdup("${args}");
    if (type == MILL_OPT_ENUM)
        return g_strdup(o->choices[0]);
    if (bounded && (type == MILL_OPT_DURATION || type == MILL_OPT_BYTES))
        return units_format(type == MILL_OPT_DURATION ? UNITS_DURATION : UNITS_BYTES,
                            (int64_t)MAX(o->min, 0));
    if (bounded && (o->min > 1 || o->max < 1))
        return g_strdup_printf("%.17g", o->min);
    return g_strdup(types[type].example);
}

/* "key = value", commented out or not; a comment mark before each line of the value. */
static void append_key(GString *text, bool commented, const char *key, const char *value) {
    const char *mark = commented ? "; " : "";
    bool below = strchr(value, '\n') != NULL;
    g_auto(GStrv) lines = g_strsplit(value, "\n", -1);
    g_string_append_printf(text, "%s%s =", mark, key);
    for (char **line = lines; *line; line++)
        if (below)
            g_string_append_printf(text, "\n%s    %s", mark, *line);
        else
            g_string_append_printf(text, "%s%s", **line ? " " : "", *line);
}

static void append_input(GString *text, const stage_class *c, const mill_port *p) {
    bool several = (p->flags & (MILL_PORT_MANY | MILL_PORT_STREAM)) != 0;
    g_autofree char *key = c->n_inputs > 1 ? g_strconcat("in.", p->name, NULL) : g_strdup("in");
    append_key(text, (p->flags & MILL_PORT_OPTIONAL) != 0, key, "STAGE");
    g_string_append_printf(text, "   ; %sof type %s\n", several ? "one or more, " : "", p->type);
}

char *class_stanza(const stage_class *c) {
    GString *text = g_string_new(NULL);
    g_autofree char *stage = g_strdelimit(g_strdup(c->stage.name), ".", '-');
    g_string_append_printf(text, "[%s]\nuse = %s\n", stage, c->stage.name);
    for (size_t i = 0; i < c->n_inputs; i++)
        append_input(text, c, &c->inputs[i]);
    for (size_t i = 0; i < c->n_options; i++) {
        const mill_option *o = &c->options[i];
        if (o->flags & MILL_OPT_DEPRECATED)
            continue;
        g_autofree char *value = o->def ? g_strdup(o->def) : example(o);
        append_key(text, !(o->flags & MILL_OPT_REQUIRED), o->name, value);
        g_string_append(text, o->def || o->flags & MILL_OPT_GLOB ? "\n" : "   ; an example\n");
    }
    return g_string_free(text, FALSE);
}
