/* SPDX-License-Identifier: Apache-2.0 */
/* Files as sources: with read(), which beats mapping them and can't end the process when a file
 * shrinks. */
#include "input_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tracemill/kit/arena.h>
#include <unistd.h>

#define WAIT_MS 100 /* a run that waits for a pipe hears this soon that it is to end */

typedef struct file {
    source base;
    const char *path;
    int fd;
    bool regular;
    uint64_t done, size;
} file;

/* Waits for the writer of a pipe, who may never come. */
static mill_status wait_for_bytes(mill_run *run, const file *f) {
    struct pollfd waited = {.fd = f->fd, .events = POLLIN};
    do {
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
    } while (!f->regular && poll(&waited, 1, WAIT_MS) <= 0);
    return MILL_OK;
}

static mill_status cannot_read(mill_run *run, const file *f) {
    return mill_fail(run, errno == EISDIR ? MILL_E_NOINPUT : MILL_E_IO, "%s: can't read: %s",
                     f->path, strerror(errno));
}

static mill_status file_read(mill_run *run, source *s, uint8_t *to, size_t room,
                             size_t *ret_length) {
    file *f = (file *)s;
    ssize_t n;
    do {
        mill_status status = wait_for_bytes(run, f);
        if (status != MILL_OK)
            return status;
        n = read(f->fd, to, room);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0)
        return cannot_read(run, f);
    f->done += (uint64_t)n;
    *ret_length = (size_t)n;
    return MILL_OK;
}

static void file_destroy(source *s) {
    close(((file *)s)->fd);
    free(s);
}

mill_status file_open(mill_run *run, const char *path, source **ret_file) {
    static const source_class cls = {file_read, file_destroy};
    /* NONBLOCK: a pipe is opened before its writer comes. */
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return mill_fail(run, MILL_E_NOINPUT, "%s: can't open: %s", path, strerror(errno));
    file *f = kit_alloc(1, sizeof *f);
    struct stat info;
    f->base.cls = &cls;
    f->path = path;
    f->fd = fd;
    f->regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    f->size = f->regular && !standard ? (uint64_t)info.st_size : 0;
    *ret_file = &f->base;
    return MILL_OK;
}

uint64_t file_done(const source *s) {
    return ((const file *)s)->done;
}

uint64_t file_size(const source *s) {
    return ((const file *)s)->size;
}

mill_status file_read_at(mill_run *run, const source *s, uint64_t byte, char *to, size_t room,
                         size_t *ret_length) {
    const file *f = (const file *)s;
    ssize_t n;
    do {
        n = pread(f->fd, to, room, (off_t)byte);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return cannot_read(run, f);
    *ret_length = (size_t)n;
    return MILL_OK;
}
