/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that help in `parallel` inside the process of a stage: each works only while the host
 * lends one of its own, so that all processes together keep to --jobs. */
#include "isolate/page.h"
#include "isolate/serve.h"
#include "isolate/served.h"

#include <errno.h>

static void *help(void *arg) {
    served *s = arg;
    for (;;) {
        while (sem_wait(&s->page->helpers) != 0 && errno == EINTR)
            continue;
        pthread_mutex_lock(&s->engine.lock);
        while (parallel_help(&s->engine))
            continue;
        pthread_mutex_unlock(&s->engine.lock);
    }
    return NULL;
}

void served_start_helpers(served *s, unsigned n) {
    pthread_t thread;
    for (; s->helpers < n && pthread_create(&thread, NULL, help, s) == 0; s->helpers++)
        pthread_detach(thread);
}

void serve_parallel(served *s, bool begins) {
    if (s->engine.options.jobs < 2)
        return;
    if (!begins) {
        if (__atomic_sub_fetch(&s->in_parallel, 1, __ATOMIC_SEQ_CST) == 0)
            served_send(s, WIRE_PARALLEL_END, NULL, -1);
        return;
    }
    if (__atomic_fetch_add(&s->in_parallel, 1, __ATOMIC_SEQ_CST) > 0)
        return;
    while (sem_trywait(&s->page->helpers) == 0) /* lent too late for the work before */
        continue;
    served_start_helpers(s, s->engine.options.jobs - 1);
    served_send(s, WIRE_PARALLEL, NULL, -1);
}
