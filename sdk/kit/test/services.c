/* SPDX-License-Identifier: Apache-2.0 */
/* The services of the test harness but files and expressions: the table that a stage calls. */
#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>

static kt_pass *pass_of(mill_run *run) {
    return (kt_pass *)run;
}

kt_pass *kt_own_thread(mill_run *run, const char *service) {
    kt_pass *p = pass_of(run);
    if (!p->making && !pthread_equal(p->thread, pthread_self()))
        kt_pass_blame(p, "called `%s` from another thread than that of the callback", service);
    return p;
}

/* ---------------------------------------------------------------- messages */

static void service_log(mill_run *run, mill_level level, const char *words) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    kt_pass *p = pass_of(run);
    pthread_mutex_lock(&p->lock);
    kt_text_addf(&p->log, "%s: %s\n", level <= MILL_DEBUG ? names[level] : "?", words);
    pthread_mutex_unlock(&p->lock);
}

static void service_fail(mill_run *run, mill_status status, const char *file, uint32_t line,
                         const char *words) {
    kt_pass *p = pass_of(run);
    (void)status;
    if (!p)
        kt_mistake("`init` of the module fails: %s (%s:%u)", words, file, line);
    pthread_mutex_lock(&p->lock);
    kt_text_put_before(&p->causes, words);
    pthread_mutex_unlock(&p->lock);
}

static bool service_cancelled(mill_run *run) {
    kt_pass *p = pass_of(run);
    pthread_mutex_lock(&p->lock);
    bool asked = p->plan.cancel_at > 0 && p->cancel_calls + 1 >= p->plan.cancel_at;
    p->calls_after += asked && p->cancel_calls + 1 > p->plan.cancel_at;
    p->cancel_calls++;
    pthread_mutex_unlock(&p->lock);
    return asked;
}

static void service_progress(mill_run *run, uint64_t done, uint64_t total, const char *unit) {
    if (total > 0 && done > total)
        kt_pass_blame(pass_of(run), "told a progress of %llu of %llu %s", (unsigned long long)done,
                      (unsigned long long)total, unit);
}

static void *service_scratch(mill_run *run, size_t size) {
    kt_pass *p = pass_of(run);
    pthread_mutex_lock(&p->lock);
    if (p->n_scratch == 0) {
        p->scratch = kt_grow(p->scratch, 0, sizeof(kt_watched *));
        p->scratch[p->n_scratch++] = kt_watched_create();
    }
    void *memory = kt_watched_alloc(p->scratch[p->n_scratch - 1], size);
    pthread_mutex_unlock(&p->lock);
    return memory;
}

static bool service_option_given(mill_run *run, const char *name) {
    kt_pass *p = pass_of(run);
    const mill_option *o;
    size_t i = 0;
    if (p->making)
        return false;
    while ((o = kt_option(p->test->stage, i)) && strcmp(o->name, name) != 0)
        i++;
    if (!o)
        kt_pass_blame(p, "asked `option_given` for \"%s\", which is no option of the class", name);
    for (size_t k = 0; o && k < p->test->n_settings; k++)
        if (strcmp(p->test->settings[k].name, name) == 0)
            return true;
    return o && o->flags & MILL_OPT_GLOB && kt_first_file(p->test);
}

/* ---------------------------------------------------------------- inputs */

static const kt_given *find(const kt_item *list, uint32_t port, bool missing, size_t *i) {
    for (size_t k = 0; list && k < list->n_inputs; k++)
        if (list->inputs[k].port == port && !list->inputs[k].data == missing && (*i)-- == 0)
            return &list->inputs[k];
    return NULL;
}

/* Value i of a port in this run; or missing value i. */
static const kt_given *given_at(const kt_pass *p, uint32_t port, size_t i, bool missing) {
    if (!p->has_inputs)
        return NULL;
    const kt_given *g = find(&p->test->common, port, missing, &i);
    return g ? g : find(p->item, port, missing, &i);
}

static size_t count(const kt_pass *p, uint32_t port) {
    size_t n = 0;
    while (given_at(p, port, n, false))
        n++;
    return n;
}

static size_t service_input_count(mill_run *run, uint32_t port) {
    return count(kt_own_thread(run, "input_count"), port);
}

static const void *service_input(mill_run *run, uint32_t port, size_t i) {
    kt_pass *p = pass_of(run);
    const kt_given *g = given_at(p, port, i, false);
    if (!p->making && !kt_port(p->test->stage, p->test->stage->inputs, port))
        kt_pass_blame(p, "asks for input %u, which the class does not have (the first is 0)", port);
    const mill_report *report = g ? kt_pass_converted(p, g) : NULL;
    return report ? report : g ? g->data : NULL;
}

static const char *service_input_stage(mill_run *run, uint32_t port, size_t i) {
    const kt_given *g = given_at(kt_own_thread(run, "input_stage"), port, i, false);
    return g ? g->stage : NULL;
}

static const char *key_of(const kt_pass *p, const kt_given *g) {
    return g->key ? g->key : p->item ? p->item->key : "";
}

static const char *service_input_key(mill_run *run, uint32_t port, size_t i) {
    kt_pass *p = kt_own_thread(run, "input_key");
    const kt_given *g = given_at(p, port, i, false);
    return g ? key_of(p, g) : NULL;
}

static const char *service_input_type(mill_run *run, uint32_t port, size_t i) {
    const kt_given *g = given_at(kt_own_thread(run, "input_type"), port, i, false);
    return g ? g->type : NULL;
}

/* In `finish`, which has no inputs of its own, all that will never come. */
static const kt_given *missing_at(const kt_pass *p, uint32_t port, size_t i) {
    if (p->has_inputs || !p->callback || strcmp(p->callback, "finish") != 0)
        return given_at(p, port, i, true);
    const kt_given *g = find(&p->test->common, port, true, &i);
    for (size_t k = 0; k < p->test->n_items && !g; k++)
        g = find(&p->test->items[k], port, true, &i);
    return g;
}

static size_t service_missing(mill_run *run, uint32_t port, size_t i, const char **ret_stage,
                              const char **ret_key) {
    kt_pass *p = kt_own_thread(run, "missing");
    const kt_given *g = missing_at(p, port, i);
    size_t n = 0;
    if (g && ret_stage)
        *ret_stage = g->stage;
    if (g && ret_key)
        *ret_key = key_of(p, g);
    while (missing_at(p, port, n))
        n++;
    return n;
}

static const char *service_item_key(mill_run *run) {
    kt_pass *p = kt_own_thread(run, "item_key");
    return p->item ? p->item->key : "";
}

static mill_status service_hold(mill_run *run, const void *data) {
    kt_pass *p = kt_own_thread(run, "hold");
    for (uint32_t port = 0; !p->making && kt_port(p->test->stage, p->test->stage->inputs, port);
         port++)
        for (size_t i = 0; i < count(p, port); i++)
            if (service_input(run, port, i) == data) {
                kt_held *h = kt_alloc(sizeof *h);
                *h = (kt_held){p->held, data};
                p->held = h;
                return MILL_OK;
            }
    return kt_pass_blame(p, "holds what is no input of this run");
}

static void service_drop(mill_run *run, const void *data) {
    kt_pass *p = kt_own_thread(run, "drop");
    for (kt_held **link = &p->held; *link; link = &(*link)->next)
        if ((*link)->data == data) {
            kt_held *h = *link;
            *link = h->next;
            free(h);
            return;
        }
    kt_pass_blame(p, "drops what it does not hold");
}

/* ---------------------------------------------------------------- values */

kt_value *kt_pass_value(kt_pass *p, const void *data) {
    for (kt_value *v = p->values; v; v = v->next)
        if (v->data == data)
            return v;
    return NULL;
}

void kt_value_destroy(kt_value *v) {
    if (!v->memory && v->type && v->data)
        v->type->free(v->data);
    kt_watched_destroy(v->memory);
    free(v);
}

static kt_value *add_value(kt_pass *p, kt_watched *memory, void *data) {
    kt_value *v = kt_alloc(sizeof *v);
    *v = (kt_value){.next = p->values, .memory = memory, .data = data};
    v->callback = !p->making;
    p->values = v;
    return v;
}

static void *service_value_alloc(mill_run *run, void *root, size_t size) {
    kt_pass *p = pass_of(run);
    if (p->callback && strcmp(p->callback, "check") == 0) {
        kt_pass_blame(p, "makes a value in `check`");
        return service_scratch(run, size);
    }
    pthread_mutex_lock(&p->lock);
    kt_value *v = root ? kt_pass_value(p, root) : add_value(p, kt_watched_create(), NULL);
    bool wrong = !v || !v->memory || v->posted;
    void *memory = wrong ? NULL : kt_watched_alloc(v->memory, size);
    if (!root)
        v->data = memory;
    pthread_mutex_unlock(&p->lock);
    if (memory)
        return memory;
    if (p->making)
        kt_mistake("value_alloc is given what is no value that it began");
    kt_pass_blame(p, v ? "asks for memory of a value that it has posted"
                       : "asks for memory of what is no value that it began");
    return service_scratch(run, size);
}

static const kt_posted *find_posted(const kt_pass *p, uint32_t port, const char *sub_key,
                                    bool any) {
    for (size_t i = 0; i < p->n_outputs; i++) {
        const kt_posted *o = &p->outputs[i];
        bool same = any || (o->sub_key && sub_key ? strcmp(o->sub_key, sub_key) == 0
                                                  : o->sub_key == sub_key);
        if (o->port == port && o->item == p->at && same)
            return o;
    }
    return NULL;
}

/* Bytes of the smallest struct that is a value of a mill.* type; 0: of another one. */
static size_t least_size(const char *type) {
    static const struct {
        const char *type;
        size_t size;
    } known[] = {
        {MILL_TYPE_TRACE, sizeof(mill_trace)},
        {MILL_TYPE_REPORT, sizeof(mill_report)},
        {MILL_TYPE_ATTRIBUTION, sizeof(mill_attribution)},
        {MILL_TYPE_CHUNK_TIMES, sizeof(mill_chunk_times)},
        {MILL_TYPE_SCHEDULE, sizeof(mill_schedule)},
        {MILL_TYPE_EXPERT_LOAD, sizeof(mill_expert_load)},
        {MILL_TYPE_EXPERT_PLAN, sizeof(mill_expert_plan)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].type, type) == 0)
            return known[i].size;
    return 0;
}

/* What is wrong with the value itself, or NULL. */
static const char *misfit(const kt_pass *p, const mill_port *port, const kt_value *v,
                          const void *data) {
    const mill_type *type = kt_type(p->test, port->type);
    if (!data)
        return "NULL";
    if (v && v->posted)
        return "a value that was posted before";
    if (!v && strncmp(port->type, "mill.", 5) == 0)
        return "a value that is not from value_alloc";
    size_t least = least_size(port->type),
           has = v && v->memory ? kt_watched_root_size(v->memory) : 0;
    if (least > 0 &&
        (has < least || *(const uint32_t *)data < least || *(const uint32_t *)data > has))
        return "something else (its `size` does not fit the type)";
    if (!v && (!type || !type->free))
        return "a value that is not from value_alloc, and its type has no `free`";
    return NULL;
}

static char *item_key(const kt_pass *p, const char *sub_key) {
    kt_text key = {0};
    kt_text_addf(&key, "%s%s%s", p->item ? p->item->key : "",
                 sub_key && p->item && *p->item->key ? ":" : "", sub_key ? sub_key : "");
    return key.s;
}

/* Takes the value, whether it may be posted or not. */
static mill_status post(kt_pass *p, uint32_t at, const char *sub_key, void *data,
                        const char *wrong) {
    const mill_port *port = kt_port(p->test->stage, p->test->stage->outputs, at);
    kt_value *v = kt_pass_value(p, data);
    const char *bad = !wrong ? misfit(p, port, v, data) : NULL;
    size_t block;
    if (wrong || bad) {
        if (port)
            kt_pass_blame(p, "%s%s on output \"%s\"", wrong ? "" : "posts ", wrong ? wrong : bad,
                          port->name);
        else
            kt_pass_blame(p, "posts on output %u, which the class does not have (the first is 0)",
                          at);
        if (v && !v->posted)
            v->posted = true;
        return MILL_E_PLUGIN;
    }
    if (!v)
        v = add_value(p, NULL, data);
    v->posted = true;
    v->type = kt_type(p->test, port->type);
    if (v->memory && kt_watched_overrun(v->memory, &block))
        kt_pass_blame(p, "wrote behind the end of a block of %zu bytes from value_alloc", block);
    if (v->memory)
        kt_watched_protect(v->memory, PROT_READ);
    p->outputs = kt_grow(p->outputs, p->n_outputs, sizeof *p->outputs);
    p->outputs[p->n_outputs++] = (kt_posted){.port = at,
                                             .item = p->at,
                                             .key = item_key(p, sub_key),
                                             .sub_key = sub_key ? kt_copy(sub_key) : NULL,
                                             .v = v};
    return MILL_OK;
}

static bool has_items(const kt_pass *p, uint32_t at) {
    const mill_port *port = kt_port(p->test->stage, p->test->stage->outputs, at);
    return port && port->flags & MILL_PORT_ITEMS;
}

static mill_status service_output(mill_run *run, uint32_t port, void *data) {
    kt_pass *p = kt_own_thread(run, "output");
    const char *wrong = NULL;
    if (!kt_port(p->test->stage, p->test->stage->outputs, port))
        wrong = "posts what the class does not have";
    else if (!p->may_output)
        wrong = "posts where it may not";
    else if (has_items(p, port))
        wrong = "uses `output` where ITEMS need `emit`";
    else if (find_posted(p, port, NULL, true))
        wrong = "posts twice";
    pthread_mutex_lock(&p->lock);
    mill_status status = post(p, port, NULL, data, wrong);
    pthread_mutex_unlock(&p->lock);
    return status;
}

static bool is_sub_key(const char *s) {
    return *s && !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")];
}

static mill_status service_emit(mill_run *run, uint32_t port, const char *sub_key, void *data) {
    kt_pass *p = kt_own_thread(run, "emit");
    const char *wrong = NULL;
    if (!kt_port(p->test->stage, p->test->stage->outputs, port) || !has_items(p, port))
        wrong = "uses `emit` where there are no ITEMS";
    else if (!p->may_output)
        wrong = "emits where it may not";
    else if (sub_key && !is_sub_key(sub_key))
        wrong = "emits an item whose sub-key is not [A-Za-z0-9._-]+";
    else if (find_posted(p, port, NULL, false) || (!sub_key && find_posted(p, port, NULL, true)))
        wrong = "emits an item beside one without a sub-key";
    else if (find_posted(p, port, sub_key, false))
        wrong = "emits two items with one sub-key";
    pthread_mutex_lock(&p->lock);
    mill_status status = post(p, port, sub_key, data, wrong);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---------------------------------------------------------------- the table */

static const void *service_extension(const mill_host *host, const char *id) {
    (void)host, (void)id;
    return NULL;
}

const mill_host kt_host = {
    .size = sizeof(mill_host),
    .abi_major = MILL_ABI_MAJOR,
    .abi_minor = MILL_ABI_MINOR,
    .version = "0 (test harness)",
    .log = service_log,
    .fail = service_fail,
    .cancelled = service_cancelled,
    .progress = service_progress,
    .scratch = service_scratch,
    .option_given = service_option_given,
    .input_count = service_input_count,
    .input = service_input,
    .input_stage = service_input_stage,
    .input_key = service_input_key,
    .input_type = service_input_type,
    .missing = service_missing,
    .item_key = service_item_key,
    .output = service_output,
    .emit = service_emit,
    .hold = service_hold,
    .drop = service_drop,
    .value_alloc = service_value_alloc,
    .sink_open = kt_service_sink_open,
    .source_map = kt_service_source_map,
    .parallel = kt_service_parallel,
    .regex_new = kt_service_regex_new,
    .regex_match = kt_service_regex_match,
    .regex_group = kt_service_regex_group,
    .ini_read = kt_service_ini_read,
    .extension = service_extension,
};
