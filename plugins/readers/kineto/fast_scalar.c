/* SPDX-License-Identifier: Apache-2.0 */
/* The scanner in plain C, for processors that we have nothing better for. */
#define SIMD_SCALAR
#define FAST_SCAN fast_scan_scalar
#include "fast_scan.h"
