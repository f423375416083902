/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill inspect CLASS`: what a stage class takes, gives and can be told. */
#ifndef HOST_CLI_INSPECT_H
#define HOST_CLI_INSPECT_H

/* argv[0] is "inspect". Returns the exit code: 0; 64 wrong usage or no such class, 69 its module
 * can't be loaded, 74 stdout can't be written. */
int inspect_main(int argc, char **argv);

#endif
