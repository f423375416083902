/* SPDX-License-Identifier: Apache-2.0 */
/* A trace file as Kineto writes it, event by event. */
#ifndef GEN_OUTPUT_H
#define GEN_OUTPUT_H

#include <gio/gio.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum gen_times { GEN_TIMES_INTEGER, GEN_TIMES_DECIMAL, GEN_TIMES_STRING } gen_times;

/* What the file looks like; what it says does not depend on it, but for the unit of its times. */
typedef struct gen_form {
    bool array;   /* only the array of events, without the object around it */
    bool indent;  /* Kineto's own layout instead of one line an event */
    bool gzip;    /* packed */
    bool shuffle; /* events in random order, within blocks of 65 536 */
    gen_times times;
} gen_form;

typedef struct gen_output gen_output;

/* path "-": standard output. seed: of the order of shuffled events. */
gen_output *gen_output_create(const char *path, const gen_form *form, uint64_t seed,
                              GError **error);
/* Writes the facts about the file; call it first. */
void gen_output_head(gen_output *o, int64_t rank, int64_t world, int64_t devices);
/* Writes the end of the file and closes it. False with the first error of all the writing. Frees o.
 */
bool gen_output_close(gen_output *o, GError **error);

/* An event: gen_event, dur or flow and args where it has them, then end. Times are in ns. No text
 * may need escaping. phase: the letter of "ph". */
void gen_event(gen_output *o, char phase, const char *category, const char *name, int64_t pid,
               int64_t tid, int64_t ts);
void gen_event_dur(gen_output *o, int64_t dur);
void gen_event_flow(gen_output *o, int64_t id,
                    bool end); /* the end of an arrow binds to its slice */
void gen_event_end(gen_output *o);
void gen_arg_int(gen_output *o, const char *key, int64_t value);
void gen_arg_text(gen_output *o, const char *key, const char *value);
void gen_arg_triple(gen_output *o, const char *key, int64_t x, int64_t y, int64_t z);

uint64_t gen_output_events(const gen_output *o); /* so far */
uint64_t gen_output_bytes(const gen_output *o);  /* of text so far, before packing */

/* A small random number generator, the same on every machine (SplitMix64, Steele et al. 2014). */
static inline uint64_t gen_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
