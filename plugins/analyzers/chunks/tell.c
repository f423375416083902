/* SPDX-License-Identifier: Apache-2.0 */
/* The report of the chunks of one profile: figures, tables, notes, and the sentence at its head. */
#include "chunks.h"

#include <stdio.h>
#include <tracemill/kit/trace_notes.h>

static const char *const chunk_names[CHUNKS] = {"none", "F", "Bi", "W", "F&B"};

/* B stands for all of it where W is not apart. */
static const char *chunk_name(const chunks_device *d, mill_chunk chunk) {
    return chunk == MILL_CHUNK_BACKWARD && d->n[MILL_CHUNK_WEIGHT] == 0 ? "B" : chunk_names[chunk];
}

static const mill_chunk_cost *usual_cost(const chunks_device *d) {
    return &d->costs[MILL_BASIS_TRANSFER];
}

/* ---------------------------------------------------------------- figures */

static void tell_figures(kit_report *r, const chunks_device *d, const char *scope) {
    const mill_chunk_cost *c = usual_cost(d);
    const struct {
        const char *id, *label, *help;
        int64_t value;
    } times[] = {
        {"forward", "F", "A forward chunk: computation, then its transfers.", c->forward},
        {"backward", "B", "A whole backward chunk, weights included.", c->backward},
        {"input", "Bi", "Its part for the gradients of the input.", c->input},
        {"weight", "W", "Its part for the gradients of the weights.", c->weight},
        {"pair", "F&B",
         "A forward and a backward chunk at once, from the first start to the "
         "last end.",
         c->pair},
        {"pair_bound", "F&B at best", "max(|C|, |M|) in that time: all of the shorter hidden.",
         d->pair_bound},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        kit_figure_int(r, MILL_KIND_NS, times[i].id, times[i].label, scope, times[i].help,
                       times[i].value);
    int64_t serial = kit_add(c->forward, c->backward);
    kit_figure_ratio(r, "pair_over_serial", "F&B over F + B", scope,
                     "What is left of the time when both run at once; 1: nothing is gained.",
                     c->pair, serial == MILL_UNKNOWN ? 0 : serial);
    kit_figure_ratio(r, "coverage", "coverage", scope,
                     "Share of the device's busy time that belongs to a chunk.", d->placed,
                     d->busy);
    kit_figure_int(r, MILL_KIND_COUNT, "layers", "layers in a chunk", scope, NULL, d->layers);
}

/* ---------------------------------------------------------------- tables */

static const kit_column duration_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "basis", "basis",
     "compute_only: as if all communication were hidden; serial_transfer: transfers after it, as "
     "a lone chunk shows them; serial_all: waits for other ranks too."},
    {MILL_KIND_NS, "forward", "F", NULL},
    {MILL_KIND_NS, "backward", "B", "Bi + W"},
    {MILL_KIND_NS, "input", "Bi", NULL},
    {MILL_KIND_NS, "weight", "W", NULL},
    {MILL_KIND_NS, "serial", "F + B", NULL},
    {MILL_KIND_NS, "pair", "F&B", "As measured: the same on all bases."},
    {MILL_KIND_RATIO, "pair_over_serial", "F&B/(F+B)", NULL},
    {0},
};

static void tell_durations(kit_report *r, const chunks_analysis *a) {
    kit_table *t = kit_table_of(r, "durations", "Duration of a chunk of one micro-batch", NULL,
                                duration_columns);
    for (size_t i = 0; i < a->all.n_devices; i++)
        for (int basis = 0; basis < MILL_BASES; basis++) {
            const mill_chunk_cost *c = &a->devices[i].costs[basis];
            int64_t serial = kit_add(c->forward, c->backward);
            kit_table_row(t);
            kit_cell_int(t, a->devices[i].device->id);
            kit_cell_text(t, chunks_basis_names[basis]);
            kit_cell_int(t, c->forward);
            kit_cell_int(t, c->backward);
            kit_cell_int(t, c->input);
            kit_cell_int(t, c->weight);
            kit_cell_int(t, serial);
            kit_cell_int(t, c->pair);
            kit_cell_ratio(t, c->pair, serial == MILL_UNKNOWN ? 0 : serial);
        }
}

static const kit_column part_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "chunk", "chunk", NULL},
    {MILL_KIND_COUNT, "n", "n", "Chunks that the durations are the mean of."},
    {MILL_KIND_NS, "comp", "comp.", "Σ over stages of |union of their computation|"},
    {MILL_KIND_NS, "transfer", "transfer", "Σ over stages of |union of their transfers|"},
    {MILL_KIND_NS, "waiting", "waiting", "comm. - transfer"},
    {MILL_KIND_NS, "comm", "comm.", "Σ over stages of |union of their communication|"},
    {0},
};

static void tell_work(kit_table *t, const chunks_work *work) {
    bool known = work->comm != MILL_UNKNOWN && work->transfer != MILL_UNKNOWN;
    kit_cell_int(t, work->comp);
    kit_cell_int(t, work->transfer);
    kit_cell_int(t, known ? work->comm - work->transfer : MILL_UNKNOWN);
    kit_cell_int(t, work->comm);
}

static void tell_parts(kit_report *r, const chunks_analysis *a) {
    kit_table *t = kit_table_of(r, "parts", "What a chunk consists of",
                                "As measured, before sm-scale. Communication runs beside "
                                "computation, so that the parts do not add up to a span.",
                                part_columns);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const chunks_device *d = &a->devices[i];
        for (int c = MILL_CHUNK_FORWARD; c <= MILL_CHUNK_WEIGHT; c++) {
            if (d->n[c] == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, d->device->id);
            kit_cell_text(t, chunk_name(d, (mill_chunk)c));
            kit_cell_int(t, d->n[c] * a->per_chunk);
            tell_work(t, &d->mean[c]);
        }
    }
}

static const kit_column layer_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "layer", "layer", "Counts from 0."},
    {MILL_KIND_TEXT, "chunk", "chunk", NULL},
    {MILL_KIND_NS, "comp", "comp.", NULL},
    {MILL_KIND_NS, "transfer", "transfer", NULL},
    {MILL_KIND_NS, "waiting", "waiting", NULL},
    {MILL_KIND_NS, "comm", "comm.", NULL},
    {0},
};

static void tell_layers(kit_report *r, const chunks_analysis *a) {
    size_t n = 0;
    for (size_t i = 0; i < a->all.n_devices; i++)
        n += a->devices[i].n_layers;
    if (n == 0)
        return;
    kit_table *t = kit_table_of(r, "layers", "Each layer's part in its chunk",
                                "Mean over the chunks that hold the layer.", layer_columns);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const chunks_device *d = &a->devices[i];
        for (size_t k = 0; k < d->n_layers; k++)
            for (int c = MILL_CHUNK_FORWARD; c <= MILL_CHUNK_WEIGHT; c++) {
                if (d->layer_means[k].mean[c].comp == MILL_UNKNOWN)
                    continue;
                kit_table_row(t);
                kit_cell_int(t, d->device->id);
                kit_cell_int(t, d->layer_means[k].number);
                kit_cell_text(t, chunk_name(d, (mill_chunk)c));
                tell_work(t, &d->layer_means[k].mean[c]);
            }
    }
}

static const kit_column sample_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "step", "step", "The profiler's number of it."},
    {MILL_KIND_ID, "micro_batch", "micro-batch", "Counts from 0."},
    {MILL_KIND_TEXT, "chunk", "chunk", NULL},
    {MILL_KIND_COUNT, "layers", "layers", NULL},
    {MILL_KIND_NS, "start", "start", "From the window's start."},
    {MILL_KIND_NS, "span", "span", "From its first start to its last end."},
    {MILL_KIND_NS, "comp", "comp.", NULL},
    {MILL_KIND_NS, "transfer", "transfer", NULL},
    {MILL_KIND_NS, "waiting", "waiting", NULL},
    {MILL_KIND_NS, "comm", "comm.", NULL},
    {0},
};

static void tell_samples(kit_report *r, const chunks_analysis *a) {
    kit_table *t = kit_table_of(r, "micro_batches", "Single chunks",
                                "The first ones, as many as `top` says.", sample_columns);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const chunks_device *d = &a->devices[i];
        for (size_t k = 0; k < d->n_samples && k < (size_t)a->options->top; k++) {
            const chunks_sample *s = &d->samples[k];
            bool in_step = s->step != MILL_NONE;
            kit_table_row(t);
            kit_cell_int(t, d->device->id);
            kit_cell_int(t, in_step ? a->all.places->step_number[s->step] : MILL_UNKNOWN);
            kit_cell_int(t, s->micro_batch);
            kit_cell_text(t, chunk_name(d, s->chunk));
            kit_cell_int(t, s->layers > 0 ? s->layers : MILL_UNKNOWN);
            kit_cell_int(t, s->span.start - d->device->window.start);
            kit_cell_int(t, s->span.end - s->span.start);
            tell_work(t, &s->work);
        }
    }
}

static const kit_column method_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "method", "method", NULL},
    {MILL_KIND_NS, "busy", "busy", "|union| of the activities that it gave to a chunk"},
    {MILL_KIND_RATIO, "coverage", "coverage", "busy over the device's busy time"},
    {MILL_KIND_TEXT, "used", "used", NULL},
    {0},
};

static void tell_methods(kit_report *r, const chunks_analysis *a) {
    kit_table *t = kit_table_of(r, "methods", "How the chunks were told", NULL, method_columns);
    for (size_t i = 0; i < a->all.n_devices; i++)
        for (int m = MILL_METHOD_ANNOTATION; m < MILL_METHODS; m++) {
            const chunks_device *d = &a->devices[i];
            if (d->busy_by[m] == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, d->device->id);
            kit_cell_text(t, chunks_method_names[m]);
            kit_cell_int(t, d->busy_by[m]);
            kit_cell_ratio(t, d->busy_by[m], d->busy);
            kit_cell_text(t, a->methods >> m & 1 ? "yes" : "no");
        }
}

/* ---------------------------------------------------------------- notes */

static void note_method(mill_run *run, kit_report *r, const chunks_analysis *a) {
    const uint32_t guesses = 1u << MILL_METHOD_AUTOGRAD | 1u << MILL_METHOD_SEQUENCE;
    const char *method = chunks_method(run, a);
    bool guessed = (a->methods & guesses) && !(a->methods & 1u << MILL_METHOD_ANNOTATION);
    kit_note(r, guessed ? MILL_WARNING : MILL_INFO, "method", "Chunks were told by: %s.%s", method,
             guessed ? " That is a guess: annotate the chunks, or write rules for them, to be sure."
                     : "");
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const chunks_device *d = &a->devices[i];
        char share[KIT_NUMBER_MAX];
        if ((double)d->placed < a->options->min_coverage * (double)d->busy)
            kit_note(r, MILL_WARNING, "coverage",
                     "Device %s: only %s of the busy time belongs to a chunk; what is missing may "
                     "be part of one, so the durations are too short by up to that.",
                     d->device->number, kit_format_percent(share, d->placed, d->busy));
    }
}

static void note_weight(kit_report *r, const chunks_analysis *a, const chunks_device *d) {
    char given[KIT_NUMBER_MAX];
    if (d->n[MILL_CHUNK_WEIGHT] > 0 && a->weight_given)
        kit_note(r, MILL_WARNING, "weight_measured",
                 "Device %s: the profile tells W, so the option `weight` is not used.",
                 d->device->number);
    if (d->n[MILL_CHUNK_WEIGHT] > 0 || d->n[MILL_CHUNK_BACKWARD] == 0)
        return;
    if (a->weight_given)
        kit_note(r, MILL_WARNING, "weight_given",
                 "Device %s: the profile does not tell W apart; it is taken to be %s µs, as the "
                 "option `weight` says.",
                 d->device->number, kit_format_us(given, a->options->weight, KIT_GROUP));
    else
        kit_note(r, MILL_WARNING, "no_weight",
                 "Device %s: the profile does not tell W apart, so W, Bi and the bubbles of ZB1P "
                 "and DualPipe are unknown. Give it by the option `weight` (0s if the schedule "
                 "does not split the backward chunk).",
                 d->device->number);
}

static void note_counts(kit_report *r, const chunks_analysis *a, const chunks_device *d) {
    int64_t f = d->n[MILL_CHUNK_FORWARD], b = d->n[MILL_CHUNK_BACKWARD];
    if (!a->micro_batches_known && f + b > 0)
        kit_note(r, a->in_steps ? MILL_INFO : MILL_WARNING, "micro_batches_unknown",
                 "Device %s: the micro-batches of %s are not told apart: it counts as %lld (option "
                 "`micro-batches`).",
                 d->device->number,
                 a->in_steps ? "a step" : "the profile, which has no steps either,",
                 (long long)a->per_chunk);
    else if (f != b && f > 0 && b > 0)
        kit_note(r, MILL_WARNING, "counts_differ",
                 "Device %s: %lld forward chunks but %lld backward ones: the profile cuts a step, "
                 "or some chunks are not recognised.",
                 d->device->number, (long long)f, (long long)b);
}

/* What was measured beside other work is not what a chunk costs alone. */
static void note_contention(kit_report *r, const chunks_analysis *a, const chunks_device *d) {
    char all[KIT_NUMBER_MAX], taken[KIT_NUMBER_MAX], left[KIT_NUMBER_MAX];
    if (d->pair == MILL_UNKNOWN)
        return;
    if (d->comm_sms > 0 && a->options->sm_scale == 1)
        kit_note(r, MILL_INFO, "contention",
                 "Device %s: measured while a transfer held up to %s of %s SMs; a lone chunk could "
                 "use them too. For F, B and W without that: sm-scale = %.4f (%s/%s) at best.",
                 d->device->number, kit_format_int(taken, d->comm_sms, 0),
                 kit_format_int(all, d->device->sms, 0),
                 (double)(d->device->sms - d->comm_sms) / (double)d->device->sms,
                 kit_format_int(left, d->device->sms - d->comm_sms, 0), all);
    else if (a->options->sm_scale == 1)
        kit_note(r, MILL_INFO, "contention",
                 "Device %s: measured while other chunks ran beside them; how many SMs those held "
                 "is not known. See the option sm-scale.",
                 d->device->number);
}

static void tell_notes(mill_run *run, kit_report *r, const chunks_analysis *a, bool any) {
    kit_note_trace(run, r, a->all.trace);
    if (!any)
        kit_note(r, MILL_WARNING, "no_chunks",
                 "No activity belongs to a forward, backward or weight chunk. Annotate them "
                 "(record_function(\"mlp(F)\")), or tell by the attribution's options which "
                 "annotations or kernels are which.");
    if (!any)
        return;
    note_method(run, r, a);
    if (a->options->sm_scale != 1)
        kit_note(r, MILL_WARNING, "scaled", "Computation is multiplied by sm-scale = %g.",
                 a->options->sm_scale);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const chunks_device *d = &a->devices[i];
        if (d->n_samples == 0)
            continue;
        note_counts(r, a, d);
        note_weight(r, a, d);
        note_contention(r, a, d);
    }
}

/* ---------------------------------------------------------------- all of it */

static void tell_summary(kit_report *r, const chunks_analysis *a) {
    const chunks_device *longest = NULL;
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const chunks_device *d = &a->devices[i];
        if (d->n_samples > 0 &&
            (!longest || usual_cost(d)->backward > usual_cost(longest)->backward))
            longest = d;
    }
    if (!longest) {
        kit_report_summary(r, "No chunk was recognised: how long they take is unknown.");
        return;
    }
    const mill_chunk_cost *c = usual_cost(longest);
    const struct {
        const char *name;
        int64_t time;
    } parts[] = {{"F", c->forward}, {"B", c->backward}, {"W", c->weight}, {"F&B", c->pair}};
    char text[256], *end = text;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char time[KIT_NUMBER_MAX];
        bool known = parts[i].time != MILL_UNKNOWN;
        end += sprintf(end, "%s%s %s%s", i ? ", " : "", parts[i].name,
                       kit_format_us(time, parts[i].time, KIT_GROUP), known ? " µs" : "");
    }
    kit_report_summary(r, "%s, with transfers in series.", text);
}

mill_report *chunks_tell(mill_run *run, const chunks_analysis *a) {
    kit_report *r = kit_report_begin(run, "chunks", "Chunk durations and pipeline bubbles",
                                     mill_at(a->all.trace, a->all.trace->path));
    chunks_row *rows = mill_scratch(run, a->all.n_devices * sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < a->all.n_devices; i++)
        if (a->devices[i].n_samples > 0)
            rows[n++] = (chunks_row){chunks_label(run, a, &a->devices[i]), a->devices[i].costs};
    tell_summary(r, a);
    tell_notes(run, r, a, n > 0);
    for (size_t i = 0; i < a->all.n_devices && n > 0; i++)
        tell_figures(r, &a->devices[i], a->all.devices[i].scope);
    if (n > 0) {
        tell_durations(r, a);
        tell_parts(r, a);
        tell_layers(r, a);
        tell_samples(r, a);
        tell_methods(r, a);
        chunks_tell_bubbles(run, r, &a->options->pipeline, a->options->pipeline.stages, rows, n);
    }
    return kit_report_end(r);
}
