/* SPDX-License-Identifier: Apache-2.0 */
/* Readers: test.read (a file, two outputs), test.split (a file, an item a line), test.number (no
 * file). */
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <tracemill/kit/number.h>

typedef struct read_options {
    const char *path;
} read_options;

static const mill_option read_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
     .offset = MILL_OPT_OFF(read_options, path, PATH),
     .help = "file or glob of numbers, one a line"},
    {0},
};

typedef mill_status (*line_fn)(mill_run *run, void *arg, uint32_t line, int64_t number);

/* Calls fn for each line of the file, counted from 1. */
static mill_status each_number(mill_run *run, const char *path, line_fn fn, void *arg) {
    mill_source *source;
    mill_status status = run->host->source_map(run, path, &source);
    const char *at = status < MILL_OK ? NULL : (const char *)source->data;
    const char *end = at + (at != NULL ? source->length : 0);
    for (uint32_t line = 1; status == MILL_OK && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((newline != NULL ? newline : end) - at);
        int64_t number;
        status = kit_parse_int(at, n, false, &number)
                     ? fn(run, arg, line, number)
                     : mill_fail(run, MILL_E_DATA, "%s:%u: expected a whole number", path, line);
        at = newline != NULL ? newline + 1 : end;
    }
    return status;
}

/* ---------------------------------------------------------------- test.read */

static mill_status add(mill_run *run, void *arg, uint32_t line, int64_t number) {
    load *sum = arg;
    sum->lines = line;
    return __builtin_add_overflow(sum->total, number, &sum->total)
               ? mill_fail(run, MILL_E_DATA, "the total does not fit 64 bits at line %u", line)
               : MILL_OK;
}

static mill_status read_run(mill_run *run, const void *opts, void *state) {
    const char *path = ((const read_options *)opts)->path;
    (void)state;
    load sum = {0};
    mill_status status = each_number(run, path, add, &sum);
    if (status < MILL_OK)
        return status;
    note *about = mill_value_alloc(run, NULL, sizeof *about);
    char *copy = mill_value_alloc(run, about, strlen(path) + 1);
    strcpy(copy, path);
    *about = (note){.size = sizeof *about, .path = copy};
    status = load_post(run, 0, sum);
    return status < MILL_OK ? status : mill_output(run, 1, about);
}

static const mill_port read_outputs[] = {
    {.name = "matrix", .type = TYPE_LOAD, .help = "the numbers"},
    {.name = "meta", .type = TYPE_NOTE, .help = "about the file"},
    {0},
};

const mill_stage read_class = {
    MILL_STAGE_HEAD,         .name = "test.read",          .summary = "reads numbers",
    .outputs = read_outputs, .options = read_option_table, .options_size = sizeof(read_options),
    .run = read_run,
};

/* ---------------------------------------------------------------- test.split */

static mill_status emit(mill_run *run, void *arg, uint32_t line, int64_t number) {
    (void)arg;
    char key[16];
    snprintf(key, sizeof key, "line%u", line);
    load *value = mill_value_alloc(run, NULL, sizeof *value);
    *value = (load){.size = sizeof *value, .lines = 1, .total = number};
    return run->host->emit(run, 0, key, value);
}

static mill_status split_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    return each_number(run, ((const read_options *)opts)->path, emit, NULL);
}

static const mill_port split_outputs[] = {
    {.name = "loads", .type = TYPE_LOAD, .help = "an item a line", .flags = MILL_PORT_ITEMS},
    {0},
};

const mill_stage split_class = {
    MILL_STAGE_HEAD,
    .name = "test.split",
    .summary = "reads numbers, each an item of its own",
    .outputs = split_outputs,
    .options = read_option_table,
    .options_size = sizeof(read_options),
    .run = split_run,
};

/* ---------------------------------------------------------------- test.number */

typedef struct number_options {
    int64_t value;
} number_options;

static mill_status number_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    return load_post(run, 0, (load){.total = ((const number_options *)opts)->value});
}

static const mill_option number_option_table[] = {
    {.name = "value",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(number_options, value, INT),
     .def = "1",
     .help = "the number"},
    {0},
};

static const mill_port number_outputs[] = {
    {.name = "load", .type = TYPE_LOAD, .help = "the number"},
    {0},
};

const mill_stage number_class = {
    MILL_STAGE_HEAD,
    .name = "test.number",
    .summary = "gives a number",
    .outputs = number_outputs,
    .options = number_option_table,
    .options_size = sizeof(number_options),
    .run = number_run,
};
