/* SPDX-License-Identifier: Apache-2.0 */
/* Values on their way between processes: what `save` writes, in sealed memory that both map. */
#ifndef HOST_ENGINE_TRANSFER_H
#define HOST_ENGINE_TRANSFER_H

#include "engine/state.h"

/* Sees to it that the value is saved (v->saved, v->id); once, however many ask. Any thread. Causes
 * of a failure go to r, in whose callback the module's code counts. */
mill_status transfer_save(run *r, value *v);

/* Sees to it that the value is there (v->data), from what was saved. Likewise. */
mill_status transfer_load(run *r, value *v);
/* That of all values that the run takes in. */
mill_status transfer_load_inputs(run *r);

/* A value that is only saved yet; takes the descriptor. */
value *transfer_value(const mill_type *type, int saved);

/* Maps what was saved, after which the descriptor is no longer needed. False: errno is set. */
bool transfer_map(value *v);

/* May it be mapped without fear that it shrinks or changes under the reader's hands? */
bool transfer_is_sealed(int fd);

#endif
