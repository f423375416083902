/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill list`: every module found, and whether it can be used. */
#include "cli/list.h"

#include "cli/command.h"
#include "cli/page.h"
#include "config/problems.h"
#include <stdio.h>
#include <string.h>

enum { DETAIL_INDENT = 4, MAX_CELL = 32 };

/* A module that could not say its name is called by its file's. */
static char *shown_name(const module *m) {
    if (m->id)
        return g_strdup(m->id);
    return g_path_get_basename(m->path);
}

static char *shown_abi(const module *m) {
    return m->has_abi ? g_strdup_printf("%u.%u", m->abi_major, m->abi_minor) : g_strdup("-");
}

static const char *shown_version(const module *m) {
    return m->version ? m->version : "-";
}

/* True if a plain `use = NAME` means the class of another module, found before. */
static bool is_shadowed(const modules *all, const module *m, const char *name) {
    return m->state == MODULE_LOADED && modules_class_owner(all, name) != m;
}

static char *shown_classes(const modules *all, const module *m) {
    GString *text = g_string_new(NULL);
    for (guint i = 0; m->class_names && i < m->class_names->len; i++) {
        const char *name = m->class_names->pdata[i];
        g_string_append_printf(text, "%s%s%s", i ? ", " : "", name,
                               is_shadowed(all, m, name) ? " (shadowed)" : "");
    }
    return g_string_free(text, FALSE);
}

/* What hides a class, and how to have it all the same. */
static void shadowed_text(GString *page, const modules *all, const module *m) {
    for (guint i = 0; m->class_names && i < m->class_names->len; i++) {
        const char *name = m->class_names->pdata[i];
        if (!is_shadowed(all, m, name))
            continue;
        const module *owner = modules_class_owner(all, name);
        g_autofree char *text = g_strdup_printf("\"%s\" alone means the class of module \"%s\", "
                                                "found before; this one is use = %s:%s",
                                                name, owner->id, m->id, name);
        page_wrap(page, text, 0, DETAIL_INDENT);
    }
}

static GString *list_text(const modules *all) {
    const GPtrArray *list = modules_list(all);
    unsigned name_width = strlen("MODULE"), version_width = strlen("VERSION");
    for (guint i = 0; i < list->len; i++) {
        g_autofree char *name = shown_name(list->pdata[i]);
        name_width = MAX(name_width, (unsigned)g_utf8_strlen(name, -1));
        version_width =
            MAX(version_width, (unsigned)g_utf8_strlen(shown_version(list->pdata[i]), -1));
    }
    name_width = MIN(name_width, MAX_CELL) + 2;
    version_width = MIN(version_width, MAX_CELL / 2) + 2;
    unsigned classes_column = name_width + version_width + strlen("1.0  shadowed  ");

    GString *page = g_string_new(NULL);
    page_cell(page, "MODULE", name_width);
    page_cell(page, "VERSION", version_width);
    g_string_append(page, "ABI  STATE     CLASSES\n");
    for (guint i = 0; i < list->len; i++) {
        const module *m = list->pdata[i];
        g_autofree char *name = shown_name(m), *abi = shown_abi(m);
        g_autofree char *classes = shown_classes(all, m);
        page_cell(page, name, name_width);
        page_cell(page, shown_version(m), version_width);
        page_cell(page, abi, strlen("1.0  "));
        page_cell(page, module_state_name(m), strlen("shadowed  "));
        page_wrap(page, classes, classes_column, classes_column);
        page_wrap(page, m->path, 0, DETAIL_INDENT);
        if (m->why)
            page_wrap(page, m->why, 0, DETAIL_INDENT);
        shadowed_text(page, all, m);
    }
    return page;
}

/* The classes that a plain name does not lead to, and the module that it leads to. */
static void shadowed_json(cJSON *item, const modules *all, const module *m) {
    cJSON *names = cJSON_AddArrayToObject(item, "shadowed_classes");
    cJSON *owners = cJSON_AddObjectToObject(item, "shadowed_by");
    for (guint i = 0; m->class_names && i < m->class_names->len; i++) {
        const char *name = m->class_names->pdata[i];
        if (!is_shadowed(all, m, name))
            continue;
        cJSON_AddItemToArray(names, cJSON_CreateString(name));
        cJSON_AddStringToObject(owners, name, modules_class_owner(all, name)->id);
    }
}

static cJSON *list_json(const modules *all) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "tracemill.list/1");
    cJSON *array = cJSON_AddArrayToObject(json, "modules");
    const GPtrArray *list = modules_list(all);
    for (guint i = 0; i < list->len; i++) {
        const module *m = list->pdata[i];
        cJSON *item = module_to_json(m);
        shadowed_json(item, all, m);
        cJSON_AddItemToArray(array, item);
    }
    return json;
}

/* A plugin that was built elsewhere than its author thinks would otherwise be missing in silence.
 */
static void tell_empty(const modules *all, const command *c) {
    for (char **folder = c->plugin_paths; folder && *folder; folder++) {
        g_autofree char *path = g_canonicalize_filename(*folder, NULL);
        bool seen = false;
        for (guint i = 0; i < modules_list(all)->len && !seen; i++) {
            const module *m = modules_list(all)->pdata[i];
            g_autofree char *dir = g_path_get_dirname(m->path);
            seen = strcmp(dir, path) == 0 || strcmp(m->path, path) == 0;
        }
        g_autofree char *quoted = problems_quote(*folder);
        if (!seen)
            fprintf(stderr, "tracemill list: no file in %s ends in .so\n", quoted);
    }
}

int list_main(int argc, char **argv) {
    command c;
    if (!command_parse(&c, NULL, NULL, "Shows every module found, in the order of the search.",
                       &argc, &argv))
        return COMMAND_USAGE;
    int exit_code = COMMAND_USAGE;
    if (argc > 1) {
        g_autofree char *quoted = problems_quote(argv[1]);
        fprintf(stderr, "tracemill list: takes no arguments, and %s is one\n", quoted);
    } else {
        g_autoptr(modules) all = command_scan(&c, NULL);
        exit_code =
            c.json ? command_print_json(list_json(all)) : command_print_text(list_text(all));
        tell_empty(all, &c);
        if (modules_list(all)->len == 0)
            fprintf(stderr, "tracemill list: no modules found: give --plugin-path DIR\n");
    }
    command_finish(&c);
    return exit_code;
}
