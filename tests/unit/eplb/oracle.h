/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of expert placement with what eplb.py makes of them, and the best plans known. */
#ifndef TRACEMILL_TESTS_EPLB_ORACLE_H
#define TRACEMILL_TESTS_EPLB_ORACLE_H

#include "data.h"

#include "layer.h"

typedef struct oracle_case {
    char *name;
    ep_shape shape; /* distinct is not set */
    bool hierarchical;
    uint32_t layers;
    double *load;    /* [layers][experts] */
    int32_t *plan;   /* [layers][slots], of eplb.py */
    double layer_ms; /* eplb.py's time for a layer */
    uint32_t *first, *node;
    struct oracle_layer { /* NaN: not known */
        double lower_bound, best, best_distinct, optimum;
    } * known; /* [layers] */
} oracle_case;

/* All cases with loads that a search takes: finite, not negative. Of oracle_case *. */
GPtrArray *oracle_cases(const char *folder);

#endif
