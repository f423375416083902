/* SPDX-License-Identifier: Apache-2.0 */
/* Further lives of the class, each of which brings one kind of mistake to light. */
#include "private.h"

#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define CANCEL_MOST 24       /* lives that are cancelled */
#define CANCEL_PATIENCE 1000 /* questions after the first that was answered with yes */
#define DISK_MOST 16
#define LEAK_LIVES 6

static bool wanted(const kit_test *t, uint32_t check) {
    return !(t->without & check);
}

static kt_pass *live(kit_test *t, const kt_plan *how) {
    kt_pass *p = kt_pass_create(t, how);
    kt_pass_perform(p);
    return p;
}

/* The same as the life that was asked for, in one item or in all. */
static void expect_same(kit_test *t, const kt_pass *p, size_t item) {
    char *words = NULL;
    if (p->status != t->result->status && item == SIZE_MAX)
        kt_breach(t, "gives another status%s: %s, then %s: %s", p->plan.what,
                  kt_status_name(t->result->status), kt_status_name(p->status),
                  kt_text_of(&p->kept));
    else
        words = kt_compare_passes(t, t->result, p, item);
    if (words)
        kt_breach(t, "gives something else%s: %s", p->plan.what, words);
    free(words);
}

static void live_and_compare(kit_test *t, const kt_plan *how, size_t item) {
    kt_pass *p = live(t, how);
    expect_same(t, p, item);
    kt_pass_destroy(p);
}

static void again(kit_test *t) {
    const kt_plan how = {.what = " (in a second life)", .jobs = 1};
    live_and_compare(t, &how, SIZE_MAX);
}

static void threads(kit_test *t) {
    const kt_plan how = {.what = " (with 4 threads, the last index first)", .jobs = 4};
    live_and_compare(t, &how, SIZE_MAX);
}

/* Items must not know of each other but in a stage that sees them one after another. */
static void orders(kit_test *t) {
    size_t n = t->n_items;
    if (n < 2 || t->stage->flags & MILL_STAGE_SINGLE || kt_takes(t, MILL_PORT_STREAM))
        return;
    size_t *order = kt_alloc(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = n - 1 - i;
    const kt_plan reverse = {
        .what = " (items in the reverse order)", .order = order, .n_order = n, .jobs = 1};
    kt_pass *p = live(t, &reverse);
    for (size_t i = 0; i < n; i++)
        expect_same(t, p, i);
    kt_pass_destroy(p);
    for (size_t i = 0; i < n; i++) {
        const kt_plan alone = {.what = " (an item alone)", .order = &i, .n_order = 1, .jobs = 1};
        live_and_compare(t, &alone, i);
    }
    free(order);
}

/* ---------------------------------------------------------------- asked to end */

/* The questions up to the end of the callback that asks question `call`. */
static size_t calls_when_left(const kt_pass *p, size_t call) {
    size_t i = 0;
    while (i + 1 < p->n_left && p->left[i] < call)
        i++;
    return p->left[i];
}

static void cancel_at(kit_test *t, size_t call) {
    char what[100];
    const kt_plan how = {.what = what, .cancel_at = call, .jobs = 1};
    snprintf(what, sizeof what, " (cancelled at its question %zu)", call);
    kt_pass *p = live(t, &how);
    size_t all = calls_when_left(t->result, call);
    bool ignored = p->status >= MILL_OK && p->cancel_calls >= all;
    if ((ignored && p->calls_after > 0) || p->calls_after > CANCEL_PATIENCE)
        kt_breach(t,
                  "goes on when it is cancelled: mill_cancelled said yes at call %zu, and it "
                  "asked %zu times more",
                  call, p->calls_after);
    else if (ignored)
        kt_breach(t,
                  "goes on when it is cancelled: mill_cancelled said yes at call %zu, and it did "
                  "not return MILL_E_CANCELLED",
                  call);
    kt_pass_destroy(p);
}

/* At the first questions, then at ever larger steps, and at the last. */
static void cancel(kit_test *t) {
    size_t calls = t->result->cancel_calls, step = 1;
    for (size_t at = 1, lives = 0; at < calls && lives < CANCEL_MOST; at += step, lives++) {
        cancel_at(t, at);
        if (lives >= CANCEL_MOST / 3)
            step = calls / CANCEL_MOST + 1;
    }
    if (calls > 0)
        cancel_at(t, calls);
}

/* ---------------------------------------------------------------- a full disk */

static void disk(kit_test *t) {
    size_t writes = t->result->writes, step = writes / DISK_MOST + 1;
    for (size_t at = 1; at <= writes; at += step) {
        char what[100];
        const kt_plan how = {.what = what, .write_fails_at = at, .jobs = 1};
        snprintf(what, sizeof what, " (write %zu fails)", at);
        kt_pass *p = live(t, &how);
        if (p->status >= MILL_OK)
            kt_breach(t, "ends well though a write failed%s", what);
        kt_pass_destroy(p);
    }
}

/* ---------------------------------------------------------------- what is left */

/* Bytes in use, where the C library tells; with a sanitizer it is for that to tell. */
static size_t bytes_in_use(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static size_t open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    size_t n = 0;
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

typedef struct life {
    kit_test *test;
    const kt_plan *how;
} life;

static void *live_in_thread(void *data) {
    const life *l = data;
    kt_pass_destroy(live(l->test, l->how));
    return NULL;
}

/* A thread of its own for each life: what the C library keeps for a thread's next request, and
 * counts as in use, it gives back at the thread's end. */
static void live_apart(kit_test *t, const kt_plan *how) {
    pthread_t thread;
    life l = {t, how};
    if (pthread_create(&thread, NULL, live_in_thread, &l) != 0)
        kt_mistake("no more threads");
    pthread_join(thread, NULL);
}

/* Something that each of the last lives adds is left by each; what only the first ones add is kept
 * for later ones. */
static void leaks(kit_test *t, kt_plan how, const char *when) {
    size_t bytes[LEAK_LIVES], files[LEAK_LIVES], least = SIZE_MAX, left = SIZE_MAX;
    how.quiet = true;
    for (int i = 0; i < LEAK_LIVES; i++) {
        live_apart(t, &how);
        bytes[i] = bytes_in_use();
        files[i] = open_files();
    }
    for (int i = LEAK_LIVES - 3; i < LEAK_LIVES; i++) {
        size_t more = bytes[i] > bytes[i - 1] ? bytes[i] - bytes[i - 1] : 0;
        size_t opened = files[i] > files[i - 1] ? files[i] - files[i - 1] : 0;
        least = more < least ? more : least;
        left = opened < left ? opened : left;
    }
    if (least > 0)
        kt_breach(t, "leaves at least %zu bytes of memory in each life%s", least, when);
    if (left > 0)
        kt_breach(t, "leaves %zu open file%s in each life%s", left, left == 1 ? "" : "s", when);
}

static void all_leaks(kit_test *t) {
    leaks(t, (kt_plan){.what = "", .jobs = 1}, "");
    if (t->result->cancel_calls > 0)
        leaks(t, (kt_plan){.what = "", .jobs = 1, .cancel_at = (t->result->cancel_calls + 1) / 2},
              " that is cancelled");
}

static void types(kit_test *t) {
    for (size_t i = 0; i < t->result->n_outputs; i++) {
        const kt_posted *o = &t->result->outputs[i];
        kt_compare_round_trip(t, o->v, kt_port(t->stage, t->stage->outputs, o->port)->name);
    }
}

void kt_rounds(kit_test *t) {
    bool well = t->result->status >= MILL_OK;
    if (t->result->blamed)
        return; /* one breach makes others */
    if (wanted(t, KIT_TEST_TYPES))
        types(t);
    if (wanted(t, KIT_TEST_AGAIN))
        again(t);
    if (well && wanted(t, KIT_TEST_ORDER))
        orders(t);
    if (wanted(t, KIT_TEST_THREADS))
        threads(t);
    if (well && wanted(t, KIT_TEST_CANCEL))
        cancel(t);
    if (well && wanted(t, KIT_TEST_DISK))
        disk(t);
    if (wanted(t, KIT_TEST_LEAKS))
        all_leaks(t);
}
