/* acme.thing: how long each GPU works, and which of its activities take longest. */
#include <algorithm>
#include <iterator>
#include <tracemill/kit/report.h>
#include <tracemill/trace.h>

namespace {

/* ---------------------------------------------------------------- the analysis */

/* The host reads, checks and fills these in before it calls anything below. */
struct settings {
    int64_t top;
};

/* What is known of one device while its activities pass by, in the order of their starts. */
struct device_time {
    int64_t activities;
    int64_t first, last; /* ns: the first start, the latest end so far */
    int64_t busy;        /* ns: time in which at least one activity ran */

    /* Activities of different streams overlap: only what reaches past `last` is new busy time. */
    void add(int64_t start, int64_t end) {
        if (activities++ == 0)
            first = last = start;
        if (end > last) {
            busy += end - std::max(start, last);
            last = end;
        }
    }
};

struct activity {
    uint64_t row; /* of trace.gpu */
    int64_t dur;  /* ns */
};

/* The longest activities so far, longest first. */
struct ranking {
    activity *v;
    size_t n, top;

    /* Among equally long ones the earlier row comes first, so that the output never varies. */
    void add(activity a) {
        activity *at = std::upper_bound(
            v, v + n, a, [](const activity &x, const activity &y) { return x.dur > y.dur; });
        if (at == v + top)
            return;
        if (n < top)
            n++;
        std::move_backward(at, v + n - 1, v + n);
        *at = a;
    }
};

uint32_t device_of(const mill_trace *t, uint64_t row) {
    return mill_u32(t, &t->streams.device, mill_u32(t, &t->gpu.stream, row));
}

/* ---------------------------------------------------------------- the report */

/* Ids are for scripts and stay as they are; labels are for people and may be improved. */
void report_devices(kit_report *report, const mill_trace *t, const device_time *devices) {
    kit_table *table = kit_table_begin(report, "devices", "Busy time of each device", nullptr);

    kit_table_column(table, MILL_KIND_ID, "device", "device", nullptr, nullptr);
    kit_table_column(table, MILL_KIND_COUNT, "activities", "activities", nullptr, nullptr);
    kit_table_column(table, MILL_KIND_NS, "busy", "busy", nullptr,
                     "time with at least one activity");
    kit_table_column(table, MILL_KIND_NS, "span", "span", nullptr, "first start to last end");
    kit_table_column(table, MILL_KIND_RATIO, "busy_over_span", "busy share", nullptr,
                     "busy / span");
    for (uint64_t i = 0; i < t->devices.n; i++) {
        const device_time &d = devices[i];

        if (d.activities == 0)
            continue; /* the profile describes it, but nothing ran on it */
        kit_table_row(table);
        kit_cell_int(table, mill_i64(t, &t->devices.id, i));
        kit_cell_int(table, d.activities);
        kit_cell_int(table, d.busy);
        kit_cell_int(table, d.last - d.first);
        kit_cell_ratio(table, d.busy, d.last - d.first);
    }
}

void report_longest(kit_report *report, const mill_trace *t, const ranking &longest) {
    kit_table *table = kit_table_begin(report, "longest", "Longest activities", nullptr);

    kit_table_column(table, MILL_KIND_TEXT, "name", "name", nullptr, nullptr);
    kit_table_column(table, MILL_KIND_ID, "device", "device", nullptr, nullptr);
    kit_table_column(table, MILL_KIND_NS, "start", "start", nullptr, "from the first activity");
    kit_table_column(table, MILL_KIND_NS, "duration", "duration", nullptr, nullptr);
    for (size_t i = 0; i < longest.n; i++) {
        uint64_t row = longest.v[i].row;

        kit_table_row(table);
        kit_cell_text(table, mill_name(t, mill_u32(t, &t->gpu.name, row)));
        kit_cell_int(table, mill_i64(t, &t->devices.id, device_of(t, row)));
        kit_cell_int(table, mill_i64(t, &t->gpu.start, row) - mill_i64(t, &t->gpu.start, 0));
        kit_cell_int(table, longest.v[i].dur);
    }
}

/* ---------------------------------------------------------------- the stage */

template <class T> T *scratch(mill_run *run, size_t n) {
    return static_cast<T *>(mill_scratch(run, n * sizeof(T)));
}

/* Called once per profile, on any thread. Scratch memory is freed by the host on return, so there
 * is nothing to clean up on any path. No exception may leave a callback: hence noexcept. */
mill_status stage_run(mill_run *run, const void *opts, void *) noexcept {
    const auto *o = static_cast<const settings *>(opts);
    const auto *t = static_cast<const mill_trace *>(mill_input(run, 0, 0));
    const auto *path = static_cast<const char *>(mill_at(t, t->path));
    auto *devices = scratch<device_time>(run, t->devices.n);
    const auto top = static_cast<size_t>(o->top);
    ranking longest = {scratch<activity>(run, top), 0, top};

    for (uint64_t row = 0; row < t->gpu.n; row++) {
        int64_t start = mill_i64(t, &t->gpu.start, row), dur = mill_i64(t, &t->gpu.dur, row);
        int64_t end, from_first; /* rows are sorted by start: all differences below fit as well */

        if (row % 65536 == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        if (__builtin_add_overflow(start, dur, &end) ||
            __builtin_sub_overflow(end, mill_i64(t, &t->gpu.start, 0), &from_first))
            return mill_fail(run, MILL_E_DATA,
                             "%s: an activity ends over 292 years after the first one starts; "
                             "record the profile again: its timer was broken",
                             path);
        devices[device_of(t, row)].add(start, end);
        longest.add({row, dur});
    }

    kit_report *report = kit_report_begin(run, "acme_thing", "Busy time", path);
    if (t->gpu.n == 0)
        kit_note(
            report, MILL_WARNING, "no_activities",
            "The profile holds no GPU activities: was it recorded with ProfilerActivity.CUDA?");
    report_devices(report, t, devices);
    report_longest(report, t, longest);
    return mill_output(run, 0, kit_report_end(report));
}

/* ---------------------------------------------------------------- the tables */

/* C++17 has no designated initializers: constant functions name the fields instead. */

constexpr mill_option top_option() {
    mill_option o{};
    o.name = "top";
    o.type = MILL_OPT_INT;
    o.offset = MILL_OPT_OFF(settings, top, INT);
    o.def = "10";
    o.min = 1;
    o.max = 100;
    o.unit = "activities";
    o.help = "How many of the longest activities to list.";
    return o;
}

/* Tables end with an empty element. */
constexpr mill_option options[] = {top_option(), {}};
constexpr mill_port inputs[] = {{"trace", MILL_TYPE_TRACE, "the profile of one rank", 0, 0}, {}};
constexpr mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "busy time and longest activities", 0, 0}, {}};

constexpr mill_stage make_stage() {
    mill_stage s = {MILL_STAGE_HEAD};
    s.name = "acme.thing";
    s.summary = "Busy time of each device, and its longest activities";
    s.inputs = inputs;
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
    m.summary = "How busy the devices of a profile are";
    m.built_with = MILL_BUILT_WITH;
    m.stages = stages;
    return m;
}

} // namespace

MILL_EXPORT const mill_module mill_module_v1 = make_module();
