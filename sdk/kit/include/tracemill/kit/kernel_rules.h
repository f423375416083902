/* SPDX-License-Identifier: Apache-2.0 */
/* What GPU activities do, by their names: the rules of etc/rules/kernels.ini, for readers. The head
 * of that file explains the form; ${tracemill:data}/rules/kernels.ini is where it is installed.
 *
 * Use: create and load in `open`, apply in `run` before kit_trace_finish, destroy in `close`. A
 * stage's instance runs one at a time, so each has rules of its own. A name of each text and
 * category is looked at once, however many activities have it.
 */
#ifndef TRACEMILL_KIT_KERNEL_RULES_H
#define TRACEMILL_KIT_KERNEL_RULES_H

#include <tracemill/kit/trace_builder.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_kernel_rules kit_kernel_rules;

kit_kernel_rules *kit_kernel_rules_create(void);
void kit_kernel_rules_destroy(kit_kernel_rules *rules); /* NULL: nothing */

/* Appends the rules of a file: the first that fits decides, so load a user's own before the bundled
 * ones. Expressions are the run's (regex_new): they end at `close`. Errors (recorded, with file and
 * line): E_CONFIG, and those of ini_read. */
mill_status kit_kernel_rules_load(mill_run *run, kit_kernel_rules *rules, const char *path);

/* Gives each name of the builder that has a tag its class, kind and rule; the tag is the
 * mill_gpu_cat. A name that no rule fits is MILL_CLASS_OTHER. Errors: E_CANCELLED. */
mill_status kit_kernel_rules_apply(mill_run *run, const kit_kernel_rules *rules, kit_trace *b);

#ifdef __cplusplus
}
#endif
#endif
