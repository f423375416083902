/* SPDX-License-Identifier: Apache-2.0 */
/* The scanner with the instructions that every processor of the kind we build for has. */
#if defined __SSE2__
#define SIMD_SSE2
#elif defined __ARM_NEON && defined __aarch64__
#define SIMD_NEON
#else
#define SIMD_SCALAR
#endif
#define FAST_SCAN fast_scan_base
#include "fast_scan.h"
