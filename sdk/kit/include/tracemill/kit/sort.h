/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts many numbers in linear time. */
#ifndef TRACEMILL_KIT_SORT_H
#define TRACEMILL_KIT_SORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rising. Needs as much memory again while it works. */
void kit_sort_u32(uint32_t *values, size_t n);

#ifdef __cplusplus
}
#endif
#endif
