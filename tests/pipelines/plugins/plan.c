/* SPDX-License-Identifier: Apache-2.0 */
/* test.plan: two inputs, an option of every type, and a rule of its own between two of them. */
#include "load.h"

#include <stdio.h>
#include <string.h>

typedef struct plan_options {
    bool strict;
    int64_t top, topk, low, high, micro_batch, pause, room;
    double ratio;
    int mode;
    const char *label, *log, *only;
    mill_list ranks, names, skip, extra;
} plan_options;

#define OPTION(NAME, FIELD, KIND)                                                                  \
    .name = NAME, .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(plan_options, FIELD, KIND)

static const char *const modes[] = {"mean", "max", NULL};

static const mill_option options[] = {
    {OPTION("strict", strict, BOOL), .def = "no", .help = "a rule"},
    {OPTION("top", top, INT), .def = "10", .min = 1, .max = 1000, .help = "how many"},
    {OPTION("topk", topk, INT), .flags = MILL_OPT_DEPRECATED, .help = "use \"top\""},
    {OPTION("low", low, INT), .def = "0", .help = "must not be over high"},
    {OPTION("high", high, INT), .def = "100", .help = "must not be under low"},
    {OPTION("ratio", ratio, NUM), .def = "0.5", .min = 0, .max = 1, .help = "a share"},
    {OPTION("mode", mode, ENUM), .def = "mean", .choices = modes, .help = "how to sum up"},
    {OPTION("micro-batch", micro_batch, DURATION), .min = 1e3, .max = 1e9, .help = "a time"},
    {OPTION("pause", pause, DURATION), .help = "a time without bounds"},
    {OPTION("room", room, BYTES), .def = "64KiB", .min = 1, .max = 1 << 20, .help = "a size"},
    {OPTION("label", label, STR), .flags = MILL_OPT_ITEM, .def = "${item}", .help = "a text"},
    {OPTION("log", log, PATH), .help = "a file"},
    {OPTION("only", only, REGEX), .def = ".*", .help = "an expression"},
    {OPTION("ranks", ranks, LIST), .elem = MILL_OPT_INT, .min = 0, .max = 7, .help = "numbers"},
    {OPTION("names", names, LIST), .elem = MILL_OPT_STR, .help = "texts"},
    {OPTION("skip", skip, LIST), .elem = MILL_OPT_REGEX, .help = "expressions"},
    {OPTION("extra", extra, LIST), .elem = MILL_OPT_PATH, .help = "files"},
    {0},
};

static mill_status check(mill_run *run, const void *opts) {
    const plan_options *o = opts;
    if (o->low > o->high)
        return mill_fail(run, MILL_E_CONFIG, "low = %lld is over high = %lld: swap them",
                         (long long)o->low, (long long)o->high);
    return MILL_OK;
}

/* Says in the log what it was told, and posts the sum of its inputs. */
static mill_status plan_run(mill_run *run, const void *opts, void *state) {
    const plan_options *o = opts;
    (void)state;
    const load *first = mill_input(run, 0, 0), *prior = mill_input(run, 1, 0);
    mill_log(run, MILL_DEBUG, "label \"%s\", mode %s, top %lld, %zu ranks, %zu names", o->label,
             modes[o->mode], (long long)o->top, o->ranks.n, o->names.n);
    load sum = *first;
    if (prior != NULL) {
        sum.lines += prior->lines;
        sum.total += prior->total;
    }
    return load_post(run, 0, sum);
}

static const mill_port inputs[] = {
    {.name = "load", .type = TYPE_LOAD, .help = "what to plan for"},
    {.name = "prior", .type = TYPE_LOAD, .help = "what was before", .flags = MILL_PORT_OPTIONAL},
    {0},
};

static const mill_port outputs[] = {
    {.name = "plan", .type = TYPE_LOAD, .help = "the sum"},
    {0},
};

const mill_stage plan_class = {
    MILL_STAGE_HEAD,    .name = "test.plan", .summary = "adds what it is given",   .inputs = inputs,
    .outputs = outputs, .options = options,  .options_size = sizeof(plan_options), .check = check,
    .run = plan_run,
};
