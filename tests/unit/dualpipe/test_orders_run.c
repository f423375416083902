/* SPDX-License-Identifier: Apache-2.0 */
/* The families' orders, run: none waits for itself, and where no other program's order is known to
 * compare with, its makespan is what the schedule promises. */
#include "bench_host.h"
#include "families.h"
#include "sim.h"

#include <inttypes.h>

static bench *b;
static mill_run *run;
static pp_workspace *workspace;

/* The same durations on every cell. */
static int64_t makespan(const pp_plan *plan, int64_t forward, int64_t backward, int64_t latency) {
    int64_t weight = backward / 2, values[] = {forward, backward, backward - weight, weight};
    uint32_t cells = plan->ranks * plan->chunks;
    g_autofree int64_t *columns = g_new(int64_t, 4 * cells);
    g_autofree int64_t *pair = g_new(int64_t, cells);
    for (uint32_t i = 0; i < 4 * cells; i++)
        columns[i] = values[i / cells];
    for (uint32_t i = 0; i < cells; i++)
        pair[i] = forward + backward;
    pp_timing timing = {
        .forward = columns,
        .backward = columns + cells,
        .input = columns + 2 * cells,
        .weight = columns + 3 * cells,
        .pair = pair,
        .latency = latency,
    };
    return pp_makespan(workspace, plan, &timing);
}

static const pp_plan *plan_of(const char *id, pp_sizes sizes) {
    return pp_family_of(id)->plan(run, &sizes);
}

static void test_no_deadlock(void) {
    for (const pp_family *const *f = pp_families; *f; f++)
        for (uint32_t ranks = 1; ranks < 10; ranks++)
            for (uint32_t m = 1; m < 40; m++)
                for (uint32_t chunks = 1; chunks < ((*f)->choosable ? 7 : 2); chunks++) {
                    pp_sizes sizes = {ranks, m, chunks, m % ranks, ranks % 3 ? m / 3 : UINT32_MAX};
                    pp_sizes nearest;
                    if (!(*f)->takes(&sizes, &nearest))
                        continue;
                    const pp_plan *plan = (*f)->plan(run, &sizes);
                    int64_t took = makespan(plan, 10, 17, 3);
                    int64_t busy = 27 * (int64_t)plan->chunks * plan->per_cell;
                    if (took < busy) /* MILL_UNKNOWN is less than all */
                        g_error("%s, PP=%u, m=%u, chunks=%u: makespan %" PRId64, (*f)->id, ranks, m,
                                chunks, took);
                }
}

/* If F and B take the same time, whole units follow each other without a hole: only the fill and
 * the drain of PP - 1 slots each are idle. */
static void test_hanayo(void) {
    for (uint32_t ranks = 1; ranks < 9; ranks++)
        for (uint32_t chunks = 2; chunks < 9; chunks += 2)
            for (uint32_t units = 1; units < 5; units++) {
                const pp_plan *plan = plan_of("hanayo", (pp_sizes){ranks, units * ranks, chunks});
                int64_t slots = 2 * (int64_t)chunks * units * ranks + 2 * (ranks - 1);
                g_assert_cmpint(makespan(plan, 5, 5, 0), ==, 5 * slots);
            }
}

/* The paper: PP - 2 slots are idle; with B = 2F, PP / 2 - 1 of each kind in one unit. */
static void test_chimera(void) {
    for (uint32_t ranks = 2; ranks < 13; ranks += 2) {
        for (uint32_t units = 1; units < 5; units++) {
            const pp_plan *plan = plan_of("chimera", (pp_sizes){ranks, units * ranks});
            g_assert_cmpint(makespan(plan, 7, 7, 0), ==, 7 * (2 * units * ranks + ranks - 2));
        }
        const pp_plan *unit = plan_of("chimera", (pp_sizes){ranks, ranks});
        g_assert_cmpint(makespan(unit, 7, 14, 0), ==, 21 * ranks + 14 * (ranks - 2));
    }
}

/* Forwards that run ahead hide latency, and cost nothing where there is none. */
static void test_eager_1f1b(void) {
    for (uint32_t ranks = 1; ranks < 9; ranks++)
        for (uint32_t m = 1; m < 30; m++) {
            int64_t plain = makespan(plan_of("1f1b", (pp_sizes){ranks, m}), 10, 20, 3);
            for (uint32_t ahead = 0; ahead < 9; ahead++) {
                const pp_plan *plan = plan_of("eager-1f1b", (pp_sizes){ranks, m, .warm_up = ahead});
                int64_t took = makespan(plan, 10, 20, 3);
                g_assert_cmpint(took, <=, plain);
                g_assert_cmpint(makespan(plan, 10, 20, 0), ==, 30 * (m + ranks - 1));
                plain = took;
            }
        }
    const pp_plan *plan = plan_of("eager-1f1b", (pp_sizes){8, 20, .warm_up = 3});
    g_assert_cmpint(makespan(plan, 10, 20, 3), ==, 852); /* of 1F1B: 948, spec section 2 */
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    b = bench_create(NULL, NULL);
    run = bench_services(b);
    workspace = pp_workspace_create();
    g_test_add_func("/orders-run/no-deadlock", test_no_deadlock);
    g_test_add_func("/orders-run/hanayo", test_hanayo);
    g_test_add_func("/orders-run/chimera", test_chimera);
    g_test_add_func("/orders-run/eager-1f1b", test_eager_1f1b);
    int failed = g_test_run();
    pp_workspace_destroy(workspace);
    bench_destroy(b);
    return failed;
}
