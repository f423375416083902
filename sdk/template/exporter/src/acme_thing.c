/* acme.thing: writes the figures of reports as CSV, one a line. */
#include <math.h>
#include <tracemill/kit/export.h>
#include <tracemill/report.h>

/* ---------------------------------------------------------------- options and ports */

/* The host reads, checks and fills these in before it calls anything below. */
typedef struct settings {
    const char *path;
    bool overwrite;
} settings;

static const mill_option options[] = {
    {
        .name = "path",
        .type = MILL_OPT_PATH,
        .offset = MILL_OPT_OFF(settings, path, PATH),
        .def = "-",
        .help = "The file to write, - for standard output.",
    },
    KIT_EXPORT_OPTIONS(settings, overwrite),
    {.name = NULL},
};

/* A STREAM: one report a run, in the order of keys, however many there are; never all in memory.
 * No outputs: an exporter. */
static const mill_port inputs[] = {
    {
        .name = "report",
        .type = MILL_TYPE_REPORT,
        .help = "the reports whose figures to write",
        .flags = MILL_PORT_STREAM,
    },
    {.name = NULL},
};

/* There is one instance (MILL_STAGE_SINGLE), so it may remember things from run to run. */
typedef struct progress {
    bool begun; /* the first line is written */
} progress;

/* ---------------------------------------------------------------- lines */

static void comma(kit_export *out) {
    kit_export_char(out, ',');
}

static void cell(kit_export *out, const char *text) {
    if (text)
        kit_export_cell(out, text);
}

/* Exact, and empty where it is not known: a program reads this. */
static void write_value(kit_export *out, const mill_figure *f) {
    switch (f->kind) {
    case MILL_KIND_TEXT:
        cell(out, f->value.text);
        break;
    case MILL_KIND_RATIO:
    case MILL_KIND_REAL:
        if (isfinite(f->value.d))
            kit_export_real(out, f->value.d);
        break;
    case MILL_KIND_COUNT:
    case MILL_KIND_NS:
    case MILL_KIND_BYTES:
    case MILL_KIND_ID:
        if (f->value.i != MILL_UNKNOWN)
            kit_export_int(out, f->value.i);
        break;
    default: /* a kind that a later SDK added: not shown */
        break;
    }
}

static const char *unit_of(const mill_figure *f) {
    return f->kind == MILL_KIND_NS      ? "ns"
           : f->kind == MILL_KIND_BYTES ? "bytes"
           : f->kind == MILL_KIND_REAL  ? f->unit
                                        : NULL;
}

static void write_figure(kit_export *out, const char *stage, const char *key,
                         const mill_figure *f) {
    cell(out, stage);
    comma(out);
    cell(out, key);
    comma(out);
    cell(out, f->id);
    comma(out);
    cell(out, f->scope);
    comma(out);
    write_value(out, f);
    comma(out);
    cell(out, unit_of(f));
    kit_export_char(out, '\n');
}

/* Opens the file, or goes on with it; the host puts it in its place when the stage has ended well,
 * so a run that fails leaves the old one as it was. */
static mill_status begin(mill_run *run, const settings *o, progress *p, kit_export *ret_out) {
    mill_status status = kit_export_init(ret_out, run, o->path, o->overwrite);

    if (status == MILL_OK && !p->begun)
        kit_export_text(ret_out, "stage,key,figure,scope,value,unit\n");
    p->begun = true;
    return status;
}

/* ---------------------------------------------------------------- the stage */

/* Called once per report. */
static mill_status stage_run(mill_run *run, const void *opts, void *state) {
    const mill_report *report = mill_input(run, 0, 0);
    kit_export out;
    mill_status status = begin(run, opts, state, &out);

    if (status != MILL_OK)
        return status; /* it said why already */
    for (uint64_t i = 0; i < report->n_figures; i++)
        write_figure(&out, run->host->input_stage(run, 0, 0), run->host->input_key(run, 0, 0),
                     report->figures[i]);
    return kit_export_finish(&out);
}

/* Called once, after the last report. The file is there also where none came. */
static mill_status stage_finish(mill_run *run, const void *opts, void *state) {
    progress *p = state;
    const char *stage, *key;
    kit_export out;

    for (size_t i = 0; i < run->host->missing(run, 0, i, &stage, &key); i++)
        mill_log(run, MILL_WARNING, "no figures of %s %s: what makes them failed", stage, key);
    if (p->begun)
        return MILL_OK;
    mill_status status = begin(run, opts, p, &out);
    return status == MILL_OK ? kit_export_finish(&out) : status;
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "acme.thing",
    .summary = "Writes the figures of reports as CSV, one a line",
    .inputs = inputs,
    .options = options,
    .options_size = sizeof(settings),
    .state_size = sizeof(progress),
    .run = stage_run,
    .finish = stage_finish,
};

/* ---------------------------------------------------------------- the module */

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.acme.thing",
    .version = "0.1.0",
    .license = "LicenseRef-undecided", /* yours, as an SPDX expression */
    .author = "The author of acme.thing",
    .summary = "Figures of reports as CSV",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
