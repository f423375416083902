/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules saw, and which of it becomes a finding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "list.h"

/* ---------------------------------------------------------------- text */

MILL_PRINTF(2, 0)
static const char *text_of(mill_run *run, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = mill_scratch(run, length < 0 ? 1 : (size_t)length + 1);
    if (length > 0)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

const char *findings_text(const findings_analysis *analysis, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = text_of(analysis->run, format, args);
    va_end(args);
    return text;
}

const char *findings_activity(const findings_analysis *analysis, const kit_activity *a) {
    const char *name = kit_activity_name(&analysis->all, a);
    const char *stage = kit_stage_name(&analysis->all, a->place);
    int64_t layer = kit_layer_of(&analysis->all, a->place);
    if (!stage)
        return name;
    if (layer == MILL_UNKNOWN)
        return findings_text(analysis, "%s of %s", name, stage);
    return findings_text(analysis, "%s of %s in layer %lld", name, stage, (long long)layer);
}

const char *findings_percent(const findings_analysis *analysis, int64_t part, int64_t whole) {
    char *text = mill_scratch(analysis->run, KIT_NUMBER_MAX);
    return kit_format_percent(text, part, whole);
}

const char *findings_us(const findings_analysis *analysis, int64_t ns) {
    char *text = mill_scratch(analysis->run, KIT_NUMBER_MAX);
    return kit_format_us(text, ns, KIT_GROUP);
}

/* ---------------------------------------------------------------- bounds */

static int64_t bounded(const findings_device *device, int64_t gain, uint32_t other) {
    int64_t most = device->window - kit_time_in(device->states, other);
    return gain == MILL_UNKNOWN || gain > most ? most : gain;
}

int64_t findings_bound_comm(const findings_device *device, int64_t gain) {
    return bounded(device, gain, KIT_IN_COMP);
}

int64_t findings_bound_comp(const findings_device *device, int64_t gain) {
    return bounded(device, gain, KIT_IN_COMM);
}

/* ---------------------------------------------------------------- the list */

static bool is_worth(const findings_analysis *analysis, const findings_device *device,
                     const findings_check *check) {
    return check->informs ||
           (check->gain != MILL_UNKNOWN &&
            (double)check->gain >= analysis->options->min_gain / 100 * (double)device->window);
}

void findings_add(findings_analysis *analysis, const findings_device *device,
                  const findings_check *check) {
    findings_list *list = analysis->list;
    if (list->n == list->room) {
        list->room = list->room ? 2 * list->room : 32;
        findings_entry *v = mill_scratch(analysis->run, list->room * sizeof *v);
        if (list->n > 0)
            memcpy(v, list->v, list->n * sizeof *v);
        list->v = v;
    }
    findings_check kept = *check;
    if (device->window == 0)
        kept.measure = NULL; /* no rule applies where nothing takes time: its shares are unknown */
    bool met = kept.measure && kept.met;
    list->v[list->n] = (findings_entry){
        .check = kept,
        .device = device,
        .order = list->n,
        .raised = met && is_worth(analysis, device, check),
    };
    list->n++;
}

/* Those raised first, by what can be won at most; then in the order of the rules. */
int findings_compare(const void *a, const void *b) {
    const findings_entry *x = a, *y = b;
    if (x->raised != y->raised)
        return x->raised ? -1 : 1;
    if (x->raised && x->check.gain != y->check.gain)
        return x->check.gain > y->check.gain ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}
