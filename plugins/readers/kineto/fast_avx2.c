/* SPDX-License-Identifier: Apache-2.0 */
/* The scanner with AVX2; compiled with -mavx2, called only where the processor has it. */
#define SIMD_AVX2
#define FAST_SCAN fast_scan_avx2
#include "fast_scan.h"
