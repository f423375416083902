/* SPDX-License-Identifier: Apache-2.0 */
/* A profile, read, attributed, and analysed by `overlap`. */
#include "analysed.h"

static bench *run_on(const char *module, const char *class, const bench *reader) {
    bench *b = bench_create(bench_open(module), class);
    bench_input(b, "trace", MILL_TYPE_TRACE, bench_output(reader, "trace", 0), "trace", "");
    return b;
}

static void run(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
}

void analysed_init(analysed *a, const char *path, const char *const *settings, bool attributed) {
    *a = (analysed){.reader = data_read(path)};
    a->analyzer = run_on("plugins/analyzers/overlap/overlap.so", "overlap", a->reader);
    for (; *settings; settings++)
        bench_option(a->analyzer, *settings);
    if (attributed) {
        a->attribution =
            run_on("plugins/analyzers/attribution/attribution.so", "attribution", a->reader);
        run(a->attribution);
        bench_input(a->analyzer, "attribution", MILL_TYPE_ATTRIBUTION,
                    bench_output(a->attribution, "attribution", 0), "places", "");
    }
    run(a->analyzer);
    a->report = bench_output(a->analyzer, "report", 0);
}

void analysed_finish(analysed *a) {
    bench_destroy(a->analyzer);
    if (a->attribution)
        bench_destroy(a->attribution);
    bench_destroy(a->reader);
}
