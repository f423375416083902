/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel classes: the rules of INI files, in order, that say what the name of a GPU activity means.
 */
#ifndef KINETO_RULES_H
#define KINETO_RULES_H

#include <tracemill/kit/arena.h>
#include <tracemill/trace.h>

typedef struct kernel_rule {
    const char *name;  /* the section */
    const char *kind;  /* NULL: none */
    mill_regex *match; /* NULL: any name */
    uint8_t cat;       /* mill_gpu_cat; 0: any */
    uint8_t cls;       /* mill_class; 0: none given yet */
} kernel_rule;

/* All zero bytes: no rules. */
typedef struct rule_set {
    kit_arena memory;
    kernel_rule *rules;
    size_t n;
} rule_set;

/* Appends the rules of a file. Errors (recorded, with file and line). */
mill_status rules_load(mill_run *run, rule_set *set, const char *path);
void rules_finish(rule_set *set);

/* The first rule that fits, or NULL. */
const kernel_rule *rules_find(mill_run *run, const rule_set *set, uint8_t cat, const char *name,
                              size_t length);

#endif
