/* SPDX-License-Identifier: Apache-2.0 */
/* The right values of a generated trace: see gen_expect.h. */
#include "gen_expect.h"

#include <inttypes.h>
#include <string.h>

#define KINDS_MAX 16u

typedef struct kind_sum {
    const char *name;
    uint64_t count;
    int64_t sum;
} kind_sum;

/* One end of an activity: at this time, `change` more of the class run. */
typedef struct edge {
    int64_t time;
    gen_class cls;
    int change;
} edge;

typedef struct device_sum {
    uint64_t count[GEN_CLASSES];
    int64_t sum[GEN_CLASSES];
    int64_t first, last;              /* start of the first, end of the last activity */
    int64_t during[1 << GEN_CLASSES]; /* time in which exactly these classes run */
    kind_sum kinds[KINDS_MAX];
    GHashTable *streams; /* set of stream numbers */
    GArray *edges;       /* edge: of the activities not yet settled */
} device_sum;

struct gen_expect {
    unsigned n;
    device_sum *devices;
};

gen_expect *gen_expect_create(unsigned devices) {
    gen_expect *expect = g_new(gen_expect, 1);
    *expect = (gen_expect){devices, g_new0(device_sum, devices)};
    for (unsigned i = 0; i < devices; i++) {
        device_sum *d = &expect->devices[i];
        d->first = INT64_MAX;
        d->last = INT64_MIN;
        d->streams = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        d->edges = g_array_new(FALSE, FALSE, sizeof(edge));
    }
    return expect;
}

void gen_expect_destroy(gen_expect *expect) {
    if (!expect)
        return;
    for (unsigned i = 0; i < expect->n; i++) {
        g_hash_table_unref(expect->devices[i].streams);
        g_array_unref(expect->devices[i].edges);
    }
    g_free(expect->devices);
    g_free(expect);
}

static void add_kind(device_sum *d, const char *kind, int64_t dur) {
    kind_sum *k = d->kinds;
    while (k->name && strcmp(k->name, kind) != 0)
        k++;
    g_assert(k < d->kinds + KINDS_MAX - 1);
    k->name = kind;
    k->count++;
    k->sum += dur;
}

void gen_expect_add(gen_expect *expect, unsigned device, int64_t stream, gen_class cls,
                    const char *kind, int64_t start, int64_t end) {
    device_sum *d = &expect->devices[device];
    edge edges[] = {{start, cls, 1}, {end, cls, -1}};
    d->count[cls]++;
    d->sum[cls] += end - start;
    d->first = MIN(d->first, start);
    d->last = MAX(d->last, end);
    g_hash_table_add(d->streams, g_memdup2(&stream, sizeof stream));
    g_array_append_vals(d->edges, edges, 2);
    if (kind)
        add_kind(d, kind, end - start);
}

static int compare_edges(gconstpointer a, gconstpointer b) {
    int64_t x = ((const edge *)a)->time, y = ((const edge *)b)->time;
    return (x > y) - (x < y);
}

void gen_expect_settle(gen_expect *expect, unsigned device) {
    device_sum *d = &expect->devices[device];
    int running[GEN_CLASSES] = {0};
    g_array_sort(d->edges, compare_edges);
    for (guint i = 0; i < d->edges->len; i++) {
        const edge *e = &g_array_index(d->edges, edge, i);
        unsigned state = 0;
        for (unsigned cls = 0; cls < GEN_CLASSES; cls++)
            state |= (unsigned)(running[cls] > 0) << cls;
        if (i > 0)
            d->during[state] += e->time - e[-1].time;
        running[e->cls] += e->change;
    }
    g_array_set_size(d->edges, 0);
}

/* Time in which all classes of `with` run, and none of `without`. */
static int64_t time_of(const device_sum *d, unsigned with, unsigned without) {
    int64_t sum = 0;
    for (unsigned state = 1; state < 1 << GEN_CLASSES; state++)
        if ((state & with) == with && !(state & without))
            sum += d->during[state];
    return sum;
}

static void append_member(GString *json, const char *key, int64_t value) {
    g_string_append_printf(json, ",\n      \"%s\": %" PRId64, key, value);
}

static void append_classes(GString *json, const device_sum *d) {
    static const char *const names[] = {"comp", "comm", "mem"};
    g_string_append(json, ",\n      \"count\": {");
    for (unsigned i = 0; i < GEN_CLASSES; i++)
        g_string_append_printf(json, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], d->count[i]);
    g_string_append(json, "},\n      \"sum_duration_ns\": {");
    for (unsigned i = 0; i < GEN_CLASSES; i++)
        g_string_append_printf(json, "%s\"%s\": %" PRId64, i ? ", " : "", names[i], d->sum[i]);
    g_string_append(json, "},\n      \"communication_kinds\": {");
    for (const kind_sum *k = d->kinds; k->name; k++)
        g_string_append_printf(
            json, "%s\n        \"%s\": {\"count\": %" PRIu64 ", \"sum_ns\": %" PRId64 "}",
            k == d->kinds ? "" : ",", k->name, k->count, k->sum);
    g_string_append(json, "\n      }");
}

static void append_device(GString *json, const device_sum *d) {
    enum { COMP = 1 << GEN_COMP, COMM = 1 << GEN_COMM, MEM = 1 << GEN_MEM };
    uint64_t activities = d->count[GEN_COMP] + d->count[GEN_COMM] + d->count[GEN_MEM];
    int64_t busy = time_of(d, 0, 0), span = activities ? d->last - d->first : 0;
    int64_t comm = time_of(d, COMM, 0), overlap = time_of(d, COMM | COMP, 0);
    char ratio[G_ASCII_DTOSTR_BUF_SIZE] = "null";
    if (comm)
        g_ascii_formatd(ratio, sizeof ratio, "%.6f", (double)overlap / (double)comm);
    g_string_append_printf(json, "      \"activities\": %" PRIu64, activities);
    append_member(json, "streams", g_hash_table_size(d->streams));
    append_member(json, "span_ns", span);
    append_member(json, "busy_ns", busy);
    append_member(json, "idle_ns", span - busy);
    append_member(json, "computation_ns", time_of(d, COMP, 0));
    append_member(json, "communication_ns", comm);
    append_member(json, "memory_ns", time_of(d, MEM, 0));
    append_member(json, "overlap_ns", overlap);
    append_member(json, "exposed_communication_ns", time_of(d, COMM, COMP));
    g_string_append_printf(json, ",\n      \"overlap_over_communication\": %s", ratio);
    append_classes(json, d);
}

GString *gen_expect_json(const gen_expect *expect, uint64_t events) {
    GString *json = g_string_new(NULL);
    g_string_append_printf(json, "{\n  \"events\": %" PRIu64 ",\n  \"devices\": {", events);
    for (unsigned i = 0; i < expect->n; i++) {
        g_assert(expect->devices[i].edges->len == 0);
        g_string_append_printf(json, "%s\n    \"%u\": {\n", i ? "," : "", i);
        append_device(json, &expect->devices[i]);
        g_string_append(json, "\n    }");
    }
    g_string_append(json, "\n  }\n}\n");
    return json;
}
