/* SPDX-License-Identifier: Apache-2.0 */
/* Every public struct and enum in the debug information of one shared object, for abidiff; and the
 * numbers that are macros, for the compiler. Built with the headers of 1.0 and with today's. */
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>
#include <tracemill/report.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>
#include <tracemill/tracemill.h>

#define SHOW(type)                                                                                 \
    __attribute__((visibility("default"))) extern type *probe_##type;                              \
    type *probe_##type
#define SAME(name, value) MILL_STATIC_ASSERT((name) == (value), #name " has changed")

/* From here all others are reached. */
SHOW(mill_module);
SHOW(mill_run);
SHOW(mill_trace);
SHOW(mill_report);
SHOW(mill_attribution);
SHOW(mill_chunk_times);
SHOW(mill_schedule);
SHOW(mill_expert_load);
SHOW(mill_expert_plan);
/* But for what stands in them as a plain number or by way of a void pointer. */
SHOW(mill_list);
SHOW(mill_span);
SHOW(mill_level);
SHOW(mill_class);
SHOW(mill_gpu_cat);
SHOW(mill_cpu_kind);
SHOW(mill_sync_kind);
SHOW(mill_series_kind);
SHOW(mill_chunk);
SHOW(mill_method);
SHOW(mill_basis);
SHOW(mill_op_kind);
SHOW(mill_ini_fn);
SHOW(mill_parallel_fn);

SAME(MILL_MAGIC, 0x4d494c4cu);
SAME(MILL_ABI_MAJOR, 1);
SAME(MILL_OPT_REQUIRED, 1u);
SAME(MILL_OPT_DEPRECATED, 2u);
SAME(MILL_OPT_GLOB, 4u);
SAME(MILL_OPT_ITEM, 8u);
SAME(MILL_PORT_OPTIONAL, 1u);
SAME(MILL_PORT_MANY, 2u);
SAME(MILL_PORT_STREAM, 4u);
SAME(MILL_PORT_ITEMS, 8u);
SAME(MILL_STAGE_SINGLE, 1u);
SAME(MILL_REGEX_CASELESS, 1u);
SAME(MILL_UNKNOWN, INT64_MIN);
SAME(MILL_NONE, UINT32_MAX);

#define TEXT(name, value)                                                                          \
    MILL_STATIC_ASSERT(__builtin_strcmp(name, value) == 0, #name " has changed")
TEXT(MILL_MODULE_SYMBOL, "mill_module_v1");
TEXT(MILL_TYPE_TRACE, "mill.trace/1");
TEXT(MILL_TYPE_REPORT, "mill.report/1");
TEXT(MILL_TYPE_ATTRIBUTION, "mill.attribution/1");
TEXT(MILL_TYPE_CHUNK_TIMES, "mill.chunk-times/1");
TEXT(MILL_TYPE_SCHEDULE, "mill.schedule/1");
TEXT(MILL_TYPE_EXPERT_LOAD, "mill.expert-load/1");
TEXT(MILL_TYPE_EXPERT_PLAN, "mill.expert-plan/1");

#if UINTPTR_MAX == UINT64_MAX
/* Arrays of them, or structs that hold them by value, are in plugins: these never grow. */
SAME(sizeof(mill_run), 8);
SAME(sizeof(mill_list), 16);
SAME(sizeof(mill_span), 8);
SAME(sizeof(mill_datum), 8);
SAME(sizeof(mill_column), 16);
SAME(sizeof(mill_texts), 40);
SAME(sizeof(mill_names), 88);
SAME(sizeof(mill_devices), 72);
SAME(sizeof(mill_streams), 56);
SAME(sizeof(mill_threads), 72);
SAME(sizeof(mill_gpu), 216);
SAME(sizeof(mill_cpu), 136);
SAME(sizeof(mill_flows), 88);
SAME(sizeof(mill_collectives), 184);
SAME(sizeof(mill_counters), 72);
SAME(sizeof(mill_diagnostics), 88);
SAME(sizeof(mill_syncs), 168);
SAME(sizeof(mill_timers), 136);
SAME(sizeof(mill_chunk_cost), 40);
SAME(sizeof(mill_ops), 80);
#endif
