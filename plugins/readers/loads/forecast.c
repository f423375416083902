/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class loads.forecast: one step of loads, told from many; and how well that went in the
 * steps that are known. */
#include "loads.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/forecast.h>

typedef struct options {
    kit_forecast_rule rule;
    int64_t backtest;
} options;

/* How far a forecast was from what came, summed over layers and steps. */
typedef struct error {
    double absolute, actual; /* Σ |forecast - load|, Σ load */
    double moved;            /* Σ half the sum of |difference of shares| */
    double peak;             /* Σ |difference of the largest shares| / largest share */
    uint64_t hit;            /* the hottest expert was right */
    uint64_t n;              /* layers with load in both */
} error;

static uint32_t hottest(const double *load, uint32_t n) {
    uint32_t at = 0;
    for (uint32_t e = 1; e < n; e++)
        if (load[e] > load[at])
            at = e;
    return at;
}

static double total(const double *load, uint32_t n) {
    double sum = 0;
    for (uint32_t e = 0; e < n; e++)
        sum += load[e];
    return sum;
}

/* Shares are compared, since a plan depends on nothing else. */
static void compare_layer(const double *forecast, const double *load, uint32_t n, error *e) {
    double sum = total(load, n), expected = total(forecast, n), moved = 0;
    for (uint32_t i = 0; i < n; i++)
        e->absolute += fabs(forecast[i] - load[i]);
    e->actual += sum;
    if (!(sum > 0) || !(expected > 0))
        return;
    for (uint32_t i = 0; i < n; i++)
        moved += fabs(forecast[i] / expected - load[i] / sum) / 2;
    uint32_t right = hottest(load, n), guess = hottest(forecast, n);
    double peak = load[right] / sum;
    e->moved += moved;
    e->peak += fabs(forecast[guess] / expected - peak) / peak;
    e->hit += load[guess] >= load[right];
    e->n++;
}

/* Forecasts each of the last `n` steps from those before it. */
static mill_status backtest(mill_run *run, const mill_expert_load *v, const kit_forecast_rule *rule,
                            uint64_t n, error *ret) {
    double *forecast = mill_scratch(run, (size_t)v->layers * v->experts * sizeof *forecast);
    *ret = (error){0};
    for (uint64_t s = v->steps - n; s < v->steps; s++) {
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
        kit_forecast(v, s, rule, forecast);
        for (uint32_t l = 0; l < v->layers; l++)
            compare_layer(forecast + (size_t)l * v->experts, mill_expert_load_at(v, s, l),
                          v->experts, ret);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- the report */

#define ABSOLUTE_HELP "Σ |forecast - load| / Σ load, over experts, layers and steps"
#define MOVED_HELP                                                                                 \
    "Share of the tokens that the forecast expects at other experts: mean over layers and steps "  \
    "of ½ Σ |share forecast - share| over the experts"
#define PEAK_HELP                                                                                  \
    "How far off the largest load is: mean over layers and steps of |largest share forecast - "    \
    "largest share| / largest share"
#define HIT_HELP "How often the expert forecast to be the hottest was"

static double over(double sum, double n) {
    return n > 0 ? sum / n : NAN;
}

static void tell_error(kit_report *r, const error *e) {
    double n = (double)e->n;
    kit_figure_share(r, "absolute_error", "absolute error", NULL, ABSOLUTE_HELP,
                     over(e->absolute, e->actual));
    kit_figure_share(r, "moved", "tokens misplaced", NULL, MOVED_HELP, over(e->moved, n));
    kit_figure_share(r, "peak_error", "error of the largest load", NULL, PEAK_HELP,
                     over(e->peak, n));
    kit_figure_share(r, "hit", "hottest expert right", NULL, HIT_HELP, over((double)e->hit, n));
}

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "forecast", "forecast", NULL},
    {MILL_KIND_RATIO, "absolute_error", "absolute error", ABSOLUTE_HELP},
    {MILL_KIND_RATIO, "moved", "misplaced", MOVED_HELP},
    {MILL_KIND_RATIO, "peak_error", "largest load", PEAK_HELP},
    {MILL_KIND_RATIO, "hit", "hottest right", HIT_HELP},
    {0},
};

/* All methods on the same steps, to choose from; the errors of the one in use are also figures. */
static mill_status tell_backtest(mill_run *run, kit_report *r, const mill_expert_load *v,
                                 const options *o, uint64_t n) {
    error errors[KIT_FORECAST_METHODS];
    for (int m = 0; m < KIT_FORECAST_METHODS; m++) {
        kit_forecast_rule rule = o->rule;
        rule.method = m;
        mill_status status = backtest(run, v, &rule, n, &errors[m]);
        if (status != MILL_OK)
            return status;
    }
    tell_error(r, &errors[o->rule.method]);
    kit_table *t = kit_table_of(r, "methods", "What each method would have forecast",
                                "The same steps, window, alpha and quantile.", columns);
    for (int m = 0; m < KIT_FORECAST_METHODS; m++) {
        double layers = (double)errors[m].n;
        kit_table_row(t);
        kit_cell_text(t, kit_forecast_methods[m]);
        kit_cell_share(t, over(errors[m].absolute, errors[m].actual));
        kit_cell_share(t, over(errors[m].moved, layers));
        kit_cell_share(t, over(errors[m].peak, layers));
        kit_cell_share(t, over((double)errors[m].hit, layers));
    }
    return MILL_OK;
}

static mill_status tell(mill_run *run, const options *o, const mill_expert_load *history,
                        const char *rule, mill_report **ret_report) {
    kit_report *r =
        kit_report_begin(run, "loads_forecast", "Forecast of expert loads", history->subject);
    uint64_t n = history->steps - 1; /* the first step has nothing before it */
    if (n > (uint64_t)o->backtest)
        n = (uint64_t)o->backtest;
    kit_report_summary(r, "The next loads by the %s.", rule);
    kit_figure_int(r, MILL_KIND_COUNT, "steps", "steps of the history", NULL, NULL,
                   (int64_t)history->steps);
    kit_figure_int(r, MILL_KIND_COUNT, "backtest", "steps forecast to test it", NULL, NULL,
                   (int64_t)n);
    if (history->steps == 1)
        kit_note(r, MILL_WARNING, "one_step",
                 "The history has one step: the forecast is that, and its error is unknown.");
    mill_status status = n > 0 ? tell_backtest(run, r, history, o, n) : MILL_OK;
    *ret_report = kit_report_end(r);
    return status;
}

/* ---------------------------------------------------------------- the stage */

static bool is_integral(const double *load, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(load[i] < 0x1p53) || load[i] != (double)(int64_t)load[i])
            return false;
    return true;
}

static mill_expert_load *forecast(mill_run *run, const options *o, const mill_expert_load *history,
                                  const char *rule) {
    size_t cells = (size_t)history->layers * history->experts;
    mill_expert_load *v = mill_value_alloc(run, NULL, sizeof *v);
    double *load = mill_value_alloc(run, v, cells * sizeof *load);
    const char *subject = history->subject ? history->subject : "loads";
    size_t room = strlen(rule) + strlen(subject) + 16;
    char *text = mill_value_alloc(run, v, room);
    kit_forecast(history, history->steps, &o->rule, load);
    snprintf(text, room, "%s (%s)", subject, rule);
    *v = (mill_expert_load){
        .size = sizeof *v,
        .integral = is_integral(load, cells),
        .subject = text,
        .unit = history->unit ? "tokens" : NULL,
        .layers = history->layers,
        .experts = history->experts,
        .steps = 1,
        .load = load,
        .ranks = history->ranks,
    };
    if (history->layer) {
        int64_t *layer = mill_value_alloc(run, v, v->layers * sizeof *layer);
        v->layer = memcpy(layer, history->layer, v->layers * sizeof *layer);
    }
    return v;
}

static mill_status run_forecast(mill_run *run, const void *opts, void *state) {
    (void)state;
    const options *o = opts;
    const mill_expert_load *history = mill_input(run, 0, 0);
    char rule[KIT_FORECAST_TEXT];
    mill_report *report = NULL;
    kit_forecast_text(rule, &o->rule, history->steps);
    mill_status status = tell(run, o, history, rule, &report);
    if (status == MILL_OK)
        status = mill_output(run, 0, forecast(run, o, history, rule));
    return status == MILL_OK ? mill_output(run, 1, report) : status;
}

static const mill_port inputs[] = {
    {"loads", MILL_TYPE_EXPERT_LOAD, "The history.", 0, 0},
    {0},
};

static const mill_port outputs[] = {
    {"loads", MILL_TYPE_EXPERT_LOAD, "The loads to plan for: one step.", 0, 0},
    {"report", MILL_TYPE_REPORT, "How well each method would have done in the last steps.", 0, 0},
    {0},
};

static const mill_option option_list[] = {
    KIT_FORECAST_OPTIONS(options, rule),
    {.name = "backtest",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(options, backtest, INT),
     .def = "20",
     .min = 0,
     .max = 1e9,
     .unit = "steps",
     .help = "How many of the last steps are forecast, each from those before it, to tell the "
             "error; 0: none."},
    {0},
};

const mill_stage ld_forecast_stage = {
    MILL_STAGE_HEAD,
    .name = "loads.forecast",
    .summary = "Tells the next loads of experts from a history",
    .help = "One step of loads to plan for, each expert of each layer for itself. The report "
            "compares the methods on the steps that are known.",
    .inputs = inputs,
    .outputs = outputs,
    .options = option_list,
    .options_size = sizeof(options),
    .run = run_forecast,
};
