/* SPDX-License-Identifier: Apache-2.0 */
/* What of the two sides is the same work: by the finest keys that find enough of it on both. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/stats.h>

/* ---------------------------------------------------------------- keys */

#define KEY_PARTS 3

static void key_of(const compare_side *s, compare_level level, const compare_item *item,
                   int64_t ret_key[KEY_PARTS]) {
    const mill_gpu *gpu = &s->trace->gpu;
    int64_t key[KEY_PARTS] = {item->name, 0, 0};
    if (level == COMPARE_BY_ORDINAL) {
        key[1] = item->stage;
        key[2] = item->ordinal;
    } else if (level == COMPARE_BY_SIZE) {
        key[1] = mill_i64(s->trace, &gpu->grid, item->row);
        key[2] = mill_i64(s->trace, &gpu->block, item->row);
    }
    memcpy(ret_key, key, sizeof key);
}

/* "gemm" of computation is another than that of communication. */
static uint32_t class_key(kit_intern *keys, const compare_side *s, const compare_item *item) {
    uint16_t kind = mill_gpu_kind_row(s->trace, item->row);
    const char *text =
        kind < s->trace->kinds.n ? mill_text(s->trace, &s->trace->kinds, kind) : "(no kind)";
    return kit_intern_add(keys, text, strlen(text), item->cls);
}

static kit_intern *give_keys(compare_analysis *a, compare_level level) {
    kit_intern *keys = kit_intern_create();
    for (int end = 0; end < COMPARE_ENDS; end++)
        for (size_t i = 0; i < a->side[end].n_items; i++) {
            compare_item *item = &a->side[end].items[i];
            int64_t key[KEY_PARTS];
            if (level == COMPARE_BY_CLASS) {
                item->key = class_key(keys, &a->side[end], item);
                continue;
            }
            key_of(&a->side[end], level, item, key);
            item->key = kit_intern_add(keys, (const char *)key, sizeof key, 0);
        }
    return keys;
}

/* The share of each side's time whose keys the other has too. */
static void measure_match(compare_analysis *a, uint32_t n_keys) {
    bool *has[COMPARE_ENDS];
    for (int end = 0; end < COMPARE_ENDS; end++) {
        has[end] = mill_scratch(a->run, n_keys * sizeof **has);
        for (size_t i = 0; i < a->side[end].n_items; i++)
            has[end][a->side[end].items[i].key] = true;
    }
    for (int end = 0; end < COMPARE_ENDS; end++) {
        int64_t all = 0, both = 0;
        for (size_t i = 0; i < a->side[end].n_items; i++) {
            const compare_item *item = &a->side[end].items[i];
            all = kit_add(all, item->dur);
            if (has[!end][item->key])
                both = kit_add(both, item->dur);
        }
        a->matched[end] = compare_ratio(both, all);
    }
}

/* ---------------------------------------------------------------- samples */

/* Orders the items of a side by their keys. */
static void sort_by_key(compare_analysis *a, compare_side *s, uint32_t n_keys) {
    s->first = mill_scratch(a->run, (n_keys + 2) * sizeof *s->first);
    s->order = mill_scratch(a->run, s->n_items * sizeof *s->order);
    size_t *next = s->first + 1; /* ends up where the key ends, which is where the next begins */
    for (size_t i = 0; i < s->n_items; i++)
        next[s->items[i].key + 1]++;
    for (uint32_t k = 0; k < n_keys; k++)
        next[k + 1] += next[k];
    for (size_t i = 0; i < s->n_items; i++)
        s->order[next[s->items[i].key]++] = (uint32_t)i;
}

static compare_sample sample_of(const compare_side *s, uint32_t key, int64_t *values) {
    size_t n = s->first[key + 1] - s->first[key];
    compare_sample r = {(int64_t)n, 0, MILL_UNKNOWN, MILL_UNKNOWN};
    for (size_t i = 0; i < n; i++) {
        values[i] = s->items[s->order[s->first[key] + i]].dur;
        r.sum = kit_add(r.sum, values[i]);
    }
    if (n == 0)
        return r;
    r.median = kit_median(values, n);
    r.mad = kit_mad(values, n, r.median);
    return r;
}

/* What the level's keys tell of the item. */
static compare_key describe(const compare_analysis *a, const compare_side *s,
                            const compare_item *item) {
    bool ordinal = a->level == COMPARE_BY_ORDINAL;
    compare_key key = {
        .stage = ordinal ? item->stage : MILL_NONE,
        .what = kit_intern_text(a->names, item->name, NULL),
        .ordinal = ordinal && item->stage != MILL_NONE ? item->ordinal : MILL_UNKNOWN,
        .grid = a->level == COMPARE_BY_SIZE ? mill_i64(s->trace, &s->trace->gpu.grid, item->row)
                                            : MILL_UNKNOWN,
        .waits = item->waits,
    };
    if (a->level == COMPARE_BY_CLASS) {
        uint16_t kind = mill_gpu_kind_row(s->trace, item->row);
        key.what =
            kind < s->trace->kinds.n ? mill_text(s->trace, &s->trace->kinds, kind) : "(no kind)";
    }
    return key;
}

static void add_samples(compare_analysis *a, uint32_t n_keys) {
    size_t most = 1;
    for (int end = 0; end < COMPARE_ENDS; end++) {
        sort_by_key(a, &a->side[end], n_keys);
        most = a->side[end].n_items > most ? a->side[end].n_items : most;
    }
    int64_t *values = mill_scratch(a->run, most * sizeof *values);
    a->keys = mill_scratch(a->run, n_keys * sizeof *a->keys);
    a->n_keys = n_keys;
    for (uint32_t k = 0; k < n_keys; k++) {
        const compare_side *s = &a->side[COMPARE_BASE];
        s += s->first[k] == s->first[k + 1]; /* the new one's, where the base has none */
        a->keys[k] = describe(a, s, &s->items[s->order[s->first[k]]]);
        for (int end = 0; end < COMPARE_ENDS; end++)
            a->keys[k].change.side[end] = sample_of(&a->side[end], k, values);
    }
}

int64_t *compare_step_sums(const compare_analysis *a, compare_end end, uint32_t key) {
    const compare_side *s = &a->side[end];
    int64_t *sums = kit_alloc(s->n_steps, sizeof *sums);
    for (size_t i = s->first[key]; i < s->first[key + 1]; i++) {
        const compare_item *item = &s->items[s->order[i]];
        if (item->step != MILL_NONE)
            sums[item->step] = kit_add(sums[item->step], item->dur);
    }
    return sums;
}

static bool has_stages(const compare_analysis *a) {
    return a->side[COMPARE_BASE].places && a->side[COMPARE_NEW].places &&
           kit_intern_count(a->stages) > 0;
}

void compare_match(compare_analysis *a) {
    compare_level level = has_stages(a) ? COMPARE_BY_ORDINAL : COMPARE_BY_SIZE;
    kit_intern *keys = NULL;
    for (;; level++) {
        keys = give_keys(a, level);
        measure_match(a, kit_intern_count(keys));
        double least = fmin(a->matched[COMPARE_BASE], a->matched[COMPARE_NEW]);
        if (level == COMPARE_BY_CLASS || least >= a->options->min_matched)
            break;
        kit_intern_destroy(keys);
    }
    a->level = level;
    add_samples(a, kit_intern_count(keys));
    kit_intern_destroy(keys);
}
