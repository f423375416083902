/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ahead: while one thread uses up a text, another one that has nothing else to do brings in
 * (and so inflates) what follows. Where there is no other, the first does it all by itself. */
#ifndef KINETO_AHEAD_H
#define KINETO_AHEAD_H

#include <tracemill/tracemill.h>

typedef struct ahead ahead;

/* Fills up to `room` bytes; *ret_length 0 at the end. Called by one thread at a time, be it not
 * always the same. */
typedef mill_status (*ahead_source)(mill_run *run, void *arg, char *to, size_t room,
                                    size_t *ret_length);

ahead *ahead_create(ahead_source read, void *arg);
void ahead_destroy(ahead *a); /* NULL: nothing */

/* The text in order, for one thread. After a failure of the source: its status. */
mill_status ahead_read(mill_run *run, ahead *a, char *to, size_t room, size_t *ret_length);
/* That thread needs no more. */
void ahead_stop(ahead *a);

/* For another thread: brings in blocks until ahead_stop or the end of the text, and returns the
 * failure that the source had in this thread. May begin at any time, or never. */
mill_status ahead_work(mill_run *run, ahead *a);
/* The source failed in ahead_work: the cause is recorded there. */
bool ahead_work_failed(ahead *a);

#endif
