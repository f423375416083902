/* SPDX-License-Identifier: Apache-2.0 */
/* Cases: which schedules are simulated with which sizes and durations, and what comes of them. */
#include "bubble.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>

const char *bubble_text(mill_run *run, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
    char *copy = mill_scratch(run, length + 1);
    memcpy(copy, text, length);
    return copy;
}

const char *bubble_ms(mill_run *run, int64_t ns) {
    char number[KIT_NUMBER_MAX];
    return bubble_text(run, "%s ms", kit_format_ms(number, ns - ns % 1000, KIT_GROUP));
}

const char *bubble_id(mill_run *run, const char *id) {
    char *copy = mill_scratch(run, strlen(id) + 1);
    for (size_t i = 0; id[i]; i++)
        copy[i] = id[i] == '-' ? '_' : id[i];
    return copy;
}

/* ---------------------------------------------------------------- one case */

/* ns that a transfer keeps its link, rounded up. */
static int64_t occupied_of(const bubble_options *o) {
    if (o->transfer_bytes == 0)
        return 0;
    __int128 bytes = (__int128)o->transfer_bytes * 1000000000;
    return (int64_t)((bytes + o->bandwidth - 1) / o->bandwidth);
}

bubble_case bubble_case_of(const bubble_analysis *a, const pp_family *family, int64_t m,
                           size_t basis) {
    const bubble_options *o = a->options;
    bubble_case c = {
        .family = family,
        .id = family ? family->id : "file",
        .name = family ? family->name : "schedule-file",
        .sizes = {.ranks = a->in.pp,
                  .micro_batches = (uint32_t)m,
                  .chunks = (uint32_t)o->chunks,
                  .warm_up = (uint32_t)o->warm_up,
                  .weight_lag = a->weight_lag},
        .basis = basis,
        .latency = a->latency,
        .occupied = occupied_of(o),
    };
    return c;
}

/* Only what differs. */
static const char *nearest_text(mill_run *run, const pp_sizes *asked, const pp_sizes *nearest) {
    bool pp = nearest->ranks != asked->ranks;
    bool v = nearest->chunks != 0 && nearest->chunks != asked->chunks;
    return bubble_text(run, "%s%sm = %u", pp ? bubble_text(run, "PP = %u, ", nearest->ranks) : "",
                       v ? bubble_text(run, "v = %u, ", nearest->chunks) : "",
                       nearest->micro_batches);
}

static bool runs_file(const bubble_analysis *a, const bubble_case *c) {
    return a->file->ranks == c->sizes.ranks && a->file->micro_batches == c->sizes.micro_batches;
}

static void find_plan(mill_run *run, const bubble_analysis *a, bubble_case *c) {
    pp_sizes nearest;
    c->plan = NULL;
    if (c->family && c->family->takes(&c->sizes, &nearest))
        c->plan = c->family->plan(run, &c->sizes);
    else if (!c->family && runs_file(a, c))
        c->plan = a->file;
    if (c->plan)
        return;
    if (!c->family)
        nearest = (pp_sizes){.ranks = a->file->ranks, .micro_batches = a->file->micro_batches};
    c->reason = c->family ? c->family->rule : "the file is for other sizes";
    c->nearest = nearest_text(run, &c->sizes, &nearest);
}

static void sum_up(bubble_case *c) {
    c->makespan = c->result.makespan;
    c->idle_min = INT64_MAX;
    for (uint32_t r = 0; r < c->plan->ranks; r++) {
        const pp_rank_times *t = &c->result.ranks[r];
        int64_t idle = c->makespan - t->busy;
        c->idle_sum = kit_add(c->idle_sum, idle);
        c->idle_min = idle < c->idle_min ? idle : c->idle_min;
        c->idle_max = idle > c->idle_max ? idle : c->idle_max;
        c->live = t->live > c->live ? t->live : c->live;
        c->live_weight = t->live_weight > c->live_weight ? t->live_weight : c->live_weight;
    }
}

/* An order that blocking transfers bring to a standstill is a finding about it; any other failure
 * is one of the input. */
mill_status bubble_simulate_plan(mill_run *run, const bubble_analysis *a, bubble_case *c) {
    c->timing = bubble_timing(run, a, c);
    if (!c->timing)
        return MILL_OK;
    bool record = c->record && c->plan->total <= (uint64_t)a->options->most_operations;
    mill_status status = pp_simulate(run, c->plan, c->timing, record ? PP_RECORD : 0, &c->result);
    if (c->result.stands_still && c->timing->comm == PP_COMM_BLOCKING && c->family) {
        c->reason = "stands still for ever with communication = blocking";
        return MILL_OK;
    }
    if (status == MILL_OK)
        sum_up(c);
    return status;
}

/* ---------------------------------------------------------------- many cases */

typedef struct job {
    const bubble_analysis *a;
    bubble_case *cases;
    size_t *first; /* of each group of cases that have one plan; and the end */
} job;

static mill_status simulate_group(mill_run *run, void *arg, size_t i) {
    job *j = arg;
    mill_status status = MILL_OK;
    for (size_t k = j->first[i]; k < j->first[i + 1] && status == MILL_OK; k++) {
        bubble_case *c = &j->cases[k];
        if (k == j->first[i]) {
            find_plan(run, j->a, c);
        } else {
            c->plan = c[-1].plan;
            c->reason = c->plan ? NULL : c[-1].reason;
            c->nearest = c[-1].nearest;
        }
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
        if (c->plan)
            status = bubble_simulate_plan(run, j->a, c);
    }
    return status;
}

mill_status bubble_simulate(mill_run *run, const bubble_analysis *a, bubble_case *cases, size_t n) {
    job j = {a, cases, mill_scratch(run, (n + 1) * sizeof *j.first)};
    size_t groups = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || cases[i].family != cases[i - 1].family || !cases[i].family ||
            memcmp(&cases[i].sizes, &cases[i - 1].sizes, sizeof cases[i].sizes) != 0)
            j.first[groups++] = i;
    j.first[groups] = n;
    return run->host->parallel(run, groups, simulate_group, &j);
}

/* ---------------------------------------------------------------- jitter */

typedef struct shaken {
    const bubble_case *c;
    const bubble_options *options;
    int64_t *makespans;
} shaken;

static mill_status simulate_sample(mill_run *run, void *arg, size_t i) {
    shaken *s = arg;
    pp_timing timing = *s->c->timing;
    pp_result result;
    timing.jitter = (int64_t)(s->options->jitter * 1e6 + 0.5);
    timing.seed = (uint64_t)s->options->seed * UINT64_C(0x9e3779b97f4a7c15) + i; /* far apart */
    mill_status status = pp_simulate(run, s->c->plan, &timing, PP_MAKESPAN, &result);
    s->makespans[i] = status == MILL_OK ? result.makespan : 0;
    return status;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Percentiles by nearest rank. */
static bubble_jitter jitter_of(int64_t *v, size_t n) {
    qsort(v, n, sizeof *v, compare);
    return (bubble_jitter){
        .mean = kit_stats_of(v, n).mean,
        .p50 = v[(n * 50 + 99) / 100 - 1],
        .p95 = v[(n * 95 + 99) / 100 - 1],
        .max = v[n - 1],
    };
}

static mill_status shake(mill_run *run, bubble_analysis *a) {
    size_t n = (size_t)a->options->samples;
    a->jitter = mill_scratch(run, a->n_schedules * sizeof *a->jitter);
    shaken s = {.options = a->options, .makespans = mill_scratch(run, n * sizeof *s.makespans)};
    for (size_t k = 0; k < a->n_schedules; k++) {
        s.c = bubble_at(a, 0, k, a->in.likely);
        if (s.c->reason)
            continue;
        mill_status status = run->host->parallel(run, n, simulate_sample, &s);
        if (status != MILL_OK)
            return status;
        a->jitter[k] = jitter_of(s.makespans, n);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- which ones */

bool bubble_is_listed(const mill_list *list, const pp_family *family) {
    const char *const *ids = list->v;
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(ids[i], "all") == 0 || pp_family_of(ids[i]) == family)
            return true;
    return false;
}

bool bubble_compared(const bubble_analysis *a, const bubble_case *c) {
    bool compared = !c->family || bubble_is_listed(&a->options->compare, c->family);
    for (size_t i = 0; i < a->n_detail; i++)
        compared |= a->detail[i]->family == c->family;
    return compared;
}

/* The families that are asked for, in the order of reports, then the file's (NULL). */
static const pp_family **schedules_of(mill_run *run, bubble_analysis *a) {
    size_t n = 0;
    while (pp_families[n])
        n++;
    const pp_family **listed = mill_scratch(run, (n + 1) * sizeof *listed);
    for (size_t i = 0; i < n; i++)
        if (bubble_is_listed(&a->options->schedules, pp_families[i]) ||
            bubble_is_listed(&a->options->detail, pp_families[i]))
            listed[a->n_schedules++] = pp_families[i];
    if (a->file)
        listed[a->n_schedules++] = NULL;
    return listed;
}

static void find_best(mill_run *run, bubble_analysis *a) {
    a->detail = mill_scratch(run, (a->n_schedules + 1) * sizeof *a->detail);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->reason)
            continue;
        if (c->family && strcmp(c->id, "1f1b") == 0)
            a->baseline = c;
        if (bubble_fits(a, c) && (!a->best || c->makespan < a->best->makespan))
            a->best = c;
        if (a->options->detail.n > 0 && c->family &&
            bubble_is_listed(&a->options->detail, c->family))
            a->detail[a->n_detail++] = c;
    }
    if (a->options->detail.n == 0 && a->best)
        a->detail[a->n_detail++] = a->best;
}

mill_status bubble_compare(mill_run *run, bubble_analysis *a) {
    const pp_family **families = schedules_of(run, a);
    if (a->n_schedules == 0)
        return mill_fail(run, MILL_E_CONFIG, "schedules is empty: list at least one, or `all`");
    size_t n = a->n_m * a->n_schedules * a->in.n_bases, k = 0;
    a->cases = mill_scratch(run, n * sizeof *a->cases);
    for (size_t i = 0; i < a->n_m; i++)
        for (size_t s = 0; s < a->n_schedules; s++)
            for (size_t basis = 0; basis < a->in.n_bases; basis++, k++) {
                a->cases[k] = bubble_case_of(a, families[s], a->m[i], basis);
                a->cases[k].record = i == 0 && basis == a->in.likely;
            }
    mill_status status = bubble_simulate(run, a, a->cases, n);
    if (status == MILL_OK)
        find_best(run, a);
    if (status == MILL_OK && a->options->jitter > 0)
        status = shake(run, a);
    return status;
}
