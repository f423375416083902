/* SPDX-License-Identifier: Apache-2.0 */
/* Watched memory: pages that are made read-only, or taken away, while a stage must not use them. A
 * use all the same is recorded by the handler of the signal, which then lets it pass, so that the
 * test can go on and say it in a sentence. */
#include "private.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_LEAST ((size_t)64 * 1024)
#define STEP_MOST ((size_t)16 * 1024 * 1024)
/* Addresses, not memory: in one piece, so that the same requests lie at the same distances in each
 * life. Values like a trace hold such distances. */
#define RESERVED ((size_t)1 << 30)
#define ALIGNMENT ((size_t)16)
#define GUARD 0xa5 /* the bytes behind each block */

typedef struct block {
    char *at;
    size_t size;
} block;

typedef struct chunk chunk;
struct chunk {
    chunk *next;
    char *start;
    size_t reserved;
    _Atomic size_t length; /* of it: in use */
};

/* The handler reads these without a lock: what it needs of a watched memory is complete before it
 * is listed, and nothing leaves the lists while a stage runs. */
struct kt_watched {
    _Atomic(kt_watched *) next;
    _Atomic(chunk *) chunks;
    char *at, *end; /* the free part of the newest chunk */
    size_t step;
    block *blocks;
    size_t n_blocks;
    char *root;
    size_t root_size;
    _Atomic int protection;
    _Atomic bool misused;
    _Atomic bool misused_write;
    _Atomic(char *) misused_at;
};

static _Atomic(kt_watched *) all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const char *) scene, found;

/* How a program dies. */
static const struct {
    int signal;
    const char *told;
} deaths[] = {
    {SIGSEGV, "the program dies of SIGSEGV"}, {SIGBUS, "the program dies of SIGBUS"},
    {SIGABRT, "the program dies of SIGABRT"}, {SIGFPE, "the program dies of SIGFPE"},
    {SIGILL, "the program dies of SIGILL"},   {SIGTERM, "the program is told to end"},
};
enum { DEATHS = sizeof deaths / sizeof deaths[0] };
static struct sigaction before[DEATHS];

void kt_watched_scene(const char *what) {
    atomic_store(&scene, what);
}

void kt_watched_found(const char *breaches) {
    atomic_store(&found, breaches);
}

/* ---------------------------------------------------------------- the signal */

static chunk *chunk_of(kt_watched *w, const char *address) {
    for (chunk *c = atomic_load(&w->chunks); c; c = c->next)
        if (address >= c->start && address < c->start + c->length)
            return c;
    return NULL;
}

kt_watched *kt_watched_at(const void *address) {
    for (kt_watched *w = atomic_load(&all); w; w = atomic_load(&w->next))
        if (chunk_of(w, address))
            return w;
    return NULL;
}

static void tell(const char *words) {
    if (write(STDERR_FILENO, words, strlen(words)) < 0)
        return; /* nothing is left to try */
}

static void tell_scene(const char *what, const char *hint) {
    const char *where = atomic_load(&scene), *breaches = atomic_load(&found);
    kt_output_rescue();
    tell("test harness: ");
    tell(what);
    tell(" in ");
    tell(where);
    tell(hint);
    tell("\n");
    if (breaches && *breaches) {
        tell("found before that:\n");
        tell(breaches);
    }
}

/* Says where, and lets the signal do what it would have done. */
static void die_of(int signal, bool is_sent) {
    int i = 0;
    while (i < DEATHS - 1 && deaths[i].signal != signal)
        i++;
    if (atomic_load(&scene))
        tell_scene(deaths[i].told,
                   signal == SIGTERM ? ": does it go on without an end?"
                                     : "; with -Db_sanitize=address the sanitizer tells the line");
    else if (signal != SIGTERM && signal != SIGABRT)
        tell("test harness: the test itself crashes, not a callback: does it use an output, a "
             "table or a note that is not there?\n");
    sigaction(signal, &before[i], NULL); /* it comes again, to that one */
    if (is_sent)
        raise(signal);
}

/* Records the use and lets it pass. */
static void on_fault(int signal, siginfo_t *info, void *context) {
    char *address = info->si_addr;
    kt_watched *w = signal == SIGSEGV ? kt_watched_at(address) : NULL;
    (void)context;
    if (w && atomic_load(&w->protection) != (PROT_READ | PROT_WRITE)) {
        chunk *c = chunk_of(w, address);
        if (!atomic_exchange(&w->misused, true)) {
            atomic_store(&w->misused_write, atomic_load(&w->protection) == PROT_READ);
            atomic_store(&w->misused_at, address);
        }
        if (mprotect(c->start, c->length, PROT_READ | PROT_WRITE) == 0)
            return;
    }
    die_of(signal, info->si_code <= 0);
}

/* A plugin that calls exit() would end the test as if it had passed. */
static void on_exit_within(void) {
    if (!atomic_load(&scene))
        return;
    tell_scene("the program is ended by exit()", "");
    _exit(1);
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < DEATHS; i++)
        sigaction(deaths[i].signal, &action, &before[i]);
    atexit(on_exit_within);
}

/* ---------------------------------------------------------------- making */

kt_watched *kt_watched_create(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    kt_watched *w = kt_alloc(sizeof *w);
    w->step = STEP_LEAST;
    atomic_store(&w->protection, PROT_READ | PROT_WRITE);
    pthread_mutex_lock(&lock);
    atomic_store(&w->next, atomic_load(&all));
    atomic_store(&all, w);
    pthread_mutex_unlock(&lock);
    return w;
}

static size_t round_up(size_t size, size_t to) {
    if (size > SIZE_MAX / 2)
        kt_mistake("%zu bytes were asked for", size);
    return (size + to - 1) / to * to;
}

static chunk *add_chunk(kt_watched *w, size_t size) {
    size_t reserved = size > RESERVED ? size : RESERVED;
    char *start =
        mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        kt_mistake("out of memory: %zu bytes", reserved);
    chunk *c = kt_alloc(sizeof *c);
    c->next = atomic_load(&w->chunks);
    c->start = start;
    c->reserved = reserved;
    atomic_store(&w->chunks, c);
    w->at = start;
    return c;
}

/* Makes room for `size` bytes at w->at. */
static void make_room(kt_watched *w, size_t size) {
    size_t more = round_up(size > w->step ? size : w->step, STEP_LEAST);
    chunk *c = atomic_load(&w->chunks);
    if (!c || c->reserved - c->length < more)
        c = add_chunk(w, more);
    if (mprotect(c->start + c->length, more, PROT_READ | PROT_WRITE) != 0)
        kt_mistake("out of memory: %zu bytes", more);
    c->length += more;
    w->end = c->start + c->length;
    if (w->step < STEP_MOST)
        w->step *= 2;
}

void *kt_watched_alloc(kt_watched *w, size_t size) {
    size_t whole = round_up(size + 1, ALIGNMENT); /* at least one byte of guard */
    if ((size_t)(w->end - w->at) < whole)
        make_room(w, whole);
    if ((w->n_blocks & (w->n_blocks - 1)) == 0) {
        w->blocks = realloc(w->blocks, (w->n_blocks ? 2 * w->n_blocks : 1) * sizeof *w->blocks);
        if (!w->blocks)
            kt_mistake("out of memory");
    }
    char *at = w->at;
    w->at += whole;
    memset(at + size, GUARD, whole - size);
    w->blocks[w->n_blocks++] = (block){at, size};
    if (!w->root) {
        w->root = at;
        w->root_size = size;
    }
    return at;
}

size_t kt_watched_root_size(kt_watched *w) {
    return w->root_size;
}

void *kt_watched_root(kt_watched *w) {
    return w->root;
}

void kt_watched_protect(kt_watched *w, int protection) {
    atomic_store(&w->protection, protection);
    for (chunk *c = atomic_load(&w->chunks); c; c = c->next)
        mprotect(c->start, c->length, protection);
}

void kt_watched_forget(kt_watched *w) {
    for (chunk *c = atomic_load(&w->chunks); c; c = c->next)
        madvise(c->start, c->length, MADV_DONTNEED);
}

void kt_watched_destroy(kt_watched *w) {
    if (!w)
        return;
    pthread_mutex_lock(&lock);
    _Atomic(kt_watched *) *link = &all;
    while (atomic_load(link) != w)
        link = &atomic_load(link)->next;
    atomic_store(link, atomic_load(&w->next));
    pthread_mutex_unlock(&lock);
    for (chunk *c = atomic_load(&w->chunks), *next; c; c = next) {
        next = c->next;
        munmap(c->start, c->reserved);
        free(c);
    }
    free(w->blocks);
    free(w);
}

/* ---------------------------------------------------------------- what was seen */

static int by_address(const void *a, const void *b) {
    const block *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_blocks(kt_watched *w) {
    qsort(w->blocks, w->n_blocks, sizeof *w->blocks, by_address);
}

/* The block that holds the address, its end included; the blocks are sorted. */
static const block *find_block(const kt_watched *w, const char *address) {
    size_t low = 0, high = w->n_blocks;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->blocks[middle].at <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const block *b = low > 0 ? &w->blocks[low - 1] : NULL;
    return b && address <= b->at + b->size ? b : NULL;
}

bool kt_watched_misuse(kt_watched *w, bool *ret_write, size_t *ret_offset, size_t *ret_block) {
    if (!atomic_exchange(&w->misused, false))
        return false;
    char *at = atomic_load(&w->misused_at);
    sort_blocks(w);
    const block *b = find_block(w, at);
    *ret_write = atomic_load(&w->misused_write);
    *ret_offset = b ? (size_t)(at - b->at) : 0;
    *ret_block = b ? b->size : 0;
    kt_watched_protect(w, atomic_load(&w->protection));
    return true;
}

bool kt_watched_overrun(kt_watched *w, size_t *ret_block) {
    for (size_t i = 0; i < w->n_blocks; i++) {
        const block *b = &w->blocks[i];
        size_t whole = round_up(b->size + 1, ALIGNMENT);
        for (size_t k = b->size; k < whole; k++)
            if ((uint8_t)b->at[k] != GUARD) {
                *ret_block = b->size;
                memset(b->at + b->size, GUARD, whole - b->size); /* told once */
                return true;
            }
    }
    return false;
}

/* ---------------------------------------------------------------- equal but for addresses */

/* Which block of b stands for each block of a, by index; SIZE_MAX: not met yet. */
typedef struct match {
    kt_watched *a, *b;
    size_t *partner, *todo;
    size_t n_todo;
} match;

static bool meet(match *m, const block *x, const block *y) {
    size_t i = (size_t)(x - m->a->blocks), k = (size_t)(y - m->b->blocks);
    if (m->partner[i] == SIZE_MAX) {
        m->partner[i] = k;
        m->todo[m->n_todo++] = i;
    }
    return m->partner[i] == k && x->size == y->size;
}

/* Words that point into the value may differ as addresses do. */
static bool equal_block(match *m, const block *x, const block *y) {
    size_t at = 0;
    for (; at + sizeof(char *) <= x->size; at += sizeof(char *)) {
        char *p, *q;
        memcpy(&p, x->at + at, sizeof p);
        memcpy(&q, y->at + at, sizeof q);
        const block *px = find_block(m->a, p), *qy = find_block(m->b, q);
        if (px && qy ? !meet(m, px, qy) || p - px->at != q - qy->at : p != q)
            return false;
    }
    return memcmp(x->at + at, y->at + at, x->size - at) == 0;
}

bool kt_watched_equal(kt_watched *a, const void *a_root, kt_watched *b, const void *b_root) {
    sort_blocks(a);
    sort_blocks(b);
    const block *x = find_block(a, a_root), *y = find_block(b, b_root);
    if (!x || !y)
        return false;
    match m = {.a = a, .b = b};
    m.partner = kt_alloc(a->n_blocks * sizeof *m.partner);
    m.todo = kt_alloc(a->n_blocks * sizeof *m.todo);
    for (size_t i = 0; i < a->n_blocks; i++)
        m.partner[i] = SIZE_MAX;
    bool same = meet(&m, x, y);
    while (same && m.n_todo > 0) {
        size_t i = m.todo[--m.n_todo];
        same = equal_block(&m, &a->blocks[i], &b->blocks[m.partner[i]]);
    }
    free(m.partner);
    free(m.todo);
    return same;
}
