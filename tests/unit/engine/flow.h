/* SPDX-License-Identifier: Apache-2.0 */
/* What the test modules share, and what `flow` lets a test in the same process see: the symbol
 * `flow_seen`. */
#ifndef TESTS_ENGINE_FLOW_H
#define TESTS_ENGINE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#define FLOW_ITEM "test.item/1"

/* A value of that type. */
typedef struct flow_item {
    uint32_t size, reserved;
    char *text;
} flow_item;

/* All of it is atomic. */
typedef struct flow_watch {
    uint64_t seed;                /* of the naps: set by the test */
    int live, most_live;          /* items made by readers, not freed yet */
    int open, most_open;          /* instances of flow.map */
    int opened, finished, closed; /* calls of all classes */
    int running, most_running;    /* runs of all classes */
    int clashes;                  /* callbacks that met another one in their own instance */
} flow_watch;

/* Counts one more, and the most there have been. */
static inline void flow_rise(int *count, int *most) {
    int now = __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    int before = __atomic_load_n(most, __ATOMIC_SEQ_CST);
    while (now > before && !__atomic_compare_exchange_n(most, &before, now, false, __ATOMIC_SEQ_CST,
                                                        __ATOMIC_SEQ_CST))
        continue;
}

#endif
