/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says when a plugin brings it down: the stage, the module and its path. */
#ifndef HOST_ENGINE_CRASH_H
#define HOST_ENGINE_CRASH_H

#include <stddef.h>

/* From here on to crash_disarm fatal signals and exit() write the note of the thread that met them,
 * remove temporary files, and end the process with exit code 70. (Fatal signals do so for good.) */
void crash_install(void);
void crash_disarm(void);

/* Ends the process with exit code 75 and this thread's note unless it is called again with 0 within
 * so many seconds: for a callback that nobody else watches. */
void crash_limit(unsigned seconds);

/* Gives this thread a stack of its own for the handler, so that a stack overflow is told too. */
void crash_thread_begin(void);
void crash_thread_end(void);

/* Copies what this thread is doing from now on into memory that outlives the process. */
void crash_mirror(char *to, size_t size);

/* What this thread is doing from now on: text that stays valid, or NULL. Returns the one before. */
const char *crash_note(const char *note);

#endif
