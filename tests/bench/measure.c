/* SPDX-License-Identifier: Apache-2.0 */
/* Time and memory of the process, and medians. */
#include "measure.h"

#include <glib.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 16

double measure_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A line of /proc/self/status, in bytes. */
static int64_t status_bytes(const char *key) {
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
        g_error("cannot read /proc/self/status");
    const char *line = strstr(text, key);
    return line ? g_ascii_strtoll(line + strlen(key), NULL, 10) * 1024 : 0;
}

int64_t measure_reset_peak(void) {
    malloc_trim(0);
    if (!g_file_set_contents_full("/proc/self/clear_refs", "5", 1, G_FILE_SET_CONTENTS_NONE, 0,
                                  NULL))
        g_error("cannot reset the peak of memory");
    return status_bytes("VmRSS:");
}

int64_t measure_peak(void) {
    return status_bytes("VmHWM:");
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double measure_median(const double *v, int n) {
    double sorted[MOST];
    g_assert(n <= MOST);
    memcpy(sorted, v, (size_t)n * sizeof *v);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    return sorted[n / 2];
}
