/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: its threads, its time limits and signals, what it prints, how it ends. */
#include "engine/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "config/natural.h"
#include "config/units.h"
#include "engine/crash.h"
#include "engine/state.h"
#include "isolate/peer.h"

#define TICK_NS (20 * (int64_t)1000000)
#define GRACE_NS (5 * (int64_t)1000000000) /* for a stage that was asked to end */

int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---------------------------------------------------------------- failures */

static void failure_destroy(gpointer data) {
    failure *f = data;
    g_free(f->key);
    causes_finish(&f->causes);
    g_free(f);
}

void engine_fail(engine *e, const plan_stage *stage, const char *key, mill_status status,
                 causes *why) {
    failure *f = g_new0(failure, 1);
    f->stage = stage;
    f->key = g_strdup(key);
    f->status = status;
    f->tolerated = stage != NULL && stage->optional && status == MILL_E_DATA;
    causes_init(&f->causes);
    causes_move(&f->causes, why);
    g_ptr_array_add(e->outcome->failures, f);
    if (status < MILL_OK && !f->tolerated && e->plan->stop_on_error && e->asked == ASK_NOTHING)
        e->asked = ASK_STOP;
}

void engine_fail_text(engine *e, const plan_stage *stage, const char *key, mill_status status,
                      const char *text) {
    causes why;
    causes_init(&why);
    causes_add(&why, status, NULL, 0, text);
    engine_fail(e, stage, key, status, &why);
    causes_finish(&why);
}

static gint compare_failures(gconstpointer a, gconstpointer b) {
    const failure *x = *(const failure *const *)a, *y = *(const failure *const *)b;
    int xi = x->stage != NULL ? (int)x->stage->index : -1;
    int yi = y->stage != NULL ? (int)y->stage->index : -1;
    return xi != yi ? (xi > yi) - (xi < yi) : natural_compare(x->key, y->key);
}

/* ---------------------------------------------------------------- being asked to end */

static int interrupts; /* atomic: signals come in on any thread */

/* The first asks; the second ends the process at once. */
static void on_interrupt(int number) {
    (void)number;
    if (__atomic_fetch_add(&interrupts, 1, __ATOMIC_SEQ_CST) == 0)
        return;
    sink_unlink_all();
    _exit(status_exit_code(MILL_E_CANCELLED));
}

static bool was_interrupted(void) {
    return __atomic_load_n(&interrupts, __ATOMIC_SEQ_CST) > 0;
}

static void ask_run(run *r, int what, int64_t now) {
    if (r->asked != ASK_NOTHING)
        return;
    r->asked_ns = now;
    __atomic_store_n(&r->asked, what, __ATOMIC_RELEASE);
    if (r->peer != NULL)
        peer_ask(r->peer, what);
}

static void ask_all(engine *e, int what, int64_t now, garbage *rest) {
    e->asked = what;
    for (guint i = 0; i < e->running->len; i++)
        ask_run(g_ptr_array_index(e->running, i), what, now);
    schedule_cancel(e, rest);
    pthread_cond_broadcast(&e->work);
}

/* A stage that does not end when asked can't be stopped inside this process. */
static G_GNUC_NORETURN void abandon(const run *r) {
    bool user = r->asked == ASK_USER;
    console_clear();
    fprintf(stderr, "tracemill: error: %s did not stop within 5 s of %s; the run ends here\n",
            r->note, user ? "being interrupted" : "its time limit");
    sink_unlink_all();
    _exit(status_exit_code(user ? MILL_E_CANCELLED : MILL_E_TIMEOUT));
}

static void check_limits(engine *e, int64_t began, garbage *rest) {
    int64_t now = now_ns();
    if (was_interrupted() && e->asked != ASK_USER) {
        ask_all(e, ASK_USER, now, rest);
    } else if (e->asked < ASK_LIMIT && e->options.timeout_ns > 0 &&
               now - began > e->options.timeout_ns) {
        g_autofree char *limit = units_format(UNITS_DURATION, e->options.timeout_ns);
        g_autofree char *why = g_strdup_printf("the run did not end within --timeout %s", limit);
        engine_fail_text(e, NULL, "", MILL_E_TIMEOUT, why);
        ask_all(e, ASK_LIMIT, now, rest);
    }
    for (guint i = 0; i < e->running->len; i++) {
        run *r = g_ptr_array_index(e->running, i);
        if (r->deadline_ns != 0 && now > r->deadline_ns)
            ask_run(r, ASK_RUN_LIMIT, now);
        if (r->asked == ASK_NOTHING || now - r->asked_ns <= GRACE_NS)
            continue;
        if (!r->plan->isolate)
            abandon(r);
        if (r->peer != NULL)
            peer_kill(r->peer);
    }
}

/* ---------------------------------------------------------------- standard output */

static void print_out(engine *e, const plan_stage *stage, print *p) {
    if (e->options.capture) {
        printed *kept = g_new0(printed, 1);
        kept->stage = stage;
        kept->key = g_strdup(p->key);
        kept->text = spool_text(p->out);
        g_ptr_array_add(e->outcome->printed, kept);
        return;
    }
    console_clear();
    if (e->print_failed || spool_copy(p->out, STDOUT_FILENO))
        return;
    e->print_failed = true;
    g_autofree char *why = g_strdup_printf("cannot write standard output: %s", g_strerror(errno));
    pthread_mutex_lock(&e->lock);
    engine_fail_text(e, stage, p->key, MILL_E_IO, why);
    pthread_mutex_unlock(&e->lock);
}

static bool has_ended(const estage *s) {
    return s->cells_left == 0 && s->ends_left == 0;
}

/* The next print in the order of stages, then keys, if its time has come. With the lock held. */
static print *next_print(engine *e, const plan_stage **ret_stage) {
    for (; e->print_stage < e->n_stages; e->print_stage++, e->print_cell = 0) {
        estage *s = &e->stages[e->print_stage];
        *ret_stage = s->plan;
        for (; e->print_cell < s->cells->len; e->print_cell++) {
            cell *c = g_ptr_array_index(s->cells, e->print_cell);
            if (c->state < CELL_DONE)
                return NULL;
            if (c->prints->len > 0)
                return g_ptr_array_steal_index(c->prints, c->prints->len - 1);
        }
        if (!has_ended(s))
            return NULL;
        if (s->print != NULL)
            return g_steal_pointer(&s->print);
    }
    return NULL;
}

static void print_ready(engine *e) {
    const plan_stage *stage;
    for (print *p; (p = next_print(e, &stage)) != NULL;) {
        pthread_mutex_unlock(&e->lock);
        print_out(e, stage, p);
        print_destroy(p);
        pthread_mutex_lock(&e->lock);
    }
}

/* ---------------------------------------------------------------- threads */

static bool is_over(const engine *e) {
    return e->cells_left == 0 && e->tasks_left == 0;
}

static void *work(void *arg) {
    engine *e = arg;
    crash_thread_begin();
    pthread_mutex_lock(&e->lock);
    while (!is_over(e)) {
        if (parallel_help(e))
            continue;
        task *t = schedule_next(e);
        if (t == NULL) {
            pthread_cond_wait(&e->work, &e->lock);
            continue;
        }
        pthread_mutex_unlock(&e->lock);
        perform(e, t);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    crash_thread_end();
    return NULL;
}

/* The main thread: time limits, signals, progress, and what is printed. */
static void watch(engine *e, int64_t began) {
    pthread_mutex_lock(&e->lock);
    while (!is_over(e)) {
        int64_t at = now_ns() + TICK_NS;
        struct timespec until = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
        pthread_cond_timedwait(&e->news, &e->lock, &until);
        garbage rest;
        garbage_init(&rest);
        check_limits(e, began, &rest);
        console_progress(e);
        print_ready(e);
        pthread_mutex_unlock(&e->lock);
        garbage_free(&rest, e, false);
        pthread_mutex_lock(&e->lock);
    }
    pthread_cond_broadcast(&e->work);
    pthread_mutex_unlock(&e->lock);
}

static void run_threads(engine *e, int64_t began) {
    g_autofree pthread_t *threads = g_new0(pthread_t, e->options.jobs);
    unsigned started = 0;
    /* Fewer threads than asked for are enough; none are not. */
    while (started < e->options.jobs && pthread_create(&threads[started], NULL, work, e) == 0)
        started++;
    if (started == 0)
        g_error("cannot start a thread: %s", g_strerror(errno));
    watch(e, began);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    console_clear();
    pthread_mutex_lock(&e->lock);
    print_ready(e);
    pthread_mutex_unlock(&e->lock);
}

/* ---------------------------------------------------------------- a run */

void engine_init(engine *e, const plan *p, const engine_options *options) {
    *e = (engine){.plan = p, .options = *options};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&e->work, &attributes);
    pthread_cond_init(&e->news, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&e->lock, NULL);
    e->ready = g_sequence_new(NULL);
    e->readers = g_sequence_new(NULL);
    e->running = g_ptr_array_new();
    e->written = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_queue_init(&e->parallel);
    e->outcome = g_new0(outcome, 1);
    e->outcome->failures = g_ptr_array_new_with_free_func(failure_destroy);
    e->outcome->n_stages = p->stages->len;
    e->outcome->stages = g_new0(stage_outcome, p->stages->len);
}

void engine_finish(engine *e) {
    cells_destroy(e);
    g_sequence_free(e->ready);
    g_sequence_free(e->readers);
    g_ptr_array_unref(e->running);
    g_hash_table_unref(e->written);
    pthread_cond_destroy(&e->work);
    pthread_cond_destroy(&e->news);
    pthread_mutex_destroy(&e->lock);
}

static int exit_code(const engine *e) {
    if (was_interrupted())
        return status_exit_code(MILL_E_CANCELLED);
    int code = 0;
    for (guint i = 0; i < e->outcome->failures->len; i++) {
        const failure *f = g_ptr_array_index(e->outcome->failures, i);
        if (f->status < MILL_OK && !f->tolerated)
            return status_exit_code(f->status);
        if (f->status == MILL_GATE)
            code = status_exit_code(f->status);
    }
    return code;
}

static void printed_destroy(gpointer data) {
    printed *p = data;
    g_free(p->key);
    g_free(p->text);
    g_free(p);
}

/* Every value that waits for stages in other processes is an open file. */
static void allow_many_files(const plan *p) {
    struct rlimit limit;
    for (guint i = 0; i < p->stages->len; i++) {
        if (!((const plan_stage *)g_ptr_array_index(p->stages, i))->isolate)
            continue;
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
            limit.rlim_cur = limit.rlim_max;
            setrlimit(RLIMIT_NOFILE, &limit);
        }
        return;
    }
}

outcome *engine_run(const plan *p, const engine_options *options) {
    engine e;
    int64_t began = now_ns();
    engine_init(&e, p, options);
    allow_many_files(p);
    e.outcome->printed = g_ptr_array_new_with_free_func(printed_destroy);
    console_init(options);
    crash_install();
    struct sigaction interrupt = {.sa_handler = on_interrupt}, pipe = {.sa_handler = SIG_IGN};
    struct sigaction before_int, before_term, before_hup, before_pipe;
    __atomic_store_n(&interrupts, 0, __ATOMIC_SEQ_CST);
    sigaction(SIGINT, &interrupt, &before_int);
    sigaction(SIGTERM, &interrupt, &before_term);
    sigaction(SIGHUP, NULL, &before_hup);
    if (before_hup.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &interrupt, NULL);
    sigaction(SIGPIPE, &pipe, &before_pipe); /* a reader that left is an error of write() */

    cells_build(&e);
    garbage rest;
    garbage_init(&rest);
    pthread_mutex_lock(&e.lock);
    schedule_start(&e, &rest);
    pthread_mutex_unlock(&e.lock);
    garbage_free(&rest, &e, false);
    run_threads(&e, began);

    crash_disarm();
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGTERM, &before_term, NULL);
    sigaction(SIGHUP, &before_hup, NULL);
    sigaction(SIGPIPE, &before_pipe, NULL);
    outcome *o = e.outcome;
    g_ptr_array_sort(o->failures, compare_failures);
    o->exit_code = exit_code(&e);
    o->wall_ns = now_ns() - began;
    engine_finish(&e);
    return o;
}

void outcome_destroy(outcome *o) {
    if (o == NULL)
        return;
    g_ptr_array_unref(o->failures);
    g_ptr_array_unref(o->printed);
    g_free(o->stages);
    g_free(o);
}

#define CHECK_SECONDS 10 /* a class's check does no I/O: it takes no time worth the name */

/* Where a crash ends the program. */
static mill_status check_here(run *r) {
    crash_install();
    crash_limit(CHECK_SECONDS);
    mill_status status = callback_call(r, CALLBACK_CHECK);
    crash_limit(0);
    crash_disarm();
    return status;
}

static mill_status judge_check(run *r, mill_status status) {
    if (r->contract_broken)
        return MILL_E_PLUGIN;
    if (status > MILL_OK || status < MILL_E_CANCELLED)
        return run_bug(r, "returned %d from `check`, which is no failure", (int)status);
    if (status < MILL_OK && causes_empty(&r->causes))
        return run_bug(r, "failed in `check` with %s and said no cause", status_name(status));
    return status;
}

/* In a process of its own, which needs an engine to belong to. */
static mill_status check_away(const plan *whole, const plan_stage *p, causes *ret_causes,
                              bool *ret_lost) {
    engine e;
    engine_init(&e, whole, &(engine_options){.jobs = 1, .log_level = MILL_INFO});
    e.outcome->printed = g_ptr_array_new();
    g_autofree const mill_type **types = g_new0(const mill_type *, p->cls->n_outputs + 1);
    estage s = {.engine = &e, .plan = p, .cls = &p->cls->stage, .output_types = types};
    instance in = {.stage = &s};
    run r;
    run_init(&r, &e, p, &s, NULL);
    r.instance = &in;
    mill_status status = peer_check(&r, CHECK_SECONDS, ret_lost);
    if (!*ret_lost)
        status = judge_check(&r, status);
    causes_move(ret_causes, &r.causes);
    run_finish(&r);
    outcome_destroy(e.outcome);
    engine_finish(&e);
    return status;
}

mill_status engine_check(const plan *whole, const plan_stage *p, causes *ret_causes,
                         bool *ret_lost) {
    *ret_lost = false;
    if (p->isolate)
        return check_away(whole, p, ret_causes, ret_lost);
    run r;
    run_init(&r, NULL, p, NULL, NULL);
    mill_status status = judge_check(&r, check_here(&r));
    causes_move(ret_causes, &r.causes);
    run_finish(&r);
    return status;
}
