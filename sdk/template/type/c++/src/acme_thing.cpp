/* org.acme.thing/1: a type of its own, the stage acme.thing.measure that makes its values from
 * profiles, and the stage acme.thing.sum that takes them. */
#include "acme_thing.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tracemill/kit/report.h>
#include <tracemill/trace.h>
#include <vector>

namespace {

/* ---------------------------------------------------------------- making a value */

/* A value and its memory, freed together. Others see the first member alone, so this has to be a
 * struct of standard layout: pointers to the two are the same. */
struct owned {
    acme_thing value;
    std::vector<acme_thing_row> *rows;
    std::vector<std::string> *names;
};

void times_free(void *data) noexcept {
    auto *o = static_cast<owned *>(data);

    delete o->rows;
    delete o->names;
    delete o;
}

struct value_end {
    void operator()(owned *o) const {
        times_free(o);
    }
};
using value_ptr = std::unique_ptr<owned, value_end>;

/* What it holds has to be the same in every run: a map is sorted. */
struct sum_of_name {
    int64_t count, total;

    /* False if a sum does not fit 63 bits. */
    bool add(int64_t more_count, int64_t more_total) {
        return !__builtin_add_overflow(count, more_count, &count) &&
               !__builtin_add_overflow(total, more_total, &total);
    }
};
using sums = std::map<std::string, sum_of_name>;

value_ptr make_value(std::vector<std::string> names, std::vector<acme_thing_row> rows) {
    value_ptr o(new owned{});

    o->rows = new std::vector<acme_thing_row>(std::move(rows));
    o->names = new std::vector<std::string>(std::move(names));
    for (size_t i = 0; i < o->rows->size(); i++)
        (*o->rows)[i].name = (*o->names)[i].c_str();
    o->value.size = sizeof o->value;
    o->value.n = o->rows->size();
    o->value.rows = o->rows->data();
    return o;
}

value_ptr make_value(const sums &s) {
    std::vector<std::string> names;
    std::vector<acme_thing_row> rows;

    for (const auto &[name, sum] : s) {
        names.push_back(name);
        rows.push_back({nullptr, sum.count, sum.total});
    }
    return make_value(std::move(names), std::move(rows));
}

/* ---------------------------------------------------------------- the type */

/* With this, every exporter can show a value. */
mill_status times_to_report(mill_run *run, const void *data, mill_report **ret_report) noexcept {
    static const kit_column columns[] = {
        {MILL_KIND_TEXT, "name", "name", nullptr},
        {MILL_KIND_COUNT, "count", "activities", nullptr},
        {MILL_KIND_NS, "total", "total", "the sum of their durations"},
        {},
    };
    const auto *times = static_cast<const acme_thing *>(data);
    kit_report *report = kit_report_begin(run, "acme_thing", "Time of each name", nullptr);
    kit_table *table = kit_table_of(report, "names", "Time of each name", nullptr, columns);

    for (uint64_t i = 0; i < times->n; i++) {
        kit_table_row(table);
        kit_cell_text(table, times->rows[i].name);
        kit_cell_int(table, times->rows[i].count);
        kit_cell_int(table, times->rows[i].total);
    }
    *ret_report = kit_report_end(report);
    return MILL_OK;
}

/* Saved, a value is: the number of the format and of the rows, then of each row the length of its
 * name, the name, count, total. Numbers are 64 bits, in the order of this machine's bytes. A form
 * that differs gets another number, and `load` goes on to read this one. */
constexpr int64_t format_number = 1;

void save_number(std::string &to, int64_t number) {
    to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

mill_status times_save(mill_run *run, const void *data, mill_sink *sink) noexcept {
    const auto *times = static_cast<const acme_thing *>(data);
    std::string bytes;
    mill_status status = MILL_OK;

    save_number(bytes, format_number);
    save_number(bytes, static_cast<int64_t>(times->n));
    for (uint64_t i = 0; i < times->n && status == MILL_OK; i++) {
        const acme_thing_row &row = times->rows[i];

        save_number(bytes, static_cast<int64_t>(std::strlen(row.name)));
        bytes += row.name;
        save_number(bytes, row.count);
        save_number(bytes, row.total);
        if (bytes.size() < 65536)
            continue;
        status =
            mill_cancelled(run) ? MILL_E_CANCELLED : sink->write(sink, bytes.data(), bytes.size());
        bytes.clear();
    }
    return status == MILL_OK ? sink->write(sink, bytes.data(), bytes.size()) : status;
}

using std::string_view;

/* Takes `n` bytes off the front; false where there are not as many. */
bool take(string_view &rest, uint64_t n, string_view &ret_bytes) {
    if (n > rest.size())
        return false;
    ret_bytes = rest.substr(0, static_cast<size_t>(n));
    rest.remove_prefix(static_cast<size_t>(n));
    return true;
}

bool load_number(string_view &rest, int64_t &ret_number) {
    string_view bytes;
    bool there = take(rest, sizeof ret_number, bytes);

    if (there)
        std::memcpy(&ret_number, bytes.data(), sizeof ret_number);
    return there;
}

/* What was saved comes from a file or another process: it may be cut, or anything at all. */
mill_status times_load(mill_run *run, mill_source *source, void **ret_data) noexcept {
    string_view rest(reinterpret_cast<const char *>(source->data),
                     static_cast<size_t>(source->length));
    std::vector<std::string> names;
    std::vector<acme_thing_row> rows;
    int64_t format, n;

    if (!load_number(rest, format) || !load_number(rest, n))
        return mill_fail(run, MILL_E_DATA, "it ends before its number of rows: was it cut?");
    if (format != format_number)
        return mill_fail(run, MILL_E_DATA, "its format is %lld: expected %lld",
                         static_cast<long long>(format), static_cast<long long>(format_number));
    if (n < 0 || static_cast<uint64_t>(n) > rest.size() / (3 * sizeof(int64_t)))
        return mill_fail(run, MILL_E_DATA, "%lld rows do not fit in %zu bytes: was it cut?",
                         static_cast<long long>(n), rest.size());
    for (int64_t i = 0; i < n; i++) {
        int64_t length;
        string_view name;
        acme_thing_row row{};

        if (!load_number(rest, length) || length < 0 ||
            !take(rest, static_cast<uint64_t>(length), name) || !load_number(rest, row.count) ||
            !load_number(rest, row.total))
            return mill_fail(run, MILL_E_DATA, "it ends in row %lld of %lld: was it cut?",
                             static_cast<long long>(i), static_cast<long long>(n));
        names.emplace_back(name);
        rows.push_back(row);
    }
    *ret_data = make_value(std::move(names), std::move(rows)).release();
    return MILL_OK;
}

/* ---------------------------------------------------------------- acme.thing.measure */

mill_status too_long(mill_run *run) {
    return mill_fail(run, MILL_E_DATA,
                     "the activities of one name last over 292 years in all; record the profile "
                     "again: its timer was broken");
}

/* Called once per profile, on any thread. No exception may leave a callback: hence noexcept. */
mill_status measure_run(mill_run *run, const void *, void *) noexcept {
    const auto *t = static_cast<const mill_trace *>(mill_input(run, 0, 0));
    std::vector<sum_of_name> of_name(static_cast<size_t>(t->names.texts.n));
    sums s;

    for (uint64_t row = 0; row < t->gpu.n; row++) {
        if (row % 65536 == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        if (!of_name[mill_u32(t, &t->gpu.name, row)].add(1, mill_i64(t, &t->gpu.dur, row)))
            return too_long(run);
    }
    for (uint32_t name = 0; name < of_name.size(); name++)
        if (of_name[name].count > 0 && /* a trace also has names of other things */
            !s[mill_name(t, name)].add(of_name[name].count, of_name[name].total))
            return too_long(run);
    return mill_output(run, 0, make_value(s).release());
}

/* ---------------------------------------------------------------- acme.thing.sum */

/* Called once, with the values of all profiles. They are small, unlike the profiles: those are
 * freed as soon as they are measured. */
mill_status sum_run(mill_run *run, const void *, void *) noexcept {
    sums s;

    for (size_t i = 0; i < mill_input_count(run, 0); i++) {
        const auto *times = static_cast<const acme_thing *>(mill_input(run, 0, i));

        for (uint64_t row = 0; row < times->n; row++)
            if (!s[times->rows[row].name].add(times->rows[row].count, times->rows[row].total))
                return too_long(run);
    }
    return mill_output(run, 0, make_value(s).release());
}

/* ---------------------------------------------------------------- the tables */

/* C++17 has no designated initializers: constant functions name the fields instead. Tables end with
 * an empty element. */

constexpr mill_type make_type() {
    mill_type t{};
    t.size = sizeof t;
    t.id = ACME_THING_TYPE;
    t.help = "how long the activities of each name ran";
    t.free = times_free;
    t.to_report = times_to_report;
    t.save = times_save;
    t.load = times_load;
    return t;
}

constexpr mill_port trace_port[] = {{"trace", MILL_TYPE_TRACE, "the profile of one rank", 0, 0},
                                    {}};
constexpr mill_port times_port[] = {{"times", ACME_THING_TYPE, "the time of each name", 0, 0}, {}};
constexpr mill_port many_times_port[] = {
    {"times", ACME_THING_TYPE, "the times of each profile", MILL_PORT_MANY, 0}, {}};

constexpr mill_stage make_measure() {
    mill_stage s = {MILL_STAGE_HEAD};
    s.name = "acme.thing.measure";
    s.summary = "How long the activities of each name ran in a profile";
    s.inputs = trace_port;
    s.outputs = times_port;
    s.run = measure_run;
    return s;
}

constexpr mill_stage make_sum() {
    mill_stage s = {MILL_STAGE_HEAD};
    s.name = "acme.thing.sum";
    s.summary = "Adds up the times of many profiles";
    s.inputs = many_times_port;
    s.outputs = times_port;
    s.run = sum_run;
    return s;
}

constexpr mill_type type = make_type();
constexpr mill_stage measure = make_measure(), sum = make_sum();
constexpr const mill_stage *stages[] = {&measure, &sum, nullptr};
constexpr const mill_type *types[] = {&type, nullptr};

constexpr mill_module make_module() {
    mill_module m = {MILL_MODULE_HEAD};
    m.id = "org.acme.thing";
    m.version = "0.1.0";
    m.license = "LicenseRef-undecided"; /* yours, as an SPDX expression */
    m.author = "The author of acme.thing";
    m.summary = "How long the activities of each name ran";
    m.built_with = MILL_BUILT_WITH;
    m.stages = stages;
    m.types = types;
    return m;
}

} // namespace

MILL_EXPORT const mill_module mill_module_v1 = make_module();
