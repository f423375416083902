/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of the shared options, and rules between them. */
#include "options.h"

#include <inttypes.h>

const char *const ep_policies[] = {"auto",         "reference",  "global",
                                   "hierarchical", "soft-nodes", NULL};
const char *const ep_sorts[] = {"stable", "libstdcxx", NULL};
const char *const ep_searches[] = {"none", "fast", "best", NULL}; /* as ep_effort */
const char *const ep_objectives[] = {"mean", "worst", "step-max", NULL};

/* What eplb.py has no notion of. */
static const char *const not_of_reference[] = {"search",    "distinct", "objective",     "cap",
                                               "max-moves", "relabel",  "keep-slots",    "speeds",
                                               "failed",    "uneven",   "slots-per-gpu", NULL};

static mill_status check_reference(mill_run *run) {
    for (const char *const *name = not_of_reference; *name; name++)
        if (mill_option_given(run, *name))
            return mill_fail(run, MILL_E_CONFIG,
                             "policy = reference is eplb.py's plan as it is: leave out %s, or "
                             "choose another policy",
                             *name);
    return MILL_OK;
}

static mill_status check_per_gpu(mill_run *run, const ep_options *o, const char *name, size_t n) {
    if (n == 0 || o->gpus == 0 || n == (size_t)o->gpus)
        return MILL_OK;
    return mill_fail(run, MILL_E_CONFIG, "%s has %zu values for %" PRId64 " GPUs", name, n,
                     o->gpus);
}

mill_status ep_check_options(mill_run *run, const ep_options *o) {
    int counts = (o->replicas > 0) + mill_option_given(run, "redundant") + (o->slots_per_gpu.n > 0);
    if (counts > 1)
        return mill_fail(run, MILL_E_CONFIG,
                         "replicas, redundant and slots-per-gpu say the same: set one of them");
    if (mill_option_given(run, "max-moves") && o->search == EP_SEARCH_NONE)
        return mill_fail(run, MILL_E_CONFIG,
                         "search = none takes eplb.py's plan, whatever it moves: leave max-moves "
                         "out, or search");
    if (mill_option_given(run, "cap") && o->policy != EP_CHOOSE_SOFT_NODES)
        return mill_fail(run, MILL_E_CONFIG, "cap needs policy = soft-nodes");
    if (o->policy == EP_CHOOSE_REFERENCE && check_reference(run) != MILL_OK)
        return MILL_E_CONFIG;
    if (check_per_gpu(run, o, "slots-per-gpu", o->slots_per_gpu.n) != MILL_OK ||
        check_per_gpu(run, o, "speeds", o->speeds.n) != MILL_OK)
        return MILL_E_CONFIG;
    return MILL_OK;
}
