/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of loaded values ask of arrays. False: told by reader_wrong. */
#ifndef HOST_TYPES_CHECKS_H
#define HOST_TYPES_CHECKS_H

#include "types/reading.h"

/* That each number is below `limit`, the number of rows of what it names; or `none` (allowed where
 * that is not 0), all ones. */
bool check_below(reader *r, const char *name, const uint32_t *v, uint64_t n, uint64_t limit,
                 uint32_t none);
/* That each is from `least` to `most`. */
bool check_u8(reader *r, const char *name, const uint8_t *v, uint64_t n, uint8_t least,
              uint8_t most);
bool check_i64(reader *r, const char *name, const int64_t *v, uint64_t n, int64_t least,
               int64_t most);
/* The same of one number. */
bool check_number(reader *r, const char *name, uint64_t v, uint64_t least, uint64_t most);
/* That each interval ends where it starts or later, and is no longer than can be told. Either end
 * may be MILL_UNKNOWN. */
bool check_intervals(reader *r, const char *name, const int64_t *start, const int64_t *end,
                     uint64_t n);

#endif
