/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a stage's instance, as the host sees it: what it is asked, and what it asks for.
 */
#include "isolate/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/units.h"
#include "engine/transfer.h"
#include "isolate/parts.h"
#include "isolate/peer_send.h"
#include "isolate/spawn.h"
#include "isolate/wire.h"

#define START_NS                                                                                   \
    (10 * (int64_t)1000000000) /* as for the probe that has loaded the module before               \
                                */
#define DEATH_MS 2000          /* between the end of the connection and that of the process */
#define GARBAGE_MS 50          /* it may have died in the middle of a frame */
#define BYE_MS 5000            /* for the module's `fini` */
#define GLANCE_MS 100          /* between two looks whether the process is there */

struct peer {
    spawned process;
    peer_sent sent;
    parallel_job *lent; /* threads that help it; NULL: none */
    bool killed;        /* by us: it was asked to end and did not; atomic */
    int64_t limit_ns;   /* when it is killed without being asked; 0: never */
    bool garbage;       /* it sent what is no frame, or no frame that fits */
};

void peer_ask(peer *p, int what) {
    __atomic_store_n(&p->process.page->asked, what, __ATOMIC_RELEASE);
}

void peer_kill(peer *p) {
    __atomic_store_n(&p->killed, true, __ATOMIC_RELEASE);
    kill(p->process.pid, SIGKILL);
}

static bool was_killed(const peer *p) {
    return __atomic_load_n(&p->killed, __ATOMIC_ACQUIRE);
}

void peer_progress(const peer *p, uint64_t *ret_done, uint64_t *ret_total) {
    *ret_done = __atomic_load_n(&p->process.page->done, __ATOMIC_RELAXED);
    *ret_total = __atomic_load_n(&p->process.page->total, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- what it asks for */

static bool take_log(run *r, wire_reader *body) {
    uint32_t level = wire_get_u32(body);
    bool of_stage = wire_get_u32(body) != 0;
    const char *key = wire_get_text(body), *text = wire_get_text(body);
    if (!wire_done(body) || text == NULL || level > MILL_DEBUG)
        return false;
    console_log(of_stage ? r->plan->name : NULL, key, (mill_level)level, text);
    return true;
}

/* The file is made here, where all that is written is known, and written there. */
static bool give_sink(peer *p, run *r, wire_reader *body) {
    const char *path = wire_get_text(body);
    if (!wire_done(body) || path == NULL)
        return false;
    causes why;
    causes_init(&why);
    sink *s = NULL;
    mill_status status = services_sink(r, path, &why, &s);
    int fd = status == MILL_OK ? sink_file(s) : -1;
    if (status == MILL_OK && fd < 0) {
        causes_addf(&why, MILL_E_IO, "cannot write %s: %s", path, g_strerror(errno));
        status = MILL_E_IO;
    }
    GByteArray *answer = wire_body();
    wire_put_u32(answer, (uint32_t)status);
    parts_put_causes(answer, &why);
    causes_finish(&why);
    return wire_send(p->process.socket, WIRE_SINK_IS, answer, fd) || errno == EPIPE;
}

static void lend(peer *p, run *r) {
    if (p->lent == NULL)
        p->lent = parallel_lend(r, &p->process.page->helpers);
}

static void stop_lending(peer *p, run *r) {
    if (p->lent != NULL)
        parallel_lend_end(r, g_steal_pointer(&p->lent));
}

/* ---------------------------------------------------------------- what it gives */

/* Is it the run's key, or one behind it? What goes on with the key trusts it. */
static bool is_key(const run *r, const char *key, bool items) {
    if (strcmp(key, r->key) == 0)
        return true;
    size_t n = strlen(r->key);
    if (!items || (n > 0 && (strncmp(key, r->key, n) != 0 || key[n] != ':')))
        return false;
    const char *sub = n > 0 ? key + n + 1 : key;
    return *sub != '\0' && strspn(sub, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789._-") == strlen(sub);
}

static bool take_output(peer *p, run *r, wire_frame *frame) {
    wire_reader body = wire_read(frame->body);
    uint32_t port = wire_get_u32(&body);
    const char *key = wire_get_text(&body);
    if (!wire_done(&body) || key == NULL || port >= r->plan->cls->n_outputs || !r->may_output)
        return false;
    const mill_port *declared = &r->plan->cls->outputs[port];
    bool items = (declared->flags & MILL_PORT_ITEMS) != 0;
    if (!is_key(r, key, items) || (!items && r->outputs[port]->len > 0) ||
        !g_hash_table_add(r->emitted, g_strdup_printf("%u %s", port, key)))
        return false;
    if ((frame->fd >= 0) != peer_output_wanted(r, port) ||
        (frame->fd >= 0 && !transfer_is_sealed(frame->fd)))
        return false;
    const mill_type *type = r->stage->output_types[port];
    parcel *posted = g_new0(parcel, 1);
    posted->key = g_strdup(key);
    posted->value =
        frame->fd >= 0 ? transfer_value(type, frame->fd) : value_create(type, NULL, NULL);
    posted->type = declared->type;
    posted->from = r->stage;
    frame->fd = -1;
    g_ptr_array_add(r->outputs[port], posted);
    (void)p;
    return true;
}

static sink *find_sink(const instance *in, const char *path) {
    for (guint i = 0; in->sinks != NULL && path != NULL && i < in->sinks->len; i++)
        if (strcmp(sink_path(g_ptr_array_index(in->sinks, i)), path) == 0)
            return g_ptr_array_index(in->sinks, i);
    return NULL;
}

static bool take_return(run *r, wire_reader *body, mill_status *ret_status) {
    *ret_status = (mill_status)(int32_t)wire_get_u32(body);
    r->contract_broken |= wire_get_u32(body) != 0;
    uint64_t bytes = wire_get_u64(body);
    r->bytes = MAX(r->bytes, bytes);
    parts_get_causes(body, &r->causes);
    for (uint32_t n = wire_get_u32(body); n > 0 && !body->bad; n--) {
        sink *s = find_sink(r->instance, wire_get_text(body));
        bool dirty = wire_get_u32(body) != 0, tainted = wire_get_u32(body) != 0;
        int error = (int)wire_get_u32(body);
        if (s == NULL)
            return false;
        sink_note(s, dirty, tainted, error);
    }
    return wire_done(body);
}

/* ---------------------------------------------------------------- its voice */

/* ms for poll(2); the process is killed when its limit is over and nobody else would. */
static int patience(peer *p) {
    if (p->limit_ns == 0 || was_killed(p))
        return GLANCE_MS;
    int64_t left = p->limit_ns - now_ns();
    if (left > 0)
        return (int)MIN(left / 1000000 + 1, GLANCE_MS);
    peer_kill(p);
    return GLANCE_MS;
}

static bool has_ended(const peer *p) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)p->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

/* Waits until a frame is there, and lets through what it prints meanwhile. False: the process has
 * ended and there is none. Its end is looked for, since the connection stays open as long as
 * anything that the process has forked. */
static bool await_frame(peer *p) {
    struct pollfd fds[] = {{p->process.socket, POLLIN, 0}, {p->process.words, POLLIN, 0}};
    bool ended = false;
    for (;;) {
        fds[0].revents = fds[1].revents = 0;
        fds[1].fd = p->process.words;
        int n = poll(fds, G_N_ELEMENTS(fds), ended ? 0 : patience(p));
        if (n > 0 && fds[1].revents != 0)
            spawn_listen(&p->process);
        if (n > 0 && fds[0].revents != 0)
            return true;
        if (ended)
            return false;
        ended = has_ended(p); /* what it sent before is seen by one more look */
    }
}

/* False: it does not fit here. */
static bool take_frame(peer *p, run *r, wire_frame *frame) {
    wire_reader body = wire_read(frame->body);
    switch (frame->kind) {
    case WIRE_LOG:
        return take_log(r, &body);
    case WIRE_SINK:
        return give_sink(p, r, &body);
    case WIRE_PARALLEL:
        lend(p, r);
        return wire_done(&body);
    case WIRE_PARALLEL_END:
        stop_lending(p, r);
        return wire_done(&body);
    case WIRE_OUTPUT:
        return take_output(p, r, frame);
    default:
        return false;
    }
}

/* Serves it until it sends a frame of that kind. False: it is lost. */
static bool serve_until(peer *p, run *r, wire_kind kind, wire_frame *ret_frame) {
    for (;;) {
        if (!await_frame(p))
            return false;
        wire_result got = wire_receive(p->process.socket, ret_frame);
        p->garbage = got == WIRE_GARBAGE;
        if (got != WIRE_GOT)
            return false;
        if (ret_frame->kind == kind)
            return true;
        bool fits = take_frame(p, r, ret_frame);
        wire_frame_clear(ret_frame);
        if (!fits) {
            p->garbage = true;
            return false;
        }
    }
}

/* ---------------------------------------------------------------- its death */

static char *how_it_died(const peer *p, const run *r, const spawn_end *end, const char *when) {
    int number = WTERMSIG(end->status);
    if (was_killed(p) && p->limit_ns != 0)
        return g_strdup_printf("did not end `%s` within its time limit", when);
    if (was_killed(p))
        return g_strdup_printf("did not stop within 5 s of %s: its process was killed",
                               run_asked(r) == ASK_USER ? "being interrupted" : "its time limit");
    if (end->forced)
        return g_strdup_printf("broke its connection to the host in `%s`, as when it writes to "
                               "descriptors that are not its own",
                               when);
    if (WIFSIGNALED(end->status))
        return g_strdup_printf("died of SIG%s (%s) in `%s`%s", sigabbrev_np(number),
                               strsignal(number), when,
                               number == SIGKILL ? ", as when the system's memory runs out" : "");
    return g_strdup_printf("ended its process in `%s` with exit code %d, as exit() does", when,
                           WEXITSTATUS(end->status));
}

/* What the process said that it was doing; it may have written anything there. */
static char *what_it_did(const peer *p, const run *r) {
    char doing[PAGE_DOING + 1] = "";
    memcpy(doing, p->process.page->doing, PAGE_DOING);
    return *doing != '\0' ? g_utf8_make_valid(doing, -1) : g_strdup(r->note);
}

static char *memory_words(const run *r, uint64_t bytes) {
    if (r->plan->memory_bytes == 0)
        return g_strdup("");
    g_autofree char *limit = units_format(UNITS_BYTES, r->plan->memory_bytes);
    return g_strdup_printf("; it may use run.memory = %s, and %" G_GUINT64_FORMAT
                           " MiB of it were in use at most",
                           limit, bytes >> 20);
}

/* Ends what is left of the process, and records why it went. */
static mill_status lose(run *r, const char *when) {
    peer *p = r->instance->peer;
    stop_lending(p, r);
    pthread_mutex_lock(&r->engine->lock);
    r->peer = NULL;
    pthread_mutex_unlock(&r->engine->lock);
    spawn_end end = spawn_reap(&p->process, p->garbage ? GARBAGE_MS : DEATH_MS);
    g_autofree char *doing = what_it_did(p, r), *how = how_it_died(p, r, &end, when);
    g_autofree char *words = spawn_last_words(&p->process), *memory = memory_words(r, end.bytes);
    mill_status result = !was_killed(p)             ? MILL_E_PLUGIN
                         : run_asked(r) == ASK_USER ? MILL_E_CANCELLED
                                                    : MILL_E_TIMEOUT;
    causes_addf(&r->causes, result, "%s %s%s%s%s%s", doing, how, memory,
                *words != '\0' ? "; its last words: \"" : "", words, *words != '\0' ? "\"" : "");
    for (guint i = 0; r->instance->sinks != NULL && i < r->instance->sinks->len; i++)
        sink_taint(g_ptr_array_index(r->instance->sinks, i));
    peer_sent_finish(&p->sent);
    spawn_finish(&p->process);
    g_free(p);
    r->instance->peer = NULL;
    return result;
}

/* ---------------------------------------------------------------- its life */

/* Watched from now on: it may be asked to end, and killed. */
static void attend(run *r) {
    pthread_mutex_lock(&r->engine->lock);
    r->peer = r->instance->peer;
    peer_ask(r->peer, r->asked);
    r->peer->process.page->doing[0] = '\0';
    pthread_mutex_unlock(&r->engine->lock);
}

static void turn_away(run *r) {
    pthread_mutex_lock(&r->engine->lock);
    r->peer = NULL;
    pthread_mutex_unlock(&r->engine->lock);
}

static mill_status begin(run *r, int64_t limit_ns) {
    peer *p = g_new0(peer, 1);
    p->limit_ns = limit_ns;
    int error = spawn(&p->process);
    if (error != 0) {
        g_free(p);
        causes_addf(&r->causes, MILL_E_IO, "cannot start a process for the stage: %s",
                    g_strerror(error));
        return MILL_E_IO;
    }
    peer_sent_init(&p->sent);
    r->instance->peer = p;
    attend(r);
    wire_frame frame;
    if (!peer_send_hello(p->process.socket, r, p->process.page_file) ||
        !serve_until(p, r, WIRE_READY, &frame))
        return lose(r, "loading");
    wire_reader body = wire_read(frame.body);
    const char *why = wire_get_text(&body);
    mill_status status = why == NULL ? MILL_OK : MILL_E_PLUGIN;
    if (why != NULL)
        causes_addf(&r->causes, MILL_E_PLUGIN, "%s was not loaded in a process of its own: %s",
                    r->plan->cls->module->path, why);
    wire_frame_clear(&frame);
    if (why != NULL) {
        turn_away(r);
        peer_end(r);
    }
    return status;
}

static void set_deadline(run *r, int64_t deadline_ns, bool forgive) {
    pthread_mutex_lock(&r->engine->lock);
    r->deadline_ns = deadline_ns;
    if (forgive && r->asked == ASK_RUN_LIMIT)
        r->asked = ASK_NOTHING;
    pthread_mutex_unlock(&r->engine->lock);
}

/* A time limit of its own: that of the run is for what the stage does. */
mill_status peer_begin(run *r) {
    set_deadline(r, now_ns() + START_NS, false);
    mill_status status = begin(r, 0);
    if (status == MILL_E_TIMEOUT && run_asked(r) == ASK_RUN_LIMIT)
        causes_addf(&r->causes, status, "its process had not loaded the module within %d s",
                    (int)(START_NS / 1000000000));
    set_deadline(r, 0, status == MILL_OK);
    return status;
}

mill_status peer_call(run *r, callback what) {
    peer *p = r->instance->peer;
    attend(r);
    mill_status status =
        what == CALLBACK_RUN ? peer_send_inputs(p->process.socket, r, &p->sent) : MILL_OK;
    if (status != MILL_OK) { /* a value can't be saved: the process has heard of nothing */
        turn_away(r);
        return status;
    }
    wire_frame frame;
    if (!peer_send_call(p->process.socket, r, what, !r->away) ||
        !serve_until(p, r, WIRE_RETURN, &frame))
        return lose(r, callback_names[what]);
    r->away = true;
    wire_reader body = wire_read(frame.body);
    bool fits = take_return(r, &body, &status);
    wire_frame_clear(&frame);
    stop_lending(p, r);
    spawn_listen(&p->process);
    if (!fits) {
        p->garbage = true;
        return lose(r, callback_names[what]);
    }
    turn_away(r);
    return status;
}

mill_status peer_end(run *r) {
    peer *p = r->instance->peer;
    if (p == NULL)
        return MILL_OK;
    wire_send(p->process.socket, WIRE_BYE, NULL, -1);
    spawn_end end = spawn_reap(&p->process, BYE_MS);
    mill_status result = MILL_OK;
    if (end.status != 0 && run_asked(r) == ASK_NOTHING) {
        g_autofree char *doing = what_it_did(p, r);
        g_autofree char *how = how_it_died(p, r, &end, "fini");
        causes_addf(&r->causes, MILL_E_PLUGIN, "%s %s", doing, how);
        result = MILL_E_PLUGIN;
    }
    peer_sent_finish(&p->sent);
    spawn_finish(&p->process);
    g_free(p);
    r->instance->peer = NULL;
    return result;
}

mill_status peer_check(run *r, unsigned seconds, bool *ret_lost) {
    mill_status status = begin(r, now_ns() + (int64_t)seconds * 1000000000);
    if (status == MILL_OK)
        status = peer_call(r, CALLBACK_CHECK);
    *ret_lost = status != MILL_OK && r->instance->peer == NULL;
    mill_status ended = peer_end(r);
    if (ended == MILL_OK)
        return status;
    *ret_lost = true;
    return ended;
}
