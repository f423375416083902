/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill list`: every module found, and whether it can be used. */
#ifndef HOST_CLI_LIST_H
#define HOST_CLI_LIST_H

/* argv[0] is "list". Returns the exit code: 0 also where modules are refused, since the list says
 * so; 64 wrong usage, 74 stdout can't be written. */
int list_main(int argc, char **argv);

#endif
