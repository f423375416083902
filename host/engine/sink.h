/* SPDX-License-Identifier: Apache-2.0 */
/* Sinks: output files that appear whole or not at all, and ordered standard output. */
#ifndef HOST_ENGINE_SINK_H
#define HOST_ENGINE_SINK_H

#include "engine/causes.h"

/* What was written to standard output by one run or stage: kept in memory, beyond some size in an
 * unnamed file, until its turn to be printed has come. */
typedef struct spool spool;

spool *spool_create(void);
void spool_destroy(spool *s); /* NULL: nothing */
/* All of it to a file descriptor. False: errno is set. */
bool spool_copy(spool *s, int fd);
/* All of it as text, for --json. Owner: the caller. */
char *spool_text(spool *s);
/* A file to which more may be written from elsewhere: the spool's own, do not close it. -1: errno
 * is set. */
int spool_file(spool *s);

typedef struct sink sink;

/* May several stages write to this path? To standard output and to devices such as /dev/null. */
bool sink_takes_all(const char *path);

/* A sink for `path` ("-": into `out`, which must outlive it). Failures are recorded in the causes
 * that sink_bind last gave. NULL: it can't be written, the cause is recorded in `why`. */
sink *sink_create(const char *path, spool *out, causes *why);
/* Where later failures of `write` are recorded. */
void sink_bind(sink *s, causes *why);
mill_sink *sink_public(sink *s);
const char *sink_path(const sink *s);

/* A callback that wrote to it failed: it will be discarded. */
void sink_taint(sink *s);
bool sink_dirty(const sink *s); /* written to since the last sink_clean */
void sink_clean(sink *s);

/* Writes out what is buffered and gives back the buffer and the descriptor until more is written: a
 * stage may have a file for each of many items. A failure is told by sink_end. */
void sink_rest(sink *s);

/* Ends the sink: the file gets its name if it is not tainted, and is removed otherwise (standard
 * output: forgotten). False: could not be committed, the cause is recorded. */
bool sink_end(sink *s, causes *why);

/* A sink in two processes. Here: the descriptor to write to elsewhere, which stays the sink's (-1:
 * errno is set), and what is known afterwards of what went there; `error` is an errno, or 0. */
int sink_file(sink *s);
void sink_note(sink *s, bool dirty, bool tainted, int error);
/* There: a sink on that descriptor, which it takes. `again` asks for it once more after it was
 * given back (-1: errno is set). */
typedef int (*sink_again_fn)(void *arg, const char *path);
sink *sink_create_on(int fd, const char *path, sink_again_fn again, void *arg, causes *why);
/* Writes out what is buffered, and tells what sink_note takes; `rest` gives the descriptor back. */
void sink_settle_on(sink *s, bool rest, bool *ret_dirty, bool *ret_tainted, int *ret_error);
void sink_destroy_on(sink *s);

/* Removes the temporary files of this process. Async-signal-safe. */
void sink_unlink_all(void);

#endif
