/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks: output files that appear whole or not at all, and ordered standard output. */
#include "engine/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/bytes.h"

#define BUFFER_BYTES ((size_t)128 * 1024)
#define SPOOL_MEMORY ((size_t)8 * 1024 * 1024)

/* ---------------------------------------------------------------- spool */

struct spool {
    GByteArray *memory;
    FILE *file; /* what went before `memory`, or NULL */
};

spool *spool_create(void) {
    spool *s = g_new0(spool, 1);
    s->memory = g_byte_array_new();
    return s;
}

void spool_destroy(spool *s) {
    if (s == NULL)
        return;
    g_byte_array_unref(s->memory);
    if (s->file != NULL)
        fclose(s->file);
    g_free(s);
}

static void spool_clear(spool *s) {
    g_byte_array_set_size(s->memory, 0);
    g_clear_pointer(&s->file, fclose);
}

static bool spill(spool *s) {
    if (s->file == NULL && (s->file = tmpfile()) == NULL)
        return false;
    bool ok = fwrite(s->memory->data, 1, s->memory->len, s->file) == s->memory->len;
    g_byte_array_set_size(s->memory, 0);
    return ok && fflush(s->file) == 0;
}

static bool spool_write(spool *s, const void *data, size_t n) {
    while (n > 0) {
        if (s->memory->len >= SPOOL_MEMORY && !spill(s))
            return false;
        size_t part = MIN(n, SPOOL_MEMORY);
        g_byte_array_append(s->memory, data, (guint)part);
        data = (const char *)data + part;
        n -= part;
    }
    return true;
}

bool spool_copy(spool *s, int fd) {
    if (s->file != NULL) {
        char buffer[16384];
        size_t n;
        rewind(s->file);
        while ((n = fread(buffer, 1, sizeof buffer, s->file)) > 0)
            if (!bytes_write(fd, buffer, n))
                return false;
        if (ferror(s->file))
            return false;
    }
    return bytes_write(fd, s->memory->data, s->memory->len);
}

char *spool_text(spool *s) {
    GString *text = g_string_new(NULL);
    if (s->file != NULL) {
        char buffer[16384];
        size_t n;
        rewind(s->file);
        while ((n = fread(buffer, 1, sizeof buffer, s->file)) > 0)
            g_string_append_len(text, buffer, (gssize)n);
    }
    g_string_append_len(text, (const char *)s->memory->data, (gssize)s->memory->len);
    g_autofree char *raw = g_string_free(text, FALSE);
    return g_utf8_make_valid(raw, -1);
}

/* In memory, so that a run that prints little needs no place for temporary files. */
int spool_file(spool *s) {
    if (s->file == NULL) {
        int fd = memfd_create("tracemill-print", MFD_CLOEXEC);
        s->file = fd >= 0 ? fdopen(fd, "w+") : NULL;
        if (s->file == NULL && fd >= 0)
            close(fd);
    }
    return s->file != NULL && spill(s) ? fileno(s->file) : -1;
}

/* ---------------------------------------------------------------- temporary files, for signal
 * handlers */

/* A list that only grows, so that a signal handler may walk it at any time. */
typedef struct temporary temporary;
struct temporary {
    const char *path; /* NULL: it has got its name, or is removed; atomic */
    temporary *next;
};
static temporary *temporaries; /* atomic */

static temporary *remember(const char *path) {
    temporary *t = g_new(temporary, 1);
    t->path = path;
    t->next = __atomic_load_n(&temporaries, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&temporaries, &t->next, t, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        continue;
    return t;
}

static void forget(temporary *t) {
    __atomic_store_n(&t->path, NULL, __ATOMIC_SEQ_CST);
}

void sink_unlink_all(void) {
    for (temporary *t = __atomic_load_n(&temporaries, __ATOMIC_SEQ_CST); t != NULL; t = t->next) {
        const char *path = __atomic_exchange_n(&t->path, NULL, __ATOMIC_SEQ_CST);
        if (path != NULL)
            unlink(path);
    }
}

/* ---------------------------------------------------------------- sink */

struct sink {
    mill_sink public;
    char *path;
    char *target, *temporary; /* what gets the name, and what it is called until then; or NULL */
    temporary *remembered;    /* the temporary, for signal handlers; NULL: there is none */
    spool *out;               /* for standard output */
    causes *why;
    int fd;              /* -1: closed until more is written */
    sink_again_fn again; /* in another process than its file: asks for the descriptor */
    void *again_arg;
    bool tainted, dirty;
    int error; /* of a write that nobody waited for */
    size_t buffered;
    char *buffer; /* NULL: nothing was written since it was last at rest */
};

static bool flush(sink *s) {
    size_t n = s->buffered;
    s->buffered = 0;
    if (n == 0)
        return true;
    if (s->out == NULL && s->fd < 0)
        s->fd = s->again != NULL ? s->again(s->again_arg, s->path)
                                 : open(s->temporary, O_WRONLY | O_APPEND | O_CLOEXEC);
    return s->out != NULL ? spool_write(s->out, s->buffer, n) : bytes_write(s->fd, s->buffer, n);
}

static mill_status sink_write(mill_sink *public, const void *data, size_t n) {
    sink *s = (sink *)public;
    s->dirty = true;
    if (s->buffer == NULL)
        s->buffer = g_malloc(BUFFER_BYTES);
    while (n > 0) {
        size_t part = MIN(n, BUFFER_BYTES - s->buffered);
        memcpy(s->buffer + s->buffered, data, part);
        s->buffered += part;
        data = (const char *)data + part;
        n -= part;
        if (s->buffered == BUFFER_BYTES && !flush(s)) {
            s->tainted = true;
            causes_addf(s->why, MILL_E_IO, "cannot write %s: %s", s->path, g_strerror(errno));
            return MILL_E_IO;
        }
    }
    return MILL_OK;
}

bool sink_takes_all(const char *path) {
    struct stat status;
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISCHR(status.st_mode));
}

/* A device or a pipe is written as it is: renaming a file over /dev/null would replace it. */
static bool open_special(sink *s) {
    s->fd = open(s->path, O_WRONLY | O_CLOEXEC);
    return s->fd >= 0;
}

/* The temporary name lies beside the real one, since a rename must not cross file systems; a
 * symbolic link is followed, so that it stays one. */
static bool open_temporary(sink *s) {
    char *real = realpath(s->path, NULL);
    if (real != NULL) {
        s->target = g_strdup(real);
        free(real);
    } else {
        s->target = g_strdup(s->path);
    }
    g_autofree char *folder = g_path_get_dirname(s->target);
    g_autofree char *base = g_path_get_basename(s->target);
    if (g_mkdir_with_parents(folder, 0777) != 0)
        return false;
    g_autofree char *name = g_strdup_printf(".%.200s.XXXXXX", base);
    s->temporary = g_build_filename(folder, name, NULL);
    s->fd = g_mkstemp_full(s->temporary, O_RDWR | O_CLOEXEC, 0666);
    if (s->fd < 0)
        return false;
    s->remembered = remember(s->temporary);
    return true;
}

static bool open_path(sink *s) {
    struct stat status;
    if (stat(s->path, &status) != 0 || S_ISREG(status.st_mode))
        return open_temporary(s);
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    return open_special(s);
}

static void release(sink *s) {
    g_free(s->temporary);
    g_free(s->target);
    g_free(s->path);
    g_free(s->buffer);
    g_free(s);
}

sink *sink_create(const char *path, spool *out, causes *why) {
    sink *s = g_new0(sink, 1);
    s->public.size = sizeof s->public;
    s->public.write = sink_write;
    s->path = g_strdup(path);
    s->why = why;
    s->fd = -1;
    if (strcmp(path, "-") == 0) {
        s->out = out;
    } else if (!open_path(s)) {
        causes_addf(why, MILL_E_IO, "cannot write %s: %s", path, g_strerror(errno));
        release(s);
        return NULL;
    }
    return s;
}

void sink_bind(sink *s, causes *why) {
    s->why = why;
}

mill_sink *sink_public(sink *s) {
    return &s->public;
}

const char *sink_path(const sink *s) {
    return s->path;
}

void sink_taint(sink *s) {
    s->tainted = true;
}

bool sink_dirty(const sink *s) {
    return s->dirty;
}

void sink_clean(sink *s) {
    s->dirty = false;
}

void sink_rest(sink *s) {
    if (s->temporary == NULL || s->error != 0)
        return;
    if (!flush(s) || (s->fd >= 0 && close(s->fd) != 0))
        s->error = errno;
    s->fd = -1;
    g_clear_pointer(&s->buffer, g_free);
}

/* Returns 0 or an error number. */
static int commit(sink *s) {
    int error = s->tainted || flush(s) ? s->error : errno;
    if (s->fd >= 0 && close(s->fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && !s->tainted && s->temporary != NULL && rename(s->temporary, s->target) != 0)
        error = errno;
    return error;
}

bool sink_end(sink *s, causes *why) {
    int error = commit(s);
    bool ok = error == 0;
    if (!ok)
        causes_addf(why, MILL_E_IO, "cannot write %s: %s", s->path, g_strerror(error));
    if (s->temporary != NULL) {
        if (!ok || s->tainted)
            unlink(s->temporary);
        forget(s->remembered);
    }
    if (s->out != NULL && s->tainted)
        spool_clear(s->out);
    release(s);
    return ok;
}

/* ---------------------------------------------------------------- a sink in two processes */

int sink_file(sink *s) {
    if (!flush(s))
        return -1;
    if (s->out != NULL)
        return spool_file(s->out);
    if (s->fd < 0)
        s->fd = open(s->temporary, O_WRONLY | O_APPEND | O_CLOEXEC);
    return s->fd;
}

void sink_note(sink *s, bool dirty, bool tainted, int error) {
    s->dirty |= dirty;
    s->tainted |= tainted;
    if (s->error == 0)
        s->error = error;
}

sink *sink_create_on(int fd, const char *path, sink_again_fn again, void *arg, causes *why) {
    sink *s = g_new0(sink, 1);
    s->public.size = sizeof s->public;
    s->public.write = sink_write;
    s->path = g_strdup(path);
    s->why = why;
    s->fd = fd;
    s->again = again;
    s->again_arg = arg;
    return s;
}

void sink_settle_on(sink *s, bool rest, bool *ret_dirty, bool *ret_tainted, int *ret_error) {
    *ret_error = s->tainted || flush(s) ? 0 : errno;
    *ret_dirty = s->dirty;
    *ret_tainted = s->tainted;
    s->dirty = false;
    if (!rest)
        return;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    g_clear_pointer(&s->buffer, g_free);
}

void sink_destroy_on(sink *s) {
    if (s->fd >= 0)
        close(s->fd);
    release(s);
}
