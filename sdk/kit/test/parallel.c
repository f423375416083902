/* SPDX-License-Identifier: Apache-2.0 */
/* Work on several threads. With more than one, the last index comes first, so that what counts on
 * an order gives something else than with one. */
#include "private.h"

#include <stdlib.h>

#define THREADS_MAX 64

typedef struct work {
    kt_pass *p;
    mill_parallel_fn fn;
    void *arg;
    size_t n, next, failed_at;
    mill_status status; /* of the lowest failed one */
    pthread_mutex_t lock;
} work;

static void *worker(void *data) {
    work *w = data;
    pthread_mutex_lock(&w->lock);
    while (w->next < w->n && w->status == MILL_OK) {
        size_t i = w->p->plan.jobs > 1 ? w->n - 1 - w->next : w->next;
        w->next++;
        pthread_mutex_unlock(&w->lock);
        mill_status status = w->fn(&w->p->run, w->arg, i);
        pthread_mutex_lock(&w->lock);
        if (status != MILL_OK && (w->status == MILL_OK || i < w->failed_at)) {
            w->status = status;
            w->failed_at = i;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

mill_status kt_service_parallel(mill_run *run, size_t n, mill_parallel_fn fn, void *arg) {
    kt_pass *p = kt_own_thread(run, "parallel");
    pthread_t threads[THREADS_MAX];
    size_t others = 0, wanted = p->plan.jobs > 1 && n > 1 ? p->plan.jobs : 0;
    work w = {.p = p, .fn = fn, .arg = arg, .n = n};
    pthread_mutex_init(&w.lock, NULL);
    while (others < wanted && others < THREADS_MAX &&
           pthread_create(&threads[others], NULL, worker, &w) == 0)
        others++;
    if (others == 0)
        worker(&w);
    for (size_t i = 0; i < others; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&w.lock);
    return w.status;
}
