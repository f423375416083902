/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.chrome: the stage class chrome.write, timelines for chrome://tracing and
 * Perfetto. */
#include "added.h"
#include "trace.h"

#include <tracemill/kit/export.h>

enum { PORT_TRACE, PORT_SCHEDULE, PORT_REPORT };

#define FIRST_ADDED ((int64_t)4000000000) /* of processes of our own; viewers take 32 bits */

typedef struct chrome_options {
    const char *path;
    int gzip;
    bool overwrite;
} chrome_options;

enum { GZIP_AUTO, GZIP_YES, GZIP_NO };

/* Items come in the order of their keys, so those of one file follow each other: there is one file
 * at a time. */
typedef struct chrome_state {
    char *path;       /* of the file that has begun, or NULL */
    char *written_as; /* the option, ${item} and all */
    out_gzip *gzip;
    GString *facts;  /* of its first trace, or NULL: none came */
    int64_t base_ns; /* of that trace */
    int64_t origin;  /* its first time: where simulated schedules begin, which have no clock */
    int64_t traces, added;
    char *key; /* of the last trace, and what was added to its times */
    int64_t shift;
} chrome_state;

/* ---------------------------------------------------------------- a file */

static bool wants_gzip(const chrome_options *o, const char *path) {
    return o->gzip == GZIP_YES || (o->gzip == GZIP_AUTO && g_str_has_suffix(path, ".gz"));
}

static void forget_file(chrome_state *s) {
    g_clear_pointer(&s->path, g_free);
    g_clear_pointer(&s->key, g_free);
    g_clear_pointer(&s->gzip, out_gzip_destroy);
    if (s->facts)
        g_string_free(s->facts, TRUE);
    s->facts = NULL;
    s->traces = s->added = s->shift = s->origin = 0;
}

static mill_status open_file(mill_run *run, const chrome_options *o, const char *path,
                             chrome_state *s, out *ret_out) {
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, o->overwrite, &sink);
    if (!status)
        out_init(ret_out, run, sink, s->gzip);
    return status;
}

/* The end of the file that has begun. */
static mill_status end_file(mill_run *run, const chrome_options *o, chrome_state *s) {
    out text;
    mill_status status = open_file(run, o, s->path, s, &text);
    if (status)
        return status;
    OUT(&text, "\n]");
    if (s->facts)
        out_bytes(&text, s->facts->str, s->facts->len);
    OUT(&text, "}\n");
    status = out_finish(&text, true);
    forget_file(s);
    return status;
}

/* A first event that no viewer shows, so that each one after it can begin with a comma. */
static mill_status begin_file(mill_run *run, const chrome_options *o, const char *path,
                              chrome_state *s, out *ret_out) {
    s->path = g_strdup(path);
    if (wants_gzip(o, path))
        s->gzip = out_gzip_create();
    mill_status status = open_file(run, o, path, s, ret_out);
    if (status) {
        forget_file(s);
        return status;
    }
    OUT(ret_out, "{\"schemaVersion\":1,\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                 "{\"ph\":\"M\",\"name\":\"written_by\",\"pid\":0,\"tid\":0,"
                 "\"args\":{\"tracemill\":\"" MODULE_VERSION "\"}}");
    return MILL_OK;
}

/* Goes on with the file, or ends the one before and begins it. */
static mill_status resume(mill_run *run, const chrome_options *o, chrome_state *s, out *ret_out) {
    mill_status status = MILL_OK;
    if (s->path && strcmp(s->path, o->path) != 0)
        status = end_file(run, o, s);
    if (status)
        return status;
    return s->path ? open_file(run, o, o->path, s, ret_out)
                   : begin_file(run, o, o->path, s, ret_out);
}

/* ---------------------------------------------------------------- items */

/* So that traces of several ranks stand under each other as they ran, by the wall clock. */
static int64_t shift_of(const chrome_state *s, const mill_trace *t) {
    int64_t shift;
    if (!s->facts || s->base_ns == MILL_UNKNOWN || t->base_ns == MILL_UNKNOWN ||
        __builtin_sub_overflow(t->base_ns, s->base_ns, &shift))
        return 0;
    return shift;
}

typedef struct memory_sink {
    mill_sink sink; /* first, so that a mill_sink is its memory_sink */
    GString *text;
} memory_sink;

static mill_status keep(mill_sink *sink, const void *data, size_t n) {
    g_string_append_len(((memory_sink *)sink)->text, data, (gssize)n);
    return MILL_OK;
}

static int64_t earlier(const mill_trace *t, const mill_column *start, uint64_t rows, int64_t time) {
    return rows && mill_i64(t, start, 0) < time ? mill_i64(t, start, 0) : time;
}

static int64_t first_time(const mill_trace *t) {
    int64_t time = earlier(t, &t->gpu.start, t->gpu.n, INT64_MAX);
    time = earlier(t, &t->cpu.start, t->cpu.n, time);
    if (mill_timer_count(t))
        time = earlier(t, &t->timers.start, t->timers.n, time);
    return time == INT64_MAX ? 0 : time;
}

/* Facts stand behind the events, since a trace need not be the first item of its file. */
static mill_status keep_facts(mill_run *run, chrome_state *s, const mill_trace *t) {
    memory_sink kept = {{.size = sizeof(mill_sink), .write = keep}, g_string_new(NULL)};
    out text;
    out_init(&text, run, &kept.sink, NULL);
    trace_facts(t, &text);
    s->facts = kept.text;
    s->base_ns = t->base_ns;
    s->origin = first_time(t);
    return out_finish(&text, false);
}

static mill_status put_trace(mill_run *run, chrome_state *s, out *o, const mill_trace *t,
                             const char *item) {
    lines l;
    g_free(s->key);
    s->key = g_strdup(item);
    s->shift = shift_of(s, t);
    mill_status status = s->facts ? MILL_OK : keep_facts(run, s, t);
    lines_init(&l, t, s->traces++);
    lines_tell(&l, o, item);
    trace_events(&l, o, s->shift);
    lines_finish(&l);
    return status;
}

/* What a report or a profile's schedule tells is of the trace that came before it under the same
 * key, or a key that goes on from that one's with a sub-key. */
static int64_t shift_of_key(const chrome_state *s, const char *item) {
    size_t n = s->key ? strlen(s->key) : 0;
    bool follows = s->key && !strncmp(s->key, item, n) && (item[n] == '\0' || item[n] == ':');
    return follows ? s->shift : 0;
}

static mill_status put_item(mill_run *run, chrome_state *s, out *o) {
    const mill_host *host = run->host;
    mill_status status = MILL_OK;
    if (mill_input_count(run, PORT_TRACE))
        status = put_trace(run, s, o, mill_input(run, PORT_TRACE, 0),
                           host->input_key(run, PORT_TRACE, 0));
    if (mill_input_count(run, PORT_SCHEDULE)) {
        const mill_schedule *schedule = mill_input(run, PORT_SCHEDULE, 0);
        const char *item = host->input_key(run, PORT_SCHEDULE, 0);
        schedule_events(schedule, o, FIRST_ADDED + s->added++, item,
                        schedule->simulated ? s->origin : shift_of_key(s, item));
    }
    if (mill_input_count(run, PORT_REPORT)) {
        const char *item = host->input_key(run, PORT_REPORT, 0);
        lanes_events(mill_input(run, PORT_REPORT, 0), o, FIRST_ADDED + s->added++, item,
                     shift_of_key(s, item));
    }
    return status;
}

/* ---------------------------------------------------------------- the stage */

static mill_status chrome_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    ((chrome_state *)state)->written_as = g_strdup(((const chrome_options *)opts)->path);
    return MILL_OK;
}

static mill_status chrome_run(mill_run *run, const void *opts, void *state) {
    chrome_state *s = state;
    out o;
    mill_status status = resume(run, opts, s, &o);
    if (!status)
        status = put_item(run, s, &o);
    if (!status)
        status = out_finish(&o, false);
    return status;
}

/* A file is there also where nothing came. */
static mill_status chrome_finish(mill_run *run, const void *opts, void *state) {
    chrome_state *s = state;
    out o;
    kit_export_tell_missing(run, PORT_TRACE, "profile");
    kit_export_tell_missing(run, PORT_SCHEDULE, "schedule");
    kit_export_tell_missing(run, PORT_REPORT, "report");
    if (s->path)
        return end_file(run, opts, s);
    if (strstr(s->written_as, "${item}"))
        return MILL_OK; /* no key, so no file */
    mill_status status = begin_file(run, opts, s->written_as, s, &o);
    if (!status)
        status = out_finish(&o, false);
    return status ? status : end_file(run, opts, s);
}

static void chrome_close(mill_run *run, void *state) {
    (void)run;
    chrome_state *s = state;
    forget_file(s);
    g_clear_pointer(&s->written_as, g_free);
}

static const mill_port chrome_inputs[] = {
    {.name = "trace",
     .type = MILL_TYPE_TRACE,
     .help = "profiles to write as they are",
     .flags = MILL_PORT_STREAM | MILL_PORT_OPTIONAL},
    {.name = "schedule",
     .type = MILL_TYPE_SCHEDULE,
     .help = "schedules, a process each",
     .flags = MILL_PORT_STREAM | MILL_PORT_OPTIONAL},
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "reports whose lanes to add, a process each",
     .flags = MILL_PORT_STREAM | MILL_PORT_OPTIONAL},
    {0},
};

static const char *const gzip_choices[] = {"auto", "yes", "no", NULL};

static const mill_option chrome_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(chrome_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output. With ${item} each key has a file."},
    {.name = "gzip",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(chrome_options, gzip, ENUM),
     .def = "auto",
     .choices = gzip_choices,
     .help = "Pack the file. auto: if its name ends in .gz."},
    KIT_EXPORT_OPTIONS(chrome_options, overwrite),
    {0},
};

static const mill_stage chrome_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "chrome.write",
    .summary = "Writes timelines for chrome://tracing and Perfetto",
    .help = "Profiles with all that was read of them, so that kineto.read makes the same of the "
            "file, and beside them what was found: the lanes of reports, and schedules.",
    .inputs = chrome_inputs,
    .options = chrome_option_table,
    .options_size = sizeof(chrome_options),
    .state_size = sizeof(chrome_state),
    .open = chrome_open,
    .run = chrome_run,
    .finish = chrome_finish,
    .close = chrome_close,
};

static const mill_stage *const chrome_stages[] = {&chrome_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.chrome",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Timelines for chrome://tracing and Perfetto",
    .built_with = MILL_BUILT_WITH,
    .stages = chrome_stages,
};
