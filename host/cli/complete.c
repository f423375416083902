/* SPDX-License-Identifier: Apache-2.0 */
/* Completion of the command line from the tables that commands and classes are parsed by. */
#include "cli/complete.h"

#include "check/plan.h"
#include "config/document.h"
#include "module/place.h"
#include <stdio.h>
#include <string.h>

typedef struct completion {
    const named_command *commands;
    command_description *does; /* of the command on the line */
    char **words;              /* of the line, the command's name first */
    guint n_words;             /* with the one that is being written */
    const char *before;        /* what of the current word stands before the part to complete */
    const char *part;          /* the part */
} completion;

/* ---------------------------------------------------------------- candidates */

/* Prints it if it goes on from what is written. */
static void offer(const completion *c, const char *candidate, const char *meaning) {
    if (!g_str_has_prefix(candidate, c->part))
        return;
    g_autofree char *text = g_strdup(meaning != NULL ? meaning : "");
    g_strdelimit(text, "\t\n", ' ');
    printf("%s%s%s%s\n", c->before, candidate, *text != '\0' ? "\t" : "", text);
}

static void offer_commands(const completion *c) {
    for (const named_command *one = c->commands; one->name != NULL; one++)
        offer(c, one->name, one->summary);
}

static void offer_options(const completion *c) {
    for (guint i = 0; i < c->does->options->len; i++) {
        const GOptionEntry *o = &g_array_index(c->does->options, GOptionEntry, i);
        g_autofree char *name = g_strconcat("--", o->long_name, NULL);
        if (!(o->flags & G_OPTION_FLAG_HIDDEN))
            offer(c, name, o->description);
    }
    offer(c, "--help", "Show the options of the command");
}

static void offer_pipelines(const completion *c) {
    g_autoptr(place) where = place_create(NULL);
    g_auto(GStrv) names = plan_ready(where->data_dir);
    for (char **name = names; *name != NULL; name++)
        offer(c, *name, "ready pipeline");
    puts(":files");
}

/* ---------------------------------------------------------------- the words before */

static const GOptionEntry *find_option(const completion *c, const char *word) {
    for (guint i = 0; i < c->does->options->len; i++) {
        const GOptionEntry *o = &g_array_index(c->does->options, GOptionEntry, i);
        bool is_long = g_str_has_prefix(word, "--") && strcmp(word + 2, o->long_name) == 0;
        bool is_short = word[0] == '-' && word[1] == o->short_name && word[1] != '\0' && !word[2];
        if (is_long || is_short)
            return o;
    }
    return NULL;
}

static bool takes_value(const GOptionEntry *o) {
    return o != NULL && o->arg != G_OPTION_ARG_NONE;
}

/* Word i is the value of the option before it. */
static bool is_value(const completion *c, guint i) {
    return i > 1 && takes_value(find_option(c, c->words[i - 1]));
}

/* The words before the current one that are no options and not the command. */
static GPtrArray *positional(const completion *c) {
    GPtrArray *found = g_ptr_array_new();
    for (guint i = 1; i + 1 < c->n_words; i++)
        if (c->words[i][0] != '-' && !is_value(c, i))
            g_ptr_array_add(found, c->words[i]);
    return found;
}

/* The modules that the line leads to. */
static modules *scan(const completion *c) {
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    command common = {0};
    for (guint i = 1; i + 1 < c->n_words; i++) {
        static const char path[] = "--plugin-path";
        if (g_str_has_prefix(c->words[i], path) && c->words[i][strlen(path)] == '=')
            g_ptr_array_add(paths, c->words[i] + strlen(path) + 1);
        else if (strcmp(c->words[i], path) == 0 && i + 2 < c->n_words)
            g_ptr_array_add(paths, c->words[i + 1]);
        common.trust_writable |= strcmp(c->words[i], "--trust-writable") == 0;
    }
    g_ptr_array_add(paths, NULL);
    common.plugin_paths = (char **)paths->pdata;
    return command_scan(&common, NULL);
}

/* ---------------------------------------------------------------- classes and their options */

static void offer_classes(const completion *c) {
    g_autoptr(modules) all = scan(c);
    const GPtrArray *list = modules_list(all);
    for (guint i = 0; i < list->len; i++) {
        const module *m = list->pdata[i];
        for (guint j = 0; m->state == MODULE_LOADED && j < m->class_names->len; j++) {
            const char *name = m->class_names->pdata[j];
            g_autofree char *full = g_strdup_printf("%s:%s", m->id, name);
            if (modules_class_owner(all, name) == m)
                offer(c, name, m->summary);
            if (modules_class_owner(all, name) != m || strchr(c->part, ':') != NULL)
                offer(c, full, m->summary);
        }
    }
}

/* After "stage.option=". */
static void offer_values(completion *c, const mill_option *o) {
    mill_opt_type type = o->type == MILL_OPT_LIST ? o->elem : o->type;
    if (type == MILL_OPT_PATH)
        puts(":files");
    if (type == MILL_OPT_BOOL) {
        offer(c, "yes", NULL);
        offer(c, "no", NULL);
    }
    for (size_t i = 0; type == MILL_OPT_ENUM && o->choices[i] != NULL; i++)
        offer(c, o->choices[i], NULL);
}

/* The values where the part is "stage.key=…" with that key, else the key. */
static void offer_setting(completion *c, const char *stage, const mill_option *o) {
    g_autofree char *key = g_strdup_printf("%s.%s=", stage, o->name);
    if (!g_str_has_prefix(c->part, key)) {
        offer(c, key, o->help);
        return;
    }
    completion inner = *c;
    g_autofree char *before = g_strconcat(c->before, key, NULL);
    inner.before = before;
    inner.part = c->part + strlen(key);
    offer_values(&inner, o);
}

static void offer_section(completion *c, modules *all, const section *sec) {
    const setting *use = section_get(sec, "use");
    g_autofree char *why = NULL;
    const stage_class *cls = use != NULL ? modules_class(all, use->value, &why) : NULL;
    for (size_t i = 0; cls != NULL && i < cls->n_options; i++)
        offer_setting(c, sec->name, &cls->options[i]);
    size_t n;
    const mill_option *run = plan_run_options(&n);
    for (size_t i = 0; cls != NULL && i < n; i++)
        offer_setting(c, sec->name, &run[i]);
}

static void offer_variables(completion *c, const section *sec) {
    for (guint i = 0; i < sec->settings->len; i++) {
        const setting *one = sec->settings->pdata[i];
        const mill_option file = {.name = one->key, .type = MILL_OPT_PATH, .help = one->value};
        offer_setting(c, sec->name, &file);
    }
}

/* "STAGE.KEY=VALUE" of the pipeline on the line. */
static void offer_settings(completion *c) {
    g_autoptr(GPtrArray) named = positional(c);
    if (named->len == 0)
        return;
    g_autoptr(place) where = place_create(NULL);
    g_autoptr(problems) untold = problems_create();
    plan_request request = {.pipeline = named->pdata[0], .data_dir = where->data_dir};
    g_autofree char *path = plan_find(&request, untold);
    if (path == NULL)
        return;
    g_autoptr(document) doc = document_read(path, where->data_dir, untold);
    g_autoptr(modules) all = scan(c);
    for (guint i = 0; i < doc->sections->len; i++) {
        const section *sec = doc->sections->pdata[i];
        if (strcmp(sec->name, DOCUMENT_VARS) == 0)
            offer_variables(c, sec);
        else if (strcmp(sec->name, DOCUMENT_PIPELINE) != 0)
            offer_section(c, all, sec);
    }
}

/* ---------------------------------------------------------------- what stands where */

/* What a word of a help text stands for: "CLASS", "DIR", "text|dot|mermaid". */
static void offer_kind(completion *c, const char *kind) {
    if (g_str_has_prefix(kind, "PIPELINE"))
        offer_pipelines(c);
    else if (g_str_has_prefix(kind, "CLASS"))
        offer_classes(c);
    else if (g_str_has_prefix(kind, "COMMAND"))
        offer_commands(c);
    else if (g_str_has_prefix(kind, "FILE"))
        puts(":files");
    else if (g_str_has_prefix(kind, "DIR") || g_str_has_prefix(kind, "FOLDER"))
        puts(":folders");
    else if (strcmp(kind, "STAGE.KEY=VALUE") == 0)
        offer_settings(c);
    else if (strchr(kind, '|') != NULL) {
        g_auto(GStrv) choices = g_strsplit(kind, "|", -1);
        for (char **choice = choices; *choice != NULL; choice++)
            offer(c, *choice, NULL);
    }
}

/* The words of "PIPELINE [FILE…]", the last of which may come again. */
static void offer_positional(completion *c) {
    g_autoptr(GPtrArray) before = positional(c);
    g_auto(GStrv) kinds = g_strsplit_set(c->does->parameters, " []", -1);
    const char *last = NULL;
    guint n = 0;
    for (char **kind = kinds; *kind != NULL; kind++) {
        if (**kind == '\0')
            continue;
        last = *kind;
        if (n++ == before->len)
            break;
    }
    if (last != NULL && (n == before->len + 1 || g_str_has_suffix(last, "…")))
        offer_kind(c, last);
}

static void offer_word(completion *c) {
    const char *word = c->words[c->n_words - 1], *equals = strchr(word, '=');
    c->before = "";
    c->part = word;
    if (is_value(c, c->n_words - 1)) {
        offer_kind(c, find_option(c, c->words[c->n_words - 2])->arg_description);
    } else if (g_str_has_prefix(word, "--") && equals != NULL) {
        g_autofree char *name = g_strndup(word, (size_t)(equals - word));
        g_autofree char *before = g_strndup(word, (size_t)(equals + 1 - word));
        const GOptionEntry *o = find_option(c, name);
        c->before = before;
        c->part = equals + 1;
        if (takes_value(o))
            offer_kind(c, o->arg_description);
    } else if (*word == '-') {
        offer_options(c);
    } else {
        offer_positional(c);
    }
}

int complete_main(const named_command *commands, int argc, char **argv) {
    int from = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
    completion c = {commands, NULL, argv + from, (guint)MAX(argc - from, 0), "", ""};
    if (c.n_words <= 1) {
        c.part = c.n_words == 1 ? c.words[0] : "";
        offer_commands(&c);
        return 0;
    }
    for (const named_command *one = commands; one->name != NULL; one++)
        if (strcmp(one->name, c.words[0]) == 0) {
            g_auto(command_description) does;
            command_describe(one, &does);
            c.does = &does;
            offer_word(&c);
        }
    return 0;
}
