/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the arena's blocks, and what the kit does when memory runs out. */
#include <tracemill/kit/arena.h>

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct kit_arena_block {
    kit_arena_block *next;
    alignas(max_align_t) char bytes[];
};

/* abort, not exit: the host's handler then names the stage and removes temporary files. */
static _Noreturn void out_of_memory(size_t count, size_t size) {
    fprintf(stderr,
            "out of memory: %zu x %zu bytes are not to be had; run with fewer --jobs, or give "
            "the process more\n",
            count, size);
    abort();
}

void *kit_alloc(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        out_of_memory(count, size);
    return memory;
}

void *kit_realloc(void *old, size_t count, size_t size) {
    void *memory = reallocarray(old, count ? count : 1, size ? size : 1);
    if (!memory)
        out_of_memory(count, size);
    return memory;
}

static kit_arena_block *new_block(size_t size) {
    if (size > SIZE_MAX - sizeof(kit_arena_block))
        out_of_memory(1, size);
    return kit_alloc(1, sizeof(kit_arena_block) + size);
}

/* A big piece gets a block to itself, put behind the newest one, whose free part stays in use. */
static void *take_big(kit_arena *arena, size_t size) {
    kit_arena_block *block = new_block(size);
    kit_arena_block **at = arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->next = *at;
    *at = block;
    return block->bytes;
}

static void *take(kit_arena *arena, size_t size, size_t alignment) {
    size_t pad = -(uintptr_t)arena->at & (alignment - 1);
    size_t left = arena->at ? (size_t)(arena->end - arena->at) : 0;
    if (left < pad || left - pad < size) {
        if (size > BLOCK_SIZE / 4)
            return take_big(arena, size);
        kit_arena_block *block = new_block(BLOCK_SIZE);
        block->next = arena->blocks;
        arena->blocks = block;
        arena->at = block->bytes;
        arena->end = block->bytes + BLOCK_SIZE;
        pad = 0;
    }
    char *memory = arena->at + pad;
    arena->at = memory + size;
    return memory;
}

void *kit_arena_alloc(kit_arena *arena, size_t size) {
    return take(arena, size ? size : 1, alignof(max_align_t));
}

char *kit_arena_text(kit_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX)
        out_of_memory(1, length);
    char *copy = take(arena, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy; /* the memory was zeroed: the NUL is there */
}

void kit_arena_finish(kit_arena *arena) {
    for (kit_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (kit_arena){0};
}
