/* SPDX-License-Identifier: Apache-2.0 */
/* One version of the primitives: compiled with SIMD_AVX2, SIMD_SSE2, SIMD_NEON or SIMD_SCALAR. */
#include "simd_version.h"

#include "simd.h"

#if defined SIMD_AVX2
#define VERSION simd_avx2
#elif defined SIMD_SSE2
#define VERSION simd_sse2
#elif defined SIMD_NEON
#define VERSION simd_neon
#else
#define VERSION simd_scalar
#endif
#define NAME_OF(version) #version
#define NAME(version) NAME_OF(version)

const simd_version VERSION = {
    NAME(VERSION), simd_same, simd_plain_end, simd_string_end, simd_blanks_end, simd_digits,
};
