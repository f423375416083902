/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the attribution analyzer share. Where nothing else is said, memory is the run's
 * scratch. */
#ifndef ATTRIBUTION_H
#define ATTRIBUTION_H

#include <tracemill/attribution.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/report.h>

/* Values of the option `method`; above AUTO they are those of mill_method. */
#define METHOD_AUTO 0

typedef struct attribution_options {
    int method;
    double min_coverage; /* per cent */
    const char *stage_regex, *step_regex, *pipeline_regex, *wgrad_regex, *optimizer_regex;
    const char *cached_regex, *rules;
    bool inherit;
    bool steps_by_start;
    double partial_below; /* per cent */
    int64_t top;
} attribution_options;

/* ---------------------------------------------------------------- names (names.c) */

#define MAX_GROUPS 16 /* of a regular expression of ours; what comes later can't be named */

/* A regular expression with the named groups that tell a place; a group is -1 where it has none. */
typedef struct pattern {
    mill_regex *regex; /* NULL: none given */
    int stage, chunk, layer, micro_batch, step;
} pattern;

/* What a name, or a rule, says of a place. */
typedef struct place_meaning {
    const char *stage; /* not NUL-terminated; NULL: not told */
    size_t stage_length;
    mill_chunk chunk;
    int64_t layer, micro_batch;
    bool layer_named; /* a group took a layer, be it one that can be read or not */
} place_meaning;

#define MEANS_NOTHING ((place_meaning){.layer = MILL_UNKNOWN, .micro_batch = MILL_UNKNOWN})

mill_status pattern_init(mill_run *run, const char *text, pattern *ret_pattern);

/* True if the pattern is there and found in the text. Adds what its groups tell to *meaning. */
bool pattern_match(mill_run *run, const pattern *p, const char *text, place_meaning *meaning);

/* "F", "backward", "wgrad", … */
bool chunk_parse(const char *text, size_t length, mill_chunk *ret_chunk);
/* A number from 0 up, or a letter: a is 0. */
bool ordinal_parse(const char *text, size_t length, int64_t *ret_ordinal);

/* Number of the stage's name as reports show it: "dispatch(F)". NULL-stage: MILL_NONE. */
uint32_t stage_number(kit_intern *stages, const place_meaning *meaning);

/* ---------------------------------------------------------------- rules (rules.c) */

#define MAX_RULES 64 /* the bits of a rule_mask */

typedef uint64_t rule_mask; /* bit r: rule r */

typedef enum rule_field { RULE_ANNOTATION, RULE_OP, RULE_KERNEL, RULE_FIELDS } rule_field;

/* All patterns that it has must be found; then it says `fixed`, and what their groups tell. */
typedef struct rule {
    const char *name;
    pattern patterns[RULE_FIELDS];
    place_meaning fixed;
} rule;

typedef struct rule_set {
    rule rules[MAX_RULES];
    size_t n;
    rule_mask without[RULE_FIELDS]; /* rules that have no pattern for the field */
    kit_arena memory;
} rule_set;

mill_status rules_load(mill_run *run, const char *path, rule_set *set);
/* Which rules have a pattern for the field, and it is found in the text. */
rule_mask rules_find(mill_run *run, const rule_set *set, rule_field field, const char *text);

/* ---------------------------------------------------------------- sites (sites.c) */

/* Compiled once for an instance. */
typedef struct pattern_set {
    pattern stage, step, pipeline, wgrad, optimizer, cached;
    rule_set rules;
} pattern_set;

/* For what an annotation's name is good. */
enum { ROLE_ANY, ROLE_STAGE, ROLE_PIPELINE, ROLE_RULE, ROLE_OPTIMIZER, ROLE_STEP, ROLES };

/* An annotation on the CPU. */
typedef struct annotation {
    int64_t start, end;
    uint32_t row; /* of the trace's cpu */
    uint32_t name;
    uint32_t process; /* a number for each process */
    uint32_t step;    /* around its start, or MILL_NONE */
    uint32_t ordinal; /* among those of its name in its process and step */
} annotation;

typedef struct step {
    uint32_t annotation; /* of the list */
    uint64_t n;          /* activities */
    bool whole;
} step;

/* What a launch call stands in: the innermost annotation of each role (of the list, or MILL_NONE),
 * the innermost op that a rule knows. Launches that stand in the same are one site. */
typedef struct site {
    uint32_t innermost[ROLES];
    uint32_t step;
    uint32_t op;       /* name, or MILL_NONE */
    uint32_t launched; /* 0: the site of activities without a launch */
    uint32_t backward; /* 1: launched by the autograd engine */
} site;

typedef struct site_table {
    annotation *annotations; /* by start */
    size_t n_annotations;
    step *steps; /* by start */
    size_t n_steps;
    uint32_t *of_launch; /* of each cpu row: its site, or MILL_NONE where it launches nothing */
    uint32_t *of_step;   /* n_steps + 1: sites without a launch, in each step and in none */
    kit_intern *table;   /* of site */
    uint64_t launched;   /* activities whose launch is known */
    bool autograd;       /* there are ops of the autograd engine */
    bool by_start;       /* steps are told by the activities' start */
} site_table;

mill_status sites_find(mill_run *run, const mill_trace *trace, const attribution_options *options,
                       const pattern_set *patterns, site_table *ret_sites);
void sites_finish(site_table *sites);
/* The sites of rows [first, first + n) of the trace's gpu. */
void sites_of(const site_table *sites, const mill_trace *trace, uint64_t first, size_t n,
              uint32_t *ret_sites);
site sites_get(const site_table *sites, uint32_t number);

/* ---------------------------------------------------------------- sequence (sequence.c) */

/* A communication kernel whose part is told by the order on its stream. */
typedef struct sequenced {
    uint64_t row;      /* of the trace's gpu */
    const char *stage; /* NULL: the order does not tell */
    mill_chunk chunk;
    uint32_t ordinal; /* of its stage, in its step: the layer */
} sequenced;

typedef struct kernel_sequence {
    sequenced *v; /* by row */
    size_t n;
} kernel_sequence;

void sequence_find(mill_run *run, const mill_trace *trace, const pattern_set *patterns,
                   const site_table *sites, kernel_sequence *ret_sequence);

/* ---------------------------------------------------------------- places (places.c) */

/* What each method would place, and the one that was taken. */
typedef struct method_outcome {
    uint64_t n[MILL_METHODS];   /* activities; of MILL_METHOD_NONE: all */
    int64_t busy[MILL_METHODS]; /* |union| of them, summed over devices */
    mill_method used;
} method_outcome;

/* Counts the activities of each step as well. */
mill_status places_find(mill_run *run, const mill_trace *trace, const attribution_options *options,
                        const pattern_set *patterns, site_table *sites, mill_attribution *value,
                        method_outcome *ret_outcome);

/* ---------------------------------------------------------------- steps (steps.c) */

/* Finds which steps are whole, and puts all steps into the value. */
void steps_find(mill_run *run, const mill_trace *trace, const attribution_options *options,
                const pattern_set *patterns, site_table *sites, mill_attribution *value);

/* ---------------------------------------------------------------- the report (tell.c) */

mill_report *attribution_tell(mill_run *run, const mill_trace *trace,
                              const attribution_options *options, const site_table *sites,
                              const mill_attribution *value, const method_outcome *outcome);

#endif
