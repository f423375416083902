/* SPDX-License-Identifier: Apache-2.0 */
/* The schema as SQL. README.md has the same text, which a test compares. */
#include "schema.h"

const char *const schema_names[TABLES] = {
    [TABLE_ITEM] = "item",
    [TABLE_MISSING] = "missing",
    [TABLE_TRACE] = "trace",
    [TABLE_NAME] = "name",
    [TABLE_DEVICE] = "device",
    [TABLE_STREAM] = "stream",
    [TABLE_THREAD] = "thread",
    [TABLE_COLLECTIVE] = "collective",
    [TABLE_SLICE] = "slice",
    [TABLE_ACTIVITY] = "activity",
    [TABLE_FLOW] = "flow",
    [TABLE_COUNTER] = "counter",
    [TABLE_SYNC] = "sync",
    [TABLE_TIMER] = "timer",
    [TABLE_DIAGNOSTIC] = "diagnostic",
    [TABLE_REPORT] = "report",
    [TABLE_FIGURE] = "figure",
    [TABLE_TABLE] = "report_table",
    [TABLE_COLUMN] = "report_column",
    [TABLE_CELL] = "cell",
    [TABLE_NOTE] = "note",
    [TABLE_FINDING] = "finding",
    [TABLE_LANE] = "lane",
    [TABLE_INTERVAL] = "interval",
    [TABLE_SERIES] = "series",
    [TABLE_POINT] = "point",
    [TABLE_SCHEDULE] = "schedule",
    [TABLE_OPERATION] = "operation",
};

/* clang-format off */
const char schema_tables[] =
    "CREATE TABLE item(id INTEGER PRIMARY KEY, type TEXT NOT NULL, stage TEXT NOT NULL, key TEXT NOT NULL);\n"
    "CREATE TABLE missing(stage TEXT NOT NULL, key TEXT NOT NULL);\n"

    "CREATE TABLE trace(item INTEGER PRIMARY KEY REFERENCES item, path TEXT, writer TEXT, backend TEXT,"
    " rank INTEGER, world_size INTEGER, base_ns INTEGER, events INTEGER, bytes INTEGER, complete INTEGER);\n"
    "CREATE TABLE name(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, text TEXT, class TEXT, kind TEXT, rule TEXT);\n"
    "CREATE TABLE device(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, number INTEGER, name TEXT, sms INTEGER);\n"
    "CREATE TABLE stream(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, device INTEGER REFERENCES device, number INTEGER, label TEXT);\n"
    "CREATE TABLE thread(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, pid INTEGER, tid INTEGER, process TEXT, name TEXT);\n"
    "CREATE TABLE collective(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, operation TEXT, kind TEXT,"
    " in_elements INTEGER, out_elements INTEGER, dtype TEXT, element_bytes INTEGER, group_name TEXT,"
    " group_size INTEGER, ranks TEXT, sequence INTEGER, peer INTEGER);\n"
    "CREATE TABLE slice(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, start_ns INTEGER, dur_ns INTEGER,"
    " name INTEGER REFERENCES name, thread INTEGER REFERENCES thread, kind TEXT, correlation INTEGER,"
    " external_id INTEGER, parent INTEGER REFERENCES slice);\n"
    "CREATE TABLE activity(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, start_ns INTEGER, dur_ns INTEGER,"
    " name INTEGER REFERENCES name, stream INTEGER REFERENCES stream, category TEXT, kind TEXT, correlation INTEGER,"
    " external_id INTEGER, launch INTEGER REFERENCES slice, grid INTEGER, block INTEGER, bytes INTEGER,"
    " collective INTEGER REFERENCES collective, waited_event INTEGER);\n"
    "CREATE TABLE flow(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, number INTEGER, time_ns INTEGER,"
    " thread INTEGER REFERENCES thread, phase TEXT, name INTEGER REFERENCES name);\n"
    "CREATE TABLE counter(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, time_ns INTEGER,"
    " name INTEGER REFERENCES name, thread INTEGER REFERENCES thread, value REAL);\n"
    "CREATE TABLE sync(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, start_ns INTEGER, dur_ns INTEGER,"
    " kind TEXT, name INTEGER REFERENCES name, stream INTEGER REFERENCES stream, correlation INTEGER,"
    " waited_stream INTEGER REFERENCES stream, waited_event INTEGER, launch INTEGER REFERENCES slice,"
    " record INTEGER REFERENCES slice);\n"
    "CREATE TABLE timer(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, start_ns INTEGER, dur_ns INTEGER,"
    " name INTEGER REFERENCES name, thread INTEGER REFERENCES thread, step INTEGER, chunk INTEGER,"
    " micro_batch INTEGER, sequence INTEGER);\n"
    "CREATE TABLE diagnostic(id INTEGER PRIMARY KEY, trace INTEGER REFERENCES trace, kind TEXT, text TEXT,"
    " count INTEGER, first_byte INTEGER, lost INTEGER);\n"

    "CREATE TABLE report(item INTEGER PRIMARY KEY REFERENCES item, id TEXT, title TEXT, subject TEXT, summary TEXT);\n"
    "CREATE TABLE figure(report INTEGER REFERENCES report, id TEXT, scope TEXT, kind TEXT, unit TEXT, value, label TEXT, help TEXT);\n"
    "CREATE TABLE report_table(key INTEGER PRIMARY KEY, report INTEGER REFERENCES report, id TEXT, rows INTEGER, label TEXT, help TEXT);\n"
    "CREATE TABLE report_column(key INTEGER PRIMARY KEY, report_table INTEGER REFERENCES report_table, id TEXT,"
    " kind TEXT, unit TEXT, label TEXT, help TEXT);\n"
    "CREATE TABLE cell(report_column INTEGER REFERENCES report_column, row INTEGER, value,"
    " PRIMARY KEY(report_column, row)) WITHOUT ROWID;\n"
    "CREATE TABLE note(report INTEGER REFERENCES report, id TEXT, level TEXT, text TEXT);\n"
    "CREATE TABLE finding(key INTEGER PRIMARY KEY, report INTEGER REFERENCES report, id TEXT, rule TEXT, level TEXT,"
    " place TEXT, evidence TEXT, advice TEXT, cost_ns INTEGER, gain_ns INTEGER, confidence REAL, at_ns INTEGER, at_base_ns INTEGER);\n"
    "CREATE TABLE lane(key INTEGER PRIMARY KEY, report INTEGER REFERENCES report, id TEXT, label TEXT, rank INTEGER,"
    " device INTEGER, stream INTEGER, base_ns INTEGER);\n"
    "CREATE TABLE interval(lane INTEGER REFERENCES lane, start_ns INTEGER, end_ns INTEGER, text TEXT, class TEXT,"
    " finding INTEGER REFERENCES finding);\n"
    "CREATE TABLE series(key INTEGER PRIMARY KEY, report INTEGER REFERENCES report, id TEXT, label TEXT,"
    " x_label TEXT, x_unit TEXT, y_label TEXT, y_unit TEXT, kind TEXT);\n"
    "CREATE TABLE point(series INTEGER REFERENCES series, x REAL, y REAL);\n"

    "CREATE TABLE schedule(item INTEGER PRIMARY KEY REFERENCES item, id TEXT, name TEXT, subject TEXT, communication TEXT,"
    " simulated INTEGER, ranks INTEGER, chunks INTEGER, stages INTEGER, micro_batches INTEGER, bidirectional INTEGER,"
    " transfer_ns INTEGER, makespan_ns INTEGER);\n"
    "CREATE TABLE operation(schedule INTEGER REFERENCES schedule, rank INTEGER, position INTEGER, kind TEXT, chunk INTEGER,"
    " stage INTEGER, micro_batch INTEGER, chunk_back INTEGER, stage_back INTEGER, micro_batch_back INTEGER,"
    " start_ns INTEGER, end_ns INTEGER, label TEXT, PRIMARY KEY(schedule, rank, position)) WITHOUT ROWID;\n"

    "CREATE VIEW activity_view AS SELECT a.id, t.path, t.rank, d.number AS device, s.number AS stream, a.start_ns,"
    " a.dur_ns, n.text AS name, n.class, a.kind, a.category, a.bytes, a.launch FROM activity a JOIN trace t ON"
    " t.item = a.trace JOIN name n ON n.id = a.name JOIN stream s ON s.id = a.stream JOIN device d ON d.id = s.device;\n"
    "CREATE VIEW cell_view AS SELECT i.key AS item, r.id AS report, t.id AS report_table, x.row, c.id AS column_id,"
    " x.value, c.kind, c.unit FROM cell x JOIN report_column c ON c.key = x.report_column JOIN report_table t ON"
    " t.key = c.report_table JOIN report r ON r.item = t.report JOIN item i ON i.id = r.item;\n";

const char schema_indexes[] =
    "CREATE INDEX activity_by_name ON activity(name);\n"
    "CREATE INDEX activity_by_stream ON activity(stream, start_ns);\n"
    "CREATE INDEX slice_by_name ON slice(name);\n"
    "CREATE INDEX name_by_text ON name(text);\n"
    "CREATE INDEX figure_by_id ON figure(id);\n"
    "CREATE INDEX figure_by_report ON figure(report);\n"
    "CREATE INDEX finding_by_report ON finding(report);\n"
    "CREATE INDEX interval_by_lane ON interval(lane, start_ns);\n"
    "CREATE INDEX point_by_series ON point(series);\n";
/* clang-format on */
