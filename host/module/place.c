/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program is installed or was built. */
#include "module/place.h"

#include "module/paths.h"

static char *running_program(void) {
    char *program = g_file_read_link("/proc/self/exe", NULL);
    return program ? program : g_strdup("/"); /* no /proc: only --plugin-path and the environment */
}

static bool read_build_file(place *p, const char *dir) {
    g_autofree char *path = g_build_filename(dir, PLACE_BUILD_FILE, NULL);
    g_autoptr(GKeyFile) file = g_key_file_new();
    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
        return false;
    p->plugin_dirs = g_key_file_get_string_list(file, "build-tree", "plugins", NULL, NULL);
    p->data_dir = g_key_file_get_string(file, "build-tree", "data", NULL);
    p->template_dir = g_key_file_get_string(file, "build-tree", "template", NULL);
    if (!p->plugin_dirs)
        p->plugin_dirs = g_new0(char *, 1);
    return p->data_dir != NULL;
}

place *place_create(const char *program) {
    place *p = g_new0(place, 1);
    p->program = program ? g_strdup(program) : running_program();
    g_autofree char *dir = g_path_get_dirname(p->program);
    p->built = read_build_file(p, dir);
    if (!p->built) {
        g_strfreev(p->plugin_dirs);
        p->plugin_dirs = g_new0(char *, 2);
        p->plugin_dirs[0] = g_canonicalize_filename(PATHS_PLUGINS, dir);
        p->data_dir = g_canonicalize_filename(PATHS_DATA, dir);
    }
    if (p->template_dir == NULL)
        p->template_dir = g_build_filename(p->data_dir, "template", NULL);
    return p;
}

void place_destroy(place *p) {
    if (!p)
        return;
    g_free(p->program);
    g_strfreev(p->plugin_dirs);
    g_free(p->data_dir);
    g_free(p->template_dir);
    g_free(p);
}
