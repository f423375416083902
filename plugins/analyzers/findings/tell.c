/* SPDX-License-Identifier: Apache-2.0 */
/* The report: the findings, and what each rule saw. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "list.h"

static const char *where_of(const findings_analysis *analysis, const findings_entry *e) {
    if (!e->check.where)
        return findings_text(analysis, "device %s", e->device->view->number);
    if (!e->device->view->scope)
        return e->check.where;
    return findings_text(analysis, "%s, %s", e->device->view->scope, e->check.where);
}

/* How many of a rule come before entry i: findings of one rule are numbered. */
static size_t number_of(const findings_list *list, size_t i) {
    size_t n = 1;
    for (size_t k = 0; k < i; k++)
        n += strcmp(list->v[k].check.rule, list->v[i].check.rule) == 0;
    return n;
}

static void tell_finding(const findings_analysis *analysis, kit_report *r, size_t i) {
    const findings_entry *e = &analysis->list->v[i];
    const findings_check *check = &e->check;
    kit_finding(
        r, &(mill_finding){
               .size = sizeof(mill_finding),
               .level = check->informs ? MILL_INFO : MILL_WARNING,
               .id = findings_text(analysis, "%s_%zu", check->rule, number_of(analysis->list, i)),
               .rule = check->rule,
               .where = where_of(analysis, e),
               .evidence = check->evidence,
               .advice = check->advice,
               .cost_ns = check->cost,
               .gain_ns = check->gain,
               .confidence = check->confidence,
               .at_ns = kit_subtract(check->at, e->device->view->window.start),
               .at_base_ns = e->device->view->window.start,
           });
}

/* ---------------------------------------------------------------- what each rule saw */

static const kit_column rule_columns[] = {
    {MILL_KIND_TEXT, "rule", "rule", NULL},
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_TEXT, "title", "looks at", NULL},
    {MILL_KIND_TEXT, "measure", "sees", NULL},
    {MILL_KIND_TEXT, "threshold", "threshold", NULL},
    {MILL_KIND_TEXT, "verdict", "verdict", NULL},
    {MILL_KIND_NS, "cost", "cost", "What it costs now."},
    {MILL_KIND_RATIO, "cost_over_T", "of window", "cost / window"},
    {MILL_KIND_NS, "gain", "gain at most", NULL},
    {0},
};

static const char *title_of(const char *rule) {
    static const struct {
        const char *rule, *title;
    } titles[] = {
        {"G1", "what dominates"},
        {"G2", "computation waits for communication"},
        {"G3", "ranks wait for each other"},
        {"G4", "communication waits for SMs"},
        {"G5", "reserved SMs stand idle"},
        {"G6", "casts and transposes"},
        {"G7", "small kernels"},
        {"G8", "launched too late"},
        {"G9", "polls of the CPU"},
        {"G10", "uneven layers"},
        {"G11", "slower beside communication"},
        {"G12", "copies to and from the host"},
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i].rule, rule) == 0)
            return titles[i].title;
    return rule;
}

static const char *verdict_of(const findings_entry *e) {
    if (!e->check.measure)
        return "does not apply";
    if (!e->check.met)
        return "below its threshold";
    return e->raised ? "finding" : "below min-gain";
}

/* By rule and device; then those whose threshold is met, and the furthest first. */
static int compare_rules(const void *a, const void *b) {
    const findings_entry *x = a, *y = b;
    int i = atoi(x->check.rule + 1), j = atoi(y->check.rule + 1);
    if (i != j)
        return i < j ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->check.met != y->check.met)
        return x->check.met ? -1 : 1;
    if (x->check.degree != y->check.degree)
        return x->check.degree > y->check.degree ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void tell_rule(kit_table *t, const findings_entry *e) {
    bool told = e->check.measure != NULL;
    kit_table_row(t);
    kit_cell_text(t, e->check.rule);
    kit_cell_int(t, e->device->view->id);
    kit_cell_text(t, title_of(e->check.rule));
    kit_cell_text(t, e->check.measure);
    kit_cell_text(t, e->check.threshold);
    kit_cell_text(t, verdict_of(e));
    kit_cell_int(t, told ? e->check.cost : MILL_UNKNOWN);
    kit_cell_ratio(t, told ? e->check.cost : MILL_UNKNOWN, e->device->window);
    kit_cell_int(t, told ? e->check.gain : MILL_UNKNOWN);
}

static void tell_rules(const findings_analysis *analysis, kit_report *r) {
    findings_list *list = analysis->list;
    qsort(list->v, list->n, sizeof *list->v, compare_rules);
    kit_table *t = kit_table_of(r, "rules", "What each rule saw",
                                "Rules that do not apply lack what they look at. Of one rule's "
                                "several checks of a device that are below its threshold, the one "
                                "nearest to it stands here if none is above.",
                                rule_columns);
    for (size_t i = 0; i < list->n; i++) {
        const findings_entry *e = &list->v[i];
        bool first =
            i == 0 || e[-1].device != e->device || strcmp(e[-1].check.rule, e->check.rule) != 0;
        if (first || e->check.met)
            tell_rule(t, e);
    }
}

/* ---------------------------------------------------------------- all of it */

static void tell_summary(const findings_analysis *analysis, kit_report *r, size_t advised) {
    const findings_list *list = analysis->list;
    const findings_entry *best = NULL;
    for (size_t i = 0; i < list->n && !best; i++)
        if (list->v[i].raised && !list->v[i].check.informs)
            best = &list->v[i];
    if (list->n == 0)
        kit_report_summary(r, "No device activity to check.");
    else if (!best)
        kit_report_summary(r, "No rule found anything that could win %g %% of the window.",
                           analysis->options->min_gain);
    else
        kit_report_summary(r,
                           "%zu finding%s of what could be won, %s of the window at most: %s (%s).",
                           advised, advised == 1 ? "" : "s",
                           findings_percent(analysis, best->check.gain, best->device->window),
                           best->check.rule, title_of(best->check.rule));
}

void findings_tell(const findings_analysis *analysis, kit_report *r) {
    findings_list *list = analysis->list;
    size_t n = 0, advised = 0;
    if (list->n > 0)
        qsort(list->v, list->n, sizeof *list->v, findings_compare);
    for (; n < list->n && list->v[n].raised; n++)
        advised += !list->v[n].check.informs;
    tell_summary(analysis, r, advised);
    for (size_t i = 0; i < n; i++)
        tell_finding(analysis, r, i);
    kit_figure_int(r, MILL_KIND_COUNT, "findings", "findings", NULL,
                   "Rules whose threshold is met, and that could win min-gain or only inform.",
                   (int64_t)n);
    findings_tell_ops(analysis, r);
    if (list->n > 0)
        tell_rules(analysis, r);
}
