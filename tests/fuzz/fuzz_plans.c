/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes plan.read: two bytes choose options and files, the rest is the plan; of .npy the three
 * arrays, each with its length before it. What is read is written in every format, and what is
 * written is read back. */
#include "bench_host.h"
#include "fuzz.h"
#include "plans.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/expert_plan.h>
#include <tracemill/kit/npy.h>

#define MAX_CELLS (1u << 20) /* of a plan that is written again */

static const mill_stage *const stages[] = {&pl_read_stage, &pl_write_stage, NULL};
static const mill_module module = {MILL_MODULE_HEAD, .id = "plans", .stages = stages};

static const char *const formats[] = {PL_FORMAT_NAMES};

static char *folder;

static void clear_folder(void) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_dir_close(dir);
}

static void remove_folder(void) {
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
}

static char *file_in_folder(const char *name, const void *bytes, size_t length) {
    if (!folder) {
        folder = g_dir_make_tmp("fuzz-plans-XXXXXX", NULL);
        atexit(remove_folder);
    }
    char *path = g_build_filename(folder, name, NULL);
    g_unlink(path); /* or of a longer one the end would stay */
    g_assert_true(g_file_set_contents_full(path, bytes, (gssize)length, G_FILE_SET_CONTENTS_NONE,
                                           0600, NULL));
    return path;
}

static void set(bench *b, const char *option, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void set(bench *b, const char *option, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *value = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *setting = g_strconcat(option, "=", value, NULL);
    bench_option(b, setting);
}

static void assert_same(const mill_expert_plan *a, const mill_expert_plan *b) {
    g_assert_cmpuint(a->experts, ==, b->experts);
    g_assert_cmpmem(a->expert, (size_t)a->layers * a->slots * sizeof *a->expert, b->expert,
                    (size_t)b->layers * b->slots * sizeof *b->expert);
    g_assert_cmpmem(a->first, (a->gpus + 1) * sizeof *a->first, b->first,
                    (b->gpus + 1) * sizeof *b->first);
}

/* Our own JSON holds all of it. */
static void read_back(const mill_expert_plan *plan, const GString *bytes) {
    g_autofree char *path = file_in_folder("again.json", bytes->str, bytes->len);
    bench *b = bench_create(&module, "plan.read");
    set(b, "path", "%s", path);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_expert_plan *again = bench_output(b, "plan", 0);
    assert_same(plan, again);
    g_assert_cmpmem(plan->rank, (size_t)plan->layers * plan->slots * sizeof *plan->rank,
                    again->rank, (size_t)again->layers * again->slots * sizeof *again->rank);
    g_assert_cmpuint(plan->nodes, ==, again->nodes);
    bench_destroy(b);
}

static void write_all(const mill_expert_plan *plan) {
    for (unsigned f = 0; f < G_N_ELEMENTS(formats); f++) {
        const char *path = f == PL_NPY ? "x.phy2log.npy" : "x";
        bench *b = bench_create(&module, "plan.write");
        set(b, "path", "%s", path);
        set(b, "format", "%s", formats[f]);
        bench_input(b, "plan", MILL_TYPE_EXPERT_PLAN, plan, "plan", "");
        mill_status status = bench_run(b);
        g_assert_true(status == MILL_OK || (status == MILL_E_DATA && f != PL_JSON));
        if (f == PL_JSON)
            read_back(plan, bench_written(b, path));
        bench_destroy(b);
    }
}

/* The next of the arrays in the input: its length in two bytes, then itself. The first is always
 * there. */
static char *put_part(const char *name, const uint8_t **at, size_t *left, bool always) {
    size_t length = 0;
    if (*left < 2 && !always)
        return NULL;
    if (*left >= 2) {
        length = MIN((size_t)(*at)[0] | (size_t)(*at)[1] << 8, *left - 2);
        *at += 2;
        *left -= 2;
    }
    char *path = file_in_folder(name, *at, length);
    *at += length;
    *left -= length;
    return path;
}

static char *put_files(bool npy, const uint8_t *data, size_t size) {
    if (!npy)
        return file_in_folder("plan", data, size);
    char *path = put_part("plan.phy2log.npy", &data, &size, true);
    g_free(put_part("plan.log2phy.npy", &data, &size, false));
    g_free(put_part("plan.logcnt.npy", &data, &size, false));
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4)
        return 0;
    g_autofree char *path = put_files(data[0] & 1, data + 2, size - 2);
    bench *b = bench_create(&module, "plan.read");
    set(b, "path", "%s", path);
    set(b, "gpus", "%d", data[0] >> 1 & 7);
    set(b, "nodes", "%d", data[0] >> 4 & 3);
    set(b, "layers", "%d", data[0] >> 6 & 3);
    set(b, "first-layer", "%d", data[1] & 3);
    set(b, "experts", "%d", data[1] >> 2 & 7);
    mill_status status = bench_run(b);
    g_assert_true(status == MILL_OK || status == MILL_E_DATA || status == MILL_E_CONFIG);
    g_assert_true((status == MILL_OK) == (bench_output_count(b, "plan") == 1));
    const mill_expert_plan *plan = bench_output(b, "plan", 0);
    if (plan && (uint64_t)plan->layers * plan->slots * plan->experts < MAX_CELLS)
        write_all(plan);
    bench_destroy(b);
    clear_folder(); /* or the next input would find these files */
    return 0;
}
