/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose stages say what they got: each makes a text of the texts on its inputs, such as
 * "join(r1,map(r1),-)", naps, fails at chosen keys, and counts what the engine must keep bounded.
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tracemill/report.h>

#define MAX_TEXT 65536

MILL_EXPORT flow_watch flow_seen;

typedef struct options {
    const char *path, *tag;
    mill_list fail, gate, unset, subs;
    int64_t nap;
    bool open_fails, stubborn;
} options;

typedef struct state {
    int busy;
    unsigned runs;
    bool counted;
} state;

#define OPTION(NAME, FIELD, KIND, ...)                                                             \
    {                                                                                              \
        .name = NAME, .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(options, FIELD, KIND),       \
        .help = "for tests", __VA_ARGS__                                                           \
    }
#define COMMON(TAG)                                                                                \
    OPTION("tag", tag, STR, .def = TAG), OPTION("fail", fail, LIST, .elem = MILL_OPT_STR),         \
        OPTION("gate", gate, LIST, .elem = MILL_OPT_STR),                                          \
        OPTION("unset", unset, LIST, .elem = MILL_OPT_STR),                                        \
        OPTION("subs", subs, LIST, .elem = MILL_OPT_STR),                                          \
        OPTION("nap", nap, DURATION, .def = "0s"),                                                 \
        OPTION("open-fails", open_fails, BOOL, .def = "no"),                                       \
        OPTION("stubborn", stubborn, BOOL, .def = "no")
#define PORT(NAME, FLAGS)                                                                          \
    { .name = NAME, .type = FLOW_ITEM, .help = "for tests", .flags = FLAGS }

/* ---------------------------------------------------------------- counting */

static void fall(int *count) {
    __atomic_sub_fetch(count, 1, __ATOMIC_SEQ_CST);
}

static void count(int *n) {
    __atomic_add_fetch(n, 1, __ATOMIC_SEQ_CST);
}

/* Plain access on purpose: two callbacks of one instance at a time are also a race to be seen by
 * the thread sanitizer. */
static void enter(state *s) {
    if (s->busy != 0)
        count(&flow_seen.clashes);
    s->busy = 1;
}

static void leave(state *s) {
    s->busy = 0;
}

/* ---------------------------------------------------------------- what all classes do */

static bool lists(mill_list list, const char *text) {
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(((const char *const *)list.v)[i], text) == 0)
            return true;
    return false;
}

/* Up to `most`, or all of it for a stubborn one; ends when asked to, unless stubborn. */
static mill_status nap(mill_run *run, const options *o) {
    if (o->nap == 0)
        return MILL_OK;
    uint64_t x = __atomic_add_fetch(&flow_seen.seed, 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    int64_t left = o->stubborn ? o->nap : (int64_t)((x >> 20) % (uint64_t)o->nap);
    for (; left > 0; left -= 1000000) {
        struct timespec step = {.tv_nsec = left < 1000000 ? left : 1000000};
        nanosleep(&step, NULL);
        if (!o->stubborn && mill_cancelled(run))
            return MILL_E_CANCELLED;
    }
    return MILL_OK;
}

static mill_status begin(mill_run *run, const options *o) {
    flow_rise(&flow_seen.running, &flow_seen.most_running);
    mill_status status = nap(run, o);
    fall(&flow_seen.running);
    if (status == MILL_OK && lists(o->fail, mill_item_key(run)))
        status = mill_fail(run, MILL_E_DATA, "told to fail");
    return status;
}

static mill_status end(mill_run *run, const options *o) {
    return lists(o->gate, mill_item_key(run)) ? MILL_GATE : MILL_OK;
}

typedef struct text {
    char bytes[MAX_TEXT];
    size_t n;
} text;

MILL_PRINTF(2, 3)
static void add(text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->bytes + t->n, sizeof t->bytes - t->n, format, args);
    va_end(args);
    t->n += (size_t)n < sizeof t->bytes - t->n ? (size_t)n : sizeof t->bytes - t->n - 1;
}

static void add_missing(text *t, mill_run *run, uint32_t port) {
    const char *stage = "?", *key = "?";
    size_t n = run->host->missing(run, port, 0, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        run->host->missing(run, port, i, &stage, &key);
        add(t, "%s%s:%s", i > 0 ? " " : "|missing ", stage, key);
    }
}

/* "TAG(a,b)"; of a list each as STAGE:KEY=TEXT, and what is missing. */
static text *describe(mill_run *run, const options *o, uint32_t ports, bool many) {
    text *t = mill_scratch(run, sizeof *t);
    add(t, "%s(", o->tag);
    for (uint32_t p = 0; p < ports; p++) {
        size_t n = mill_input_count(run, p);
        add(t, "%s%s", p > 0 ? "," : "", n == 0 ? "-" : "");
        for (size_t i = 0; i < n; i++) {
            if (many)
                add(t, "%s%s:%s=", i > 0 ? ";" : "", run->host->input_stage(run, p, i),
                    run->host->input_key(run, p, i));
            add(t, "%s", ((const flow_item *)mill_input(run, p, i))->text);
        }
        if (many)
            add_missing(t, run, p);
    }
    add(t, ")");
    return t;
}

static flow_item *make(mill_run *run, const char *content) {
    flow_item *made = mill_value_alloc(run, NULL, sizeof *made);
    made->size = sizeof *made;
    made->text = mill_value_alloc(run, made, strlen(content) + 1);
    memcpy(made->text, content, strlen(content) + 1);
    return made;
}

/* By the module's own means, so that its end is seen. */
static flow_item *make_counted(const char *content) {
    flow_item *made = calloc(1, sizeof *made);
    char *copy = malloc(strlen(content) + 1);
    if (made == NULL || copy == NULL)
        abort();
    memcpy(copy, content, strlen(content) + 1);
    *made = (flow_item){.size = sizeof *made, .text = copy};
    flow_rise(&flow_seen.live, &flow_seen.most_live);
    return made;
}

static void item_free(void *data) {
    flow_item *made = data;
    fall(&flow_seen.live);
    free(made->text);
    free(made);
}

static mill_status item_to_report(mill_run *run, const void *data, mill_report **ret_report) {
    const flow_item *from = data;
    if (strstr(from->text, "no-report") != NULL)
        return mill_fail(run, MILL_E_DATA, "the text says no");
    mill_report *report = mill_value_alloc(run, NULL, sizeof *report);
    report->size = sizeof *report;
    report->id = "item";
    char *title = mill_value_alloc(run, report, strlen(from->text) + 1);
    memcpy(title, from->text, strlen(from->text) + 1);
    report->title = title;
    *ret_report = report;
    return MILL_OK;
}

/* A format number, then the text. */
static mill_status item_save(mill_run *run, const void *data, mill_sink *sink) {
    const flow_item *from = data;
    static const uint32_t format = 1;
    if (strstr(from->text, "no-save") != NULL)
        return mill_fail(run, MILL_E_DATA, "the text stays here");
    mill_status status = sink->write(sink, &format, sizeof format);
    return status == MILL_OK ? sink->write(sink, from->text, strlen(from->text) + 1) : status;
}

static mill_status item_load(mill_run *run, mill_source *source, void **ret_data) {
    const char *content = (const char *)source->data + sizeof(uint32_t);
    if (source->length <= sizeof(uint32_t) || source->data[source->length - 1] != '\0')
        return mill_fail(run, MILL_E_DATA, "this is no item");
    if (strstr(content, "no-load") != NULL)
        return mill_fail(run, MILL_E_DATA, "the text does not arrive");
    *ret_data = make(run, content);
    return MILL_OK;
}

/* ---------------------------------------------------------------- callbacks */

static mill_status open_stage(mill_run *run, const void *opts, void *data) {
    const options *o = opts;
    count(&flow_seen.opened);
    enter(data);
    leave(data);
    return o->open_fails ? mill_fail(run, MILL_E_NOINPUT, "told not to open") : MILL_OK;
}

static mill_status open_map(mill_run *run, const void *opts, void *data) {
    ((state *)data)->counted = true;
    flow_rise(&flow_seen.open, &flow_seen.most_open);
    return open_stage(run, opts, data);
}

static mill_status finish_stage(mill_run *run, const void *opts, void *data) {
    (void)run, (void)opts;
    count(&flow_seen.finished);
    enter(data);
    leave(data);
    return MILL_OK;
}

static void close_stage(mill_run *run, void *data) {
    (void)run;
    enter(data);
    leave(data);
    if (((state *)data)->counted)
        fall(&flow_seen.open);
    count(&flow_seen.closed);
}

#define RUN(NAME) static mill_status NAME(mill_run *run, const void *opts, void *data)
#define BEGIN                                                                                      \
    const options *o = opts;                                                                       \
    state *s = data;                                                                               \
    enter(s);                                                                                      \
    s->runs++;                                                                                     \
    mill_status status = begin(run, o);                                                            \
    leave(s);                                                                                      \
    if (status != MILL_OK)                                                                         \
        return status;

RUN(run_read) {
    BEGIN
    status = mill_output(run, 0, make_counted(mill_item_key(run)));
    return status == MILL_OK ? end(run, o) : status;
}

static mill_status post(mill_run *run, const options *o, uint32_t ports, bool many) {
    mill_status status = mill_output(run, 0, make(run, describe(run, o, ports, many)->bytes));
    return status == MILL_OK ? end(run, o) : status;
}

RUN(run_map) {
    BEGIN
    return lists(o->unset, mill_item_key(run)) ? end(run, o) : post(run, o, 1, false);
}

RUN(run_one) {
    BEGIN
    return post(run, o, 0, false);
}

RUN(run_join) {
    BEGIN
    return post(run, o, 3, false);
}

RUN(run_gather) {
    BEGIN
    return post(run, o, 1, true);
}

/* SINGLE: how many runs came before this one is part of what it says. */
RUN(run_serial) {
    BEGIN
    text *t = describe(run, o, 1, false);
    add(t, "#%u", s->runs);
    return mill_output(run, 0, make(run, t->bytes));
}

RUN(run_split) {
    BEGIN
    text *t = describe(run, o, mill_input_count(run, 0) > 0 ? 1 : 0, false);
    for (size_t i = 0; i < o->subs.n && status == MILL_OK; i++) {
        const char *sub = ((const char *const *)o->subs.v)[i];
        size_t n = t->n;
        add(t, ".%s", sub);
        /* One item without a sub-key. */
        bool only = strcmp(sub, "only") == 0;
        status = run->host->emit(run, 0, only ? NULL : sub, make_counted(t->bytes));
        t->bytes[t->n = n] = '\0';
    }
    return status == MILL_OK ? end(run, o) : status;
}

static mill_status write_line(mill_run *run, const options *o, const text *t) {
    mill_sink *sink;
    mill_status status = run->host->sink_open(run, o->path, &sink);
    if (status == MILL_OK)
        status = sink->write(sink, t->bytes, t->n);
    return status == MILL_OK ? sink->write(sink, "\n", 1) : status;
}

RUN(run_write) {
    BEGIN
    status = write_line(run, o, describe(run, o, 1, false));
    return status == MILL_OK ? end(run, o) : status;
}

RUN(run_sink) {
    BEGIN
    status = write_line(run, o, describe(run, o, 1, true));
    return status == MILL_OK ? end(run, o) : status;
}

/* Writes first: what a failed run has written must not be seen. */
RUN(run_spoil) {
    const options *o = opts;
    mill_status status = write_line(run, o, describe(run, o, 1, true));
    (void)data;
    return status == MILL_OK ? begin(run, o) : status;
}

RUN(finish_sink) {
    const options *o = opts;
    text *t = mill_scratch(run, sizeof *t);
    add(t, "end of %u", ((state *)data)->runs);
    add_missing(t, run, 0);
    mill_status status = write_line(run, o, t);
    return status == MILL_OK ? finish_stage(run, opts, data) : status;
}

RUN(run_sum) {
    BEGIN
    return end(run, o);
}

RUN(finish_sum) {
    text *t = mill_scratch(run, sizeof *t);
    add(t, "%s of %u", ((const options *)opts)->tag, ((state *)data)->runs);
    add_missing(t, run, 0);
    finish_stage(run, opts, data);
    return mill_output(run, 0, make(run, t->bytes));
}

RUN(run_tell) {
    BEGIN
    text *t = mill_scratch(run, sizeof *t);
    const mill_report *report = mill_input(run, 0, 0);
    add(t, "%s as %s: %s", run->host->input_type(run, 0, 0), report->id, report->title);
    return write_line(run, o, t);
}

/* ---------------------------------------------------------------- classes */

static const mill_option glob_options[] = {
    OPTION("path", path, PATH, .flags = MILL_OPT_GLOB | MILL_OPT_REQUIRED), COMMON("read"), {0}};
static const mill_option item_options[] = {
    OPTION("path", path, PATH, .flags = MILL_OPT_ITEM, .def = "-"), COMMON("write"), {0}};
static const mill_option sink_options[] = {
    OPTION("path", path, PATH, .flags = MILL_OPT_ITEM, .def = "-"), COMMON("sink"), {0}};
#define OPTIONS(NAME, TAG) static const mill_option NAME[] = {COMMON(TAG), {0}}
OPTIONS(map_options, "map");
OPTIONS(join_options, "join");
OPTIONS(gather_options, "gather");
OPTIONS(sum_options, "sum");

static const mill_port in[] = {PORT("in", 0), {0}};
static const mill_port in_many[] = {PORT("in", MILL_PORT_MANY), {0}};
static const mill_port in_stream[] = {PORT("in", MILL_PORT_STREAM), {0}};
static const mill_port in_join[] = {PORT("a", 0), PORT("b", 0), PORT("c", MILL_PORT_OPTIONAL), {0}};
static const mill_port in_reports[] = {
    {.name = "in", .type = MILL_TYPE_REPORT, .help = "for tests", .flags = MILL_PORT_STREAM}, {0}};
static const mill_port out[] = {PORT("out", 0), {0}};
static const mill_port out_maybe[] = {PORT("out", MILL_PORT_OPTIONAL), {0}};
static const mill_port out_items[] = {PORT("out", MILL_PORT_ITEMS), {0}};

#define CLASS(ID, NAME, FLAGS, IN, OUT, OPTIONS, OPEN, RUN, FINISH)                                \
    static const mill_stage ID = {MILL_STAGE_HEAD,                                                 \
                                  FLAGS,                                                           \
                                  .name = NAME,                                                    \
                                  .summary = "for tests",                                          \
                                  .inputs = IN,                                                    \
                                  .outputs = OUT,                                                  \
                                  .options = OPTIONS,                                              \
                                  .options_size = sizeof(options),                                 \
                                  .state_size = sizeof(state),                                     \
                                  .open = OPEN,                                                    \
                                  .run = RUN,                                                      \
                                  .finish = FINISH,                                                \
                                  .close = close_stage}

CLASS(c_read, "flow.read", 0, NULL, out, glob_options, open_stage, run_read, finish_stage);
CLASS(c_next, "flow.read-single", MILL_STAGE_SINGLE, NULL, out, glob_options, open_stage, run_read,
      finish_stage);
CLASS(c_split, "flow.split", 0, NULL, out_items, glob_options, open_stage, run_split, finish_stage);
CLASS(c_cut, "flow.cut", 0, in, out_items, map_options, open_stage, run_split, finish_stage);
CLASS(c_one, "flow.one", 0, NULL, out, map_options, open_stage, run_one, finish_stage);
CLASS(c_map, "flow.map", 0, in, out, map_options, open_map, run_map, finish_stage);
CLASS(c_maybe, "flow.maybe", 0, in, out_maybe, map_options, open_stage, run_map, finish_stage);
CLASS(c_join, "flow.join", 0, in_join, out, join_options, open_stage, run_join, finish_stage);
CLASS(c_serial, "flow.serial", MILL_STAGE_SINGLE, in, out, map_options, open_stage, run_serial,
      finish_stage);
CLASS(c_gather, "flow.gather", 0, in_many, out, gather_options, open_stage, run_gather,
      finish_stage);
CLASS(c_sum, "flow.sum", MILL_STAGE_SINGLE, in_stream, out, sum_options, open_stage, run_sum,
      finish_sum);
CLASS(c_write, "flow.write", 0, in, NULL, item_options, open_stage, run_write, finish_stage);
CLASS(c_list, "flow.list", 0, in_many, NULL, sink_options, open_stage, run_sink, finish_stage);
CLASS(c_sink, "flow.sink", MILL_STAGE_SINGLE, in_stream, NULL, sink_options, open_stage, run_sink,
      finish_sink);
CLASS(c_spoil, "flow.spoil", MILL_STAGE_SINGLE, in_stream, NULL, sink_options, open_stage,
      run_spoil, finish_sink);
CLASS(c_tell, "flow.tell", MILL_STAGE_SINGLE, in_reports, NULL, sink_options, open_stage, run_tell,
      finish_stage);

static const mill_stage *const classes[] = {
    &c_read,   &c_next, &c_split, &c_cut,  &c_one,  &c_map,   &c_maybe, &c_join, &c_serial,
    &c_gather, &c_sum,  &c_write, &c_list, &c_sink, &c_spoil, &c_tell,  NULL};

static const mill_type item_type = {.size = sizeof(mill_type),
                                    .id = FLOW_ITEM,
                                    .help = "a text that tells its own history",
                                    .free = item_free,
                                    .to_report = item_to_report,
                                    .save = item_save,
                                    .load = item_load};
static const mill_type *const types[] = {&item_type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD,
                                                .id = "test.flow",
                                                .version = "1.0.0",
                                                .license = "Apache-2.0",
                                                .author = "Tracemill's tests",
                                                .summary = "stages that say what they got",
                                                .built_with = MILL_BUILT_WITH,
                                                .stages = classes,
                                                .types = types};
