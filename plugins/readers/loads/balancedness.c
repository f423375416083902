/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class balancedness.read: what vLLM and SGLang log of how even their GPUs are loaded.
 *
 * Sources: vllm-project/vllm, vllm/distributed/eplb/eplb_state.py (EplbState.step);
 * sgl-project/sglang, python/sglang/srt/eplb/expert_distribution.py
 * (_UtilizationRateAccumulatorMixin). */
#include "loads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

typedef struct options {
    const char *path;
    int64_t warm_up;
} options;

typedef enum engine { VLLM, SGLANG, ENGINES } engine;

/* The words a line is known by, and the fields behind them. */
static const struct {
    const char *id, *name, *marker, *balancedness, *mean, *max, *number;
} engines[ENGINES] = {
    {"vllm", "vLLM", "EPLB step:", "balancedness=", "avg_tokens=", "max_tokens=", NULL},
    {"sglang", "SGLang", "[Expert Balancedness]", "current_pass_balancedness=", NULL, NULL,
     "forward_pass_id="},
};

/* What one engine logged. */
typedef struct record {
    double *x, *balancedness; /* x: number of the pass, or of the line among its kind */
    size_t n, room;
    uint64_t lines;        /* with the marker */
    uint64_t broken;       /* of these, without what should follow it */
    uint64_t first_broken; /* a line of the file */
    uint64_t idle;         /* steps without a token */
    uint64_t skipped;      /* by the option warm-up */
    uint64_t backwards;    /* passes whose number does not rise */
    double mean, max;      /* Σ of the tokens */
} record;

/* ---------------------------------------------------------------- lines */

/* The number behind `name`, which begins a word. */
static bool field(const char *line, const char *name, double *ret) {
    char *end;
    for (const char *at = line; (at = strstr(at, name)); at++) {
        if (at > line && at[-1] != ' ' && at[-1] != '\t')
            continue;
        at += strlen(name);
        *ret = strtod(at, &end);
        return end > at && isfinite(*ret);
    }
    return false;
}

static void add(record *r, double x, double balancedness) {
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 1024;
        r->x = kit_realloc(r->x, r->room, sizeof *r->x);
        r->balancedness = kit_realloc(r->balancedness, r->room, sizeof *r->balancedness);
    }
    r->backwards += r->n > 0 && x <= r->x[r->n - 1];
    r->x[r->n] = x;
    r->balancedness[r->n++] = balancedness;
}

/* `text` stands behind the marker. */
static void read_entry(record *r, engine kind, const char *text, int64_t warm_up, uint64_t line) {
    double balancedness, mean = 0, max = 0, x = (double)r->lines++;
    bool good = field(text, engines[kind].balancedness, &balancedness) && balancedness >= 0 &&
                balancedness <= 1;
    if (engines[kind].number)
        good = good && field(text, engines[kind].number, &x);
    else
        good = good && field(text, engines[kind].mean, &mean) &&
               field(text, engines[kind].max, &max) && mean >= 0 &&
               mean < max + 0.01; /* printed with two decimals */
    if (!good && r->broken++ == 0)
        r->first_broken = line;
    if (!good)
        return;
    if (r->lines <= (uint64_t)warm_up) {
        r->skipped++;
    } else if (engines[kind].max ? max == 0 : balancedness == 0) {
        r->idle++;
    } else {
        add(r, x, balancedness);
        r->mean += mean;
        r->max += max;
    }
}

static void read_line(record records[ENGINES], const char *line, int64_t warm_up, uint64_t number) {
    for (int i = 0; i < ENGINES; i++) {
        const char *marker = strstr(line, engines[i].marker);
        if (marker)
            read_entry(&records[i], (engine)i, marker + strlen(engines[i].marker), warm_up, number);
    }
}

static mill_status read_log(mill_run *run, const options *o, record records[ENGINES],
                            uint64_t *ret_lines) {
    bool standard_input = strcmp(o->path, "-") == 0;
    FILE *file = fopen(standard_input ? "/dev/stdin" : o->path, "re");
    if (!file)
        return mill_fail(run, MILL_E_NOINPUT, "%s: %s", o->path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    mill_status status = MILL_OK;
    ssize_t length;
    for (*ret_lines = 0; (length = getline(&line, &room, file)) >= 0; ++*ret_lines) {
        if (*ret_lines % 4096 == 0 && mill_cancelled(run)) {
            status = MILL_E_CANCELLED;
            break;
        }
        for (char *at = line; (at = memchr(at, '\0', (size_t)(line + length - at)));)
            *at++ = ' '; /* left by a crash, or by a second writer */
        read_line(records, line, o->warm_up, *ret_lines + 1);
    }
    if (ferror(file))
        status = mill_fail(run, MILL_E_IO, "%s: %s", o->path, strerror(errno));
    free(line);
    fclose(file);
    return status;
}

/* ---------------------------------------------------------------- figures */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *v, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n > 0 ? sum / (double)n : NAN;
}

/* Nearest rank. */
static double percentile(const double *sorted, size_t n, size_t percent) {
    return sorted[(n * percent + 99) / 100 - 1];
}

static void tell_figures(mill_run *run, kit_report *r, const record *e, const char *scope) {
    double *sorted = mill_scratch(run, e->n * sizeof *sorted);
    size_t quarter = e->n / 4;
    memcpy(sorted, e->balancedness, e->n * sizeof *sorted);
    qsort(sorted, e->n, sizeof *sorted, compare);
    kit_figure_int(r, MILL_KIND_COUNT, "steps", "steps", scope,
                   "Steps with tokens that were logged.", (int64_t)e->n);
    kit_figure_share(r, "mean", "mean balancedness", scope,
                     "Mean over the steps of the engine's own figure: 1 is even.",
                     mean_of(e->balancedness, e->n));
    kit_figure_share(r, "min", "least", scope, NULL, sorted[0]);
    kit_figure_share(r, "p10", "10th percentile", scope, "By nearest rank.",
                     percentile(sorted, e->n, 10));
    kit_figure_share(r, "p50", "median", scope, NULL, percentile(sorted, e->n, 50));
    kit_figure_share(r, "p90", "90th percentile", scope, NULL, percentile(sorted, e->n, 90));
    kit_figure_share(r, "last", "last", scope, NULL, e->balancedness[e->n - 1]);
    kit_figure_share(r, "trend", "trend", scope,
                     "Mean of the last quarter of the steps minus that of the first.",
                     quarter > 0 ? mean_of(e->balancedness + e->n - quarter, quarter) -
                                       mean_of(e->balancedness, quarter)
                                 : NAN);
    if (e->max > 0)
        kit_figure_share(r, "weighted", "balancedness of all tokens", scope,
                         "Σ avg_tokens / Σ max_tokens: steps count by their tokens.",
                         e->mean / e->max);
}

static void tell_notes(kit_report *r, const record *e, const char *name) {
    if (e->broken > 0)
        kit_note(r, MILL_WARNING, "broken_lines",
                 "Lines of %s that are not whole were left out: %llu of %llu, the first is line "
                 "%llu.",
                 name, (unsigned long long)e->broken, (unsigned long long)e->lines,
                 (unsigned long long)e->first_broken);
    if (e->skipped > 0)
        kit_note(r, MILL_INFO, "warm_up",
                 "First lines of %s that were left out, as warm-up says: "
                 "%llu.",
                 name, (unsigned long long)e->skipped);
    if (e->idle > 0)
        kit_note(r, MILL_INFO, "idle_steps",
                 "Steps of %s without a token, which have no balancedness: %llu.", name,
                 (unsigned long long)e->idle);
    if (e->backwards > 0)
        kit_note(
            r, MILL_WARNING, "passes_mixed",
            "The numbers of passes fall or repeat %llu times: the log holds several servers, or "
            "a restart. Figures are over all of them.",
            (unsigned long long)e->backwards);
}

static void tell_series(kit_report *r, const record *e, int kind) {
    mill_series series = {.size = sizeof series,
                          .id = engines[kind].id,
                          .label = engines[kind].name,
                          .x_label = engines[kind].number ? "forward pass" : "line",
                          .y_label = "balancedness",
                          .n = e->n,
                          .x = e->x,
                          .y = e->balancedness};
    kit_series(r, &series);
}

static mill_status tell(mill_run *run, const options *o, const record records[ENGINES],
                        uint64_t lines, mill_report **ret_report) {
    size_t n = records[VLLM].n + records[SGLANG].n;
    if (n == 0)
        return mill_fail(
            run, MILL_E_DATA,
            "%s: no balancedness in %llu lines (incomplete: %llu, idle: %llu, warm-up: "
            "%llu). vLLM logs it with log_balancedness in its EPLB configuration, "
            "SGLang with --enable-expert-distribution-metrics",
            o->path, (unsigned long long)lines,
            (unsigned long long)(records[VLLM].broken + records[SGLANG].broken),
            (unsigned long long)(records[VLLM].idle + records[SGLANG].idle),
            (unsigned long long)(records[VLLM].skipped + records[SGLANG].skipped));
    kit_report *r =
        kit_report_begin(run, "balancedness", "Balancedness as the engine logged it", o->path);
    int main_kind = records[VLLM].n >= records[SGLANG].n ? VLLM : SGLANG;
    const record *e = &records[main_kind];
    kit_report_summary(r,
                       "%s: mean balancedness %.3f over %zu steps, that is %.1f %% of what an "
                       "even load would need on the hottest GPU.",
                       engines[main_kind].name, mean_of(e->balancedness, e->n), e->n,
                       100 / mean_of(e->balancedness, e->n));
    for (int i = 0; i < ENGINES; i++)
        tell_notes(r, &records[i], engines[i].name);
    for (int i = 0; i < ENGINES; i++)
        if (records[i].n > 0)
            tell_figures(run, r, &records[i], engines[i].name);
    for (int i = 0; i < ENGINES; i++)
        if (records[i].n > 0)
            tell_series(r, &records[i], i);
    *ret_report = kit_report_end(r);
    return MILL_OK;
}

/* ---------------------------------------------------------------- the stage */

static mill_status run_balancedness(mill_run *run, const void *opts, void *state) {
    (void)state;
    record records[ENGINES] = {0};
    uint64_t lines = 0;
    mill_report *report = NULL;
    mill_status status = read_log(run, opts, records, &lines);
    if (status == MILL_OK)
        status = tell(run, opts, records, lines, &report);
    for (int i = 0; i < ENGINES; i++) {
        free(records[i].x);
        free(records[i].balancedness);
    }
    return status == MILL_OK ? mill_output(run, 0, report) : status;
}

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Balancedness over time.", 0, 0},
    {0},
};

static const mill_option option_list[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
     .offset = MILL_OPT_OFF(options, path, PATH),
     .help =
         "A log of vLLM or SGLang, with whatever else it holds; wildcards give a report a file."},
    {.name = "warm-up",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(options, warm_up, INT),
     .def = "0",
     .min = 0,
     .max = 1e12,
     .unit = "lines",
     .help = "How many of an engine's first lines are left out."},
    {0},
};

const mill_stage ld_balancedness_stage = {
    MILL_STAGE_HEAD,
    .name = "balancedness.read",
    .summary = "Reads balancedness from logs of vLLM and SGLang",
    .help =
        "The lines \"EPLB step: …\" of vLLM and \"[Expert Balancedness] …\" of SGLang, as figures "
        "and a series. Their definitions differ: vLLM's is the sum over layers of the mean load "
        "over the sum of the largest, SGLang's the mean over layers of mean / largest.",
    .outputs = outputs,
    .options = option_list,
    .options_size = sizeof(options),
    .run = run_balancedness,
};
