/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks there are: their order and their names. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/number.h>

/* The texts of one summary among those of all. */
static const uint32_t *map_texts(const ranks_analysis *a, const rank_summary *s) {
    uint32_t *map = mill_scratch(a->run, s->n_texts * sizeof *map);
    for (uint64_t i = 0; i < s->n_texts; i++)
        map[i] = kit_intern_add(a->texts, s->texts[i], strlen(s->texts[i]), 0);
    return map;
}

static const char *label_of(mill_run *run, const ranks_member *m) {
    char *text = mill_scratch(run, 2 * KIT_NUMBER_MAX + 16), number[KIT_NUMBER_MAX];
    char device[KIT_NUMBER_MAX];
    kit_format_int(number, m->rank, 0);
    if (m->summary->n_devices > 1)
        snprintf(text, 2 * KIT_NUMBER_MAX + 16, "%s, device %s", number,
                 kit_format_int(device, m->device->id, 0));
    else
        strcpy(text, number);
    return text;
}

static int compare_members(const void *a, const void *b) {
    const ranks_member *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

/* Either all profiles tell their rank or none does: numbers can't fill the gaps between names. */
static mill_status check_ranks(ranks_analysis *a, size_t n) {
    size_t told = 0;
    const rank_summary *untold = NULL;
    for (size_t i = 0; i < n; i++) {
        const rank_summary *s = mill_input(a->run, 0, i);
        told += s->rank != MILL_UNKNOWN;
        untold = s->rank == MILL_UNKNOWN && !untold ? s : untold;
    }
    a->counted = told == 0 && n > 1;
    if (told > 0 && untold)
        return mill_fail(a->run, MILL_E_DATA,
                         "%s does not tell its rank, but others do: give it one "
                         "(\"distributedInfo\": {\"rank\": N} in the file), or leave it out",
                         untold->path ? untold->path : "a profile");
    return MILL_OK;
}

static mill_status check_twice(const ranks_analysis *a) {
    for (size_t i = 1; i < a->n_members; i++) {
        const ranks_member *m = &a->members[i], *before = m - 1;
        if (m->rank == before->rank && m->summary != before->summary)
            return mill_fail(a->run, MILL_E_DATA,
                             "rank %lld twice: %s and %s: give one profile of each rank",
                             (long long)m->rank, before->summary->path, m->summary->path);
    }
    return MILL_OK;
}

/* Of the ranks that are there; unknown where they don't agree, or one is beyond it. */
static int64_t world_size_of(const ranks_analysis *a) {
    int64_t size = a->n_members > 0 ? a->members[0].summary->world_size : MILL_UNKNOWN;
    for (size_t i = 0; i < a->n_members; i++)
        if (a->members[i].summary->world_size != size || ranks_beyond(a, &a->members[i]))
            return MILL_UNKNOWN;
    return size;
}

bool ranks_beyond(const ranks_analysis *a, const ranks_member *m) {
    int64_t size = m->summary->world_size;
    return !a->counted && size != MILL_UNKNOWN && m->rank >= size;
}

mill_status ranks_find_members(ranks_analysis *a) {
    size_t n = mill_input_count(a->run, 0), room = 0;
    mill_status status = check_ranks(a, n);
    if (status != MILL_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        room += ((const rank_summary *)mill_input(a->run, 0, i))->n_devices;
    a->members = mill_scratch(a->run, room * sizeof *a->members);
    for (size_t i = 0; i < n; i++) {
        const rank_summary *s = mill_input(a->run, 0, i);
        const uint32_t *texts = map_texts(a, s);
        a->by_device |= s->n_devices > 1;
        for (uint64_t k = 0; k < s->n_devices; k++) {
            ranks_member *m = &a->members[a->n_members++];
            *m = (ranks_member){.summary = s, .device = &s->devices[k], .texts = texts};
            m->rank = s->rank != MILL_UNKNOWN ? s->rank : (int64_t)i;
            m->label = label_of(a->run, m);
        }
    }
    qsort(a->members, a->n_members, sizeof *a->members, compare_members);
    for (size_t i = 0; i < a->n_members; i++)
        a->n_ranks += i == 0 || a->members[i].rank != a->members[i - 1].rank;
    a->world_size = world_size_of(a);
    return check_twice(a);
}
