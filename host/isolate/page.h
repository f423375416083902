/* SPDX-License-Identifier: Apache-2.0 */
/* The page of memory that the host and the process of a stage share: what must be known at once, or
 * is too cheap for a message. The stage may write anything into it at any time. */
#ifndef HOST_ISOLATE_PAGE_H
#define HOST_ISOLATE_PAGE_H

#include <semaphore.h>
#include <stdint.h>

#define PAGE_DOING 512

typedef struct page {
    int asked;              /* enum ask, from the host; atomic */
    uint64_t done, total;   /* progress, from the stage; atomic */
    sem_t helpers;          /* a post by the host lends one thread */
    char doing[PAGE_DOING]; /* what a crash is told as, from the stage; read once it is dead */
} page;

#endif
