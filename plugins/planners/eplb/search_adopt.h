/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a plan keep the rules. */
#ifndef EPLB_SEARCH_ADOPT_H
#define EPLB_SEARCH_ADOPT_H

#include "search_task.h"

/* Brings a plan in hand (s->state), changed as little as it takes: nothing on failed GPUs or on
 * nodes that are not an expert's home, a slot for each expert, no slot empty, no duplicates, where
 * the limit of moves allows. NULL: from nothing. */
void ep_adopt(ep_search *s, const int32_t *plan);

#endif
