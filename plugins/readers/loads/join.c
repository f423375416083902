/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class loads.join: loads that ranks recorded, added up. */
#include "gather.h"

#include <string.h>

typedef struct options {
    int64_t top;
} options;

static const mill_expert_load *input(mill_run *run, size_t i) {
    return mill_input(run, 0, i);
}

/* Layers without numbers are the same layers, so there must be as many. */
static mill_status same_shape(mill_run *run, const mill_expert_load *a, const mill_expert_load *b) {
    if (a->experts != b->experts || (!a->layer && !b->layer && a->layers != b->layers))
        return mill_fail(
            run, MILL_E_DATA,
            "%s has %u layers of %u experts, %s has %u of %u: these are no ranks of one "
            "job",
            a->subject, a->layers, a->experts, b->subject, b->layers, b->experts);
    return MILL_OK;
}

static bool all_zero(const mill_expert_load *v) {
    uint64_t cells = v->steps * v->layers * v->experts, i = 0;
    while (i < cells && !(v->load[i] > 0))
        i++;
    return i == cells;
}

static bool equal(const mill_expert_load *a, const mill_expert_load *b) {
    return a->steps == b->steps && a->layers == b->layers &&
           memcmp(a->load, b->load, a->steps * a->layers * a->experts * sizeof *a->load) == 0;
}

static mill_status add(ld_gather *g, const mill_expert_load *v) {
    mill_status status = MILL_OK;
    for (uint64_t s = 0; s < v->steps; s++) {
        if (mill_cancelled(g->r->run))
            return MILL_E_CANCELLED;
        for (uint32_t l = 0; l < v->layers; l++) {
            int64_t step = ld_step_number(v, s), layer = ld_layer_number(v, l);
            const double *load = mill_expert_load_at(v, s, l);
            size_t row = ld_gather_row(g, step, layer);
            for (uint32_t e = 0; e < v->experts && status == MILL_OK; e++)
                status = ld_gather_add(g, row, e, ld_valid(g->r, load[e], step, layer, e));
            if (status != MILL_OK)
                return status;
        }
    }
    return MILL_OK;
}

/* Looks at the inputs before they are added. */
static mill_status compare_inputs(ld_reading *r, size_t n) {
    uint64_t n_empty = 0;
    const char *empty = NULL, *twice = NULL;
    for (size_t i = 0; i < n; i++) {
        const mill_expert_load *v = input(r->run, i);
        mill_status status = same_shape(r->run, input(r->run, 0), v);
        if (status != MILL_OK)
            return status;
        r->ranks += v->ranks ? v->ranks : 1;
        if (all_zero(v) && n_empty++ == 0)
            empty = v->subject;
        else if (i > 0 && equal(v, input(r->run, i - 1)))
            twice = v->subject;
    }
    if (n_empty > 0 && n > 1)
        ld_remark_add(&r->remarks, MILL_WARNING, "empty_ranks",
                      "Ranks without any load: %llu of %zu, the first is %s.",
                      (unsigned long long)n_empty, n, empty);
    if (twice)
        ld_remark_add(
            &r->remarks, MILL_WARNING, "equal_ranks",
            "%s has exactly the loads of the item before it: one file may have been given "
            "twice, or the engine had added up the ranks before it wrote a file for each.",
            twice);
    return MILL_OK;
}

static void tell_missing(ld_reading *r) {
    const char *stage = "", *key = "";
    size_t n = r->run->host->missing(r->run, 0, 0, &stage, &key);
    if (n > 0)
        ld_remark_add(&r->remarks, MILL_WARNING, "missing_ranks",
                      "Items that failed and are not in the sum: %zu, the first is \"%s\" of [%s].",
                      n, key, stage);
}

static const char *subject_of(mill_run *run, mill_expert_load *value, size_t n) {
    const char *first = input(run, 0)->subject;
    size_t room = strlen(first) + 40;
    char *text = mill_value_alloc(run, value, room);
    if (n == 1)
        memcpy(text, first, strlen(first));
    else
        snprintf(text, room, "%s and %zu more", first, n - 1);
    return text;
}

static mill_status add_up(ld_reading *r, size_t n) {
    ld_gather g;
    mill_status status = MILL_OK;
    ld_gather_init(&g, r);
    for (; g.source < n && status == MILL_OK; g.source++)
        status = add(&g, input(r->run, g.source));
    if (status == MILL_OK)
        status = ld_judge_invalid(r);
    if (status == MILL_OK)
        status = ld_gather_value(&g);
    ld_gather_finish(&g);
    return status;
}

static mill_status run_join(mill_run *run, const void *opts, void *state) {
    (void)state;
    const options *o = opts;
    size_t n = mill_input_count(run, 0);
    ld_options reading = {.invalid = LD_FAIL};
    ld_reading r = {.run = run, .options = &reading, .name = "loads.join"};
    ld_remarks_init(&r.remarks, run);
    if (n == 0)
        return mill_fail(run, MILL_E_NOINPUT, "there are no loads to add up: all items failed");
    mill_status status = compare_inputs(&r, n);
    tell_missing(&r);
    if (status == MILL_OK)
        status = add_up(&r, n);
    if (status != MILL_OK)
        return status;
    r.value->subject = subject_of(run, r.value, n);
    r.value->unit = input(run, 0)->unit ? "tokens" : NULL;
    r.value->ranks = n == 1 ? input(run, 0)->ranks : r.ranks;
    ld_inspect(&r.remarks, r.value);
    ld_remarks_log(&r.remarks);
    ld_story story = {"loads", "Expert loads of all ranks", NULL, o->top};
    mill_report *report = ld_tell(run, &story, r.value, &r.remarks);
    status = mill_output(run, 0, r.value);
    return status == MILL_OK ? mill_output(run, 1, report) : status;
}

static const mill_port inputs[] = {
    {"in", MILL_TYPE_EXPERT_LOAD, "Those of each rank.", MILL_PORT_MANY, 0},
    {0},
};

static const mill_port outputs[] = {
    {"loads", MILL_TYPE_EXPERT_LOAD, "The sum over the ranks.", 0, 0},
    {"report", MILL_TYPE_REPORT, "As that of loads.read.", 0, 0},
    {0},
};

static const mill_option option_list[] = {
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(options, top, INT),
     .def = "10",
     .min = 1,
     .max = 1000000,
     .unit = "rows",
     .help = "How many of the hottest experts are listed."},
    {0},
};

const mill_stage ld_join_stage = {
    MILL_STAGE_HEAD,
    .name = "loads.join",
    .summary = "Adds up the expert loads of all ranks",
    .help = "Steps and layers are joined by their numbers. A step that not all ranks recorded is "
            "left out and told; ranks that hold different layers, as the stages of a pipeline do, "
            "add theirs.",
    .inputs = inputs,
    .outputs = outputs,
    .options = option_list,
    .options_size = sizeof(options),
    .run = run_join,
};
