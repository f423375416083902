/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the table of interned strings: an open-addressed hash table of numbers of entries. */
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256 /* a power of two */
#define EMPTY UINT32_MAX

typedef struct entry {
    const char *text;
    size_t length;
    uint32_t tag;
} entry;

/* The hash stands beside the number, so that most other entries are passed by without a look. */
typedef struct slot {
    uint32_t hash, id;
} slot;

struct kit_intern {
    kit_arena texts;
    entry *entries;
    size_t count, room;
    slot *slots;
    size_t n_slots; /* a power of two, at least twice the count */
};

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
    return hash ^ hash >> 32;
}

/* Eight bytes at a time: a trace interns a name of some hundred bytes for every event. */
static uint32_t hash_of(const char *text, size_t length, uint32_t tag) {
    uint64_t hash = mix(length, tag), word = 0;
    if (length >= 8) { /* the last word overlaps the one before it */
        const char *last = text + length - 8;
        for (; text < last; text += 8) {
            memcpy(&word, text, 8);
            hash = mix(hash, word);
        }
        memcpy(&word, last, 8);
    } else if (length) {
        memcpy(&word, text, length);
    }
    return (uint32_t)(mix(mix(hash, word), 0) >> 32);
}

static slot *make_slots(size_t n) {
    slot *slots = kit_realloc(NULL, n, sizeof *slots);
    for (size_t i = 0; i < n; i++)
        slots[i].id = EMPTY;
    return slots;
}

/* The slot of the text, or the empty one where it would go. */
static slot *find_slot(const kit_intern *table, uint32_t hash, const char *text, size_t length,
                       uint32_t tag) {
    for (size_t i = hash;; i++) {
        slot *s = &table->slots[i & (table->n_slots - 1)];
        if (s->id == EMPTY)
            return s;
        const entry *e = &table->entries[s->id];
        if (s->hash == hash && e->tag == tag && e->length == length &&
            (length == 0 || memcmp(e->text, text, length) == 0))
            return s;
    }
}

static void double_slots(kit_intern *table) {
    slot *old = table->slots;
    size_t n_old = table->n_slots;
    table->n_slots = 2 * n_old;
    table->slots = make_slots(table->n_slots);
    for (size_t i = 0; i < n_old; i++) {
        if (old[i].id == EMPTY)
            continue;
        size_t at = old[i].hash & (table->n_slots - 1);
        while (table->slots[at].id != EMPTY)
            at = (at + 1) & (table->n_slots - 1);
        table->slots[at] = old[i];
    }
    free(old);
}

kit_intern *kit_intern_create(void) {
    kit_intern *table = kit_alloc(1, sizeof *table);
    table->n_slots = FIRST_SLOTS;
    table->slots = make_slots(table->n_slots);
    return table;
}

void kit_intern_destroy(kit_intern *table) {
    if (!table)
        return;
    kit_arena_finish(&table->texts);
    free(table->entries);
    free(table->slots);
    free(table);
}

uint32_t kit_intern_add(kit_intern *table, const char *text, size_t length, uint32_t tag) {
    uint32_t hash = hash_of(text, length, tag);
    slot *s = find_slot(table, hash, text, length, tag);
    if (s->id != EMPTY)
        return s->id;
    assert(table->count < UINT32_MAX - 1);
    if (table->count == table->room) {
        table->room = table->room ? 2 * table->room : FIRST_SLOTS / 2;
        table->entries = kit_realloc(table->entries, table->room, sizeof *table->entries);
    }
    uint32_t id = (uint32_t)table->count++;
    table->entries[id] = (entry){kit_arena_text(&table->texts, text, length), length, tag};
    *s = (slot){hash, id};
    if (2 * table->count > table->n_slots)
        double_slots(table);
    return id;
}

uint32_t kit_intern_find(const kit_intern *table, const char *text, size_t length, uint32_t tag) {
    return find_slot(table, hash_of(text, length, tag), text, length, tag)->id;
}

uint32_t kit_intern_count(const kit_intern *table) {
    return (uint32_t)table->count;
}

const char *kit_intern_text(const kit_intern *table, uint32_t id, size_t *ret_length) {
    assert(id < table->count);
    if (ret_length)
        *ret_length = table->entries[id].length;
    return table->entries[id].text;
}

uint32_t kit_intern_tag(const kit_intern *table, uint32_t id) {
    assert(id < table->count);
    return table->entries[id].tag;
}
