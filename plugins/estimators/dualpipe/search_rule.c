/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of list scheduling: which there are, and how they are told. */
#include "search_rule.h"

#include <stdio.h>

/* Takes one of `n` values off an index that counts combinations. */
static size_t digit(size_t *i, size_t n) {
    size_t value = *i % n;
    *i /= n;
    return value;
}

/* Whether B takes less time than Bi and W anywhere: else it is never better. */
static bool whole_is_shorter(const pp_shop *shop) {
    for (uint32_t cell = 0; shop->whole && cell < shop->cells; cell++)
        if (!shop->split || shop->backward[cell] < shop->input[cell] + shop->weight[cell])
            return true;
    return false;
}

/* What both ways of ordering share: pairs or none, and B or four limits of what is owed. */
static size_t modes(const pp_shop *shop) {
    return (shop->split ? 4 : 0) + whole_is_shorter(shop);
}

static size_t common_rules(const pp_shop *shop) {
    return (shop->pairs ? 2 : 1) * modes(shop);
}

static void take_common(const pp_shop *shop, size_t *i, pp_rule *rule) {
    static const uint32_t backlogs[] = {1, 2, 4, UINT32_MAX};
    rule->pairs = digit(i, shop->pairs ? 2 : 1);
    size_t mode = digit(i, modes(shop));
    rule->whole = mode == (shop->split ? 4 : 0);
    rule->backlog = rule->whole ? UINT32_MAX : backlogs[mode];
}

static void take_ahead(const pp_shop *shop, size_t *i, pp_rule *rule) {
    static const uint32_t slopes[] = {2, 3, 4, 5, 6, 8}, patience[] = {0, 1, 2, 4};
    size_t ahead = digit(i, 19); /* no limit, or a base of 1 to 3 with a slope */
    rule->base = ahead ? 1 + (uint32_t)(ahead - 1) % 3 : UINT32_MAX;
    rule->slope = ahead ? slopes[(ahead - 1) / 3] : 0;
    rule->patience = patience[digit(i, 4)];
    rule->forward_first = digit(i, 2);
    rule->deep = digit(i, shop->chunks > 1 ? 2 : 1);
    take_common(shop, i, rule);
}

#define BLOCKS (7 * 4 * 4 * 2)

static void take_block(const pp_shop *shop, size_t *i, pp_rule *rule) {
    static const uint32_t slacks[] = {0, 2, 5, 10, 20, 35, 50}, gaps[] = {0, 1, 2, 4};
    rule->block = true;
    rule->slack = slacks[digit(i, 7)];
    rule->gap_forward = gaps[digit(i, 4)];
    rule->gap_backward = gaps[digit(i, 4)];
    rule->patience = 2 * (uint32_t)digit(i, 2);
    take_common(shop, i, rule);
}

bool pp_rule_at(const pp_shop *shop, size_t i, pp_rule *ret_rule) {
    size_t rest = i;
    *ret_rule = (pp_rule){0};
    take_block(shop, &rest, ret_rule);
    if (rest == 0)
        return true;
    /* Indices of the others begin where those of blocks end. */
    rest = i - BLOCKS * common_rules(shop);
    *ret_rule = (pp_rule){0};
    take_ahead(shop, &rest, ret_rule);
    return rest == 0;
}

const char *pp_rule_text(mill_run *run, const pp_shop *shop, const pp_rule *rule) {
    char *text = mill_scratch(run, 400);
    int n;
    if (rule->block)
        n = snprintf(text, 200,
                     "building blocks %u %% longer than the work, %u %% and %u %% of F "
                     "between their forwards and backwards",
                     rule->slack, rule->gap_forward * 25, rule->gap_backward * 25);
    else
        n = snprintf(text, 40, "%s first", rule->forward_first ? "forward" : "backward");
    if (!rule->block && rule->base != UINT32_MAX)
        n += snprintf(text + n, 80, ", at most %u + %.3g for each later stage in flight",
                      rule->base, rule->slope / (4.0 * shop->chunks));
    if (rule->pairs)
        n += snprintf(text + n, 40, ", pairs where both are ready");
    if (rule->backlog != UINT32_MAX)
        n += snprintf(text + n, 60, ", at most %u W owed before a forward", rule->backlog);
    else if (!rule->whole)
        n += snprintf(text + n, 20, ", W in gaps");
    if (rule->patience)
        snprintf(text + n, 80, ", waits up to %u %% of an operation for a better one",
                 rule->patience * 25);
    return text;
}
