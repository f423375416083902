/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin in C++17: the ABI's headers and the kit serve it as they are. */
#include <tracemill/kit/report.h>
#include <tracemill/trace.h>

namespace {

struct options {
    int64_t top;
    bool strict;
};

const mill_option option_table[] = {
    {"top", MILL_OPT_INT, mill_opt_type(), 0, 0, MILL_OPT_OFF(options, top, INT), "5", 1, 9,
     nullptr, nullptr, "a number"},
    {"strict", MILL_OPT_BOOL, mill_opt_type(), 0, 0, MILL_OPT_OFF(options, strict, BOOL), "yes", 0,
     0, nullptr, nullptr, "a switch"},
    {},
};

const mill_port outputs[] = {{"report", MILL_TYPE_REPORT, "what was asked for", 0, 0}, {}};

mill_status run(mill_run *run, const void *opts, void *) {
    auto o = static_cast<const options *>(opts);
    kit_report *report = kit_report_begin(run, "cxx", "From C++", nullptr);
    kit_figure_int(report, MILL_KIND_COUNT, "top", "top", nullptr, nullptr, o->top + o->strict);
    return mill_output(run, 0, kit_report_end(report));
}

const mill_stage stage = {MILL_STAGE_HEAD, 0,       "cxx",        "a stage in C++", nullptr,
                          nullptr,         outputs, option_table, sizeof(options),  0,
                          nullptr,         nullptr, run,          nullptr,          nullptr};

const mill_stage *const stages[] = {&stage, nullptr};

} // namespace

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD, "tracemill.test-cxx",
                                                "1.0.0",          "Apache-2.0",
                                                "Tracemill",      "a module made of C++",
                                                MILL_BUILT_WITH,  stages,
                                                nullptr,          nullptr,
                                                nullptr};
