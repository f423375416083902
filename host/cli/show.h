/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as text and JSON: for `check --print`, `run --dry-run` and `graph`. */
#ifndef HOST_CLI_SHOW_H
#define HOST_CLI_SHOW_H

#include "check/plan.h"

/* Every effective setting as an INI file that means the same, with where each came from as a
 * comment. Owner: the caller. */
GString *show_settings(const plan *p);
cJSON *show_settings_json(const plan *p);

/* The stages in the order they can run, what each takes, its items and files. */
GString *show_steps(const plan *p);
cJSON *show_steps_json(const plan *p);

/* The graph of stages. */
GString *show_dot(const plan *p);
GString *show_mermaid(const plan *p);

#endif
