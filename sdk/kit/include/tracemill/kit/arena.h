/* SPDX-License-Identifier: Apache-2.0 */
/* Arena: many small allocations, freed together. */
#ifndef TRACEMILL_KIT_ARENA_H
#define TRACEMILL_KIT_ARENA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_arena_block kit_arena_block;

/* One owner, one thread at a time. All zero bytes is a valid, empty arena. */
typedef struct kit_arena {
    kit_arena_block *blocks;
    char *at, *end; /* the free part of the newest block */
} kit_arena;

/* `size` zeroed bytes, aligned for any type, valid until kit_arena_finish. Never NULL: ends the
 * process with a message when memory runs out, as all of the kit does. */
void *kit_arena_alloc(kit_arena *arena, size_t size);

/* A NUL-terminated copy of `length` bytes of text. */
char *kit_arena_text(kit_arena *arena, const char *text, size_t length);

/* Frees everything; the arena is empty and may be used again. */
void kit_arena_finish(kit_arena *arena);

/* malloc and realloc that end the process with a message when memory runs out. Freed with free().
 */
void *kit_alloc(size_t count, size_t size); /* zeroed */
void *kit_realloc(void *old, size_t count, size_t size);

#ifdef __cplusplus
}
#endif
#endif
