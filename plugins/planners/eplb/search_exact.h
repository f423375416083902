/* SPDX-License-Identifier: Apache-2.0 */
/* Every plan of a small layer. */
#ifndef EPLB_SEARCH_EXACT_H
#define EPLB_SEARCH_EXACT_H

#include "bound.h"

#define EP_EXACT_SLOTS 24 /* with more, it would not end in time */

/* Looks for a plan of the domain whose largest GPU load is below `value`: the least there is, which
 * it returns and writes to the domain's slots of `plan`; `value`: there is none. One dimension.
 * Takes from *work, and stops when there is none left. */
double ep_exact(const ep_task *t, const ep_domain *domain, double value, uint64_t *work,
                int32_t *plan);

#endif
