/* acme.thing: reads a profile from CSV, one activity a line. */
#include <string.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/trace_builder.h>

/* ---------------------------------------------------------------- options and ports */

/* The host reads, checks and fills these in before it calls anything below. */
typedef struct settings {
    const char *path; /* of this run: the stage runs once per file */
    int64_t max_overlap;
} settings;

static const mill_option options[] = {
    {
        .name = "path",
        .type = MILL_OPT_PATH,
        .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
        .offset = MILL_OPT_OFF(settings, path, PATH),
        .help = "The CSV file; wildcards read one file a rank.",
    },
    {
        .name = "max-overlap",
        .type = MILL_OPT_DURATION,
        .offset = MILL_OPT_OFF(settings, max_overlap, DURATION),
        .def = "1ms",
        .min = 0,
        .max = 9e18,
        .help = "An activity that runs further than this into a later one of its stream has a "
                "broken timer and is cut where that one starts.",
    },
    {.name = NULL},
};

/* No inputs: a reader. */
static const mill_port outputs[] = {
    {.name = "trace", .type = MILL_TYPE_TRACE, .help = "the profile in columns"},
    {.name = NULL},
};

/* ---------------------------------------------------------------- one line */

enum { NAME, CLASS, DEVICE, STREAM, START, DURATION, N_CELLS };

static const char header[] = "name,class,device,stream,start_ns,duration_ns";

/* A piece of the file: it is mapped read-only, so texts in it don't end with a NUL. */
typedef struct text {
    const char *at;
    size_t length;
} text;

typedef struct reading {
    mill_run *run;
    const char *path;
    kit_trace *trace;
    uint64_t line;
} reading;

/* Takes what stands before `end_mark` off the front of `rest`; all of it where there is none. */
static text take(text *rest, char end_mark) {
    const char *end = memchr(rest->at, end_mark, rest->length);
    text taken = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
    size_t used = taken.length + (end ? 1 : 0);

    rest->at += used;
    rest->length -= used;
    return taken;
}

/* Lines end with LF, or CR LF. */
static text take_line(text *rest) {
    text line = take(rest, '\n');

    if (line.length > 0 && line.at[line.length - 1] == '\r')
        line.length--;
    return line;
}

static bool is(text t, const char *word) {
    return t.length == strlen(word) && memcmp(t.at, word, t.length) == 0;
}

static mill_class class_of(text word) {
    return is(word, "computation")     ? MILL_CLASS_COMPUTATION
           : is(word, "communication") ? MILL_CLASS_COMMUNICATION
           : is(word, "memory")        ? MILL_CLASS_MEMORY
           : is(word, "other")         ? MILL_CLASS_OTHER
                                       : MILL_CLASS_NONE;
}

static mill_status add_row(reading *r, const text *cells, mill_class cls, const int64_t *numbers) {
    kit_trace *b = r->trace;
    uint32_t device = kit_trace_device(b, numbers[DEVICE]);
    /* The same text in two classes is two names: the class is what tells them apart. */
    uint32_t name = kit_trace_name(b, cells[NAME].at, cells[NAME].length, cls);
    kit_gpu_row row = {
        .start = numbers[START],
        .dur = numbers[DURATION],
        .correlation = MILL_UNKNOWN, /* what the file does not tell is unknown, never 0 */
        .external_id = MILL_UNKNOWN,
        .grid = MILL_UNKNOWN,
        .block = MILL_UNKNOWN,
        .bytes = MILL_UNKNOWN,
        .waited_event = MILL_UNKNOWN,
        .name = name,
        .stream = kit_trace_stream(b, device, numbers[STREAM], MILL_NONE),
        .track = (uint32_t)r->line, /* no two lines are one activity written twice */
        .collective = MILL_NONE,
        .cat = cls == MILL_CLASS_MEMORY ? MILL_GPU_MEMCPY : MILL_GPU_KERNEL,
    };

    kit_trace_classify(b, name, cls, UINT16_MAX, UINT16_MAX);
    kit_trace_gpu(b, &row);
    return MILL_OK;
}

/* Every way for a line to be wrong has a sentence of its own, with the line's number. */
static mill_status read_line(reading *r, text line) {
    static const char *const names[] = {"name",   "class",    "device",
                                        "stream", "start_ns", "duration_ns"};
    text rest = line, cells[N_CELLS];
    int64_t numbers[N_CELLS] = {0};
    unsigned long long at = r->line;

    for (int i = 0; i < N_CELLS; i++) {
        if (rest.length == 0)
            return mill_fail(r->run, MILL_E_DATA, "%s:%llu: no %s: expected %s", r->path, at,
                             names[i], header);
        cells[i] = take(&rest, ',');
    }
    if (rest.length > 0)
        return mill_fail(
            r->run, MILL_E_DATA,
            "%s:%llu: \"%.*s\" is left over after six cells; a name can't hold a comma", r->path,
            at, (int)(rest.length < 40 ? rest.length : 40), rest.at);
    if (class_of(cells[CLASS]) == MILL_CLASS_NONE)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s:%llu: class \"%.*s\": expected computation, communication, memory or "
                         "other",
                         r->path, at, (int)(cells[CLASS].length < 40 ? cells[CLASS].length : 40),
                         cells[CLASS].at);
    for (int i = DEVICE; i < N_CELLS; i++)
        if (!kit_parse_int(cells[i].at, cells[i].length, false, &numbers[i]) || numbers[i] < 0)
            return mill_fail(r->run, MILL_E_DATA,
                             "%s:%llu: %s \"%.*s\": expected a whole number from 0", r->path, at,
                             names[i], (int)(cells[i].length < 40 ? cells[i].length : 40),
                             cells[i].at);
    return add_row(r, cells, class_of(cells[CLASS]), numbers);
}

/* ---------------------------------------------------------------- the stage */

static mill_status read_file(reading *r, const mill_source *file) {
    text rest = {(const char *)file->data, (size_t)file->length}, first;
    mill_status status = MILL_OK;

    first = take_line(&rest);
    r->line = 1;
    if (!is(first, header))
        return mill_fail(r->run, MILL_E_DATA, "%s:1: expected the line \"%s\"", r->path, header);
    while (rest.length > 0 && status == MILL_OK) {
        text line = take_line(&rest);

        r->line++;
        if (r->line % 4096 == 0) {
            mill_progress(r->run, file->length - rest.length, file->length, "bytes");
            if (mill_cancelled(r->run))
                return MILL_E_CANCELLED;
        }
        if (line.length > 0)
            status = read_line(r, line);
    }
    kit_trace_value(r->trace)->events = r->line - 1;
    kit_trace_value(r->trace)->bytes = file->length;
    return status;
}

/* Called once per file, on any thread. The builder holds memory of its own: it is destroyed on
 * every path, before or after the value is posted. */
static mill_status stage_run(mill_run *run, const void *opts, void *state) {
    const settings *o = opts;
    reading r = {.run = run, .path = o->path};
    mill_source *file;
    mill_status status = run->host->source_map(run, o->path, &file);

    (void)state;
    if (status != MILL_OK)
        return status; /* it said why already */
    r.trace = kit_trace_create(run);
    kit_trace_value(r.trace)->path = kit_trace_text(r.trace, o->path, strlen(o->path));
    status = read_file(&r, file);
    if (status == MILL_OK)
        status = mill_output(run, 0, kit_trace_finish(r.trace, o->max_overlap));
    kit_trace_destroy(r.trace);
    return status;
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "acme.thing",
    .summary = "Reads a profile from CSV, one activity a line",
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(settings),
    .run = stage_run,
};

/* ---------------------------------------------------------------- the module */

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.acme.thing",
    .version = "0.1.0",
    .license = "LicenseRef-undecided", /* yours, as an SPDX expression */
    .author = "The author of acme.thing",
    .summary = "Profiles written as CSV",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
