/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill new KIND NAME`: a project of one's own to begin a plugin with. */
#include "cli/new.h"

#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/project.h"
#include "config/problems.h"
#include "config/suggest.h"
#include "config/visible.h"
#include "module/place.h"
#include "module/validate.h"

#define KINDS "stage, reader, exporter or type"

typedef struct request {
    const char *kind, *name;
    char *dir, *module_id, *language; /* of the command line; NULL: not given */
    gboolean json;
    bool cpp;
    project_names names;
} request;

static void request_finish(request *r) {
    g_free(r->dir);
    g_free(r->module_id);
    g_free(r->language);
    g_free(r->names.type_id);
    g_free(r->names.module_id);
    g_free(r->names.class_name);
    g_free(r->names.folder);
    g_free(r->names.identifier);
}

G_GNUC_PRINTF(2, 3) static bool refuse(const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *shown = visible(text), *shown_hint = visible(hint);
    fprintf(stderr, "tracemill new: %s\n  hint: %s\n", shown, shown_hint);
    return false;
}

/* ---------------------------------------------------------------- names */

/* The nearest text that only has what names may have. */
static char *as_name(const char *text) {
    g_autofree char *lower = g_ascii_strdown(text, -1);
    return g_strdup(g_strcanon(lower, "abcdefghijklmnopqrstuvwxyz0123456789./-", '-'));
}

/* A name without dots is the host's to give: with the author's before it, two can't collide. */
static bool is_own_name(const char *name) {
    return validate_name(name) && strchr(name, '.') != NULL;
}

static bool is_own_type(const char *id) {
    return validate_type_id(id) && strchr(id, '.') != NULL && !g_str_has_prefix(id, "mill.");
}

static bool refuse_name(const request *r, bool (*is_good)(const char *), const char *what,
                        const char *example) {
    g_autofree char *quoted = problems_quote(r->name), *near = as_name(r->name);
    g_autofree char *revised = g_strconcat(near, "/1", NULL);
    const char *better = is_good(near) ? near : is_good(revised) ? revised : NULL;
    g_autofree char *hint = better != NULL ? g_strdup_printf("did you mean \"%s\"?", better)
                                           : g_strdup_printf("such as %s", example);
    return refuse(hint, "%s is no %s", quoted, what);
}

static bool name_class(request *r) {
    if (!is_own_name(r->name))
        return refuse_name(r, is_own_name,
                           "name for a stage class: parts of a-z, 0-9 and - joined by dots, each "
                           "beginning with a letter; the first says whose it is",
                           "acme.busy");
    r->names.class_name = g_strdup(r->name);
    r->names.module_id = g_strconcat("org.", r->name, NULL);
    return true;
}

/* The stages of org.acme.fit/1 are acme.fit.measure and acme.fit.sum. */
static bool name_type(request *r) {
    if (!is_own_type(r->name))
        return refuse_name(r, is_own_type,
                           "id for a type: a name with dots, which says whose it is, and a "
                           "revision; mill.… is the host's",
                           "org.acme.fit/1");
    r->names.type_id = g_strdup(r->name);
    r->names.module_id = g_strndup(r->name, strcspn(r->name, "/"));
    const char *dot = strchr(r->names.module_id, '.');
    r->names.class_name = g_strdup(strchr(dot + 1, '.') ? dot + 1 : r->names.module_id);
    return true;
}

static bool make_names(request *r) {
    bool type = strcmp(r->kind, "type") == 0;
    if (!(type ? name_type(r) : name_class(r)))
        return false;
    if (r->module_id != NULL) {
        if (!is_own_name(r->module_id)) {
            g_autofree char *quoted = problems_quote(r->module_id);
            return refuse("such as org.acme.busy",
                          "%s is no id for a module: it is a name with "
                          "dots, of the form of a class's",
                          quoted);
        }
        g_free(r->names.module_id);
        r->names.module_id = g_strdup(r->module_id);
    }
    g_autofree char *longest = g_strconcat(r->names.class_name, type ? ".measure" : "", NULL);
    if (!validate_name(longest) || !validate_name(r->names.module_id))
        return refuse("choose a shorter one",
                      "the name is too long: %d bytes are the most, with "
                      "what the project puts before and behind it",
                      VALIDATE_MAX_NAME);
    r->names.folder = g_strdelimit(g_strdup(r->names.class_name), ".", '-');
    r->names.identifier = g_strdelimit(g_strdup(r->names.class_name), ".-", '_');
    return true;
}

/* ---------------------------------------------------------------- the command line */

static bool check_kind(const char *kind) {
    static const char *const kinds[] = {"stage", "reader", "exporter", "type", NULL};
    if (g_strv_contains(kinds, kind))
        return true;
    g_autofree char *quoted = problems_quote(kind), *near = suggest_hint(kind, kinds);
    return refuse(near != NULL ? near : "tracemill new --help",
                  "%s is no kind of project: there are " KINDS, quoted);
}

static bool check_language(request *r) {
    r->cpp = g_strcmp0(r->language, "c++") == 0;
    if (r->language == NULL || r->cpp || strcmp(r->language, "c") == 0)
        return true;
    g_autofree char *quoted = problems_quote(r->language);
    return refuse("leave it out for c", "--language %s: it is c or c++", quoted);
}

static bool parse(request *r, int argc, char **argv) {
    const GOptionEntry entries[] = {{"dir", 'd', 0, G_OPTION_ARG_FILENAME, &r->dir,
                                     "The folder to make (default: the name, with - for dots)",
                                     "DIR"},
                                    {"module-id", 0, 0, G_OPTION_ARG_STRING, &r->module_id,
                                     "The module's id (default: org. and the name)", "ID"},
                                    {"language", 'l', 0, G_OPTION_ARG_STRING, &r->language,
                                     "In what language (default: c)", "c|c++"},
                                    {"json", 0, 0, G_OPTION_ARG_NONE, &r->json, "Print JSON", NULL},
                                    {0}};
    if (!command_parse_plain(
            entries, "stage|reader|exporter|type NAME",
            "Writes a project of your own, outside of Tracemill's tree, to begin a "
            "plugin with: sources, build, test, README, a pipeline. NAME is that of "
            "the stage class, such as acme.busy, or the id of a type, such as "
            "org.acme.fit/1.",
            &argc, &argv))
        return false;
    if (argc != 3)
        return refuse("such as: tracemill new stage acme.busy",
                      "needs a kind (" KINDS ") and a name");
    r->kind = argv[1];
    r->name = argv[2];
    if (r->dir != NULL && *r->dir == '\0')
        return refuse("leave it out, or name a folder", "--dir has no text");
    return check_kind(r->kind) && check_language(r) && make_names(r);
}

/* ---------------------------------------------------------------- the command */

/* What must stand before `meson setup` so that it finds this SDK, where pkg-config does not look by
 * itself; else "". */
static char *pkg_config_setting(const place *where) {
    if (where->built || where->plugin_dirs[0] == NULL)
        return g_strdup("");
    g_autofree char *plain = g_build_filename(where->plugin_dirs[0], "..", "..", "pkgconfig", NULL);
    g_autofree char *folder = g_canonicalize_filename(plain, "/");
    g_autofree char *file = g_build_filename(folder, "tracemill.pc", NULL);
    const char *path = g_getenv("PKG_CONFIG_PATH");
    g_auto(GStrv) known = g_strsplit(path != NULL ? path : "", ":", -1);
    if (g_str_has_prefix(folder, "/usr/") || g_strv_contains((const char *const *)known, folder) ||
        !g_file_test(file, G_FILE_TEST_EXISTS))
        return g_strdup("");
    g_autofree char *word = g_shell_quote(folder);
    return g_strdup_printf("PKG_CONFIG_PATH=%s ", word);
}

static int tell(const request *r, const place *where, const char *folder, const GPtrArray *files) {
    if (r->json) {
        cJSON *json = cJSON_CreateObject();
        g_autofree char *shown = visible(folder);
        cJSON_AddStringToObject(json, "schema", "tracemill.new/1");
        cJSON_AddStringToObject(json, "kind", r->kind);
        cJSON_AddStringToObject(json, "name", r->name);
        cJSON_AddStringToObject(json, "module", r->names.module_id);
        cJSON_AddStringToObject(json, "folder", shown);
        cJSON *list = cJSON_AddArrayToObject(json, "files");
        for (guint i = 0; i < files->len; i++) {
            const project_file *file = g_ptr_array_index(files, i);
            cJSON_AddItemToArray(list, cJSON_CreateString(file->path));
        }
        return command_print_json(json);
    }
    GString *text = g_string_new(NULL);
    g_autofree char *shown = visible(folder), *quoted = g_shell_quote(folder);
    g_autofree char *word = strcspn(folder, " \t'\"\\$`*?[]~#&;|<>(){}!\n") == strlen(folder)
                                ? g_strdup(folder)
                                : visible(quoted);
    const char *article = strchr("aeiou", *r->kind) ? "an" : "a";
    g_string_append_printf(text, "%s: %s %s %s in the module %s\n", shown, article, r->kind,
                           r->name, r->names.module_id);
    for (guint i = 0; i < files->len; i++) {
        const project_file *file = g_ptr_array_index(files, i);
        g_string_append_printf(text, "  %s\n", file->path);
    }
    g_autofree char *setting = pkg_config_setting(where);
    g_autofree char *shown_setting = visible(setting);
    g_string_append_printf(
        text, "\nBuild and test it: cd %s && %smeson setup build && meson test -C build\n", word,
        shown_setting);
    return command_print_text(text);
}

static int make(const request *r) {
    g_autoptr(place) where = place_create(NULL);
    g_autofree char *from = g_build_filename(where->template_dir, r->kind, NULL);
    const char *folder = r->dir != NULL ? r->dir : r->names.folder;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) files = project_read(from, r->cpp, &r->names, &error);
    if (files == NULL) {
        refuse("is Tracemill installed whole? The templates belong to it", "%s", error->message);
        return COMMAND_IO;
    }
    if (!project_write(files, folder, &error)) {
        refuse("--dir DIR chooses another folder", "%s", error->message);
        return COMMAND_IO;
    }
    return tell(r, where, folder, files);
}

int new_main(int argc, char **argv) {
    request r = {0};
    int exit_code = parse(&r, argc, argv) ? make(&r) : COMMAND_USAGE;
    request_finish(&r);
    return exit_code;
}
