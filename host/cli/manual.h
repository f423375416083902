/* SPDX-License-Identifier: Apache-2.0 */
/* The manual: pages written by hand with gaps that the program's own tables fill, and a page for
 * each stage class. */
#ifndef HOST_CLI_MANUAL_H
#define HOST_CLI_MANUAL_H

#include "cli/command.h"

/* Of the texts, not of a build, which is to be repeatable. */
#define MANUAL_DATE "2026-11-30"

/* The page of a class: tracemill-CLASS(7). */
GString *manual_class(const stage_class *c);

/* `tracemill manual TEXTS FOLDER`: writes all pages below FOLDER, as man1/tracemill.1. `commands`
 * ends with name NULL. Returns the exit code. */
int manual_main(const named_command *commands, int argc, char **argv);

#endif
