/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `tracemill` that take a pipeline. argv[0] is the command's name; each returns the
 * exit code of the program. */
#ifndef HOST_CLI_COMMANDS_H
#define HOST_CLI_COMMANDS_H

int run_main(int argc, char **argv);
int check_main(int argc, char **argv);
int graph_main(int argc, char **argv);

#endif
