/* SPDX-License-Identifier: Apache-2.0 */
/* V-shaped schedules whose memory is kept low by the order of a building block. */
#ifndef DUALPIPE_VSHAPE_H
#define DUALPIPE_VSHAPE_H

#include "plan.h"

/* When a micro-batch passes a rank, in slots: chunk 0 forward, chunk 1 forward, chunk 1 backward,
 * chunk 0 backward. The next micro-batch does the same 6 slots later, so the four differ modulo 6.
 */
#define VS_PERIOD 6
#define VS_LEGS 4
typedef void (*vs_block)(uint32_t ranks, uint32_t rank, uint32_t ret_slot[VS_LEGS]);

/* Adds the orders of all ranks: blocks one after another, then what begins and ends the step moved
 * up into slots left free, as far as no rank holds more chunks than the blocks make one hold. */
void vs_add_orders(pp_builder *b, vs_block block, uint32_t ranks, uint32_t micro_batches);

#endif
