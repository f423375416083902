/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the test harness: each thing that a plugin may not do is found and told in a sentence,
 * and plugins that keep the contract pass. */
#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/test.h>
#include <tracemill/trace.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

/* ---------------------------------------------------------------- a class of any behaviour */

typedef struct options {
    int64_t top;
    const char *path, *out;
} options;

typedef struct state {
    const volatile int64_t *kept;
    int64_t *writable;
    int64_t sum;
} state;

typedef mill_status (*body_fn)(mill_run *run, const options *o, state *s);

static body_fn body, ending, opening;
static atomic_bool may_end; /* threads that a stage left */
static mill_status (*checking)(mill_run *run);

static mill_status probe_check(mill_run *run, const void *opts) {
    (void)opts;
    return checking ? checking(run) : MILL_OK;
}
static mill_status probe_open(mill_run *run, const void *opts, void *s) {
    return opening ? opening(run, opts, s) : MILL_OK;
}
static mill_status probe_run(mill_run *run, const void *opts, void *s) {
    return body(run, opts, s);
}
static mill_status probe_finish(mill_run *run, const void *opts, void *s) {
    return ending ? ending(run, opts, s) : MILL_OK;
}

#define AT(field, KIND) .type = MILL_OPT_##KIND, .offset = MILL_OPT_OFF(options, field, KIND)
static const mill_option probe_options[] = {
    {.name = "top", AT(top, INT), .def = "10", .min = 1, .max = 100},
    {.name = "path", AT(path, PATH), .flags = MILL_OPT_GLOB},
    {.name = "out", AT(out, PATH), .flags = MILL_OPT_ITEM, .def = "${item}.txt"},
    {.name = NULL},
};
static const mill_port probe_inputs[] = {
    {.name = "in", .type = "test.x/1", .flags = MILL_PORT_OPTIONAL},
    {.name = NULL},
};
static const mill_port probe_outputs[] = {
    {.name = "out", .type = "test.x/1"},
    {.name = "own", .type = "test.own/1", .flags = MILL_PORT_OPTIONAL},
    {.name = "parts", .type = "test.x/1", .flags = MILL_PORT_ITEMS},
    {.name = "report", .type = MILL_TYPE_REPORT, .flags = MILL_PORT_OPTIONAL},
    {.name = NULL},
};
static const mill_stage probe = {
    MILL_STAGE_HEAD,
    .name = "probe",
    .inputs = probe_inputs,
    .outputs = probe_outputs,
    .options = probe_options,
    .options_size = sizeof(options),
    .state_size = sizeof(state),
    .check = probe_check,
    .open = probe_open,
    .run = probe_run,
    .finish = probe_finish,
};

/* A type of its own: a number behind a format number, in memory from malloc. */
typedef struct own {
    int64_t number;
} own;

static bool forgetful, careless;
static int frees;

static void own_free(void *data) {
    frees++;
    free(data);
}

static mill_status own_save(mill_run *run, const void *data, mill_sink *sink) {
    int64_t saved[2] = {1, ((const own *)data)->number};
    (void)run;
    return sink->write(sink, saved, sizeof saved);
}

static mill_status own_load(mill_run *run, mill_source *source, void **ret_data) {
    int64_t saved[2] = {0};
    if (source->length < sizeof saved && !careless)
        return mill_fail(run, MILL_E_DATA, "%d bytes are too few", (int)source->length);
    memcpy(saved, source->data, MIN(sizeof saved, source->length));
    own *made = calloc(1, sizeof *made);
    made->number = forgetful ? 0 : saved[1];
    *ret_data = made;
    return MILL_OK;
}

static const mill_type own_type = {sizeof(mill_type), 0,    "test.own/1", "a number",
                                   own_free,          NULL, own_save,     own_load};

static const mill_stage *const stages[] = {&probe, NULL};
static const mill_type *const types[] = {&own_type, NULL};
static const mill_module module = {MILL_MODULE_HEAD, .id = "test.probe", .stages = stages,
                                   .types = types};

static mill_status post(mill_run *run, int64_t number) {
    int64_t *data = mill_value_alloc(run, NULL, sizeof *data);
    *data = number;
    return mill_output(run, 0, data);
}

static int64_t *number(kit_test *t, int64_t value) {
    int64_t *data = mill_value_alloc(kit_test_maker(t), NULL, sizeof *data);
    *data = value;
    return data;
}

static int64_t input(mill_run *run) {
    return mill_input_count(run, 0) > 0 ? *(const int64_t *)mill_input(run, 0, 0) : 0;
}

static mill_status good(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    return post(run, input(run) + 1);
}

/* ---------------------------------------------------------------- bad ones */

static mill_status writes_input(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    *(volatile int64_t *)(uintptr_t)mill_input(run, 0, 0) = 7;
    return post(run, 1);
}

static mill_status changes_posted(mill_run *run, const options *o, state *s) {
    int64_t *data = mill_value_alloc(run, NULL, sizeof *data);
    (void)o, (void)s;
    mill_status status = mill_output(run, 0, data);
    *(volatile int64_t *)data = 7;
    return status;
}

static mill_status keeps_scratch(mill_run *run, const options *o, state *s) {
    (void)o;
    s->kept = mill_scratch(run, 64);
    return post(run, 1);
}

static mill_status keeps_input(mill_run *run, const options *o, state *s) {
    (void)o;
    s->kept = mill_input(run, 0, 0);
    return post(run, 1);
}

static mill_status holds_input(mill_run *run, const options *o, state *s) {
    (void)o;
    s->kept = mill_input(run, 0, 0);
    mill_status status = run->host->hold(run, (const void *)(uintptr_t)s->kept);
    return status == MILL_OK ? post(run, 1) : status;
}

static mill_status keeps_posted(mill_run *run, const options *o, state *s) {
    int64_t *data = mill_value_alloc(run, NULL, sizeof *data);
    (void)o;
    s->kept = data;
    return mill_output(run, 0, data);
}

static mill_status keeps_file(mill_run *run, const options *o, state *s) {
    mill_source *source;
    (void)o;
    mill_status status = run->host->source_map(run, "/proc/self/status", &source);
    if (status != MILL_OK)
        return status;
    s->kept = (const int64_t *)(const void *)source->data;
    return post(run, 1);
}

static mill_status uses_kept(mill_run *run, const options *o, state *s) {
    (void)run, (void)o;
    s->sum = *s->kept;
    return MILL_OK;
}

static mill_status writes_options(mill_run *run, const options *o, state *s) {
    (void)s;
    ((volatile options *)(uintptr_t)o)->top = 3;
    return post(run, 1);
}

static mill_status overruns(mill_run *run, const options *o, state *s) {
    volatile char *data = mill_value_alloc(run, NULL, 9);
    (void)o, (void)s;
    data[9] = 1;
    return mill_output(run, 0, (void *)(uintptr_t)data);
}

static mill_status overruns_scratch(mill_run *run, const options *o, state *s) {
    volatile char *data = mill_scratch(run, 20);
    (void)o, (void)s;
    data[20] = 1;
    return post(run, 1);
}

static mill_status posts_nothing(mill_run *run, const options *o, state *s) {
    (void)run, (void)o, (void)s;
    return MILL_OK;
}

static mill_status posts_twice(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    post(run, 1);
    return post(run, 2);
}

static mill_status posts_own_memory(mill_run *run, const options *o, state *s) {
    static int64_t data;
    (void)o, (void)s;
    return mill_output(run, 0, &data);
}

static mill_status posts_no_report(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    return mill_output(run, 3, mill_value_alloc(run, NULL, sizeof(mill_report)));
}

static mill_status emits_twice(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    run->host->emit(run, 2, "a", mill_value_alloc(run, NULL, 8));
    return run->host->emit(run, 2, "a", mill_value_alloc(run, NULL, 8));
}

static mill_status never_posts(mill_run *run, const options *o, state *s) {
    mill_value_alloc(run, NULL, 8);
    return good(run, o, s);
}

static mill_status no_cause(mill_run *run, const options *o, state *s) {
    (void)run, (void)o, (void)s;
    return MILL_E_DATA;
}

static mill_status no_status(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    post(run, 1);
    return (mill_status)42;
}

static mill_status gives_up(mill_run *run, const options *o, state *s) {
    (void)run, (void)o, (void)s;
    return MILL_E_CANCELLED;
}

static mill_status never_ends(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    for (int i = 0; i < 50; i++)
        mill_cancelled(run);
    return post(run, 1);
}

static mill_status fails_when_cancelled(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    if (mill_cancelled(run))
        return mill_fail(run, MILL_E_DATA, "I was disturbed");
    return post(run, 1);
}

static void *call_output(void *run) {
    post(run, 1);
    return NULL;
}

static mill_status posts_from_thread(mill_run *run, const options *o, state *s) {
    pthread_t thread;
    (void)o, (void)s;
    pthread_create(&thread, NULL, call_output, run);
    pthread_join(thread, NULL);
    return MILL_OK;
}

static void *wait_long(void *nothing) {
    while (!atomic_load(&may_end))
        g_usleep(1000);
    return nothing;
}

static mill_status leaves_thread(mill_run *run, const options *o, state *s) {
    pthread_t thread;
    (void)o, (void)s;
    pthread_create(&thread, NULL, wait_long, NULL);
    pthread_detach(thread);
    return post(run, 1);
}

#ifndef SANITIZED
static void *leaked; /* a chain, so that a leak checker still sees all */

static mill_status leaks_memory(mill_run *run, const options *o, state *s) {
    void **block = malloc(100);
    (void)o, (void)s;
    *block = leaked;
    leaked = block;
    return post(run, 1);
}
#endif

static mill_status leaks_file(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    if (open("/dev/null", O_RDONLY) < 0)
        return mill_fail(run, MILL_E_IO, "no /dev/null");
    return post(run, 1);
}

static mill_status counts_items(mill_run *run, const options *o, state *s) {
    (void)o;
    return post(run, ++s->sum);
}

static mill_status counts_lives(mill_run *run, const options *o, state *s) {
    static int64_t lives;
    (void)o, (void)s;
    return post(run, ++lives);
}

static mill_status note_last(mill_run *run, void *arg, size_t i) {
    (void)run;
    atomic_store((atomic_size_t *)arg, i);
    return MILL_OK;
}

static mill_status counts_on_order(mill_run *run, const options *o, state *s) {
    atomic_size_t last = 0;
    (void)o, (void)s;
    run->host->parallel(run, 1000, note_last, &last);
    return post(run, (int64_t)last > 500);
}

static mill_status writes_blindly(mill_run *run, const options *o, state *s) {
    mill_sink *sink;
    (void)s;
    if (run->host->sink_open(run, o->out, &sink) == MILL_OK)
        sink->write(sink, "text", 4);
    return post(run, 1);
}

static mill_status drops_unheld(mill_run *run, const options *o, state *s) {
    run->host->drop(run, mill_input(run, 0, 0));
    return good(run, o, s);
}

static mill_status asks_for_unknown(mill_run *run, const options *o, state *s) {
    mill_option_given(run, "bottom");
    return good(run, o, s);
}

static mill_status posts_own(mill_run *run, const options *o, state *s) {
    own *made = malloc(sizeof *made);
    made->number = 12;
    mill_status status = mill_output(run, 1, made);
    return status == MILL_OK ? good(run, o, s) : status;
}

static mill_status makes_value(mill_run *run) {
    mill_value_alloc(run, NULL, 8);
    return MILL_OK;
}

typedef struct wrong {
    const char *name;
    body_fn run, finish;
    const char *told;
} wrong;

static const wrong wrongs[] = {
    {"input", writes_input, NULL,
     "`run` of item a: writes to its input \"in\" (byte 0 of a block of 8)"},
    {"posted", changes_posted, NULL,
     "`run` of item a: changes what it has posted on output \"out\" (byte 0 of a block of 8)"},
    {"scratch", keeps_scratch, uses_kept,
     "`finish`: uses scratch memory of an earlier callback (byte 0 of a block of 64)"},
    {"kept-input", keeps_input, uses_kept,
     "`finish`: uses, without `hold`, what it was lent in another callback: input \"in\""},
    {"kept-posted", keeps_posted, uses_kept,
     "`finish`: uses what it posted in an earlier callback on output \"out\""},
    {"kept-file", keeps_file, uses_kept,
     "`finish`: uses a file's bytes from `source_map` of an earlier callback"},
    {"options", writes_options, NULL, "`run` of item a: writes to its options"},
    {"overrun", overruns, NULL, "wrote behind the end of a block of 9 bytes from value_alloc"},
    {"overrun-scratch", overruns_scratch, NULL,
     "wrote behind the end of a block of 20 bytes of scratch memory"},
    {"nothing", posts_nothing, NULL,
     "`run` of item a: ends well, but nothing was posted on output \"out\""},
    {"twice", posts_twice, NULL, "`run` of item a: posts twice on output \"out\""},
    {"own-memory", posts_own_memory, NULL,
     "posts a value that is not from value_alloc, and its type has no `free` on output \"out\""},
    {"no-report", posts_no_report, NULL,
     "posts something else (its `size` does not fit the type) on output \"report\""},
    {"emit-twice", emits_twice, NULL, "emits two items with one sub-key on output \"parts\""},
    {"never", never_posts, NULL, "`close`: began a value that it never posted"},
    {"cause", no_cause, NULL, "`run` of item a: fails with -1 and gives no cause (use mill_fail)"},
    {"status", no_status, NULL, "`run` of item a: returns 42, which is no status"},
    {"gives-up", gives_up, NULL, "returns MILL_E_CANCELLED, though nobody asked it to end"},
    {"cancel", never_ends, NULL, "goes on when it is cancelled: mill_cancelled said yes at call 1"},
    {"cancel-status", fails_when_cancelled, NULL,
     "returns -1 when it is cancelled, not MILL_E_CANCELLED: I was disturbed"},
    {"thread", posts_from_thread, NULL,
     "called `output` from another thread than that of the callback"},
    {"thread-left", leaves_thread, NULL, "`run` of item a: leaves a thread that still runs"},
#ifndef SANITIZED
    {"leak", leaks_memory, NULL, "leaves at least 2"},
#endif
    {"leak-file", leaks_file, NULL, "leaves 2 open files in each life"},
    {"items", counts_items, NULL,
     "gives something else (items in the reverse order): output \"out\" of a, its bytes"},
    {"lives", counts_lives, NULL, "gives something else (in a second life): output \"out\" of a"},
    {"order", counts_on_order, NULL,
     "gives something else (with 4 threads, the last index first): output \"out\" of a"},
    {"disk", writes_blindly, NULL, "ends well though a write failed (write 1 fails)"},
    {"drop", drops_unheld, NULL, "`run` of item a: drops what it does not hold"},
    {"unknown", asks_for_unknown, NULL,
     "asked `option_given` for \"bottom\", which is no option of the class"},
};

/* Two items, a and b, with one input value each. */
static kit_test *two_items(void) {
    kit_test *t = kit_test_create(&module, "probe");
    kit_test_item(t, "a");
    kit_test_input(t, "in", "test.x/1", number(t, 1));
    kit_test_item(t, "b");
    kit_test_input(t, "in", "test.x/1", number(t, 2));
    return t;
}

static void behave(body_fn run, body_fn finish) {
    body = run;
    ending = finish;
    opening = NULL;
    checking = NULL;
    forgetful = careless = false;
    atomic_store(&may_end, false);
}

static void test_wrong(const void *data) {
    const wrong *w = data;
    behave(w->run, w->finish);
    kit_test *t = two_items();
    mill_status status = kit_test_run(t);
    if (!strstr(kit_test_breaches(t), w->told))
        g_error("expected: %s\ntold: %s", w->told, kit_test_breaches(t));
    g_assert_cmpint(status, ==, MILL_E_PLUGIN);
    kit_test_destroy(t);
    atomic_store(&may_end, true);
}

static void test_wrong_check(void) {
    behave(good, NULL);
    checking = makes_value;
    kit_test *t = two_items();
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_PLUGIN);
    g_assert_cmpstr(kit_test_breaches(t), ==, "`check`: makes a value in `check`\n");
    kit_test_destroy(t);
}

static void test_wrong_type(void) {
    behave(posts_own, NULL);
    careless = true;
    kit_test *t = two_items();
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_PLUGIN);
    g_assert_nonnull(strstr(kit_test_breaches(t), "`load` of test.own/1 takes the first 8 of the "
                                                  "16 bytes that `save` wrote\n"));
    careless = false;
    forgetful = true;
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_PLUGIN);
    g_assert_cmpstr(kit_test_breaches(t), ==,
                    "a test.own/1 is another one after `save` and `load`: its saved bytes\n");
    kit_test_destroy(t);
}

/* ---------------------------------------------------------------- good ones */

static void expect_good(kit_test *t) {
    mill_status status = kit_test_run(t);
    g_assert_cmpstr(kit_test_breaches(t), ==, "");
    g_assert_cmpstr(kit_test_causes(t), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
}

static void test_outputs(void) {
    behave(good, NULL);
    kit_test *t = two_items();
    expect_good(t);
    g_assert_cmpuint(kit_test_count(t, "out"), ==, 2);
    g_assert_cmpuint(kit_test_count(t, "parts"), ==, 0);
    g_assert_cmpint(*(const int64_t *)kit_test_output(t, "out", 1), ==, 3);
    g_assert_cmpstr(kit_test_key(t, "out", 1), ==, "b");
    g_assert_null(kit_test_output(t, "out", 2));
    kit_test_destroy(t);
}

static void test_hold(void) {
    behave(holds_input, uses_kept);
    kit_test *t = two_items();
    expect_good(t);
    kit_test_destroy(t);
}

/* Each value that is made, posted or loaded, is ended once. */
static void test_own(void) {
    behave(posts_own, NULL);
    frees = 0;
    kit_test *t = two_items();
    kit_test_without(t, KIT_TEST_ALL & ~KIT_TEST_TYPES);
    expect_good(t);
    kit_test_destroy(t);
    g_assert_cmpint(frees, ==, 4);
}

static mill_status writes(mill_run *run, const options *o, state *s) {
    mill_sink *sink;
    (void)s;
    mill_status status = run->host->sink_open(run, o->out, &sink);
    if (status == MILL_OK)
        status = sink->write(sink, o->path, strlen(o->path));
    return status == MILL_OK ? post(run, o->top) : status;
}

static void test_files(void) {
    size_t length;
    behave(writes, NULL);
    kit_test *t = kit_test_create(&module, "probe");
    kit_test_option(t, "top=5");
    kit_test_option(t, "out = dir/$$${item}.csv");
    kit_test_file(t, "a", "x/a.json");
    kit_test_file(t, "b", "x/b.json");
    expect_good(t);
    g_assert_cmpstr(kit_test_written(t, "dir/$a.csv", NULL), ==, "x/a.json");
    g_assert_cmpstr(kit_test_written(t, "dir/$b.csv", &length), ==, "x/b.json");
    g_assert_cmpuint(length, ==, 8);
    g_assert_null(kit_test_written(t, "dir/$c.csv", NULL));
    g_assert_cmpint(*(const int64_t *)kit_test_output(t, "out", 0), ==, 5);
    kit_test_option(t, "out = same.csv");
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_CONFIG);
    g_assert_true(g_str_has_prefix(kit_test_causes(t), "same.csv is written by another item"));
    kit_test_destroy(t);
}

static mill_status fails(mill_run *run, const options *o, state *s) {
    (void)o, (void)s;
    mill_fail(run, MILL_E_DATA, "no rows");
    return mill_fail(run, MILL_E_DATA, "cannot read a.csv");
}

static void test_failures(void) {
    behave(fails, NULL);
    kit_test *t = kit_test_create(&module, "probe");
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_DATA);
    g_assert_cmpstr(kit_test_causes(t), ==, "cannot read a.csv\nno rows");
    g_assert_cmpstr(kit_test_breaches(t), ==, "");
    kit_test_option(t, "top = 101");
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_CONFIG);
    g_assert_cmpstr(kit_test_causes(t), ==, "top: 101 is over the maximum 100");
    kit_test_destroy(t);
}

/* ---------------------------------------------------------------- mistakes of the test */

static void mistaken(const char *told, void (*fn)(kit_test *)) {
    if (g_test_subprocess()) {
        behave(good, NULL);
        fn(two_items());
        exit(0);
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr(told);
}

static void no_class(kit_test *t) {
    (void)t;
    kit_test_create(&module, "prod");
}
static void no_port(kit_test *t) {
    kit_test_input(t, "on", "test.x/1", t);
}
static void two_values(kit_test *t) {
    kit_test_input(t, "in", "test.x/1", number(t, 1));
    kit_test_run(t);
}

static void test_no_class(void) {
    mistaken("*module test.probe has no class \"prod\"; it has: probe*", no_class);
}
static void test_no_port(void) {
    mistaken("*class probe has no such input: \"on\"*", no_port);
}
static void test_two_values(void) {
    mistaken("*input \"in\" of probe takes one value a run, 2 are given in item b*", two_values);
}

/* ---------------------------------------------------------------- bundled classes */

static kit_test *bundled(const char *folder, const char *name, const char *class) {
    g_autofree char *path = g_strdup_printf("%s/plugins/%s/%s/%s.so",
                                            g_getenv("TRACEMILL_TEST_BUILD"), folder, name, name);
    g_autofree char *data = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "etc", NULL);
    kit_test *t = kit_test_open(path, class);
    kit_test_data(t, data);
    return t;
}

/* One's output is the next one's input. */
static void test_bundled(void) {
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/sample.json.gz", NULL);
    kit_test *reader = bundled("readers", "kineto", "kineto.read");
    kit_test_file(reader, "sample", path);
    expect_good(reader);
    g_assert_cmpuint(kit_test_count(reader, "trace"), ==, 1);
    const mill_trace *trace = kit_test_output(reader, "trace", 0);

    kit_test *overlap = bundled("analyzers", "overlap", "overlap");
    kit_test_input(overlap, "trace", MILL_TYPE_TRACE, trace);
    expect_good(overlap);
    const mill_report *report = kit_test_report(overlap, "report", 0);
    g_assert_cmpint(kit_test_table(report, "devices")->rows, >, 0);

    kit_test *writer = bundled("exporters", "json", "json.write");
    kit_test_input_from(writer, "report", MILL_TYPE_REPORT, report, "overlap", "");
    expect_good(writer);
    g_assert_nonnull(strstr(kit_test_written(writer, "-", NULL), "\"overlap\""));
    kit_test_destroy(writer);
    kit_test_destroy(overlap);
    kit_test_destroy(reader);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(wrongs); i++) {
        g_autofree char *path = g_strconcat("/harness/wrong/", wrongs[i].name, NULL);
        g_test_add_data_func(path, &wrongs[i], test_wrong);
    }
    g_test_add_func("/harness/wrong/check", test_wrong_check);
    g_test_add_func("/harness/wrong/type", test_wrong_type);
    g_test_add_func("/harness/good/outputs", test_outputs);
    g_test_add_func("/harness/good/hold", test_hold);
    g_test_add_func("/harness/good/own", test_own);
    g_test_add_func("/harness/good/files", test_files);
    g_test_add_func("/harness/failures", test_failures);
    g_test_add_func("/harness/mistakes/class", test_no_class);
    g_test_add_func("/harness/mistakes/port", test_no_port);
    g_test_add_func("/harness/mistakes/values", test_two_values);
    g_test_add_func("/harness/bundled", test_bundled);
    return g_test_run();
}
