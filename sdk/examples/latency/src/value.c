/* SPDX-License-Identifier: Apache-2.0 */
/* Values of org.example.latency/1, and the type: how they are shown, saved and loaded. */
#include "value.h"

#include <string.h>
#include <tracemill/kit/report.h>

latency *latency_create(mill_run *run) {
    latency *l = mill_value_alloc(run, NULL, sizeof *l);
    l->size = sizeof *l;
    l->longest = MILL_UNKNOWN;
    return l;
}

static int64_t waits_of(const latency *l) {
    return l->launched - l->early;
}

/* The end of a bin, exclusive. */
static int64_t bin_end(int bin) {
    return INT64_C(1024) << bin;
}

bool latency_add(latency *l, int64_t wait) {
    int bin = 0;
    l->launched++;
    if (wait < 0) {
        l->early++;
        return true;
    }
    while (bin < LATENCY_BINS - 1 && wait >= bin_end(bin))
        bin++;
    l->bins[bin]++;
    if (wait > l->longest)
        l->longest = wait;
    return !__builtin_add_overflow(l->sum, wait, &l->sum);
}

bool latency_merge(latency *l, const latency *from) {
    bool fits = !__builtin_add_overflow(l->profiles, from->profiles, &l->profiles) &&
                !__builtin_add_overflow(l->launched, from->launched, &l->launched) &&
                !__builtin_add_overflow(l->others, from->others, &l->others) &&
                !__builtin_add_overflow(l->early, from->early, &l->early) &&
                !__builtin_add_overflow(l->sum, from->sum, &l->sum);
    for (int i = 0; fits && i < LATENCY_BINS; i++)
        fits = !__builtin_add_overflow(l->bins[i], from->bins[i], &l->bins[i]);
    if (from->longest > l->longest)
        l->longest = from->longest;
    return fits;
}

int64_t latency_quantile(const latency *l, double part) {
    int64_t seen = 0;
    for (int i = 0; i < LATENCY_BINS - 1; i++) {
        seen += l->bins[i];
        if (seen > 0 && (double)seen >= part * (double)waits_of(l))
            return bin_end(i) < l->longest ? bin_end(i) : l->longest;
    }
    return l->longest;
}

/* ---------------------------------------------------------------- as a report */

static void tell_bins(kit_report *report, const latency *l) {
    static const kit_column columns[] = {
        {MILL_KIND_NS, "from", "from", NULL},
        {MILL_KIND_NS, "to", "to", "exclusive; unknown: no bound"},
        {MILL_KIND_COUNT, "activities", "activities", NULL},
        {MILL_KIND_RATIO, "share", "share", "of all that have a wait"},
        {0, NULL, NULL, NULL},
    };
    kit_table *table = kit_table_of(report, "bins", "Waits by length", NULL, columns);
    for (int i = 0; i < LATENCY_BINS; i++) {
        if (l->bins[i] == 0)
            continue;
        kit_table_row(table);
        kit_cell_int(table, i == 0 ? 0 : bin_end(i - 1));
        kit_cell_int(table, i == LATENCY_BINS - 1 ? MILL_UNKNOWN : bin_end(i));
        kit_cell_int(table, l->bins[i]);
        kit_cell_ratio(table, l->bins[i], waits_of(l));
    }
}

static mill_status to_report(mill_run *run, const void *data, mill_report **ret_report) {
    const latency *l = data;
    kit_report *r = kit_report_begin(run, "latency", "Waits between launch and start", NULL);
    int64_t n = waits_of(l);
    kit_figure_int(r, MILL_KIND_COUNT, "profiles", "profiles", NULL, NULL, l->profiles);
    kit_figure_int(r, MILL_KIND_COUNT, "launched", "activities whose call is known", NULL, NULL,
                   l->launched);
    kit_figure_int(r, MILL_KIND_COUNT, "others", "activities whose call is not", NULL, NULL,
                   l->others);
    kit_figure_int(r, MILL_KIND_NS, "mean", "mean wait", NULL,
                   "from the start of the call to that of the activity, rounded down",
                   n > 0 ? l->sum / n : MILL_UNKNOWN);
    kit_figure_int(r, MILL_KIND_NS, "median_within", "half are within", NULL,
                   "an upper bound: the end of the bin of the median", latency_quantile(l, 0.5));
    kit_figure_int(r, MILL_KIND_NS, "p99_within", "99 % are within", NULL,
                   "an upper bound, likewise", latency_quantile(l, 0.99));
    kit_figure_int(r, MILL_KIND_NS, "longest", "longest wait", NULL, NULL, l->longest);
    if (l->early > 0)
        kit_note(r, MILL_WARNING, "early",
                 "%lld activities start before the call that launched them does: the clocks of CPU "
                 "and GPU disagree, so all waits are wrong by some time. They are not counted.",
                 (long long)l->early);
    tell_bins(r, l);
    *ret_report = kit_report_end(r);
    return MILL_OK;
}

/* ---------------------------------------------------------------- saved */

/* Format 1 had no `early`; such activities were no part of `launched`. Format 2 is the struct's
 * numbers in order. Both are 64-bit numbers in the order of this machine's bytes, the format first:
 * so a value that an older version of this module wrote can still be read. */
enum { FORMAT = 2, OTHER_NUMBERS = 6 };

static mill_status save(mill_run *run, const void *data, mill_sink *sink) {
    const latency *l = data;
    const int64_t head[] = {FORMAT,   l->profiles, l->launched, l->others,
                            l->early, l->sum,      l->longest};
    mill_status status = sink->write(sink, head, sizeof head);
    (void)run;
    return status == MILL_OK ? sink->write(sink, l->bins, sizeof l->bins) : status;
}

/* It may be cut, or anything at all. */
static mill_status load(mill_run *run, mill_source *source, void **ret_data) {
    int64_t v[1 + OTHER_NUMBERS + LATENCY_BINS] = {0};
    size_t early = 4, numbers = sizeof v / sizeof v[0];
    if (source->length >= sizeof v[0])
        memcpy(v, source->data, sizeof v[0]);
    if (v[0] != 1 && v[0] != FORMAT)
        return mill_fail(run, MILL_E_DATA, "a latency of the format %lld: expected 1 or %d",
                         (long long)v[0], FORMAT);
    numbers -= v[0] == 1;
    if (source->length != numbers * sizeof v[0])
        return mill_fail(run, MILL_E_DATA, "a latency of %llu bytes: expected %zu; was it cut?",
                         (unsigned long long)source->length, numbers * sizeof v[0]);
    memcpy(v, source->data, numbers * sizeof v[0]);
    if (v[0] == 1) {
        memmove(v + early + 1, v + early, (numbers - early) * sizeof v[0]);
        v[early] = 0;
    }
    latency *l = latency_create(run);
    l->profiles = v[1];
    l->launched = v[2];
    l->others = v[3];
    l->early = v[4];
    l->sum = v[5];
    l->longest = v[6];
    memcpy(l->bins, v + 1 + OTHER_NUMBERS, sizeof l->bins);
    *ret_data = l;
    return MILL_OK;
}

/* Without a `free`: all its values are made by mill_value_alloc. */
const mill_type latency_type = {
    .size = sizeof(mill_type),
    .id = LATENCY_TYPE,
    .help = "how long activities waited after the calls that launched them",
    .to_report = to_report,
    .save = save,
    .load = load,
};
