/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of mill.trace/1: which columns they have, and what those may hold. */
#include "types/trace.h"

#define ROWS(table) offsetof(mill_trace, table.n)
#define INT(name)                                                                                  \
    { #name, COLUMN_INT, 0, 0, 0 }
#define REF(name, table)                                                                           \
    { #name, COLUMN_REF, 0, 0, ROWS(table) }
#define REF_OR_NONE(name, table)                                                                   \
    { #name, COLUMN_REF_OR_NONE, 0, 0, ROWS(table) }
#define KIND(name, least, most)                                                                    \
    { #name, COLUMN_KIND, (least), (most), 0 }
#define ROW16(name, table)                                                                         \
    { #name, COLUMN_ROW16, 0, 0, ROWS(table) }
#define WORD(name)                                                                                 \
    { #name, COLUMN_WORD, 0, 0, 0 }
#define TEXTS                                                                                      \
    {"text", COLUMN_TEXT, 0, 0, 0}, {                                                              \
        "length", COLUMN_LENGTH, 0, 0, 0                                                           \
    }

static const trace_column texts[] = {TEXTS};
static const trace_column names[] = {
    TEXTS,
    KIND(cls, MILL_CLASS_NONE, MILL_CLASS_OTHER),
    ROW16(kind, kinds),
    ROW16(rule, rules),
};
static const trace_column devices[] = {INT(id), REF_OR_NONE(name, strings), INT(sms), WORD(rows)};
static const trace_column streams[] = {REF(device, devices), INT(id), REF_OR_NONE(label, strings)};
static const trace_column threads[] = {INT(pid), INT(tid), REF_OR_NONE(process, strings),
                                       REF_OR_NONE(name, strings)};
static const trace_column gpu[] = {
    WORD(start),
    INT(dur),
    REF(name, names.texts),
    REF(stream, streams),
    KIND(cat, MILL_GPU_KERNEL, MILL_GPU_MEMSET),
    INT(correlation),
    INT(external_id),
    REF_OR_NONE(launch, cpu),
    INT(grid),
    INT(block),
    INT(bytes),
    REF_OR_NONE(collective, collectives),
    INT(waited_event),
};
static const trace_column cpu[] = {
    WORD(start),
    INT(dur),
    REF(name, names.texts),
    REF(thread, threads),
    KIND(kind, MILL_CPU_OP, MILL_CPU_OTHER),
    INT(correlation),
    INT(external_id),
    {"parent", COLUMN_PARENT, 0, 0, 0},
};
static const trace_column flows[] = {INT(id), INT(time), REF(thread, threads), KIND(end, 0, 2),
                                     REF(name, names.texts)};
static const trace_column collectives[] = {
    REF(operation, strings), INT(in_elems),
    INT(out_elems),          REF_OR_NONE(dtype, strings),
    INT(elem_bytes),         REF_OR_NONE(group, strings),
    INT(group_size),         REF_OR_NONE(ranks, strings),
    INT(sequence),           INT(peer),
    ROW16(kind, kinds),
};
static const trace_column counters[] = {INT(time), REF(name, names.texts), REF(thread, threads),
                                        WORD(value)};
static const trace_column diagnostics[] = {REF(kind, strings), REF(text, strings), WORD(count),
                                           INT(first_byte), KIND(lost, 0, 1)};
static const trace_column syncs[] = {
    WORD(start),
    INT(dur),
    KIND(kind, MILL_SYNC_OTHER, MILL_SYNC_CONTEXT),
    REF(name, names.texts),
    REF_OR_NONE(stream, streams),
    INT(correlation),
    REF_OR_NONE(waited_stream, streams),
    INT(waited_event),
    REF_OR_NONE(launch, cpu),
    REF_OR_NONE(record, cpu),
};
static const trace_column timers[] = {
    WORD(start), INT(dur),   REF(name, names.texts), REF(thread, threads),
    INT(step),   INT(chunk), INT(micro_batch),       INT(sequence),
};

#define TABLE(name, times)                                                                         \
    { #name, offsetof(mill_trace, name), sizeof(name) / sizeof(name)[0], name, times }
#define TEXT_TABLE(name)                                                                           \
    { #name, offsetof(mill_trace, name), 2, texts, TIMES_NONE }

/* In the order of the struct. */
const trace_table trace_tables[] = {
    TEXT_TABLE(strings),
    TEXT_TABLE(kinds),
    TEXT_TABLE(rules),
    TABLE(names, TIMES_NONE),
    TABLE(devices, TIMES_NONE),
    TABLE(streams, TIMES_NONE),
    TABLE(threads, TIMES_NONE),
    TABLE(gpu, TIMES_SHORTEST_FIRST),
    TABLE(cpu, TIMES_LONGEST_FIRST),
    TABLE(flows, TIMES_NONE),
    TABLE(collectives, TIMES_NONE),
    TABLE(counters, TIMES_NONE),
    TABLE(diagnostics, TIMES_NONE),
    TABLE(syncs, TIMES_MAY_LACK_LENGTH),
    TABLE(timers, TIMES_BY_START),
};
const size_t trace_n_tables = sizeof trace_tables / sizeof trace_tables[0];
