/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose one class breaks the contract in the way that its option `how` names. */
#include <stdlib.h>
#include <string.h>
#include <tracemill/report.h>

typedef struct options {
    const char *how;
} options;

typedef struct own {
    uint32_t size, reserved;
} own;

static mill_report *report(mill_run *run) {
    mill_report *r = mill_value_alloc(run, NULL, sizeof *r);
    r->size = sizeof *r;
    r->id = r->title = "wrong";
    return r;
}

static mill_status post(mill_run *run) {
    return mill_output(run, 0, report(run));
}

static own *make_own(void) {
    own *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    return made;
}

#define HOW(NAME) static mill_status NAME(mill_run *run)

HOW(nothing) {
    return post(run);
}

HOW(status_42) {
    post(run);
    return (mill_status)42;
}

HOW(status_minus_42) {
    post(run);
    return (mill_status)-42;
}

HOW(no_output) {
    (void)run;
    return MILL_OK;
}

HOW(no_cause) {
    (void)run;
    return MILL_E_IO;
}

HOW(cancelled) {
    (void)run;
    return MILL_E_CANCELLED;
}

HOW(twice) {
    post(run);
    return post(run);
}

/* The failure is not passed on: the run fails all the same. */
HOW(twice_hidden) {
    post(run);
    post(run);
    return MILL_OK;
}

HOW(no_such_port) {
    mill_output(run, 3, report(run));
    return post(run);
}

HOW(null_value) {
    return mill_output(run, 0, NULL);
}

HOW(foreign_memory) {
    static mill_report mine = {.size = sizeof mine};
    return mill_output(run, 0, &mine);
}

HOW(small_value) {
    uint32_t *value = mill_value_alloc(run, NULL, 4);
    *value = sizeof(mill_report);
    return mill_output(run, 0, value);
}

HOW(boasting_value) {
    mill_report *value = report(run);
    value->size = 4096;
    return mill_output(run, 0, value);
}

HOW(emit_on_one) {
    run->host->emit(run, 0, "a", report(run));
    return post(run);
}

HOW(output_on_items) {
    post(run);
    return mill_output(run, 2, make_own());
}

HOW(same_sub_key) {
    post(run);
    run->host->emit(run, 2, "a", make_own());
    return run->host->emit(run, 2, "a", make_own());
}

HOW(bad_sub_key) {
    post(run);
    return run->host->emit(run, 2, "a/b", make_own());
}

HOW(only_then_more) {
    post(run);
    run->host->emit(run, 2, NULL, make_own());
    return run->host->emit(run, 2, "a", make_own());
}

HOW(more_then_only) {
    post(run);
    run->host->emit(run, 2, "a", make_own());
    return run->host->emit(run, 2, NULL, make_own());
}

HOW(only_twice) {
    post(run);
    run->host->emit(run, 2, NULL, make_own());
    return run->host->emit(run, 2, NULL, make_own());
}

/* One value, which would be freed twice. */
HOW(value_twice) {
    post(run);
    own *made = make_own();
    run->host->emit(run, 2, "a", made);
    return run->host->emit(run, 2, "b", made);
}

HOW(value_on_two_ports) {
    own *made = make_own();
    post(run);
    mill_output(run, 1, made);
    return run->host->emit(run, 2, "b", made);
}

HOW(memory_of_no_value) {
    own other = {0};
    memset(mill_value_alloc(run, &other, 64), 0, 64); /* usable, so that it goes on to its end */
    return post(run);
}

HOW(memory_of_posted) {
    mill_report *r = report(run);
    mill_output(run, 0, r);
    memset(mill_value_alloc(run, r, 64), 0, 64);
    return MILL_OK;
}

HOW(hold_nothing) {
    own other = {0};
    run->host->hold(run, &other);
    return post(run);
}

static const struct {
    const char *name;
    mill_status (*run)(mill_run *);
} ways[] = {
    {"nothing", nothing},
    {"status-42", status_42},
    {"status-minus-42", status_minus_42},
    {"no-output", no_output},
    {"no-cause", no_cause},
    {"cancelled", cancelled},
    {"twice", twice},
    {"twice-hidden", twice_hidden},
    {"no-such-port", no_such_port},
    {"null-value", null_value},
    {"foreign-memory", foreign_memory},
    {"small-value", small_value},
    {"boasting-value", boasting_value},
    {"emit-on-one", emit_on_one},
    {"output-on-items", output_on_items},
    {"same-sub-key", same_sub_key},
    {"bad-sub-key", bad_sub_key},
    {"only-then-more", only_then_more},
    {"more-then-only", more_then_only},
    {"only-twice", only_twice},
    {"value-twice", value_twice},
    {"value-on-two-ports", value_on_two_ports},
    {"memory-of-no-value", memory_of_no_value},
    {"memory-of-posted", memory_of_posted},
    {"hold-nothing", hold_nothing},
};

static bool is_way(const void *opts, const char *name) {
    return strcmp(((const options *)opts)->how, name) == 0;
}

static mill_status run_wrong(mill_run *run, const void *opts, void *state) {
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (is_way(opts, ways[i].name))
            return ways[i].run(run);
    return post(run);
}

/* What goes wrong in the other callbacks. */
static mill_status check_wrong(mill_run *run, const void *opts) {
    if (is_way(opts, "check-value"))
        memset(mill_value_alloc(run, NULL, 64), 0, 64);
    if (is_way(opts, "check-fails"))
        return mill_fail(run, MILL_E_CONFIG, "does not like it");
    mill_sink *sink;
    if (is_way(opts, "check-sink"))
        run->host->sink_open(run, "file", &sink);
    return is_way(opts, "check-no-cause") ? MILL_E_CONFIG
           : is_way(opts, "check-gate")   ? MILL_GATE
                                          : MILL_OK;
}

static mill_status open_wrong(mill_run *run, const void *opts, void *state) {
    *(const char **)state = ((const options *)opts)->how;
    return is_way(opts, "open-output") ? post(run) : MILL_OK;
}

static mill_status finish_wrong(mill_run *run, const void *opts, void *state) {
    (void)state;
    if (is_way(opts, "finish-twice"))
        return post(run);
    return is_way(opts, "finish-no-cause") ? MILL_E_DATA : MILL_OK;
}

static void close_wrong(mill_run *run, void *state) {
    if (strcmp(*(const char **)state, "close-output") == 0)
        post(run);
}

/* STREAM: the outputs are due in `finish` only. */
static mill_status run_stream(mill_run *run, const void *opts, void *state) {
    (void)state;
    return is_way(opts, "stream-output") ? post(run) : MILL_OK;
}

static mill_status finish_stream(mill_run *run, const void *opts, void *state) {
    (void)state;
    return is_way(opts, "stream-nothing") ? MILL_OK : post(run);
}

static void own_free(void *data) {
    free(data);
}

/* Says yes and makes nothing of it. */
static mill_status own_to_report(mill_run *run, const void *data, mill_report **ret_report) {
    (void)run, (void)data, (void)ret_report;
    return MILL_OK;
}

static mill_status silent_to_report(mill_run *run, const void *data, mill_report **ret_report) {
    (void)run, (void)data, (void)ret_report;
    return MILL_E_DATA;
}

/* A format number and nothing else: what these values are, no test asks. */
static mill_status own_save(mill_run *run, const void *data, mill_sink *sink) {
    static const uint32_t format = 1;
    (void)run, (void)data;
    return sink->write(sink, &format, sizeof format);
}

static mill_status own_load(mill_run *run, mill_source *source, void **ret_data) {
    uint32_t *made = malloc(sizeof *made);
    if (made == NULL || source->length != sizeof *made)
        return mill_fail(run, MILL_E_DATA, "no memory, or not what was saved");
    *made = sizeof *made;
    *ret_data = made;
    return MILL_OK;
}

static const mill_type own_type = {.size = sizeof(mill_type),
                                   .id = "test.own/1",
                                   .help = "made by its own means",
                                   .free = own_free,
                                   .to_report = own_to_report,
                                   .save = own_save,
                                   .load = own_load};
static const mill_type silent_type = {.size = sizeof(mill_type),
                                      .id = "test.silent/1",
                                      .help = "becomes no report",
                                      .free = own_free,
                                      .to_report = silent_to_report,
                                      .save = own_save,
                                      .load = own_load};
static const mill_type *const types[] = {&own_type, &silent_type, NULL};

static const mill_option wrong_options[] = {{.name = "how",
                                             .type = MILL_OPT_STR,
                                             .offset = MILL_OPT_OFF(options, how, STR),
                                             .def = "nothing",
                                             .help = "what it does wrong"},
                                            {0}};
static const mill_port outputs[] = {
    {.name = "out", .type = MILL_TYPE_REPORT, .help = "for tests"},
    {.name = "own", .type = "test.own/1", .help = "for tests", .flags = MILL_PORT_OPTIONAL},
    {.name = "items", .type = "test.own/1", .help = "for tests", .flags = MILL_PORT_ITEMS},
    {0}};
static const mill_port out_only[] = {{.name = "out", .type = MILL_TYPE_REPORT, .help = "for tests"},
                                     {0}};
static const mill_port stream[] = {
    {.name = "in", .type = MILL_TYPE_REPORT, .help = "for tests", .flags = MILL_PORT_STREAM}, {0}};
static const mill_port out_own[] = {
    {.name = "own", .type = "test.own/1", .help = "for tests"},
    {.name = "silent", .type = "test.silent/1", .help = "for tests"},
    {0}};

static const mill_stage wrong = {MILL_STAGE_HEAD,
                                 .name = "wrong.one",
                                 .summary = "for tests",
                                 .outputs = outputs,
                                 .options = wrong_options,
                                 .options_size = sizeof(options),
                                 .state_size = sizeof(const char *),
                                 .check = check_wrong,
                                 .open = open_wrong,
                                 .run = run_wrong,
                                 .finish = finish_wrong,
                                 .close = close_wrong};
static const mill_stage wrong_stream = {MILL_STAGE_HEAD,          MILL_STAGE_SINGLE,
                                        .name = "wrong.stream",   .summary = "for tests",
                                        .inputs = stream,         .outputs = out_only,
                                        .options = wrong_options, .options_size = sizeof(options),
                                        .run = run_stream,        .finish = finish_stream};

static mill_status run_own(mill_run *run, const void *opts, void *state) {
    (void)opts, (void)state;
    mill_output(run, 0, make_own());
    return mill_output(run, 1, make_own());
}

static const mill_stage makes_own = {MILL_STAGE_HEAD, .name = "wrong.own", .summary = "for tests",
                                     .outputs = out_own, .run = run_own};

static const mill_stage *const classes[] = {&wrong, &wrong_stream, &makes_own, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD,
                                                .id = "test.wrong",
                                                .version = "1.0.0",
                                                .license = "Apache-2.0",
                                                .author = "Tracemill's tests",
                                                .summary = "breaks the contract",
                                                .built_with = MILL_BUILT_WITH,
                                                .stages = classes,
                                                .types = types};
