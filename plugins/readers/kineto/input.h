/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a file: one, plain or out of gzip or zstd, or those of the members of a zip archive.
 * What it is, is told by its bytes, never by its name; so also of what is found inside. */
#ifndef KINETO_INPUT_H
#define KINETO_INPUT_H

#include <tracemill/tracemill.h>

typedef struct input input;

typedef enum input_state {
    INPUT_WHOLE,    /* nothing wrong so far */
    INPUT_CUT,      /* the container ends too early */
    INPUT_CORRUPT,  /* the container is damaged, its text is good up to here */
    INPUT_TRAILING, /* other bytes follow what was compressed; ignored */
} input_state;

/* "-" is standard input; the path must outlive the input. Errors (recorded): E_NOINPUT, E_IO,
 * E_DATA for a container that is not read here; E_CANCELLED. */
mill_status input_open(mill_run *run, const char *path, input **ret_input);
void input_close(input *in); /* NULL: nothing */

/* Goes to the first text, then to the next one: of an archive the members that begin as JSON does.
 * *ret_more false: there is none. Errors as above; E_DATA with *ret_more true: this one can't be
 * unpacked, but others may follow. */
mill_status input_next(mill_run *run, input *in, bool *ret_more);
/* The name of the text in the archive, in printable ASCII; "" where the file is none. Valid until
 * the next one. */
const char *input_name(const input *in);

/* Up to `room` bytes of the text; *ret_length 0: the end. Errors (recorded): E_IO, E_DATA,
 * E_CANCELLED. */
mill_status input_read(mill_run *run, input *in, char *to, size_t room, size_t *ret_length);

/* Whether the text is the file itself, so that any thread can read it anywhere. */
bool input_is_plain(const input *in);
/* Of such a text, without moving where input_read is. Any thread. */
mill_status input_read_at(mill_run *run, const input *in, uint64_t byte, char *to, size_t room,
                          size_t *ret_length);

/* Of the outermost container that something is wrong with. After the last text: of the archive. */
input_state input_get_state(const input *in);
bool input_is_archive(const input *in);
bool input_is_packed(const input *in);   /* the text must be unpacked, which takes its time */
uint64_t input_skipped(const input *in); /* members that are no texts of JSON, up to now */
/* Bytes of the file read so far, and its size (0: not known, since it can be read only once). */
uint64_t input_done(const input *in);
uint64_t input_size(const input *in);

#endif
