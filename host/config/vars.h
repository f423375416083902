/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of ${…} in settings. It comes after a value is split into items, so what a variable
 * holds is never split, with one exception: an item of a list that is nothing but ${x} becomes the
 * items of [vars] x, and ${args} the files named on the command line.
 *
 * ${x:-text} stands for `text` where x is not set or empty, as in the shell; `$$` for one `$`, and
 * a
 * `$` before anything else for itself. */
#ifndef TRACEMILL_CONFIG_VARS_H
#define TRACEMILL_CONFIG_VARS_H

#include "config/document.h"

typedef struct vars vars;

/* What a setting may hold beside what every one may. */
#define VARS_ARGS 1u /* ${args}, as a whole item of a list of files */
#define VARS_ITEM 2u /* ${item}, which stays, see vars_item */

#define VARS_OUTSIDE 4u /* nothing of [vars]: an include, read before them */

/* All arguments may be NULL and are borrowed until vars_destroy: the [vars] section, the folder for
 * ${tracemill:data}, the files for ${args} (NULL-terminated). */
vars *vars_create(const section *sec, const char *data_dir, const char *const *args);
void vars_destroy(vars *v);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(vars, vars_destroy)

/* The items of s->value with everything expanded, an array of value_item *, or NULL if something is
 * wrong, which is then told in `p`. With VARS_ITEM, ${item} and `$$` stay for vars_item. */
GPtrArray *vars_expand(vars *v, const setting *s, items_form form, unsigned flags, problems *p);

/* True if ${args} was expanded: else files on the command line had no effect. */
bool vars_used_args(const vars *v);

/* Whether text expanded with VARS_ITEM holds ${item}. */
bool vars_has_item(const char *text);
/* Completes text that was expanded with VARS_ITEM: ${item} becomes `key`. The caller frees it. */
char *vars_item(const char *text, const char *key);

#endif
