/* SPDX-License-Identifier: Apache-2.0 */
/* What the loads of the next step may be, told from those of the steps before it: each expert of
 * each layer for itself. */
#ifndef TRACEMILL_KIT_FORECAST_H
#define TRACEMILL_KIT_FORECAST_H

#include <tracemill/expert_load.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kit_forecast_method {
    KIT_FORECAST_MEAN,        /* of the window */
    KIT_FORECAST_EXPONENTIAL, /* s = alpha load + (1 - alpha) s over the window, from its first */
    KIT_FORECAST_MAX,         /* of the window */
    KIT_FORECAST_QUANTILE,    /* of the window, by nearest rank */
    KIT_FORECAST_LAST,        /* the step before */
    KIT_FORECAST_METHODS
} kit_forecast_method;

extern const char *const kit_forecast_methods[]; /* their names; ends with NULL */

/* Part of a stage's own options. */
typedef struct kit_forecast_rule {
    int method;      /* kit_forecast_method */
    int64_t window;  /* the last so many steps; 0: all of them */
    double alpha;    /* above 0, at most 1 */
    double quantile; /* 0 … 1 */
} kit_forecast_rule;

/* Their rows in a stage class's table; `field` is the kit_forecast_rule in `owner`. */
#define KIT_FORECAST_OPTIONS(owner, field)                                                         \
    {.name = "forecast",                                                                           \
     .type = MILL_OPT_ENUM,                                                                        \
     .offset = MILL_OPT_OFF(owner, field.method, ENUM),                                            \
     .def = "mean",                                                                                \
     .choices = kit_forecast_methods,                                                              \
     .help = "How the next loads are told from the last steps, expert by expert: their mean, an "  \
             "exponential average, their max, a quantile, or the last of them."},                  \
        {.name = "window",                                                                         \
         .type = MILL_OPT_INT,                                                                     \
         .offset = MILL_OPT_OFF(owner, field.window, INT),                                         \
         .def = "0",                                                                               \
         .min = 0,                                                                                 \
         .max = 1e12,                                                                              \
         .unit = "steps",                                                                          \
         .help = "How many of the last steps a forecast rests on; 0: all there are."},             \
        {.name = "alpha",                                                                          \
         .type = MILL_OPT_NUM,                                                                     \
         .offset = MILL_OPT_OFF(owner, field.alpha, NUM),                                          \
         .def = "0.1",                                                                             \
         .min = 1e-9,                                                                              \
         .max = 1,                                                                                 \
         .help = "With forecast = exponential: the weight of each step against all before it."},   \
    {                                                                                              \
        .name = "quantile", .type = MILL_OPT_NUM,                                                  \
        .offset = MILL_OPT_OFF(owner, field.quantile, NUM), .def = "0.9", .min = 0, .max = 1,      \
        .help = "With forecast = quantile: which one, by nearest rank.",                           \
    }

/* How many of the last steps a forecast rests on, of so many that there are. */
uint64_t kit_forecast_steps(const kit_forecast_rule *rule, uint64_t steps);

/* From steps [0, end) of the history; end is above 0. ret_load: [layers][experts]. */
void kit_forecast(const mill_expert_load *history, uint64_t end, const kit_forecast_rule *rule,
                  double *ret_load);

/* The rule in words: "mean of 10 steps"; `steps` is how many there are to look at. Returns text. */
#define KIT_FORECAST_TEXT 80
const char *kit_forecast_text(char text[KIT_FORECAST_TEXT], const kit_forecast_rule *rule,
                              uint64_t steps);

#ifdef __cplusplus
}
#endif
#endif
