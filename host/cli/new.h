/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill new KIND NAME`: a project of one's own to begin a plugin with. */
#ifndef HOST_CLI_NEW_H
#define HOST_CLI_NEW_H

/* argv[0] is "new". Returns the exit code: 0; 64 wrong usage, 74 a file can't be read or written,
 * or the folder is in use. */
int new_main(int argc, char **argv);

#endif
