/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends processes of stages: this program again, executed, never a fork of its threads.
 */
#ifndef HOST_ISOLATE_SPAWN_H
#define HOST_ISOLATE_SPAWN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "isolate/page.h"

#define SPAWN_ARG "--stage" /* the hidden command, followed by the number of the socket */

typedef struct spawned {
    pid_t pid;
    int socket;    /* frames */
    int words;     /* what it prints, non-blocking */
    int page_file; /* to be sent to it */
    page *page;
    GString *said; /* the end of what it has printed */
} spawned;

/* Returns 0 or an errno. */
int spawn(spawned *ret);
/* Reads what it has printed; passes it on to standard error, and keeps the end of it. */
void spawn_listen(spawned *s);
/* The last line of that. Owner: the caller. */
char *spawn_last_words(const spawned *s);

/* How a process ended. */
typedef struct spawn_end {
    int status;     /* as of waitpid(2) */
    bool forced;    /* it had to be killed */
    uint64_t bytes; /* the most memory that it had */
} spawn_end;

/* Waits for its end, for a while; then kills it. */
spawn_end spawn_reap(spawned *s, unsigned patience_ms);
/* Frees what is left after that. */
void spawn_finish(spawned *s);

#endif
