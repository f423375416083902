/* SPDX-License-Identifier: Apache-2.0 */
/* Loads plugin files in a child process first, so that a bad one costs one line and not the host.
 *
 * The child is this program again, with PROBE_ARG as its first argument: every main() that scans
 * for modules begins with `if (probe_requested(argc, argv)) return probe_child(argc, argv, host);`.
 */
#ifndef HOST_MODULE_PROBE_H
#define HOST_MODULE_PROBE_H

#include "module/module.h"

#define PROBE_ARG "--probe"
#define PROBE_TIMEOUT_MS 10000 /* a module that takes longer to load is refused */

bool probe_requested(int argc, char **argv);
/* The child: loads each file named, calls its init (with `host`, unless NULL) and fini, and answers
 * a JSON line on descriptor 3. Returns the exit code. */
int probe_child(int argc, char **argv, const mill_host *host);

/* Fills in every module of the array (module *) that is not refused yet: declared facts, or
 * refused with one sentence. One child does all; after one that crashed, exited or did not answer
 * in timeout_ms the next child goes on with the rest. */
void probe_modules(GPtrArray *modules, int timeout_ms);

#endif
