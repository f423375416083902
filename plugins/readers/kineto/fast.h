/* SPDX-License-Identifier: Apache-2.0 */
/* The fast engine: takes the events that look like the ones before them, a whole run at a time, and
 * leaves every other one, whole, to the reference parser. Both end in the same rows. */
#ifndef KINETO_FAST_H
#define KINETO_FAST_H

#include "rows.h"

#define FAST_BEYOND 64 /* NULs that must stand behind the text */

/* Which instructions the scanner uses; every one gives the same rows. */
typedef enum fast_isa { FAST_SCALAR, FAST_BASE, FAST_AVX2, FAST_BEST } fast_isa;

typedef struct fast fast;

/* The rows are borrowed. FAST_BASE is what every processor of this kind has; FAST_BEST picks. NULL:
 * this processor, or this build, lacks the instructions. */
fast *fast_create(rows *to, fast_isa isa);
void fast_destroy(fast *f); /* NULL: nothing */

/* Takes events from the '{' at `text` on and returns the bytes they fill, commas between them
 * included: 0 if the first one is not for it, or not whole before `end`. `byte` is where text lies
 * in the file. */
size_t fast_events(fast *f, const char *text, const char *end, uint64_t byte, uint64_t *ret_events);

#endif
