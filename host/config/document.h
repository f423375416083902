/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline file with its includes and the --set arguments: sections and raw settings, each with
 * where it was written and what it overrode. */
#ifndef TRACEMILL_CONFIG_DOCUMENT_H
#define TRACEMILL_CONFIG_DOCUMENT_H

#include "config/items.h"
#include "config/problems.h"

/* The reserved sections; every other one is a stage. */
#define DOCUMENT_PIPELINE "pipeline"
#define DOCUMENT_VARS "vars"

typedef struct section {
    const char *name;
    origin at;           /* its header, in the file that has the last word */
    GPtrArray *settings; /* of setting *, the effective ones, in order; for reading only */
    GHashTable *index;   /* key -> setting * */
} section;

typedef struct document {
    GPtrArray *sections; /* of section *, in order, those of includes first; for reading only */
    GHashTable *index;   /* name -> section * */
    GPtrArray *owned;    /* every setting *, overridden ones too */
    GStringChunk *text;  /* what they point to */
} document;

/* Reads `path` and what it includes. Never NULL: what could not be read is missing from it and told
 * in `p`. `data_dir` is what ${tracemill:data} stands for in an include. */
document *document_read(const char *path, const char *data_dir, problems *p);
/* The same from memory, where includes are relative to the folder of `name`. */
document *document_read_memory(const char *name, const char *data, size_t size,
                               const char *data_dir, problems *p);
void document_destroy(document *doc);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(document, document_destroy)

/* Applies one --set argument, "stage.key=value" or "vars.name=value", over what the files say.
 * Returns false if it is wrong, told in `p` with the origin "--set …". */
bool document_set(document *doc, const char *argument, problems *p);

/* NULL if there is none. */
const section *document_section(const document *doc, const char *name);
const setting *section_get(const section *sec, const char *key);

/* True for [a-z][a-z0-9-]*: what sections, options and variables are called. */
bool document_is_name(const char *text);

#endif
