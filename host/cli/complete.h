/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill complete`: what the next word of a command line can be, for the shells. */
#ifndef HOST_CLI_COMPLETE_H
#define HOST_CLI_COMPLETE_H

#include "cli/command.h"

/* argv: "complete", "--", then the words after "tracemill" up to the cursor; the last one is being
 * written, and may be empty. Prints a candidate a line, the whole word, with what it means after a
 * tab; a line ":files" or ":folders" says that a file or a folder can stand there. What is wrong
 * before the cursor is nobody's concern here: never fails, never writes to stderr. */
int complete_main(const named_command *commands, int argc, char **argv);

#endif
