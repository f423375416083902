/* SPDX-License-Identifier: Apache-2.0 */
/* The time by kernel, and by kind of work. */
#include "kernels.h"

#include <stdio.h>
#include <string.h>

#define SHORT_MAX 100 /* bytes: what is longer is cut */

static const char *const class_names[KIT_CLASSES] = {"computation", "communication", "memory",
                                                     "other"};

/* ---------------------------------------------------------------- short names */

/* What is seen of a name from its begin. */
typedef struct reading {
    const char *name, *at;
    size_t angles, rounds; /* how many brackets are open */
} reading;

/* "<" and ">" that are no brackets: of operators, of ->, and within round brackets, where they
 * compare. */
static bool is_angle(const reading *r) {
    const char *at = r->at;
    if (r->rounds > 0 || (*at != '<' && *at != '>') ||
        (*at == '>' && at > r->name && at[-1] == '-'))
        return false;
    while (at > r->name && strchr("<>=", at[-1]))
        at--;
    return at - r->name < 8 || strncmp(at - 8, "operator", 8) != 0;
}

/* Whether the parameters begin here, outside of template arguments. */
static bool is_parameters(const reading *r) {
    return *r->at == '(' && r->angles == 0 && r->rounds == 0 && r->at > r->name &&
           r->at[-1] != ' ' && strncmp(r->at, "(anonymous namespace)", 21) != 0 &&
           strncmp(r->at, "()(", 3) != 0; /* operator()( */
}

static void read_on(reading *r) {
    bool angle = is_angle(r);
    r->angles += angle && *r->at == '<';
    r->angles -= angle && *r->at == '>' && r->angles > 0;
    r->rounds += *r->at == '(';
    r->rounds -= *r->at == ')' && r->rounds > 0;
    r->at++;
}

/* Where the parameters begin, else the end; and where what comes before begins, without the type of
 * the result. */
static const char *find_parameters(const char *name, const char **ret_begin) {
    reading r = {.name = name, .at = name};
    const char *begin = name;
    for (; *r.at != '\0' && !is_parameters(&r); read_on(&r))
        if (*r.at == ' ' && r.angles == 0 && r.rounds == 0)
            begin = r.at + 1;
    *ret_begin = *r.at == '\0' ? name : begin;
    return r.at;
}

const char *kernels_short_name(mill_run *run, const char *name) {
    reading r = {0};
    const char *end = find_parameters(name, &r.name);
    char *text = mill_scratch(run, (size_t)(end - r.name) + 2 * sizeof "…" + SHORT_MAX);
    size_t n = 0;
    for (r.at = r.name; r.at < end && n < SHORT_MAX;) {
        size_t before = r.angles;
        char c = *r.at;
        read_on(&r);
        if (before < 2)
            text[n++] = c;
        if (before == 1 && r.angles == 2)
            n = (size_t)(stpcpy(text + n, "…") - text);
        if (before == 2 && r.angles == 1)
            text[n++] = c;
    }
    if (r.at < end) {
        for (; n > 0 && ((unsigned char)*r.at & 0xc0) == 0x80; r.at--)
            n--; /* not within a character */
        stpcpy(text + n, "…");
    }
    return text;
}

/* ---------------------------------------------------------------- by name */

static uint32_t name_of(const kernels_analysis *analysis, const kit_activity *a) {
    return mill_u32(analysis->all.trace, &analysis->all.trace->gpu.name, a->row);
}

static const char *name_text(const kernels_analysis *analysis, uint32_t name) {
    return mill_name(analysis->all.trace, name);
}

static void tell_names_of(const kernels_analysis *analysis, kit_report *r, kit_table *t,
                          const kit_device *device, const kernels_groups *names) {
    int64_t all = kernels_sum(device);
    kit_figure_int(r, MILL_KIND_COUNT, "names", "distinct names", device->scope,
                   "Of kernels, copies and sets.", (int64_t)names->n);
    for (size_t i = 0; i < names->n && i < (size_t)analysis->options->top; i++) {
        const kernels_group *g = &names->v[i];
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_text(t, kernels_short_name(analysis->run, g->text));
        kit_cell_ratio(t, g->stats.sum, all);
        kit_cell_stats(t, &g->stats);
        kit_cell_text(t, mill_name_kind(analysis->all.trace, g->key));
        kit_cell_text(t, g->text);
    }
}

static void tell_summary(const kernels_analysis *analysis, kit_report *r, const kit_device *device,
                         const kernels_groups *names) {
    char share[KIT_NUMBER_MAX];
    if (names->n == 0)
        return;
    kit_report_summary(r, "%s takes %s of the time of all activities%s%s, more than any other.",
                       kernels_short_name(analysis->run, names->v[0].text),
                       kit_format_percent(share, names->v[0].stats.sum, kernels_sum(device)),
                       analysis->all.n_devices > 1 ? " of device " : "",
                       analysis->all.n_devices > 1 ? device->number : "");
}

mill_status kernels_tell_names(const kernels_analysis *analysis, kit_report *r) {
    kit_table *t = kit_table_begin(r, "top_kernels", "Kernels with the most time",
                                   "Kernels, copies and sets of one name.");
    kit_table_column(t, MILL_KIND_ID, "device", "dev.", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "kernel", "kernel", NULL,
                     "The name without parameters and inner template arguments.");
    kit_table_column(t, MILL_KIND_RATIO, "share", "share", NULL,
                     "of the Σ durations of all activities of the device");
    kit_table_stats(t);
    kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, "By the rules for names.");
    kit_table_column(t, MILL_KIND_TEXT, "name", "whole name", NULL, NULL);
    mill_status status = MILL_OK;
    for (size_t i = 0; i < analysis->all.n_devices && status == MILL_OK; i++) {
        const kit_device *device = &analysis->all.devices[i];
        kernels_groups names;
        status = kernels_group_by(analysis, device, analysis->all.trace->names.texts.n, name_of,
                                  name_text, &names);
        if (status != MILL_OK)
            return status;
        tell_names_of(analysis, r, t, device, &names);
        if (i == 0)
            tell_summary(analysis, r, device, &names);
    }
    return status;
}

/* ---------------------------------------------------------------- by kind */

/* A class and one of the trace's kinds, or one of the two that are none. */
static uint32_t kinds_of_a_class(const kernels_analysis *analysis) {
    return (uint32_t)analysis->all.trace->kinds.n + 2;
}

static uint32_t kind_of(const kernels_analysis *analysis, const kit_activity *a) {
    uint32_t n = (uint32_t)analysis->all.trace->kinds.n;
    uint32_t kind = a->kind < n ? a->kind : a->kind == KIT_KIND_STREAM ? n + 1 : n;
    return a->cls * kinds_of_a_class(analysis) + kind;
}

static const char *kind_text(const kernels_analysis *analysis, uint32_t key) {
    uint32_t n = (uint32_t)analysis->all.trace->kinds.n, kind = key % kinds_of_a_class(analysis);
    return kit_kind_name(&analysis->all, kind < n    ? (uint16_t)kind
                                         : kind == n ? KIT_KIND_NONE
                                                     : KIT_KIND_STREAM);
}

static void tell_kinds_of(const kernels_analysis *analysis, kit_table *t, const kit_device *device,
                          const kernels_groups *kinds) {
    int64_t classes[KIT_CLASSES] = {0}, all = kernels_sum(device);
    for (size_t i = 0; i < kinds->n; i++) {
        int64_t *sum = &classes[kinds->v[i].key / kinds_of_a_class(analysis)];
        *sum = kit_add(*sum, kinds->v[i].stats.sum);
    }
    for (size_t i = 0; i < kinds->n; i++) {
        const kernels_group *g = &kinds->v[i];
        uint32_t cls = g->key / kinds_of_a_class(analysis);
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_text(t, class_names[cls]);
        kit_cell_text(t, g->text);
        kit_cell_stats(t, &g->stats);
        kit_cell_ratio(t, g->stats.sum, classes[cls]);
        kit_cell_ratio(t, g->stats.sum, all);
    }
}

mill_status kernels_tell_kinds(const kernels_analysis *analysis, kit_report *r) {
    kit_table *t = kit_table_begin(r, "kinds", "Time by kind of work",
                                   "What names, or the collectives that the file tells of, say.");
    kit_table_column(t, MILL_KIND_ID, "device", "dev.", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "class", "class", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, NULL);
    kit_table_stats(t);
    kit_table_column(t, MILL_KIND_RATIO, "share_of_class", "of class", NULL,
                     "of the Σ durations of its class on the device");
    kit_table_column(t, MILL_KIND_RATIO, "share", "share", NULL,
                     "of the Σ durations of all activities of the device");
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const kit_device *device = &analysis->all.devices[i];
        kernels_groups kinds;
        mill_status status =
            kernels_group_by(analysis, device, KIT_CLASSES * (size_t)kinds_of_a_class(analysis),
                             kind_of, kind_text, &kinds);
        if (status != MILL_OK)
            return status;
        tell_kinds_of(analysis, t, device, &kinds);
    }
    return MILL_OK;
}
