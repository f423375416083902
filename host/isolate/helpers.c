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
        while (s->in_parallel > 0) /* the loan lasts so long, also where there is nothing to do */
            if (!parallel_help(&s->engine))
                pthread_cond_wait(&s->engine.work, &s->engine.lock);
        pthread_mutex_unlock(&s->engine.lock);
    }
    return NULL;
}

void served_start_helpers(served *s, unsigned n) {
    pthread_t thread;
    for (; s->helpers < n && pthread_create(&thread, NULL, help, s) == 0; s->helpers++)
        pthread_detach(thread);
}

/* How many calls of `parallel` are under way. */
static unsigned change_depth(served *s, int by) {
    pthread_mutex_lock(&s->engine.lock);
    unsigned depth = s->in_parallel = (unsigned)((int)s->in_parallel + by);
    if (depth == 0)
        pthread_cond_broadcast(&s->engine.work);
    pthread_mutex_unlock(&s->engine.lock);
    return depth;
}

void serve_parallel(served *s, bool begins) {
    if (s->engine.options.jobs < 2)
        return;
    if (!begins) {
        if (change_depth(s, -1) == 0)
            served_send(s, WIRE_PARALLEL_END, NULL, -1);
        return;
    }
    if (change_depth(s, 1) > 1)
        return;
    while (sem_trywait(&s->page->helpers) == 0) /* lent too late for the work before */
        continue;
    served_start_helpers(s, s->engine.options.jobs - 1);
    served_send(s, WIRE_PARALLEL, NULL, -1);
}
