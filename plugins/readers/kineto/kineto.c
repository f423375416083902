/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class kineto.read, which turns one profile into a mill.trace/1. */
#include "ahead.h"
#include "chunks.h"
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define WINDOW (256 * 1024)

typedef enum engine { ENGINE_AUTO, ENGINE_REFERENCE, ENGINE_FAST } engine;

typedef enum planes_use { PLANES_AUTO, PLANES_OFF } planes_use;

static const char *const planes_uses[] = {"auto", "off", NULL};
static const char *const engines[] = {"auto", "reference", "fast", NULL};

typedef struct options {
    const char *path, *kernel_rules;
    const char *collective_rules, *plane_rules;
    mill_list rules;
    int engine, planes;
    int64_t max_overlap, max_event;
    bool strict, metadata, cpu, python, memory, counters, flows;
} options;

typedef struct state {
    rule_set kernels, collectives, planes;
} state;

/* One text being read: a file, or a member of an archive. */
typedef struct reading {
    sink sink; /* first: the document's calls go there */
    mill_run *run;
    const options *opts;
    input *in;
    size_t index;     /* of the text in the file */
    const char *name; /* the file's path, and the member's name */
    ahead *ahead;
    chunks_config config;
    document_result document;
} reading;

static const kit_diagnostic cut = {
    "truncated-container",
    "The compressed file or archive ends too early; the text before that was read.", true};
static const kit_diagnostic corrupt = {
    "corrupt-container",
    "The compressed file or archive is damaged here; the text before it was read.", true};
static const kit_diagnostic trailing_container = {
    "trailing-container", "Other bytes follow the compressed text; they were not read.", true};

/* ---------------------------------------------------------------- what the document calls */

/* Not only for the thread that parses. */
static mill_status bring_in(mill_run *run, void *arg, char *to, size_t room, size_t *ret_length) {
    input *in = arg;
    mill_progress(run, input_done(in), input_size(in), "bytes");
    return input_read(run, in, to, room, ret_length);
}

static mill_status on_read(void *arg, char *to, size_t room, size_t *ret_length) {
    reading *r = arg;
    return mill_cancelled(r->run) ? MILL_E_CANCELLED
                                  : ahead_read(r->run, r->ahead, to, room, ret_length);
}

static const document_calls calls = {
    .read = on_read,
    .event = sink_event,
    .events = sink_events,
    .wants = sink_wants,
    .fact = sink_fact,
    .problem = sink_problem,
};

/* ---------------------------------------------------------------- one text */

/* The line of a byte of the text; 0 if the file can't be read again. Only for messages, so that
 * reading need not count lines. */
static uint64_t line_of(const reading *r, uint64_t byte) {
    mill_run *run = r->run;
    input *in;
    uint64_t line = 1;
    if (input_size(r->in) == 0 || input_open(run, r->opts->path, &in) != MILL_OK)
        return 0;
    bool more = true;
    for (size_t i = 0; i <= r->index && more; i++)
        if (input_next(run, in, &more) != MILL_OK && i == r->index)
            more = false;
    char *text = mill_scratch(run, WINDOW);
    size_t length;
    if (!more)
        line = 0;
    for (uint64_t at = 0; more && at < byte; at += length) {
        size_t room = byte - at < WINDOW ? (size_t)(byte - at) : WINDOW;
        if (mill_cancelled(run) || input_read(run, in, text, room, &length) != MILL_OK || !length)
            break;
        for (size_t i = 0; i < length; i++)
            line += text[i] == '\n';
    }
    input_close(in);
    return line;
}

/* Fails with the first thing that was lost, if something was. */
static mill_status fail_on_loss(const reading *r, const char *hint) {
    const mill_trace *t = kit_trace_value(r->sink.b);
    const mill_diagnostics *d = &t->diagnostics;
    uint64_t first = d->n;
    for (uint64_t i = 0; i < d->n; i++)
        if (mill_u8(t, &d->lost, i) &&
            (first == d->n || mill_i64(t, &d->first_byte, i) < mill_i64(t, &d->first_byte, first)))
            first = i;
    if (first == d->n)
        return MILL_OK;
    int64_t byte = mill_i64(t, &d->first_byte, first);
    uint64_t line = line_of(r, (uint64_t)byte);
    char place[32] = "";
    if (line > 0)
        snprintf(place, sizeof place, "line %llu, ", (unsigned long long)line);
    return mill_fail(r->run, MILL_E_DATA, "%s: %sbyte %lld: %s (the first of %llu). %s %s", r->name,
                     place, (long long)byte, mill_string(t, mill_u32(t, &d->kind, first)),
                     (unsigned long long)mill_u64(t, &d->count, first),
                     mill_string(t, mill_u32(t, &d->text, first)), hint);
}

/* What is wrong with the container, or NULL. */
static const kit_diagnostic *container_problem(const input *in) {
    static const kit_diagnostic *const what[] = {
        [INPUT_WHOLE] = NULL,
        [INPUT_CUT] = &cut,
        [INPUT_CORRUPT] = &corrupt,
        [INPUT_TRAILING] = &trailing_container,
    };
    return what[input_get_state(in)];
}

/* Two pieces of work: parsing, and unpacking ahead of it. */
static mill_status work(mill_run *run, void *arg, size_t piece) {
    reading *r = arg;
    if (piece == 1)
        return ahead_work(run, r->ahead);
    mill_status status = document_read(run, &r->config.document, &calls, r, &r->document);
    ahead_stop(r->ahead);
    return ahead_work_failed(r->ahead) ? MILL_OK : status; /* the other piece has the cause */
}

static mill_status read_ahead(reading *r) {
    r->ahead = ahead_create(bring_in, r->in);
    size_t pieces = input_is_packed(r->in) ? 2 : 1;
    mill_status status = r->run->host->parallel(r->run, pieces, work, r);
    ahead_destroy(r->ahead);
    return status;
}

static mill_status read_text(reading *r) {
    mill_status status = chunks_suit(&r->config, r->in)
                             ? chunks_read(r->run, &r->config, r->in, &r->sink, &r->document)
                             : read_ahead(r);
    const kit_diagnostic *container = container_problem(r->in);
    if (status == MILL_E_DATA)
        mill_fail(r->run, status, "%s: not readable as a trace%s%s", r->name, container ? ": " : "",
                  container ? container->text : "");
    if (status == MILL_OK && container) {
        kit_trace_diagnose(r->sink.b, container, (int64_t)r->document.bytes);
        r->document.complete &= container == &trailing_container;
    }
    return status;
}

static mill_status finish_trace(reading *r) {
    mill_trace *t = kit_trace_value(r->sink.b);
    t->path = kit_trace_text(r->sink.b, r->name, strlen(r->name));
    t->events = r->document.events;
    t->bytes = r->document.bytes;
    t->complete = r->document.complete;
    mill_status status = rows_finish(r->sink.rows);
    if (status != MILL_OK)
        return status;
    kit_trace_finish(r->sink.b, r->opts->max_overlap);
    if (t->events == 0)
        status = fail_on_loss(r, "No event is whole: give the file as the profiler wrote it.");
    if (status != MILL_OK)
        return status;
    if (!r->document.has_events)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: the object has no traceEvents: give a trace of the PyTorch profiler",
                         r->name);
    return r->opts->strict ? fail_on_loss(r, "Mend the file, or set strict = no.") : MILL_OK;
}

/* "runs/all.zip/rank0.json"; freed by the caller. */
static char *full_name(const char *path, const input *in) {
    const char *member = input_name(in);
    size_t room = strlen(path) + strlen(member) + 2;
    char *name = kit_alloc(room, 1);
    snprintf(name, room, input_is_archive(in) ? "%s/%s" : "%s%s", path, member);
    return name;
}

static chunks_config config_of(const options *o, const state *s) {
    size_t max_event = (size_t)o->max_event;
    return (chunks_config){
        .sink =
            {
                .rows =
                    {
                        .kernels = &s->kernels,
                        .collectives = o->metadata ? &s->collectives : NULL,
                        .planes = o->planes == PLANES_AUTO ? &s->planes : NULL,
                        .cpu = o->cpu,
                        .python = o->python,
                        .memory = o->memory,
                        .counters = o->counters,
                        .flows = o->flows,
                    },
                .isa = o->engine == ENGINE_REFERENCE ? SINK_REFERENCE : FAST_BEST,
            },
        .document = {event_parse, WINDOW < max_event ? WINDOW : max_event, max_event},
        .least_text = CHUNKS_LEAST_TEXT,
        .least_chunk = CHUNKS_LEAST_CHUNK,
    };
}

/* Reads the text that the input stands at. */
static mill_status read_trace(reading *r, const state *s, mill_trace **ret_trace) {
    r->config = config_of(r->opts, s);
    sink_init(&r->sink, r->run, kit_trace_create(r->run), &r->config.sink);
    mill_status status = read_text(r);
    if (status == MILL_OK)
        status = finish_trace(r);
    *ret_trace = kit_trace_value(r->sink.b);
    sink_finish(&r->sink);
    return status;
}

/* ---------------------------------------------------------------- one file */

/* Reads all that is in the file. A member of an archive that is no trace does not spoil the others,
 * unless `strict` forbids it. */
static mill_status read_all(mill_run *run, const options *o, const state *s, input *in, parts *all,
                            size_t *ret_texts) {
    for (*ret_texts = 0;; ++*ret_texts) {
        bool more;
        mill_status status = input_next(run, in, &more);
        if (!more || (status != MILL_OK && status != MILL_E_DATA))
            return status;
        char *name = full_name(o->path, in);
        reading r = {.run = run, .opts = o, .in = in, .index = *ret_texts, .name = name};
        mill_trace *trace;
        if (status == MILL_OK)
            status = read_trace(&r, s, &trace);
        if (status == MILL_OK)
            parts_add(all, input_name(in), trace);
        bool spoiled = status != MILL_OK && (status != MILL_E_DATA || o->strict);
        if (status != MILL_OK && !spoiled && input_is_archive(in))
            mill_log(run, MILL_WARNING,
                     "%s is no readable trace and is left out; strict = yes says why", name);
        free(name);
        if (spoiled || (status != MILL_OK && !input_is_archive(in)))
            return status;
    }
}

/* What is to be said of an archive as a whole. */
static mill_status judge_archive(mill_run *run, const options *o, const input *in, size_t n,
                                 size_t texts) {
    const kit_diagnostic *problem = container_problem(in);
    unsigned long long skipped = input_skipped(in);
    if (n == 0)
        return mill_fail(run, MILL_E_DATA,
                         "%s: the archive holds no trace (members that begin as JSON: %zu, others: "
                         "%llu%s%s): put the profiler's .json or .json.gz files in it",
                         o->path, texts, skipped, problem ? "; " : "",
                         problem ? problem->text : "");
    if (skipped > 0)
        mill_log(run, MILL_INFO, "%s: members left out, since they are no JSON: %llu", o->path,
                 skipped);
    if (!problem)
        return MILL_OK;
    if (o->strict)
        return mill_fail(run, MILL_E_DATA,
                         "%s: %s Traces up to there: %zu. Mend the file, or set strict = no.",
                         o->path, problem->text, n);
    mill_log(run, MILL_WARNING, "%s: %s Traces up to there: %zu.", o->path, problem->text, n);
    return MILL_OK;
}

static mill_status kineto_run(mill_run *run, const void *opts, void *data) {
    const options *o = opts;
    input *in = NULL;
    parts all = {0};
    size_t texts = 0;
    mill_status status = input_open(run, o->path, &in);
    if (status == MILL_OK)
        status = read_all(run, o, data, in, &all, &texts);
    if (status == MILL_OK && input_is_archive(in))
        status = judge_archive(run, o, in, all.n, texts);
    if (status == MILL_OK)
        status = parts_emit(run, &all, texts == 1);
    parts_finish(&all);
    input_close(in);
    return status;
}

static mill_status kineto_open(mill_run *run, const void *opts, void *data) {
    const options *o = opts;
    state *s = data;
    const char *const *files = o->rules.v;
    mill_status status = MILL_OK;
    for (size_t i = 0; i < o->rules.n && status == MILL_OK; i++)
        status = rules_load(run, &s->kernels, RULES_KERNELS, files[i]);
    if (status == MILL_OK)
        status = rules_load(run, &s->kernels, RULES_KERNELS, o->kernel_rules);
    if (status == MILL_OK && o->metadata)
        status = rules_load(run, &s->collectives, RULES_COLLECTIVES, o->collective_rules);
    if (status == MILL_OK && o->planes == PLANES_AUTO)
        status = rules_load(run, &s->planes, RULES_PLANES, o->plane_rules);
    return status;
}

static void kineto_close(mill_run *run, void *data) {
    (void)run;
    state *s = data;
    rules_finish(&s->kernels);
    rules_finish(&s->collectives);
    rules_finish(&s->planes);
}

/* ---------------------------------------------------------------- the module */

static const mill_port outputs[] = {
    {"trace", "mill.trace/1",
     "The profile in columns: one item for each file, or for each trace in it.", MILL_PORT_ITEMS,
     0},
    {0},
};

static const mill_option option_list[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
     .offset = MILL_OPT_OFF(options, path, PATH),
     .help = "The profile: Chrome trace JSON of the PyTorch profiler, plain, gzip, zstd or in a "
             "zip, told apart by its content; wildcards read one file a rank."},
    {.name = "rules",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(options, rules, LIST),
     .help = "Files with kernel rules of your own, tried in this order before kernel-rules."},
    {.name = "kernel-rules",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(options, kernel_rules, PATH),
     .def = "${tracemill:data}/rules/kernels.ini",
     .help = "The file that says what kernels do by their names; its head explains the form."},
    {.name = "metadata",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, metadata, BOOL),
     .def = "yes",
     .help = "Read what the file says of collective operations; their kind beats the one that the "
             "kernel's name tells."},
    {.name = "collective-rules",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(options, collective_rules, PATH),
     .def = "${tracemill:data}/rules/collectives.ini",
     .help = "The file that says which kind of communication an operation is."},
    {.name = "planes",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(options, planes, ENUM),
     .def = "auto",
     .choices = planes_uses,
     .help = "Events without a category: auto takes them for what plane-rules says of their "
             "process (Ascend, PyTorch before Kineto), off leaves them out."},
    {.name = "plane-rules",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(options, plane_rules, PATH),
     .def = "${tracemill:data}/rules/planes.ini",
     .help = "The file that says what the events of a process are by its name."},
    {.name = "engine",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(options, engine, ENUM),
     .def = "auto",
     .choices = engines,
     .help =
         "What parses events: reference is plain and slow, fast takes all events that look like "
         "others and leaves the rest to reference; auto is fast. The columns are the same."},
    {.name = "strict",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, strict, BOOL),
     .def = "no",
     .help = "Fail if anything the file holds had to be left out, instead of counting it."},
    {.name = "max-overlap",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(options, max_overlap, DURATION),
     .def = "1ms",
     .min = 0,
     .max = 9e18,
     .help = "An activity that runs further than this into a later one of its stream has a broken "
             "timer and is cut where that one starts."},
    {.name = "max-event",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(options, max_event, BYTES),
     .def = "64MiB",
     .min = 4096,
     .max = 1099511627776.0,
     .help = "The largest event (or fact beside the events) that is read; bounds the memory that a "
             "broken file can take."},
    {.name = "cpu",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, cpu, BOOL),
     .def = "yes",
     .help = "Read CPU slices: operators, runtime and driver calls, annotations."},
    {.name = "python",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, python, BOOL),
     .def = "no",
     .help = "Read the Python functions too (needs cpu = yes)."},
    {.name = "memory",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, memory, BOOL),
     .def = "no",
     .help = "Read the profiler's [memory] records: their amounts as counters and, with cpu = yes, "
             "each as a CPU row without length."},
    {.name = "counters",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, counters, BOOL),
     .def = "no",
     .help = "Read counters (ph C)."},
    {.name = "flows",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(options, flows, BOOL),
     .def = "no",
     .help = "Read the arrows between slices (ph s, t, f); launches are joined without them."},
    {0},
};

static const mill_stage read_stage = {
    MILL_STAGE_HEAD,
    .name = "kineto.read",
    .summary = "Read a profile of the PyTorch profiler (Kineto)",
    .help = "Reads Chrome trace JSON in object or array form, as a stream, into columns: GPU "
            "activities with their class, CPU slices, devices, streams, threads. What is broken is "
            "mended or left out, and counted in the trace's diagnostics.",
    .outputs = outputs,
    .options = option_list,
    .options_size = sizeof(options),
    .state_size = sizeof(state),
    .open = kineto_open,
    .run = kineto_run,
    .close = kineto_close,
};

static const mill_stage *const stages[] = {&read_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.kineto",
    .version = "0.1.0",
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reader of PyTorch profiler traces",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
