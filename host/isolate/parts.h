/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of bodies that both ends of the wire write and read. */
#ifndef HOST_ISOLATE_PARTS_H
#define HOST_ISOLATE_PARTS_H

#include "engine/causes.h"
#include "isolate/wire.h"

void parts_put_causes(GByteArray *to, const causes *why);
/* Adds those that were put to `why`. */
void parts_get_causes(wire_reader *from, causes *why);

#endif
