/* SPDX-License-Identifier: Apache-2.0 */
/* The pattern in which communication repeats: of models with layers, one layer's. */
#include "communication.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/intern.h>

/* What one kernel of the sequence is; no padding, since its bytes are interned. */
typedef struct symbol {
    uint32_t kind, stage;
} symbol;

typedef struct sequence {
    uint32_t stream;  /* the one with the most communication, or MILL_NONE */
    uint32_t *v;      /* symbols of its communication, in order of time */
    symbol *symbols;  /* what each number is */
    size_t n, period; /* period 0: it does not repeat */
    size_t deviations;
} sequence;

static uint32_t comm_stream(const communication_analysis *analysis, const kit_device *device) {
    int64_t *sums = mill_scratch(analysis->run, analysis->all.n_streams * sizeof *sums);
    uint32_t most = MILL_NONE;
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (a->cls == KIT_COMM)
            sums[a->stream] = kit_add(sums[a->stream], a->end - a->start + 1);
    }
    /* As unsigned, since a sum that does not fit is above all others. */
    for (uint32_t s = 0; s < analysis->all.n_streams; s++)
        if (sums[s] != 0 && (most == MILL_NONE || (uint64_t)sums[s] > (uint64_t)sums[most]))
            most = s;
    return most;
}

static mill_status read_sequence(const communication_analysis *analysis, const kit_device *device,
                                 sequence *s) {
    s->stream = comm_stream(analysis, device);
    s->v = mill_scratch(analysis->run, analysis->n * sizeof *s->v);
    kit_intern *symbols = kit_intern_create();
    mill_status status = MILL_OK;
    for (size_t i = 0; i < device->n && status == MILL_OK; i++) {
        const kit_activity *a = &device->v[i];
        status = communication_cancelled(analysis, i) ? MILL_E_CANCELLED : MILL_OK;
        if (a->cls != KIT_COMM || a->stream != s->stream)
            continue;
        symbol of = {a->kind, kit_stage_of(&analysis->all, a->place)};
        s->v[s->n++] = kit_intern_add(symbols, (const char *)&of, sizeof of, 0);
    }
    uint32_t n = kit_intern_count(symbols);
    s->symbols = mill_scratch(analysis->run, n * sizeof *s->symbols);
    for (uint32_t i = 0; i < n; i++)
        memcpy(&s->symbols[i], kit_intern_text(symbols, i, NULL), sizeof *s->symbols);
    kit_intern_destroy(symbols);
    return status;
}

/* The smallest p with v[i] = v[i + p] for all i, by the borders of Knuth, Morris and Pratt. */
static size_t exact_period(mill_run *run, const uint32_t *v, size_t n) {
    size_t *border = mill_scratch(run, (n + 1) * sizeof *border);
    for (size_t i = 1, k = 0; i < n; i++) {
        while (k > 0 && v[i] != v[k])
            k = border[k];
        k += v[i] == v[k];
        border[i + 1] = k;
    }
    return n - border[n];
}

/* How many do not equal the one a period before; more than `most`: most + 1. */
static size_t count_deviations(const sequence *s, size_t period, size_t most) {
    size_t n = 0;
    for (size_t i = period; i < s->n && n <= most; i++)
        n += s->v[i] != s->v[i - period];
    return n;
}

/* A repetition without exception, else the shortest with few. */
static void find_period(const communication_analysis *analysis, sequence *s) {
    const communication_options *o = analysis->options;
    size_t exact = s->n > 0 ? exact_period(analysis->run, s->v, s->n) : 0;
    size_t most = (size_t)((double)s->n * o->max_deviation / 100);
    if (exact <= s->n / 2) {
        s->period = exact;
        return;
    }
    for (size_t p = 1; p <= s->n / 2 && p <= (size_t)o->max_period; p++) {
        s->deviations = count_deviations(s, p, most);
        if (s->deviations <= most) {
            s->period = p;
            return;
        }
    }
}

static void tell_figures(const communication_analysis *analysis, kit_report *r,
                         const kit_device *device, const sequence *s) {
    const char *scope = device->scope;
    kit_figure_int(r, MILL_KIND_ID, "sequence_stream", "communication stream", scope,
                   "The one with the most communication.", analysis->all.streams[s->stream].id);
    kit_figure_int(r, MILL_KIND_COUNT, "sequence_length", "communication on it", scope, NULL,
                   (int64_t)s->n);
    kit_figure_int(r, MILL_KIND_COUNT, "sequence_period", "repeats after", scope,
                   "Kernels of the shortest cycle of (kind, stage); unknown: it does not repeat.",
                   s->period ? (int64_t)s->period : MILL_UNKNOWN);
    kit_figure_real(r, "sequence_repeats", "cycles", scope, "communication on it / period",
                    "cycles", s->period ? (double)s->n / (double)s->period : NAN);
    kit_figure_int(r, MILL_KIND_COUNT, "sequence_deviations", "deviations", scope,
                   "Kernels unlike the one a period before: most single exceptions count twice.",
                   s->period ? (int64_t)s->deviations : MILL_UNKNOWN);
}

static const kit_column columns[] = {
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_COUNT, "position", "position", "In the cycle, from 1."},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {0},
};

static void tell_cycle(const communication_analysis *analysis, kit_table *t,
                       const kit_device *device, const sequence *s) {
    for (size_t i = 0; i < s->period && i < (size_t)analysis->options->cycle; i++) {
        symbol of = s->symbols[s->v[i]];
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_int(t, (int64_t)i + 1);
        kit_cell_text(t, kit_kind_name(&analysis->all, (uint16_t)of.kind));
        kit_cell_text(t, of.stage == MILL_NONE ? NULL : analysis->all.places->stages[of.stage]);
    }
}

mill_status communication_tell_sequence(const communication_analysis *analysis, kit_report *r) {
    kit_table *t = NULL;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const kit_device *device = &analysis->all.devices[i];
        sequence s = {0};
        mill_status status = read_sequence(analysis, device, &s);
        if (status != MILL_OK)
            return status;
        if (s.n == 0)
            continue;
        find_period(analysis, &s);
        tell_figures(analysis, r, device, &s);
        if (s.period > 0 && !t)
            t = kit_table_of(r, "sequence", "The cycle of communication",
                             "As it first runs on the stream with the most communication.",
                             columns);
        if (s.period > 0)
            tell_cycle(analysis, t, device, &s);
    }
    return MILL_OK;
}
