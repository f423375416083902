/* SPDX-License-Identifier: Apache-2.0 */
/* Values: the memory behind what stages post, who still needs it, and how it ends. */
#include "engine/value.h"

#include <stdalign.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/crash.h"
#include "types/types.h"

/* Shared blocks: the first one small, since most values are, each next one twice as large. */
#define BLOCK_LEAST ((size_t)512)
#define BLOCK_MOST ((size_t)64 * 1024)
#define ALIGNMENT alignof(max_align_t)

typedef struct block block;
struct block {
    block *next;
    alignas(max_align_t) char bytes[];
};

struct value_memory {
    block *blocks;
    char *at, *end; /* the free part of the newest shared block */
    size_t block;   /* bytes of the newest shared block */
    size_t root_size;
    void *root;
};

static char *add_block(value_memory *memory, size_t size) {
    /* calloc, not g_malloc0: fresh pages come zeroed from the system and are not touched twice. */
    block *b = calloc(1, sizeof *b + size);
    if (b == NULL)
        g_error("out of memory: %zu bytes for a value", size);
    b->next = memory->blocks;
    memory->blocks = b;
    return b->bytes;
}

/* A size at which the next one is aligned. */
static size_t round_up(size_t size) {
    if (size > SIZE_MAX / 2)
        g_error("out of memory: %zu bytes for a value", size);
    return (MAX(size, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *value_memory_alloc(value_memory *memory, size_t size) {
    size = round_up(size);
    if (size > BLOCK_MOST / 4)
        return add_block(memory, size);
    if ((size_t)(memory->end - memory->at) < size) {
        memory->block = MAX(size, CLAMP(memory->block * 2, BLOCK_LEAST, BLOCK_MOST));
        memory->at = add_block(memory, memory->block);
        memory->end = memory->at + memory->block;
    }
    void *result = memory->at;
    memory->at += size;
    return result;
}

value_memory *value_memory_create(size_t root_size) {
    value_memory *memory = g_new0(value_memory, 1);
    memory->root_size = root_size;
    /* A block of its own, and a small one: many values are a root and little else. */
    memory->root = add_block(memory, round_up(root_size));
    return memory;
}

void value_memory_destroy(value_memory *memory) {
    if (memory == NULL)
        return;
    for (block *b = memory->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    g_free(memory);
}

void *value_memory_root(value_memory *memory) {
    return memory->root;
}

const char *value_misfit(const mill_type *type, const void *data, const value_memory *memory) {
    if (data == NULL)
        return "NULL";
    if (type == NULL)
        return "a value of a type that no module describes";
    uint32_t least = types_least_size(type->id);
    if (memory == NULL && (least != 0 || type->free == NULL))
        return "something that was not made by value_alloc";
    if (least != 0 && (memory->root_size < least || *(const uint32_t *)data < least ||
                       *(const uint32_t *)data > memory->root_size))
        return "something else (its size does not fit)";
    return NULL;
}

/* On the thread of whoever used the value last, which is not to blame for a crash. */
static void call_free(const mill_type *type, void *data) {
    g_autofree char *note = g_strdup_printf("`free` of type %s", type->id);
    const char *before = crash_note(note);
    type->free(data);
    crash_note(before);
}

void value_discard(const mill_type *type, void *data, value_memory *memory) {
    if (memory != NULL)
        value_memory_destroy(memory);
    else if (type != NULL && type->free != NULL && data != NULL)
        call_free(type, data);
}

value *value_create(const mill_type *type, void *data, value_memory *memory) {
    value *v = g_new0(value, 1);
    v->type = type;
    v->data = data;
    v->memory = memory;
    v->refs = 1;
    v->saved = -1;
    pthread_mutex_init(&v->lock, NULL);
    return v;
}

value *value_ref(value *v) {
    __atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
    return v;
}

void value_unref(value *v) {
    /* Not g_atomic_*: the thread sanitizer must see that the last owner comes after the others. */
    if (v == NULL || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    value_discard(v->type, v->data, v->memory);
    if (v->map != NULL)
        munmap(v->map, v->mapped);
    if (v->saved >= 0)
        close(v->saved);
    pthread_mutex_destroy(&v->lock);
    g_free(v);
}
