/* SPDX-License-Identifier: Apache-2.0 */
/* What the option `overwrite` does: see overwrite.h. */
#include "overwrite.h"
#include "bench_host.h"

#include <glib/gstdio.h>
#include <string.h>

static void run(const char *module, const char *class, const char *path, bool overwrite,
                mill_status want) {
    bench *b = bench_create(bench_open(module), class);
    g_autofree char *setting = g_strconcat("path=", path, NULL);
    bench_option(b, setting);
    if (!overwrite)
        bench_option(b, "overwrite=no");
    g_assert_cmpint(bench_run(b), ==, want);
    g_assert_true((bench_written(b, path) != NULL) == (want == MILL_OK));
    if (want != MILL_OK)
        g_assert_nonnull(strstr(bench_causes(b), "is there already: remove it"));
    bench_destroy(b);
}

void overwrite_check(const char *module, const char *class) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-overwrite-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x", NULL);
    run(module, class, path, false, MILL_OK);
    g_assert_true(g_file_set_contents(path, "old", -1, NULL));
    run(module, class, path, false, MILL_E_IO);
    run(module, class, path, true, MILL_OK);
    run(module, class, "/dev/null", false, MILL_OK);
    run(module, class, "-", false, MILL_OK);
    g_assert_cmpint(g_remove(path) | g_rmdir(folder), ==, 0);
}
