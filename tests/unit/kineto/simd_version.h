/* SPDX-License-Identifier: Apache-2.0 */
/* The fast scanner's primitives (simd.h) as compiled for one set of instructions. */
#ifndef KINETO_TESTS_SIMD_VERSION_H
#define KINETO_TESTS_SIMD_VERSION_H

#include <stdbool.h>
#include <stdint.h>

typedef struct simd_version {
    const char *name;
    bool (*same)(const char *p, const uint8_t *text, unsigned length);
    const char *(*plain_end)(const char *p);
    const char *(*string_end)(const char *p);
    const char *(*blanks_end)(const char *p);
    unsigned (*digits)(const char *at, uint64_t *ret_value); /* at most 16 */
} simd_version;

extern const simd_version simd_avx2, simd_sse2, simd_neon, simd_scalar;

#endif
