/* SPDX-License-Identifier: Apache-2.0 */
/* The published formulas of bubbles, on durations for which they can be told in one's head. */
#include <tracemill/kit/bubble.h>

#include <glib.h>

/* F 10, B 25 of which W 8, F&B 30. */
static const mill_chunk_cost cost = {10, 25, 17, 8, 30};

static void test_bubble(void) {
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_1F1B, &cost, 8), ==, 7 * 35);
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_ZB1P, &cost, 8), ==, 7 * 19);
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_DUALPIPE, &cost, 8), ==, 3 * 31);
    for (int s = 0; s < KIT_SCHEDULES; s++) {
        g_assert_cmpint(kit_bubble((kit_schedule)s, &cost, 2), >=, 0);
        g_assert_cmpint(kit_bubble((kit_schedule)s, &cost, 0), ==, MILL_UNKNOWN);
        g_assert_nonnull(kit_closed_forms[s].name);
    }
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_DUALPIPE, &cost, 2), ==, 0);
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_DUALPIPE, &cost, 7), ==, MILL_UNKNOWN);
}

static void test_work(void) {
    g_assert_cmpint(kit_bubble_work(KIT_SCHEDULE_1F1B, &cost, 20), ==, 700);
    g_assert_cmpint(kit_bubble_work(KIT_SCHEDULE_ZB1P, &cost, 20), ==, 700);
    g_assert_cmpint(kit_bubble_work(KIT_SCHEDULE_DUALPIPE, &cost, 20), ==, 600);
}

/* Only what a schedule needs must be known. */
static void test_unknown(void) {
    mill_chunk_cost c = cost;
    c.weight = c.pair = MILL_UNKNOWN;
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_1F1B, &c, 8), ==, 245);
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_ZB1P, &c, 8), ==, MILL_UNKNOWN);
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_DUALPIPE, &c, 8), ==, MILL_UNKNOWN);
    g_assert_cmpint(kit_bubble_work(KIT_SCHEDULE_DUALPIPE, &c, 8), ==, MILL_UNKNOWN);
    c.forward = INT64_MAX;
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_1F1B, &c, 8), ==, MILL_UNKNOWN);
    g_assert_cmpint(kit_bubble_work(KIT_SCHEDULE_1F1B, &c, 8), ==, MILL_UNKNOWN);
    c = (mill_chunk_cost){INT64_MAX / 4, 0, 0, 0, 0};
    g_assert_cmpint(kit_bubble(KIT_SCHEDULE_1F1B, &c, 8), ==, MILL_UNKNOWN);
}

static void test_schedulable(void) {
    static const struct {
        kit_schedule schedule;
        int64_t stages, micro_batches, nearest;
    } cases[] = {
        {KIT_SCHEDULE_1F1B, 16, 1, 1},       {KIT_SCHEDULE_1F1B, 16, 0, 1},
        {KIT_SCHEDULE_ZB1P, 7, 33, 33},      {KIT_SCHEDULE_DUALPIPE, 16, 20, 32},
        {KIT_SCHEDULE_DUALPIPE, 8, 20, 20},  {KIT_SCHEDULE_DUALPIPE, 16, 32, 32},
        {KIT_SCHEDULE_DUALPIPE, 16, 33, 32}, {KIT_SCHEDULE_DUALPIPE, 7, 20, 0},
        {KIT_SCHEDULE_DUALPIPE, 0, 20, 0},   {KIT_SCHEDULE_DUALPIPE, INT64_MAX - 1, 20, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(kit_schedulable(cases[i].schedule, cases[i].stages, cases[i].micro_batches),
                        ==, cases[i].nearest);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/bubble/bubble", test_bubble);
    g_test_add_func("/kit/bubble/work", test_work);
    g_test_add_func("/kit/bubble/unknown", test_unknown);
    g_test_add_func("/kit/bubble/schedulable", test_schedulable);
    return g_test_run();
}
