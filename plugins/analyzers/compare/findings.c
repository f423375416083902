/* SPDX-License-Identifier: Apache-2.0 */
/* The regressions as findings. What explains another one is not a finding of its own: kernels of a
 * stage that is found already stand in the table of kernels only. */
#include "compare.h"
#include "tell.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/trace_notes.h>

typedef struct telling {
    const compare_analysis *a;
    kit_report *r;
    unsigned n;
} telling;

static void tell(telling *t, const char *rule, const char *where, const char *evidence,
                 const char *advice, int64_t delta) {
    char id[48];
    snprintf(id, sizeof id, "%s_%u", rule, ++t->n);
    kit_finding(t->r, &(mill_finding){
                          .level = MILL_WARNING,
                          .id = id,
                          .rule = rule,
                          .where = where,
                          .evidence = evidence,
                          .advice = advice,
                          .cost_ns = delta,
                          .gain_ns = delta,
                          .confidence = 0.8,
                          .at_ns = MILL_UNKNOWN,
                      });
}

static void tell_times(telling *t) {
    for (int i = 0; i < COMPARE_TIMES; i++) {
        int64_t base = t->a->side[COMPARE_BASE].times[i], now = t->a->side[COMPARE_NEW].times[i];
        char text[160], x[KIT_NUMBER_MAX], y[KIT_NUMBER_MAX];
        if (t->a->verdicts[i] != COMPARE_REGRESSION)
            continue;
        snprintf(text, sizeof text, "%s µs, was %s", kit_format_us(x, now, KIT_GROUP),
                 kit_format_us(y, base, KIT_GROUP));
        tell(t, "time", compare_times[i].label, text,
             "See which stages and kernels became slower, and where the device waits.", now - base);
    }
}

static void tell_share(telling *t, const char *where, compare_time part, compare_time whole,
                       const char *advice) {
    const int64_t *base = t->a->side[COMPARE_BASE].times, *now = t->a->side[COMPARE_NEW].times;
    char text[160], x[KIT_NUMBER_MAX], y[KIT_NUMBER_MAX];
    snprintf(text, sizeof text, "%s, was %s", kit_format_percent(x, now[part], now[whole]),
             kit_format_percent(y, base[part], base[whole]));
    tell(t, "share", where, text, advice, MILL_UNKNOWN);
}

static void tell_shares(telling *t) {
    if (t->a->overlap_verdict == COMPARE_REGRESSION)
        tell_share(t, "communication hidden", COMPARE_OVERLAP, COMPARE_COMM,
                   "Less communication runs beside computation: look at what its start waits for.");
    if (t->a->cast_verdict == COMPARE_REGRESSION)
        tell_share(t, "casts in computation", COMPARE_CAST, COMPARE_COMP_SUM,
                   "More of computation only changes how numbers are stored: look for casts that "
                   "were fused before.");
}

static bool is_found(const compare_stage *s) {
    return s->comp.verdict == COMPARE_REGRESSION || s->comm.verdict == COMPARE_REGRESSION;
}

/* Adds what became of one class of a stage's work, if it is a regression. */
static void add_class(const char *class, const compare_change *c, char *text, size_t room,
                      int64_t *delta) {
    char x[KIT_NUMBER_MAX], y[KIT_NUMBER_MAX];
    size_t length = strlen(text);
    if (c->verdict != COMPARE_REGRESSION)
        return;
    snprintf(text + length, room - length, "%s%s %s µs, was %s (%+.1f %%)", length > 0 ? "; " : "",
             class, kit_format_us(x, c->side[COMPARE_NEW].sum, KIT_GROUP),
             kit_format_us(y, c->side[COMPARE_BASE].sum, KIT_GROUP), 100 * c->change);
    *delta = kit_add(*delta, c->delta);
}

static void tell_stages(telling *t) {
    for (size_t i = 0; i < t->a->n_stages; i++) {
        const compare_stage *s = &t->a->stage_rows[i];
        char text[400] = "";
        int64_t delta = 0;
        if (!is_found(s))
            continue;
        add_class("computation", &s->comp, text, sizeof text, &delta);
        add_class("communication", &s->comm, text, sizeof text, &delta);
        tell(t, "stage", compare_stage_name(t->a, s->stage), text,
             "Look at the kernels of this stage that changed.", delta);
    }
}

static void tell_kernels(telling *t) {
    const compare_key **order;
    size_t n = compare_order(t->a, COMPARE_CHANGED, &order);
    for (size_t i = 0; i < n && i < (size_t)t->a->options->top; i++) {
        const compare_key *k = order[i];
        const compare_change *c = &k->change;
        if (c->verdict != COMPARE_REGRESSION ||
            (k->stage != MILL_NONE && is_found(&t->a->stage_rows[k->stage])))
            continue;
        char text[240], where[320], x[KIT_NUMBER_MAX], y[KIT_NUMBER_MAX];
        snprintf(where, sizeof where, "%s%s%.200s",
                 k->stage == MILL_NONE ? "" : compare_stage_name(t->a, k->stage),
                 k->stage == MILL_NONE ? "" : ": ", k->what);
        snprintf(text, sizeof text, "median %s µs, was %s (%+.1f %%), n %lld, was %lld",
                 kit_format_us(x, c->side[COMPARE_NEW].median, KIT_GROUP),
                 kit_format_us(y, c->side[COMPARE_BASE].median, KIT_GROUP), 100 * c->change,
                 (long long)c->side[COMPARE_NEW].n, (long long)c->side[COMPARE_BASE].n);
        tell(t, "kernel", where, text, "Look at what changed for this kernel: sizes, code, clocks.",
             c->delta);
    }
}

static void note(const compare_analysis *a, kit_report *r) {
    for (int end = 0; end < COMPARE_ENDS; end++)
        kit_note_trace(a->run, r, a->side[end].trace);
    if (a->n_differences > 0)
        kit_note(r, MILL_WARNING, "not_alike",
                 "The traces are not alike (differences: %zu, see the table): force = yes compares "
                 "them all the same, and changes may come from that.",
                 a->n_differences);
    if (fmin(a->matched[COMPARE_BASE], a->matched[COMPARE_NEW]) < a->options->min_matched)
        kit_note(r, MILL_WARNING, "little_matched",
                 "Even by class and kind less than %.0f %% of the time is found on both sides.",
                 100 * a->options->min_matched);
    if (a->gate)
        kit_note(r, MILL_WARNING, "gate",
                 "A regression is above fail-over or fail-overlap: the run ends with exit code 1.");
}

void compare_tell_findings(const compare_analysis *a, kit_report *r) {
    telling t = {.a = a, .r = r};
    tell_stages(&t);
    tell_times(&t);
    tell_shares(&t);
    tell_kernels(&t);
    char x[KIT_NUMBER_MAX], y[KIT_NUMBER_MAX];
    int64_t base = a->side[COMPARE_BASE].times[COMPARE_T];
    int64_t now = a->side[COMPARE_NEW].times[COMPARE_T];
    if (t.n == 0)
        kit_report_summary(r, "No regression: the window is %s µs, was %s.",
                           kit_format_us(x, now, KIT_GROUP), kit_format_us(y, base, KIT_GROUP));
    else
        kit_report_summary(r, "Regressions: %u; the window is %s µs, was %s.", t.n,
                           kit_format_us(x, now, KIT_GROUP), kit_format_us(y, base, KIT_GROUP));
    note(a, r);
}
