/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of list scheduling: what a rank prefers. */
#ifndef DUALPIPE_SEARCH_RULE_H
#define DUALPIPE_SEARCH_RULE_H

#include "search_shop.h"

/* W is last, but where the rule says otherwise. */
typedef struct pp_rule {
    uint32_t backlog;  /* a rank that owes so many W's runs one before a forward */
    uint32_t patience; /* quarters of its duration that an operation waits for a preferred one */
    bool whole;        /* B instead of Bi and W */
    bool pairs;        /* a forward and a backward that are both ready run as a pair */
    bool block; /* forwards and backwards follow each other as in a building block; else backward
                 * goes before forward */

    uint32_t base;  /* forwards that a cell may be ahead of its backwards: this many and */
    uint32_t slope; /* this many quarters for each later stage, divided by the chunks of a rank */
    bool forward_first;
    bool deep; /* of forwards that are ready, that of the later stage first; else the earlier */

    uint32_t slack; /* of blocks: per cent of the work that the period is longer */
    uint32_t gap_forward, gap_backward; /* quarters of a forward's duration before each */
} pp_rule;

/* The rules that are tried on a placement, from 0 on; false: there is no such one. */
bool pp_rule_at(const pp_shop *shop, size_t i, pp_rule *ret_rule);
/* In words. */
const char *pp_rule_text(mill_run *run, const pp_shop *shop, const pp_rule *rule);

#endif
