/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin as somebody might have built it with SDK 1.0: it uses every service, every type of
 * option and every flag of that version, and nothing that came later. It is frozen: when a later
 * host does not run it as before, the host is wrong. Without the kit, which would bring fixes of
 * later versions with it. */
#include <stdlib.h>
#include <string.h>
#include <tracemill/report.h>
#include <tracemill/trace.h>

#define TYPE_LINE "org.old.line/1"

/* ---------------------------------------------------------------- reports by hand */

enum { MAX_FIGURES = 64 };

typedef struct builder {
    mill_run *run;
    mill_report *report;
    const mill_figure **figures;
} builder;

static char *copy(builder *b, const char *text) {
    char *to = mill_value_alloc(b->run, b->report, strlen(text) + 1);
    return strcpy(to, text);
}

static builder begin(mill_run *run, const char *id) {
    builder b = {.run = run, .report = mill_value_alloc(run, NULL, sizeof(mill_report))};
    b.figures = mill_value_alloc(run, b.report, MAX_FIGURES * sizeof *b.figures);
    b.report->size = sizeof *b.report;
    b.report->id = copy(&b, id);
    b.report->title = "Of a frozen plugin";
    b.report->figures = b.figures;
    return b;
}

static void figure(builder *b, const char *id, mill_kind kind, mill_datum value) {
    mill_figure *f = mill_value_alloc(b->run, b->report, sizeof *f);
    *f = (mill_figure){.size = sizeof *f, .kind = kind, .value = value};
    f->id = f->label = copy(b, id);
    if (b->report->n_figures < MAX_FIGURES)
        b->figures[b->report->n_figures++] = f;
}

static void figure_int(builder *b, const char *id, int64_t value) {
    figure(b, id, MILL_KIND_COUNT, (mill_datum){.i = value});
}

static void figure_text(builder *b, const char *id, const char *text) {
    figure(b, id, MILL_KIND_TEXT, (mill_datum){.text = copy(b, text ? text : "(none)")});
}

/* ---------------------------------------------------------------- a type of its own */

typedef struct line {
    uint32_t size, length;
    char *text;
} line;

static line *line_make(const char *text, size_t length) {
    line *l = malloc(sizeof *l);
    *l = (line){sizeof *l, (uint32_t)length, malloc(length + 1)};
    memcpy(l->text, text, length);
    l->text[length] = '\0';
    return l;
}

static void line_free(void *data) {
    line *l = data;
    free(l->text);
    free(l);
}

static mill_status line_to_report(mill_run *run, const void *data, mill_report **ret_report) {
    builder b = begin(run, "line");
    figure_text(&b, "text", ((const line *)data)->text);
    *ret_report = b.report;
    return MILL_OK;
}

static mill_status line_save(mill_run *run, const void *data, mill_sink *sink) {
    const line *l = data;
    const uint32_t head[] = {1, l->length};
    mill_status status = sink->write(sink, head, sizeof head);
    (void)run;
    return status == MILL_OK ? sink->write(sink, l->text, l->length) : status;
}

static mill_status line_load(mill_run *run, mill_source *source, void **ret_data) {
    uint32_t head[2] = {0, 0};
    if (source->length >= sizeof head)
        memcpy(head, source->data, sizeof head);
    if (head[0] != 1 || head[1] != source->length - sizeof head)
        return mill_fail(run, MILL_E_DATA, "not a saved line");
    *ret_data = line_make((const char *)source->data + sizeof head, head[1]);
    return MILL_OK;
}

static const mill_type line_type = {
    .size = sizeof(mill_type),
    .id = TYPE_LINE,
    .help = "a line of a text",
    .free = line_free,
    .to_report = line_to_report,
    .save = line_save,
    .load = line_load,
};

/* ---------------------------------------------------------------- old.options */

typedef struct all_options {
    bool flag;
    int64_t whole, bytes, duration;
    double number;
    const char *text, *path, *regex;
    int choice;
    mill_list numbers, words;
} all_options;

static const char *const choices[] = {"one", "two", NULL};

#define OPTION(field, KIND)                                                                        \
    .offset = MILL_OPT_OFF(all_options, field, KIND), .type = MILL_OPT_##KIND

static const mill_option option_table[] = {
    {.name = "flag", OPTION(flag, BOOL), .def = "yes", .help = "."},
    {.name = "whole",
     OPTION(whole, INT),
     .def = "3",
     .min = 1,
     .max = 9,
     .unit = "things",
     .help = "."},
    {.name = "number", OPTION(number, NUM), .def = "0.5", .help = "."},
    {.name = "text", OPTION(text, STR), .flags = MILL_OPT_REQUIRED, .help = "."},
    {.name = "path", OPTION(path, PATH), .def = "${tracemill:data}/rules/kernels.ini", .help = "."},
    {.name = "regex", OPTION(regex, REGEX), .def = "^a", .help = "."},
    {.name = "choice", OPTION(choice, ENUM), .def = "two", .choices = choices, .help = "."},
    {.name = "duration", OPTION(duration, DURATION), .def = "1.5ms", .help = "."},
    {.name = "bytes", OPTION(bytes, BYTES), .def = "4KiB", .help = "."},
    {.name = "numbers", OPTION(numbers, LIST), .elem = MILL_OPT_INT, .def = "1, 2, 3", .help = "."},
    {.name = "words", OPTION(words, LIST), .elem = MILL_OPT_STR, .help = "."},
    {.name = "gone",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(all_options, whole, INT),
     .flags = MILL_OPT_DEPRECATED,
     .help = "Use whole."},
    {0},
};

static bool on_line(void *arg, const char *section, const char *key, const char *value,
                    uint32_t number) {
    int64_t *sections = arg;
    (void)section, (void)value, (void)number;
    *sections += key == NULL;
    return true;
}

static mill_status options_check(mill_run *run, const void *opts) {
    const all_options *o = opts;
    return strcmp(o->text, "wrong") == 0
               ? mill_fail(run, MILL_E_CONFIG, "text = wrong: a rule between options")
               : MILL_OK;
}

static mill_status options_run(mill_run *run, const void *opts, void *state) {
    const all_options *o = opts;
    builder b = begin(run, "options");
    int64_t sum = 0, sections = 0;
    (void)state;
    figure_int(&b, "flag", o->flag);
    figure_int(&b, "whole", o->whole);
    figure(&b, "number", MILL_KIND_REAL, (mill_datum){.d = o->number});
    figure_text(&b, "text", o->text);
    figure_text(&b, "regex", o->regex);
    figure_int(&b, "choice", o->choice);
    figure(&b, "duration", MILL_KIND_NS, (mill_datum){.i = o->duration});
    figure(&b, "bytes", MILL_KIND_BYTES, (mill_datum){.i = o->bytes});
    for (size_t i = 0; i < o->numbers.n; i++)
        sum += ((const int64_t *)o->numbers.v)[i];
    figure_int(&b, "sum_of_numbers", sum);
    for (size_t i = 0; i < o->words.n; i++)
        figure_text(&b, "word", ((const char *const *)o->words.v)[i]);
    figure_int(&b, "text_given", mill_option_given(run, "text"));
    figure_int(&b, "whole_given", mill_option_given(run, "whole"));
    if (run->host->ini_read(run, o->path, on_line, &sections) != MILL_OK)
        return MILL_E_DATA;
    figure_int(&b, "rules_are_read", sections > 0);
    figure_int(&b, "no_such_extension", run->host->extension(run->host, "org.old.nothing") == NULL);
    figure_int(&b, "abi_major", run->host->abi_major);
    return mill_output(run, 0, b.report);
}

static const mill_port options_outputs[] = {
    {.name = "report", .type = MILL_TYPE_REPORT, .help = "."}, {0}};

static const mill_stage options_stage = {
    MILL_STAGE_HEAD,
    .name = "old.options",
    .summary = "Shows options of every type",
    .outputs = options_outputs,
    .options = option_table,
    .options_size = sizeof(all_options),
    .check = options_check,
    .run = options_run,
};

/* ---------------------------------------------------------------- old.read */

typedef struct read_options {
    const char *path, *match;
} read_options;

typedef struct read_state {
    mill_regex *regex;
    int group;
} read_state;

static const mill_option read_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
     .offset = MILL_OPT_OFF(read_options, path, PATH),
     .help = "."},
    {.name = "match",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(read_options, match, REGEX),
     .def = "^(?<word>[a-z]+)",
     .help = "."},
    {0},
};

static const mill_port read_outputs[] = {
    {.name = "line", .type = TYPE_LINE, .help = ".", .flags = MILL_PORT_ITEMS},
    {.name = "rest", .type = MILL_TYPE_REPORT, .help = ".", .flags = MILL_PORT_OPTIONAL},
    {0},
};

static mill_status read_open(mill_run *run, const void *opts, void *state) {
    read_state *s = state;
    mill_status status = run->host->regex_new(run, ((const read_options *)opts)->match,
                                              MILL_REGEX_CASELESS, &s->regex);
    s->group = status == MILL_OK ? run->host->regex_group(s->regex, "word") : -1;
    return status;
}

/* A line's first word; of the others only how many there are. */
static mill_status read_run(mill_run *run, const void *opts, void *state) {
    const read_options *o = opts;
    const read_state *s = state;
    mill_source *file;
    mill_status status = run->host->source_map(run, o->path, &file);
    for (uint64_t at = 0, number = 1; status == MILL_OK && at < file->length; number++) {
        const char *text = (const char *)file->data + at;
        const char *end = memchr(text, '\n', (size_t)(file->length - at));
        size_t length = end ? (size_t)(end - text) : (size_t)(file->length - at);
        mill_span groups[8];
        at += length + 1;
        mill_progress(run, at, file->length, "bytes");
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
        if (s->group < 0 || s->group > 7 ||
            !run->host->regex_match(s->regex, text, length, groups, (size_t)s->group + 1))
            continue;
        char key[16];
        mill_span word = groups[s->group];
        snprintf(key, sizeof key, "line%d", (int)number);
        status = run->host->emit(run, 0, key,
                                 line_make(text + word.start, (size_t)(word.end - word.start)));
    }
    return status;
}

static void read_close(mill_run *run, void *state) {
    (void)run, (void)state;
}

static const mill_stage read_stage = {
    MILL_STAGE_HEAD,
    .name = "old.read",
    .summary = "Reads the first word of each line",
    .help = "A help.",
    .outputs = read_outputs,
    .options = read_table,
    .options_size = sizeof(read_options),
    .state_size = sizeof(read_state),
    .open = read_open,
    .run = read_run,
    .close = read_close,
};

/* ---------------------------------------------------------------- old.gather */

static mill_status add_length(mill_run *run, void *arg, size_t i) {
    const line *l = mill_input(run, 0, i);
    __atomic_add_fetch((int64_t *)arg, l->length, __ATOMIC_RELAXED);
    return MILL_OK;
}

static mill_status gather_run(mill_run *run, const void *opts, void *state) {
    builder b = begin(run, "gather");
    size_t n = mill_input_count(run, 0);
    int64_t *total = mill_scratch(run, sizeof *total);
    const char *stage, *key;
    (void)opts, (void)state;
    for (size_t i = 0; i < n; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s %s %s %s", run->host->input_stage(run, 0, i),
                 run->host->input_key(run, 0, i), run->host->input_type(run, 0, i),
                 ((const line *)mill_input(run, 0, i))->text);
        figure_text(&b, "item", text);
    }
    mill_status status = run->host->parallel(run, n, add_length, total);
    figure_int(&b, "bytes_of_all", *total);
    figure_int(&b, "beyond_the_last_is_none", mill_input(run, 0, n) == NULL);
    figure_int(&b, "missing", (int64_t)run->host->missing(run, 0, 0, &stage, &key));
    figure_int(&b, "others", (int64_t)mill_input_count(run, 1));
    figure_text(&b, "key", mill_item_key(run));
    mill_log(run, MILL_DEBUG, "gathered %zu", n);
    return status == MILL_OK ? mill_output(run, 0, b.report) : status;
}

static const mill_port gather_inputs[] = {
    {.name = "line", .type = TYPE_LINE, .help = ".", .flags = MILL_PORT_MANY},
    {.name = "other", .type = MILL_TYPE_REPORT, .help = ".", .flags = MILL_PORT_OPTIONAL},
    {0},
};

static const mill_stage gather_stage = {
    MILL_STAGE_HEAD,
    .name = "old.gather",
    .summary = "Takes many values of the plugin's own type",
    .inputs = gather_inputs,
    .outputs = options_outputs,
    .run = gather_run,
};

/* ---------------------------------------------------------------- old.trace */

static void tell_row(builder *b, const mill_trace *t, uint64_t row) {
    uint32_t name = mill_u32(t, &t->gpu.name, row), stream = mill_u32(t, &t->gpu.stream, row);
    uint32_t launch = mill_u32(t, &t->gpu.launch, row);
    char text[256];
    snprintf(text, sizeof text, "%lld+%lld %s class %d cat %d device %lld stream %lld launch %s",
             (long long)mill_i64(t, &t->gpu.start, row), (long long)mill_i64(t, &t->gpu.dur, row),
             mill_name(t, name), (int)mill_name_class(t, name), mill_u8(t, &t->gpu.cat, row),
             (long long)mill_i64(t, &t->devices.id, mill_u32(t, &t->streams.device, stream)),
             (long long)mill_i64(t, &t->streams.id, stream),
             launch == MILL_NONE ? "(none)" : mill_name(t, mill_u32(t, &t->cpu.name, launch)));
    figure_text(b, "gpu", text);
}

static mill_status trace_run(mill_run *run, const void *opts, void *state) {
    const mill_trace *t = mill_input(run, 0, 0);
    builder b = begin(run, "trace");
    (void)opts, (void)state;
    for (uint64_t row = 0; row < t->gpu.n; row++)
        tell_row(&b, t, row);
    for (uint64_t row = 0; row < t->cpu.n; row++)
        figure_text(&b, "cpu", mill_name(t, mill_u32(t, &t->cpu.name, row)));
    figure_int(&b, "rank", t->rank);
    figure_int(&b, "complete", t->complete);
    figure_int(&b, "syncs", (int64_t)mill_sync_count(t));
    figure_int(&b, "bytes_known", t->gpu.n > 0 && mill_i64(t, &t->gpu.bytes, 0) != MILL_UNKNOWN);
    return mill_output(run, 0, b.report);
}

static const mill_port trace_inputs[] = {{.name = "trace", .type = MILL_TYPE_TRACE, .help = "."},
                                         {0}};

static const mill_stage trace_stage = {
    MILL_STAGE_HEAD,        .name = "old.trace",        .summary = "Tells what is in a profile",
    .inputs = trace_inputs, .outputs = options_outputs, .run = trace_run,
};

/* ---------------------------------------------------------------- old.write */

typedef struct write_options {
    const char *path;
} write_options;

typedef struct write_state {
    const mill_report *first; /* held */
    int runs;
} write_state;

static const mill_option write_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(write_options, path, PATH),
     .def = "-",
     .help = "."},
    {0},
};

static mill_status put(mill_sink *sink, const char *text) {
    return sink->write(sink, text, strlen(text));
}

static mill_status write_figure(mill_sink *sink, const mill_figure *f) {
    char text[512];
    if (f->kind == MILL_KIND_TEXT)
        snprintf(text, sizeof text, "  %s = \"%s\"\n", f->id, f->value.text);
    else if (f->kind == MILL_KIND_REAL || f->kind == MILL_KIND_RATIO)
        snprintf(text, sizeof text, "  %s = %g\n", f->id, f->value.d);
    else if (f->value.i == MILL_UNKNOWN)
        snprintf(text, sizeof text, "  %s = unknown\n", f->id);
    else
        snprintf(text, sizeof text, "  %s = %lld\n", f->id, (long long)f->value.i);
    return put(sink, text);
}

static mill_status write_run(mill_run *run, const void *opts, void *state) {
    write_state *s = state;
    const mill_report *report = mill_input(run, 0, 0);
    mill_sink *sink;
    char text[512];
    mill_status status = run->host->sink_open(run, ((const write_options *)opts)->path, &sink);
    if (status != MILL_OK)
        return status;
    if (s->runs++ == 0 && run->host->hold(run, report) == MILL_OK)
        s->first = report;
    snprintf(text, sizeof text, "%s of %s \"%s\", a %s\n", report->id,
             run->host->input_stage(run, 0, 0), run->host->input_key(run, 0, 0),
             run->host->input_type(run, 0, 0));
    status = put(sink, text);
    for (uint64_t i = 0; i < report->n_figures && status == MILL_OK; i++)
        status = write_figure(sink, report->figures[i]);
    return status;
}

static mill_status write_finish(mill_run *run, const void *opts, void *state) {
    write_state *s = state;
    const char *stage, *key;
    mill_sink *sink;
    char text[256];
    mill_status status = run->host->sink_open(run, ((const write_options *)opts)->path, &sink);
    if (status != MILL_OK)
        return status;
    snprintf(text, sizeof text, "%d reports, the first is %s, %zu missing\n", s->runs,
             s->first ? s->first->id : "(none)", run->host->missing(run, 0, 0, &stage, &key));
    if (s->first)
        run->host->drop(run, s->first);
    return put(sink, text);
}

static const mill_port write_inputs[] = {
    {.name = "report", .type = MILL_TYPE_REPORT, .help = ".", .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_stage write_stage = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "old.write",
    .summary = "Writes figures of reports as lines",
    .inputs = write_inputs,
    .options = write_table,
    .options_size = sizeof(write_options),
    .state_size = sizeof(write_state),
    .run = write_run,
    .finish = write_finish,
};

/* ---------------------------------------------------------------- old.gate */

static mill_status gate_run(mill_run *run, const void *opts, void *state) {
    (void)run, (void)opts, (void)state;
    return MILL_GATE;
}

static const mill_stage gate_stage = {
    MILL_STAGE_HEAD,        .name = "old.gate", .summary = "A gate that is never met",
    .inputs = trace_inputs, .run = gate_run,
};

/* ---------------------------------------------------------------- the module */

static mill_status init(const mill_host *host) {
    return host->abi_major == 1 ? MILL_OK : mill_init_fail(host, MILL_E_PLUGIN, "not major 1");
}

static void fini(void) {
}

static const mill_stage *const stages[] = {&options_stage, &read_stage, &gather_stage, &trace_stage,
                                           &write_stage,   &gate_stage, NULL};
static const mill_type *const types[] = {&line_type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.old",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .author = "Somebody",
    .summary = "A plugin built with SDK 1.0",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
    .types = types,
    .init = init,
    .fini = fini,
};
