/* SPDX-License-Identifier: Apache-2.0 */
/* The wire between the host and the process of a stage: frames over a socket pair. */
#include "isolate/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x74726d6cu
#define MAX_BODY (64u << 20)
#define NO_TEXT UINT32_MAX

/* ---------------------------------------------------------------- bodies */

GByteArray *wire_body(void) {
    return g_byte_array_new();
}

void wire_put_u32(GByteArray *to, uint32_t number) {
    g_byte_array_append(to, (const guint8 *)&number, sizeof number);
}

void wire_put_u64(GByteArray *to, uint64_t number) {
    g_byte_array_append(to, (const guint8 *)&number, sizeof number);
}

void wire_put_text(GByteArray *to, const char *text) {
    size_t n = text != NULL ? strlen(text) : 0;
    wire_put_u32(to, text != NULL ? (uint32_t)n : NO_TEXT);
    if (text != NULL)
        g_byte_array_append(to, (const guint8 *)text, (guint)n + 1);
}

wire_reader wire_read(const GByteArray *body) {
    return (wire_reader){.at = body->data, .left = body->len};
}

/* NULL: it is not there. */
static const uint8_t *take(wire_reader *r, size_t n) {
    if (r->bad || n > r->left) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *at = r->at;
    r->at += n;
    r->left -= n;
    return at;
}

uint32_t wire_get_u32(wire_reader *r) {
    uint32_t number = 0;
    const uint8_t *at = take(r, sizeof number);
    if (at != NULL)
        memcpy(&number, at, sizeof number);
    return number;
}

uint64_t wire_get_u64(wire_reader *r) {
    uint64_t number = 0;
    const uint8_t *at = take(r, sizeof number);
    if (at != NULL)
        memcpy(&number, at, sizeof number);
    return number;
}

const char *wire_get_text(wire_reader *r) {
    uint32_t n = wire_get_u32(r);
    if (n == NO_TEXT && !r->bad)
        return NULL;
    const char *text = (const char *)take(r, (size_t)n + 1);
    if (text == NULL || strnlen(text, (size_t)n + 1) != n) {
        r->bad = true;
        return "";
    }
    return text;
}

bool wire_done(const wire_reader *r) {
    return !r->bad && r->left == 0;
}

/* ---------------------------------------------------------------- frames */

typedef struct head {
    uint32_t magic, kind, length, has_fd;
} head;

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* The descriptor goes with the first bytes. */
static ssize_t send_some(int socket, const void *data, size_t n, int fd) {
    struct iovec part = {.iov_base = (void *)data, .iov_len = n};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union control control = {0};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

static bool send_all(int socket, const void *data, size_t n, int fd) {
    const char *at = data;
    while (n > 0) {
        ssize_t done = send_some(socket, at, n, fd);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        fd = -1;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

static bool send_frame(int socket, wire_kind kind, const GByteArray *body, int fd) {
    head h = {MAGIC, kind, body != NULL ? body->len : 0, fd >= 0};
    if (h.length > MAX_BODY) {
        errno = EMSGSIZE;
        return false;
    }
    return send_all(socket, &h, sizeof h, fd) &&
           (h.length == 0 || send_all(socket, body->data, h.length, -1));
}

bool wire_send(int socket, wire_kind kind, GByteArray *body, int fd) {
    bool ok = send_frame(socket, kind, body, fd);
    if (body != NULL)
        g_byte_array_unref(body);
    return ok;
}

/* Keeps the first descriptor that comes, closes all others. */
static void take_fds(struct msghdr *message, int *ret_fd) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (*ret_fd < 0)
                *ret_fd = fd;
            else
                close(fd);
        }
    }
}

/* Bytes that were there: n, or fewer at the end. */
static size_t receive_all(int socket, void *data, size_t n, int *ret_fd) {
    size_t got = 0;
    while (got < n) {
        struct iovec part = {.iov_base = (char *)data + got, .iov_len = n - got};
        union control control = {0};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control.bytes};
        ssize_t done = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            break;
        take_fds(&message, ret_fd);
        got += (size_t)done;
    }
    return got;
}

static bool is_head(const head *h) {
    return h->magic == MAGIC && h->kind > 0 && h->kind < WIRE_KINDS && h->length <= MAX_BODY &&
           h->has_fd <= 1;
}

wire_result wire_receive(int socket, wire_frame *ret_frame) {
    head h;
    int fd = -1;
    size_t got = receive_all(socket, &h, sizeof h, &fd);
    bool ok = got == sizeof h && is_head(&h) && (h.has_fd == 1) == (fd >= 0);
    GByteArray *body = g_byte_array_new();
    if (ok) {
        g_byte_array_set_size(body, h.length);
        int more = -1;
        ok = receive_all(socket, body->data, h.length, &more) == h.length && more < 0;
        if (more >= 0)
            close(more);
    }
    if (ok) {
        *ret_frame = (wire_frame){.kind = (wire_kind)h.kind, .body = body, .fd = fd};
        return WIRE_GOT;
    }
    g_byte_array_unref(body);
    if (fd >= 0)
        close(fd);
    return got == 0 ? WIRE_END : WIRE_GARBAGE;
}

void wire_frame_clear(wire_frame *frame) {
    g_clear_pointer(&frame->body, g_byte_array_unref);
    if (frame->fd >= 0)
        close(frame->fd);
    frame->fd = -1;
}
