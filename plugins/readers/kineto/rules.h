/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of INI files, in order: what the name of a GPU activity means, which kind of
 * communication an operation is, what the events of a process are. */
#ifndef KINETO_RULES_H
#define KINETO_RULES_H

#include "category.h"
#include "expression.h"

#include <tracemill/kit/arena.h>
#include <tracemill/trace.h>

/* What a file's rules are about, and so which keys they have. */
typedef enum rule_form {
    RULES_KERNELS,     /* names of GPU activities: category, match, class, kind */
    RULES_COLLECTIVES, /* operations of the metadata: match, kind */
    RULES_PLANES,      /* names of processes: match, category, class */
} rule_form;

typedef struct rule {
    const char *name;         /* the section */
    const char *kind;         /* NULL: none */
    const category *category; /* NULL: any, or none given yet */
    size_t first, n;          /* alternatives of `expressions`; 0: any name fits */
    uint8_t cls;              /* mill_class; 0: none */
} rule;

/* All zero bytes: no rules. */
typedef struct rule_set {
    kit_arena memory;
    rule *rules;
    size_t n;
    expression_set expressions;
} rule_set;

/* Appends the rules of a file. Errors (recorded, with file and line). */
mill_status rules_load(mill_run *run, rule_set *set, rule_form form, const char *path);
void rules_finish(rule_set *set);

/* The first rule that fits, or NULL. cat: of kernels the mill_gpu_cat, else 0. [any thread] */
const rule *rules_find(mill_run *run, const rule_set *set, uint8_t cat, const char *name,
                       size_t length);

#endif
