/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on their way to a file descriptor. */
#include "config/bytes.h"

#include <errno.h>
#include <unistd.h>

bool bytes_write(int fd, const void *data, size_t n) {
    const char *at = data;
    while (n > 0) {
        ssize_t written = write(fd, at, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        at += written;
        n -= (size_t)written;
    }
    return true;
}
