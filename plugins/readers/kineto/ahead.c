/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of blocks between two threads. The source is used by whichever of them comes first; blocks
 * that are in the ring come before what the source has next. */
#include "ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define BLOCKS 4
#define BLOCK_SIZE (256 * 1024)

typedef struct block {
    size_t at, end;
    char bytes[BLOCK_SIZE];
} block;

struct ahead {
    ahead_source source;
    void *arg;
    pthread_mutex_t lock;   /* of all that follows, but for the bytes of blocks */
    pthread_cond_t changed; /* a thread that waits is to look again */
    bool waiting;           /* one does */
    bool busy;              /* one is at the source */
    bool ended, stopped, work_failed;
    mill_status status;    /* how the source failed */
    unsigned first, n;     /* blocks that are filled */
    block *blocks[BLOCKS]; /* NULL: not needed up to now */
};

ahead *ahead_create(ahead_source read, void *arg) {
    ahead *a = kit_alloc(1, sizeof *a);
    a->source = read;
    a->arg = arg;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    return a;
}

void ahead_destroy(ahead *a) {
    if (!a)
        return;
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    for (size_t i = 0; i < BLOCKS; i++)
        free(a->blocks[i]);
    free(a);
}

/* The functions below are called with the lock held. */

static void wait_for_change(ahead *a) {
    a->waiting = true;
    pthread_cond_wait(&a->changed, &a->lock);
}

static void tell(ahead *a) {
    if (a->waiting)
        pthread_cond_signal(&a->changed);
    a->waiting = false;
}

/* Lets the lock go while it reads. */
static mill_status read_source(mill_run *run, ahead *a, char *to, size_t room, size_t *ret_length) {
    a->busy = true;
    pthread_mutex_unlock(&a->lock);
    mill_status status = a->source(run, a->arg, to, room, ret_length);
    pthread_mutex_lock(&a->lock);
    a->busy = false;
    a->status = status;
    a->ended = status != MILL_OK || *ret_length == 0;
    tell(a);
    return status;
}

static size_t take(ahead *a, char *to, size_t room) {
    block *b = a->blocks[a->first];
    size_t length = b->end - b->at < room ? b->end - b->at : room;
    pthread_mutex_unlock(&a->lock);
    memcpy(to, b->bytes + b->at, length);
    pthread_mutex_lock(&a->lock);
    b->at += length;
    if (b->at == b->end) {
        a->first = (a->first + 1) % BLOCKS;
        a->n--;
        tell(a);
    }
    return length;
}

mill_status ahead_read(mill_run *run, ahead *a, char *to, size_t room, size_t *ret_length) {
    *ret_length = 0;
    pthread_mutex_lock(&a->lock);
    while (a->n == 0 && a->busy)
        wait_for_change(a);
    mill_status status = MILL_OK;
    if (a->n > 0)
        *ret_length = take(a, to, room);
    else if (a->ended)
        status = a->status;
    else
        status = read_source(run, a, to, room, ret_length);
    pthread_mutex_unlock(&a->lock);
    return status;
}

void ahead_stop(ahead *a) {
    pthread_mutex_lock(&a->lock);
    a->stopped = true;
    tell(a);
    pthread_mutex_unlock(&a->lock);
}

/* Until the block is full or the text ends, so that a source of small pieces costs no more. */
static mill_status fill(mill_run *run, ahead *a, block *b) {
    mill_status status = MILL_OK;
    b->at = b->end = 0;
    while (status == MILL_OK && !a->ended && b->end < BLOCK_SIZE) {
        size_t length = 0;
        status = read_source(run, a, b->bytes + b->end, BLOCK_SIZE - b->end, &length);
        b->end += length;
    }
    return status;
}

mill_status ahead_work(mill_run *run, ahead *a) {
    mill_status status = MILL_OK;
    pthread_mutex_lock(&a->lock);
    while (status == MILL_OK && !a->stopped && !a->ended) {
        if (a->busy || a->n == BLOCKS) {
            wait_for_change(a);
            continue;
        }
        unsigned next = (a->first + a->n) % BLOCKS;
        if (!a->blocks[next])
            a->blocks[next] = kit_alloc(1, sizeof(block));
        status = fill(run, a, a->blocks[next]);
        a->n += a->blocks[next]->end > 0;
        tell(a);
    }
    a->work_failed = status != MILL_OK;
    pthread_mutex_unlock(&a->lock);
    return status;
}

bool ahead_work_failed(ahead *a) {
    pthread_mutex_lock(&a->lock);
    bool failed = a->work_failed;
    pthread_mutex_unlock(&a->lock);
    return failed;
}
