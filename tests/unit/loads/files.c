/* SPDX-License-Identifier: Apache-2.0 */
/* Files for the tests of the readers of loads. */
#include "files.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <string.h>

const mill_module *loads_module;
static char *folder;

void files_init(void) {
    loads_module = bench_open("plugins/readers/loads/loads.so");
    folder = g_dir_make_tmp("tracemill-loads-XXXXXX", NULL);
    g_assert_nonnull(folder);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return g_remove(path);
}

void files_finish(void) {
    g_assert_cmpint(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), ==, 0);
    g_clear_pointer(&folder, g_free);
}

char *files_put(const char *name, const void *bytes, size_t length) {
    char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length, NULL));
    return path;
}

char *files_put_text(const char *name, const char *text) {
    return files_put(name, text, strlen(text));
}

static void append_little(GByteArray *to, uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        g_byte_array_append(to, &(guint8){(guint8)(number >> 8 * i)}, 1);
}

char *files_put_npy(const char *name, int version, const char *header, const void *numbers,
                    size_t length) {
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_byte_array_append(file, (const guint8 *)"\x93NUMPY", 6);
    append_little(file, (uint64_t)version, 2);
    append_little(file, strlen(header), version == 1 ? 2 : 4);
    g_byte_array_append(file, (const guint8 *)header, (guint)strlen(header));
    g_byte_array_append(file, numbers, (guint)length);
    return files_put(name, file->data, file->len);
}

char *files_put_safetensors(const char *name, const char *header, const void *numbers,
                            size_t length) {
    g_autoptr(GByteArray) file = g_byte_array_new();
    append_little(file, strlen(header), 8);
    g_byte_array_append(file, (const guint8 *)header, (guint)strlen(header));
    g_byte_array_append(file, numbers, (guint)length);
    return files_put(name, file->data, file->len);
}

/* ---------------------------------------------------------------- runs */

bench *files_read(const char *path, const char *const *settings, mill_status *ret_status) {
    bench *b = bench_create(loads_module, "loads.read");
    g_autofree char *setting = g_strdup_printf("path=%s", path);
    bench_option(b, setting);
    for (; settings && *settings; settings++)
        bench_option(b, *settings);
    *ret_status = bench_run(b);
    return b;
}

bench *files_good(const char *path, const char *const *settings) {
    mill_status status;
    bench *b = files_read(path, settings, &status);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return b;
}

void files_bad(char *path, const char *const *settings, const char *words) {
    mill_status status;
    bench *b = files_read(path, settings, &status);
    g_assert_cmpint(status, ==, MILL_E_DATA);
    if (!strstr(bench_causes(b), words))
        g_error("\"%s\" does not say \"%s\"", bench_causes(b), words);
    g_assert_nonnull(strstr(bench_causes(b), path)); /* which file */
    bench_destroy(b);
    g_free(path);
}

const mill_expert_load *files_loads(const bench *b) {
    return bench_output(b, "loads", 0);
}

const mill_report *files_report(const bench *b) {
    return bench_output(b, "report", 0);
}

double files_real(const bench *b, const char *id) {
    const mill_report *r = files_report(b);
    for (uint64_t i = 0; i < r->n_figures; i++)
        if (strcmp(r->figures[i]->id, id) == 0) {
            g_assert_cmpint(r->figures[i]->kind, ==, MILL_KIND_REAL);
            return r->figures[i]->value.d;
        }
    g_error("there is no figure %s", id);
}

void files_same(const mill_expert_load *loads, uint64_t steps, uint32_t layers, uint32_t experts,
                const double *right) {
    g_assert_cmpuint(loads->steps, ==, steps);
    g_assert_cmpuint(loads->layers, ==, layers);
    g_assert_cmpuint(loads->experts, ==, experts);
    for (size_t i = 0; i < steps * layers * experts; i++)
        g_assert_cmpfloat(loads->load[i], ==, right[i]);
}

mill_expert_load *files_value(bench *b, uint64_t steps, uint32_t layers, uint32_t experts,
                              const double *load) {
    mill_expert_load *v = mill_value_alloc(bench_services(b), NULL, sizeof *v);
    *v = (mill_expert_load){.size = sizeof *v,
                            .subject = "test",
                            .unit = "tokens",
                            .layers = layers,
                            .experts = experts,
                            .steps = steps,
                            .load = load};
    return v;
}
