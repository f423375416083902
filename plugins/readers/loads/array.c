/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numbers in memory: of loads, or of the experts that tokens were sent to. */
#include "array.h"

/* ---------------------------------------------------------------- loads */

#define SHAPE_TEXT (KIT_NPY_DIMENSIONS * 22 + 1) /* 20 digits and ", " each */

static const char *shape_text(char text[SHAPE_TEXT], const kit_npy *a) {
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < a->dimensions; i++)
        at += (size_t)snprintf(text + at, SHAPE_TEXT - at, "%s%llu", i ? ", " : "",
                               (unsigned long long)a->shape[i]);
    return text;
}

/* An array of assignments can't be told from one of loads by its numbers. But no model has so many
 * layers. */
#define DEEPEST 128

static mill_status read_loads(ld_reading *r, const kit_npy *a) {
    bool many = a->dimensions == 3;
    const uint64_t *shape = a->shape + many;
    double *load;
    mill_status status = ld_begin(r, many ? a->shape[0] : 1, shape[0], shape[1], &load);
    if (status != MILL_OK)
        return status;
    const mill_expert_load *v = r->value;
    uint64_t i = 0;
    for (uint64_t s = 0; s < v->steps; s++) {
        if (mill_cancelled(r->run))
            return MILL_E_CANCELLED;
        for (uint32_t l = 0; l < v->layers; l++)
            for (uint32_t e = 0; e < v->experts; e++, i++)
                load[i] =
                    ld_valid(r, kit_npy_real(a, i), (int64_t)s, l + r->options->first_layer, e);
    }
    ld_label_first_layer(r);
    if (v->layers > DEEPEST && r->options->content == LD_AUTO)
        ld_remark_add(&r->remarks, MILL_WARNING, "maybe_assignments",
                      "%u layers are more than any model has. If the numbers are those of the "
                      "experts that tokens were sent to, set content = assignments.",
                      v->layers);
    return MILL_OK;
}

/* ---------------------------------------------------------------- assignments */

/* The experts of one token in all layers. */
static mill_status add_token(ld_gather *g, const kit_npy *a, uint64_t token, int64_t step,
                             uint64_t *ret_none) {
    uint64_t choices = a->dimensions == 3 ? a->shape[2] : 1;
    uint64_t i = token * a->shape[1] * choices;
    for (uint64_t l = 0; l < a->shape[1]; l++) {
        size_t row = ld_gather_row(g, step, (int64_t)l + g->r->options->first_layer);
        for (uint64_t k = 0; k < choices; k++) {
            double expert = kit_npy_real(a, i++);
            mill_status status = MILL_OK;
            if (expert < 0)
                ++*ret_none;
            else if (expert >= LD_MOST_EXPERTS || expert != (double)(int64_t)expert)
                return mill_fail(g->r->run, MILL_E_DATA,
                                 "%s: token %llu, layer %llu: %g is no number of an expert, which "
                                 "is 0 to %d: is this an array of loads? Set content = loads",
                                 g->r->name, (unsigned long long)token, (unsigned long long)l,
                                 expert, LD_MOST_EXPERTS - 1);
            else
                status = ld_gather_add(g, row, (int64_t)expert, 1);
            if (status != MILL_OK)
                return status;
        }
    }
    return MILL_OK;
}

static mill_status read_assignments(ld_reading *r, const kit_npy *a) {
    ld_gather g;
    mill_status status = MILL_OK;
    uint64_t none = 0, batch = (uint64_t)r->options->tokens_per_step;
    ld_gather_init(&g, r);
    g.counts = true;
    for (uint64_t t = 0; t < a->shape[0] && status == MILL_OK; t++)
        status = mill_cancelled(r->run)
                     ? MILL_E_CANCELLED
                     : add_token(&g, a, t, batch ? (int64_t)(t / batch) : 0, &none);
    if (none > 0)
        ld_remark_add(&r->remarks, MILL_INFO, "unassigned",
                      "Assignments below 0 are padding and were left out: %llu.",
                      (unsigned long long)none);
    if (status == MILL_OK)
        status = ld_gather_value(&g);
    ld_gather_finish(&g);
    return status;
}

mill_status ld_read_array(ld_reading *r, const kit_npy *a) {
    char shape[SHAPE_TEXT];
    bool assignments = r->options->content == LD_ASSIGNMENTS;
    if (a->dimensions != 2 && a->dimensions != 3)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: the shape is [%s]; expected %s: reshape the array", r->name,
                         shape_text(shape, a),
                         assignments ? "[tokens, layers] or [tokens, layers, choices]"
                                     : "[layers, experts] or [steps, layers, experts]");
    return assignments ? read_assignments(r, a) : read_loads(r, a);
}

mill_status ld_gather_array(ld_gather *g, size_t row, const kit_npy *a) {
    const ld_row *w = &g->rows[row];
    int64_t step = w->step, layer = w->layer;
    mill_status status = MILL_OK;
    for (uint64_t e = 0; e < a->shape[0] && status == MILL_OK; e++) {
        double load = kit_npy_real(a, e);
        status = ld_gather_add(g, row, (int64_t)e, ld_valid(g->r, load, step, layer, (int64_t)e));
    }
    return status;
}
