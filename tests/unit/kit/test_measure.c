/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of overlap against a raster that looks at every single nanosecond. */
#include <tracemill/kit/measure.h>

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/trace.h>

#define WINDOW 96
#define MOST 40
#define KINDS 3

typedef struct span {
    kit_interval time;
    kit_class cls;
    int kind;
} span;

typedef struct scene {
    int64_t base; /* where the window begins */
    span spans[MOST];
    size_t n;
    kit_interval memory[KIT_CLASSES][MOST];
    kit_set sets[KIT_CLASSES];
    int64_t before[MOST + 1];
    kit_cover comp;
} scene;

static int compare_spans(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->time.start != y->time.start)
        return x->time.start < y->time.start ? -1 : 1;
    return (x->time.end > y->time.end) - (x->time.end < y->time.end);
}

/* A few activities of every class, many of zero length, many that touch or coincide. */
static void scene_init(scene *s) {
    static const int64_t bases[] = {0, -50, -(INT64_C(1) << 61), INT64_C(1) << 61};
    memset(s, 0, sizeof *s);
    s->base = bases[g_test_rand_int_range(0, G_N_ELEMENTS(bases))];
    s->n = (size_t)g_test_rand_int_range(0, MOST + 1);
    int longest = g_test_rand_int_range(1, WINDOW / 2);
    for (size_t i = 0; i < s->n; i++) {
        int64_t start = g_test_rand_int_range(0, WINDOW);
        int64_t end = start + g_test_rand_int_range(0, longest);
        end = MIN(end, WINDOW);
        s->spans[i] = (span){{s->base + start, s->base + end},
                             (kit_class)g_test_rand_int_range(0, KIT_CLASSES),
                             g_test_rand_int_range(0, KINDS)};
    }
    qsort(s->spans, s->n, sizeof *s->spans, compare_spans);
    for (int c = 0; c < KIT_CLASSES; c++)
        s->sets[c].v = s->memory[c];
    for (size_t i = 0; i < s->n; i++) {
        kit_set *set = &s->sets[s->spans[i].cls];
        set->v[set->n++] = s->spans[i].time;
    }
    for (int c = 0; c < KIT_CLASSES; c++)
        s->sets[c].n = kit_intervals_normalise(s->sets[c].v, s->sets[c].n);
    kit_cover_init(&s->comp, &s->sets[KIT_COMP], s->before);
}

static bool runs_at(const span *a, int64_t time) {
    return a->time.start <= time && time < a->time.end;
}

static bool class_runs_at(const scene *s, kit_class cls, int64_t time) {
    for (size_t i = 0; i < s->n; i++)
        if (s->spans[i].cls == cls && runs_at(&s->spans[i], time))
            return true;
    return false;
}

static void test_states(void) {
    for (int round = 0; round < 3000; round++) {
        scene s;
        scene_init(&s);
        int64_t from = g_test_rand_int_range(0, WINDOW), to = g_test_rand_int_range(0, WINDOW + 1);
        if (round % 2)
            from = 0, to = WINDOW;
        int64_t states[KIT_STATES], expected[KIT_STATES] = {0};
        kit_states(s.sets, s.base + from, s.base + to, states);
        for (int64_t t = from; t < to; t++) {
            unsigned state = 0;
            for (unsigned c = 0; c < KIT_CLASSES; c++)
                state |= (unsigned)class_runs_at(&s, (kit_class)c, s.base + t) << c;
            expected[state]++;
        }
        g_assert_cmpmem(states, sizeof states, expected, sizeof expected);
    }
}

/* The masks of states against the interval algebra of the kit, and the sums that must hold. */
static void test_masks(void) {
    const uint32_t C = KIT_IN_COMP, M = KIT_IN_COMM, X = KIT_IN_MEM;
    for (int round = 0; round < 1000; round++) {
        scene s;
        scene_init(&s);
        int64_t t[KIT_STATES];
        kit_states(s.sets, s.base, s.base + WINDOW, t);
        const kit_set *c = &s.sets[KIT_COMP], *m = &s.sets[KIT_COMM];
        const kit_set *x = &s.sets[KIT_MEM];
        int64_t comp = kit_intervals_length(c->v, c->n), comm = kit_intervals_length(m->v, m->n);
        int64_t both = kit_intervals_common(c->v, c->n, m->v, m->n);
        g_assert_cmpint(kit_time_in(t, C), ==, comp);
        g_assert_cmpint(kit_time_in(t, M), ==, comm);
        g_assert_cmpint(kit_time_in(t, X), ==, kit_intervals_length(x->v, x->n));
        g_assert_cmpint(kit_time_in(t, C & M), ==, both);
        g_assert_cmpint(kit_time_in(t, M & ~C), ==, comm - both);
        g_assert_cmpint(kit_time_in(t, C & ~M), ==, comp - both);
        g_assert_cmpint(kit_time_in(t, C | M), ==, comp + comm - both);
        g_assert_cmpint(kit_time_in(t, KIT_ALWAYS), ==, WINDOW);
        g_assert_cmpint(kit_time_in(t, KIT_IN_ANY & KIT_IN_OTHER) +
                            kit_time_in(t, KIT_IN_OTHER & ~KIT_IN_ANY),
                        ==, kit_time_in(t, KIT_IN_OTHER));
    }
}

/* Rule 10: at each moment the earliest started communication owns the time. */
static void test_owned_time(void) {
    for (int round = 0; round < 3000; round++) {
        scene s;
        scene_init(&s);
        int64_t exposed[KINDS] = {0}, expected[KINDS] = {0}, sum = 0, states[KIT_STATES];
        kit_tally all = {0};
        for (size_t i = 0; i < s.n; i++) {
            if (s.spans[i].cls != KIT_COMM)
                continue;
            kit_interval own = kit_tally_add(&all, s.spans[i].time.start, s.spans[i].time.end);
            exposed[s.spans[i].kind] += own.end - own.start - kit_covered(&s.comp, own);
        }
        for (int64_t t = s.base; t < s.base + WINDOW; t++)
            for (size_t i = 0; i < s.n; i++)
                if (s.spans[i].cls == KIT_COMM && runs_at(&s.spans[i], t)) {
                    expected[s.spans[i].kind] += !class_runs_at(&s, KIT_COMP, t);
                    break; /* spans are sorted: this one started first */
                }
        g_assert_cmpmem(exposed, sizeof exposed, expected, sizeof expected);
        for (int k = 0; k < KINDS; k++)
            sum += exposed[k];
        kit_states(s.sets, s.base, s.base + WINDOW, states);
        g_assert_cmpint(sum, ==, kit_time_in(states, KIT_IN_COMM & ~KIT_IN_COMP));
        g_assert_cmpint(all.busy, ==, kit_time_in(states, KIT_IN_COMM));
    }
}

static void test_hidden_time(void) {
    for (int round = 0; round < 1000; round++) {
        scene s;
        scene_init(&s);
        for (size_t i = 0; i < s.n; i++) {
            int64_t hidden = 0;
            for (int64_t t = s.spans[i].time.start; t < s.spans[i].time.end; t++)
                hidden += class_runs_at(&s, KIT_COMP, t);
            g_assert_cmpint(kit_covered(&s.comp, s.spans[i].time), ==, hidden);
        }
    }
}

/* Questions in order, out of order, and far apart. */
static void test_cursor(void) {
    for (int round = 0; round < 1000; round++) {
        scene s;
        scene_init(&s);
        kit_cover_cursor cursor = {&s.comp, 0};
        bool in_order = g_test_rand_bit();
        for (size_t i = 0; i < s.n; i++) {
            size_t at = in_order ? i : (size_t)g_test_rand_int_range(0, (gint32)s.n);
            g_assert_cmpint(kit_covered_next(&cursor, s.spans[at].time), ==,
                            kit_covered(&s.comp, s.spans[at].time));
        }
    }
}

/* Sets built one by one are those that are made of all at once. */
static void test_set_add(void) {
    for (int round = 0; round < 1000; round++) {
        scene s;
        kit_interval memory[MOST];
        scene_init(&s);
        for (int c = 0; c < KIT_CLASSES; c++) {
            kit_set set = {memory, 0};
            for (size_t i = 0; i < s.n; i++)
                if ((int)s.spans[i].cls == c)
                    kit_set_add(&set, s.spans[i].time.start, s.spans[i].time.end);
            g_assert_cmpmem(set.v, set.n * sizeof *set.v, s.sets[c].v, s.sets[c].n * sizeof *set.v);
        }
    }
}

static void test_tally(void) {
    for (int round = 0; round < 1000; round++) {
        scene s;
        scene_init(&s);
        kit_tally tally = {0};
        int64_t busy = 0, sum = 0, last = INT64_MIN;
        for (size_t i = 0; i < s.n; i++) {
            kit_tally_add(&tally, s.spans[i].time.start, s.spans[i].time.end);
            sum += s.spans[i].time.end - s.spans[i].time.start;
            last = MAX(last, s.spans[i].time.end);
        }
        for (int64_t t = s.base; t < s.base + WINDOW; t++)
            for (size_t i = 0; i < s.n; i++)
                if (runs_at(&s.spans[i], t)) {
                    busy++;
                    break;
                }
        g_assert_cmpint(tally.n, ==, (int64_t)s.n);
        g_assert_cmpint(tally.sum, ==, sum);
        g_assert_cmpint(tally.busy, ==, busy);
        if (s.n > 0) {
            g_assert_cmpint(tally.first, ==, s.spans[0].time.start);
            g_assert_cmpint(tally.last, ==, last);
        }
    }
}

static void test_sums_that_do_not_fit(void) {
    kit_tally tally = {0};
    for (int i = 0; i < 3; i++)
        kit_tally_add(&tally, 0, INT64_C(1) << 61);
    g_assert_cmpint(tally.sum, ==, 3 * (INT64_C(1) << 61));
    kit_tally_add(&tally, 0, INT64_C(1) << 61);
    g_assert_cmpint(tally.sum, ==, MILL_UNKNOWN);
    kit_tally_add(&tally, 0, 1);
    g_assert_cmpint(tally.sum, ==, MILL_UNKNOWN);
    g_assert_cmpint(tally.busy, ==, INT64_C(1) << 61);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/overlap/measure/states", test_states);
    g_test_add_func("/overlap/measure/masks", test_masks);
    g_test_add_func("/overlap/measure/owned-time", test_owned_time);
    g_test_add_func("/overlap/measure/hidden-time", test_hidden_time);
    g_test_add_func("/overlap/measure/cursor", test_cursor);
    g_test_add_func("/overlap/measure/set-add", test_set_add);
    g_test_add_func("/overlap/measure/tally", test_tally);
    g_test_add_func("/overlap/measure/sums-that-do-not-fit", test_sums_that_do_not_fit);
    return g_test_run();
}
