/* SPDX-License-Identifier: Apache-2.0 */
/* The families, each defined beside its order. */
#ifndef DUALPIPE_FAMILIES_PRIVATE_H
#define DUALPIPE_FAMILIES_PRIVATE_H

#include "families.h"

extern const pp_family pp_gpipe, pp_1f1b, pp_interleaved, pp_eager_1f1b;
extern const pp_family pp_zb_h1, pp_zb_h2;
extern const pp_family pp_zb_v, pp_v_half, pp_v_min;
extern const pp_family pp_chimera, pp_hanayo;
extern const pp_family pp_dualpipe, pp_dualpipev;

#endif
