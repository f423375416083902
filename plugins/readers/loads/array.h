/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numbers in memory, as npy and safetensors hold them. */
#ifndef LOADS_ARRAY_H
#define LOADS_ARRAY_H

#include "gather.h"

#define LD_MOST_DIMS 3

typedef struct ld_array {
    const uint8_t *data;
    char kind;     /* 'i' signed, 'u' unsigned, 'f' IEEE 754, 'b' bfloat16 */
    unsigned size; /* bytes of a number */
    bool big;      /* the byte order is big-endian */
    bool fortran;  /* the first index is the fastest */
    unsigned n_dims;
    uint64_t dims[LD_MOST_DIMS];
    size_t stride[LD_MOST_DIMS]; /* bytes; by ld_array_lay_out */
} ld_array;

/* Sets the strides. False if the numbers do not fit into `room` bytes. *ret_bytes: how many they
 * take. */
bool ld_array_lay_out(ld_array *a, size_t room, size_t *ret_bytes);

double ld_array_number(const ld_array *a, size_t byte);

/* Makes the value of an array of loads ([layers, experts], [steps, layers, experts]) or, if the
 * option `content` says so, of assignments ([tokens, layers], [tokens, layers, choices]). */
mill_status ld_read_array(ld_reading *r, const ld_array *a);

/* Adds an array [experts] to a row. */
mill_status ld_gather_array(ld_gather *g, size_t row, const ld_array *a);

#endif
