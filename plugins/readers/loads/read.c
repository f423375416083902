/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of file it is, by its bytes; and the making of the value. */
#include "loads.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <tracemill/kit/npy.h>

/* ---------------------------------------------------------------- remarks */

void ld_remarks_init(ld_remarks *m, mill_run *run) {
    *m = (ld_remarks){.run = run};
    m->last = &m->first;
}

void ld_remark_add(ld_remarks *m, mill_level level, const char *id, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t room = strlen(text) + 1;
    ld_remark *remark = mill_scratch(m->run, sizeof *remark);
    char *copy = mill_scratch(m->run, room);
    memcpy(copy, text, room);
    *remark = (ld_remark){.level = level, .id = id, .text = copy};
    *m->last = remark;
    m->last = &remark->next;
}

void ld_remarks_log(const ld_remarks *m) {
    for (const ld_remark *remark = m->first; remark; remark = remark->next)
        if (remark->level == MILL_WARNING)
            mill_log(m->run, MILL_WARNING, "%s", remark->text);
}

/* ---------------------------------------------------------------- the value */

int ld_compare_numbers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

mill_status ld_begin(ld_reading *r, uint64_t steps, uint64_t layers, uint64_t experts,
                     double **ret_load) {
    const char *wrong = NULL;
    uint64_t cells;
    if (steps == 0 || layers == 0 || experts == 0)
        wrong = "there are no loads in it";
    else if (experts > LD_MOST_EXPERTS)
        wrong = "no layer has so many experts; transpose the array if layers come last";
    else if (__builtin_mul_overflow(steps, layers, &cells) ||
             __builtin_mul_overflow(cells, experts, &cells) || cells > LD_MOST_CELLS)
        wrong = "these are too many loads at once; give fewer steps";
    if (!wrong && r->options->experts > 0 && experts != (uint64_t)r->options->experts)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: layers have %" PRIu64 " experts; the option experts says %" PRId64,
                         r->name, experts, r->options->experts);
    if (wrong)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: %" PRIu64 " steps, %" PRIu64 " layers, %" PRIu64 " experts: %s",
                         r->name, steps, layers, experts, wrong);
    mill_expert_load *v = mill_value_alloc(r->run, NULL, sizeof *v);
    double *load = mill_value_alloc(r->run, v, cells * sizeof *load);
    *v = (mill_expert_load){
        .size = sizeof *v,
        .unit = "tokens",
        .layers = (uint32_t)layers,
        .experts = (uint32_t)experts,
        .steps = steps,
        .load = load,
    };
    r->value = v;
    *ret_load = load;
    return MILL_OK;
}

static const int64_t *numbered(ld_reading *r, const int64_t *numbers, size_t n) {
    size_t i = 0;
    while (i < n && numbers[i] == (int64_t)i)
        i++;
    if (i == n)
        return NULL;
    int64_t *copy = mill_value_alloc(r->run, r->value, n * sizeof *copy);
    return memcpy(copy, numbers, n * sizeof *copy);
}

void ld_label(ld_reading *r, const int64_t *step, const int64_t *layer) {
    r->value->step = numbered(r, step, r->value->steps);
    r->value->layer = numbered(r, layer, r->value->layers);
}

void ld_label_first_layer(ld_reading *r) {
    if (r->options->first_layer == 0)
        return;
    int64_t *layer = mill_value_alloc(r->run, r->value, r->value->layers * sizeof *layer);
    for (uint32_t i = 0; i < r->value->layers; i++)
        layer[i] = r->options->first_layer + i;
    r->value->layer = layer;
}

void ld_count_invalid(ld_reading *r, double load, int64_t step, int64_t layer, int64_t expert) {
    if (r->n_invalid++ > 0)
        return;
    r->invalid = load;
    r->invalid_step = step;
    r->invalid_layer = layer;
    r->invalid_expert = expert;
}

mill_status ld_judge_invalid(ld_reading *r) {
    if (r->n_invalid == 0)
        return MILL_OK;
    if (r->options->invalid == LD_FAIL)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: step %" PRId64 ", layer %" PRId64 ", expert %" PRId64
                         ": the load is %g (the first of %" PRIu64
                         " that are NaN, negative or above "
                         "1e18). Record them anew, or set invalid = zero to take them for 0",
                         r->name, r->invalid_step, r->invalid_layer, r->invalid_expert, r->invalid,
                         r->n_invalid);
    ld_remark_add(&r->remarks, MILL_WARNING, "invalid_loads",
                  "Loads that are NaN, negative or above 1e18 were taken for 0: %" PRIu64
                  ", the first (%g) in step %" PRId64 ", layer %" PRId64 ", expert %" PRId64 ".",
                  r->n_invalid, r->invalid, r->invalid_step, r->invalid_layer, r->invalid_expert);
    return MILL_OK;
}

/* ---------------------------------------------------------------- what it is */

/* A file of a kind that is known but not read. */
static const struct {
    const char *magic;
    size_t length;
    const char *inside; /* text that the first bytes hold; NULL: any */
    const char *advice;
} foreign[] = {
    {"PK\3\4", 4, ".npy",
     "this is an npz archive: save the one array, numpy.save('loads.npy', numpy.load(FILE)[NAME])"},
    {"PK\3\4", 4, NULL,
     "this is a file of torch.save, which holds Python objects. Convert it: python3 -c \"import "
     "numpy, torch; d = torch.load('FILE', map_location='cpu'); numpy.save('loads.npy', "
     "d['logical_count'] if isinstance(d, dict) else d)\""},
    {"\x80", 1, NULL,
     "this is a pickle of Python objects. Load it there, and numpy.save the array of loads"},
    {"\x1f\x8b", 2, NULL, "it is packed by gzip: unpack it first"},
    {"\x28\xb5\x2f\xfd", 4, NULL, "it is packed by zstd: unpack it first"},
    {"\x89HDF", 4, NULL, "this is an HDF5 file: numpy.save the array of loads"},
};

#define LOOK 4096 /* bytes at the front that tell */

static const char *foreign_advice(const ld_reading *r) {
    size_t look = r->n < LOOK ? r->n : LOOK;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (r->n >= foreign[i].length &&
            memcmp(r->bytes, foreign[i].magic, foreign[i].length) == 0 &&
            (!foreign[i].inside ||
             memmem(r->bytes, look, foreign[i].inside, strlen(foreign[i].inside))))
            return foreign[i].advice;
    if (memmem(r->bytes, look, "EPLB step:", 10) ||
        memmem(r->bytes, look, "[Expert Balancedness]", 21))
        return "this is a log of balancedness: read it with balancedness.read";
    return memchr(r->bytes, '\0', look) ? "expected CSV, npy, JSON or safetensors" : NULL;
}

/* A length below the file's, and then a JSON object. */
static bool is_safetensors(const ld_reading *r) {
    uint64_t length = 0;
    for (unsigned i = 0; i < 8 && r->n > 8; i++)
        length |= (uint64_t)r->bytes[i] << 8 * i;
    return r->n > 8 && length <= r->n - 8 && r->bytes[8] == '{';
}

static char first_letter(const ld_reading *r) {
    for (size_t i = 0; i < r->n; i++)
        if (!memchr(" \t\r\n\xef\xbb\xbf", r->bytes[i], 7))
            return (char)r->bytes[i];
    return '\0';
}

mill_status ld_read(ld_reading *r) {
    char first = first_letter(r);
    if (!first && r->n == 0)
        return mill_fail(r->run, MILL_E_DATA, "%s: the file is empty", r->name);
    if (kit_npy_is(r->bytes, r->n))
        return ld_read_npy(r);
    if (is_safetensors(r))
        return ld_read_safetensors(r);
    const char *advice = foreign_advice(r);
    if (advice)
        return mill_fail(r->run, MILL_E_DATA, "%s: not read as loads: %s", r->name, advice);
    return first == '{' || first == '[' ? ld_read_json(r) : ld_read_csv(r);
}
