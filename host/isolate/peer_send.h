/* SPDX-License-Identifier: Apache-2.0 */
/* What the host sends to the process of a stage. */
#ifndef HOST_ISOLATE_PEER_SEND_H
#define HOST_ISOLATE_PEER_SEND_H

#include "engine/state.h"

/* The values that the process has, by id: those of this task, and those that it keeps since each of
 * its tasks takes them. */
typedef struct peer_sent {
    GHashTable *kept, *once; /* of uint64_t */
} peer_sent;

void peer_sent_init(peer_sent *sent);
void peer_sent_finish(peer_sent *sent);

/* Does anybody take values of that output? Else they need not cross. */
bool peer_output_wanted(const run *r, uint32_t port);

/* Each returns false where the process does not listen any more. */
bool peer_send_hello(int socket, const run *r, int page_file);
bool peer_send_call(int socket, const run *r, callback what, bool begins_task);

/* The values that the run takes in, saved if they are not yet: a failure is that of `save`, and its
 * causes are recorded. */
mill_status peer_send_inputs(int socket, run *r, peer_sent *sent);

#endif
