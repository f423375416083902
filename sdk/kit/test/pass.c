/* SPDX-License-Identifier: Apache-2.0 */
/* One life of an instance: check, open, run for each item, finish, close, and after each callback
 * whether it kept the contract. */
#include "private.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define READ_WRITE (PROT_READ | PROT_WRITE)

/* A report that was made of an input. */
struct converted {
    const kt_given *from;
    const mill_report *report;
    struct converted *next;
};

const mill_report *kt_pass_converted(const kt_pass *p, const kt_given *g) {
    for (const struct converted *c = p->converted; c; c = c->next)
        if (c->from == g)
            return c->report;
    return NULL;
}

mill_status kt_pass_blame(kt_pass *p, const char *format, ...) {
    char words[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    pthread_mutex_lock(&p->lock);
    p->blamed = true;
    if (!p->plan.quiet) {
        const char *key = p->item ? p->item->key : "";
        kt_breach(p->test, "%s%s%s%s%s%s: %s", p->callback ? "`" : "",
                  p->callback ? p->callback : "a service", p->callback ? "`" : "",
                  *key ? " of item " : "", key, p->plan.what, words);
    }
    pthread_mutex_unlock(&p->lock);
    return MILL_E_PLUGIN;
}

/* ---------------------------------------------------------------- inputs */

typedef void (*given_fn)(kt_pass *p, const kt_given *g, int protection);

static void each_given(kt_pass *p, const kt_item *list, given_fn fn, int protection) {
    for (size_t i = 0; list && i < list->n_inputs; i++)
        if (list->inputs[i].data)
            fn(p, &list->inputs[i], protection);
}

static void protect(kt_pass *p, const kt_given *g, int protection) {
    kt_watched *w = kt_watched_at(g->data);
    bool kept = false;
    for (const kt_held *h = p->held; protection == PROT_NONE && h; h = h->next)
        kept |= h->data == g->data;
    if (w && !kept)
        kt_watched_protect(w, protection);
}

static void protect_all(kt_pass *p, int protection) {
    each_given(p, &p->test->common, protect, protection);
    for (size_t i = 0; i < p->test->n_items; i++)
        each_given(p, &p->test->items[i], protect, protection);
}

const mill_report *kt_pass_to_report(kt_pass *p, const mill_type *type, const void *data) {
    mill_report *report = NULL;
    if (!type || !type->to_report)
        kt_mistake("there is no way to make a report of the value: its type%s%s has no to_report",
                   type ? " " : "", type ? type->id : "");
    mill_status status = type->to_report(&p->run, data, &report);
    if (status < MILL_OK && status != MILL_E_CANCELLED && p->causes.n == 0)
        kt_pass_blame(p, "`to_report` of %s failed and gave no cause", type->id);
    kt_value *v = status >= MILL_OK ? kt_pass_value(p, report) : NULL;
    if (v && v->memory && report->size >= sizeof *report) {
        v->posted = true;
        return report;
    }
    if (status >= MILL_OK)
        kt_pass_blame(p, "`to_report` of %s made no report", type->id);
    return NULL;
}

static void convert(kt_pass *p, const kt_given *g, int protection) {
    const mill_port *port = kt_port(p->test->stage, p->test->stage->inputs, g->port);
    (void)protection;
    if (strcmp(port->type, MILL_TYPE_REPORT) != 0 || strcmp(g->type, MILL_TYPE_REPORT) == 0)
        return;
    struct converted *c = kt_alloc(sizeof *c);
    *c = (struct converted){g, NULL, p->converted};
    p->converted = c;
    c->report = kt_pass_to_report(p, kt_type(p->test, g->type), g->data);
}

static void forget_converted(kt_pass *p) {
    for (struct converted *next; p->converted; p->converted = next) {
        next = p->converted->next;
        free(p->converted);
    }
}

/* ---------------------------------------------------------------- after a callback */

/* Tells how memory was used that may not be: `write` where it may be read, else `use`. */
static void tell_misuse(kt_pass *p, kt_watched *w, const char *write, const char *use,
                        const char *whose) {
    bool wrote;
    size_t offset, block;
    if (w && kt_watched_misuse(w, &wrote, &offset, &block))
        kt_pass_blame(p, "%s%s (byte %zu of a block of %zu)", wrote ? write : use, whose, offset,
                      block);
}

static void tell_input(kt_pass *p, const kt_given *g, int protection) {
    char whose[300];
    const mill_port *port = kt_port(p->test->stage, p->test->stage->inputs, g->port);
    (void)protection;
    snprintf(whose, sizeof whose, "input \"%s\"", port->name);
    tell_misuse(p, kt_watched_at(g->data), "writes to its ",
                "uses, without `hold`, what it was lent in another callback: ", whose);
}

static void tell_all_misuse(kt_pass *p) {
    each_given(p, &p->test->common, tell_input, 0);
    for (size_t i = 0; i < p->test->n_items; i++)
        each_given(p, &p->test->items[i], tell_input, 0);
    for (size_t i = 0; i < p->n_outputs; i++) {
        char whose[300];
        const mill_port *port =
            kt_port(p->test->stage, p->test->stage->outputs, p->outputs[i].port);
        snprintf(whose, sizeof whose, "output \"%s\"", port->name);
        tell_misuse(p, p->outputs[i].v->memory, "changes what it has posted on ",
                    "uses what it posted in an earlier callback on ", whose);
    }
    for (size_t i = 0; i < p->n_scratch; i++)
        tell_misuse(p, p->scratch[i], "", "uses scratch memory of an earlier callback", "");
    for (kt_source *s = p->sources; s; s = s->next)
        tell_misuse(p, s->memory, "writes to a file's bytes from `source_map`",
                    "uses a file's bytes from `source_map` of an earlier callback", "");
    tell_misuse(p, p->opts_memory, "writes to its options", "uses its options after they ended",
                "");
}

/* Takes back what was lent to the callback. */
static void take_back(kt_pass *p) {
    size_t block;
    if (p->n_scratch > 0) {
        kt_watched *w = p->scratch[p->n_scratch - 1];
        if (kt_watched_overrun(w, &block))
            kt_pass_blame(p, "wrote behind the end of a block of %zu bytes of scratch memory",
                          block);
        kt_watched_forget(w);
        kt_watched_protect(w, PROT_NONE);
        p->scratch = kt_grow(p->scratch, p->n_scratch, sizeof *p->scratch);
        p->scratch[p->n_scratch++] = kt_watched_create();
    }
    for (kt_source *s = p->sources; s; s = s->next)
        kt_watched_protect(s->memory, PROT_NONE);
    for (size_t i = 0; i < p->n_outputs; i++)
        if (p->outputs[i].v->memory)
            kt_watched_protect(p->outputs[i].v->memory, PROT_NONE);
    forget_converted(p);
    protect_all(p, PROT_NONE);
}

/* Threads of this process. */
static size_t count_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    size_t n = 0;
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

/* A thread that was joined may still be listed for a moment. */
static bool has_more_threads(size_t before) {
    for (int i = 0; i < 200; i++) {
        if (count_threads() <= before)
            return false;
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    }
    return true;
}

static bool is_asked(const kt_pass *p) {
    return p->plan.cancel_at > 0 && p->cancel_calls >= p->plan.cancel_at;
}

static mill_status judge(kt_pass *p, mill_status status) {
    if (p->blamed)
        return MILL_E_PLUGIN;
    if (status < MILL_E_CANCELLED || status > MILL_GATE)
        return kt_pass_blame(p, "returns %d, which is no status", (int)status);
    if (status == MILL_E_CANCELLED && !is_asked(p))
        return kt_pass_blame(p, "returns MILL_E_CANCELLED, though nobody asked it to end");
    if (status < MILL_OK && status != MILL_E_CANCELLED && p->causes.n == 0)
        return kt_pass_blame(p, "fails with %s and gives no cause (use mill_fail)",
                             kt_status_name(status));
    if (status < MILL_OK && status != MILL_E_CANCELLED && is_asked(p))
        return kt_pass_blame(p, "returns %s when it is cancelled, not MILL_E_CANCELLED: %s",
                             kt_status_name(status), kt_text_of(&p->causes));
    return status;
}

/* What a callback overcame is no cause. */
static void keep_causes(kt_pass *p, mill_status status) {
    if (status != MILL_OK && p->kept.n == 0) {
        p->kept = p->causes;
        p->causes = (kt_text){0};
    }
    kt_text_clear(&p->causes);
}

static void tell_printed(kt_pass *p) {
    char words[100];
    if (!kt_output_release(words, sizeof words))
        return;
    words[strcspn(words, "\n")] = '\0';
    kt_pass_blame(
        p, "prints to standard output, which is for results (sink_open, mill_log): \"%s\"", words);
}

static mill_status leave(kt_pass *p, mill_status status) {
    kt_watched_scene(NULL);
    tell_printed(p);
    tell_all_misuse(p);
    status = judge(p, status);
    take_back(p);
    for (kt_sink *s = p->sinks; s; s = s->next) {
        s->spoiled |= s->used && status < MILL_OK;
        s->used = false;
    }
    if (p->status == MILL_OK || (p->status == MILL_GATE && status < MILL_OK))
        p->status = status;
    keep_causes(p, status);
    p->left = kt_grow(p->left, p->n_left, sizeof *p->left);
    p->left[p->n_left++] = p->cancel_calls;
    p->callback = NULL;
    p->may_output = p->has_inputs = false;
    return status;
}

/* ---------------------------------------------------------------- the callbacks */

static void enter(kt_pass *p, const char *name) {
    snprintf(p->scene, sizeof p->scene, "`%s` of %s%s%s%s", name, p->test->stage->name,
             p->item && *p->item->key ? ", item " : "", p->item ? p->item->key : "", p->plan.what);
    kt_output_catch();
    kt_watched_scene(p->scene);
    p->callback = name;
    p->thread = pthread_self();
}

typedef mill_status (*callback_fn)(mill_run *, const void *, void *);

static mill_status call(kt_pass *p, const char *name, callback_fn fn, const void *opts) {
    if (!fn)
        return MILL_OK;
    size_t threads = count_threads();
    enter(p, name);
    mill_status status = fn(&p->run, opts, p->state ? kt_watched_root(p->state) : NULL);
    if (has_more_threads(threads))
        kt_pass_blame(p, "leaves a thread that still runs");
    return leave(p, status);
}

/* The options of this run: the file of a GLOB option, ${item} replaced. */
static const void *item_options(kt_pass *p) {
    size_t size = p->test->stage->options_size;
    char *opts = kt_watched_alloc(p->opts_memory, size);
    const mill_option *o;
    if (size > 0)
        memcpy(opts, p->opts, size);
    for (size_t i = 0; (o = kt_option(p->test->stage, i)); i++) {
        const char **field = (const char **)(void *)(opts + o->offset);
        if (o->flags & MILL_OPT_GLOB && p->item && p->item->path)
            *field = p->item->path;
        else if (o->flags & MILL_OPT_ITEM && o->type != MILL_OPT_LIST && *field)
            *field = kt_option_for_item(*field, p->item ? p->item->key : "", p->opts_memory);
    }
    return opts;
}

/* Each required output has its value: of this item, or of all of the life where SIZE_MAX. */
static void check_outputs(kt_pass *p, size_t item, const char *callback) {
    const mill_port *port;
    if (p->status < MILL_OK)
        return;
    for (uint32_t i = 0; (port = kt_port(p->test->stage, p->test->stage->outputs, i)); i++) {
        bool posted = port->flags & (MILL_PORT_OPTIONAL | MILL_PORT_ITEMS);
        for (size_t k = 0; k < p->n_outputs; k++)
            posted |= p->outputs[k].port == i && (item == SIZE_MAX || p->outputs[k].item == item);
        p->callback = callback;
        if (!posted)
            p->status =
                kt_pass_blame(p, "ends well, but nothing was posted on output \"%s\"", port->name);
        p->callback = NULL;
    }
}

static mill_status run_item(kt_pass *p, size_t at) {
    static const kt_item only = {.key = (char *)""};
    p->item = p->test->n_items > 0 ? &p->test->items[at] : &only;
    p->at = at;
    kt_watched_protect(p->opts_memory, READ_WRITE);
    const void *opts = item_options(p);
    kt_watched_protect(p->opts_memory, PROT_READ);
    each_given(p, &p->test->common, protect, PROT_READ);
    each_given(p, p->item, protect, PROT_READ);
    p->has_inputs = true;
    enter(p, "to_report");
    each_given(p, &p->test->common, convert, 0);
    each_given(p, p->item, convert, 0);
    kt_watched_scene(NULL);
    tell_printed(p);
    p->may_output = !kt_takes(p->test, MILL_PORT_STREAM);
    mill_status status = p->blamed || p->causes.n > 0 ? leave(p, MILL_E_DATA)
                                                      : call(p, "run", p->test->stage->run, opts);
    if (status >= MILL_OK && kt_is_keyed(p->test))
        check_outputs(p, at, "run");
    p->item = NULL;
    p->at = SIZE_MAX;
    return status;
}

/* All items. True if the instance may still finish. */
static bool run_items(kt_pass *p) {
    size_t n = p->plan.order ? p->plan.n_order : p->test->n_items;
    bool each = kt_is_keyed(p->test);
    for (size_t i = 0; i < (n > 0 ? n : 1); i++) {
        mill_status status = run_item(p, p->plan.order ? p->plan.order[i] : i);
        if (is_asked(p) || (status < MILL_OK && !each))
            return false;
    }
    return !is_asked(p);
}

static void tell_ends(kt_pass *p) {
    size_t block;
    bool left = false;
    for (kt_value *v = p->values; v; v = v->next) {
        if (v->memory && !v->posted && kt_watched_overrun(v->memory, &block))
            kt_pass_blame(p, "wrote behind the end of a block of %zu bytes from value_alloc",
                          block);
        left |= v->callback && !v->posted;
    }
    if (left && p->status >= MILL_OK && p->plan.cancel_at == 0)
        kt_pass_blame(p, "began a value that it never posted");
    if (p->state && kt_watched_overrun(p->state, &block))
        kt_pass_blame(p, "wrote behind the end of its state of %zu bytes", block);
}

static void end_life(kt_pass *p, bool whole) {
    const mill_stage *stage = p->test->stage;
    if (whole) {
        p->may_output = !kt_is_keyed(p->test);
        call(p, "finish", stage->finish, p->opts);
        p->may_output = false;
        if (!kt_is_keyed(p->test))
            check_outputs(p, SIZE_MAX, stage->finish ? "finish" : "run");
    }
    if (stage->close) {
        enter(p, "close");
        stage->close(&p->run, kt_watched_root(p->state));
        leave(p, MILL_OK);
    }
    p->callback = "close";
    tell_ends(p);
    p->callback = NULL;
    if (p->blamed)
        p->status = MILL_E_PLUGIN;
}

/* ---------------------------------------------------------------- options */

static bool set_option(kt_pass *p, const mill_option *o, const char *s, kt_text *wrong) {
    return kt_option_set(o, s, p->test->data_dir, p->opts_memory, p->opts, wrong);
}

/* False, with a cause: a user could not write this. */
static bool set_options(kt_pass *p) {
    const mill_option *o;
    kt_text wrong = {0};
    p->opts_memory = kt_watched_create();
    p->opts = kt_watched_alloc(p->opts_memory, p->test->stage->options_size);
    for (size_t i = 0; (o = kt_option(p->test->stage, i)); i++) {
        bool given = false;
        for (size_t k = 0; k < p->test->n_settings; k++)
            if (strcmp(p->test->settings[k].name, o->name) == 0) {
                given = true;
                set_option(p, o, p->test->settings[k].value, &wrong);
            }
        if (!given && o->flags & MILL_OPT_GLOB && kt_first_file(p->test)) {
            given = true;
            set_option(p, o, kt_first_file(p->test), &wrong);
        }
        if (!given && o->def && !set_option(p, o, o->def, &wrong))
            kt_mistake("the default of option %s", kt_text_of(&wrong));
        if (!given && o->flags & MILL_OPT_REQUIRED)
            kt_text_addf(&wrong, "%s%s is required", wrong.n > 0 ? "; " : "", o->name);
    }
    kt_watched_protect(p->opts_memory, PROT_READ);
    bool good = wrong.n == 0;
    if (!good)
        mill_fail(&p->run, MILL_E_CONFIG, "%s", kt_text_of(&wrong));
    kt_text_clear(&wrong);
    return good;
}

/* ---------------------------------------------------------------- a life */

kt_pass *kt_pass_create(kit_test *t, const kt_plan *how) {
    pthread_mutexattr_t again;
    kt_pass *p = kt_alloc(sizeof *p);
    p->run.host = &kt_host;
    p->test = t;
    p->plan = *how;
    p->at = SIZE_MAX;
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&p->lock, &again);
    pthread_mutexattr_destroy(&again);
    return p;
}

void kt_pass_destroy(kt_pass *p) {
    if (!p)
        return;
    for (size_t i = 0; i < p->n_outputs; i++) {
        free(p->outputs[i].key);
        free(p->outputs[i].sub_key);
    }
    free(p->outputs);
    free(p->left);
    for (kt_value *next; p->values; p->values = next) {
        next = p->values->next;
        kt_value_destroy(p->values);
    }
    for (size_t i = 0; i < p->n_scratch; i++)
        kt_watched_destroy(p->scratch[i]);
    free(p->scratch);
    for (kt_held *next; p->held; p->held = next) {
        next = p->held->next;
        free(p->held);
    }
    forget_converted(p);
    kt_sinks_destroy(p->sinks);
    kt_sources_destroy(p->sources);
    kt_regexes_destroy(p->regexes);
    kt_watched_destroy(p->state);
    kt_watched_destroy(p->opts_memory);
    kt_text_clear(&p->causes);
    kt_text_clear(&p->kept);
    kt_text_clear(&p->log);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static mill_status check(kt_pass *p) {
    mill_status (*fn)(mill_run *, const void *) = p->test->stage->check;
    if (!fn)
        return MILL_OK;
    enter(p, "check");
    return leave(p, fn(&p->run, p->opts));
}

void kt_pass_perform(kt_pass *p) {
    if (!set_options(p)) {
        p->status = MILL_E_CONFIG;
        keep_causes(p, p->status);
        return;
    }
    protect_all(p, PROT_NONE);
    if (check(p) >= MILL_OK) {
        p->state = kt_watched_create();
        kt_watched_alloc(p->state, p->test->stage->state_size);
        bool open = call(p, "open", p->test->stage->open, p->opts) >= MILL_OK;
        end_life(p, open && !is_asked(p) && run_items(p));
    }
    kt_regexes_destroy(p->regexes);
    p->regexes = NULL;
    protect_all(p, READ_WRITE);
    for (size_t i = 0; i < p->n_outputs; i++)
        if (p->outputs[i].v->memory)
            kt_watched_protect(p->outputs[i].v->memory, PROT_READ);
}
