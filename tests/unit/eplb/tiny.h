/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny layers, small enough to try every content of every slot. */
#ifndef TRACEMILL_TESTS_EPLB_TINY_H
#define TRACEMILL_TESTS_EPLB_TINY_H

#include "search.h"

#include <glib.h>

typedef struct tiny {
    ep_shape shape;
    uint32_t first[5], node[4];
    double speed[4], load[3 * 8];
    ep_loads loads;
    ep_policy policy;
    ep_objective objective;
} tiny;

/* Unequal slots and speeds, failed GPUs, one to three steps; every expert fits. */
void tiny_make(tiny *t, GRand *random);

/* Whether a plan keeps the rules: told without the code under test. */
bool tiny_valid(const tiny *t, const int32_t *plan);

/* The value by its definition. */
double tiny_value(const tiny *t, const int32_t *plan);

/* The least value of all plans that keep the rules; infinite: none does. */
double tiny_optimum(const tiny *t);

#endif
