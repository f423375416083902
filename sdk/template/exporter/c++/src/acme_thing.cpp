/* acme.thing: writes the figures of reports as CSV, one a line. */
#include <cmath>
#include <initializer_list>
#include <tracemill/kit/export.h>
#include <tracemill/report.h>

namespace {

/* The host reads, checks and fills these in before it calls anything below. */
struct settings {
    const char *path;
    bool overwrite;
};

/* There is one instance (MILL_STAGE_SINGLE), so it may remember things from run to run. */
struct progress {
    bool begun; /* the first line is written */
};

/* ---------------------------------------------------------------- lines */

void cell(kit_export *out, const char *text) {
    if (text)
        kit_export_cell(out, text);
}

/* Exact, and empty where it is not known: a program reads this. */
void write_value(kit_export *out, const mill_figure &f) {
    switch (f.kind) {
    case MILL_KIND_TEXT:
        cell(out, f.value.text);
        break;
    case MILL_KIND_RATIO:
    case MILL_KIND_REAL:
        if (std::isfinite(f.value.d))
            kit_export_real(out, f.value.d);
        break;
    case MILL_KIND_COUNT:
    case MILL_KIND_NS:
    case MILL_KIND_BYTES:
    case MILL_KIND_ID:
        if (f.value.i != MILL_UNKNOWN)
            kit_export_int(out, f.value.i);
        break;
    default: /* a kind that a later SDK added: not shown */
        break;
    }
}

const char *unit_of(const mill_figure &f) {
    return f.kind == MILL_KIND_NS      ? "ns"
           : f.kind == MILL_KIND_BYTES ? "bytes"
           : f.kind == MILL_KIND_REAL  ? f.unit
                                       : nullptr;
}

void write_figure(kit_export *out, const char *stage, const char *key, const mill_figure &f) {
    for (const char *text : {stage, key, f.id, f.scope}) {
        cell(out, text);
        kit_export_char(out, ',');
    }
    write_value(out, f);
    kit_export_char(out, ',');
    cell(out, unit_of(f));
    kit_export_char(out, '\n');
}

/* Opens the file, or goes on with it; the host puts it in its place when the stage has ended well,
 * so a run that fails leaves the old one as it was. */
mill_status begin(mill_run *run, const settings &o, progress &p, kit_export *ret_out) {
    mill_status status = kit_export_init(ret_out, run, o.path, o.overwrite);

    if (status == MILL_OK && !p.begun)
        kit_export_text(ret_out, "stage,key,figure,scope,value,unit\n");
    p.begun = true;
    return status;
}

/* ---------------------------------------------------------------- the stage */

/* Called once per report. No exception may leave a callback: hence noexcept. */
mill_status stage_run(mill_run *run, const void *opts, void *state) noexcept {
    const auto *report = static_cast<const mill_report *>(mill_input(run, 0, 0));
    kit_export out;
    mill_status status =
        begin(run, *static_cast<const settings *>(opts), *static_cast<progress *>(state), &out);

    if (status != MILL_OK)
        return status; /* it said why already */
    for (uint64_t i = 0; i < report->n_figures; i++)
        write_figure(&out, run->host->input_stage(run, 0, 0), run->host->input_key(run, 0, 0),
                     *report->figures[i]);
    return kit_export_finish(&out);
}

/* Called once, after the last report. The file is there also where none came. */
mill_status stage_finish(mill_run *run, const void *opts, void *state) noexcept {
    auto &p = *static_cast<progress *>(state);
    const char *stage, *key;
    kit_export out;

    for (size_t i = 0; i < run->host->missing(run, 0, i, &stage, &key); i++)
        mill_log(run, MILL_WARNING, "no figures of %s %s: what makes them failed", stage, key);
    if (p.begun)
        return MILL_OK;
    mill_status status = begin(run, *static_cast<const settings *>(opts), p, &out);
    return status == MILL_OK ? kit_export_finish(&out) : status;
}

/* ---------------------------------------------------------------- the tables */

/* C++17 has no designated initializers: constant functions name the fields instead. */

constexpr mill_option path_option() {
    mill_option o{};
    o.name = "path";
    o.type = MILL_OPT_PATH;
    o.offset = MILL_OPT_OFF(settings, path, PATH);
    o.def = "-";
    o.help = "The file to write, - for standard output.";
    return o;
}

constexpr mill_option overwrite_option() {
    mill_option o{};
    o.name = "overwrite";
    o.type = MILL_OPT_BOOL;
    o.offset = MILL_OPT_OFF(settings, overwrite, BOOL);
    o.def = "yes";
    o.help = "Replace a file that is there already; no: refuse to, and fail.";
    return o;
}

/* Tables end with an empty element. A STREAM: one report a run, in the order of keys, however many
 * there are; never all in memory. No outputs: an exporter. */
constexpr mill_option options[] = {path_option(), overwrite_option(), {}};
constexpr mill_port inputs[] = {
    {"report", MILL_TYPE_REPORT, "the reports whose figures to write", MILL_PORT_STREAM, 0}, {}};

constexpr mill_stage make_stage() {
    mill_stage s = {MILL_STAGE_HEAD};
    s.flags = MILL_STAGE_SINGLE;
    s.name = "acme.thing";
    s.summary = "Writes the figures of reports as CSV, one a line";
    s.inputs = inputs;
    s.options = options;
    s.options_size = sizeof(settings);
    s.state_size = sizeof(progress);
    s.run = stage_run;
    s.finish = stage_finish;
    return s;
}

constexpr mill_stage stage = make_stage();
constexpr const mill_stage *stages[] = {&stage, nullptr};

constexpr mill_module make_module() {
    mill_module m = {MILL_MODULE_HEAD};
    m.id = "org.acme.thing";
    m.version = "0.1.0";
    m.license = "LicenseRef-undecided"; /* yours, as an SPDX expression */
    m.author = "The author of acme.thing";
    m.summary = "Figures of reports as CSV";
    m.built_with = MILL_BUILT_WITH;
    m.stages = stages;
    return m;
}

} // namespace

MILL_EXPORT const mill_module mill_module_v1 = make_module();
