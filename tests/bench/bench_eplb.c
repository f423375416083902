/* SPDX-License-Identifier: Apache-2.0 */
/* How far plans are from the bound, and what they cost, beside what eplb.py took and made.
 *
 *     bench-eplb [CASE…]      default: the cases with at least 64 slots
 *
 * Gaps are to the better of the oracle's lower bound and our own, mean and largest over the layers.
 * Times are of the processor, for a layer, mean and largest; eplb.py's were recorded elsewhere. */
#include "oracle.h"
#include "reference.h"
#include "search.h"

#include <math.h>
#include <string.h>
#include <time.h>

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Over layers. */
typedef struct spread {
    double sum, most;
    uint32_t n;
} spread;

static void add(spread *s, double value) {
    if (isnan(value))
        return;
    s->sum += value;
    s->most = fmax(s->most, value);
    s->n++;
}

static void print_spread(const spread *s, int decimals) {
    g_autofree char *text =
        s->n ? g_strdup_printf("%.*f/%.*f", decimals, s->sum / s->n, decimals, s->most)
             : g_strdup("-");
    g_print(" %15s", text);
}

typedef struct result {
    double *value, *bound, *ms; /* of each layer */
} result;

static void run(const oracle_case *c, ep_search *s, ep_effort effort, result *ret_result) {
    g_autofree int32_t *plan = g_new(int32_t, c->shape.slots);
    *ret_result =
        (result){g_new(double, c->layers), g_new(double, c->layers), g_new(double, c->layers)};
    for (uint32_t l = 0; l < c->layers; l++) {
        ep_loads loads = {c->shape.experts, 1, c->load + (size_t)l * c->shape.experts};
        ep_goal goal = {
            .policy = c->hierarchical ? EP_HIERARCHICAL : EP_GLOBAL,
            .effort = effort,
            .start = c->plan + (size_t)l * c->shape.slots,
            .moves = MILL_UNKNOWN,
            .seed = 1,
        };
        ep_answer answer;
        double began = now_ms();
        ep_search_plan(s, &loads, &goal, plan, &answer);
        ret_result->ms[l] = now_ms() - began;
        ret_result->value[l] = answer.value;
        ret_result->bound[l] = answer.bound;
    }
}

/* eplb.py's own plan. */
static void run_reference(const oracle_case *c, spread *ret_ms) {
    const ep_shape *shape = &c->shape;
    g_autofree int32_t *plan = g_new(int32_t, shape->slots);
    g_autofree float *load = g_new(float, shape->experts);
    ep_reference *r = ep_reference_create(shape->experts, shape->slots, shape->groups, shape->nodes,
                                          shape->gpus, c->hierarchical, EP_SORT_STABLE);
    for (uint32_t l = 0; l < c->layers; l++) {
        for (uint32_t e = 0; e < shape->experts; e++)
            load[e] = (float)c->load[(size_t)l * shape->experts + e];
        double began = now_ms();
        ep_reference_plan(r, load, plan, NULL);
        add(ret_ms, now_ms() - began);
    }
    ep_reference_destroy(r);
}

static void result_finish(result *r) {
    g_free(r->value);
    g_free(r->bound);
    g_free(r->ms);
}

static void bench_case(const oracle_case *c) {
    ep_shape shape = c->shape;
    shape.distinct = true;
    ep_search *s = ep_search_create(&shape);
    result fast, best;
    run(c, s, EP_SEARCH_FAST, &fast);
    run(c, s, EP_SEARCH_BEST, &best);
    spread gaps[4] = {0}, times[4] = {0};
    for (uint32_t l = 0; l < c->layers; l++) {
        const struct oracle_layer *known = &c->known[l];
        ep_loads loads = {shape.experts, 1, c->load + (size_t)l * shape.experts};
        double eplb = ep_value(&shape, &loads, EP_MEAN, c->plan + (size_t)l * shape.slots);
        double bound = fmax(best.bound[l], known->lower_bound); /* fmax passes over a NaN */
        if (!(bound > 0))
            continue;
        add(&gaps[0], 100 * (eplb / bound - 1));
        add(&gaps[1], 100 * (fast.value[l] / bound - 1));
        add(&gaps[2], 100 * (best.value[l] / bound - 1));
        add(&gaps[3], 100 * (known->best_distinct / bound - 1));
        add(&times[0], c->layer_ms);
        add(&times[2], fast.ms[l]);
        add(&times[3], best.ms[l]);
    }
    run_reference(c, &times[1]);
    g_print("%-24s %4u %3u", c->name, shape.slots, shape.slots / shape.gpus);
    for (int i = 0; i < 4; i++)
        print_spread(&gaps[i], 3);
    for (int i = 0; i < 4; i++)
        print_spread(&times[i], 2);
    g_print("\n");
    result_finish(&fast);
    result_finish(&best);
    ep_search_destroy(s);
}

static bool asked_for(const oracle_case *c, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], c->name) == 0)
            return true;
    return argc == 1 && c->shape.slots >= 64;
}

int main(int argc, char **argv) {
    const char *folder = g_getenv("TRACEMILL_TEST_DATA");
    if (!folder || !g_file_test(folder, G_FILE_TEST_IS_DIR)) {
        g_printerr("bench-eplb: the folder of right values is not there (meson option data_dir)\n");
        return 77;
    }
    g_autoptr(GPtrArray) cases = oracle_cases(folder);
    g_print(
        "%-32s | gap to the bound in %%: eplb.py, fast, best, best known | ms a layer: eplb.py, "
        "reference, fast, best\n%-24s %4s %3s\n",
        "no duplicates but in eplb.py", "case", "R", "S");
    for (guint i = 0; i < cases->len; i++)
        if (asked_for(cases->pdata[i], argc, argv))
            bench_case(cases->pdata[i]);
    return 0;
}
