/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps twice as many items as are wanted, and sorts whenever there are so many. */
#include <tracemill/kit/top.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

void kit_top_init(kit_top *t, size_t top, size_t size, kit_compare compare) {
    *t = (kit_top){.compare = compare, .top = top, .size = size};
}

static char *item_at(const kit_top *t, size_t i) {
    return (char *)t->v + i * t->size;
}

size_t kit_top_sort(kit_top *t) {
    if (t->n > 0)
        qsort(t->v, t->n, t->size, t->compare);
    t->n = t->n < t->top ? t->n : t->top;
    return t->n;
}

void kit_top_add(kit_top *t, const void *item) {
    if (t->top == 0 || (t->kept > 0 && t->compare(item, item_at(t, t->kept - 1)) > 0))
        return;
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 16;
        t->v = kit_realloc(t->v, t->room, t->size);
    }
    memcpy(item_at(t, t->n++), item, t->size);
    if (t->n / 2 >= t->top)
        t->kept = kit_top_sort(t);
}

void kit_top_finish(kit_top *t) {
    free(t->v);
    *t = (kit_top){0};
}
