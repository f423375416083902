/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program is installed or was built, and the folders that belong to it. */
#ifndef HOST_MODULE_PLACE_H
#define HOST_MODULE_PLACE_H

#include <glib.h>
#include <stdbool.h>

/* Beside a program that lies in its build tree: a key file with the group [build-tree] and the keys
 * `plugins` (list of folders), `data` (the source's etc folder) and `template`. Never installed. */
#define PLACE_BUILD_FILE "build-tree.ini"

typedef struct place {
    char *program;      /* absolute, links resolved */
    bool built;         /* in its build tree */
    char **plugin_dirs; /* absolute; NULL-terminated; they need not exist */
    char *data_dir;     /* ${tracemill:data}: etc/ of the source, or its installed copy */
    char *template_dir; /* sdk/template of the source, or its installed copy */
} place;

/* `program` NULL: the running one. Never NULL. */
place *place_create(const char *program);
void place_destroy(place *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(place, place_destroy)

#endif
