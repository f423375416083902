/* SPDX-License-Identifier: Apache-2.0 */
/* Module org.tracemill.test: its types, the small classes between readers and exporters, and an
 * exporter whose output is easy to read in a golden file. */
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <tracemill/kit/report.h>

/* ---------------------------------------------------------------- types */

mill_status load_post(mill_run *run, uint32_t port, load value) {
    load *posted = mill_value_alloc(run, NULL, sizeof *posted);
    *posted = value;
    posted->size = sizeof *posted;
    return mill_output(run, port, posted);
}

static mill_status load_to_report(mill_run *run, const void *data, mill_report **ret_report) {
    const load *value = data;
    kit_report *report = kit_report_begin(run, "load", "Load", NULL);
    kit_report_summary(report, "total %lld of %u lines", (long long)value->total, value->lines);
    *ret_report = kit_report_end(report);
    return MILL_OK;
}

/* A format number before it, as it lies in memory after it: both ends are on one machine. */
static mill_status load_save(mill_run *run, const void *data, mill_sink *sink) {
    static const uint32_t format = 1;
    (void)run;
    mill_status status = sink->write(sink, &format, sizeof format);
    return status == MILL_OK ? sink->write(sink, data, sizeof(load)) : status;
}

static mill_status load_load(mill_run *run, mill_source *source, void **ret_data) {
    if (source->length != sizeof(uint32_t) + sizeof(load))
        return mill_fail(run, MILL_E_DATA, "this is no %s", TYPE_LOAD);
    load *made = mill_value_alloc(run, NULL, sizeof *made);
    memcpy(made, source->data + sizeof(uint32_t), sizeof *made);
    *ret_data = made;
    return MILL_OK;
}

const mill_type load_type = {
    .size = sizeof(mill_type),
    .id = TYPE_LOAD,
    .help = "numbers, summed",
    .to_report = load_to_report,
    .save = load_save,
    .load = load_load,
};

/* Stays in the process where it is made. */
const mill_type note_type = {.size = sizeof(mill_type), .id = TYPE_NOTE, .help = "a text"};

static const mill_port load_output[] = {{.name = "load", .type = TYPE_LOAD, .help = "the sum"},
                                        {0}};

/* ---------------------------------------------------------------- test.convert */

static mill_status convert_run(mill_run *run, const void *opts, void *state) {
    (void)opts, (void)state;
    const note *from = mill_input(run, 0, 0);
    return load_post(run, 0, (load){.total = (int64_t)strlen(from->path)});
}

static const mill_port convert_inputs[] = {
    {.name = "note", .type = TYPE_NOTE, .help = "what to convert"},
    {0},
};

const mill_stage convert_class = {
    MILL_STAGE_HEAD,          .name = "test.convert", .summary = "makes a load of a note",
    .inputs = convert_inputs, .outputs = load_output, .run = convert_run,
};

/* ---------------------------------------------------------------- test.sum */

static mill_status sum_run(mill_run *run, const void *opts, void *state) {
    (void)opts, (void)state;
    load sum = {0};
    for (size_t i = 0; i < mill_input_count(run, 0); i++) {
        const load *one = mill_input(run, 0, i);
        sum.lines += one->lines;
        sum.total += one->total;
    }
    size_t missing = run->host->missing(run, 0, 0, NULL, NULL);
    if (missing > 0)
        mill_log(run, MILL_WARNING, "missing items: %zu", missing);
    return load_post(run, 0, sum);
}

static const mill_port sum_inputs[] = {
    {.name = "loads", .type = TYPE_LOAD, .help = "what to add", .flags = MILL_PORT_MANY},
    {0},
};

const mill_stage sum_class = {
    MILL_STAGE_HEAD,      .name = "test.sum",     .summary = "adds all items",
    .inputs = sum_inputs, .outputs = load_output, .run = sum_run,
};

/* ---------------------------------------------------------------- test.pair */

static mill_status pair_run(mill_run *run, const void *opts, void *state) {
    (void)opts, (void)state;
    const load *left = mill_input(run, 0, 0), *right = mill_input(run, 1, 0);
    return load_post(run, 0, (load){.total = left->total - right->total});
}

static const mill_port pair_inputs[] = {
    {.name = "left", .type = TYPE_LOAD, .help = "what to take from"},
    {.name = "right", .type = TYPE_LOAD, .help = "what to take"},
    {0},
};

const mill_stage pair_class = {
    MILL_STAGE_HEAD,       .name = "test.pair",    .summary = "tells the difference of two loads",
    .inputs = pair_inputs, .outputs = load_output, .run = pair_run,
};

/* ---------------------------------------------------------------- test.judge */

static mill_status judge_run(mill_run *run, const void *opts, void *state) {
    (void)opts, (void)state;
    const load *judged = mill_input(run, 0, 0);
    mill_log(run, MILL_ERROR, "the total is %lld", (long long)judged->total);
    mill_status status = load_post(run, 0, *judged);
    return status < MILL_OK ? status : MILL_GATE;
}

static const mill_port judge_inputs[] = {
    {.name = "load", .type = TYPE_LOAD, .help = "what to judge"},
    {0},
};

static const mill_port judge_outputs[] = {
    {.name = "load", .type = TYPE_LOAD, .help = "the same", .flags = MILL_PORT_OPTIONAL},
    {0},
};

const mill_stage judge_class = {
    MILL_STAGE_HEAD,        .name = "test.judge",     .summary = "is a gate that is never met",
    .inputs = judge_inputs, .outputs = judge_outputs, .run = judge_run,
};

/* ---------------------------------------------------------------- test.write */

typedef struct write_options {
    const char *path, *title;
} write_options;

static mill_status write_run(mill_run *run, const void *opts, void *state) {
    const write_options *o = opts;
    (void)state;
    const mill_report *report = mill_input(run, 0, 0);
    const char *stage = run->host->input_stage(run, 0, 0), *key = run->host->input_key(run, 0, 0);
    size_t size = strlen(o->title) + strlen(stage) + strlen(key) + strlen(report->summary) + 16;
    char *line = mill_scratch(run, size);
    int n = snprintf(line, size, "%s: %s \"%s\": %s\n", o->title, stage, key, report->summary);
    mill_sink *sink;
    mill_status status = run->host->sink_open(run, o->path, &sink);
    return status < MILL_OK ? status : sink->write(sink, line, (size_t)n);
}

static const mill_option write_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(write_options, path, PATH),
     .def = "-",
     .help = "the file to write"},
    {.name = "title",
     .type = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(write_options, title, STR),
     .def = "got",
     .help = "what each line begins with"},
    {0},
};

static const mill_port write_inputs[] = {
    {.name = "report", .type = MILL_TYPE_REPORT, .help = "a line each", .flags = MILL_PORT_STREAM},
    {0},
};

const mill_stage write_class = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "test.write",
    .summary = "writes a line for each report",
    .inputs = write_inputs,
    .options = write_option_table,
    .options_size = sizeof(write_options),
    .run = write_run,
};

/* ---------------------------------------------------------------- the module */

static const mill_stage *const classes[] = {
    &read_class,    &split_class, &number_class, &plan_class,  &sum_class,
    &convert_class, &pair_class,  &judge_class,  &write_class, NULL};
static const mill_type *const types[] = {&load_type, &note_type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.tracemill.test",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "what the tests of pipelines need",
    .built_with = MILL_BUILT_WITH,
    .stages = classes,
    .types = types,
};
