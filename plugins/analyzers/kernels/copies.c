/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets of memory: how much they move, how fast, and how much of it is exposed. */
#include "kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define US 1000

/* Copies of one name: it tells the direction and whether the memory is pageable. */
typedef struct copies {
    const char *name;
    int64_t n, time, zero; /* zero: how many have no length */
    int64_t bytes;         /* MILL_UNKNOWN: not known of all */
    int64_t exposed;
} copies;

static int compare_copies(const void *a, const void *b) {
    const copies *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool is_copy(const kit_activity *a) {
    return a->cat != MILL_GPU_KERNEL || a->cls == KIT_MEM;
}

static void add_copy(const kernels_analysis *analysis, const kit_activity *a,
                     const kit_cover *computation, copies *of) {
    const mill_trace *trace = analysis->all.trace;
    int64_t bytes = mill_i64(trace, &trace->gpu.bytes, a->row), dur = a->end - a->start;
    of->n++;
    of->zero += dur == 0;
    of->time = kit_add(of->time, dur);
    of->bytes = kit_add(of->bytes, bytes);
    of->exposed += dur - kit_covered(computation, (kit_interval){a->start, a->end});
}

static void tell_copies_of(const kernels_analysis *analysis, kit_table *t,
                           const kit_device *device) {
    const mill_trace *trace = analysis->all.trace;
    uint64_t n_names = trace->names.texts.n;
    copies *list = mill_scratch(analysis->run, n_names * sizeof *list);
    kit_cover covers[KIT_CLASSES];
    kit_covers_of(analysis->run, device, covers);
    for (size_t i = 0; i < device->n; i++)
        if (is_copy(&device->v[i]))
            add_copy(analysis, &device->v[i], &covers[KIT_COMP],
                     &list[mill_u32(trace, &trace->gpu.name, device->v[i].row)]);
    size_t n = 0;
    for (uint32_t i = 0; i < n_names; i++) {
        copies of = list[i];
        of.name = mill_name(trace, i);
        if (of.n > 0)
            list[n++] = of;
    }
    qsort(list, n, sizeof *list, compare_copies);
    for (size_t i = 0; i < n; i++) {
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_text(t, list[i].name);
        kit_cell_int(t, list[i].n);
        kit_cell_int(t, list[i].bytes);
        kit_cell_int(t, list[i].time);
        kit_cell_real(t, list[i].bytes == MILL_UNKNOWN || list[i].time <= 0
                             ? NAN
                             : (double)list[i].bytes / (double)list[i].time);
        kit_cell_int(t, list[i].zero);
        kit_cell_int(t, list[i].exposed);
    }
}

mill_status kernels_tell_copies(const kernels_analysis *analysis, kit_report *r) {
    bool any = false, floored = true;
    for (size_t d = 0; d < analysis->all.n_devices; d++)
        for (size_t i = 0; i < analysis->all.devices[d].n; i++) {
            const kit_activity *a = &analysis->all.devices[d].v[i];
            any |= is_copy(a);
            floored &= !is_copy(a) || (a->end - a->start) % US == 0;
        }
    if (!any)
        return MILL_OK;
    kit_table *t = kit_table_begin(r, "copies", "Copies and sets of memory",
                                   "By direction, as their names tell it.");
    kit_table_column(t, MILL_KIND_ID, "device", "dev.", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "name", "direction", NULL, NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    kit_table_column(t, MILL_KIND_BYTES, "bytes", "bytes", NULL,
                     "Unknown if the file does not tell them of each.");
    kit_table_column(t, MILL_KIND_NS, "time", "time", NULL, "Σ durations");
    kit_table_column(t, MILL_KIND_REAL, "rate", "rate", "GB/s", "bytes / time, 1 GB = 1e9 bytes");
    kit_table_column(t, MILL_KIND_COUNT, "zero", "no length", NULL,
                     "How many of them last 0 ns in the file.");
    kit_table_column(t, MILL_KIND_NS, "exposed", "exposed", NULL, "Σ |a ∖ C|");
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        tell_copies_of(analysis, t, &analysis->all.devices[i]);
    if (floored)
        kit_note(r, MILL_INFO, "copies_floored",
                 "The file has durations in whole µs, cut down: rates of copies that take few of "
                 "them are too high, and unknown where they take none.");
    return MILL_OK;
}
