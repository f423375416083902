/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the miniature host: that it keeps its side of the contract, and that a stage which does
 * not keep its own is found out. */
#include <bench_host.h>
#include <glib/gstdio.h>
#include <string.h>

typedef mill_status (*body_fn)(mill_run *run);

typedef struct options {
    int64_t top, wait, size;
    double share;
    const char *path, *rules;
    bool strict;
    int mode;
    mill_list sums, modes;
} options;

static body_fn body, ending; /* what run and finish of the class do */
static options seen;
static unsigned closed;

static mill_status post(mill_run *run, uint32_t port) {
    return mill_output(run, port, mill_value_alloc(run, NULL, 8));
}

static mill_status probe_check(mill_run *run, const void *opts) {
    const options *o = opts;
    return o->top > 100 ? mill_fail(run, MILL_E_CONFIG, "top is over 100") : MILL_OK;
}

static mill_status probe_run(mill_run *run, const void *opts, void *state) {
    seen = *(const options *)opts;
    *(unsigned *)state += 1;
    return body(run);
}

static mill_status probe_finish(mill_run *run, const void *opts, void *state) {
    (void)opts, (void)state;
    return ending ? ending(run) : MILL_OK;
}

static void probe_close(mill_run *run, void *state) {
    (void)run, (void)state;
    closed++;
}

static const char *const modes[] = {"mean", "max", NULL};

#define AT(field, KIND) .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(options, field, KIND)
static const mill_option probe_options[] = {
    {.name = "top", AT(top, INT), .def = "10"},
    {.name = "wait", AT(wait, DURATION), .def = "250us"},
    {.name = "size", AT(size, BYTES), .def = "64KiB"},
    {.name = "share", AT(share, NUM), .def = "0.5"},
    {.name = "path", AT(path, PATH)},
    {.name = "rules", AT(rules, PATH), .def = "${tracemill:data}/rules/x.ini"},
    {.name = "strict", AT(strict, BOOL), .def = "no"},
    {.name = "mode", AT(mode, ENUM), .def = "max", .choices = modes},
    {.name = "sums", AT(sums, LIST), .elem = MILL_OPT_INT},
    {.name = "modes", AT(modes, LIST), .elem = MILL_OPT_ENUM, .choices = modes, .def = "max"},
    {.name = NULL},
};
static const mill_port probe_inputs[] = {
    {.name = "in", .type = "test.x/1", .flags = MILL_PORT_MANY | MILL_PORT_OPTIONAL},
    {.name = NULL},
};
static const mill_port probe_outputs[] = {
    {.name = "out", .type = "test.x/1"},
    {.name = "parts", .type = "test.owned/1", .flags = MILL_PORT_ITEMS},
    {.name = NULL},
};
static const mill_stage probe = {MILL_STAGE_HEAD,
                                 .name = "probe",
                                 .inputs = probe_inputs,
                                 .outputs = probe_outputs,
                                 .options = probe_options,
                                 .options_size = sizeof(options),
                                 .state_size = sizeof(unsigned),
                                 .check = probe_check,
                                 .run = probe_run,
                                 .finish = probe_finish,
                                 .close = probe_close};

static const mill_port stream_inputs[] = {
    {.name = "in", .type = "test.x/1", .flags = MILL_PORT_STREAM},
    {.name = NULL},
};
static const mill_stage stream = {MILL_STAGE_HEAD,
                                  .flags = MILL_STAGE_SINGLE,
                                  .name = "stream",
                                  .inputs = stream_inputs,
                                  .outputs = probe_outputs,
                                  .options_size = sizeof(options),
                                  .state_size = sizeof(unsigned),
                                  .run = probe_run,
                                  .finish = probe_finish,
                                  .close = probe_close};

static const mill_type owned = {.size = sizeof(mill_type), .id = "test.owned/1", .free = g_free};
static const mill_stage *const stages[] = {&probe, &stream, NULL};
static const mill_type *const types[] = {&owned, NULL};
static const mill_module module = {MILL_MODULE_HEAD, .id = "test", .stages = stages,
                                   .types = types};

static bench *begin(const char *stage_class, body_fn run, body_fn finish) {
    body = run;
    ending = finish;
    closed = 0;
    return bench_create(&module, stage_class);
}

static mill_status good(mill_run *run) {
    return post(run, 0);
}

/* ---------------------------------------------------------------- options */

static void test_options(void) {
    bench *b = begin("probe", good, NULL);
    bench_option(b, "path = a b.json");
    bench_option(b, "strict=yes");
    bench_option(b, "sums=1,-2\n 3");
    bench_option(b, "modes=mean, max");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpint(seen.top, ==, 10);
    g_assert_cmpint(seen.wait, ==, 250000);
    g_assert_cmpint(seen.size, ==, 65536);
    g_assert_cmpfloat(seen.share, ==, 0.5);
    g_assert_cmpstr(seen.path, ==, "a b.json");
    g_assert_true(g_str_has_suffix(seen.rules, "/etc/rules/x.ini"));
    g_assert_true(seen.strict);
    g_assert_cmpint(seen.mode, ==, 1);
    g_assert_cmpuint(seen.sums.n, ==, 3);
    g_assert_cmpint(((const int64_t *)seen.sums.v)[1], ==, -2);
    g_assert_cmpuint(seen.modes.n, ==, 2);
    g_assert_cmpint(((const int *)seen.modes.v)[0], ==, 0);
    bench_destroy(b);

    b = begin("probe", good, NULL);
    bench_option(b, "top=101");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_cmpstr(bench_causes(b), ==, "top is over 100");
    g_assert_cmpuint(closed, ==, 0); /* never opened */
    bench_destroy(b);

    b = begin("probe", good, NULL);
    options own = {.top = 77};
    bench_options(b, &own);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpint(seen.top, ==, 77);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- the contract */

static mill_status none(mill_run *run) {
    (void)run;
    return MILL_OK;
}

static mill_status twice(mill_run *run) {
    post(run, 0);
    return post(run, 0);
}

static mill_status no_port(mill_run *run) {
    post(run, 0);
    return post(run, 9);
}

static mill_status output_on_items(mill_run *run) {
    post(run, 0);
    return post(run, 1);
}

static mill_status bad_sub_key(mill_run *run) {
    post(run, 0);
    return run->host->emit(run, 1, "a/b", g_malloc(8));
}

static mill_status same_sub_key(mill_run *run) {
    post(run, 0);
    run->host->emit(run, 1, "a", g_malloc(8));
    return run->host->emit(run, 1, "a", g_malloc(8));
}

static mill_status only_then_more(mill_run *run) {
    post(run, 0);
    run->host->emit(run, 1, NULL, g_malloc(8));
    return run->host->emit(run, 1, "a", g_malloc(8));
}

static mill_status more_then_only(mill_run *run) {
    post(run, 0);
    run->host->emit(run, 1, "a", g_malloc(8));
    return run->host->emit(run, 1, NULL, g_malloc(8));
}

static mill_status no_cause(mill_run *run) {
    (void)run;
    return MILL_E_DATA;
}

static mill_status bad_drop(mill_run *run) {
    run->host->drop(run, "x");
    return post(run, 0);
}

static void test_breaches(void) {
    static const struct {
        body_fn run;
        const char *cause;
    } cases[] = {
        {none, "*0 of 1 items were posted on output \"out\"*"},
        {twice, "*posted before*"},
        {no_port, "*no such port*"},
        {output_on_items, "*needs emit*"},
        {bad_sub_key, "*sub-key*"},
        {same_sub_key, "*posted before*"},
        {only_then_more, "*must be the only one*"},
        {more_then_only, "*must be the only one*"},
        {no_cause, "*gave no cause*"},
        {bad_drop, "*not held*"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = begin("probe", cases[i].run, NULL);
        g_assert_cmpint(bench_run(b), ==, MILL_E_PLUGIN);
        g_test_message("%s", bench_causes(b));
        g_assert_true(g_pattern_match_simple(cases[i].cause, bench_causes(b)));
        g_assert_cmpuint(closed, ==, 1);
        bench_destroy(b);
    }
}

static mill_status two_causes(mill_run *run) {
    mill_fail(run, MILL_E_DATA, "inner");
    return mill_fail(run, MILL_E_DATA, "outer");
}

static mill_status leak(mill_run *run) {
    void *value = mill_value_alloc(run, NULL, 8);
    mill_value_alloc(run, value, 100);
    mill_value_alloc(run, NULL, 8);
    return post(run, 0);
}

static mill_status cancel(mill_run *run) {
    while (!mill_cancelled(run))
        mill_log(run, MILL_INFO, "not yet");
    return MILL_E_CANCELLED;
}

static mill_status parts(mill_run *run) {
    run->host->emit(run, 1, "b", g_malloc(8));
    run->host->emit(run, 1, "a", g_malloc(8));
    return post(run, 0);
}

static void test_status(void) {
    bench *b = begin("probe", two_causes, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_cmpstr(bench_causes(b), ==, "outer; inner");
    bench_destroy(b);

    b = begin("probe", leak, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 2);
    bench_destroy(b);

    b = begin("probe", cancel, NULL);
    bench_cancel_at(b, 3);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    g_assert_cmpstr(bench_log(b), ==, "info: not yet\ninfo: not yet\n");
    bench_destroy(b);

    b = begin("probe", parts, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    g_assert_cmpuint(bench_output_count(b, "parts"), ==, 2);
    g_assert_cmpstr(bench_output_key(b, "parts", 1), ==, "a");
    g_assert_nonnull(bench_output(b, "out", 0));
    g_assert_null(bench_output(b, "out", 1));
    bench_destroy(b);
}

/* One instance, several items. */
static void test_steps(void) {
    bench *b = begin("probe", good, NULL);
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(bench_item(b), ==, MILL_OK);
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    g_assert_cmpuint(bench_output_count(b, "out"), ==, 3);
    g_assert_cmpuint(closed, ==, 1);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- inputs */

static const int64_t one = 1, two = 2;

static mill_status read_inputs(mill_run *run) {
    const mill_host *host = run->host;
    const char *stage, *key;
    g_assert_cmpuint(host->input_count(run, 0), ==, 2);
    g_assert_true(host->input(run, 0, 0) == &one);
    g_assert_true(host->input(run, 0, 1) == &two);
    g_assert_null(host->input(run, 0, 2));
    g_assert_null(host->input(run, 5, 0));
    g_assert_cmpstr(host->input_stage(run, 0, 1), ==, "b");
    g_assert_cmpstr(host->input_key(run, 0, 1), ==, "7");
    g_assert_cmpstr(host->input_type(run, 0, 1), ==, "test.x/1");
    g_assert_cmpuint(host->missing(run, 0, 0, &stage, &key), ==, 1);
    g_assert_cmpstr(stage, ==, "c");
    g_assert_cmpstr(key, ==, "8");
    g_assert_cmpstr(host->item_key(run), ==, "k");
    g_assert_true(host->option_given(run, "top"));
    g_assert_false(host->option_given(run, "wait"));
    g_assert_cmpint(host->hold(run, &one), ==, MILL_OK);
    host->drop(run, &one);
    return post(run, 0);
}

static void test_inputs(void) {
    bench *b = begin("probe", read_inputs, NULL);
    bench_input(b, "in", "test.x/1", &one, "a", "");
    bench_missing(b, "in", "c", "8");
    bench_input(b, "in", "test.x/1", &two, "b", "7");
    bench_item_key(b, "k");
    bench_option(b, "top=3");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    bench_destroy(b);
}

static int64_t sum;

static mill_status add_up(mill_run *run) {
    g_assert_cmpuint(mill_input_count(run, 0), ==, 1);
    sum = sum * 10 + *(const int64_t *)mill_input(run, 0, 0);
    return MILL_OK;
}

static mill_status post_sum(mill_run *run) {
    g_assert_cmpuint(mill_input_count(run, 0), ==, 0);
    return post(run, 0);
}

static void test_stream(void) {
    bench *b = begin("stream", add_up, post_sum);
    sum = 0;
    bench_input(b, "in", "test.x/1", &one, "a", "0");
    bench_input(b, "in", "test.x/1", &two, "a", "1");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpint(sum, ==, 12);
    g_assert_cmpuint(bench_output_count(b, "out"), ==, 1);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- files */

static char *folder;

static mill_status write_text(mill_run *run) {
    mill_sink *sink;
    for (int i = 0; i < 2; i++) {
        g_assert_cmpint(run->host->sink_open(run, "out.txt", &sink), ==, MILL_OK);
        mill_status status = sink->write(sink, "a\0b", 3);
        if (status != MILL_OK)
            return mill_fail(run, status, "no text");
    }
    return post(run, 0);
}

static void test_sink(void) {
    bench *b = begin("probe", write_text, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const GString *text = bench_written(b, "out.txt");
    g_assert_cmpmem(text->str, text->len, "a\0ba\0b", 6);
    g_assert_null(bench_written(b, "-"));
    bench_destroy(b);

    b = begin("probe", write_text, NULL);
    bench_disk_size(b, 5);
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_true(g_str_has_prefix(bench_causes(b), "no text; cannot write \"out.txt\""));
    g_assert_null(bench_written(b, "out.txt")); /* half a file is none */
    bench_destroy(b);
}

static bool take_line(void *arg, const char *section, const char *key, const char *value,
                      uint32_t line) {
    g_string_append_printf(arg, "%u [%s] %s=%s|", line, section, key ? key : "",
                           value ? value : "");
    return true;
}

static mill_status read_files(mill_run *run) {
    mill_source *source;
    g_autofree char *path = g_build_filename(folder, "rules.ini", NULL);
    g_assert_cmpint(run->host->source_map(run, path, &source), ==, MILL_OK);
    g_assert_cmpmem(source->data, 4, "; no", 4);
    g_autoptr(GString) lines = g_string_new(NULL);
    g_assert_cmpint(run->host->ini_read(run, path, take_line, lines), ==, MILL_OK);
    g_assert_cmpstr(lines->str, ==, "2 [a] =|3 [a] match=^x|y\nz|6 [a] kind=k|7 [b] =|");
    post(run, 0);
    return run->host->source_map(run, "/nowhere/at/all", &source);
}

static void test_source(void) {
    folder = g_dir_make_tmp("bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "rules.ini", NULL);
    const char *text = "; no section\n[a]\nmatch = ^x|y ; or\n  z\n\n  kind = k\n[b]\n";
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    bench *b = begin("probe", read_files, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_NOINPUT);
    g_assert_nonnull(strstr(bench_causes(b), "/nowhere/at/all"));
    bench_destroy(b);
    g_unlink(path);
    g_rmdir(folder);
    g_free(folder);
}

/* ---------------------------------------------------------------- the rest */

static mill_status match(mill_run *run) {
    mill_regex *regex;
    g_assert_cmpint(run->host->regex_new(run, "k(x)?(?<n>\\d+)", MILL_REGEX_CASELESS, &regex), ==,
                    MILL_OK);
    mill_span groups[4];
    g_assert_true(run->host->regex_match(regex, "\xff K42\0", 6, groups, 4));
    g_assert_cmpint(groups[0].start, ==, 2);
    g_assert_cmpint(groups[0].end, ==, 5);
    g_assert_cmpint(groups[1].start, ==, -1);
    g_assert_cmpint(run->host->regex_group(regex, "n"), ==, 2);
    g_assert_cmpint(run->host->regex_group(regex, "m"), ==, -1);
    g_assert_cmpint(groups[2].start, ==, 3);
    g_assert_cmpint(groups[3].start, ==, -1);
    g_assert_false(run->host->regex_match(regex, "k42", 1, NULL, 0));
    g_assert_null(run->host->extension(run->host, "x"));
    post(run, 0);
    return run->host->regex_new(run, "(", 0, &regex);
}

static void test_regex(void) {
    bench *b = begin("probe", match, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    bench_destroy(b);
}

static mill_status count_one(mill_run *run, void *arg, size_t i) {
    (void)run;
    ((int *)arg)[i]++;
    return MILL_OK;
}

static mill_status fail_some(mill_run *run, void *arg, size_t i) {
    (void)arg;
    return i == 30   ? mill_fail(run, MILL_E_DATA, "30")
           : i == 31 ? mill_fail(run, MILL_E_IO, "31")
                     : MILL_OK;
}

static mill_status work(mill_run *run) {
    int counts[100] = {0};
    g_assert_cmpint(run->host->parallel(run, 100, count_one, counts), ==, MILL_OK);
    for (int i = 0; i < 100; i++)
        g_assert_cmpint(counts[i], ==, 1);
    g_assert_cmpint(run->host->parallel(run, 0, count_one, NULL), ==, MILL_OK);
    post(run, 0);
    return run->host->parallel(run, 100, fail_some, NULL);
}

static void test_parallel(void) {
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        bench *b = begin("probe", work, NULL);
        bench_jobs(b, jobs);
        g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bench/options", test_options);
    g_test_add_func("/bench/breaches", test_breaches);
    g_test_add_func("/bench/status", test_status);
    g_test_add_func("/bench/steps", test_steps);
    g_test_add_func("/bench/inputs", test_inputs);
    g_test_add_func("/bench/stream", test_stream);
    g_test_add_func("/bench/sink", test_sink);
    g_test_add_func("/bench/source", test_source);
    g_test_add_func("/bench/regex", test_regex);
    g_test_add_func("/bench/parallel", test_parallel);
    return g_test_run();
}
