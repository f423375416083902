/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose one symbol is called NAME, as a C++ compiler or a later ABI would call it. */
#include "bad.h"

static const mill_stage class = BAD_CLASS("bad", bad_run);
static const mill_stage *const classes[] = {&class, NULL};

MILL_EXPORT extern const mill_module named_module __asm__(NAME);
const mill_module named_module = {MILL_MODULE_HEAD, .id = "bad", .version = "1.0",
                                  .stages = classes};
