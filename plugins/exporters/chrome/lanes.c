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
    added_text(o, text);
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

/* False: what has no times, or ends before it begins, can't be drawn. */
static bool has_length(const mill_lane *lane, uint64_t i, int64_t *ret_length) {
    return lane->start[i] != MILL_UNKNOWN && lane->end[i] != MILL_UNKNOWN &&
           !__builtin_sub_overflow(lane->end[i], lane->start[i], ret_length) && *ret_length >= 0;
}

static void put_interval(out *o, const mill_report *r, const mill_lane *lane, uint64_t i,
                         int64_t length, int64_t shift) {
    const char *cls = lane->texts[lane->cls[i]], *text = lane->texts[lane->text[i]];
    const char *colour = colour_of(cls, lane->cls[i]);
    int64_t base = lane->base_ns == MILL_UNKNOWN ? 0 : lane->base_ns;
    OUT(o, ",\"ts\":");
    out_time(o, shifted(shifted(lane->start[i], base), shift));
    OUT(o, ",\"dur\":");
    out_time(o, length);
    put_text(o, "name", text);
    put_text(o, "cname", colour);
    OUT(o, ",\"args\":{\"class\":");
    added_text(o, cls);
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

/* ---------------------------------------------------------------- intervals that overlap */

/* Slices of a thread have to lie in each other or apart: Perfetto leaves out those that don't. So
 * where a lane's intervals overlap, as kernels do that share a stream, they are put on as many
 * threads as it takes, up to this. */
#define MAX_THREADS 16

/* open: ends of the slices that are open on a thread, the first to end last; int64_t. */
static bool fits(GArray *open, int64_t start, int64_t end) {
    while (open->len && g_array_index(open, int64_t, open->len - 1) <= start)
        g_array_set_size(open, open->len - 1);
    if (open->len && g_array_index(open, int64_t, open->len - 1) < end)
        return false;
    g_array_append_val(open, end);
    return true;
}

/* The thread on which an interval of the lane goes, as a number from 0; a new one gets a name. */
static int64_t place(GPtrArray *threads, int64_t start, int64_t end, out *o, int64_t pid,
                     int64_t first, const char *name) {
    for (guint k = 0; k < threads->len; k++)
        if (fits(threads->pdata[k], start, end))
            return k;
    if (threads->len == MAX_THREADS)
        return MAX_THREADS - 1;
    int64_t k = threads->len;
    g_autofree char *numbered = g_strdup_printf("%s (%" PRId64 ")", name, k + 1);
    added_name(o, pid, first + k, k ? numbered : name);
    g_ptr_array_add(threads, g_array_new(FALSE, FALSE, sizeof(int64_t)));
    fits(threads->pdata[k], start, end);
    return k;
}

static void lane_events(const mill_report *r, uint64_t n, out *o, int64_t pid, int64_t shift) {
    const mill_lane *lane = r->lanes[n];
    g_autoptr(GPtrArray) threads = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_autofree char *name = name_of(lane);
    int64_t first = (int64_t)n * MAX_THREADS;
    if (lane->n == 0)
        added_name(o, pid, first, name);
    for (uint64_t i = 0; i < lane->n && !o->status; i++) {
        int64_t length;
        if (!has_length(lane, i, &length))
            continue;
        int64_t k = place(threads, lane->start[i], lane->end[i], o, pid, first, name);
        OUT(o, ",\n{\"ph\":\"X\",\"cat\":\"lane\"");
        added_int(o, "pid", pid);
        added_int(o, "tid", first + k);
        put_interval(o, r, lane, i, length, shift);
    }
}

void lanes_events(const mill_report *r, out *o, int64_t pid, const char *item, int64_t shift) {
    if (r->n_lanes == 0)
        return;
    g_autofree char *process = g_strdup_printf("%s%s%s", r->title, *item ? ", " : "", item);
    added_name(o, pid, -1, process);
    for (uint64_t n = 0; n < r->n_lanes; n++)
        lane_events(r, n, o, pid, shift);
}
