/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill run`: checks a pipeline, runs it, and tells how it ended. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "cli/pipeline.h"
#include "cli/show.h"
#include "config/units.h"
#include "config/visible.h"
#include "engine/engine.h"

#define MAX_JOBS 1024

typedef struct run_options {
    int jobs;
    char *timeout;
    gboolean dry_run, timings, quiet, verbose;
} run_options;

/* False: a wrong value, told. */
static bool to_engine_options(const run_options *o, const pipeline *p, engine_options *ret) {
    *ret = (engine_options){
        .jobs = (unsigned)o->jobs,
        .log_level = o->quiet     ? MILL_ERROR
                     : o->verbose ? MILL_DEBUG
                                  : MILL_INFO,
        .colour = p->coloured,
        .capture = p->common.json,
    };
    if (o->jobs < 1 || o->jobs > MAX_JOBS) {
        fprintf(stderr, "tracemill run: --jobs %d is no number of threads: 1 to %d\n", o->jobs,
                MAX_JOBS);
        return false;
    }
    if (o->timeout != NULL &&
        units_parse(UNITS_DURATION, o->timeout, &ret->timeout_ns) != UNITS_OK) {
        g_autofree char *quoted = problems_quote(o->timeout);
        fprintf(stderr, "tracemill run: --timeout %s is no duration: write 90s, 5min or the like\n",
                quoted);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- how it ended */

static void tell_failure(const failure *f, bool coloured, bool places) {
    bool gate = f->status == MILL_GATE;
    g_autofree char *why = causes_text(&f->causes, places), *text = visible(why);
    fprintf(stderr, "tracemill: %s%s%s: ", coloured ? "\033[1;31m" : "", gate ? "gate" : "error",
            coloured ? "\033[0m" : "");
    if (f->stage != NULL)
        fprintf(stderr, "[%s] ", f->stage->name);
    if (*f->key != '\0') {
        g_autofree char *key = problems_quote(f->key);
        fprintf(stderr, "item %s: ", key);
    }
    fprintf(stderr, "%s\n", *text != '\0' ? text : gate ? "not met" : "failed");
}

static void tell_outcome(const outcome *o, const pipeline *p, bool verbose) {
    for (guint i = 0; i < o->failures->len; i++)
        tell_failure(g_ptr_array_index(o->failures, i), p->coloured, verbose);
    unsigned done = 0, failed = 0, skipped = 0;
    for (unsigned i = 0; i < o->n_stages; i++) {
        done += o->stages[i].done;
        failed += o->stages[i].failed;
        skipped += o->stages[i].skipped;
    }
    if (o->exit_code == status_exit_code(MILL_E_CANCELLED))
        fprintf(stderr, "tracemill: stopped by the user\n");
    if (failed + skipped > 0)
        fprintf(stderr, "tracemill: %u run%s of stages ended well, %u failed, %u skipped\n", done,
                done == 1 ? "" : "s", failed, skipped);
}

/* ---------------------------------------------------------------- timings */

static char *milliseconds(int64_t ns) {
    return g_strdup_printf("%" G_GINT64_FORMAT ".%03" G_GINT64_FORMAT, ns / 1000000,
                           ns / 1000 % 1000);
}

static uint64_t peak_rss_bytes(int whose) {
    struct rusage usage;
    return getrusage(whose, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* Does any stage live in a process of its own? */
static bool has_isolated(const outcome *o) {
    for (unsigned i = 0; i < o->n_stages; i++)
        if (o->stages[i].stage->isolate)
            return true;
    return false;
}

static char *mebibytes(uint64_t bytes) {
    uint64_t tenths = (bytes * 10 + (1 << 19)) >> 20;
    return g_strdup_printf("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT, tenths / 10, tenths % 10);
}

static void tell_timings(const outcome *o) {
    fprintf(stderr, "%-20s %7s %7s %12s %12s %12s\n", "stage", "runs", "failed", "sum ms",
            "longest ms", "memory MiB");
    for (unsigned i = 0; i < o->n_stages; i++) {
        const stage_outcome *s = &o->stages[i];
        g_autofree char *sum = milliseconds(s->busy_ns), *longest = milliseconds(s->longest_ns);
        g_autofree char *memory = mebibytes(s->peak_bytes);
        fprintf(stderr, "%-20s %7u %7u %12s %12s %12s\n", s->stage->name, s->done, s->failed, sum,
                longest, memory);
    }
    g_autofree char *wall = milliseconds(o->wall_ns), *rss = mebibytes(peak_rss_bytes(RUSAGE_SELF));
    g_autofree char *largest = mebibytes(peak_rss_bytes(RUSAGE_CHILDREN));
    fprintf(stderr, "in all: %s ms of wall time, %s MiB of memory at most", wall, rss);
    if (has_isolated(o))
        fprintf(stderr, " in the program, %s MiB in the largest process of a stage", largest);
    fprintf(stderr,
            "\nmemory of a stage: the most that one run had of the host, values and scratch\n");
}

static cJSON *stage_json(const stage_outcome *s) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "stage", s->stage->name);
    cJSON_AddNumberToObject(json, "done", s->done);
    cJSON_AddNumberToObject(json, "failed", s->failed);
    cJSON_AddNumberToObject(json, "skipped", s->skipped);
    cJSON_AddNumberToObject(json, "busy_ns", (double)s->busy_ns);
    cJSON_AddNumberToObject(json, "longest_ns", (double)s->longest_ns);
    cJSON_AddNumberToObject(json, "peak_bytes", (double)s->peak_bytes);
    return json;
}

static cJSON *failure_json(const failure *f) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(
        json, "stage", f->stage != NULL ? cJSON_CreateString(f->stage->name) : cJSON_CreateNull());
    cJSON_AddStringToObject(json, "item", f->key);
    cJSON_AddStringToObject(json, "status", status_name(f->status));
    cJSON_AddItemToObject(json, "causes", causes_json(&f->causes));
    return json;
}

static int print_json(pipeline *p, const outcome *o) {
    cJSON *json = pipeline_json(p, "tracemill.run/1", o->exit_code);
    cJSON_AddNumberToObject(json, "wall_ns", (double)o->wall_ns);
    cJSON_AddNumberToObject(json, "peak_rss_bytes", (double)peak_rss_bytes(RUSAGE_SELF));
    uint64_t largest = has_isolated(o) ? peak_rss_bytes(RUSAGE_CHILDREN) : 0;
    cJSON_AddNumberToObject(json, "peak_stage_rss_bytes", (double)largest);
    cJSON *stages = cJSON_AddArrayToObject(json, "stages");
    for (unsigned i = 0; i < o->n_stages; i++)
        cJSON_AddItemToArray(stages, stage_json(&o->stages[i]));
    cJSON *failures = cJSON_AddArrayToObject(json, "failures");
    for (guint i = 0; i < o->failures->len; i++)
        cJSON_AddItemToArray(failures, failure_json(g_ptr_array_index(o->failures, i)));
    cJSON *output = cJSON_AddArrayToObject(json, "output");
    for (guint i = 0; i < o->printed->len; i++) {
        const printed *chunk = g_ptr_array_index(o->printed, i);
        cJSON *text = cJSON_CreateObject();
        cJSON_AddStringToObject(text, "stage", chunk->stage->name);
        cJSON_AddStringToObject(text, "item", chunk->key);
        cJSON_AddStringToObject(text, "text", chunk->text);
        cJSON_AddItemToArray(output, text);
    }
    return command_print_json(json);
}

/* ---------------------------------------------------------------- the command */

static int print_plan(pipeline *p) {
    if (!p->common.json)
        return command_print_text(show_steps(p->plan));
    cJSON *json = pipeline_json(p, "tracemill.plan/1", 0);
    cJSON_AddItemToObject(json, "stages", show_steps_json(p->plan));
    return command_print_json(json);
}

static int execute(pipeline *p, const run_options *options) {
    engine_options engine;
    if (!to_engine_options(options, p, &engine))
        return COMMAND_USAGE;
    if (options->dry_run)
        return print_plan(p);
    outcome *o = engine_run(p->plan, &engine);
    tell_outcome(o, p, options->verbose);
    if (options->timings)
        tell_timings(o);
    int exit_code = o->exit_code;
    if (p->common.json) {
        int written = print_json(p, o);
        exit_code = exit_code != 0 ? exit_code : written;
    }
    outcome_destroy(o);
    return exit_code;
}

/* "-j8" as "--jobs=8": GLib takes the value of a short option only as the next word. */
static char **spell_jobs(int argc, char **argv, GPtrArray *owned) {
    char **words = g_new0(char *, (gsize)argc + 1);
    for (int i = 0; i < argc; i++) {
        words[i] = argv[i];
        if (!g_str_has_prefix(argv[i], "-j") || !g_ascii_isdigit(argv[i][2]))
            continue;
        words[i] = g_strconcat("--jobs=", argv[i] + 2, NULL);
        g_ptr_array_add(owned, words[i]);
    }
    g_ptr_array_add(owned, words);
    return words;
}

int run_main(int argc, char **argv) {
    run_options options = {.jobs = (int)MIN(g_get_num_processors(), MAX_JOBS)};
    g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
    const GOptionEntry more[] = {
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &options.jobs,
         "Threads, 1 to 1024 (default: one per processor)", "N"},
        {"timeout", 0, 0, G_OPTION_ARG_FILENAME, &options.timeout,
         "Time limit of the run, such as 5min; 0s: none", "TIME"},
        {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &options.dry_run,
         "Check, print the plan, and run nothing", NULL},
        {"timings", 0, 0, G_OPTION_ARG_NONE, &options.timings,
         "Print time and memory of each stage to stderr", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "Only errors on stderr", NULL},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &options.verbose,
         "More on stderr; where in the source causes are", NULL},
        {0}};
    pipeline p;
    int exit_code;
    if (pipeline_open(&p, more, "Runs a pipeline over the files that it or the command line names.",
                      argc, spell_jobs(argc, argv, owned), &exit_code)) {
        if (p.plan == NULL && p.common.json)
            command_print_json(pipeline_json(&p, "tracemill.run/1", exit_code));
        else if (!options.quiet || p.plan == NULL)
            pipeline_tell(&p);
        if (p.plan != NULL)
            exit_code = execute(&p, &options);
    }
    pipeline_finish(&p);
    g_free(options.timeout);
    return exit_code;
}
