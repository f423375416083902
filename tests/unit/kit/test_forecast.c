/* SPDX-License-Identifier: Apache-2.0 */
/* Forecasts of loads whose right values can be told by looking at them. */
#include <glib.h>
#include <tracemill/kit/forecast.h>

/* Four steps of one layer with two experts. */
static const double loads[] = {8, 1, 0, 5, 4, 3, 2, 7};
static const mill_expert_load history = {
    .size = sizeof history, .layers = 1, .experts = 2, .steps = 4, .load = loads};

static void assert_forecast(kit_forecast_rule rule, uint64_t end, double first, double second) {
    double load[2];
    kit_forecast(&history, end, &rule, load);
    g_assert_cmpfloat(load[0], ==, first);
    g_assert_cmpfloat(load[1], ==, second);
}

static void test_methods(void) {
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_MEAN}, 4, 3.5, 4);
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_MEAN, .window = 2}, 4, 3, 5);
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_MAX}, 4, 8, 7);
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_MAX, .window = 3}, 4, 4, 7);
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_LAST}, 4, 2, 7);
    /* 8 → 4 → 4 → 3, and 1 → 3 → 3 → 5. */
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_EXPONENTIAL, .alpha = 0.5}, 4, 3, 5);
}

/* Of 0 2 4 8 and 1 3 5 7. */
static void test_quantile(void) {
    static const struct {
        double quantile, first, second;
    } cases[] = {{0, 0, 1}, {0.25, 0, 1}, {0.26, 2, 3}, {0.5, 2, 3}, {0.75, 4, 5}, {1, 8, 7}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_forecast(
            (kit_forecast_rule){.method = KIT_FORECAST_QUANTILE, .quantile = cases[i].quantile}, 4,
            cases[i].first, cases[i].second);
    /* Each percentile of 1 to 100. */
    double load[100], percentile;
    for (int i = 0; i < 100; i++)
        load[i] = i + 1;
    mill_expert_load rising = {
        .size = sizeof rising, .layers = 1, .experts = 1, .steps = 100, .load = load};
    for (int i = 1; i <= 100; i++) {
        kit_forecast_rule rule = {.method = KIT_FORECAST_QUANTILE, .quantile = i / 100.0};
        kit_forecast(&rising, 100, &rule, &percentile);
        g_assert_cmpfloat(percentile, ==, i);
    }
}

/* Steps after the end are not looked at, and a window longer than the history is all of it. */
static void test_end(void) {
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_MEAN, .window = 9}, 2, 4, 3);
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_MAX}, 1, 8, 1);
    assert_forecast((kit_forecast_rule){.method = KIT_FORECAST_LAST}, 2, 0, 5);
    g_assert_cmpuint(kit_forecast_steps(&(kit_forecast_rule){.window = 9}, 2), ==, 2);
    g_assert_cmpuint(kit_forecast_steps(&(kit_forecast_rule){.window = 2}, 9), ==, 2);
    g_assert_cmpuint(kit_forecast_steps(&(kit_forecast_rule){.window = 0}, 9), ==, 9);
}

static void test_text(void) {
    char text[KIT_FORECAST_TEXT];
    kit_forecast_rule rule = {.method = KIT_FORECAST_MEAN, .window = 10};
    g_assert_cmpstr(kit_forecast_text(text, &rule, 4), ==, "mean of 4 steps");
    rule = (kit_forecast_rule){.method = KIT_FORECAST_QUANTILE, .quantile = 0.9, .window = 1};
    g_assert_cmpstr(kit_forecast_text(text, &rule, 4), ==, "0.9-quantile of 1 step");
    rule = (kit_forecast_rule){.method = KIT_FORECAST_EXPONENTIAL, .alpha = 0.25};
    g_assert_cmpstr(kit_forecast_text(text, &rule, 4), ==,
                    "exponential average (alpha 0.25) of 4 steps");
    rule = (kit_forecast_rule){.method = KIT_FORECAST_LAST};
    g_assert_cmpstr(kit_forecast_text(text, &rule, 4), ==, "the last step");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/forecast/methods", test_methods);
    g_test_add_func("/forecast/quantile", test_quantile);
    g_test_add_func("/forecast/end", test_end);
    g_test_add_func("/forecast/text", test_text);
    return g_test_run();
}
