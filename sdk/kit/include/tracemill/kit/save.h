/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and loading values of a type of your own, for its `save` and `load` (mill_type): arrays of
 * numbers are written and read as they lie in memory, texts with their length.
 *
 *     kit_save s;                                  kit_load l;
 *     kit_save_begin(&s, sink, 1);                 if (!kit_load_begin(&l, run, source, TYPE, 1))
 *     kit_save_array(&s, &n, 1, sizeof n);             return MILL_E_DATA;
 *     kit_save_array(&s, v->v, n, sizeof *v->v);   const uint64_t *n = kit_load_array(&l, 1, 8);
 *     return kit_save_end(&s);                     …
 *
 * What is loaded comes from another process, which may have gone wrong: check what the rest of your
 * code relies on (that rows are there, an order, a range), and say what is wrong by kit_load_wrong.
 * Structs with pointers can't be saved as they are: save the numbers, and what the pointers point
 * to on its own. */
#ifndef TRACEMILL_KIT_SAVE_H
#define TRACEMILL_KIT_SAVE_H

#include <tracemill/tracemill.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_save {
    mill_sink *sink;
    mill_status status; /* the first that was not OK: no more is written then */
    uint64_t at;
    size_t n; /* in the buffer */
    char buffer[4096];
} kit_save;

/* format: 1 and up, told to whoever loads it. Raise it when what follows changes. */
void kit_save_begin(kit_save *s, mill_sink *sink, uint32_t format);
/* n elements of `each` bytes: numbers, or structs of numbers. How many there are, you save too. */
void kit_save_array(kit_save *s, const void *v, uint64_t n, size_t each);
void kit_save_text(kit_save *s, const char *text); /* NULL stays NULL */
mill_status kit_save_end(kit_save *s);

typedef struct kit_load {
    mill_run *run;
    const char *type;
    const uint8_t *data;
    uint64_t length, at;
} kit_load;

/* The format of the save, 1 to `newest`. Here and below, 0, NULL or false is MILL_E_DATA, and has
 * been told. type: for messages; constant. */
uint32_t kit_load_begin(kit_load *l, mill_run *run, const mill_source *source, const char *type,
                        uint32_t newest);
/* In place: constant, and there as long as the value. */
const void *kit_load_array(kit_load *l, uint64_t n, size_t each);
/* In place, ended by a NUL. */
bool kit_load_text(kit_load *l, const char **ret_text);
/* Records what is wrong with the save; false. */
MILL_PRINTF(2, 3) bool kit_load_wrong(kit_load *l, const char *format, ...);
/* MILL_OK, if nothing is left. */
mill_status kit_load_end(kit_load *l);

#ifdef __cplusplus
}
#endif
#endif
