/* SPDX-License-Identifier: Apache-2.0 */
/* A building block: when one micro-batch passes each cell there and back, such that the next one
 * can follow a period later in the same way. */
#ifndef DUALPIPE_SEARCH_BLOCK_H
#define DUALPIPE_SEARCH_BLOCK_H

#include "search_rule.h"

typedef struct pp_block {
    int64_t period;
    int64_t *forward, *backward; /* of each cell: when it starts */
} pp_block;

/* Its memory is freed with free(block->forward). */
void pp_block_init(pp_block *block, const pp_shop *shop, const pp_rule *rule);

#endif
