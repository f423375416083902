/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `chunks.join`: the chunk times of several ranks as those of one pipeline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunks.h"

typedef struct join_options {
    int64_t ranks_per_stage;
    chunks_pipeline pipeline;
} join_options;

/* One row of one of the inputs. */
typedef struct row {
    const mill_chunk_times *times;
    uint64_t at;
    int64_t rank;  /* or MILL_UNKNOWN */
    size_t given;  /* which one it is in the order of the inputs */
    int64_t stage; /* rank / ranks_per_stage, or `given` */
} row;

typedef struct joined {
    row *rows; /* by stage, the slowest of each first; in the end one for each stage */
    size_t n, n_rows;
    bool by_rank; /* stages stand in the order of ranks, not in that of the inputs */
} joined;

static const mill_chunk_cost *cost_of(const row *r, mill_basis basis) {
    return &r->times->costs[r->at * MILL_BASES + basis];
}

/* F + B with transfers, or MILL_UNKNOWN, which is less than all. */
static int64_t slowness(const row *r) {
    const mill_chunk_cost *c = cost_of(r, MILL_BASIS_TRANSFER);
    return kit_add(c->forward, c->backward);
}

static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (slowness(x) != slowness(y))
        return slowness(x) > slowness(y) ? -1 : 1;
    return (x->given > y->given) - (x->given < y->given);
}

static int compare_ranks(const void *a, const void *b) {
    const row *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool ranks_tell_order(mill_run *run, const joined *j) {
    row *copy = mill_scratch(run, j->n_rows * sizeof *copy);
    memcpy(copy, j->rows, j->n_rows * sizeof *copy);
    qsort(copy, j->n_rows, sizeof *copy, compare_ranks);
    for (size_t i = 0; i < j->n_rows; i++)
        if (copy[i].rank < 0 || (i > 0 && copy[i].rank == copy[i - 1].rank))
            return false;
    return true;
}

static mill_status gather(mill_run *run, const join_options *options, joined *ret_joined) {
    joined *j = ret_joined;
    *j = (joined){0};
    size_t n = mill_input_count(run, 0);
    for (size_t i = 0; i < n; i++)
        j->n_rows += ((const mill_chunk_times *)mill_input(run, 0, i))->n;
    j->rows = mill_scratch(run, j->n_rows * sizeof *j->rows);
    for (size_t i = 0, k = 0; i < n; i++) {
        const mill_chunk_times *times = mill_input(run, 0, i);
        for (uint64_t at = 0; at < times->n; at++, k++)
            j->rows[k] = (row){times, at, times->ranks[at], k, (int64_t)k};
    }
    j->by_rank = ranks_tell_order(run, j);
    if (!j->by_rank && options->ranks_per_stage > 1)
        return mill_fail(run, MILL_E_DATA,
                         "ranks-per-stage = %lld needs the rank of each profile, but one does not "
                         "tell it, or two have the same: give one profile for each stage, in the "
                         "pipeline's order, and leave ranks-per-stage out",
                         (long long)options->ranks_per_stage);
    for (size_t i = 0; i < j->n_rows && j->by_rank; i++)
        j->rows[i].stage = j->rows[i].rank / options->ranks_per_stage;
    qsort(j->rows, j->n_rows, sizeof *j->rows, compare_rows);
    for (size_t i = 0; i < j->n_rows; i++)
        if (j->n == 0 || j->rows[j->n - 1].stage != j->rows[i].stage)
            j->rows[j->n++] = j->rows[i];
    return MILL_OK;
}

static const char *subject_of(mill_run *run, const joined *j) {
    if (j->n_rows == 0)
        return "";
    const char *first = j->rows[0].times->subject;
    if (j->n_rows == 1)
        return first;
    size_t room = strlen(first) + 64;
    char *text = mill_scratch(run, room);
    snprintf(text, room, "%s and %zu more", first, j->n_rows - 1);
    return text;
}

static const char *text_of(mill_run *run, void *value, const char *text) {
    return text ? kit_text_utf8(run, value, text, strlen(text)) : NULL;
}

static mill_chunk_times *value_of(mill_run *run, const joined *j) {
    mill_chunk_times *t = mill_value_alloc(run, NULL, sizeof *t);
    mill_chunk_cost *costs = mill_value_alloc(run, t, j->n * MILL_BASES * sizeof *costs);
    const char **labels = mill_value_alloc(run, t, j->n * sizeof *labels);
    const char **methods = mill_value_alloc(run, t, j->n * sizeof *methods);
    int64_t *ranks = mill_value_alloc(run, t, j->n * sizeof *ranks);
    int64_t *layers = mill_value_alloc(run, t, j->n * sizeof *layers);
    int64_t *samples = mill_value_alloc(run, t, j->n * sizeof *samples);
    double *coverage = mill_value_alloc(run, t, j->n * sizeof *coverage);
    for (size_t i = 0; i < j->n; i++) {
        const row *r = &j->rows[i];
        memcpy(costs + i * MILL_BASES, cost_of(r, MILL_BASIS_COMPUTE), MILL_BASES * sizeof *costs);
        labels[i] = text_of(run, t, r->times->labels[r->at]);
        methods[i] = text_of(run, t, r->times->methods[r->at]);
        ranks[i] = r->rank;
        layers[i] = r->times->layers[r->at];
        samples[i] = r->times->samples[r->at];
        coverage[i] = r->times->coverage[r->at];
    }
    *t = (mill_chunk_times){
        .size = sizeof *t,
        .subject = text_of(run, t, subject_of(run, j)),
        .n = j->n,
        .costs = costs,
        .labels = labels,
        .ranks = ranks,
        .layers = layers,
        .samples = samples,
        .coverage = coverage,
        .methods = methods,
    };
    return t;
}

/* ---------------------------------------------------------------- the report */

static const kit_column stage_columns[] = {
    {MILL_KIND_ID, "stage", "stage", "Counts from 0, in the order of the pipeline."},
    {MILL_KIND_TEXT, "label", "profile", "The slowest of the stage's."},
    {MILL_KIND_ID, "rank", "rank", NULL},
    {MILL_KIND_COUNT, "layers", "layers", NULL},
    {MILL_KIND_COUNT, "samples", "n", "Chunks that the durations are the mean of."},
    {MILL_KIND_NS, "forward", "F", NULL},
    {MILL_KIND_NS, "backward", "B", "Bi + W"},
    {MILL_KIND_NS, "input", "Bi", NULL},
    {MILL_KIND_NS, "weight", "W", NULL},
    {MILL_KIND_NS, "pair", "F&B", NULL},
    {MILL_KIND_TEXT, "method", "method", NULL},
    {0},
};

static void tell_stages(kit_report *r, const joined *j) {
    kit_table *t = kit_table_of(r, "stages", "Stages of the pipeline",
                                "Durations with transfers in series.", stage_columns);
    kit_table_column(t, MILL_KIND_REAL, "coverage", "coverage", "%",
                     "Share of the busy time that belongs to chunks.");
    for (size_t i = 0; i < j->n; i++) {
        const row *x = &j->rows[i];
        const mill_chunk_cost *c = cost_of(x, MILL_BASIS_TRANSFER);
        kit_table_row(t);
        kit_cell_int(t, (int64_t)i);
        kit_cell_text(t, x->times->labels[x->at]);
        kit_cell_int(t, x->rank);
        kit_cell_int(t, x->times->layers[x->at]);
        kit_cell_int(t, x->times->samples[x->at]);
        kit_cell_int(t, c->forward);
        kit_cell_int(t, c->backward);
        kit_cell_int(t, c->input);
        kit_cell_int(t, c->weight);
        kit_cell_int(t, c->pair);
        kit_cell_text(t, x->times->methods[x->at]);
        kit_cell_real(t, 100 * x->times->coverage[x->at]);
    }
}

static const row *slowest(const joined *j) {
    const row *most = NULL;
    for (size_t i = 0; i < j->n; i++)
        if (!most || slowness(&j->rows[i]) > slowness(most))
            most = &j->rows[i];
    return most;
}

/* Profiles that the port did not get. */
static void note_missing(mill_run *run, kit_report *r) {
    const char *stage = NULL, *key = NULL;
    size_t n = run->host->missing(run, 0, 0, &stage, &key);
    if (n > 0)
        kit_note(r, MILL_WARNING, "missing",
                 "%zu profiles are missing since reading or measuring them failed, the first is "
                 "%s: their stages are left out.",
                 n,
                 key && key[0] ? key
                 : stage       ? stage
                               : "not known");
}

static void tell_slowest(mill_run *run, kit_report *r, const joined *j,
                         const join_options *options) {
    int64_t sum = 0;
    for (size_t i = 0; i < j->n; i++)
        sum = kit_add(sum, slowness(&j->rows[i]));
    const row *most = slowest(j);
    chunks_row of = {"slowest stage", cost_of(most, MILL_BASIS_COMPUTE)};
    int64_t mean = chunks_mean(sum, (int64_t)j->n);
    char time[KIT_NUMBER_MAX];
    kit_report_summary(r, "%zu stages; the slowest is stage %td (%s): F + B %s µs.", j->n,
                       most - j->rows, most->times->labels[most->at],
                       kit_format_us(time, slowness(most), KIT_GROUP));
    kit_figure_int(r, MILL_KIND_NS, "slowest", "F + B of the slowest stage", NULL,
                   "With transfers in series.", slowness(most));
    kit_figure_ratio(r, "imbalance", "slowest over mean", NULL,
                     "F + B of the slowest stage over the mean of all: 1 is even.", slowness(most),
                     mean == MILL_UNKNOWN ? 0 : mean);
    tell_stages(r, j);
    int64_t stages = options->pipeline.stages > 0 ? options->pipeline.stages : (int64_t)j->n;
    if (stages >= 2)
        kit_note(r, MILL_INFO, "equal_stages",
                 "Published formulas hold for equal stages: those below are of %lld like the "
                 "slowest one.",
                 (long long)stages);
    chunks_tell_bubbles(run, r, &options->pipeline, stages, &of, 1);
}

static mill_report *tell(mill_run *run, const joined *j, const join_options *options) {
    kit_report *r =
        kit_report_begin(run, "chunks_join", "Chunk durations of a pipeline", subject_of(run, j));
    note_missing(run, r);
    if (!j->by_rank && j->n > 1)
        kit_note(r, MILL_WARNING, "order",
                 "The profiles do not all tell their rank, or two tell the same: stages stand in "
                 "the order in which the profiles were given.");
    kit_figure_int(r, MILL_KIND_COUNT, "stages", "stages", NULL, NULL, (int64_t)j->n);
    kit_figure_int(r, MILL_KIND_COUNT, "profiles", "rows joined", NULL, NULL, (int64_t)j->n_rows);
    if (j->n > 0)
        tell_slowest(run, r, j, options);
    else
        kit_report_summary(r, "No profile tells of any chunk.");
    return kit_report_end(r);
}

/* ---------------------------------------------------------------- the class */

static const mill_port inputs[] = {
    {"times", MILL_TYPE_CHUNK_TIMES, "Those of each rank.", MILL_PORT_MANY, 0},
    {0},
};

static const mill_port outputs[] = {
    {"times", MILL_TYPE_CHUNK_TIMES, "One row for each stage, in the pipeline's order.", 0, 0},
    {"report", MILL_TYPE_REPORT, "The stages side by side, and the bubbles that follow.", 0, 0},
    {0},
};

static const mill_option options[] = {
    {.name = "ranks-per-stage",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(join_options, ranks_per_stage, INT),
     .def = "1",
     .min = 1,
     .max = 1e9,
     .unit = "ranks",
     .help = "How many ranks of consecutive numbers make one stage (as Megatron numbers them: "
             "tensor, expert and data parallel ranks inside). The slowest stands for its stage."},
    CHUNKS_PIPELINE_OPTIONS(join_options, pipeline, "0",
                            "Pipeline stages for which the bubbles are told; 0: those joined."),
    {0},
};

static mill_status run_join(mill_run *run, const void *opts, void *state) {
    (void)state;
    joined j;
    mill_status status = gather(run, opts, &j);
    if (status == MILL_OK)
        status = mill_output(run, 0, value_of(run, &j));
    if (status == MILL_OK)
        status = mill_output(run, 1, tell(run, &j, opts));
    return status;
}

const mill_stage chunks_join_stage = {
    MILL_STAGE_HEAD,
    .name = "chunks.join",
    .summary = "Chunk durations of several ranks as those of one pipeline",
    .help = "Takes what `chunks` says of each rank, and makes one value of it with a row for each "
            "pipeline stage, in the order of ranks where all tell theirs, else in the order given. "
            "That is what estimators take for uneven stages.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(join_options),
    .run = run_join,
};
