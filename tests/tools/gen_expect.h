/* SPDX-License-Identifier: Apache-2.0 */
/* The right values of a generated trace, by a sweep over the ends of its activities.
 *
 * The way is another than that of the program's analyses on purpose, and shares no code with them.
 */
#ifndef GEN_EXPECT_H
#define GEN_EXPECT_H

#include <glib.h>
#include <stdint.h>

typedef enum gen_class { GEN_COMP, GEN_COMM, GEN_MEM, GEN_CLASSES } gen_class;

typedef struct gen_expect gen_expect;

gen_expect *gen_expect_create(unsigned devices);
void gen_expect_destroy(gen_expect *expect); /* NULL: nothing */

/* Adds an activity [start, end) of a device. kind: of communication (constant text); else NULL. */
void gen_expect_add(gen_expect *expect, unsigned device, int64_t stream, gen_class cls,
                    const char *kind, int64_t start, int64_t end);

/* Says that what comes next on the device starts no earlier than all before it ended, so that the
 * memory needed does not grow with the trace. */
void gen_expect_settle(gen_expect *expect, unsigned device);

/* The values as JSON: the number of events, and the devices with what README.md lists. All devices
 * must be settled. */
GString *gen_expect_json(const gen_expect *expect, uint64_t events);

#endif
