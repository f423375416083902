/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files: an array with its type and shape, read where it lies in memory.
 *
 * The format is numpy's NEP 1: https://numpy.org/doc/stable/reference/generated/numpy.lib.format */
#ifndef TRACEMILL_KIT_NPY_H
#define TRACEMILL_KIT_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIT_NPY_DIMENSIONS 8
#define KIT_NPY_HEAD 128  /* bytes before the numbers of what kit_npy_head writes */
#define KIT_NPY_ERROR 160 /* bytes that hold any message, with its NUL */

typedef struct kit_npy {
    char kind;     /* 'i', 'u', 'f', 'b' for truth values, or 'B': bfloat16, which .npy has not */
    unsigned size; /* bytes of a number: 1, 2, 4, 8; of 'f' 2, 4, 8; of 'B' 2 */
    bool big;      /* big-endian */
    bool fortran;  /* the first index is the fastest */
    unsigned dimensions;
    uint64_t shape[KIT_NPY_DIMENSIONS];
    uint64_t count; /* numbers in all */
    const uint8_t *data;
} kit_npy;

/* Whether a file begins as one. */
bool kit_npy_is(const void *bytes, size_t length);

/* ret_npy points into `bytes`, which it fills to the end. False: it is damaged, or of a kind that
 * is not read (structures, objects); the message says what was expected, and at which byte. */
bool kit_npy_read(const void *bytes, size_t length, kit_npy *ret_npy,
                  char ret_error[KIT_NPY_ERROR]);

/* Number i in C order, whatever the order of the array. False: it is no whole number, or does not
 * fit. */
bool kit_npy_int(const kit_npy *npy, uint64_t i, int64_t *ret_value);
double kit_npy_real(const kit_npy *npy, uint64_t i);

/* What stands before int64 numbers of at most three dimensions. */
void kit_npy_head(char ret_head[KIT_NPY_HEAD], unsigned dimensions, const uint64_t *shape);

#ifdef __cplusplus
}
#endif
#endif
