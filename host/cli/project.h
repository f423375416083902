/* SPDX-License-Identifier: Apache-2.0 */
/* A project of a plugin author's, made from a template: its names put in, and written. */
#ifndef HOST_CLI_PROJECT_H
#define HOST_CLI_PROJECT_H

#include <glib.h>
#include <stdbool.h>

/* What stands in the place of the template's names. */
typedef struct project_names {
    char *type_id;    /* "org.acme.fit/1", for org.acme.thing/1; NULL: the template has none */
    char *module_id;  /* "org.acme.fit", for org.acme.thing */
    char *class_name; /* "acme.fit", for acme.thing; also with more parts behind it */
    char *folder;     /* "acme-fit", for acme-thing */
    char *identifier; /* "acme_fit", for acme_thing; in capitals for ACME_THING */
} project_names;

typedef struct project_file {
    char *path; /* from the project's folder */
    char *text;
    gsize length;
} project_file;

/* The files of a project, in order of their paths: those of the template's folder but for c++/, or
 * with `cpp` also those of c++/, which replace others of the same path, and none of src/ that ends
 * with .c. NULL: the template can't be read. */
GPtrArray *project_read(const char *folder, bool cpp, const project_names *names, GError **error);

/* Makes the folder, which must not be there or be empty, and writes the files into it. False: it
 * left nothing of its own there. */
bool project_write(const GPtrArray *files, const char *folder, GError **error);

#endif
