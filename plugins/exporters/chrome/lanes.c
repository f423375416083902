/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a report as threads of one process. */
#include "added.h"

#include "points.h"

#include <inttypes.h>

/* Colours that Chrome's viewer has words for: what is bad is red wherever it is told, what is good
 * green; the other classes of a lane take turns. */
static const char *colour_of(const char *cls, uint32_t number) {
    static const struct {
        const char *word, *colour;
    } words[] = {{"comm only", "terrible"}, {"both", "good"}, {"idle", "grey"}};
    static const char *const others[] = {
        "thread_state_running", "rail_response",        "thread_state_iowait",  "rail_load",
        "generic_work",         "detailed_memory_dump", "thread_state_unknown", "light_memory_dump",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (!strcmp(cls, words[i].word))
            return words[i].colour;
    return others[number % G_N_ELEMENTS(others)];
}

static void put_text(out *o, const char *key, const char *text) {
    OUT(o, ",\"");
    out_bytes(o, key, strlen(key));
    OUT(o, "\":");
    out_quoted(o, text, strlen(text));
}

static void put_finding(out *o, const mill_report *r, int64_t finding) {
    if (finding < 0 || (uint64_t)finding >= r->n_findings)
        return;
    const mill_finding *f = r->findings[finding];
    put_text(o, "finding", f->id);
    if (f->evidence)
        put_text(o, "evidence", f->evidence);
    if (f->advice)
        put_text(o, "advice", f->advice);
}

static void put_interval(out *o, const mill_report *r, const mill_lane *lane, uint64_t i,
                         int64_t shift) {
    const char *cls = lane->texts[lane->cls[i]], *text = lane->texts[lane->text[i]];
    const char *colour = colour_of(cls, lane->cls[i]);
    OUT(o, ",\"ts\":");
    out_time(o, shifted(shifted(lane->start[i], lane->base_ns), shift));
    OUT(o, ",\"dur\":");
    out_time(o, lane->end[i] - lane->start[i]);
    put_text(o, "name", text);
    put_text(o, "cname", colour);
    OUT(o, ",\"args\":{\"class\":");
    out_quoted(o, cls, strlen(cls));
    if (lane->finding)
        put_finding(o, r, lane->finding[i]);
    OUT(o, "}}");
}

static char *name_of(const mill_lane *lane) {
    GString *name = g_string_new(lane->label);
    if (lane->rank != MILL_UNKNOWN)
        g_string_append_printf(name, ", rank %" PRId64, lane->rank);
    if (lane->device != MILL_UNKNOWN)
        g_string_append_printf(name, ", device %" PRId64, lane->device);
    if (lane->stream != MILL_UNKNOWN)
        g_string_append_printf(name, ", stream %" PRId64, lane->stream);
    return g_string_free(name, FALSE);
}

void lanes_events(const mill_report *r, out *o, int64_t pid, const char *item, int64_t shift) {
    if (r->n_lanes == 0)
        return;
    g_autofree char *process = g_strdup_printf("%s%s%s", r->title, *item ? ", " : "", item);
    added_name(o, pid, -1, process);
    for (uint64_t n = 0; n < r->n_lanes; n++) {
        const mill_lane *lane = r->lanes[n];
        g_autofree char *thread = name_of(lane);
        added_name(o, pid, (int64_t)n, thread);
        for (uint64_t i = 0; i < lane->n && !o->status; i++) {
            OUT(o, ",\n{\"ph\":\"X\",\"cat\":\"lane\"");
            added_int(o, "pid", pid);
            added_int(o, "tid", (int64_t)n);
            put_interval(o, r, lane, i, shift);
        }
    }
}
