/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a file: plain, or inflated from gzip; which one is told by its first bytes. */
#ifndef KINETO_INPUT_H
#define KINETO_INPUT_H

#include <tracemill/tracemill.h>

typedef struct input input;

typedef enum input_state {
    INPUT_WHOLE,    /* nothing wrong so far */
    INPUT_CUT,      /* the container ends too early */
    INPUT_CORRUPT,  /* the container is damaged, its text is good up to here */
    INPUT_TRAILING, /* bytes that are no gzip follow the last member; ignored */
} input_state;

/* "-" is standard input. Errors (recorded): E_NOINPUT, E_IO, E_DATA for a container that is not
 * read here; E_CANCELLED. */
mill_status input_open(mill_run *run, const char *path, input **ret_input);
void input_close(input *in); /* NULL: nothing */

/* Up to `room` bytes of text; *ret_length 0: the end. Errors (recorded): E_IO;
 * E_CANCELLED. */
mill_status input_read(mill_run *run, input *in, char *to, size_t room, size_t *ret_length);

input_state input_get_state(const input *in);
/* Bytes of the file read so far, and its size (0: not known, since it can be read only once). */
uint64_t input_done(const input *in);
uint64_t input_size(const input *in);

#endif
