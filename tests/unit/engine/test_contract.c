/* SPDX-License-Identifier: Apache-2.0 */
/* Each breach of the contract is told as the module's bug, in words that say what it did, and
 * harms nothing else. */
#include "rig.h"

#define WRONG(HOW) "[w]\nuse = wrong.one\nhow = " HOW "\n"
#define STREAM(HOW) WRONG("nothing") "[s]\nuse = wrong.stream\nin = w.out\nhow = " HOW "\n"

static void test_bugs(void) {
    static const struct {
        const char *how, *said;
    } bugs[] = {
        {"status-42", "returned 42 from `run`, which is no status"},
        {"status-minus-42", "returned -42 from `run`, which is no status"},
        {"no-output", "ended well but posted no \"out\""},
        {"no-cause", "failed in `run` with E_IO and said no cause"},
        {"cancelled", "gave up in `run` as cancelled, though nobody asked"},
        {"twice", "posted twice on one output"},
        {"twice-hidden", "posted twice on one output"},
        {"no-such-port", "posted on an output that it does not have"},
        {"null-value", "posted NULL where its output \"out\" is mill.report/1"},
        {"foreign-memory", "posted something that was not made by value_alloc where its output"},
        {"small-value", "posted something else (its size does not fit) where its output \"out\""},
        {"boasting-value", "posted something else (its size does not fit)"},
        {"emit-on-one", "emitted where it may not"},
        {"output-on-items", "used output on a port of items, which takes emit"},
        {"same-sub-key", "emitted two items with one sub-key"},
        {"bad-sub-key", "emitted an item whose sub-key is not [A-Za-z0-9._-]+"},
        {"only-then-more", "emitted an item beside one without a sub-key"},
        {"more-then-only", "emitted an item beside one without a sub-key"},
        {"only-twice", "emitted an item beside one without a sub-key"},
        {"value-twice", "emitted one value twice"},
        {"value-on-two-ports", "emitted one value twice"},
        {"memory-of-no-value", "asked for memory of something that is no value it has begun"},
        {"memory-of-posted", "asked for memory of something that is no value it has begun"},
        {"hold-nothing", "holds something that is no input of this run"},
        {"open-output", "posted where it may not"},
        {"finish-twice", "posted twice on one output"},
        {"finish-no-cause", "failed in `finish` with E_DATA and said no cause"},
        {"close-output", "posted where it may not"},
    };
    rig_clean();
    for (size_t i = 0; i < G_N_ELEMENTS(bugs); i++) {
        g_autofree char *ini = g_strdup_printf(WRONG("%s"), bugs[i].how);
        g_test_message("%s", bugs[i].how);
        rig_fails(ini, MILL_E_PLUGIN, bugs[i].said);
        rig_fails(ini, MILL_E_PLUGIN, ": this is a bug of module test.wrong 1.0.0 (/");
    }
}

static void test_no_bug(void) {
    rig_clean();
    rig_prints(STREAM("nothing"), 0, "");
}

static void test_stream(void) {
    rig_clean();
    rig_fails(STREAM("stream-output"), MILL_E_PLUGIN, "posted where it may not");
    rig_fails(STREAM("stream-nothing"), MILL_E_PLUGIN, "ended well but posted no \"out\"");
}

static void test_check(void) {
    rig_clean();
    g_assert_true(rig_accepts(WRONG("nothing")));
    for (const char *const *how =
             (const char *const[]){"check-fails", "check-no-cause", "check-gate", "check-value",
                                   "check-sink", NULL};
         *how != NULL; how++) {
        g_autofree char *ini = g_strdup_printf(WRONG("%s"), *how);
        g_assert_false(rig_accepts(ini));
    }
}

/* The class that takes the report is not to blame. */
static void test_to_report(void) {
    rig_clean();
    rig_fails("[o]\nuse = wrong.own\n[t]\nuse = flow.tell\nin = o.own\n", MILL_E_PLUGIN,
              "`to_report` of test.own/1 made no report: this is a bug of the module that "
              "describes the type");
    rig_fails("[o]\nuse = wrong.own\n[t]\nuse = flow.tell\nin = o.silent\n", MILL_E_PLUGIN,
              "`to_report` of test.silent/1 failed and said no cause");
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    g_test_add_func("/contract/bugs", test_bugs);
    g_test_add_func("/contract/kept", test_no_bug);
    g_test_add_func("/contract/stream", test_stream);
    g_test_add_func("/contract/check", test_check);
    g_test_add_func("/contract/to-report", test_to_report);
    return rig_finish();
}
