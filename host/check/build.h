/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that build a plan share: they tell problems and go on, so that all are seen at
 * once. */
#ifndef HOST_CHECK_BUILD_H
#define HOST_CHECK_BUILD_H

#include "check/plan.h"

typedef struct build {
    plan *plan;
    problems *problems;
    bool isolate; /* stages that do not say so themselves */
} build;

/* An error of the configuration; hint may be NULL and is freed. */
void build_error(build *b, origin at, char *hint, const char *format, ...) G_GNUC_PRINTF(4, 5);
void build_warning(build *b, origin at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* NULL if there is none. */
plan_stage *build_stage(const build *b, const char *name);

/* stages.c: one plan_stage for each section that names a class; its options. */
void build_stages(build *b);

/* wires.c: what each stage takes from which. False if the stages go in a circle: there is then no
 * order of them. */
void build_wires(build *b);
bool build_order(build *b);

/* isolate.c: whether what goes between processes can. */
void build_isolation(build *b);

/* keys.c: which stages run once per key, and for which. */
void build_keys(build *b);

/* Whether a section of that name is a stage, and whether a key connects one: "in", "in.PORT". */
bool build_is_stage(const char *name);
bool build_is_input(const char *key);

#endif
