/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of loaded values ask of arrays. */
#include "types/checks.h"

#include <inttypes.h>
#include <tracemill/report.h>

/* Only where something is wrong is it looked for: the first loop has no way out. */
bool check_below(reader *r, const char *name, const uint32_t *v, uint64_t n, uint64_t limit,
                 uint32_t none) {
    uint64_t bad = 0;
    for (uint64_t i = 0; i < n; i++)
        bad += v[i] >= limit && (v[i] != none || none == 0);
    for (uint64_t i = 0; bad && i < n; i++)
        if (v[i] >= limit && (v[i] != none || none == 0))
            return reader_wrong(r, "%s %" PRIu64 " names row %u of %" PRIu64, name, i, v[i], limit);
    return true;
}

bool check_u8(reader *r, const char *name, const uint8_t *v, uint64_t n, uint8_t least,
              uint8_t most) {
    for (uint64_t i = 0; i < n; i++)
        if (v[i] < least || v[i] > most)
            return reader_wrong(r, "%s %" PRIu64 " is %u, expected %u to %u", name, i, v[i], least,
                                most);
    return true;
}

bool check_i64(reader *r, const char *name, const int64_t *v, uint64_t n, int64_t least,
               int64_t most) {
    for (uint64_t i = 0; i < n; i++)
        if (v[i] < least || v[i] > most)
            return reader_wrong(r,
                                "%s %" PRIu64 " is %" PRId64 ", expected %" PRId64 " to %" PRId64,
                                name, i, v[i], least, most);
    return true;
}

bool check_number(reader *r, const char *name, uint64_t v, uint64_t least, uint64_t most) {
    return (v >= least && v <= most) ||
           reader_wrong(r, "%s is %" PRIu64 ", expected %" PRIu64 " to %" PRIu64, name, v, least,
                        most);
}

bool check_intervals(reader *r, const char *name, const int64_t *start, const int64_t *end,
                     uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        int64_t length;
        if (start[i] == MILL_UNKNOWN || end[i] == MILL_UNKNOWN)
            continue;
        if (end[i] < start[i] || __builtin_sub_overflow(end[i], start[i], &length))
            return reader_wrong(r, "%s %" PRIu64 " goes from %" PRId64 " to %" PRId64, name, i,
                                start[i], end[i]);
    }
    return true;
}
