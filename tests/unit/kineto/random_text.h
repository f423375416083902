/* SPDX-License-Identifier: Apache-2.0 */
/* Random traces for tests that compare two ways of reading. */
#ifndef KINETO_TESTS_RANDOM_TEXT_H
#define KINETO_TESTS_RANDOM_TEXT_H

#include <glib.h>
#include <stdbool.h>

/* Appends a usual event and a comma; if `odd`, with a member now and then that is none. */
void random_event(GString *text, GRand *rand, bool odd);
/* Damage of a few bytes, or of none. */
void random_damage(GString *text, GRand *rand);

#endif
