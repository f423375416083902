/* acme.thing: reads a profile from CSV, one activity a line. */
#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <tracemill/kit/number.h>
#include <tracemill/kit/trace_builder.h>

namespace {

using std::string_view;

/* The host reads, checks and fills these in before it calls anything below. */
struct settings {
    const char *path; /* of this run: the stage runs once per file */
    int64_t max_overlap;
};

/* ---------------------------------------------------------------- one line */

enum cell { NAME, CLASS, DEVICE, STREAM, START, DURATION, N_CELLS };

constexpr std::array<const char *, N_CELLS> names = {"name",   "class",    "device",
                                                     "stream", "start_ns", "duration_ns"};
constexpr const char *header = "name,class,device,stream,start_ns,duration_ns";

/* The builder holds memory of its own: destroyed on every path, before or after the value is
 * posted. */
struct builder_end {
    void operator()(kit_trace *b) const {
        kit_trace_destroy(b);
    }
};
using builder = std::unique_ptr<kit_trace, builder_end>;

struct reading {
    mill_run *run;
    const char *path;
    kit_trace *trace;
    uint64_t line;
};

/* Takes what stands before `end_mark` off the front of `rest`; all of it where there is none. */
string_view take(string_view &rest, char end_mark) {
    string_view taken = rest.substr(0, rest.find(end_mark));
    rest.remove_prefix(taken.size() < rest.size() ? taken.size() + 1 : taken.size());
    return taken;
}

/* Lines end with LF, or CR LF. */
string_view take_line(string_view &rest) {
    string_view line = take(rest, '\n');
    if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
    return line;
}

mill_class class_of(string_view word) {
    return word == "computation"     ? MILL_CLASS_COMPUTATION
           : word == "communication" ? MILL_CLASS_COMMUNICATION
           : word == "memory"        ? MILL_CLASS_MEMORY
           : word == "other"         ? MILL_CLASS_OTHER
                                     : MILL_CLASS_NONE;
}

void add_row(const reading &r, string_view text, mill_class cls,
             const std::array<int64_t, N_CELLS> &numbers) {
    kit_trace *b = r.trace;
    /* The same text in two classes is two names: the class is what tells them apart. */
    uint32_t name = kit_trace_name(b, text.data(), text.size(), cls);
    kit_gpu_row row{};

    row.start = numbers[START];
    row.dur = numbers[DURATION];
    /* What the file does not tell is unknown, never 0. */
    row.correlation = row.external_id = row.waited_event = MILL_UNKNOWN;
    row.grid = row.block = row.bytes = MILL_UNKNOWN;
    row.name = name;
    row.stream =
        kit_trace_stream(b, kit_trace_device(b, numbers[DEVICE]), numbers[STREAM], MILL_NONE);
    row.track = static_cast<uint32_t>(r.line); /* no two lines are one activity written twice */
    row.collective = MILL_NONE;
    row.cat = cls == MILL_CLASS_MEMORY ? MILL_GPU_MEMCPY : MILL_GPU_KERNEL;
    kit_trace_classify(b, name, cls, UINT16_MAX, UINT16_MAX);
    kit_trace_gpu(b, &row);
}

/* For "%.*s": a cell in a message is shown up to this length. */
int shown(string_view text) {
    return text.size() < 40 ? static_cast<int>(text.size()) : 40;
}

/* Every way for a line to be wrong has a sentence of its own, with the line's number. */
mill_status read_line(const reading &r, string_view rest) {
    std::array<string_view, N_CELLS> cells{};
    std::array<int64_t, N_CELLS> numbers{};
    unsigned long long at = r.line;

    for (size_t i = 0; i < N_CELLS; i++) {
        if (rest.empty())
            return mill_fail(r.run, MILL_E_DATA, "%s:%llu: no %s: expected %s", r.path, at,
                             names[i], header);
        cells[i] = take(rest, ',');
    }
    if (!rest.empty())
        return mill_fail(
            r.run, MILL_E_DATA,
            "%s:%llu: \"%.*s\" is left over after six cells; a name can't hold a comma", r.path, at,
            shown(rest), rest.data());
    mill_class cls = class_of(cells[CLASS]);
    if (cls == MILL_CLASS_NONE)
        return mill_fail(r.run, MILL_E_DATA,
                         "%s:%llu: class \"%.*s\": expected computation, communication, memory or "
                         "other",
                         r.path, at, shown(cells[CLASS]), cells[CLASS].data());
    for (size_t i = DEVICE; i < N_CELLS; i++)
        if (!kit_parse_int(cells[i].data(), cells[i].size(), false, &numbers[i]) || numbers[i] < 0)
            return mill_fail(r.run, MILL_E_DATA,
                             "%s:%llu: %s \"%.*s\": expected a whole number from 0", r.path, at,
                             names[i], shown(cells[i]), cells[i].data());
    add_row(r, cells[NAME], cls, numbers);
    return MILL_OK;
}

/* ---------------------------------------------------------------- the stage */

mill_status read_file(reading &r, const mill_source *file) {
    string_view rest(reinterpret_cast<const char *>(file->data), static_cast<size_t>(file->length));
    mill_status status = MILL_OK;

    r.line = 1;
    if (take_line(rest) != header)
        return mill_fail(r.run, MILL_E_DATA, "%s:1: expected the line \"%s\"", r.path, header);
    while (!rest.empty() && status == MILL_OK) {
        string_view line = take_line(rest);

        r.line++;
        if (r.line % 4096 == 0) {
            mill_progress(r.run, file->length - rest.size(), file->length, "bytes");
            if (mill_cancelled(r.run))
                return MILL_E_CANCELLED;
        }
        if (!line.empty())
            status = read_line(r, line);
    }
    kit_trace_value(r.trace)->events = r.line - 1;
    kit_trace_value(r.trace)->bytes = file->length;
    return status;
}

/* Called once per file, on any thread. No exception may leave a callback: hence noexcept. */
mill_status stage_run(mill_run *run, const void *opts, void *) noexcept {
    const auto *o = static_cast<const settings *>(opts);
    mill_source *file;
    mill_status status = run->host->source_map(run, o->path, &file);

    if (status != MILL_OK)
        return status; /* it said why already */
    builder trace(kit_trace_create(run));
    reading r = {run, o->path, trace.get(), 0};
    kit_trace_value(r.trace)->path = kit_trace_text(r.trace, o->path, std::strlen(o->path));
    status = read_file(r, file);
    if (status == MILL_OK)
        status = mill_output(run, 0, kit_trace_finish(r.trace, o->max_overlap));
    return status;
}

/* ---------------------------------------------------------------- the tables */

/* C++17 has no designated initializers: constant functions name the fields instead. */

constexpr mill_option path_option() {
    mill_option o{};
    o.name = "path";
    o.type = MILL_OPT_PATH;
    o.flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB;
    o.offset = MILL_OPT_OFF(settings, path, PATH);
    o.help = "The CSV file; wildcards read one file a rank.";
    return o;
}

constexpr mill_option max_overlap_option() {
    mill_option o{};
    o.name = "max-overlap";
    o.type = MILL_OPT_DURATION;
    o.offset = MILL_OPT_OFF(settings, max_overlap, DURATION);
    o.def = "1ms";
    o.min = 0;
    o.max = 9e18;
    o.help = "An activity that runs further than this into a later one of its stream has a broken "
             "timer and is cut where that one starts.";
    return o;
}

/* Tables end with an empty element. No inputs: a reader. */
constexpr mill_option options[] = {path_option(), max_overlap_option(), {}};
constexpr mill_port outputs[] = {{"trace", MILL_TYPE_TRACE, "the profile in columns", 0, 0}, {}};

constexpr mill_stage make_stage() {
    mill_stage s = {MILL_STAGE_HEAD};
    s.name = "acme.thing";
    s.summary = "Reads a profile from CSV, one activity a line";
    s.outputs = outputs;
    s.options = options;
    s.options_size = sizeof(settings);
    s.run = stage_run;
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
    m.summary = "Profiles written as CSV";
    m.built_with = MILL_BUILT_WITH;
    m.stages = stages;
    return m;
}

} // namespace

MILL_EXPORT const mill_module mill_module_v1 = make_module();
