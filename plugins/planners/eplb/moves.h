/* SPDX-License-Identifier: Apache-2.0 */
/* What it takes to get from one plan to another, and how to take less. */
#ifndef EPLB_MOVES_H
#define EPLB_MOVES_H

#include "layer.h"

/* Slots of a layer that hold another expert than before, by where the weights can come from. */
typedef struct ep_moves {
    uint32_t same_gpu;   /* the GPU held it already: in another slot */
    uint32_t same_node;  /* another GPU of the node did */
    uint32_t cross_node; /* only other nodes did, or no GPU that works */
} ep_moves;              /* same_node + cross_node are (GPU, expert) pairs to load */

ep_moves ep_count_moves(const ep_shape *shape, const int32_t *before, const int32_t *after);

/* The most experts that one GPU must load. */
uint32_t ep_busiest(const ep_shape *shape, const int32_t *before, const int32_t *after);

/* Gives the sets of experts of `plan` to GPUs (within a node, and nodes with equal shapes among
 * each other, if hierarchical) so that the fewest must be loaded: an assignment problem. The
 * largest GPU load stays: only GPUs of equal slots and speed change places. */
void ep_relabel(const ep_shape *shape, const int32_t *before, bool hierarchical, int32_t *plan);

/* Slots within each GPU so that an expert stays in its slot if the GPU held it before. */
void ep_keep_slots(const ep_shape *shape, const int32_t *before, int32_t *plan);

#endif
