/* SPDX-License-Identifier: Apache-2.0 */
/* A stage class of any behaviour, and its type. */
#include "harness_probe.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

atomic_bool probe_may_end;
mill_status (*probe_checking)(mill_run *run);
bool probe_forgetful, probe_careless;
int probe_frees;

static probe_fn body, ending;

static mill_status probe_check(mill_run *run, const void *opts) {
    (void)opts;
    return probe_checking ? probe_checking(run) : MILL_OK;
}
static mill_status probe_run(mill_run *run, const void *opts, void *s) {
    return body(run, opts, s);
}
static mill_status probe_finish(mill_run *run, const void *opts, void *s) {
    return ending ? ending(run, opts, s) : MILL_OK;
}

#define AT(field, KIND) .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(probe_options, field, KIND)
static const mill_option option_table[] = {
    {.name = "top", AT(top, INT), .def = "10", .min = 1, .max = 100},
    {.name = "path", AT(path, PATH), .flags = MILL_OPT_GLOB},
    {.name = "out", AT(out, PATH), .flags = MILL_OPT_ITEM, .def = "${item}.txt"},
    {.name = NULL},
};
static const mill_port input_ports[] = {
    {.name = "in", .type = "test.x/1", .flags = MILL_PORT_OPTIONAL},
    {.name = NULL},
};
static const mill_port output_ports[] = {
    {.name = "out", .type = "test.x/1"},
    {.name = "own", .type = "test.own/1", .flags = MILL_PORT_OPTIONAL},
    {.name = "parts", .type = "test.x/1", .flags = MILL_PORT_ITEMS},
    {.name = "report", .type = MILL_TYPE_REPORT, .flags = MILL_PORT_OPTIONAL},
    {.name = NULL},
};
static const mill_stage probe = {
    MILL_STAGE_HEAD,
    .name = "probe",
    .inputs = input_ports,
    .outputs = output_ports,
    .options = option_table,
    .options_size = sizeof(probe_options),
    .state_size = sizeof(probe_state),
    .check = probe_check,
    .run = probe_run,
    .finish = probe_finish,
};

/* A type of its own: a number behind a format number, in memory from malloc. */
static void own_free(void *data) {
    probe_frees++;
    free(data);
}

static mill_status own_save(mill_run *run, const void *data, mill_sink *sink) {
    int64_t saved[2] = {1, ((const probe_own *)data)->number};
    (void)run;
    return sink->write(sink, saved, sizeof saved);
}

static mill_status own_load(mill_run *run, mill_source *source, void **ret_data) {
    int64_t saved[2] = {0};
    if (source->length < sizeof saved && !probe_careless)
        return mill_fail(run, MILL_E_DATA, "%d bytes are too few", (int)source->length);
    memcpy(saved, source->data, MIN(sizeof saved, source->length));
    probe_own *made = calloc(1, sizeof *made);
    made->number = probe_forgetful ? 0 : saved[1];
    *ret_data = made;
    return MILL_OK;
}

static const mill_type own_type = {sizeof(mill_type), 0,    "test.own/1", "a number",
                                   own_free,          NULL, own_save,     own_load};

static const mill_stage *const stages[] = {&probe, NULL};
static const mill_type *const types[] = {&own_type, NULL};
const mill_module probe_module = {MILL_MODULE_HEAD, .id = "test.probe", .stages = stages,
                                  .types = types};

mill_status probe_post(mill_run *run, int64_t number) {
    int64_t *data = mill_value_alloc(run, NULL, sizeof *data);
    *data = number;
    return mill_output(run, 0, data);
}

int64_t *probe_number(kit_test *t, int64_t value) {
    int64_t *data = mill_value_alloc(kit_test_maker(t), NULL, sizeof *data);
    *data = value;
    return data;
}

static int64_t input(mill_run *run) {
    return mill_input_count(run, 0) > 0 ? *(const int64_t *)mill_input(run, 0, 0) : 0;
}

mill_status probe_good(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    return probe_post(run, input(run) + 1);
}

kit_test *probe_two_items(void) {
    kit_test *t = kit_test_create(&probe_module, "probe");
    kit_test_item(t, "a");
    kit_test_input(t, "in", "test.x/1", probe_number(t, 1));
    kit_test_item(t, "b");
    kit_test_input(t, "in", "test.x/1", probe_number(t, 2));
    return t;
}

void probe_behave(probe_fn run, probe_fn finish) {
    body = run;
    ending = finish;
    probe_checking = NULL;
    probe_forgetful = probe_careless = false;
    atomic_store(&probe_may_end, false);
}
