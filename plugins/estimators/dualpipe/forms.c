/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms of makespan and bubble for equal stages without latency, and why the published ones
 * differ from the exact ones.
 *
 * The exact ones were found by simulation, and tests hold them against it.
 */
#include "forms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tracemill/kit/bubble.h>
#include <tracemill/kit/number.h>

/* Above these, a time is taken not to fit, so that no product here can overflow. */
#define MOST_NS ((int64_t)1 << 38)    /* of a chunk: 4.6 minutes */
#define MOST_COUNT ((int64_t)1 << 20) /* of ranks, and of micro-batches times chunks */

/* What a form is asked for, by the short names of the formulas. */
typedef struct asked {
    mill_run *run;
    const pp_sizes *sizes;
    const mill_chunk_cost *cost;
    int64_t p, m, v; /* ranks, micro-batches, chunks of a rank */
    int64_t f, b, bi, w, fb;
} asked;

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static const char every_rank[] = "every rank";

/* ---------------------------------------------------------------- texts */

MILL_PRINTF(2, 3)
static const char *say(mill_run *run, const char *format, ...) {
    enum { MOST = 512 };
    char *text = mill_scratch(run, MOST);
    va_list args;
    va_start(args, format);
    vsnprintf(text, MOST, format, args);
    va_end(args);
    return text;
}

static const char *ms(const asked *a, int64_t ns) {
    char number[KIT_NUMBER_MAX];
    return say(a->run, "%s ms", kit_format_ms(number, ns, KIT_GROUP));
}

/* ---------------------------------------------------------------- domains */

/* The durations that an exact form needs are known and within what it holds for; else why not. */
static const char *outside(const asked *a, bool split, bool pairs) {
    const int64_t needed[] = {a->f, split ? a->bi : a->b, split ? a->w : a->b, pairs ? a->b : a->f,
                              pairs ? a->fb : a->f};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (needed[i] < 0)
            return "a duration is not known";
        if (needed[i] > MOST_NS)
            return "a duration is too long";
    }
    if (a->p > MOST_COUNT || a->m > MOST_COUNT / a->v)
        return "there are too many ranks or micro-batches";
    if (split && a->b >= 0 && a->b != a->bi + a->w)
        return "B is not Bi + W";
    if (pairs && a->fb < most(a->f, a->b))
        return "F&B is shorter than F or B by itself";
    return NULL;
}

static void set_exact(pp_form *form, int64_t work, int64_t bubble) {
    form->bubble = bubble;
    form->makespan = work + bubble;
}

static void set_published(pp_form *form, const asked *a, kit_schedule schedule, int64_t stages) {
    form->published_formula = kit_closed_forms[schedule].formula;
    form->published_source = kit_closed_forms[schedule].source;
    form->published = kit_bubble(schedule, a->cost, stages);
}

/* ---------------------------------------------------------------- whole backward chunks */

static void one_by_one(const asked *a, pp_form *form) {
    set_published(form, a, KIT_SCHEDULE_1F1B, a->p);
    form->exact_formula = form->published_formula;
    form->domain = outside(a, false, false);
    if (!form->domain)
        set_exact(form, a->m * a->v * (a->f + a->b), (a->p - 1) * (a->f + a->b));
}

/* The source, section 2.2, has 1/v of the bubble of 1F1B, with F and B of a whole device; here they
 * are of a chunk. */
static void interleaved(const asked *a, pp_form *form) {
    one_by_one(a, form);
    form->published_formula = form->exact_formula = "(PP - 1)(F + B), of one of v chunks";
    if (a->m % a->p == 0)
        return;
    form->bubble = form->makespan = MILL_UNKNOWN;
    form->domain = "m is not a multiple of PP";
}

static void chimera(const asked *a, pp_form *form) {
    form->exact_formula = "(PP - 2) max(F, B)";
    form->domain = a->m == a->p ? outside(a, false, false) : "m is not PP";
    if (!form->domain)
        set_exact(form, a->m * (a->f + a->b), (a->p - 2) * most(a->f, a->b));
}

/* ---------------------------------------------------------------- split backward chunks */

static void zb_h1(const asked *a, pp_form *form) {
    set_published(form, a, KIT_SCHEDULE_ZB1P, a->p);
    form->exact_formula = "(PP - 1) max(F, Bi, F + Bi - W)";
    form->domain = a->m < a->p ? "m is less than PP" : outside(a, true, false);
    if (!form->domain && a->sizes->weight_lag != UINT32_MAX)
        form->domain = "W's are not as far behind as the schedule has them";
    if (form->domain)
        return;
    int64_t longest = most(a->f, a->bi);
    set_exact(form, a->m * (a->f + a->bi + a->w), (a->p - 1) * most(longest, a->f + a->bi - a->w));
    if (form->published != form->bubble)
        form->why = say(a->run,
                        "Published is too small by %s: W is longer than %s, so the wait of each "
                        "rank is not F + Bi - W but the longer of F and Bi.",
                        ms(a, form->bubble - form->published),
                        a->w > a->f && a->w > a->bi ? "F and than Bi"
                        : a->w > a->f               ? "F"
                                                    : "Bi");
}

/* The source has (PP - 1)(F + Bi - 2W), and counts what a rank stands still between its own first
 * start and last end. */
static void zb_h2(const asked *a, pp_form *form) {
    form->published_formula = "(PP - 1)(F + B - 3W), of the ranks' own spans";
    form->published_source = "Qi et al. 2023, arXiv:2401.10241, section 2";
    form->exact_formula = "(PP - 1) max(F, Bi - F, F + Bi - 2W)";
    form->domain = a->m < 2 * a->p - 1 ? "m is less than 2 PP - 1" : outside(a, true, false);
    if (form->domain)
        return;
    int64_t steps = a->p - 1, wait = most(a->bi - a->f, a->f + a->bi - 2 * a->w);
    form->published = steps * (a->f + a->bi - 2 * a->w);
    form->span_idle = steps * most(0, wait);
    set_exact(form, a->m * (a->f + a->bi + a->w), steps * most(a->f, wait));
    const char *skew = say(a->run,
                           "Published is of the time between a rank's own first start and last "
                           "end; the ranks also start (PP - 1) F = %s apart, which is in a step's "
                           "makespan.",
                           ms(a, steps * a->f));
    if (form->published == form->span_idle)
        form->why = form->published == form->bubble ? NULL : skew;
    else
        form->why = say(a->run, "%s It is too small by %s even for that: %s.", skew,
                        ms(a, form->span_idle - form->published),
                        form->span_idle ? "the ranks wait (PP - 1)(Bi - F) for gradients"
                                        : "a wait can't be negative");
}

/* ---------------------------------------------------------------- DualPipe and DualPipeV */

/* The published bubble is n - 1 times F, Bi - F, FB - B and Bi - W. The second and the fourth are
 * waits, which are 0 rather than negative; and of the second, F is filled by the first backward of
 * the middle ranks, which dualpipe.py does not pair (the NOTE in its step 4). */
static const char *why_dualpipe(const asked *a, int64_t n, const char *n_text,
                                const pp_form *form) {
    if (form->published == form->bubble)
        return NULL;
    const char *parts[2] = {NULL, NULL};
    if (a->bi > a->f && n > 1)
        parts[0] = say(a->run,
                       "too large by %s: it has no place for the first F and B of those ranks, "
                       "which run one after the other (dualpipe.py, step 4) and so fill as much of "
                       "the (%s - 1)(Bi - F) = %s that they would wait for gradients",
                       ms(a, least(a->f, (n - 1) * (a->bi - a->f))), n_text,
                       ms(a, (n - 1) * (a->bi - a->f)));
    if (a->bi < a->f)
        parts[0] = say(a->run,
                       "too small by %s: Bi is shorter than F, and it counts (%s - 1)(Bi - F) "
                       "where no rank waits",
                       ms(a, (n - 1) * (a->f - a->bi)), n_text);
    if (a->w > a->bi)
        parts[1] = say(a->run,
                       "too small by %s: W is longer than Bi, and it counts (%s - 1)(Bi - W) for "
                       "the end, where nothing can be won back",
                       ms(a, (n - 1) * (a->w - a->bi)), n_text);
    if (parts[0] && parts[1])
        return say(a->run, "Published is %s; and %s.", parts[0], parts[1]);
    return say(a->run, "Published is %s.", parts[0] ? parts[0] : parts[1]);
}

/* stages and m: of DualPipe; DualPipeV is one with twice the ranks and twice the micro-batches that
 * was folded in the middle. n_text: half of the stages, by the number of ranks. */
static void fill_dualpipe(const asked *a, pp_form *form, int64_t stages, int64_t m,
                          const char *n_text) {
    int64_t n = stages / 2;
    set_published(form, a, KIT_SCHEDULE_DUALPIPE, stages);
    form->exact_formula = say(a->run,
                              "(%s - 1)(F + F&B - B + max(0, Bi - W)) + "
                              "max(0, (%s - 1)(Bi - F) - F)",
                              n_text, n_text);
    form->domain = outside(a, true, true);
    if (form->domain)
        return;
    set_exact(form, (m - stages - 1) * a->fb + (stages + 1) * (a->f + a->b),
              (n - 1) * (a->f + a->fb - a->b + most(0, a->bi - a->w)) +
                  most(0, (n - 1) * (a->bi - a->f) - a->f));
    form->why = why_dualpipe(a, n, n_text, form);
}

/* With F&B = F + B all ranks are equally busy. Else rank r from an end runs fewer pairs than the
 * middle ones, and is busy longer or shorter by what a pair saves or loses, for each. */
static void dualpipe(const asked *a, pp_form *form) {
    fill_dualpipe(a, form, 2 * (a->p / 2), a->m, "PP/2");
    if (form->domain || a->fb != a->f + a->b)
        form->which = "the two middle ranks; less by (PP/2 - 2 - r)(F + B - F&B) on rank r from "
                      "an end";
}

static void dualpipev(const asked *a, pp_form *form) {
    fill_dualpipe(a, form, 2 * a->p, 2 * a->m, "PP");
    form->published_formula = "(PP - 1)(F&B + B - 3W), of one of 2 chunks";
    if (form->domain || a->fb != a->f + a->b)
        form->which = "the last rank; less by (PP - 2 - r)(F + B - F&B) on rank r";
}

/* ---------------------------------------------------------------- all of them */

static const struct {
    const char *id;
    void (*fill)(const asked *a, pp_form *form);
} forms[] = {
    {"gpipe", one_by_one},      {"1f1b", one_by_one},   {"interleaved", interleaved},
    {"eager-1f1b", one_by_one}, {"zb-h1", zb_h1},       {"zb-h2", zb_h2},
    {"chimera", chimera},       {"dualpipe", dualpipe}, {"dualpipev", dualpipev},
};

pp_form pp_form_of(mill_run *run, const pp_family *family, const pp_sizes *sizes,
                   const mill_chunk_cost *cost) {
    const asked a = {
        .run = run,
        .sizes = sizes,
        .cost = cost,
        .p = sizes->ranks,
        .m = sizes->micro_batches,
        .v = family->choosable ? sizes->chunks : family->chunks,
        .f = cost->forward,
        .b = cost->backward,
        .bi = cost->input,
        .w = cost->weight,
        .fb = cost->pair,
    };
    pp_form form = {
        .published = MILL_UNKNOWN,
        .bubble = MILL_UNKNOWN,
        .makespan = MILL_UNKNOWN,
        .span_idle = MILL_UNKNOWN,
        .which = every_rank,
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].id, family->id))
            forms[i].fill(&a, &form);
    return form;
}
