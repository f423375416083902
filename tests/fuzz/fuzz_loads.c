/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the stages that read loads. The first byte of the input chooses the stage and its options;
 * the rest is the file. Of a folder it is meta_info.json and the ranks' files, each after a line
 * "--". */
#include "bench_host.h"
#include "fuzz.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <tracemill/expert_load.h>
#include <unistd.h>

/* Of the first byte. */
enum { ASSIGNMENTS = 1, LOADS = 2, ZERO = 4, BATCHES = 8, LOG = 16, FOLDER = 32 };

#define LINE "\n--\n"

/* ---------------------------------------------------------------- files */

static char *memory_file(const void *bytes, size_t length) {
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    g_assert_cmpint(ftruncate(fd, 0), ==, 0);
    g_assert_cmpint(pwrite(fd, bytes, length, 0), ==, (ssize_t)length);
    return g_strdup_printf("/proc/self/fd/%d", fd);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return g_remove(path);
}

static char *folder;

static void remove_folder(void) {
    g_assert_cmpint(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), ==, 0);
    g_free(folder);
}

/* Returns the path of meta_info.json. */
static char *folder_file(const char *bytes, size_t length) {
    static const char *const names[] = {"meta_info.json", "rank0.safetensors", "rank1.safetensors"};
    if (!folder) {
        folder = g_dir_make_tmp("fuzz-loads-XXXXXX", NULL);
        atexit(remove_folder);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        const char *end = memmem(bytes, length, LINE, strlen(LINE));
        size_t n = end ? (size_t)(end - bytes) : length;
        g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
        size_t used = end ? n + strlen(LINE) : n;
        bytes += used;
        length -= used;
    }
    return g_build_filename(folder, names[0], NULL);
}

/* ---------------------------------------------------------------- what must hold */

static void check_loads(const mill_expert_load *v) {
    bool whole = true;
    g_assert_cmpuint(v->steps, >, 0);
    g_assert_cmpuint(v->layers, >, 0);
    g_assert_cmpuint(v->experts, >, 0);
    for (uint64_t i = 0; i < v->steps * v->layers * v->experts; i++) {
        g_assert_true(isfinite(v->load[i]) && v->load[i] >= 0);
        whole = whole && v->load[i] == floor(v->load[i]);
    }
    g_assert_cmpuint(v->integral, ==, whole);
    for (uint64_t s = 1; v->step && s < v->steps; s++)
        g_assert_cmpint(v->step[s - 1], <, v->step[s]);
    for (uint32_t l = 1; v->layer && l < v->layers; l++)
        g_assert_cmpint(v->layer[l - 1], <, v->layer[l]);
}

/* Two ranks with the same loads have twice as much. */
static void check_join(const mill_expert_load *v) {
    bench *b = bench_create(&mill_module_v1, "loads.join");
    bench_input(b, "in", MILL_TYPE_EXPERT_LOAD, v, "loads", "0");
    bench_input(b, "in", MILL_TYPE_EXPERT_LOAD, v, "loads", "1");
    mill_status status = bench_run(b);
    g_assert_cmpint(status, ==, MILL_OK);
    const mill_expert_load *sum = bench_output(b, "loads", 0);
    g_assert_cmpuint(sum->steps, ==, v->steps);
    g_assert_cmpuint(sum->layers, ==, v->layers);
    g_assert_cmpuint(sum->experts, ==, v->experts);
    for (uint64_t i = 0; i < v->steps * v->layers * v->experts; i++)
        g_assert_true(sum->load[i] == 2 * v->load[i]);
    bench_destroy(b);
}

static void check_forecast(const mill_expert_load *v) {
    bench *b = bench_create(&mill_module_v1, "loads.forecast");
    bench_option(b, "forecast=max");
    bench_input(b, "loads", MILL_TYPE_EXPERT_LOAD, v, "loads", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_expert_load *next = bench_output(b, "loads", 0);
    size_t cells = (size_t)v->layers * v->experts;
    for (uint64_t i = 0; i < v->steps * cells; i++)
        g_assert_true(next->load[i % cells] >= v->load[i]);
    bench_destroy(b);
}

static void run_stage(bench *b, const char *path) {
    g_autofree char *setting = g_strdup_printf("path=%s", path);
    bench_option(b, setting);
    mill_status status = bench_run(b);
    g_assert_cmpint(status, !=, MILL_E_PLUGIN);
    g_assert_cmpint(status, !=, MILL_E_IO);
    g_assert_true((status == MILL_OK) == (bench_output_count(b, "report") == 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    unsigned how = *data++;
    size--;
    g_autofree char *path =
        how & FOLDER ? folder_file((const char *)data, size) : memory_file(data, size);
    bench *b = bench_create(&mill_module_v1, how & LOG ? "balancedness.read" : "loads.read");
    if (how & LOG) {
        run_stage(b, path);
        bench_destroy(b);
        return 0;
    }
    bench_option(b, how & ASSIGNMENTS ? "content=assignments"
                    : how & LOADS     ? "content=loads"
                                      : "content=auto");
    bench_option(b, how & ZERO ? "invalid=zero" : "invalid=fail");
    bench_option(b, how & BATCHES ? "tokens-per-step=2" : "tokens-per-step=0");
    run_stage(b, path);
    const mill_expert_load *loads = bench_output(b, "loads", 0);
    if (loads) {
        check_loads(loads);
        check_join(loads);
        check_forecast(loads);
    }
    bench_destroy(b);
    return 0;
}
