/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that come in any order, by step and layer, brought into one value. */
#ifndef LOADS_GATHER_H
#define LOADS_GATHER_H

#include "loads.h"

#include <tracemill/kit/intern.h>

/* The loads of one layer in one step. */
typedef struct ld_row {
    int64_t step, layer;
    double *load;    /* NaN: not given */
    uint32_t room;   /* of load */
    uint32_t parts;  /* how many sources gave some */
    uint32_t source; /* the last of these */
} ld_row;

typedef struct ld_gather {
    ld_reading *r;
    kit_intern *keys; /* (step, layer) → number of its row */
    ld_row *rows;
    size_t n, room;
    uint32_t experts; /* the largest number seen, and one */
    uint64_t given;   /* loads given */
    uint64_t held;    /* loads there is memory for */
    uint32_t source;  /* what is being given: a rank's file; at the end, how many there were */
    bool counts;      /* an expert that is not given has a load of 0, which is nothing to tell of */
} ld_gather;

void ld_gather_init(ld_gather *g, ld_reading *r);
void ld_gather_finish(ld_gather *g);

/* The number of the row; a new one if it was not there. */
size_t ld_gather_row(ld_gather *g, int64_t step, int64_t layer);
/* Where the load of an expert goes: a NaN if it was not given yet. E_DATA if there are too many
 * experts for the loads given, as in a file that is something else. */
mill_status ld_gather_cell(ld_gather *g, size_t row, int64_t expert, double **ret_cell);
/* Adds to the cell. */
mill_status ld_gather_add(ld_gather *g, size_t row, int64_t expert, double load);

/* Makes the value. A step that lacks a layer, or what a rank has of it in other steps, is left out
 * and told. */
mill_status ld_gather_value(ld_gather *g);

#endif
