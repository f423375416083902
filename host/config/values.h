/* SPDX-License-Identifier: Apache-2.0 */
/* Typed values of options: from the text of a setting into the options struct of a stage, and back.
 *
 * Numbers are decimal: a whole number has digits and a sign only (no 1e3, no 0x10), a number may
 * have a point and an exponent but is finite. Durations and sizes always have a unit. */
#ifndef TRACEMILL_CONFIG_VALUES_H
#define TRACEMILL_CONFIG_VALUES_H

#include "config/vars.h"

/* An owner of what fields point to: free it (g_ptr_array_unref) together with the options struct.
 */
GPtrArray *values_memory(void);

/* Puts the value of `s` into the field of `o` in the struct `opts`. A GLOB option's field gets the
 * text as written (globs_expand gives its files); an ITEM option's keeps ${item} and `$$`
 * (vars_item completes it). Returns false, the field unchanged, if the value is wrong, which is
 * then told in `p`. For a default: a setting with value o->def and any origin. */
bool values_set(const mill_option *o, const setting *s, vars *v, GPtrArray *memory, void *opts,
                problems *p);

/* The field's value as a user would write it. The caller frees it. */
char *values_format(const mill_option *o, const void *opts);

/* What the option's variables may be (VARS_*). */
unsigned values_vars(const mill_option *o);

/* What is allowed: "1 to 1000, default 10", "one of mean, max"; NULL if there is nothing to say.
 * The caller frees it. */
char *values_allowed(const mill_option *o);

#endif
