/* org.acme.thing/1: how long the kernels of each name ran. For modules that make or take it.
 *
 * A value is a `const acme_thing *`. It is constant once posted; any thread may read it.
 */
#ifndef ACME_THING_H
#define ACME_THING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACME_THING_TYPE "org.acme.thing/1"

/* All activities of one name. */
typedef struct acme_thing_row {
    const char *name;
    int64_t count;
    int64_t total; /* ns: the sum of their durations */
} acme_thing_row;

/* Grows at its end only; another layout is another type, /2. */
typedef struct acme_thing {
    uint32_t size;     /* of this struct */
    uint32_t reserved; /* 0 */
    uint64_t n;
    const acme_thing_row *rows; /* in the order of the names' bytes; no name comes twice */
} acme_thing;

#if UINTPTR_MAX == UINT64_MAX
#ifdef __cplusplus
static_assert(sizeof(acme_thing) == 24 && sizeof(acme_thing_row) == 24, "org.acme.thing/1");
#else
_Static_assert(sizeof(acme_thing) == 24 && sizeof(acme_thing_row) == 24, "org.acme.thing/1");
#endif
#endif

#ifdef __cplusplus
}
#endif
#endif
