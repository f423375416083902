/* SPDX-License-Identifier: Apache-2.0 */
/* A module as a later SDK might build it for an old ABI version: every struct is longer than ours,
 * so elements of arrays lie further apart. */
#include <tracemill/tracemill.h>

typedef struct options {
    int64_t first, second;
} options;

typedef struct wide_option {
    mill_option option;
    void *appended[2];
} wide_option;

typedef struct wide_port {
    mill_port port;
    void *appended;
} wide_port;

static const wide_option wide_options[] = {
    {.option = {.name = "first",
                .type = MILL_OPT_INT,
                .offset = MILL_OPT_OFF(options, first, INT),
                .def = "1"}},
    {.option = {.name = "second",
                .type = MILL_OPT_DURATION,
                .offset = MILL_OPT_OFF(options, second, DURATION),
                .def = "2ms"}},
    {.option = {0}}};
static const wide_port wide_ports[] = {{.port = {.name = "left", .type = "mill.report/1"}},
                                       {.port = {.name = "right", .type = "mill.report/1"}},
                                       {.port = {0}}};

static mill_status run(mill_run *host_run, const void *opts, void *state) {
    (void)opts;
    (void)state;
    return mill_fail(host_run, MILL_E_DATA, "a fixture runs nothing");
}

static const struct {
    mill_stage stage;
    void *appended;
} stage = {{sizeof stage, sizeof(wide_option), sizeof(wide_port), 0, .name = "wide",
            .inputs = &wide_ports[0].port, .options = &wide_options[0].option,
            .options_size = sizeof(options), .run = run},
           NULL};
static const mill_stage *const stages[] = {&stage.stage, NULL};

MILL_EXPORT const struct {
    mill_module module;
    void *appended;
} wide_module_v1 __asm__(MILL_MODULE_SYMBOL) = {{MILL_MAGIC, MILL_ABI_MAJOR, MILL_ABI_MINOR,
                                                 sizeof wide_module_v1, .id = "test.wide",
                                                 .version = "2.0", .stages = stages},
                                                NULL};
