/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the class `compare` share: the two sides, what of them is the same, and what
 * became of it. All memory is the run's scratch, but the tables of texts. */
#ifndef COMPARE_H
#define COMPARE_H

#include <tracemill/kit/activities.h>
#include <tracemill/kit/gaps.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/report.h>

typedef struct compare_options {
    kit_selection selection;
    kit_gap_rule gaps;
    mill_list notify_kinds, cast_kinds; /* of texts */
    bool force, template_numbers;
    double min_matched;                                       /* of the time, by the keys used */
    double min_change, noise, min_share, max_p, stage_change; /* when a change is one */
    int64_t min_time, min_steps;
    double window_share, exposed_share, overlap_points, cast_points; /* of headline figures */
    double fail_over, fail_overlap;
    int64_t top;
} compare_options;

typedef enum compare_end { COMPARE_BASE, COMPARE_NEW, COMPARE_ENDS } compare_end;

/* Headline figures, in ns, summed over devices. */
typedef enum compare_time {
    COMPARE_T,
    COMPARE_BUSY,
    COMPARE_COMP,
    COMPARE_COMM,
    COMPARE_OVERLAP,
    COMPARE_EXPOSED,
    COMPARE_WAIT_COMM,
    COMPARE_NOTIFY,   /* Σ durations, as the next two */
    COMPARE_COMP_SUM, /* of all computation */
    COMPARE_CAST,     /* of casts and transposes */
    COMPARE_TIMES
} compare_time;

/* One activity, by what it can be found again in the other trace. */
typedef struct compare_item {
    int64_t dur;
    uint32_t row;     /* of the trace's gpu */
    uint32_t launch;  /* row of the trace's cpu, or MILL_NONE */
    uint32_t place;   /* or MILL_NONE */
    uint32_t stage;   /* of the analysis' stages, or MILL_NONE */
    uint32_t name;    /* of the analysis' names */
    uint32_t ordinal; /* among those of its name in its place; 0 outside of stages */
    uint32_t step;    /* whole step, counted from 0, or MILL_NONE */
    uint32_t key;     /* of the keys in use */
    uint8_t cls;      /* kit_class */
    bool waits;       /* of a kind in which ranks only wait for each other */
} compare_item;

typedef struct compare_side {
    const mill_trace *trace;
    const mill_attribution *places;
    kit_activities all;
    int64_t times[COMPARE_TIMES];
    compare_item *items;
    size_t n_items;
    uint32_t n_steps; /* whole ones */
    size_t *first;    /* of each key: where its items begin in `order` */
    uint32_t *order;  /* items by key */
} compare_side;

/* How activities are found again, from the finest to the coarsest. */
typedef enum compare_level {
    COMPARE_BY_ORDINAL, /* stage, name, ordinal in the stage */
    COMPARE_BY_SIZE,    /* name, grid, block */
    COMPARE_BY_NAME,
    COMPARE_BY_CLASS, /* class and kind */
    COMPARE_LEVELS
} compare_level;

typedef enum compare_verdict {
    COMPARE_SAME,
    COMPARE_REGRESSION,
    COMPARE_IMPROVEMENT,
    COMPARE_SKEW,    /* of what other ranks decide: never a regression */
    COMPARE_UNKNOWN, /* what is judged is not known on one side or both */
    COMPARE_VERDICTS
} compare_verdict;

typedef struct compare_sample {
    int64_t n, sum, median, mad; /* median and mad MILL_UNKNOWN where n is 0 */
} compare_sample;

/* The same work on both sides. */
typedef struct compare_change {
    compare_sample side[COMPARE_ENDS];
    double change; /* of the median, of stages that of the sum; NaN: unknown */
    int64_t delta; /* Σ new - Σ base */
    double p;      /* Mann-Whitney over steps; NaN: too few */
    compare_verdict verdict;
} compare_change;

typedef struct compare_key {
    uint32_t stage;   /* or MILL_NONE: the level does not tell it */
    const char *what; /* the name, or the kind */
    int64_t ordinal;  /* or MILL_UNKNOWN */
    int64_t grid;     /* or MILL_UNKNOWN */
    bool waits;       /* all of it only waits for other ranks */
    compare_change change;
} compare_key;

typedef struct compare_stage {
    uint32_t stage;            /* or MILL_NONE */
    compare_change comp, comm; /* comm: without kinds that only wait */
} compare_stage;

/* Something in which the two traces are not alike. */
typedef struct compare_difference {
    const char *what, *base, *now;
} compare_difference;

typedef struct compare_analysis {
    mill_run *run;
    const compare_options *options;
    kit_intern *names, *stages;
    compare_side side[COMPARE_ENDS];
    compare_difference *differences;
    size_t n_differences;

    compare_level level;
    double matched[COMPARE_ENDS]; /* of the time */
    compare_key *keys;
    compare_stage *stage_rows; /* by number of stage, the last one of no stage */
    size_t n_keys, n_stages;
    compare_verdict verdicts[COMPARE_TIMES];
    compare_verdict overlap_verdict, cast_verdict;
    bool gate; /* a regression is above what may be */
} compare_analysis;

/* In this order. Lists the differences of the traces (like.c), makes items (items.c) and headline
 * figures (figures.c), finds what is the same (keys.c), judges (judge.c). */
void compare_find_differences(compare_analysis *a);
mill_status compare_refuse(const compare_analysis *a);
void compare_make_items(compare_analysis *a);
mill_status compare_measure(compare_analysis *a);
void compare_match(compare_analysis *a);
void compare_judge(compare_analysis *a);
mill_report *compare_tell(const compare_analysis *a);

/* A kernel's name without what changes from build to build (names.c); in scratch memory. */
const char *compare_plain_name(mill_run *run, const char *name, bool template_numbers);

/* The chance that two such samples come of one distribution (Mann-Whitney U, two-sided), exact for
 * up to 20 values each (rank_sum.c). */
double compare_rank_sum(const int64_t *x, size_t nx, const int64_t *y, size_t ny);

/* How long a difference must be to count. */
int64_t compare_floor(const compare_analysis *a);

/* Σ durations of a key in each whole step of a side; the caller frees them. */
int64_t *compare_step_sums(const compare_analysis *a, compare_end end, uint32_t key);

bool compare_lists(const mill_list *list, const char *text);

/* part / whole, NaN where whole is not above 0. */
double compare_ratio(int64_t part, int64_t whole);

#endif
