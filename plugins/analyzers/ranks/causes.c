/* SPDX-License-Identifier: Apache-2.0 */
/* Why a rank comes last: what it computes more than the others, and how late its host launches. */
#include "ranks.h"
#include "tell.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/stats.h>

/* One member's computation of one stage. */
typedef struct part {
    uint32_t stage, member; /* stage: a text of the analysis */
    int64_t n, sum;
} part;

/* One stage over all members that compute in it. */
typedef struct stage_row {
    const part *v;
    size_t n_members;
    int64_t median, median_n;
    const part *most;
} stage_row;

typedef struct stage_rows {
    stage_row *v;
    size_t n;
} stage_rows;

static int compare_parts(const void *a, const void *b) {
    const part *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static void measure_row(const ranks_analysis *a, stage_row *row) {
    int64_t *sums = mill_scratch(a->run, row->n_members * sizeof *sums);
    int64_t *counts = mill_scratch(a->run, row->n_members * sizeof *counts);
    row->most = row->v;
    for (size_t i = 0; i < row->n_members; i++) {
        sums[i] = row->v[i].sum;
        counts[i] = row->v[i].n;
        row->most = row->v[i].sum > row->most->sum ? &row->v[i] : row->most;
    }
    row->median = kit_median(sums, row->n_members);
    row->median_n = kit_median(counts, row->n_members);
}

static stage_rows find_stages(const ranks_analysis *a) {
    size_t n = 0;
    for (size_t i = 0; i < a->n_members; i++)
        n += a->members[i].device->n_stages;
    part *parts = mill_scratch(a->run, n * sizeof *parts);
    stage_rows rows = {mill_scratch(a->run, n * sizeof(stage_row)), 0};
    n = 0;
    for (uint32_t i = 0; i < a->n_members; i++) {
        const ranks_member *m = &a->members[i];
        for (uint64_t k = 0; k < m->device->n_stages; k++) {
            const rank_stage *s = &m->device->stages[k];
            uint32_t stage = s->stage == MILL_NONE ? MILL_NONE : m->texts[s->stage];
            parts[n++] = (part){stage, i, s->n, s->sum};
        }
    }
    qsort(parts, n, sizeof *parts, compare_parts);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || parts[i].stage != parts[i - 1].stage)
            rows.v[rows.n++] = (stage_row){.v = &parts[i]};
        rows.v[rows.n - 1].n_members++;
    }
    for (size_t i = 0; i < rows.n; i++)
        measure_row(a, &rows.v[i]);
    return rows;
}

static const char *stage_name(const ranks_analysis *a, uint32_t stage) {
    return stage == MILL_NONE ? "(no stage)" : ranks_text(a, stage);
}

static const kit_column stage_columns[] = {
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_COUNT, "ranks", "ranks", "That compute in it."},
    {MILL_KIND_NS, "median", "median", "Σ durations of computation, over ranks."},
    {MILL_KIND_NS, "max", "max", NULL},
    {MILL_KIND_ID, "rank", "rank of max", NULL},
    {0},
};

static void tell_stages(const ranks_analysis *a, kit_report *r, const stage_rows *rows) {
    kit_table *t =
        kit_table_of(r, "stages", "Computation by stage over ranks", NULL, stage_columns);
    kit_table_column(t, MILL_KIND_REAL, "max_over_median", "max/median", "×", NULL);
    ranks_add_device(a, t);
    for (size_t i = 0; i < rows->n; i++) {
        const stage_row *s = &rows->v[i];
        kit_table_row(t);
        kit_cell_text(t, stage_name(a, s->v->stage));
        kit_cell_int(t, (int64_t)s->n_members);
        kit_cell_int(t, s->median);
        kit_cell_int(t, s->most->sum);
        kit_cell_int(t, a->members[s->most->member].rank);
        kit_cell_real(t, s->median > 0 ? (double)s->most->sum / (double)s->median : NAN);
        ranks_tell_device(a, t, s->most->member);
    }
}

/* ---------------------------------------------------------------- stragglers */

/* The stage in which the member computes longest over the median. */
typedef struct excess {
    const stage_row *row;
    const part *own;
    int64_t time;
} excess;

static excess excess_of(const stage_rows *rows, uint32_t member) {
    excess e = {NULL, NULL, 0};
    for (size_t i = 0; i < rows->n; i++)
        for (size_t k = 0; k < rows->v[i].n_members; k++) {
            const part *p = &rows->v[i].v[k];
            if (p->member == member && p->sum - rows->v[i].median > e.time)
                e = (excess){&rows->v[i], p, p->sum - rows->v[i].median};
        }
    return e;
}

static const char *advice_of(const ranks_member *m, const excess *e) {
    if (m->host_late != MILL_UNKNOWN && 2 * m->host_late >= m->late)
        return "Its host launches the collectives late: look at what its CPU does before them "
               "(data loading, logging, synchronisation, cores shared with others).";
    if (e->row && e->time >= m->late / 2 && e->own->n > e->row->median_n)
        return "It runs more kernels than the others: look at how work is divided (experts' load, "
               "uneven layers, padding).";
    if (e->row && e->time >= m->late / 2)
        return "The same number of kernels takes it longer: look at the sizes of its work "
               "(experts' "
               "load), and at its clocks, power and temperature.";
    return "Neither computation nor launches explain it: look at what it runs before the "
           "collectives in which it comes last.";
}

static void tell_straggler(const ranks_analysis *a, kit_report *r, const stage_rows *rows,
                           uint32_t member) {
    const ranks_member *m = &a->members[member];
    excess e = excess_of(rows, member);
    char id[KIT_NUMBER_MAX + 16], where[2 * KIT_NUMBER_MAX + 32], caused[KIT_NUMBER_MAX];
    char late[KIT_NUMBER_MAX], number[KIT_NUMBER_MAX], host[128] = "", stage[320] = "";
    snprintf(id, sizeof id, "straggler_%u", (unsigned)member);
    snprintf(where, sizeof where, "rank %s", m->label);
    if (e.row)
        snprintf(stage, sizeof stage,
                 "; it computes %s µs longer than the median in %.200s (%lld kernels, median %lld)",
                 kit_format_us(number, e.time, KIT_GROUP), stage_name(a, e.row->v->stage),
                 (long long)e.own->n, (long long)e.row->median_n);
    if (m->host_late != MILL_UNKNOWN)
        snprintf(host, sizeof host, ", of which %s µs before its launch call",
                 kit_format_us(number, m->host_late, KIT_GROUP));
    char evidence[1024];
    snprintf(
        evidence, sizeof evidence,
        "last in %lld of the %lld collectives in which that can be told; others wait %s µs for "
        "it; it comes %s µs after the last but one%s%s",
        (long long)m->last, (long long)m->told, kit_format_us(caused, m->caused, KIT_GROUP),
        kit_format_us(late, m->late, KIT_GROUP), host, stage);
    kit_finding(r, &(mill_finding){
                       .level = MILL_WARNING,
                       .id = id,
                       .rule = "straggler",
                       .where = where,
                       .evidence = evidence,
                       .advice = advice_of(m, &e),
                       .cost_ns = m->late,
                       .gain_ns = m->late,
                       .confidence = 0.7,
                       .at_ns = MILL_UNKNOWN,
                   });
}

void ranks_tell_causes(const ranks_analysis *a, kit_report *r) {
    if (a->n_members < 2)
        return;
    stage_rows rows = find_stages(a);
    if (rows.n > 0)
        tell_stages(a, r, &rows);
    for (uint32_t i = 0; i < a->n_members; i++)
        if (a->members[i].straggler)
            tell_straggler(a, r, &rows, i);
}
