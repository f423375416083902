/* SPDX-License-Identifier: Apache-2.0 */
/* Interned strings: each distinct (text, tag) gets a small number, in order of first appearance. */
#ifndef TRACEMILL_KIT_INTERN_H
#define TRACEMILL_KIT_INTERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_intern kit_intern;

/* One thread at a time for each table. */
kit_intern *kit_intern_create(void);
void kit_intern_destroy(kit_intern *table); /* NULL: nothing */

/* The number of (text, tag): a new one, from 0 up, if it was not there. The text is copied; it may
 * hold any bytes. At most UINT32_MAX - 1 of them. */
uint32_t kit_intern_add(kit_intern *table, const char *text, size_t length, uint32_t tag);
/* The number, or UINT32_MAX if it is not there. */
uint32_t kit_intern_find(const kit_intern *table, const char *text, size_t length, uint32_t tag);

uint32_t kit_intern_count(const kit_intern *table);
/* Text of a number below the count, NUL-terminated; valid until destroy. ret_length may be NULL. */
const char *kit_intern_text(const kit_intern *table, uint32_t id, size_t *ret_length);
uint32_t kit_intern_tag(const kit_intern *table, uint32_t id);

#ifdef __cplusplus
}
#endif
#endif
