/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a stage's instance, as the host sees it: begun, called, and ended, or found dead.
 */
#ifndef HOST_ISOLATE_PEER_H
#define HOST_ISOLATE_PEER_H

#include "engine/state.h"

/* Begins the process of the instance. */
mill_status peer_begin(run *r);

/* Calls the callback in it. What the callback did is then in `r` as if it had been called here. If
 * the process is lost, so is r->instance->peer, and the cause is recorded. */
mill_status peer_call(run *r, callback what);

/* Calls `check` of the class in a process begun for that, of an instance that is none. ret_lost:
 * the process died, or it was killed after so many seconds. */
mill_status peer_check(run *r, unsigned seconds, bool *ret_lost);

/* Ends the process in good order: after CLOSE. */
mill_status peer_end(run *r);

/* Both with engine.lock held, of a callback that is under way: */
void peer_ask(peer *p, int what); /* it should end: an `enum ask` */
void peer_kill(peer *p);          /* it did not */
void peer_progress(const peer *p, uint64_t *ret_done, uint64_t *ret_total);

#endif
