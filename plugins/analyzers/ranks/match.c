/* SPDX-License-Identifier: Apache-2.0 */
/* Which activities of different ranks are one collective: those of one process group, kind and
 * sequence number, or where files tell no numbers, those of one kind and stage, counted in each
 * step. */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

bool ranks_lists(const mill_list *list, const char *text) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(((const char *const *)list->v)[i], text) == 0)
            return true;
    return false;
}

/* ---------------------------------------------------------------- events */

/* Numbers of classes by what makes them one. */
typedef struct counting {
    ranks_analysis *a;
    kit_intern *keys;
    int64_t *next;    /* of each class: the next ordinal of the member at hand */
    uint32_t *member; /* of each class: the member that `next` counts for */
} counting;

static uint32_t here(const ranks_member *m, uint32_t text) {
    return text == MILL_NONE ? MILL_NONE : m->texts[text];
}

static uint32_t class_of(counting *c, const ranks_member *m, const rank_collective *x) {
    bool by_sequence = x->sequence != MILL_UNKNOWN;
    ranks_class cls = {
        .group = here(m, x->group),
        .group_ranks = here(m, x->group_ranks),
        .kind = here(m, x->kind),
        .stage = by_sequence ? MILL_NONE : here(m, x->stage),
        .step = by_sequence ? MILL_UNKNOWN : x->step,
        .by_sequence = by_sequence,
    };
    const int64_t key[] = {cls.group, cls.group_ranks, cls.kind, cls.stage, cls.step, by_sequence};
    uint32_t number = kit_intern_add(c->keys, (const char *)key, sizeof key, 0);
    if (number == c->a->n_classes) {
        cls.sync = ranks_lists(&c->a->options->sync_kinds, ranks_text(c->a, cls.kind));
        c->a->classes[c->a->n_classes++] = cls;
        c->member[number] = MILL_NONE;
    }
    return number;
}

static void add_event(counting *c, uint32_t member, const rank_collective *x) {
    ranks_analysis *a = c->a;
    const ranks_member *m = &a->members[member];
    const char *kind = ranks_text(a, here(m, x->kind));
    if (!kind || ranks_lists(&a->options->skip_kinds, kind)) {
        a->n_skipped++;
        return;
    }
    uint32_t cls = class_of(c, m, x);
    if (c->member[cls] != member)
        c->next[cls] = 0;
    c->member[cls] = member;
    a->events[a->n_events++] = (ranks_event){
        .cls = cls,
        .member = member,
        .number = a->classes[cls].by_sequence ? x->sequence : c->next[cls]++,
        .collective = x,
        .start = m->device->origin + x->start,
        .end = m->device->origin + x->start + x->dur,
        .wait = MILL_UNKNOWN,
    };
}

static void list_events(ranks_analysis *a) {
    size_t room = 0;
    for (size_t i = 0; i < a->n_members; i++)
        room += a->members[i].device->n_collectives;
    a->events = mill_scratch(a->run, room * sizeof *a->events);
    a->classes = mill_scratch(a->run, room * sizeof *a->classes);
    counting c = {
        .a = a,
        .keys = kit_intern_create(),
        .next = mill_scratch(a->run, room * sizeof *c.next),
        .member = mill_scratch(a->run, room * sizeof *c.member),
    };
    for (uint32_t i = 0; i < a->n_members; i++)
        for (uint64_t k = 0; k < a->members[i].device->n_collectives; k++)
            add_event(&c, i, &a->members[i].device->collectives[k]);
    kit_intern_destroy(c.keys);
}

static int compare_by_member(const void *a, const void *b) {
    const ranks_event *x = a, *y = b;
    if (x->cls != y->cls)
        return x->cls < y->cls ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return (x->collective > y->collective) - (x->collective < y->collective);
}

static int compare_events(const void *a, const void *b) {
    const ranks_event *x = a, *y = b;
    if (x->cls != y->cls)
        return x->cls < y->cls ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->again != y->again)
        return x->again < y->again ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

/* Operations that are launched together share a number: the k-th of one rank is that of another. */
static void order_events(ranks_analysis *a) {
    qsort(a->events, a->n_events, sizeof *a->events, compare_by_member);
    for (size_t i = 1; i < a->n_events; i++) {
        const ranks_event *before = &a->events[i - 1];
        ranks_event *e = &a->events[i];
        if (e->cls == before->cls && e->number == before->number && e->member == before->member)
            e->again = before->again + 1;
    }
    qsort(a->events, a->n_events, sizeof *a->events, compare_events);
}

/* ---------------------------------------------------------------- matches */

/* The events of one class. */
typedef struct span {
    ranks_event *v;
    size_t n;
} span;

/* How many of the span's events are of the collective at `first`. */
static size_t together(const span *s, size_t first) {
    size_t n = 1;
    while (first + n < s->n && s->v[first + n].number == s->v[first].number &&
           s->v[first + n].again == s->v[first].again)
        n++;
    return n;
}

/* What each member has of the class at hand. */
typedef struct having {
    int64_t n;     /* how many collectives */
    int64_t first; /* how many of the first ones without a break */
} having;

/* Members that lack a collective of the class. `has` is zero before and after. */
static void find_gaps(ranks_analysis *a, ranks_class *cls, const span *s, having *has) {
    int64_t most = 0;
    int64_t *numbers = mill_scratch(a->run, s->n * sizeof *numbers);
    for (size_t i = 0, n; i < s->n; i += n, most++) {
        n = together(s, i);
        numbers[most] = s->v[i].number;
        for (size_t k = i; k < i + n; k++) {
            having *h = &has[s->v[k].member];
            cls->members += h->n++ == 0;
            h->first += h->first == most;
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        uint32_t m = s->v[i].member;
        if (has[m].n > 0 && has[m].n < most) {
            int64_t first = cls->by_sequence ? numbers[has[m].first] : MILL_UNKNOWN;
            a->gaps[a->n_gaps++] = (ranks_gap){cls, m, has[m].n, most, first};
            cls->refused = !cls->by_sequence;
        }
        has[m] = (having){0, 0};
    }
    a->n_refused += cls->refused;
}

static void add_matches(ranks_analysis *a, const ranks_class *cls, const span *s) {
    for (size_t i = 0, n; i < s->n; i += n) {
        n = together(s, i);
        if (n < 2)
            continue;
        a->matches[a->n_matches++] =
            (ranks_match){.cls = cls, .events = s->v + i, .n = n, .last = MILL_NONE};
        for (size_t k = i; k < i + n; k++)
            a->members[s->v[k].member].matched++;
    }
}

void ranks_match_up(ranks_analysis *a) {
    list_events(a);
    order_events(a);
    a->matches = mill_scratch(a->run, a->n_events * sizeof *a->matches);
    a->gaps = mill_scratch(a->run, a->n_events * sizeof *a->gaps);
    having *has = mill_scratch(a->run, a->n_members * sizeof *has);
    for (size_t i = 0; i < a->n_events;) {
        ranks_class *cls = &a->classes[a->events[i].cls];
        span s = {a->events + i, 0};
        while (i < a->n_events && a->events[i].cls == s.v->cls)
            i++, s.n++;
        find_gaps(a, cls, &s, has);
        if (!cls->refused)
            add_matches(a, cls, &s);
    }
}
