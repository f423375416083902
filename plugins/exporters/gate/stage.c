/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.gate: the stage class gate, which ends a run with exit code 1 where a report's
 * values are beyond limits. */
#include "check.h"

#include <inttypes.h>
#include <string.h>
#include <tracemill/kit/report.h>

enum { PORT_REPORT };
enum { UNKNOWN_FAIL, UNKNOWN_PASS };

typedef struct gate_options {
    mill_list fail_if; /* const char * */
    int unknown;
} gate_options;

typedef struct gate_state {
    gate_condition *conditions;
    size_t n_conditions;
    GPtrArray *checks;  /* gate_check *, in the order of reports, then conditions */
    GPtrArray *reports; /* char *: names by which conditions could mean a report that came */
} gate_state;

static mill_status gate_options_check(mill_run *run, const void *opts) {
    const gate_options *o = opts;
    if (o->fail_if.n == 0)
        return mill_fail(run, MILL_E_CONFIG, "fail-if is empty: such a gate lets all pass");
    for (size_t i = 0; i < o->fail_if.n; i++) {
        gate_condition condition;
        mill_status status =
            gate_condition_init(&condition, run, ((const char *const *)o->fail_if.v)[i]);
        if (status)
            return status;
        gate_condition_finish(&condition);
    }
    return MILL_OK;
}

static mill_status gate_open(mill_run *run, const void *opts, void *state) {
    const gate_options *o = opts;
    gate_state *s = state;
    s->checks = g_ptr_array_new_with_free_func((GDestroyNotify)gate_check_destroy);
    s->reports = g_ptr_array_new_with_free_func(g_free);
    s->conditions = g_new0(gate_condition, o->fail_if.n);
    for (; s->n_conditions < o->fail_if.n; s->n_conditions++) {
        const char *text = ((const char *const *)o->fail_if.v)[s->n_conditions];
        mill_status status = gate_condition_init(&s->conditions[s->n_conditions], run, text);
        if (status)
            return status;
    }
    return MILL_OK;
}

static void remember(GPtrArray *names, const char *name) {
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, g_strdup(name));
}

static mill_status gate_run(mill_run *run, const void *opts, void *state) {
    (void)opts;
    gate_state *s = state;
    const mill_report *report = mill_input(run, PORT_REPORT, 0);
    const char *stage = run->host->input_stage(run, PORT_REPORT, 0);
    remember(s->reports, report->id);
    remember(s->reports, stage);
    mill_status status = MILL_OK;
    for (size_t i = 0; i < s->n_conditions; i++) {
        gate_condition *c = &s->conditions[i];
        gate_check *check;
        if (strcmp(c->report, report->id) != 0 && strcmp(c->report, stage) != 0)
            continue;
        c->met = true;
        if (!status)
            status = gate_check_create(run, c, report, run->host->input_key(run, PORT_REPORT, 0),
                                       &check);
        if (!status)
            g_ptr_array_add(s->checks, check);
    }
    return status;
}

/* Where reports are missing, or none came, there is no telling whether the name is right. */
static mill_status add_unmet(mill_run *run, gate_state *s) {
    const char *stage, *key;
    bool all_came = s->reports->len && !run->host->missing(run, PORT_REPORT, 0, &stage, &key);
    for (size_t i = 0; i < s->n_conditions; i++) {
        const gate_condition *c = &s->conditions[i];
        if (c->met)
            continue;
        if (!all_came) {
            g_ptr_array_add(s->checks, gate_check_nothing(c));
            continue;
        }
        const char *near =
            gate_nearest(c->report, (const char *const *)s->reports->pdata, s->reports->len);
        return mill_fail(run, MILL_E_CONFIG, "fail-if = %s: no report \"%s\" came; %s%s%s", c->text,
                         c->report,
                         near ? "did you mean \"" : "name the id of a report of `in`, or its stage",
                         near ? near : "", near ? "\"?" : "");
    }
    return MILL_OK;
}

/* "overlap.exposed_over_T (device 0) of rank0" */
static char *subject_text(const gate_check *check) {
    const gate_condition *c = check->condition;
    const char *where = check->where ? check->where : c->selection;
    return g_strdup_printf("%s.%s%s%s%s%s%s%s%s", c->report, c->item, c->column ? "." : "",
                           c->column ? c->column : "", where ? " (" : "", where ? where : "",
                           where ? ")" : "", *check->key ? " of " : "", check->key);
}

static void log_check(mill_run *run, const gate_check *check, bool fails) {
    const char *condition = check->condition->text;
    g_autofree char *subject = subject_text(check);
    if (check->verdict == GATE_FAIL)
        mill_log(run, MILL_ERROR, "%s is %s: fails by `%s` (%" PRId64 " of %" PRId64 " values)",
                 subject, check->value, condition, check->failed, check->tested);
    else if (check->verdict == GATE_UNKNOWN)
        mill_log(run, fails ? MILL_ERROR : MILL_WARNING, "%s is %s: `%s` %s", subject,
                 check->tested ? "unknown" : "not there", condition,
                 fails ? "fails, since unknown = fail" : "passes, since unknown = pass");
}

static void tell_check(kit_table *t, const gate_check *check, bool fails) {
    kit_table_row(t);
    kit_cell_text(t, check->condition->text);
    kit_cell_text(t, check->key);
    kit_cell_text(t, check->where ? check->where : "");
    kit_cell_text(t, check->value);
    kit_cell_int(t, check->tested);
    kit_cell_int(t, check->failed);
    kit_cell_int(t, check->unknown);
    kit_cell_text(t, fails ? "fail" : "pass");
}

static bool check_fails(const gate_check *check, const gate_options *o) {
    return check->verdict == GATE_FAIL ||
           (check->verdict == GATE_UNKNOWN && o->unknown == UNKNOWN_FAIL);
}

static void tell_checks(kit_report *r, const gate_state *s, const gate_options *o) {
    static const kit_column columns[] = {
        {MILL_KIND_TEXT, "condition", "fails if", "As written in fail-if."},
        {MILL_KIND_TEXT, "key", "item", "Key of the report."},
        {MILL_KIND_TEXT, "where", "where", "Scope or row of the value."},
        {MILL_KIND_TEXT, "value", "value", "The farthest beyond the limit, or nearest to it."},
        {MILL_KIND_COUNT, "tested", "values", "How many values the condition is about."},
        {MILL_KIND_COUNT, "failed", "of these fail", NULL},
        {MILL_KIND_COUNT, "unknown", "unknown", NULL},
        {MILL_KIND_TEXT, "verdict", "verdict", "pass or fail"},
        {0},
    };
    kit_table *t = kit_table_of(r, "checks", "Checks", "A condition in a report a row.", columns);
    for (guint i = 0; i < s->checks->len; i++)
        tell_check(t, s->checks->pdata[i], check_fails(s->checks->pdata[i], o));
}

static mill_report *tell(mill_run *run, const gate_state *s, const gate_options *o,
                         int64_t n_failed) {
    int64_t n = s->checks->len;
    kit_report *r = kit_report_begin(run, "gate", "Gate", NULL);
    kit_report_summary(r, "%" PRId64 " of %" PRId64 " checks pass.", n - n_failed, n);
    if (n_failed)
        kit_note(r, MILL_WARNING, "gate", "A check failed: the run ends with exit code 1.");
    kit_figure_int(r, MILL_KIND_COUNT, "conditions", "conditions", NULL, NULL,
                   (int64_t)s->n_conditions);
    kit_figure_int(r, MILL_KIND_COUNT, "checks", "checks", NULL,
                   "Each condition in each report that it is about.", n);
    kit_figure_int(r, MILL_KIND_COUNT, "failed", "failed checks", NULL, NULL, n_failed);
    tell_checks(r, s, o);
    return kit_report_end(r);
}

static mill_status gate_finish(mill_run *run, const void *opts, void *state) {
    const gate_options *o = opts;
    gate_state *s = state;
    int64_t n_failed = 0;
    mill_status status = add_unmet(run, s);
    if (status)
        return status;
    for (guint i = 0; i < s->checks->len; i++) {
        bool fails = check_fails(s->checks->pdata[i], o);
        log_check(run, s->checks->pdata[i], fails);
        n_failed += fails;
    }
    status = mill_output(run, 0, tell(run, s, o, n_failed));
    return !status && n_failed ? MILL_GATE : status;
}

static void gate_close(mill_run *run, void *state) {
    (void)run;
    gate_state *s = state;
    for (size_t i = 0; i < s->n_conditions; i++)
        gate_condition_finish(&s->conditions[i]);
    g_free(s->conditions);
    g_ptr_array_unref(s->checks);
    g_ptr_array_unref(s->reports);
}

static const mill_port gate_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports to check, one after another",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_port gate_outputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "what was checked, and what failed",
     .flags = MILL_PORT_OPTIONAL},
    {0},
};

static const char *const unknown_choices[] = {"fail", "pass", NULL};

static const mill_option gate_option_table[] = {
    {.name = "fail-if",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .flags = MILL_OPT_REQUIRED,
     .offset = MILL_OPT_OFF(gate_options, fail_if, LIST),
     .help = "Conditions, each REPORT.FIGURE [SCOPE] > LIMIT or REPORT.TABLE.COLUMN [ROW] > LIMIT, "
             "with > >= < <= == or !=; any value for which one is true fails."},
    {.name = "unknown",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(gate_options, unknown, ENUM),
     .def = "fail",
     .choices = unknown_choices,
     .help = "What a value does that is not known, or not there."},
    {0},
};

static const mill_stage gate_class = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "gate",
    .summary = "Ends the run with exit code 1 where values of reports are beyond limits",
    .help = "Looks in each report for the values that conditions are about, by ids, which stay the "
            "same from release to release. What fails is said with its value and the limit; all "
            "else in the pipeline is done all the same.",
    .inputs = gate_inputs,
    .outputs = gate_outputs,
    .options = gate_option_table,
    .options_size = sizeof(gate_options),
    .state_size = sizeof(gate_state),
    .check = gate_options_check,
    .open = gate_open,
    .run = gate_run,
    .finish = gate_finish,
    .close = gate_close,
};

static const mill_stage *const gate_stages[] = {&gate_class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.gate",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Limits for values of reports",
    .built_with = MILL_BUILT_WITH,
    .stages = gate_stages,
};
