/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulation of a pipeline costs: the plan, the run, and the plain simulation of the tests
 * (maps and sweeps) beside it.
 *
 * All rounds of a size run in turn, and the median counts. Memory is the growth of the process'
 * peak while the plan is made and run. */
#include "families.h"
#include "measure.h"
#include "plain_sim.h"

#include <bench_host.h>

#define ROUNDS 5
#define WANTED_OPS 400000  /* small sizes run until they add up to this */
#define PLAIN_OPS 1000000u /* larger ones are not run plainly */

static const char *const families[] = {"1f1b", "zb-h1", "dualpipe"};
static const pp_sizes sizes[] = {
    {.ranks = 8, .micro_batches = 20},
    {.ranks = 64, .micro_batches = 1024},
    {.ranks = 256, .micro_batches = 2048},
    {.ranks = 1024, .micro_batches = 4096},
};

/* The same durations on each cell. */
static int64_t *column(mill_run *run, const pp_plan *plan, int64_t ns) {
    uint32_t cells = plan->ranks * plan->chunks;
    int64_t *v = mill_scratch(run, cells * sizeof *v);
    for (uint32_t c = 0; c < cells; c++)
        v[c] = ns;
    return v;
}

typedef struct seconds {
    double plan, simulate, plain;
} seconds;

static const pp_plan *make_plan(mill_run *run, const char *family, const pp_sizes *size) {
    pp_sizes own = *size;
    own.weight_lag = UINT32_MAX;
    return pp_family_of(family)->plan(run, &own);
}

static pp_timing make_timing(mill_run *run, const pp_plan *plan) {
    return (pp_timing){
        .forward = column(run, plan, 1000),
        .backward = column(run, plan, 2100),
        .input = column(run, plan, 1100),
        .weight = column(run, plan, 1000),
        .pair = column(run, plan, 2700),
        .latency = 30,
    };
}

/* Adds the time of one run of each to *s, and returns its operations. */
static uint64_t run_once(const char *family, const pp_sizes *size, seconds *s) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    pp_result result, plain;
    double began = measure_seconds();
    const pp_plan *plan = make_plan(run, family, size);
    double planned = measure_seconds();
    pp_timing timing = make_timing(run, plan);
    double ready = measure_seconds();
    if (pp_simulate(run, plan, &timing, 0, &result) != MILL_OK)
        g_error("%s", bench_causes(b));
    double simulated = measure_seconds();
    if (plan->total <= PLAIN_OPS) {
        if (!plain_simulate(run, plan, &timing, &plain) || plain.makespan != result.makespan)
            g_error("%s: the plain simulation differs", family);
        s->plain += measure_seconds() - simulated;
    }
    s->plan += planned - began;
    s->simulate += simulated - ready;
    uint64_t ops = plan->total;
    bench_destroy(b);
    return ops;
}

static int64_t peak_of(const char *family, const pp_sizes *size) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    pp_result result;
    int64_t before = measure_reset_peak();
    const pp_plan *plan = make_plan(run, family, size);
    pp_timing timing = make_timing(run, plan);
    if (pp_simulate(run, plan, &timing, 0, &result) != MILL_OK)
        g_error("%s", bench_causes(b));
    int64_t bytes = measure_peak() - before;
    bench_destroy(b);
    return bytes;
}

static void bench_size(const char *family, const pp_sizes *size) {
    double plan[ROUNDS], simulate[ROUNDS], sum[ROUNDS], ratio[ROUNDS];
    uint64_t ops = 0;
    for (int r = 0; r < ROUNDS; r++) {
        seconds s = {0};
        uint64_t done = 0;
        int runs = 0;
        for (; done < WANTED_OPS; done += ops, runs++)
            ops = run_once(family, size, &s);
        plan[r] = s.plan / runs;
        simulate[r] = s.simulate / runs;
        sum[r] = plan[r] + simulate[r];
        ratio[r] = s.plain / s.simulate;
    }
    double both = measure_median(sum, ROUNDS);
    g_print("%4u x %-4u %-9s %8" G_GUINT64_FORMAT " %9.3f %9.3f %9.3f %7.1f", size->ranks,
            size->micro_batches, family, ops, 1e3 * measure_median(plan, ROUNDS),
            1e3 * measure_median(simulate, ROUNDS), 1e3 * both, 1e9 * both / (double)ops);
    if (ops <= PLAIN_OPS)
        g_print(" %7.0f", measure_median(ratio, ROUNDS));
    else
        g_print(" %7s", "-");
    g_print(" %9.2f\n", (double)peak_of(family, size) / (1 << 20));
}

int main(void) {
    g_print(
        "CPU time; plain: of the plain simulation, over that of this one\n"
        "  ranks x m family         ops   plan ms    sim ms    sum ms   ns/op   plain  peak MiB\n");
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        for (size_t f = 0; f < G_N_ELEMENTS(families); f++)
            bench_size(families[f], &sizes[i]);
    return 0;
}
