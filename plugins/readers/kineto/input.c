/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files with read(), which beats mapping them and can't end the process when a file shrinks,
 * and inflates gzip with ISA-L. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tracemill/kit/arena.h>
#include <unistd.h>

#define CHUNK (128 * 1024)
#define WAIT_MS 100 /* a run that waits for a pipe hears this soon that it is to end */

struct input {
    const char *path;
    int fd;
    uint64_t done, size;
    input_state state;
    bool regular, gzip, ended; /* ended: the file has no more bytes */
    size_t at, end;            /* chunk[at, end) is not used up */
    uint8_t chunk[CHUNK];
    struct inflate_state inflate;
};

static const struct magic {
    const char *bytes;
    size_t length;
    const char *what; /* NULL: gzip */
} magics[] = {
    {"\x1f\x8b", 2, NULL},
    {"PK\3\4", 4, "a zip archive"},
    {"\x28\xb5\x2f\xfd", 4, "compressed with zstd"},
    {"BZh", 3, "compressed with bzip2"},
    {"\xfd"
     "7zXZ",
     5, "compressed with xz"},
};

/* Waits for the writer of a pipe, who may never come. */
static mill_status wait_for_bytes(mill_run *run, input *in) {
    struct pollfd waited = {.fd = in->fd, .events = POLLIN};
    while (!in->regular && poll(&waited, 1, WAIT_MS) <= 0)
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
    return MILL_OK;
}

/* Brings more of the file in behind what is not used up. */
static mill_status load(mill_run *run, input *in) {
    memmove(in->chunk, in->chunk + in->at, in->end - in->at);
    in->end -= in->at;
    in->at = 0;
    ssize_t n;
    do {
        mill_status status = wait_for_bytes(run, in);
        if (status != MILL_OK)
            return status;
        n = read(in->fd, in->chunk + in->end, CHUNK - in->end);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0)
        return mill_fail(run, errno == EISDIR ? MILL_E_NOINPUT : MILL_E_IO, "%s: can't read: %s",
                         in->path, strerror(errno));
    in->ended = n == 0;
    in->end += (size_t)n;
    in->done += (uint64_t)n;
    return MILL_OK;
}

/* At least `n` bytes of the file, unless it ends before. */
static mill_status need(mill_run *run, input *in, size_t n) {
    mill_status status = MILL_OK;
    while (status == MILL_OK && in->end - in->at < n && !in->ended)
        status = load(run, in);
    return status;
}

static bool has_magic(const input *in, const struct magic *m) {
    return in->end - in->at >= m->length && !memcmp(in->chunk + in->at, m->bytes, m->length);
}

static void begin_member(input *in) {
    isal_inflate_reset(&in->inflate);
    in->inflate.crc_flag = ISAL_GZIP;
}

static mill_status detect(mill_run *run, input *in) {
    mill_status status = need(run, in, 6);
    for (size_t i = 0; status == MILL_OK && i < sizeof magics / sizeof magics[0]; i++) {
        if (!has_magic(in, &magics[i]))
            continue;
        if (magics[i].what)
            return mill_fail(run, MILL_E_DATA,
                             "%s: the file is %s: unpack it and give the .json in it, plain or as "
                             ".json.gz",
                             in->path, magics[i].what);
        in->gzip = true;
        isal_inflate_init(&in->inflate);
        begin_member(in);
    }
    return status;
}

mill_status input_open(mill_run *run, const char *path, input **ret_input) {
    /* NONBLOCK: a pipe is opened before its writer comes. */
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                      : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd < 0)
        return mill_fail(run, MILL_E_NOINPUT, "%s: can't open: %s", path, strerror(errno));
    input *in = kit_alloc(1, sizeof *in);
    in->path = path;
    in->fd = fd;
    in->regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    in->size = in->regular && !standard ? (uint64_t)info.st_size : 0;
    mill_status status = detect(run, in);
    if (status == MILL_OK)
        *ret_input = in;
    else
        input_close(in);
    return status;
}

void input_close(input *in) {
    if (in)
        close(in->fd);
    free(in);
}

/* A member has ended: begins the next one, if there is one. */
static mill_status next_member(mill_run *run, input *in, bool *ret_ended) {
    mill_status status = need(run, in, 2);
    *ret_ended = !has_magic(in, &magics[0]);
    if (*ret_ended && in->at < in->end)
        in->state = INPUT_TRAILING;
    begin_member(in);
    return status;
}

static mill_status inflate_some(mill_run *run, input *in, uint8_t *to, size_t room,
                                size_t *ret_length) {
    struct inflate_state *z = &in->inflate;
    while (in->state == INPUT_WHOLE) {
        bool ended = false;
        mill_status status =
            z->block_state == ISAL_BLOCK_FINISH ? next_member(run, in, &ended) : need(run, in, 1);
        if (status != MILL_OK || ended)
            return status;
        z->next_in = in->chunk + in->at;
        z->avail_in = (uint32_t)(in->end - in->at);
        z->next_out = to;
        z->avail_out = (uint32_t)(room < UINT32_MAX ? room : UINT32_MAX);
        bool had_input = z->avail_in > 0;
        int result = isal_inflate(z);
        in->at = in->end - z->avail_in;
        *ret_length = (size_t)(z->next_out - to);
        if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT && result != ISAL_OUT_OVERFLOW)
            in->state = INPUT_CORRUPT;
        else if (*ret_length == 0 && !had_input && z->block_state != ISAL_BLOCK_FINISH)
            in->state = INPUT_CUT;
        if (*ret_length > 0)
            return MILL_OK;
    }
    return MILL_OK;
}

mill_status input_read(mill_run *run, input *in, char *to, size_t room, size_t *ret_length) {
    *ret_length = 0;
    if (in->gzip)
        return inflate_some(run, in, (uint8_t *)to, room, ret_length);
    mill_status status = need(run, in, 1);
    size_t have = in->end - in->at;
    *ret_length = have < room ? have : room;
    memcpy(to, in->chunk + in->at, *ret_length);
    in->at += *ret_length;
    return status;
}

input_state input_get_state(const input *in) {
    return in->state;
}

uint64_t input_done(const input *in) {
    return in->done - (in->end - in->at);
}

uint64_t input_size(const input *in) {
    return in->size;
}
