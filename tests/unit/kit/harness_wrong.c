/* SPDX-License-Identifier: Apache-2.0 */
/* Each thing that a plugin may not do is found by the test harness and told in a sentence. */
#include "harness_probe.h"

#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

/* ---------------------------------------------------------------- bad ones */

static mill_status writes_input(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    *(volatile int64_t *)(uintptr_t)mill_input(run, 0, 0) = 7;
    return probe_post(run, 1);
}

static mill_status changes_posted(mill_run *run, const probe_options *o, probe_state *s) {
    int64_t *data = mill_value_alloc(run, NULL, sizeof *data);
    (void)o, (void)s;
    mill_status status = mill_output(run, 0, data);
    *(volatile int64_t *)data = 7;
    return status;
}

static mill_status keeps_scratch(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o;
    s->kept = mill_scratch(run, 64);
    return probe_post(run, 1);
}

static mill_status keeps_input(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o;
    s->kept = mill_input(run, 0, 0);
    return probe_post(run, 1);
}

static mill_status keeps_posted(mill_run *run, const probe_options *o, probe_state *s) {
    int64_t *data = mill_value_alloc(run, NULL, sizeof *data);
    (void)o;
    s->kept = data;
    return mill_output(run, 0, data);
}

static mill_status keeps_file(mill_run *run, const probe_options *o, probe_state *s) {
    mill_source *source;
    (void)o;
    mill_status status = run->host->source_map(run, "/proc/self/status", &source);
    if (status != MILL_OK)
        return status;
    s->kept = (const int64_t *)(const void *)source->data;
    return probe_post(run, 1);
}

static mill_status uses_kept(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o;
    s->sum = *s->kept;
    return MILL_OK;
}

static mill_status writes_options(mill_run *run, const probe_options *o, probe_state *s) {
    (void)s;
    ((volatile probe_options *)(uintptr_t)o)->top = 3;
    return probe_post(run, 1);
}

static mill_status overruns(mill_run *run, const probe_options *o, probe_state *s) {
    volatile char *data = mill_value_alloc(run, NULL, 9);
    (void)o, (void)s;
    data[9] = 1;
    return mill_output(run, 0, (void *)(uintptr_t)data);
}

static mill_status overruns_scratch(mill_run *run, const probe_options *o, probe_state *s) {
    volatile char *data = mill_scratch(run, 20);
    (void)o, (void)s;
    data[20] = 1;
    return probe_post(run, 1);
}

static mill_status posts_nothing(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o, (void)s;
    return MILL_OK;
}

static mill_status posts_twice(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    probe_post(run, 1);
    return probe_post(run, 2);
}

static mill_status posts_own_memory(mill_run *run, const probe_options *o, probe_state *s) {
    static int64_t data;
    (void)o, (void)s;
    return mill_output(run, 0, &data);
}

static mill_status posts_no_report(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    return mill_output(run, 3, mill_value_alloc(run, NULL, sizeof(mill_report)));
}

static mill_status emits_twice(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    run->host->emit(run, 2, "a", mill_value_alloc(run, NULL, 8));
    return run->host->emit(run, 2, "a", mill_value_alloc(run, NULL, 8));
}

static mill_status never_posts(mill_run *run, const probe_options *o, probe_state *s) {
    mill_value_alloc(run, NULL, 8);
    return probe_good(run, o, s);
}

static mill_status no_cause(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o, (void)s;
    return MILL_E_DATA;
}

static mill_status no_status(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    probe_post(run, 1);
    return (mill_status)42;
}

static mill_status gives_up(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o, (void)s;
    return MILL_E_CANCELLED;
}

static mill_status never_ends(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    for (int i = 0; i < 50; i++)
        mill_cancelled(run);
    return probe_post(run, 1);
}

static mill_status asks_in_vain(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    mill_cancelled(run);
    return probe_post(run, 1);
}

static mill_status prints(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    printf("# so much for now\n# and more\n");
    return probe_post(run, 1);
}

static mill_status posts_elsewhere(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    return mill_output(run, 9, mill_value_alloc(run, NULL, 8));
}

static mill_status asks_elsewhere(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    return probe_post(run, mill_input(run, 9, 0) != NULL);
}

static mill_status fails_when_cancelled(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    if (mill_cancelled(run))
        return mill_fail(run, MILL_E_DATA, "I was disturbed");
    return probe_post(run, 1);
}

static void *call_output(void *run) {
    probe_post(run, 1);
    return NULL;
}

static mill_status posts_from_thread(mill_run *run, const probe_options *o, probe_state *s) {
    pthread_t thread;
    (void)o, (void)s;
    pthread_create(&thread, NULL, call_output, run);
    pthread_join(thread, NULL);
    return MILL_OK;
}

static void *wait_long(void *nothing) {
    while (!atomic_load(&probe_may_end))
        g_usleep(1000);
    return nothing;
}

static mill_status leaves_thread(mill_run *run, const probe_options *o, probe_state *s) {
    pthread_t thread;
    (void)o, (void)s;
    pthread_create(&thread, NULL, wait_long, NULL);
    pthread_detach(thread);
    return probe_post(run, 1);
}

#ifndef SANITIZED
static void *leaked; /* a chain, so that a leak checker still sees all */

static mill_status leaks_memory(mill_run *run, const probe_options *o, probe_state *s) {
    void **block = malloc(100);
    (void)o, (void)s;
    *block = leaked;
    leaked = block;
    return probe_post(run, 1);
}
#endif

static mill_status leaks_file(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    if (open("/dev/null", O_RDONLY) < 0)
        return mill_fail(run, MILL_E_IO, "no /dev/null");
    return probe_post(run, 1);
}

static mill_status counts_items(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o;
    return probe_post(run, ++s->sum);
}

static mill_status counts_lives(mill_run *run, const probe_options *o, probe_state *s) {
    static int64_t lives;
    (void)o, (void)s;
    return probe_post(run, ++lives);
}

/* Which index comes first does not hang on how the threads are scheduled, but for a few. */
static mill_status note_first(mill_run *run, void *arg, size_t i) {
    (void)run;
    size_t none = SIZE_MAX;
    atomic_compare_exchange_strong((atomic_size_t *)arg, &none, i);
    return MILL_OK;
}

static mill_status counts_on_order(mill_run *run, const probe_options *o, probe_state *s) {
    atomic_size_t first = SIZE_MAX;
    (void)o, (void)s;
    run->host->parallel(run, 1000, note_first, &first);
    return probe_post(run, first > 500);
}

static mill_status writes_blindly(mill_run *run, const probe_options *o, probe_state *s) {
    mill_sink *sink;
    (void)s;
    if (run->host->sink_open(run, o->out, &sink) == MILL_OK)
        sink->write(sink, "text", 4);
    return probe_post(run, 1);
}

static mill_status drops_unheld(mill_run *run, const probe_options *o, probe_state *s) {
    run->host->drop(run, mill_input(run, 0, 0));
    return probe_good(run, o, s);
}

static mill_status asks_for_unknown(mill_run *run, const probe_options *o, probe_state *s) {
    mill_option_given(run, "bottom");
    return probe_good(run, o, s);
}

static mill_status posts_own(mill_run *run, const probe_options *o, probe_state *s) {
    probe_own *made = malloc(sizeof *made);
    made->number = 12;
    mill_status status = mill_output(run, 1, made);
    return status == MILL_OK ? probe_good(run, o, s) : status;
}

static mill_status makes_value(mill_run *run) {
    mill_value_alloc(run, NULL, 8);
    return MILL_OK;
}

typedef struct wrong {
    const char *name;
    probe_fn run, finish;
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
    {"cause", no_cause, NULL,
     "`run` of item a: fails with MILL_E_DATA and gives no cause (use mill_fail)"},
    {"status", no_status, NULL, "`run` of item a: returns 42, which is no status"},
    {"gives-up", gives_up, NULL, "returns MILL_E_CANCELLED, though nobody asked it to end"},
    {"cancel", never_ends, NULL, "goes on when it is cancelled: mill_cancelled said yes at call 1"},
    {"cancel-last", asks_in_vain, NULL,
     "mill_cancelled said yes at call 1, and it did not return MILL_E_CANCELLED"},
    {"prints", prints, NULL,
     "`run` of item a: prints to standard output, which is for results (sink_open, mill_log): "
     "\"# so much for now\""},
    {"no-output", posts_elsewhere, NULL,
     "`run` of item a: posts on output 9, which the class does not have (the first is 0)"},
    {"no-input", asks_elsewhere, NULL,
     "`run` of item a: asks for input 9, which the class does not have (the first is 0)"},
    {"cancel-status", fails_when_cancelled, NULL,
     "returns MILL_E_DATA when it is cancelled, not MILL_E_CANCELLED: I was disturbed"},
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

static void test_wrong(const void *data) {
    const wrong *w = data;
    probe_behave(w->run, w->finish);
    kit_test *t = probe_two_items();
    mill_status status = kit_test_run(t);
    if (!strstr(kit_test_breaches(t), w->told))
        g_error("expected: %s\ntold: %s", w->told, kit_test_breaches(t));
    g_assert_cmpint(status, ==, MILL_E_PLUGIN);
    kit_test_destroy(t);
    atomic_store(&probe_may_end, true);
}

static void test_wrong_check(void) {
    probe_behave(probe_good, NULL);
    probe_checking = makes_value;
    kit_test *t = probe_two_items();
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_PLUGIN);
    g_assert_cmpstr(kit_test_breaches(t), ==, "`check`: makes a value in `check`\n");
    kit_test_destroy(t);
}

static void test_wrong_type(void) {
    probe_behave(posts_own, NULL);
    probe_careless = true;
    kit_test *t = probe_two_items();
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_PLUGIN);
    g_assert_nonnull(strstr(kit_test_breaches(t), "`load` of test.own/1 takes the first 8 of the "
                                                  "16 bytes that `save` wrote\n"));
    probe_careless = false;
    probe_forgetful = true;
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_PLUGIN);
    g_assert_cmpstr(kit_test_breaches(t), ==,
                    "a test.own/1 is another one after `save` and `load`: its saved bytes\n");
    kit_test_destroy(t);
}

void harness_wrong_add(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(wrongs); i++) {
        g_autofree char *path = g_strconcat("/harness/wrong/", wrongs[i].name, NULL);
        g_test_add_data_func(path, &wrongs[i], test_wrong);
    }
    g_test_add_func("/harness/wrong/check", test_wrong_check);
    g_test_add_func("/harness/wrong/type", test_wrong_type);
}
