/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numbers in memory: of loads, or of the experts that tokens were sent to. */
#include "array.h"

#include <math.h>
#include <string.h>

bool ld_array_lay_out(ld_array *a, size_t room, size_t *ret_bytes) {
    size_t bytes = a->size;
    for (unsigned i = 0; i < a->n_dims; i++) {
        unsigned d = a->fortran ? i : a->n_dims - 1 - i;
        a->stride[d] = bytes;
        if (__builtin_mul_overflow(bytes, a->dims[d], &bytes) || bytes > room)
            return false;
    }
    *ret_bytes = bytes;
    return true;
}

/* ---------------------------------------------------------------- numbers */

/* IEEE 754 binary16. */
static double half(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double floating(const ld_array *a, uint64_t bits) {
    if (a->kind == 'b') /* the upper half of a single */
        return single((uint32_t)bits << 16);
    if (a->size == 2)
        return half((uint16_t)bits);
    if (a->size == 4)
        return single((uint32_t)bits);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double ld_array_number(const ld_array *a, size_t byte) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < a->size; i++)
        bits |= (uint64_t)a->data[byte + (a->big ? a->size - 1 - i : i)] << 8 * i;
    if (a->kind == 'f' || a->kind == 'b')
        return floating(a, bits);
    if (a->kind == 'u')
        return (double)bits;
    unsigned above =
        64 - 8 * a->size; /* shifted up and down again: the sign fills the upper bits */
    return (double)((int64_t)(bits << above) >> above);
}

/* ---------------------------------------------------------------- loads */

static const char *shape_text(char text[80], const ld_array *a) {
    size_t at = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < a->n_dims; i++)
        at += (size_t)snprintf(text + at, 80 - at, "%s%llu", i ? ", " : "",
                               (unsigned long long)a->dims[i]);
    return text;
}

/* An array of assignments can't be told from one of loads by its numbers. But no model has so many
 * layers. */
#define DEEPEST 128

static mill_status read_loads(ld_reading *r, const ld_array *a) {
    bool many = a->n_dims == 3;
    const uint64_t *dims = a->dims + many;
    const size_t *stride = a->stride + many;
    double *load;
    mill_status status = ld_begin(r, many ? a->dims[0] : 1, dims[0], dims[1], &load);
    if (status != MILL_OK)
        return status;
    const mill_expert_load *v = r->value;
    for (uint64_t s = 0; s < v->steps; s++) {
        if (mill_cancelled(r->run))
            return MILL_E_CANCELLED;
        for (uint32_t l = 0; l < v->layers; l++)
            for (uint32_t e = 0; e < v->experts; e++) {
                size_t byte = (many ? s * a->stride[0] : 0) + l * stride[0] + e * stride[1];
                *load++ = ld_valid(r, ld_array_number(a, byte), (int64_t)s,
                                   l + r->options->first_layer, e);
            }
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
static mill_status add_token(ld_gather *g, const ld_array *a, uint64_t token, int64_t step,
                             uint64_t *ret_none) {
    uint64_t choices = a->n_dims == 3 ? a->dims[2] : 1;
    size_t stride = a->n_dims == 3 ? a->stride[2] : 0;
    for (uint64_t l = 0; l < a->dims[1]; l++) {
        size_t row = ld_gather_row(g, step, (int64_t)l + g->r->options->first_layer);
        for (uint64_t k = 0; k < choices; k++) {
            double expert =
                ld_array_number(a, token * a->stride[0] + l * a->stride[1] + k * stride);
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

static mill_status read_assignments(ld_reading *r, const ld_array *a) {
    ld_gather g;
    mill_status status = MILL_OK;
    uint64_t none = 0, batch = (uint64_t)r->options->tokens_per_step;
    ld_gather_init(&g, r);
    g.counts = true;
    for (uint64_t t = 0; t < a->dims[0] && status == MILL_OK; t++)
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

mill_status ld_read_array(ld_reading *r, const ld_array *a) {
    char shape[80];
    bool assignments = r->options->content == LD_ASSIGNMENTS;
    if (a->n_dims < 2)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: the shape is [%s]; expected %s: reshape the array", r->name,
                         shape_text(shape, a),
                         assignments ? "[tokens, layers] or [tokens, layers, choices]"
                                     : "[layers, experts] or [steps, layers, experts]");
    return assignments ? read_assignments(r, a) : read_loads(r, a);
}

mill_status ld_gather_array(ld_gather *g, size_t row, const ld_array *a) {
    const ld_row *w = &g->rows[row];
    int64_t step = w->step, layer = w->layer;
    mill_status status = MILL_OK;
    for (uint64_t e = 0; e < a->dims[0] && status == MILL_OK; e++) {
        double load = ld_array_number(a, e * a->stride[0]);
        status = ld_gather_add(g, row, (int64_t)e, ld_valid(g->r, load, step, layer, (int64_t)e));
    }
    return status;
}
