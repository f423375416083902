/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the profiler, and which of them the profile's start or end cuts. */
#include "attribution.h"

#include <stdlib.h>
#include <string.h>

/* Steps without work before the first and after the last that has any: profiling began or ended in
 * them, or the records of their work are lost. */
static void mark_empty(site_table *sites) {
    size_t first = 0, end = sites->n_steps;
    while (first < end && sites->steps[first].n == 0)
        first++;
    while (end > first && sites->steps[end - 1].n == 0)
        end--;
    for (size_t i = 0; i < sites->n_steps; i++)
        sites->steps[i].whole = i >= first && i < end;
}

static int compare_counts(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A first or last step with much less work than the median step has: profiling began late in it, or
 * ended early, though its annotation is whole. Two steps have no median to trust. */
static void mark_partial(mill_run *run, const attribution_options *options, site_table *sites) {
    uint64_t *counts = mill_scratch(run, sites->n_steps * sizeof *counts);
    size_t n = 0, first = 0, last = 0;
    for (size_t i = 0; i < sites->n_steps; i++) {
        if (!sites->steps[i].whole || sites->steps[i].n == 0)
            continue;
        first = n ? first : i;
        last = i;
        counts[n++] = sites->steps[i].n;
    }
    if (n < 3)
        return;
    qsort(counts, n, sizeof *counts, compare_counts);
    double least = (double)counts[(n - 1) / 2] * options->partial_below / 100;
    sites->steps[first].whole = (double)sites->steps[first].n >= least;
    sites->steps[last].whole = (double)sites->steps[last].n >= least;
}

/* A step that was open when profiling ended gets that time for its end, as all that was open does:
 * nothing of its thread begins at or after its end, and something that begins in it ends with it or
 * later. */
static void mark_open(mill_run *run, const mill_trace *trace, site_table *sites) {
    const mill_cpu *cpu = &trace->cpu;
    uint32_t *last = mill_scratch(run, trace->threads.n * sizeof *last); /* step + 1 of a thread */
    uint8_t *others = mill_scratch(run, sites->n_steps), *after = mill_scratch(run, sites->n_steps);
    uint64_t first = cpu->n; /* row from which on there is anything to see */
    for (uint32_t i = 0; i < sites->n_steps; i++) {
        uint32_t row = sites->annotations[sites->steps[i].annotation].row;
        last[mill_u32(trace, &cpu->thread, row)] = i + 1;
    }
    for (uint64_t t = 0; t < trace->threads.n; t++) {
        uint64_t row =
            last[t] ? sites->annotations[sites->steps[last[t] - 1].annotation].row : cpu->n;
        first = row < first ? row : first;
    }
    for (uint64_t row = first; row < cpu->n; row++) {
        uint32_t at = last[mill_u32(trace, &cpu->thread, row)];
        if (at-- == 0)
            continue;
        const annotation *a = &sites->annotations[sites->steps[at].annotation];
        int64_t start = mill_i64(trace, &cpu->start, row);
        others[at] |= row > a->row && start + mill_i64(trace, &cpu->dur, row) >= a->end;
        after[at] |= start >= a->end;
    }
    for (size_t i = 0; i < sites->n_steps; i++)
        if (others[i] && !after[i])
            sites->steps[i].whole = false;
}

/* The number that the name ends its group `step` with: the N of ProfilerStep#N. */
static int64_t number_of(mill_run *run, const pattern *p, const char *text) {
    int64_t number = MILL_UNKNOWN;
    mill_span groups[MAX_GROUPS];
    if (p->step >= 0 && run->host->regex_match(p->regex, text, strlen(text), groups, MAX_GROUPS) &&
        groups[p->step].start >= 0)
        kit_parse_int(text + groups[p->step].start,
                      (size_t)(groups[p->step].end - groups[p->step].start), false, &number);
    return number;
}

void steps_find(mill_run *run, const mill_trace *trace, const attribution_options *options,
                const pattern_set *patterns, site_table *sites, mill_attribution *value) {
    size_t n = sites->n_steps;
    int64_t *numbers = mill_value_alloc(run, value, n * sizeof *numbers);
    int64_t *starts = mill_value_alloc(run, value, n * sizeof *starts);
    int64_t *ends = mill_value_alloc(run, value, n * sizeof *ends);
    uint8_t *wholes = mill_value_alloc(run, value, n * sizeof *wholes);
    uint32_t *annotations = mill_value_alloc(run, value, n * sizeof *annotations);
    mark_empty(sites);
    mark_partial(run, options, sites);
    mark_open(run, trace, sites);
    for (size_t i = 0; i < n; i++) {
        const annotation *a = &sites->annotations[sites->steps[i].annotation];
        numbers[i] = number_of(run, &patterns->step, mill_name(trace, a->name));
        starts[i] = a->start;
        ends[i] = a->end;
        wholes[i] = sites->steps[i].whole;
        annotations[i] = a->row;
    }
    value->n_steps = n;
    value->step_number = numbers;
    value->step_start = starts;
    value->step_end = ends;
    value->step_whole = wholes;
    value->step_annotation = annotations;
}
