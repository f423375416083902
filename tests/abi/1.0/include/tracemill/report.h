/* SPDX-License-Identifier: Apache-2.0 */
/* mill.report/1: what an analysis says, for every exporter: figures, tables, findings, lanes,
 * series.
 *
 * A value of this type is a `const mill_report *`; all memory it reaches belongs to it. Every
 * table, column, figure and finding has an `id` that stays the same from release to release
 * ([a-z0-9_]+), beside its `label` for people. Structs are listed by pointer, so that they may
 * grow. Text is valid UTF-8 (kit_text_utf8 makes it so). Unknown is MILL_UNKNOWN, a NaN, or NULL.
 * Build one with the kit (kit/report.h). Constant once posted; any thread may read it.
 */
#ifndef TRACEMILL_REPORT_H
#define TRACEMILL_REPORT_H

#include "tracemill.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_REPORT "mill.report/1"

#ifndef MILL_UNKNOWN
#define MILL_UNKNOWN INT64_MIN /* of int64 values */
#endif

/* The kind of a figure or column: how it is stored, and how it is shown. */
typedef enum mill_kind {
    MILL_KIND_TEXT = 1,  /* const char *; NULL: unknown */
    MILL_KIND_COUNT = 2, /* int64: a number of things */
    MILL_KIND_NS = 3,    /* int64 nanoseconds: shown in µs with up to three decimals, exact */
    MILL_KIND_BYTES = 4, /* int64 bytes */
    MILL_KIND_RATIO = 5, /* double, no unit; shown with six decimals, to people also as per cent */
    MILL_KIND_REAL = 6,  /* double, in `unit` */
    MILL_KIND_ID = 7,    /* int64: a number that names something (stream, rank): never summed */
} mill_kind;

/* One value; which member counts is told by the kind. */
typedef union mill_datum {
    const char *text;
    int64_t i;
    double d;
} mill_datum;

/* A single figure. The same id may come several times, with different scopes. */
typedef struct mill_figure {
    uint32_t size;
    mill_kind kind;
    const char *id;    /* "overlap_over_comm" */
    const char *label; /* "communication hidden" */
    const char *scope; /* what it is of: "device 0"; NULL: the whole report */
    const char *unit;  /* of REAL; else NULL */
    const char *help;  /* its definition in a sentence, or NULL */
    mill_datum value;
} mill_figure;

typedef struct mill_table_column {
    uint32_t size;
    mill_kind kind;
    const char *id;
    const char *label;
    const char *unit;        /* of REAL; else NULL */
    const char *help;        /* or NULL */
    const mill_datum *cells; /* the table's `rows` */
} mill_table_column;

typedef struct mill_table {
    uint32_t size;
    uint32_t reserved;
    const char *id;
    const char *label;
    const char *help; /* or NULL */
    const mill_table_column *const *columns;
    uint64_t n_columns, rows;
} mill_table;

/* A remark that must be seen with the figures: what was skipped, what they can't say. */
typedef struct mill_note {
    uint32_t size;
    mill_level level; /* WARNING: read this before you believe the figures; INFO */
    const char *id;   /* "no_communication" */
    const char *text;
} mill_note;

/* Something found wrong or worth doing, with what it rests on. */
typedef struct mill_finding {
    uint32_t size;
    mill_level level;
    const char *id;       /* unique in the report: "G2_1" */
    const char *rule;     /* "G2" */
    const char *where;    /* "layer 3, stream 7" */
    const char *evidence; /* the numbers it rests on */
    const char *advice;
    int64_t cost_ns;   /* what it costs now, or MILL_UNKNOWN */
    int64_t gain_ns;   /* upper bound of what can be won, or MILL_UNKNOWN */
    double confidence; /* 0..1 */
    int64_t at_ns;     /* where to look, counted from at_base_ns, or MILL_UNKNOWN */
    /* The time 0 of at_ns, on the clock that the report's lanes have their base_ns on, so that the
     * place on a timeline is at_base_ns + at_ns; each device may have one of its own, such as the
     * start of its window. 0: at_ns is a time of that clock itself. MILL_UNKNOWN: not known. */
    int64_t at_base_ns;
} mill_finding;

/* Intervals on one line of a timeline: [start, end) with a label and a class each. */
typedef struct mill_lane {
    uint32_t size;
    uint32_t reserved;
    const char *id, *label;
    int64_t rank, device, stream; /* or MILL_UNKNOWN */
    int64_t base_ns;              /* the time 0 of start and end, as the profile counts time */
    uint64_t n;
    const int64_t *start, *end; /* ns */
    const uint32_t *text;       /* index of `texts`: label of each */
    const uint32_t *cls;        /* index of `texts`: class of each, which colours it */
    const int64_t *finding;     /* index of the report's findings, or -1; NULL: none at all */
    const char *const *texts;
    uint64_t n_texts;
} mill_lane;

typedef enum mill_series_kind {
    MILL_SERIES_CURVE = 0,
    MILL_SERIES_HEAT = 1, /* a row of a heat map: x is the column, y its heat, `label` names the
                           * row. Rows that follow each other with one y_label are one map */
} mill_series_kind;

/* Points of a curve, or of a heat map, for pictures. */
typedef struct mill_series {
    uint32_t size;
    uint32_t kind; /* mill_series_kind */
    const char *id, *label;
    const char *x_label, *x_unit, *y_label, *y_unit; /* units or NULL */
    uint64_t n;
    const double *x, *y; /* NaN: no value */
} mill_series;

struct mill_report {
    uint32_t size;
    uint32_t reserved;
    const char *id;      /* of the analysis: "overlap" */
    const char *title;   /* "Compute-communication overlap" */
    const char *subject; /* what it is about: the trace's path; or NULL */
    const char *summary; /* the answer in one sentence, or NULL */
    const mill_figure *const *figures;
    const mill_table *const *tables;
    const mill_note *const *notes;
    const mill_finding *const *findings;
    const mill_lane *const *lanes;
    const mill_series *const *series;
    uint64_t n_figures, n_tables, n_notes, n_findings, n_lanes, n_series;
};

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_report) == 136, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_figure) == 56, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_table) == 56, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_lane) == 120, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_table_column) == 48, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_note) == 24, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_finding) == 88, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_series) == 80, "mill.report/1");
MILL_STATIC_ASSERT(sizeof(mill_datum) == 8, "mill.report/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
