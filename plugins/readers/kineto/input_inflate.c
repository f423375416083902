/* SPDX-License-Identifier: Apache-2.0 */
/* One step of ISA-L's inflation, from a buffer. */
#include "input_inflate.h"

mill_status inflate_some(mill_run *run, struct inflate_state *z, buffer *below, uint64_t limit,
                         uint8_t *to, size_t room, size_t *ret_length, input_state *state) {
    mill_status status = limit > 0 ? buffer_need(run, below, 1) : MILL_OK;
    if (status != MILL_OK)
        return status;
    uint32_t have = (uint32_t)(buffer_has(below) < limit ? buffer_has(below) : limit);
    z->next_in = below->bytes + below->at;
    z->avail_in = have;
    z->next_out = to;
    z->avail_out = (uint32_t)(room < UINT32_MAX ? room : UINT32_MAX);
    int result = isal_inflate(z);
    below->at += have - z->avail_in;
    *ret_length = (size_t)(z->next_out - to);
    if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT && result != ISAL_OUT_OVERFLOW)
        *state = INPUT_CORRUPT;
    else if (z->block_state == ISAL_BLOCK_FINISH) {
        below->at -= (size_t)z->read_in_length / 8; /* BUFFER_BEHIND of them are still there */
        z->read_in_length = 0;
    } else if (*ret_length == 0 && have == 0)
        *state = INPUT_CUT;
    return MILL_OK;
}
