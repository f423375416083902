/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.schedule: the stage class schedule.write, pipeline schedules as files for other
 * programs. */
#include "formats.h"

#include <glib.h>
#include <string.h>

enum { PORT_SCHEDULE };
enum { FORMAT_CSV, FORMAT_TORCH };

typedef struct schedule_options {
    const char *path;
    int format;
    bool overwrite;
} schedule_options;

typedef struct schedule_state {
    GHashTable *begun; /* the paths written to: set of char * */
    char *path;        /* as written in the pipeline, ${item} and all */
} schedule_state;

static mill_status schedule_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    schedule_state *s = state;
    s->begun = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->path = g_strdup(((const schedule_options *)opts)->path);
    return MILL_OK;
}

static mill_status check_torch(mill_run *run, const mill_schedule *schedule, const char *path,
                               bool begun) {
    if (begun)
        return mill_fail(run, MILL_E_CONFIG,
                         "%s has a schedule already, and format = torch writes one a file; with "
                         "${item} in `path` each has a file of its own",
                         path);
    return torch_check(run, schedule);
}

static mill_status schedule_run(mill_run *run, const void *opts, void *state) {
    const schedule_options *o = opts;
    schedule_state *s = state;
    const mill_schedule *schedule = mill_input(run, PORT_SCHEDULE, 0);
    bool begun = g_hash_table_contains(s->begun, o->path);
    kit_export out;
    mill_status status = MILL_OK;
    if (o->format == FORMAT_TORCH)
        status = check_torch(run, schedule, o->path, begun);
    if (!status)
        status = kit_export_init(&out, run, o->path, o->overwrite);
    if (status)
        return status;
    g_hash_table_add(s->begun, g_strdup(o->path));
    if (o->format == FORMAT_TORCH) {
        torch_rows(&out, schedule);
    } else {
        if (!begun)
            table_header(&out);
        table_rows(&out, schedule, run->host->input_key(run, PORT_SCHEDULE, 0));
    }
    return kit_export_finish(&out);
}

/* A table is there also where no schedule came, with its header. */
static mill_status schedule_finish(mill_run *run, const void *opts, void *state) {
    const schedule_options *o = opts;
    schedule_state *s = state;
    kit_export_tell_missing(run, PORT_SCHEDULE, "schedule");
    if (g_hash_table_size(s->begun))
        return MILL_OK;
    if (o->format == FORMAT_TORCH || strstr(s->path, "${item}")) {
        mill_log(
            run, MILL_WARNING,
            "no schedule came, so nothing is written to %s; a simulated one comes only if it has "
            "no more operations than the option most-operations of bubble",
            s->path);
        return MILL_OK;
    }
    kit_export out;
    mill_status status = kit_export_init(&out, run, s->path, o->overwrite);
    if (status)
        return status;
    table_header(&out);
    return kit_export_finish(&out);
}

static void schedule_close(mill_run *run, void *state) {
    (void)run;
    schedule_state *s = state;
    g_clear_pointer(&s->begun, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port schedule_inputs[] = {
    {.name = "schedule",
     .type = MILL_TYPE_SCHEDULE,
     .help = "the schedules to write, one after another",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const char *const formats[] = {"csv", "torch", NULL};

static const mill_option schedule_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(schedule_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output. With ${item} each key has a file."},
    {.name = "format",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(schedule_options, format, ENUM),
     .def = "csv",
     .choices = formats,
     .help = "csv: a line for each operation, with its times. torch: what "
             "torch.distributed.pipelining loads, a line for each rank."},
    KIT_EXPORT_OPTIONS(schedule_options, overwrite),
    {0},
};

static const mill_stage schedule_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "schedule.write",
    .summary = "Writes pipeline schedules for other programs",
    .help = "As a table of operations, whose first line names columns and units, or as the CSV "
            "that torch.distributed.pipelining loads, so that a schedule found here can be run. "
            "The latter has the order of each rank and no times.",
    .inputs = schedule_inputs,
    .options = schedule_option_table,
    .options_size = sizeof(schedule_options),
    .state_size = sizeof(schedule_state),
    .open = schedule_open,
    .run = schedule_run,
    .finish = schedule_finish,
    .close = schedule_close,
};

static const mill_stage *const schedule_stages[] = {&schedule_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.schedule",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Pipeline schedules for other programs",
    .built_with = MILL_BUILT_WITH,
    .stages = schedule_stages,
};
