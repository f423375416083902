/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel work inside one run, shared out over the threads of --jobs that have nothing else to do.
 */
#include "engine/crash.h"
#include "engine/state.h"
#include "isolate/serve.h"

struct parallel_job {
    run *run;
    mill_parallel_fn fn;
    void *arg;
    size_t n, next;     /* pieces, and the next one to hand out */
    size_t working;     /* threads that are at a piece */
    size_t failed;      /* the lowest piece that failed, */
    mill_status status; /* how, */
    causes why;         /* and why */
};

/* Takes the job off the list once there is nothing left to hand out. */
static void retire(engine *e, parallel_job *job) {
    if (job->next >= job->n)
        g_queue_remove(&e->parallel, job);
}

/* With the lock held, which is let go during the piece itself. */
static void do_piece(engine *e, parallel_job *job) {
    size_t i = job->next++;
    job->working++;
    retire(e, job);
    pthread_mutex_unlock(&e->lock);
    causes why;
    causes_init(&why);
    causes *outer = run_causes_swap(&why);
    const char *before = crash_note(job->run->note);
    mill_status status = job->fn(&job->run->public, job->arg, i);
    crash_note(before);
    run_causes_swap(outer);
    pthread_mutex_lock(&e->lock);
    if (status != MILL_OK && i < job->failed) {
        job->failed = i;
        job->status = status;
        causes_clear(&job->why);
        causes_move(&job->why, &why);
        job->next = job->n;
        retire(e, job);
    }
    causes_finish(&why);
    if (--job->working == 0)
        pthread_cond_broadcast(&e->work);
}

bool parallel_help(engine *e) {
    parallel_job *job = g_queue_peek_head(&e->parallel);
    if (job == NULL)
        return false;
    do_piece(e, job);
    return true;
}

mill_status parallel_run(mill_run *public, size_t n, mill_parallel_fn fn, void *arg) {
    run *r = run_of(public);
    engine *e = r->engine;
    if (e == NULL) { /* in `check` there is one thread */
        for (size_t i = 0; i < n; i++) {
            mill_status status = fn(public, arg, i);
            if (status != MILL_OK)
                return status;
        }
        return MILL_OK;
    }
    parallel_job job = {.run = r, .fn = fn, .arg = arg, .n = n, .failed = SIZE_MAX};
    causes_init(&job.why);
    if (e->served != NULL && n > 1)
        serve_parallel(e->served, true);
    pthread_mutex_lock(&e->lock);
    if (n > 0) {
        g_queue_push_tail(&e->parallel, &job);
        pthread_cond_broadcast(&e->work);
    }
    while (job.next < job.n)
        do_piece(e, &job);
    while (job.working > 0)
        pthread_cond_wait(&e->work, &e->lock);
    pthread_mutex_unlock(&e->lock);
    if (e->served != NULL && n > 1)
        serve_parallel(e->served, false);
    causes_move(run_causes(r), &job.why);
    causes_finish(&job.why);
    return job.status;
}

/* ---------------------------------------------------------------- for another process */

/* What a thread is lent to. `run` stands for the job's own. */
typedef struct loan {
    parallel_job job; /* first */
    sem_t *helpers;
    bool over; /* guarded by engine.lock */
} loan;

/* A thread that is lent does nothing here, so that one more may work there. */
static mill_status lend(mill_run *public, void *arg, size_t i) {
    loan *l = arg;
    engine *e = run_of(public)->engine;
    (void)i;
    pthread_mutex_lock(&e->lock);
    if (!l->over)
        sem_post(l->helpers);
    while (!l->over)
        pthread_cond_wait(&e->work, &e->lock);
    pthread_mutex_unlock(&e->lock);
    return MILL_OK;
}

parallel_job *parallel_lend(run *r, sem_t *helpers) {
    engine *e = r->engine;
    loan *l = g_new0(loan, 1);
    l->job = (parallel_job){
        .run = r, .fn = lend, .arg = l, .n = e->options.jobs - 1, .failed = SIZE_MAX};
    l->helpers = helpers;
    causes_init(&l->job.why);
    pthread_mutex_lock(&e->lock);
    if (l->job.n > 0) {
        g_queue_push_tail(&e->parallel, &l->job);
        pthread_cond_broadcast(&e->work);
    }
    pthread_mutex_unlock(&e->lock);
    return &l->job;
}

void parallel_lend_end(run *r, parallel_job *job) {
    engine *e = r->engine;
    loan *l = (loan *)job;
    pthread_mutex_lock(&e->lock);
    l->over = true;
    job->next = job->n;
    retire(e, job);
    pthread_cond_broadcast(&e->work);
    while (job->working > 0)
        pthread_cond_wait(&e->work, &e->lock);
    pthread_mutex_unlock(&e->lock);
    causes_finish(&job->why);
    g_free(l);
}
