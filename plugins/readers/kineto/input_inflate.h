/* SPDX-License-Identifier: Apache-2.0 */
/* Deflate, as gzip and zip share it: ISA-L, which is the fastest (spec of its format: RFC 1951). */
#ifndef KINETO_INPUT_INFLATE_H
#define KINETO_INPUT_INFLATE_H

#include "input_source.h"

#include <isa-l/igzip_lib.h>

/* Inflates from the next `limit` bytes of the buffer on. *ret_length may be 0 before the end, which
 * z->block_state ISAL_BLOCK_FINISH shows; the buffer then stands behind the last byte that was
 * needed. *state becomes INPUT_CUT if the bytes do not suffice, or INPUT_CORRUPT. */
mill_status inflate_some(mill_run *run, struct inflate_state *z, buffer *below, uint64_t limit,
                         uint8_t *to, size_t room, size_t *ret_length, input_state *state);

#endif
