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

#define KEYS_TOLD 5 /* of items that failed alike; --json tells all */

static void tell_failure(const failure *f, bool coloured, const char *why) {
    static const char *const names[] = {"error", "gate", "warning"};
    static const char *const colours[] = {"\033[1;31m", "\033[1;31m", "\033[1;33m"};
    int kind = f->tolerated ? 2 : f->status == MILL_GATE ? 1 : 0;
    g_autofree char *text = visible(why);
    fprintf(stderr, "tracemill: %s%s%s: ", coloured ? colours[kind] : "", names[kind],
            coloured ? "\033[0m" : "");
    if (f->stage != NULL)
        fprintf(stderr, "[%s] ", f->stage->name);
    if (*f->key != '\0') {
        g_autofree char *key = problems_quote(f->key);
        fprintf(stderr, "item %s: ", key);
    }
    fprintf(stderr, "%s\n", *text != '\0' ? text : kind == 1 ? "not met" : "failed");
}

/* Those that say the same of other items. */
static void tell_alike(const failure *const *alike, guint n) {
    g_autoptr(GString) keys = g_string_new(NULL);
    guint told = 0;
    for (guint i = 1; i < n; i++) {
        if (strcmp(alike[i]->key, alike[i - 1]->key) == 0)
            continue; /* two values of one item */
        g_autofree char *key = problems_quote(alike[i]->key);
        if (told++ < KEYS_TOLD)
            g_string_append_printf(keys, "%s%s", keys->len > 0 ? ", " : "", key);
    }
    if (told > KEYS_TOLD)
        g_string_append_printf(keys, " and %u more", told - KEYS_TOLD);
    if (told > 0)
        fprintf(stderr, "  the same: %s\n", keys->str);
}

/* A cause that many items of a stage share is told once. */
static void tell_failures(const GPtrArray *failures, bool coloured, bool places, bool quiet) {
    const failure *const *all = (const failure *const *)failures->pdata;
    for (guint i = 0, next; i < failures->len; i = next) {
        g_autofree char *why = causes_text(&all[i]->causes, places);
        for (next = i + 1; next < failures->len && all[next]->stage == all[i]->stage; next++) {
            g_autofree char *other = causes_text(&all[next]->causes, places);
            if (all[next]->status != all[i]->status || strcmp(why, other) != 0)
                break;
        }
        if (quiet && all[i]->tolerated)
            continue;
        tell_failure(all[i], coloured, why);
        tell_alike(all + i, next - i);
    }
}

static void tell_outcome(const outcome *o, const pipeline *p, const run_options *options) {
    tell_failures(o->failures, p->coloured, options->verbose, options->quiet);
    unsigned done = 0, failed = 0, skipped = 0;
    for (unsigned i = 0; i < o->n_stages; i++) {
        done += o->stages[i].done;
        failed += o->stages[i].failed;
        skipped += o->stages[i].skipped;
    }
    if (o->exit_code == status_exit_code(MILL_E_CANCELLED))
        fprintf(stderr, "tracemill: stopped by the user\n");
    if (failed + skipped > 0 && !(options->quiet && o->exit_code == 0))
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
    cJSON_AddBoolToObject(json, "tolerated", f->tolerated);
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
    tell_outcome(o, p, options);
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
