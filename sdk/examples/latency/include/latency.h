/* SPDX-License-Identifier: Apache-2.0 */
/* org.example.latency/1: how long activities of GPUs waited after the calls that launched them. For
 * modules that make or take it.
 *
 * A value is a `const latency *`. It is constant once posted; any thread may read it. All its
 * memory is in one piece: it is made by mill_value_alloc, and has no free of its own.
 */
#ifndef EXAMPLE_LATENCY_H
#define EXAMPLE_LATENCY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATENCY_TYPE "org.example.latency/1"

/* Bin 0 counts waits below 1024 ns, bin i those of [1024 * 2^(i-1), 1024 * 2^i), the last all that
 * are longer: from 1 µs to over half a second. */
enum { LATENCY_BINS = 21 };

/* Grows at its end only; another layout is another type, /2. */
typedef struct latency {
    uint32_t size;     /* of this struct */
    uint32_t reserved; /* 0 */
    int64_t profiles;  /* how many are summed up here */
    int64_t launched;  /* activities whose call is known */
    int64_t others;    /* activities whose call is not */
    int64_t
        early;   /* of `launched`: those that start before their call does: clocks that disagree */
    int64_t sum; /* ns: of all waits but the early ones */
    int64_t longest; /* ns, or INT64_MIN: there is none */
    int64_t bins[LATENCY_BINS];
} latency;

#if UINTPTR_MAX == UINT64_MAX
#ifdef __cplusplus
static_assert(sizeof(latency) == 224, "org.example.latency/1");
#else
_Static_assert(sizeof(latency) == 224, "org.example.latency/1");
#endif
#endif

#ifdef __cplusplus
}
#endif
#endif
