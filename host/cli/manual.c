/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the gaps of the manual's texts from the tables that the program itself works by. */
#include "cli/manual.h"

#include "check/plan.h"
#include "cli/class.h"
#include "cli/roff.h"
#include "module/place.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct manual {
    const named_command *commands;
    const place *where;
    modules *modules;
} manual;

/* ---------------------------------------------------------------- commands */

/* "-s", "--set" or "--set=STAGE.KEY=VALUE", in bold but for the value. */
static void option_name(GString *page, const GOptionEntry *o) {
    g_string_append(page, ".TP\n");
    if (o->short_name != '\0')
        g_string_append_printf(page, "\\fB\\-%c\\fR, ", o->short_name);
    g_string_append(page, "\\fB\\-\\-");
    roff_escape(page, o->long_name, true);
    g_string_append(page, "\\fR");
    if (o->arg_description != NULL) {
        g_string_append(page, "=\\fI");
        roff_escape(page, o->arg_description, true);
        g_string_append(page, "\\fR");
    }
    g_string_append_c(page, '\n');
}

static void fill_commands(GString *page, const manual *all) {
    for (const named_command *c = all->commands; c->name != NULL; c++) {
        g_auto(command_description) d;
        command_describe(c, &d);
        g_string_append(page, ".SS ");
        roff_escape(page, c->name, true);
        g_string_append(page, "\n.B tracemill ");
        roff_escape(page, c->name, true);
        g_string_append(page, "\n[\\fIoption\\fR...]");
        if (*d.parameters != '\0') {
            g_string_append(page, " \\fI");
            roff_escape(page, d.parameters, false);
            g_string_append(page, "\\fR");
        }
        g_string_append(page, "\n.PP\n");
        g_autofree char *summary = g_strconcat(c->summary, ".", NULL);
        *summary = g_ascii_toupper(*summary);
        roff_prose(page, summary, false);
        for (guint i = 0; i < d.options->len; i++) {
            const GOptionEntry *o = &g_array_index(d.options, GOptionEntry, i);
            if (o->flags & G_OPTION_FLAG_HIDDEN)
                continue;
            option_name(page, o);
            g_autofree char *help = g_strconcat(o->description, ".", NULL);
            roff_prose(page, help, true);
        }
    }
}

/* ---------------------------------------------------------------- settings, pipelines, classes */

static void fill_options(GString *page, const mill_option *options, size_t n) {
    for (size_t i = 0; i < n; i++) {
        g_autofree char *words = class_option_words(&options[i]);
        g_autofree char *text = g_strdup_printf("%s: %s.", words, options[i].help);
        *text = g_ascii_toupper(*text);
        roff_tag(page, options[i].name, NULL);
        roff_prose(page, text, true);
    }
}

static void fill_run_keys(GString *page, const manual *all) {
    (void)all;
    size_t n;
    const mill_option *options = plan_run_options(&n);
    fill_options(page, options, n);
}

static void fill_pipeline_keys(GString *page, const manual *all) {
    (void)all;
    size_t n;
    const mill_option *options = plan_pipeline_options(&n);
    fill_options(page, options, n);
}

/* What the file says of itself in its first line: "; How much …". */
static char *first_comment(const char *path) {
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL) || *text != ';')
        return g_strdup("");
    return g_strstrip(g_strndup(text + 1, strcspn(text + 1, "\n")));
}

static void fill_ready(GString *page, const manual *all) {
    g_auto(GStrv) names = plan_ready(all->where->data_dir);
    for (char **name = names; *name != NULL; name++) {
        g_autofree char *file = g_strconcat(*name, ".ini", NULL);
        g_autofree char *path = g_build_filename(all->where->data_dir, "pipelines", file, NULL);
        g_autofree char *says = first_comment(path);
        roff_tag(page, *name, NULL);
        roff_prose(page, says, true);
    }
}

static void fill_classes(GString *page, const manual *all) {
    g_auto(GStrv) names = modules_class_names(all->modules);
    for (char **name = names; *name != NULL; name++) {
        g_autofree char *why = NULL;
        const stage_class *c = modules_class(all->modules, *name, &why);
        if (c == NULL)
            continue;
        g_string_append(page, ".TP\n.BR tracemill\\-");
        roff_escape(page, *name, true);
        g_string_append(page, " (7)\n");
        roff_prose(page, c->stage.summary != NULL ? c->stage.summary : "", true);
    }
}

static void fill_abi(GString *page, const manual *all) {
    (void)all;
    g_string_append_printf(page, "%d.%d\n", MILL_ABI_MAJOR, MILL_ABI_MINOR);
}

/* A line of a text that is nothing but "@NAME@". */
static const struct {
    const char *name;
    void (*fill)(GString *page, const manual *all);
} gaps[] = {
    {"@commands@", fill_commands},           {"@run-keys@", fill_run_keys}, {"@ready@", fill_ready},
    {"@pipeline-keys@", fill_pipeline_keys}, {"@classes@", fill_classes},   {"@abi@", fill_abi},
};

/* ---------------------------------------------------------------- pages */

static bool fill_line(GString *page, const manual *all, const char *line) {
    for (size_t i = 0; i < G_N_ELEMENTS(gaps); i++)
        if (strcmp(gaps[i].name, line) == 0) {
            gaps[i].fill(page, all);
            return true;
        }
    return false;
}

static GString *fill_page(const manual *all, const char *text) {
    GString *page = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++)
        if (!fill_line(page, all, *line) && (**line != '\0' || line[1] != NULL))
            g_string_append_printf(page, "%s\n", *line);
    g_string_replace(page, "@date@", MANUAL_DATE, 0);
    g_string_replace(page, "@version@", TRACEMILL_VERSION, 0);
    return page;
}

/* Writes FOLDER/man7/NAME.7; the last character of the name is the section. */
static int write_page(const char *folder, const char *name, const GString *page) {
    g_autofree char *sub = g_strconcat("man", name + strlen(name) - 1, NULL);
    g_autofree char *dir = g_build_filename(folder, sub, NULL);
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autoptr(GError) error = NULL;
    if (g_mkdir_with_parents(dir, 0755) == 0 &&
        g_file_set_contents_full(path, page->str, (gssize)page->len, G_FILE_SET_CONTENTS_NONE, 0644,
                                 &error))
        return 0;
    fprintf(stderr, "tracemill manual: %s\n", error != NULL ? error->message : g_strerror(errno));
    return COMMAND_IO;
}

static int write_texts(const manual *all, const char *texts, const char *folder) {
    static const char *const names[] = {"tracemill.1", "tracemill-pipeline.5",
                                        "tracemill-plugin.7"};
    int exit_code = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(names) && exit_code == 0; i++) {
        g_autofree char *path = g_build_filename(texts, names[i], NULL), *text = NULL;
        g_autoptr(GError) error = NULL;
        if (!g_file_get_contents(path, &text, NULL, &error)) {
            fprintf(stderr, "tracemill manual: %s\n", error->message);
            return COMMAND_IO;
        }
        g_autoptr(GString) page = fill_page(all, text);
        exit_code = write_page(folder, names[i], page);
    }
    return exit_code;
}

static int write_classes(const manual *all, const char *folder) {
    int exit_code = 0;
    g_auto(GStrv) names = modules_class_names(all->modules);
    for (char **name = names; *name != NULL && exit_code == 0; name++) {
        g_autofree char *why = NULL, *file = g_strdup_printf("tracemill-%s.7", *name);
        const stage_class *c = modules_class(all->modules, *name, &why);
        if (c == NULL)
            continue;
        g_autoptr(GString) page = manual_class(c);
        exit_code = write_page(folder, file, page);
    }
    return exit_code;
}

/* Pages of classes that are gone must not stay. */
static void remove_old(const char *folder) {
    static const char *const sections[] = {"man1", "man5", "man7"};
    for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
        g_autofree char *path = g_build_filename(folder, sections[i], NULL);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
            g_autofree char *page = g_build_filename(path, name, NULL);
            if (g_str_has_prefix(name, "tracemill"))
                remove(page);
        }
    }
}

int manual_main(const named_command *commands, int argc, char **argv) {
    command c;
    if (!command_parse(&c, NULL, "TEXTS FOLDER", "Writes the manual pages below FOLDER.", &argc,
                       &argv))
        return COMMAND_USAGE;
    int exit_code = COMMAND_USAGE;
    if (argc == 3) {
        g_autoptr(place) where = place_create(NULL);
        g_autoptr(modules) all = command_scan(&c, NULL);
        manual m = {commands, where, all};
        remove_old(argv[2]);
        exit_code = write_texts(&m, argv[1], argv[2]);
        if (exit_code == 0)
            exit_code = write_classes(&m, argv[2]);
    } else {
        fprintf(stderr, "tracemill manual: needs the folder of the texts, and one to write to\n");
    }
    command_finish(&c);
    return exit_code;
}
