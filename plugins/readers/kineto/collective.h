/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch writes beside the kernel of a collective operation, as rows of the trace. */
#ifndef KINETO_COLLECTIVE_H
#define KINETO_COLLECTIVE_H

#include "json.h"
#include "rules.h"

#include <tracemill/kit/trace_builder.h>

typedef struct collectives collectives;

/* The builder and the rules are borrowed. */
collectives *collectives_create(mill_run *run, kit_trace *b, const rule_set *rules);
void collectives_destroy(collectives *c); /* NULL: nothing */

/* The row for the args of an event; MILL_NONE if they name no operation. */
uint32_t collectives_add(collectives *c, json_value args);

#endif
