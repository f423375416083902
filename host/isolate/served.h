/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a stage's process share. */
#ifndef HOST_ISOLATE_SERVED_H
#define HOST_ISOLATE_SERVED_H

#include "engine/state.h"
#include "isolate/wire.h"

struct served {
    int socket;
    pthread_mutex_t sending; /* frames may come from any thread */
    page *page;
    engine engine; /* with one stage, one instance, one cell; nothing is scheduled */
    plan plan;
    plan_stage stage;
    estage estage;
    instance instance;
    cell cell;
    globs_file file; /* of the GLOB option, in the run under way */

    GPtrArray *modules; /* of module *: the stage's own first, then those that describe types */
    bool *wanted;       /* for each output: does it cross? */
    guint *sent;        /* for each output: how many of the run's items are sent */

    GHashTable *kept, *once; /* value * by id: for good, or for this task */
    task *task;              /* under way, or NULL */
    run run;                 /* its record */
    GPtrArray *calls;        /* of GByteArray *: they hold the texts that its inputs refer to */
    bool ready;              /* the module is loaded */

    unsigned helpers;     /* threads started */
    unsigned in_parallel; /* calls of `parallel`, one inside the other; guarded by engine.lock */
};

/* serve.c: a line of the log, to the host; `arg` is the served. */
void served_log(void *arg, const char *stage, const char *key, mill_level level, const char *text);

/* setup.c: from the host's first frame to a stage that can be called. NULL, or why it can't be.
 * Owner: the caller. */
char *served_setup(served *s, wire_frame *hello);
/* The descriptor of a type that the host named; `file` NULL: it is the host's own. NULL: there is
 * none. */
const mill_type *served_type(served *s, const char *id, const char *file);

/* Sends one frame, and ends the process where the host is gone. Any thread. */
void served_send(served *s, wire_kind kind, GByteArray *body, int fd);
/* Waits for the next frame, and ends the process likewise. */
void served_receive(served *s, wire_frame *ret_frame);

/* helpers.c: so many threads that wait to be lent. */
void served_start_helpers(served *s, unsigned n);

#endif
