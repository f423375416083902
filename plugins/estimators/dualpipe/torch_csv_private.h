/* SPDX-License-Identifier: Apache-2.0 */
/* The computations that the cells of a file name, as they stand there. */
#ifndef DUALPIPE_TORCH_CSV_PRIVATE_H
#define DUALPIPE_TORCH_CSV_PRIVATE_H

#include "torch_csv.h"

typedef struct pp_torch_action {
    uint8_t kind;             /* mill_op_kind: FORWARD to PAIR */
    bool whole;               /* "BW": B even where a W follows */
    uint32_t cell;            /* of its line, from 1 */
    uint32_t stage[2], mb[2]; /* of a pair: the forward half, the backward half; else the first */
} pp_torch_action;

/* Line r + 1 is rank r, and has a computation. */
typedef struct pp_torch_rows {
    uint32_t ranks, rank_room;
    uint64_t *first; /* ranks + 1: its actions are first[r] … first[r + 1] - 1 */
    pp_torch_action *actions;
    uint64_t n, room;
    uint64_t left_out;
} pp_torch_rows;

/* ret_rows has to be finished in any case. MILL_OK, E_DATA, E_NOINPUT, E_IO, E_CANCELLED. */
mill_status pp_torch_rows_init(mill_run *run, const char *path, pp_torch_rows *ret_rows);
void pp_torch_rows_finish(pp_torch_rows *rows);

#endif
