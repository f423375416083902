/* SPDX-License-Identifier: Apache-2.0 */
/* A small valid module, built several times: FIXTURE_ID and FIXTURE_CLASS name it,
 * FIXTURE_TYPE_EXTRA makes its type's descriptor longer. It tells the host when it begins and ends.
 */
#include <tracemill/tracemill.h>

typedef struct options {
    int64_t top;
    const char *path;
    mill_list modes;
} options;

static const char *const modes[] = {"mean", "max", NULL};

static const mill_option class_options[] = {{.name = "top",
                                             .type = MILL_OPT_INT,
                                             .offset = MILL_OPT_OFF(options, top, INT),
                                             .def = "10",
                                             .min = 1,
                                             .max = 1000,
                                             .unit = "rows",
                                             .help = "How many rows to keep."},
                                            {.name = "path",
                                             .type = MILL_OPT_PATH,
                                             .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
                                             .offset = MILL_OPT_OFF(options, path, PATH),
                                             .help = "The files to read."},
                                            {.name = "modes",
                                             .type = MILL_OPT_LIST,
                                             .elem = MILL_OPT_ENUM,
                                             .offset = MILL_OPT_OFF(options, modes, LIST),
                                             .def = "mean, max",
                                             .choices = modes},
                                            {0}};

static const mill_port inputs[] = {
    {.name = "trace", .type = "mill.trace/1", .help = "What to look at."},
    {.name = "prior", .type = "org.tracemill.test/1", .flags = MILL_PORT_OPTIONAL},
    {0}};
static const mill_port outputs[] = {{.name = "report", .type = "mill.report/1"}, {0}};

static mill_status run(mill_run *host_run, const void *opts, void *state) {
    (void)opts;
    (void)state;
    return mill_fail(host_run, MILL_E_DATA, "a fixture runs nothing");
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = FIXTURE_CLASS,
    .summary = "A class to test with.",
    .help = "The first paragraph, which is long enough to need more than one line of eighty "
            "characters.\n\nThe second one.",
    .inputs = inputs,
    .outputs = outputs,
    .options = class_options,
    .options_size = sizeof(options),
    .run = run,
};
static const mill_stage *const stages[] = {&stage, NULL};

static const struct {
    mill_type type;
    void *appended; /* as a later minor version might */
} type = {{.size = sizeof(mill_type) + FIXTURE_TYPE_EXTRA, .id = "org.tracemill.test/1"}, NULL};
static const mill_type *const types[] = {&type.type, NULL};

static const mill_host *init_host;

static mill_status init(const mill_host *host) {
    init_host = host;
    host->extension(host, "init " FIXTURE_ID);
    return MILL_OK;
}

static void fini(void) {
    init_host->extension(init_host, "fini " FIXTURE_ID);
}

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = FIXTURE_ID,
    .version = "1.2.0",
    .license = "Apache-2.0",
    .author = "Tracemill",
    .summary = "A module to test with.",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
    .types = types,
    .init = init,
    .fini = fini,
};
