/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether dlopen can be let near a file: a shared object cut short ends the process by SIGBUS
 * inside dlopen, before there is any error to report. */
#ifndef HOST_MODULE_ELF_H
#define HOST_MODULE_ELF_H

#include <stdbool.h>

/* True if `fd` is a regular file that holds a whole shared object for this machine. Otherwise
 * false, and *ret_why is the reason ("is cut short: …"), to be freed by the caller. Reads with
 * pread. Any thread. */
bool elf_check(int fd, char **ret_why);

/* The same for a path; follows links; never blocks on a pipe or a device. */
bool elf_check_file(const char *path, char **ret_why);

#endif
