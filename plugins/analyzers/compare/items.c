/* SPDX-License-Identifier: Apache-2.0 */
/* The activities of both sides as items, with what they can be found again by. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

/* What the numbers of one trace are in the analysis. */
typedef struct mapping {
    uint32_t *names;  /* of the trace's names; MILL_NONE: not asked yet */
    uint32_t *stages; /* of the attribution's stages */
    uint32_t *steps;  /* of the attribution's steps: whole ones counted */
} mapping;

static uint32_t *untold(mill_run *run, uint64_t n) {
    uint32_t *v = mill_scratch(run, n * sizeof *v);
    memset(v, 0xff, n * sizeof *v);
    return v;
}

static mapping map(compare_analysis *a, compare_side *s) {
    mapping m = {.names = untold(a->run, s->trace->names.texts.n)};
    if (!s->places)
        return m;
    m.stages = mill_scratch(a->run, s->places->n_stages * sizeof *m.stages);
    for (uint64_t i = 0; i < s->places->n_stages; i++)
        m.stages[i] =
            kit_intern_add(a->stages, s->places->stages[i], strlen(s->places->stages[i]), 0);
    m.steps = untold(a->run, s->places->n_steps);
    for (uint64_t i = 0; i < s->places->n_steps; i++)
        if (s->places->step_whole[i] && (!s->all.step_used || s->all.step_used[i]))
            m.steps[i] = s->n_steps++;
    return m;
}

static uint32_t name_of(compare_analysis *a, const compare_side *s, mapping *m, uint32_t row) {
    uint32_t name = mill_u32(s->trace, &s->trace->gpu.name, row);
    if (m->names[name] == MILL_NONE) {
        const char *plain =
            compare_plain_name(a->run, mill_name(s->trace, name), a->options->template_numbers);
        m->names[name] = kit_intern_add(a->names, plain, strlen(plain), 0);
    }
    return m->names[name];
}

static compare_item item_of(compare_analysis *a, const compare_side *s, mapping *m,
                            const kit_activity *v) {
    compare_item item = {
        .dur = v->end - v->start,
        .row = v->row,
        .launch = mill_u32(s->trace, &s->trace->gpu.launch, v->row),
        .place = v->place,
        .stage = MILL_NONE,
        .name = name_of(a, s, m, v->row),
        .step = MILL_NONE,
        .key = MILL_NONE,
        .cls = v->cls,
        .waits = v->cls == KIT_COMM &&
                 compare_lists(&a->options->notify_kinds, kit_kind_name(&s->all, v->kind)),
    };
    if (v->place == MILL_NONE)
        return item;
    uint32_t stage = s->places->stage[v->place], step = s->places->step[v->place];
    item.stage = stage == MILL_NONE ? MILL_NONE : m->stages[stage];
    item.step = step == MILL_NONE ? MILL_NONE : m->steps[step];
    return item;
}

static int compare_in_place(const void *a, const void *b) {
    const compare_item *x = *(compare_item *const *)a, *y = *(compare_item *const *)b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return (x > y) - (x < y); /* items are in order of time */
}

/* In the order of launches: which of two streams is first may change from run to run. */
static void count_in_places(compare_analysis *a, compare_side *s) {
    compare_item **order = mill_scratch(a->run, s->n_items * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; i < s->n_items; i++)
        if (s->items[i].stage != MILL_NONE)
            order[n++] = &s->items[i];
    qsort(order, n, sizeof *order, compare_in_place);
    for (size_t i = 1; i < n; i++)
        if (order[i]->place == order[i - 1]->place && order[i]->name == order[i - 1]->name)
            order[i]->ordinal = order[i - 1]->ordinal + 1;
}

void compare_make_items(compare_analysis *a) {
    for (int end = 0; end < COMPARE_ENDS; end++) {
        compare_side *s = &a->side[end];
        mapping m = map(a, s);
        size_t room = 0;
        for (size_t i = 0; i < s->all.n_devices; i++)
            room += s->all.devices[i].n;
        s->items = mill_scratch(a->run, room * sizeof *s->items);
        for (size_t i = 0; i < s->all.n_devices; i++)
            for (size_t k = 0; k < s->all.devices[i].n; k++)
                s->items[s->n_items++] = item_of(a, s, &m, &s->all.devices[i].v[k]);
        count_in_places(a, s);
    }
}
