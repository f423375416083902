/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a stage's instance, seen from inside: it loads one module, and calls what the host
 * asks for. Services are the engine's own; the few that reach the host come by here. */
#ifndef HOST_ISOLATE_SERVE_H
#define HOST_ISOLATE_SERVE_H

#include "engine/state.h"

/* Every main() that runs pipelines begins with
 * `if (serve_requested(argc, argv)) return serve_main(argc, argv);` */
bool serve_requested(int argc, char **argv);
int serve_main(int argc, char **argv);

/* A sink on a file that the host has opened. */
mill_status serve_sink(run *r, const char *path, sink **ret_sink);
/* Work for several threads begins, and ends: the host may lend some. */
void serve_parallel(served *s, bool begins);

#endif
