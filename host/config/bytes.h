/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on their way to a file descriptor. */
#ifndef HOST_CONFIG_BYTES_H
#define HOST_CONFIG_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Writes all of them, however many calls it takes and signals come. False: errno says why. */
bool bytes_write(int fd, const void *data, size_t n);

#endif
