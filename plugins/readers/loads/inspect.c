/* SPDX-License-Identifier: Apache-2.0 */
/* What is odd in loads, by their values alone. */
#include "loads.h"

#include <inttypes.h>

#define EXACT 0x1p53 /* whole numbers up to this one are exact */

const double *ld_sum_steps(mill_run *run, const mill_expert_load *v) {
    size_t cells = (size_t)v->layers * v->experts;
    double *sum = mill_scratch(run, cells * sizeof *sum);
    for (uint64_t s = 0; s < v->steps; s++)
        for (size_t i = 0; i < cells; i++)
            sum[i] += v->load[s * cells + i];
    return sum;
}

static bool empty(const double *load, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (load[i] > 0)
            return false;
    return true;
}

static void look_at_numbers(ld_remarks *m, mill_expert_load *v) {
    size_t cells = (size_t)v->steps * v->layers * v->experts;
    uint64_t large = 0;
    v->integral = 1;
    for (size_t i = 0; i < cells; i++) {
        large += v->load[i] >= EXACT;
        if (v->load[i] < EXACT && v->load[i] != (double)(int64_t)v->load[i])
            v->integral = 0;
    }
    if (large > 0)
        ld_remark_add(m, MILL_WARNING, "large_loads",
                      "Loads of 2^53 and more, which are not exact and hardly counts of tokens: "
                      "%" PRIu64 ".",
                      large);
}

static uint32_t look_at_layers(ld_remarks *m, const mill_expert_load *v, const double *sum) {
    uint32_t n = 0;
    int64_t first = 0;
    for (uint32_t l = 0; l < v->layers; l++)
        if (empty(sum + (size_t)l * v->experts, v->experts) && n++ == 0)
            first = ld_layer_number(v, l);
    if (n > 0)
        ld_remark_add(m, MILL_WARNING, "empty_layers",
                      "Layers without any load: %" PRIu32 " of %" PRIu32
                      ", the first is layer %" PRId64
                      ". They were not recorded, or are no layers of experts; no plan can be made "
                      "for them.",
                      n, v->layers, first);
    return n;
}

static void look_at_steps(ld_remarks *m, const mill_expert_load *v) {
    size_t cells = (size_t)v->layers * v->experts;
    uint64_t n = 0;
    for (uint64_t s = 0; s < v->steps; s++)
        n += empty(v->load + s * cells, cells);
    if (n > 0 && n < v->steps)
        ld_remark_add(m, MILL_INFO, "idle_steps",
                      "Steps without any load: %" PRIu64 " of %" PRIu64 ".", n, v->steps);
}

/* Where the experts with a load lie, over all layers. */
typedef struct span {
    uint32_t first, last;
    uint64_t used; /* (layer, expert) pairs with a load */
} span;

static span find_span(const mill_expert_load *v, const double *sum) {
    span s = {.first = v->experts};
    for (uint32_t l = 0; l < v->layers; l++)
        for (uint32_t e = 0; e < v->experts; e++)
            if (sum[(size_t)l * v->experts + e] > 0) {
                s.first = e < s.first ? e : s.first;
                s.last = e > s.last ? e : s.last;
                s.used++;
            }
    return s;
}

/* A heuristic: in all layers, of at least two, only the experts of one block have a load, and most
 * of them. The block is a fraction of the experts, 1/2 at most, and begins at a multiple of its
 * size: what one rank holds. */
static void look_at_ranks(ld_remarks *m, const mill_expert_load *v, const double *sum,
                          uint32_t n_layers) {
    span s = find_span(v, sum);
    if (s.used == 0 || n_layers < 2)
        return;
    for (uint32_t block = 1; block <= v->experts / 2; block++) {
        if (v->experts % block != 0 || s.first / block != s.last / block)
            continue;
        if (s.used * 2 > (uint64_t)block * n_layers)
            ld_remark_add(m, MILL_WARNING, "one_rank",
                          "Only experts %" PRIu32 " to %" PRIu32 " of %" PRIu32
                          " have a load, in all layers: it seems that one rank recorded only what "
                          "it held itself. Add up the files of all ranks with loads.join.",
                          s.first, s.last, v->experts);
        return;
    }
}

void ld_inspect(ld_remarks *m, mill_expert_load *v) {
    const double *sum = ld_sum_steps(m->run, v);
    look_at_numbers(m, v);
    uint32_t n_empty = look_at_layers(m, v, sum);
    look_at_steps(m, v);
    look_at_ranks(m, v, sum, v->layers - n_empty);
}
