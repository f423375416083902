/* SPDX-License-Identifier: Apache-2.0 */
/* What the script of a timeline reads: all that is shown, as JSON within a budget of bytes. */
#ifndef HTML_DATA_H
#define HTML_DATA_H

#include "waits.h"

/* What did not fit. */
typedef struct data_limits {
    uint64_t exact, coarse; /* rows with each interval, and with sums over bins */
    uint64_t omitted;       /* rows of which nothing fits */
    int64_t coarsest_ns;    /* width of the widest bins */
    uint64_t lanes, marks;  /* lanes and findings that are left out */
    uint64_t waits;         /* gaps that have no mark */
    uint64_t whole;         /* bytes of budget that would show all of it */
} data_limits;

/* Appends the JSON, of at most `budget` bytes if that is more than some thousand. waits: waits_gap.
 */
void data_append(const lanes *l, const GArray *waits, uint64_t budget, GString *page,
                 data_limits *ret_limits);

#endif
