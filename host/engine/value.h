/* SPDX-License-Identifier: Apache-2.0 */
/* Values: the memory behind what stages post, who still needs it, and how it ends. */
#ifndef HOST_ENGINE_VALUE_H
#define HOST_ENGINE_VALUE_H

#include <glib.h>
#include <pthread.h>
#include <tracemill/tracemill.h>

/* Memory that belongs to one value and is freed as a whole. Its root is the pointer that plugins
 * know. One thread at a time while it is being filled. */
typedef struct value_memory value_memory;

value_memory *value_memory_create(size_t root_size);
void value_memory_destroy(value_memory *memory); /* NULL: nothing */
void *value_memory_root(value_memory *memory);
/* `size` zeroed bytes, aligned for any type. */
void *value_memory_alloc(value_memory *memory, size_t size);

/* A posted value: constant, shared, counted. Where a stage runs in a process of its own, what its
 * type's `save` wrote travels in a sealed memory file: transfer.h makes that from the data, and the
 * data from that. */
typedef struct value {
    const mill_type *type; /* how it ends, becomes a report, is saved */
    void *data;            /* NULL: saved only, not loaded in this process */
    value_memory *memory;  /* NULL: made by the module's own means, ended by type->free */
    gint refs;
    pthread_mutex_t lock; /* guards what follows, and that `data` is loaded once */
    int saved;            /* the memory file; -1: none */
    uint64_t id;          /* of the saved value, unique in this process; 0: none yet */
    void *map;            /* what `data` was loaded from and may point into, or NULL */
    size_t mapped;
} value;

/* Takes data (and memory, if it is not NULL). One reference, the caller's. */
value *value_create(const mill_type *type, void *data, value_memory *memory);
value *value_ref(value *v);
void value_unref(value *v); /* NULL: nothing. The last one ends the value. */

/* What `data` is instead of a value of that type (memory NULL: made by the module's own means), or
 * NULL if it may be one. */
const char *value_misfit(const mill_type *type, const void *data, const value_memory *memory);
/* Ends data that was never posted. */
void value_discard(const mill_type *type, void *data, value_memory *memory);

#endif
