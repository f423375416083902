/* SPDX-License-Identifier: Apache-2.0 */
/* Shares out a text among threads, and joins what they read. */
#include "chunks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/trace_join.h>

#define MOST_CHUNK_READERS 31
/* Where a guess is made, an event must begin within so many bytes. */
#define GUESSED (64 * 1024)
/* The largest event in a chunk, so that a wrong guess takes no more memory than this. */
#define CHUNK_EVENT ((size_t)1 << 20)
/* Beyond this a trace could have more rows than it can hold, and joined tables have fewer. */
#define MOST_TEXT ((uint64_t)16 << 30)

typedef struct chunks chunks;

/* A thread at work: the walk, or one on a chunk. */
typedef struct reader {
    sink sink; /* first: the document's calls go there */
    chunks *of;
    uint64_t at; /* the next byte to bring in */
} reader;

typedef struct chunk {
    reader reader;
    struct chunk *next; /* behind it in the file */
    uint64_t from, to;
    document_part read;
    bool done;           /* nobody reads it any more */
    atomic_bool dropped; /* nobody needs it any more */
} chunk;

struct chunks {
    mill_run *run;
    const chunks_config *config;
    const input *in;
    reader walk;
    document_result result;
    size_t pieces;
    atomic_uint_fast64_t brought; /* bytes */
    pthread_mutex_t lock;         /* of what follows */
    pthread_cond_t changed;       /* a chunk is done */
    bool stopped;                 /* the walk has ended */
    unsigned readers;             /* threads that read chunks */
    uint64_t front, back;         /* where the walk is; up to where there are no chunks */
    chunk *first;                 /* those that the walk has not passed, in the order of the file */
    char *guessed;
};

/* ---------------------------------------------------------------- reading */

static mill_status bring(reader *r, char *to, size_t room, size_t *ret_length) {
    chunks *c = r->of;
    if (mill_cancelled(c->run))
        return MILL_E_CANCELLED;
    mill_status status = input_read_at(c->run, c->in, r->at, to, room, ret_length);
    if (status != MILL_OK)
        return status;
    r->at += *ret_length;
    uint64_t brought = atomic_fetch_add(&c->brought, *ret_length) + *ret_length;
    uint64_t size = input_size(c->in);
    mill_progress(c->run, brought < size ? brought : size, size, "bytes");
    return MILL_OK;
}

static mill_status on_read(void *arg, char *to, size_t room, size_t *ret_length) {
    return bring(arg, to, room, ret_length);
}

static mill_status on_read_chunk(void *arg, char *to, size_t room, size_t *ret_length) {
    chunk *k = arg;
    *ret_length = 0;
    return atomic_load(&k->dropped) ? MILL_OK : bring(&k->reader, to, room, ret_length);
}

/* ---------------------------------------------------------------- chunks */

static void chunk_destroy(chunk *k) {
    sink_finish(&k->reader.sink);
    free(k);
}

/* With the lock held: the functions up to take_chunk. */

/* Where an event seems to begin in [from, to); `to`: nowhere near. */
static uint64_t guess(chunks *c, uint64_t from, uint64_t to) {
    size_t room = to - from < GUESSED ? (size_t)(to - from) : GUESSED, length;
    if (input_read_at(c->run, c->in, from, c->guessed, room, &length) != MILL_OK)
        return to;
    const char *begin = document_guess_event(c->guessed, c->guessed + length);
    return begin ? from + (uint64_t)(begin - c->guessed) : to;
}

/* The next one to read; NULL: there is too little left. Half of what would be the thread's share:
 * large at first, so that there are few, and small in the end, so that all threads come to it at
 * the same time. */
static chunk *claim(chunks *c) {
    const uint64_t least = c->config->least_chunk;
    while (!c->stopped && c->back > c->front && c->back - c->front >= 2 * least) {
        uint64_t to = c->back, size = (to - c->front) / (2 * (1 + c->readers));
        uint64_t wanted = to - (size > least ? size : least), from = guess(c, wanted, to);
        c->back = from < to ? from : wanted;
        if (from == to)
            continue;
        chunk *k = kit_alloc(1, sizeof *k);
        *k = (chunk){.reader = {.of = c, .at = from}, .next = c->first, .from = from, .to = to};
        c->first = k;
        return k;
    }
    return NULL;
}

/* Chunks that begin before the walk's place began in the middle of an event, or of something else.
 */
static void drop_passed(chunks *c) {
    while (c->first && c->first->from < c->front) {
        chunk *k = c->first;
        c->first = k->next;
        atomic_store(&k->dropped, true);
        if (k->done)
            chunk_destroy(k);
    }
}

/* The chunk that begins where the walk is, when it is done; NULL: none does. */
static chunk *take_chunk(chunks *c) {
    chunk *k = c->first;
    if (!k || k->from != c->front)
        return NULL;
    while (!k->done)
        pthread_cond_wait(&c->changed, &c->lock);
    c->first = k->next;
    return k;
}

static void read_chunk(chunks *c, chunk *k) {
    static const document_calls calls = {
        .read = on_read_chunk,
        .event = sink_event,
        .events = sink_events,
        .leaves = sink_leaves,
    };
    document_config config = c->config->document;
    if (config.max_event > CHUNK_EVENT)
        config.max_event = CHUNK_EVENT;
    sink_init(&k->reader.sink, c->run, kit_trace_create_part(c->run), &c->config->sink);
    /* Where it fails, the walk will too, and say so. */
    document_read_part(c->run, &config, &calls, k, k->from, k->to, &k->read);
    kit_trace_end_part(k->reader.sink.b);
}

static void read_chunks(chunks *c) {
    chunk *k;
    pthread_mutex_lock(&c->lock);
    c->readers++;
    while ((k = claim(c)) != NULL) {
        pthread_mutex_unlock(&c->lock);
        read_chunk(c, k);
        pthread_mutex_lock(&c->lock);
        k->done = true;
        if (atomic_load(&k->dropped))
            chunk_destroy(k);
        pthread_cond_signal(&c->changed);
    }
    c->readers--;
    pthread_mutex_unlock(&c->lock);
}

/* ---------------------------------------------------------------- the walk */

static uint64_t on_skip(void *arg, uint64_t byte, uint64_t *ret_events, uint64_t *ret_limit) {
    reader *walk = arg;
    chunks *c = walk->of;
    pthread_mutex_lock(&c->lock);
    c->front = byte;
    drop_passed(c);
    chunk *k = take_chunk(c);
    *ret_limit = c->first ? c->first->from : UINT64_MAX;
    pthread_mutex_unlock(&c->lock);
    if (!k)
        return byte;
    uint64_t behind = k->read.end;
    if (behind > byte) {
        rows_join(walk->sink.rows, k->reader.sink.rows);
        *ret_events = k->read.events;
        walk->at = behind;
    }
    chunk_destroy(k);
    return behind;
}

static mill_status walk(chunks *c) {
    static const document_calls calls = {
        .read = on_read,
        .event = sink_event,
        .events = sink_events,
        .wants = sink_wants,
        .fact = sink_fact,
        .problem = sink_problem,
        .skip = on_skip,
    };
    mill_status status = document_read(c->run, &c->config->document, &calls, &c->walk, &c->result);
    pthread_mutex_lock(&c->lock);
    c->stopped = true;
    c->front = UINT64_MAX;
    drop_passed(c);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static mill_status work(mill_run *run, void *arg, size_t piece) {
    chunks *c = arg;
    (void)run;
    if (piece == (c->config->chunks_first ? c->pieces - 1 : 0))
        return walk(c);
    read_chunks(c);
    return MILL_OK;
}

bool chunks_suit(const chunks_config *config, const input *in) {
    return input_is_plain(in) && input_size(in) >= config->least_text &&
           input_size(in) <= MOST_TEXT;
}

mill_status chunks_read(mill_run *run, const chunks_config *config, input *in, const sink *whole,
                        document_result *ret_result) {
    uint64_t size = input_size(in), most = size / config->least_chunk;
    chunks c = {.run = run, .config = config, .in = in, .back = size};
    c.walk = (reader){.sink = *whole, .of = &c};
    c.pieces = 1 + (size_t)(most < MOST_CHUNK_READERS ? most : MOST_CHUNK_READERS);
    c.guessed = kit_alloc(GUESSED, 1);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    mill_status status = run->host->parallel(run, c.pieces, work, &c);
    pthread_mutex_destroy(&c.lock);
    pthread_cond_destroy(&c.changed);
    free(c.guessed);
    *ret_result = c.result;
    return status;
}
