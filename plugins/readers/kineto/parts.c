/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the traces of an archive their sub-keys, and posts them. */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>

void parts_add(parts *all, const char *name, mill_trace *trace) {
    if ((all->n & (all->n - 1)) == 0) /* full: room is a power of two */
        all->v = kit_realloc(all->v, all->n ? 2 * all->n : 1, sizeof *all->v);
    char *copy = kit_alloc(strlen(name) + 1, 1);
    strcpy(copy, name);
    all->v[all->n++] = (part){copy, trace};
}

void parts_finish(parts *all) {
    for (size_t i = 0; i < all->n; i++)
        free(all->v[i].name);
    free(all->v);
}

/* Bytes of the path of folders that all names begin with. */
static size_t shared_folders(const parts *all) {
    const char *first = all->v[0].name;
    size_t shared = strlen(first);
    for (size_t i = 0; i < all->n; i++) {
        size_t same = 0;
        while (same < shared && all->v[i].name[same] == first[same])
            same++;
        shared = same;
    }
    while (shared > 0 && first[shared - 1] != '/')
        shared--;
    return shared;
}

static void write_key(char *to, const char *name) {
    for (; *name; name++, to++) {
        bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        *to = letter || (*name >= '0' && *name <= '9') || strchr("._-", *name) ? *name : '_';
    }
    *to = '\0';
}

/* Names that differ may make the same key: later ones get a number, and so are unlike any other. */
static mill_status emit_all(mill_run *run, const parts *all, kit_intern *keys) {
    size_t shared = shared_folders(all);
    mill_status status = MILL_OK;
    for (size_t i = 0; i < all->n && status == MILL_OK; i++) {
        const char *name = all->v[i].name + shared;
        size_t length = strlen(name), room = length + 24;
        char *key = kit_alloc(room, 1);
        write_key(key, name);
        uint32_t before = kit_intern_count(keys);
        for (size_t k = 2; kit_intern_add(keys, key, strlen(key), 0) < before || !*key; k++)
            snprintf(key + length, room - length, "-%zu", k);
        status = run->host->emit(run, 0, key, all->v[i].trace);
        free(key);
    }
    return status;
}

mill_status parts_emit(mill_run *run, const parts *all, bool single) {
    if (single)
        return run->host->emit(run, 0, NULL, all->v[0].trace);
    kit_intern *keys = kit_intern_create();
    mill_status status = emit_all(run, all, keys);
    kit_intern_destroy(keys);
    return status;
}
