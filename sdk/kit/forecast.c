/* SPDX-License-Identifier: Apache-2.0 */
/* Forecasts of expert loads. */
#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/forecast.h>

const char *const kit_forecast_methods[] = {
    [KIT_FORECAST_MEAN] = "mean", [KIT_FORECAST_EXPONENTIAL] = "exponential",
    [KIT_FORECAST_MAX] = "max",   [KIT_FORECAST_QUANTILE] = "quantile",
    [KIT_FORECAST_LAST] = "last", [KIT_FORECAST_METHODS] = NULL,
};

uint64_t kit_forecast_steps(const kit_forecast_rule *rule, uint64_t steps) {
    if (rule->method == KIT_FORECAST_LAST)
        return 1;
    return rule->window > 0 && (uint64_t)rule->window < steps ? (uint64_t)rule->window : steps;
}

static void exponential(const double *first, uint64_t steps, size_t cells, double alpha,
                        double *ret_load) {
    for (size_t i = 0; i < cells; i++)
        ret_load[i] = first[i];
    for (uint64_t s = 1; s < steps; s++)
        for (size_t i = 0; i < cells; i++)
            ret_load[i] += alpha * (first[s * cells + i] - ret_load[i]);
}

static void mean(const double *first, uint64_t steps, size_t cells, double *ret_load) {
    for (size_t i = 0; i < cells; i++)
        ret_load[i] = 0;
    for (uint64_t s = 0; s < steps; s++)
        for (size_t i = 0; i < cells; i++)
            ret_load[i] += first[s * cells + i];
    for (size_t i = 0; i < cells; i++)
        ret_load[i] /= (double)steps;
}

static void most(const double *first, uint64_t steps, size_t cells, double *ret_load) {
    for (size_t i = 0; i < cells; i++)
        ret_load[i] = first[i];
    for (uint64_t s = 1; s < steps; s++)
        for (size_t i = 0; i < cells; i++)
            if (first[s * cells + i] > ret_load[i])
                ret_load[i] = first[s * cells + i];
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nearest rank: the least value that at least this share of all is not above. 7 % of 100 is 7,
 * though a product of doubles is above. */
static void quantile(const double *first, uint64_t steps, size_t cells, double share,
                     double *ret_load) {
    double *values = kit_alloc(steps, sizeof *values);
    double rank = share * (double)steps * (1 - 1e-12);
    uint64_t at = (uint64_t)rank;
    at -= at > 0 && (double)at == rank;
    for (size_t i = 0; i < cells; i++) {
        for (uint64_t s = 0; s < steps; s++)
            values[s] = first[s * cells + i];
        qsort(values, steps, sizeof *values, compare);
        ret_load[i] = values[at];
    }
    free(values);
}

void kit_forecast(const mill_expert_load *history, uint64_t end, const kit_forecast_rule *rule,
                  double *ret_load) {
    size_t cells = (size_t)history->layers * history->experts;
    uint64_t steps = kit_forecast_steps(rule, end);
    const double *first = mill_expert_load_at(history, end - steps, 0);
    switch ((kit_forecast_method)rule->method) {
    case KIT_FORECAST_EXPONENTIAL:
        exponential(first, steps, cells, rule->alpha, ret_load);
        break;
    case KIT_FORECAST_MAX:
        most(first, steps, cells, ret_load);
        break;
    case KIT_FORECAST_QUANTILE:
        quantile(first, steps, cells, rule->quantile, ret_load);
        break;
    default:
        mean(first, steps, cells, ret_load);
    }
}

const char *kit_forecast_text(char text[KIT_FORECAST_TEXT], const kit_forecast_rule *rule,
                              uint64_t steps) {
    unsigned long long used = kit_forecast_steps(rule, steps);
    const char *plural = used == 1 ? "" : "s";
    switch ((kit_forecast_method)rule->method) {
    case KIT_FORECAST_EXPONENTIAL:
        snprintf(text, KIT_FORECAST_TEXT, "exponential average (alpha %g) of %llu step%s",
                 rule->alpha, used, plural);
        break;
    case KIT_FORECAST_QUANTILE:
        snprintf(text, KIT_FORECAST_TEXT, "%g-quantile of %llu step%s", rule->quantile, used,
                 plural);
        break;
    case KIT_FORECAST_LAST:
        snprintf(text, KIT_FORECAST_TEXT, "the last step");
        break;
    default:
        snprintf(text, KIT_FORECAST_TEXT, "%s of %llu step%s", kit_forecast_methods[rule->method],
                 used, plural);
    }
    return text;
}
