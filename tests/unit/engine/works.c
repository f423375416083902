/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose stages use the host's services and say where one does not keep its promise. */
#include "flow.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tracemill/report.h>
#include <unistd.h>

typedef struct options {
    const char *path, *only, *pattern;
    int64_t pieces, late;
    mill_list fail;
    bool nested, deaf;
} options;

#define OPTION(NAME, FIELD, KIND, ...)                                                             \
    {                                                                                              \
        .name = NAME, .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(options, FIELD, KIND),       \
        .help = "for tests", __VA_ARGS__                                                           \
    }
static const mill_option all_options[] = {OPTION("path", path, PATH, .def = "-"),
                                          OPTION("only", only, STR, .def = ""),
                                          OPTION("pattern", pattern, STR, .def = "a"),
                                          OPTION("pieces", pieces, INT, .def = "100"),
                                          OPTION("late", late, INT, .def = "-1"),
                                          OPTION("fail", fail, LIST, .elem = MILL_OPT_INT),
                                          OPTION("nested", nested, BOOL, .def = "no"),
                                          OPTION("deaf", deaf, BOOL, .def = "no"),
                                          {0}};

#define RUN(NAME) static mill_status NAME(mill_run *run, const void *opts, void *state)
#define EXPECT(CONDITION)                                                                          \
    do                                                                                             \
        if (!(CONDITION))                                                                          \
            return mill_fail(run, MILL_E_DATA, "not so: %s", #CONDITION);                          \
    while (0)

static void sleep_ms(int ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static mill_status print(mill_run *run, const char *path, const char *text) {
    mill_sink *sink;
    mill_status status = run->host->sink_open(run, path, &sink);
    return status == MILL_OK ? sink->write(sink, text, strlen(text)) : status;
}

/* ---------------------------------------------------------------- parallel */

typedef struct sum {
    const options *o;
    uint64_t total;
    int at_work, most; /* pieces at a time */
} sum;

static mill_status add_inner(mill_run *run, void *arg, size_t i) {
    (void)run;
    __atomic_add_fetch((uint64_t *)arg, i, __ATOMIC_SEQ_CST);
    return MILL_OK;
}

static bool is_listed(mill_list list, size_t i) {
    for (size_t k = 0; k < list.n; k++)
        if (((const int64_t *)list.v)[k] == (int64_t)i)
            return true;
    return false;
}

static mill_status add_piece(mill_run *run, void *arg, size_t i) {
    sum *s = arg;
    flow_rise(&s->at_work, &s->most);
    mill_status status = MILL_OK;
    sleep_ms((int64_t)i == s->o->late ? 20 : 1);
    if (s->o->nested)
        status = run->host->parallel(run, 5, add_inner, &s->total);
    /* Memory for any thread, and values, each of one. */
    uint32_t *value = mill_value_alloc(run, NULL, 16), *more = mill_value_alloc(run, value, 4000);
    uint32_t *scratch = mill_scratch(run, 4000);
    for (size_t k = 0; k < 1000; k++)
        more[k] = scratch[k] = (uint32_t)i;
    __atomic_add_fetch(&s->total, i, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&s->at_work, 1, __ATOMIC_SEQ_CST);
    if (is_listed(s->o->fail, i))
        return mill_fail(run, MILL_E_DATA, "piece %zu was told to fail", i);
    return status;
}

/* Prints the sum over the pieces, and whether some were done at the same time. */
RUN(run_parallel) {
    (void)state;
    const options *o = opts;
    sum s = {.o = o};
    mill_status status = run->host->parallel(run, (size_t)o->pieces, add_piece, &s);
    if (status != MILL_OK)
        return mill_fail(run, status, "in parallel");
    char text[64];
    snprintf(text, sizeof text, "%llu by several: %s\n", (unsigned long long)s.total,
             s.most > 1 ? "yes" : "no");
    return print(run, o->path, text);
}

/* ---------------------------------------------------------------- memory, regex, files */

static mill_status try_memory(mill_run *run) {
    for (size_t size = 0; size < 200000; size = size * 3 + 1) {
        unsigned char *memory = mill_scratch(run, size), *value = mill_value_alloc(run, NULL, size);
        EXPECT((uintptr_t)memory % 16 == 0 && (uintptr_t)value % 16 == 0);
        for (size_t i = 0; i < size; i++)
            EXPECT(memory[i] == 0 && value[i] == 0);
        memset(memory, 1, size);
        memset(value, 1, size);
        unsigned char *more = mill_value_alloc(run, value, size);
        for (size_t i = 0; i < size; i++)
            EXPECT(more[i] == 0);
    }
    return MILL_OK;
}

static mill_status try_regex(mill_run *run, const options *o) {
    const mill_host *host = run->host;
    mill_regex *regex;
    mill_span span[4];
    mill_status status = host->regex_new(run, "(x)|n(?<what>[a-z]+)_(\\d+)", 0, &regex);
    if (status != MILL_OK)
        return status;
    EXPECT(host->regex_match(regex, "an\0nccl_12", 10, span, 4)); /* bytes, not a C string */
    EXPECT(span[0].start == 3 && span[0].end == 10);
    EXPECT(span[1].start == -1);
    EXPECT(span[2].start == 4 && span[2].end == 7);
    EXPECT(host->regex_group(regex, "what") == 2 && host->regex_group(regex, "none") == -1);
    EXPECT(!host->regex_match(regex, "NCCL_12", 7, NULL, 0));
    EXPECT(!host->regex_match(regex, "nccl_12", 4, NULL, 0)); /* `length` ends the text */
    EXPECT(host->regex_new(run, "\xff+", MILL_REGEX_CASELESS, &regex) == MILL_OK);
    EXPECT(host->regex_match(regex, "a\xff\xff", 3, span, 1) && span[0].end == 3);
    static const char many[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    EXPECT(host->regex_new(run, "^(a+)+$", 0, &regex) == MILL_OK);
    EXPECT(!host->regex_match(regex, many, sizeof many - 1, NULL, 0)); /* gives up */
    EXPECT(host->regex_match(regex, many, sizeof many - 2, NULL, 0));
    return host->regex_new(run, o->pattern, 0, &regex);
}

typedef struct settings {
    mill_run *run;
    char text[256];
} settings;

static bool on_setting(void *arg, const char *section, const char *key, const char *value,
                       uint32_t line) {
    settings *s = arg;
    size_t n = strlen(s->text);
    if (key == NULL)
        snprintf(s->text + n, sizeof s->text - n, "%u[%s]", line, section);
    else
        snprintf(s->text + n, sizeof s->text - n, "%u %s=%s;", line, key, value);
    if (key != NULL && strcmp(value, "stop") == 0)
        mill_fail(s->run, MILL_E_DATA, "told to stop");
    return key == NULL || strcmp(value, "stop") != 0;
}

static mill_status try_files(mill_run *run) {
    const mill_host *host = run->host;
    mill_source *source;
    mill_status status = host->source_map(run, "test.ini", &source);
    if (status != MILL_OK)
        return status;
    EXPECT(source->length > 3 && memcmp(source->data, "[w]", 3) == 0);
    settings s = {.run = run};
    status = host->ini_read(run, "rules.txt", on_setting, &s);
    if (status != MILL_OK)
        return status;
    EXPECT(strcmp(s.text, "1[first]2 a=1\n2;4[second]5 b=${x};") == 0);
    return MILL_OK;
}

RUN(run_services) {
    (void)state;
    const options *o = opts;
    const mill_host *host = run->host;
    EXPECT(host->size >= sizeof *host && strcmp(host->version, "") != 0);
    EXPECT(strcmp(mill_item_key(run), "") == 0);
    EXPECT(mill_option_given(run, "path") && !mill_option_given(run, "deaf"));
    EXPECT(!mill_option_given(run, "unknown"));
    EXPECT(mill_input_count(run, 0) == 0 && mill_input(run, 0, 0) == NULL);
    EXPECT(mill_input(run, 9, 0) == NULL && host->missing(run, 9, 0, NULL, NULL) == 0);
    EXPECT(!mill_cancelled(run) && host->extension(host, "none") == NULL);
    mill_progress(run, 1, 2, "rows");
    mill_log(run, MILL_DEBUG, "%s", "seen with --verbose");
    mill_status status = try_memory(run);
    status = status == MILL_OK ? try_regex(run, o) : status;
    return status == MILL_OK ? try_files(run) : status;
}

/* Fails by what is not there, in the way that `only` names. */
RUN(run_absent) {
    (void)state;
    const options *o = opts;
    mill_source *source;
    settings s = {.run = run};
    if (strcmp(o->only, "ini") == 0)
        return run->host->ini_read(run, o->path, on_setting, &s);
    return run->host->source_map(run, o->path, &source);
}

/* ---------------------------------------------------------------- holding */

typedef struct held {
    const flow_item *items[64];
    size_t n;
} held;

/* Holds every item, and lets go of the one before with `deaf`. */
RUN(run_hold) {
    held *h = state;
    const options *o = opts;
    const flow_item *got = mill_input(run, 0, 0);
    if (o->deaf && h->n > 0)
        run->host->drop(run, h->items[h->n - 1]);
    h->items[h->n++] = got;
    return run->host->hold(run, got);
}

RUN(finish_hold) {
    const held *h = state;
    const options *o = opts;
    for (size_t i = o->deaf ? h->n - 1 : 0; i < h->n; i++) {
        mill_status status = print(run, o->path, h->items[i]->text);
        if (status != MILL_OK)
            return status;
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- taking long, and sinks */

/* For the key `only`: begins to write, says so, and goes on until asked to end (deaf: for ever). */
RUN(run_loop) {
    (void)state;
    const options *o = opts;
    if (strcmp(mill_item_key(run), o->only) == 0) {
        mill_status status = print(run, o->path, "begun");
        if (status != MILL_OK)
            return status;
        close(open("started", O_CREAT | O_WRONLY, 0600));
        while (o->deaf || !mill_cancelled(run))
            sleep_ms(1);
        return MILL_E_CANCELLED;
    }
    return print(run, "-", mill_item_key(run));
}

/* Longer than the host takes to look whether a stage has ended. */
static void close_slowly(mill_run *run, void *state) {
    (void)run, (void)state;
    sleep_ms(60);
}

typedef struct kept {
    mill_sink *sink;
} kept;

/* A stage may open its file once and write to it in every run. */
static mill_status open_kept(mill_run *run, const void *opts, void *state) {
    const options *o = opts;
    kept *k = state;
    return run->host->sink_open(run, o->path, &k->sink);
}

/* For the key `only` 10 MiB. */
RUN(run_kept) {
    const options *o = opts;
    kept *k = state;
    const char *key = mill_item_key(run);
    if (strcmp(o->only, key) != 0)
        return k->sink->write(k->sink, key, strlen(key));
    char part[1024];
    memset(part, 'x', sizeof part);
    mill_status status = MILL_OK;
    for (int i = 0; i < 10 * 1024 && status == MILL_OK; i++)
        status = k->sink->write(k->sink, part, sizeof part);
    return status;
}

RUN(finish_stray) {
    (void)state;
    return print(run, ((const options *)opts)->path, "stray");
}

/* ---------------------------------------------------------------- classes */

static const mill_port in[] = {{.name = "in", .type = FLOW_ITEM, .help = "for tests"}, {0}};
static const mill_port in_stream[] = {
    {.name = "in", .type = FLOW_ITEM, .help = "for tests", .flags = MILL_PORT_STREAM}, {0}};
static const mill_port in_maybe[] = {
    {.name = "in", .type = FLOW_ITEM, .help = "for tests", .flags = MILL_PORT_OPTIONAL}, {0}};

#define CLASS(ID, NAME, FLAGS, IN, STATE, OPEN, RUN, FINISH, CLOSE)                                \
    static const mill_stage ID = {MILL_STAGE_HEAD,                                                 \
                                  FLAGS,                                                           \
                                  .name = NAME,                                                    \
                                  .summary = "for tests",                                          \
                                  .inputs = IN,                                                    \
                                  .options = all_options,                                          \
                                  .options_size = sizeof(options),                                 \
                                  .state_size = STATE,                                             \
                                  .open = OPEN,                                                    \
                                  .run = RUN,                                                      \
                                  .finish = FINISH,                                                \
                                  .close = CLOSE}

CLASS(c_parallel, "works.parallel", 0, in_maybe, 0, NULL, run_parallel, NULL, NULL);
CLASS(c_services, "works.services", 0, in_maybe, 0, NULL, run_services, NULL, NULL);
CLASS(c_absent, "works.absent", 0, in_maybe, 0, NULL, run_absent, NULL, NULL);
CLASS(c_hold, "works.hold", MILL_STAGE_SINGLE, in_stream, sizeof(held), NULL, run_hold, finish_hold,
      NULL);
CLASS(c_loop, "works.loop", 0, in, 0, NULL, run_loop, NULL, close_slowly);
CLASS(c_kept, "works.kept", MILL_STAGE_SINGLE, in_stream, sizeof(kept), open_kept, run_kept, NULL,
      NULL);
CLASS(c_stray, "works.stray", 0, in, 0, NULL, run_loop, finish_stray, NULL);
static const mill_stage *const classes[] = {&c_parallel, &c_services, &c_absent, &c_hold,
                                            &c_loop,     &c_kept,     &c_stray,  NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD,
                                                .id = "test.works",
                                                .version = "1.0.0",
                                                .license = "Apache-2.0",
                                                .author = "Tracemill's tests",
                                                .summary = "uses the services of the host",
                                                .built_with = MILL_BUILT_WITH,
                                                .stages = classes};
