/* SPDX-License-Identifier: Apache-2.0 */
/* Values on their way between processes: what `save` writes, in sealed memory that both map. */
#include "engine/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/bytes.h"
#include "engine/crash.h"
#include "types/types.h"

#define BUFFER_BYTES ((size_t)256 * 1024)
#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW)

/* ---------------------------------------------------------------- saving */

/* Where `save` writes to. */
typedef struct memory_sink {
    mill_sink public; /* first */
    run *run;
    int fd;
    size_t buffered;
    char *buffer;
} memory_sink;

static mill_status cannot_keep(run *r) {
    causes_addf(run_causes(r), MILL_E_IO, "cannot keep a value in shared memory: %s",
                g_strerror(errno));
    return MILL_E_IO;
}

static mill_status memory_flush(memory_sink *s) {
    size_t n = s->buffered;
    s->buffered = 0;
    return bytes_write(s->fd, s->buffer, n) ? MILL_OK : cannot_keep(s->run);
}

/* Small pieces are gathered; a column goes as it is. */
static mill_status memory_write(mill_sink *public, const void *data, size_t n) {
    memory_sink *s = (memory_sink *)public;
    if (s->buffered + n > BUFFER_BYTES) {
        mill_status status = memory_flush(s);
        if (status != MILL_OK)
            return status;
    }
    if (n > BUFFER_BYTES)
        return bytes_write(s->fd, data, n) ? MILL_OK : cannot_keep(s->run);
    if (n > 0)
        memcpy(s->buffer + s->buffered, data, n);
    s->buffered += n;
    return MILL_OK;
}

/* The module that describes the type is to blame, which need not be that of the stage. */
static mill_status type_bug(run *r, const mill_type *type, const char *what) {
    causes_addf(run_causes(r), MILL_E_PLUGIN,
                "`%s` of type %s: this is a bug of the module that describes the type", what,
                type->id);
    return MILL_E_PLUGIN;
}

/* What a status of the type's own code amounts to. */
static mill_status judge(run *r, const mill_type *type, const char *what, mill_status status) {
    if (status == MILL_OK || status == MILL_GATE)
        return MILL_OK;
    if (status == MILL_E_CANCELLED ||
        (status > MILL_E_CANCELLED && status < MILL_OK && !causes_empty(run_causes(r))))
        return status;
    return type_bug(r, type, what);
}

static mill_status call_save(run *r, const value *v, mill_sink *to) {
    g_autofree char *note = g_strdup_printf("`save` of type %s", v->type->id);
    const char *before = crash_note(note);
    mill_status status = v->type->save(&r->public, v->data, to);
    crash_note(before);
    return judge(r, v->type, "save", status);
}

static uint64_t next_id(void) {
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static mill_status save(run *r, value *v) {
    int fd = memfd_create("tracemill-value", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return cannot_keep(r);
    g_autofree char *buffer = g_malloc(BUFFER_BYTES);
    memory_sink to = {
        .public = {.size = sizeof to.public, .write = memory_write},
        .run = r,
        .fd = fd,
        .buffer = buffer,
    };
    mill_status status = call_save(r, v, &to.public);
    if (status == MILL_OK)
        status = memory_flush(&to);
    if (status == MILL_OK && lseek(fd, 0, SEEK_CUR) == 0)
        status = type_bug(r, v->type, "save"); /* not even a format number */
    if (status == MILL_OK && fcntl(fd, F_ADD_SEALS, SEALS) != 0)
        status = cannot_keep(r);
    if (status != MILL_OK) {
        close(fd);
        return status;
    }
    v->saved = fd;
    v->id = next_id();
    return MILL_OK;
}

mill_status transfer_save(run *r, value *v) {
    mill_status status = MILL_OK;
    pthread_mutex_lock(&v->lock);
    if (v->saved < 0)
        status =
            v->data != NULL && v->type->save != NULL ? save(r, v) : type_bug(r, v->type, "save");
    pthread_mutex_unlock(&v->lock);
    return status;
}

/* ---------------------------------------------------------------- loading */

value *transfer_value(const mill_type *type, int saved) {
    value *v = value_create(type, NULL, NULL);
    v->saved = saved;
    v->id = next_id();
    return v;
}

bool transfer_is_sealed(int fd) {
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS;
}

/* Private and read-only: a `load` that writes into its source harms its own process alone. */
bool transfer_map(value *v) {
    struct stat status;
    if (v->map != NULL)
        return true;
    if (v->saved < 0 || fstat(v->saved, &status) != 0)
        return false;
    void *memory =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, v->saved, 0);
    if (memory == MAP_FAILED)
        return false;
    v->map = memory;
    v->mapped = (size_t)status.st_size;
    return true;
}

static mill_status load(run *r, value *v) {
    if (!transfer_map(v))
        return cannot_keep(r);
    mill_source source = {.size = sizeof source, .data = v->map, .length = v->mapped};
    void *data = NULL;
    g_autofree char *note = g_strdup_printf("`load` of type %s", v->type->id);
    const char *before = crash_note(note);
    mill_status status = v->type->load(&r->public, &source, &data);
    crash_note(before);
    status = judge(r, v->type, "load", status);
    if (status != MILL_OK)
        return status;
    value_memory *memory = run_take_value(r, data);
    if (value_misfit(v->type, data, memory) != NULL) {
        value_discard(v->type, memory != NULL ? NULL : data, memory);
        return type_bug(r, v->type, "load");
    }
    v->data = data;
    v->memory = memory;
    return MILL_OK;
}

mill_status transfer_load(run *r, value *v) {
    mill_status status = MILL_OK;
    pthread_mutex_lock(&v->lock);
    if (v->data == NULL)
        status = v->type->load != NULL ? load(r, v) : type_bug(r, v->type, "load");
    pthread_mutex_unlock(&v->lock);
    return status;
}

mill_status transfer_load_inputs(run *r) {
    for (size_t p = 0; p < r->plan->cls->n_inputs; p++)
        for (guint i = 0; i < r->task->ports[p]->len; i++) {
            const bound *b = &g_array_index(r->task->ports[p], bound, i);
            mill_status status = transfer_load(r, b->value);
            if (status == MILL_OK)
                continue;
            causes_addf(&r->causes, status, "cannot take over the %s from [%s]", b->value->type->id,
                        b->stage);
            return status;
        }
    return MILL_OK;
}
