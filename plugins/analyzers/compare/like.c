/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two traces are of the same work on the same machine: else a change says nothing. */
#include "compare.h"

#include <stdio.h>
#include <string.h>

bool compare_lists(const mill_list *list, const char *text) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(((const char *const *)list->v)[i], text) == 0)
            return true;
    return false;
}

static void add(compare_analysis *a, const char *what, const char *base, const char *now) {
    a->differences[a->n_differences++] = (compare_difference){what, base, now};
}

static const char *number(compare_analysis *a, int64_t value) {
    char *text = mill_scratch(a->run, KIT_NUMBER_MAX);
    kit_format_int(text, value, 0);
    return text;
}

/* What is not known on one side is no difference. */
static void differ_by_number(compare_analysis *a, const char *what, int64_t base, int64_t now) {
    if (base != now && base != MILL_UNKNOWN && now != MILL_UNKNOWN)
        add(a, what, number(a, base), number(a, now));
}

static void differ_by_text(compare_analysis *a, const char *what, const char *base,
                           const char *now) {
    if (base && now && strcmp(base, now) != 0)
        add(a, what, base, now);
}

static void differ_by_devices(compare_analysis *a) {
    const kit_activities *base = &a->side[COMPARE_BASE].all, *now = &a->side[COMPARE_NEW].all;
    differ_by_number(a, "devices", (int64_t)base->n_devices, (int64_t)now->n_devices);
    for (size_t i = 0; i < base->n_devices && i < now->n_devices; i++) {
        differ_by_text(a, "device", base->devices[i].name, now->devices[i].name);
        differ_by_number(a, "SMs", base->devices[i].sms, now->devices[i].sms);
    }
}

/* Marks the stages, by their number in the analysis, in which the side has activities. */
static bool *stages_used(compare_analysis *a, const compare_side *s) {
    bool *used = mill_scratch(a->run, (kit_intern_count(a->stages) + 1) * sizeof *used);
    for (size_t i = 0; i < s->n_items; i++)
        if (s->items[i].stage != MILL_NONE)
            used[s->items[i].stage] = true;
    return used;
}

static void differ_by_stages(compare_analysis *a) {
    const bool *base = stages_used(a, &a->side[COMPARE_BASE]);
    const bool *now = stages_used(a, &a->side[COMPARE_NEW]);
    for (uint32_t i = 0; i < kit_intern_count(a->stages); i++)
        if (base[i] != now[i])
            add(a, "stage", base[i] ? kit_intern_text(a->stages, i, NULL) : "none",
                now[i] ? kit_intern_text(a->stages, i, NULL) : "none");
}

void compare_find_differences(compare_analysis *a) {
    const compare_side *base = &a->side[COMPARE_BASE], *now = &a->side[COMPARE_NEW];
    size_t most = 4 + 2 * base->all.n_devices + kit_intern_count(a->stages);
    a->differences = mill_scratch(a->run, most * sizeof *a->differences);
    differ_by_devices(a);
    differ_by_number(a, "ranks in the job", base->trace->world_size, now->trace->world_size);
    differ_by_number(a, "rank", base->trace->rank, now->trace->rank);
    if (base->places && now->places)
        differ_by_number(a, "whole steps", base->n_steps, now->n_steps);
    differ_by_stages(a);
}

mill_status compare_refuse(const compare_analysis *a) {
    char list[768] = "";
    size_t length = 0;
    if (a->n_differences == 0 || a->options->force)
        return MILL_OK;
    for (size_t i = 0; i < a->n_differences && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s: %s, now %s",
                                   i > 0 ? "; " : "", a->differences[i].what,
                                   a->differences[i].base, a->differences[i].now);
    return mill_fail(a->run, MILL_E_DATA,
                     "the traces are not alike (%s): give two of the same work, or set force = yes",
                     list);
}
