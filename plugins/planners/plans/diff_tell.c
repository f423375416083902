/* SPDX-License-Identifier: Apache-2.0 */
/* The report of plan.diff. */
#include "diff.h"

#include <math.h>
#include <tracemill/kit/report.h>

typedef struct totals {
    int64_t changed, same_gpu, same_node, cross_node, unknown, emptied, replicas;
    double before, after; /* Σ of mean / max */
    int64_t judged;       /* layers with loads */
} totals;

static totals sum(const df_result *r) {
    totals t = {0};
    for (uint32_t i = 0; i < r->n_layers; i++) {
        const df_layer *d = &r->layers[i];
        t.changed += d->changed;
        t.same_gpu += d->moves.same_gpu;
        t.same_node += d->moves.same_node;
        t.cross_node += d->moves.cross_node;
        t.unknown += d->moves.unknown;
        t.emptied += d->moves.emptied;
        t.replicas += d->replicas;
        if (d->max_before > 0 && d->max_after > 0) {
            t.before += d->mean / d->max_before;
            t.after += d->mean / d->max_after;
            t.judged++;
        }
    }
    return t;
}

static int64_t known(bool is_known, int64_t value) {
    return is_known ? value : MILL_UNKNOWN;
}

static int64_t bytes(const df_options *o, int64_t experts) {
    return known(o->expert_bytes > 0 && experts != MILL_UNKNOWN, experts * o->expert_bytes);
}

static void tell_figures(kit_report *k, const df_options *o, const df_result *r, const totals *t) {
    int64_t cross = known(r->nodes, t->cross_node);
    int64_t fetched = t->same_node + t->cross_node + t->unknown;
    const struct {
        mill_kind kind;
        const char *id, *label, *help;
        int64_t value;
    } figures[] = {
        {MILL_KIND_COUNT, "layers", "layers compared", "layers that both plans have", r->n_layers},
        {MILL_KIND_COUNT, "slots_changed", "slots that change",
         "slots that hold another expert than before, or none", t->changed},
        {MILL_KIND_COUNT, "fetched", "experts to transfer",
         "pairs of a GPU and an expert that it did not hold before", fetched},
        {MILL_KIND_COUNT, "moves_same_gpu", "moves within a GPU",
         "slots whose expert the GPU held in another slot, or gets into one already", t->same_gpu},
        {MILL_KIND_COUNT, "moves_same_node", "transfers within a node",
         "those that another GPU of the node held", known(r->nodes, t->same_node)},
        {MILL_KIND_COUNT, "moves_cross_node", "transfers between nodes",
         "those that only other nodes held", cross},
        {MILL_KIND_COUNT, "moves_unknown", "transfers, source unknown",
         "those that another GPU held while nodes are unknown, or none", t->unknown},
        {MILL_KIND_BYTES, "bytes", "to transfer", "experts to transfer times expert-bytes",
         bytes(o, fetched)},
        {MILL_KIND_BYTES, "bytes_cross_node", "to transfer between nodes",
         "transfers between nodes times expert-bytes", bytes(o, cross)},
        {MILL_KIND_COUNT, "replicas_changed", "experts with more or fewer replicas",
         "experts of a layer that have more or fewer replicas", t->replicas},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        kit_figure_int(k, figures[i].kind, figures[i].id, figures[i].label, NULL, figures[i].help,
                       figures[i].value);
    if (!r->loads)
        return;
    const char *help = "mean over the layers of the mean GPU load over the largest (SGLang's "
                       "utilization), of loads that are means over the steps";
    double n = t->judged ? (double)t->judged : NAN;
    kit_figure_share(k, "balance_before", "balancedness before", NULL, help, t->before / n);
    kit_figure_share(k, "balance_after", "balancedness after", NULL, help, t->after / n);
}

static void tell_layers(kit_report *k, const df_options *o, const df_result *r) {
    static const kit_column columns[] = {
        {MILL_KIND_ID, "layer", "layer", "number in the model"},
        {MILL_KIND_COUNT, "changed", "slots", "slots that change"},
        {MILL_KIND_COUNT, "same_gpu", "same GPU", "moves within a GPU"},
        {MILL_KIND_COUNT, "same_node", "same node", "transfers within a node"},
        {MILL_KIND_COUNT, "cross_node", "cross node", "transfers between nodes"},
        {MILL_KIND_COUNT, "unknown", "unknown", "transfers, source unknown"},
        {MILL_KIND_COUNT, "emptied", "emptied", "slots that hold nothing any more"},
        {MILL_KIND_BYTES, "bytes", "bytes", "experts to transfer times expert-bytes"},
        {MILL_KIND_COUNT, "replicas", "replicas", "experts that have more or fewer replicas"},
        {0},
    };
    const char *unit = r->loads && r->loads->unit ? r->loads->unit : "load";
    kit_table *t = kit_table_of(k, "layers", "Moves by layer", NULL, columns);
    if (r->loads) {
        kit_table_column(t, MILL_KIND_REAL, "max_before", "max before", unit,
                         "largest load of a GPU under the plan before");
        kit_table_column(t, MILL_KIND_REAL, "max_after", "max after", unit,
                         "largest load of a GPU under the plan after");
        kit_table_column(t, MILL_KIND_RATIO, "after_over_before", "after / before", NULL,
                         "what becomes of the largest load");
    }
    for (uint32_t i = 0; i < r->n_layers; i++) {
        const df_layer *d = &r->layers[i];
        const kit_moves *m = &d->moves;
        kit_table_row(t);
        kit_cell_int(t, d->layer);
        kit_cell_int(t, d->changed);
        kit_cell_int(t, m->same_gpu);
        kit_cell_int(t, known(r->nodes, m->same_node));
        kit_cell_int(t, known(r->nodes, m->cross_node));
        kit_cell_int(t, m->unknown);
        kit_cell_int(t, m->emptied);
        kit_cell_int(t, bytes(o, (int64_t)m->same_node + m->cross_node + m->unknown));
        kit_cell_int(t, d->replicas);
        if (!r->loads)
            continue;
        kit_cell_real(t, d->max_before);
        kit_cell_real(t, d->max_after);
        kit_cell_share(t, d->max_before > 0 ? d->max_after / d->max_before : NAN);
    }
}

static void tell_experts(kit_report *k, df_result *r) {
    static const kit_column columns[] = {
        {MILL_KIND_ID, "layer", "layer", "number in the model"},
        {MILL_KIND_ID, "expert", "expert", NULL},
        {MILL_KIND_COUNT, "fetched", "transfers", "GPUs that must get it"},
        {MILL_KIND_COUNT, "before", "before", "replicas before"},
        {MILL_KIND_COUNT, "after", "after", "replicas after"},
        {0},
    };
    size_t n = kit_top_sort(&r->experts);
    const df_expert *x = r->experts.v;
    kit_table *t = kit_table_of(k, "experts", "Most changed experts", NULL, columns);
    if (r->loads)
        kit_table_column(t, MILL_KIND_REAL, "load", "load",
                         r->loads->unit ? r->loads->unit : "load",
                         "of a step, mean over the steps");
    for (size_t i = 0; i < n; i++) {
        kit_table_row(t);
        kit_cell_int(t, x[i].layer);
        kit_cell_int(t, x[i].expert);
        kit_cell_int(t, x[i].fetched);
        kit_cell_int(t, x[i].before);
        kit_cell_int(t, x[i].after);
        if (r->loads)
            kit_cell_real(t, x[i].load);
    }
}

static void tell_notes(kit_report *k, const df_options *o, const df_result *r) {
    if (!r->nodes)
        kit_note(k, MILL_INFO, "nodes_unknown",
                 "Neither plan tells nodes, so transfers within and between them are not told "
                 "apart; set nodes of plan.read.");
    if (o->expert_bytes == 0)
        kit_note(k, MILL_INFO, "bytes_unknown", "Bytes are unknown without expert-bytes.");
    if (r->only_before || r->only_after)
        kit_note(k, MILL_WARNING, "layers_apart",
                 "%u layers are only in the plan before, %u only in that after; they are left out.",
                 r->only_before, r->only_after);
    if (r->without_loads)
        kit_note(k, MILL_WARNING, "layers_without_loads", "%u layers have no loads.",
                 r->without_loads);
}

mill_report *df_tell(mill_run *run, const df_options *o, df_result *r) {
    char subject[600];
    totals t = sum(r);
    int64_t slots = (int64_t)r->n_layers * r->before->slots;
    int64_t fetched = t.same_node + t.cross_node + t.unknown;
    snprintf(subject, sizeof subject, "%s → %s", r->before->subject ? r->before->subject : "before",
             r->after->subject ? r->after->subject : "after");
    kit_report *k = kit_report_begin(run, "plan-diff", "Changes of an expert placement", subject);
    if (t.changed == 0)
        kit_report_summary(k, "The plans are the same in all %u layers.", r->n_layers);
    else if (t.judged)
        kit_report_summary(k,
                           "%lld of %lld slots change, %lld experts must be transferred; "
                           "balancedness goes from %.4f to %.4f.",
                           (long long)t.changed, (long long)slots, (long long)fetched,
                           t.before / (double)t.judged, t.after / (double)t.judged);
    else
        kit_report_summary(k, "%lld of %lld slots change, %lld experts must be transferred.",
                           (long long)t.changed, (long long)slots, (long long)fetched);
    tell_figures(k, o, r, &t);
    tell_layers(k, o, r);
    tell_experts(k, r);
    tell_notes(k, o, r);
    return kit_report_end(k);
}
