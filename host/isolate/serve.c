/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a stage's instance, seen from inside: takes calls, and answers with what came of
 * them. */
#include "isolate/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/crash.h"
#include "engine/transfer.h"
#include "isolate/page.h"
#include "isolate/parts.h"
#include "isolate/served.h"
#include "isolate/spawn.h"
#include "module/load.h"

/* ---------------------------------------------------------------- frames */

void served_send(served *s, wire_kind kind, GByteArray *body, int fd) {
    pthread_mutex_lock(&s->sending);
    bool ok = wire_send(s->socket, kind, body, fd);
    pthread_mutex_unlock(&s->sending);
    if (!ok)
        _exit(EXIT_FAILURE);
}

void served_receive(served *s, wire_frame *ret_frame) {
    if (wire_receive(s->socket, ret_frame) != WIRE_GOT)
        _exit(EXIT_FAILURE); /* the host is gone, or the module has read from the socket */
}

void served_log(void *arg, const char *stage, const char *key, mill_level level, const char *text) {
    const served *s = arg;
    if (!s->ready) /* the host has loaded the module too, and heard this */
        return;
    GByteArray *body = wire_body();
    wire_put_u32(body, level);
    wire_put_u32(body, stage != NULL);
    wire_put_text(body, key);
    wire_put_text(body, text);
    served_send(arg, WIRE_LOG, body, -1);
}

/* ---------------------------------------------------------------- sinks */

/* The host's answer, with the file in ret_fd where all is well. */
static mill_status ask_for_file(served *s, const char *path, causes *why, int *ret_fd) {
    GByteArray *question = wire_body();
    wire_put_text(question, path);
    served_send(s, WIRE_SINK, question, -1);
    wire_frame answer;
    served_receive(s, &answer);
    wire_reader body = wire_read(answer.body);
    mill_status status = (mill_status)(int32_t)wire_get_u32(&body);
    parts_get_causes(&body, why);
    *ret_fd = answer.fd;
    answer.fd = -1;
    wire_frame_clear(&answer);
    return status;
}

static int ask_again(void *arg, const char *path) {
    causes why;
    causes_init(&why);
    int fd = -1;
    ask_for_file(arg, path, &why, &fd);
    causes_finish(&why);
    if (fd < 0)
        errno = EIO;
    return fd;
}

mill_status serve_sink(run *r, const char *path, sink **ret_sink) {
    served *s = r->engine->served;
    instance *in = r->instance;
    for (guint i = 0; in->sinks != NULL && i < in->sinks->len; i++) {
        *ret_sink = g_ptr_array_index(in->sinks, i);
        if (strcmp(sink_path(*ret_sink), path) == 0)
            return MILL_OK;
    }
    int fd = -1;
    mill_status status = ask_for_file(s, path, run_causes(r), &fd);
    if (status != MILL_OK)
        return status;
    if (in->sinks == NULL)
        in->sinks = g_ptr_array_new_with_free_func((GDestroyNotify)sink_destroy_on);
    *ret_sink = sink_create_on(fd, path, ask_again, s, &r->causes);
    g_ptr_array_add(in->sinks, *ret_sink);
    return MILL_OK;
}

/* What was written is in the host's files now. */
static void put_sinks(served *s, callback what, GByteArray *body) {
    GPtrArray *sinks = s->instance.sinks;
    /* Before `close` the host has ended them. */
    guint n = sinks != NULL && what != CALLBACK_CLOSE ? sinks->len : 0;
    wire_put_u32(body, n);
    for (guint i = 0; i < n; i++) {
        sink *one = g_ptr_array_index(sinks, i);
        bool dirty, tainted;
        int error;
        sink_settle_on(one, n > FEW_SINKS, &dirty, &tainted, &error);
        wire_put_text(body, sink_path(one));
        wire_put_u32(body, dirty);
        wire_put_u32(body, tainted);
        wire_put_u32(body, (uint32_t)error);
    }
}

/* ---------------------------------------------------------------- values */

static void take_value(served *s, wire_frame *frame) {
    wire_reader body = wire_read(frame->body);
    uint64_t id = wire_get_u64(&body);
    bool keep = wire_get_u32(&body) != 0;
    const char *type_id = wire_get_text(&body), *file = wire_get_text(&body);
    const mill_type *type = type_id != NULL ? served_type(s, type_id, file) : NULL;
    if (type == NULL)
        return; /* the call that names it will say so */
    value *v = transfer_value(type, frame->fd);
    frame->fd = -1;
    if (transfer_map(v)) { /* many descriptors would be too many */
        close(v->saved);
        v->saved = -1;
    }
    g_hash_table_insert(keep ? s->kept : s->once, g_memdup2(&id, sizeof id), v);
}

static value *find_value(const served *s, uint64_t id) {
    value *v = g_hash_table_lookup(s->once, &id);
    return v != NULL ? v : g_hash_table_lookup(s->kept, &id);
}

/* Sends what the callback has posted. */
static mill_status send_outputs(served *s) {
    run *r = &s->run;
    for (size_t p = 0; p < r->plan->cls->n_outputs; p++)
        for (; s->sent[p] < r->outputs[p]->len; s->sent[p]++) {
            const parcel *one = g_ptr_array_index(r->outputs[p], s->sent[p]);
            mill_status status = s->wanted[p] ? transfer_save(r, one->value) : MILL_OK;
            if (status != MILL_OK) {
                causes_addf(&r->causes, status, "cannot send the %s to the host", one->type);
                return status;
            }
            GByteArray *body = wire_body();
            wire_put_u32(body, (uint32_t)p);
            wire_put_text(body, one->key);
            served_send(s, WIRE_OUTPUT, body, one->value->saved);
            if (one->value->saved >= 0)
                close(one->value->saved);
            one->value->saved = -1;
        }
    return MILL_OK;
}

/* ---------------------------------------------------------------- tasks */

static void end_task(served *s) {
    if (s->task == NULL)
        return;
    run_finish(&s->run);
    g_clear_pointer(&s->task, task_destroy);
    g_ptr_array_set_size(s->calls, 0);
    g_hash_table_remove_all(s->once);
}

static void begin_task(served *s, const char *key) {
    end_task(s);
    s->task = task_create(TASK_RUN, &s->estage, &s->cell, key);
    s->task->instance = &s->instance;
    memset(s->sent, 0, sizeof *s->sent * s->stage.cls->n_outputs);
    run_init(&s->run, &s->engine, &s->stage, &s->estage, s->task);
    s->run.page = s->page;
}

/* False: a value did not come, since nobody describes its type. */
static bool get_items(served *s, size_t port, wire_reader *body) {
    bool all = true;
    for (uint32_t n = wire_get_u32(body); n > 0 && !body->bad; n--) {
        value *v = find_value(s, wire_get_u64(body));
        bound b = {.stage = wire_get_text(body), .key = wire_get_text(body)};
        b.type = wire_get_text(body);
        if (v == NULL) {
            causes_addf(&s->run.causes, MILL_E_PLUGIN,
                        "no module describes the %s from [%s] in the process of the stage",
                        b.type != NULL ? b.type : "value", b.stage != NULL ? b.stage : "");
            all = false;
            continue;
        }
        b.value = value_ref(v);
        g_array_append_val(s->task->ports[port], b);
    }
    return all;
}

static bool get_inputs(served *s, wire_reader *body) {
    bool all = true;
    for (size_t p = 0; p < s->stage.cls->n_inputs; p++) {
        all &= get_items(s, p, body);
        GArray *missing = s->task->missing[p];
        g_array_set_size(missing, 0);
        for (uint32_t n = wire_get_u32(body); n > 0 && !body->bad; n--) {
            lost one = {.stage = wire_get_text(body)};
            one.key = wire_get_text(body);
            g_array_append_val(missing, one);
        }
    }
    return all;
}

/* ---------------------------------------------------------------- calls */

static mill_status perform_call(served *s, callback what) {
    run *r = &s->run;
    mill_status status = callback_call(r, what);
    if (what == CALLBACK_OPEN)
        s->instance.usable = status >= MILL_OK;
    if (status >= MILL_OK) {
        const char *before = crash_note(r->note);
        mill_status sent = send_outputs(s);
        crash_note(before);
        status = sent < MILL_OK ? sent : status;
    }
    return status;
}

static GByteArray *result(served *s, callback what, mill_status status) {
    run *r = &s->run;
    GByteArray *body = wire_body();
    wire_put_u32(body, (uint32_t)status);
    wire_put_u32(body, r->contract_broken);
    wire_put_u64(body, r->bytes);
    parts_put_causes(body, &r->causes);
    put_sinks(s, what, body);
    causes_clear(&r->causes);
    return body;
}

static void answer(served *s, callback what, mill_status status) {
    GByteArray *body = result(s, what, status);
    /* Before the answer: where a value's `free` crashes, this task is the one that failed. */
    bool ends_run = what == CALLBACK_RUN && stage_sinks_per_run(s->run.plan);
    if (ends_run && s->instance.sinks != NULL)
        g_ptr_array_set_size(s->instance.sinks, 0);
    if (what == CALLBACK_CLOSE)
        callback_release(&s->run);
    if (what == CALLBACK_CLOSE || (what == CALLBACK_RUN && (s->stage.keyed || s->stage.stream)))
        end_task(s);
    served_send(s, WIRE_RETURN, body, -1);
}

/* Of no instance: most services refuse. */
static void answer_check(served *s) {
    run_init(&s->run, NULL, &s->stage, NULL, NULL);
    mill_status status = callback_call(&s->run, CALLBACK_CHECK);
    GByteArray *body = result(s, CALLBACK_CHECK, status);
    run_finish(&s->run);
    served_send(s, WIRE_RETURN, body, -1);
}

static void take_call(served *s, wire_frame *frame) {
    wire_reader body = wire_read(frame->body);
    callback what = (callback)wire_get_u32(&body);
    bool fresh = wire_get_u32(&body) != 0, may_output = wire_get_u32(&body) != 0;
    const char *key = wire_get_text(&body), *path = wire_get_text(&body);
    if (what == CALLBACK_CHECK) {
        answer_check(s);
        return;
    }
    if (fresh || s->task == NULL)
        begin_task(s, key != NULL ? key : "");
    g_free(s->file.path);
    s->file.path = g_strdup(path != NULL ? path : "");
    __atomic_store_n(&s->page->done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&s->page->total, 0, __ATOMIC_RELAXED);
    g_ptr_array_add(s->calls, g_byte_array_ref(frame->body));
    bool all = get_inputs(s, &body);
    if (!wire_done(&body) || what > CALLBACK_CLOSE)
        _exit(EXIT_FAILURE);
    s->run.may_output = may_output;
    mill_status status = all ? perform_call(s, what) : MILL_E_PLUGIN;
    s->run.may_output = false;
    answer(s, what, status);
}

/* ---------------------------------------------------------------- the process */

bool serve_requested(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], SPAWN_ARG) == 0;
}

/* A fatal signal shall be seen by the host as what it is; those from a terminal are the host's
 * business. */
static void set_signals(void) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < G_N_ELEMENTS(fatal); i++)
        signal(fatal[i], SIG_DFL);
    for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++)
        signal(ignored[i], SIG_IGN);
}

static G_GNUC_NORETURN void end(served *s) {
    for (guint i = s->modules->len; i-- > 0;) {
        module *m = g_ptr_array_index(s->modules, i);
        g_autofree char *note = g_strdup_printf("`fini` of module %s", m->path);
        const char *before = crash_note(note);
        if (m->exports != NULL)
            load_fini(m);
        crash_note(before);
    }
    _exit(EXIT_SUCCESS); /* the modules' destructors and GLib's are no part of it */
}

static G_GNUC_NORETURN void serve(served *s) {
    wire_frame frame;
    served_receive(s, &frame);
    g_autofree char *why = served_setup(s, &frame);
    wire_frame_clear(&frame);
    GByteArray *body = wire_body();
    wire_put_text(body, why);
    s->ready = true;
    served_send(s, WIRE_READY, body, -1);
    for (;;) {
        served_receive(s, &frame);
        if (frame.kind == WIRE_BYE)
            end(s);
        if (frame.kind == WIRE_VALUE)
            take_value(s, &frame);
        else if (frame.kind == WIRE_CALL)
            take_call(s, &frame);
        else
            _exit(EXIT_FAILURE);
        wire_frame_clear(&frame);
    }
}

int serve_main(int argc, char **argv) {
    guint64 number = 0;
    if (argc != 3 || !g_ascii_string_to_unsigned(argv[2], 10, 3, 1 << 20, &number, NULL) ||
        fcntl((int)number, F_SETFD, FD_CLOEXEC) != 0) {
        fprintf(stderr, "tracemill: %s is what the program starts itself with\n", SPAWN_ARG);
        return 64;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    set_signals();
    static served s;
    s.socket = (int)number;
    pthread_mutex_init(&s.sending, NULL);
    s.modules = g_ptr_array_new();
    s.calls = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    s.kept =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)value_unref);
    s.once =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)value_unref);
    serve(&s);
}
