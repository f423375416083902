/* SPDX-License-Identifier: Apache-2.0 */
/* How items flow: who gets what, in which order, and what becomes of the rest when some fail. */
#include "flow.h"
#include "rig.h"

static flow_watch *seen;

/* "[NAME]\nuse = flow.CLASS\nREST\n": NAME for short. */
#define READ(NAME, PATH, ...) "[" NAME "]\nuse = flow.read\npath = " PATH "\n" __VA_ARGS__ "\n"
#define SPLIT(NAME, PATH, ...) "[" NAME "]\nuse = flow.split\npath = " PATH "\n" __VA_ARGS__ "\n"
#define STAGE(NAME, CLASS, IN, ...)                                                                \
    "[" NAME "]\nuse = flow." CLASS "\nin = " IN "\n" __VA_ARGS__ "\n"
#define JOIN(NAME, A, B, ...)                                                                      \
    "[" NAME "]\nuse = flow.join\nin.a = " A "\nin.b = " B "\n" __VA_ARGS__ "\n"
#define ONE(NAME, ...) "[" NAME "]\nuse = flow.one\ntag = " NAME "\n" __VA_ARGS__ "\n"

static void set_up(void) {
    rig_clean();
    rig_files("r%d", 1, 3);
    *seen = (flow_watch){.seed = seen->seed};
}

static void test_per_item(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("m", "map", "r") STAGE("w", "write", "m"), 0,
               "write(map(1))\nwrite(map(2))\nwrite(map(3))\n");
}

/* Natural order: 10 comes after 9. */
static void test_key_order(void) {
    set_up();
    rig_files("r%d", 9, 11);
    rig_prints(READ("r", "r*", "nap = 3ms") STAGE("w", "write", "r"), 0,
               "write(1)\nwrite(2)\nwrite(3)\nwrite(9)\nwrite(10)\nwrite(11)\n");
}

static void test_join_and_broadcast(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("m", "map", "r", "nap = 2ms") ONE("one")
                   JOIN("j", "r", "m", "in.c = one") STAGE("w", "write", "j", "tag = w"),
               0, "w(join(1,map(1),one()))\nw(join(2,map(2),one()))\nw(join(3,map(3),one()))\n");
}

static void test_optional_input(void) {
    set_up();
    rig_prints(READ("r", "r1") JOIN("j", "r", "r") STAGE("w", "write", "j"), 0,
               "write(join(r1,r1,-))\n");
}

/* As listed, then by key. */
static void test_many(void) {
    set_up();
    rig_prints(READ("r", "r*", "nap = 2ms") STAGE("m", "map", "r", "nap = 2ms") ONE("one")
                   STAGE("l", "list", "m, one, r"),
               0, "sink(m:1=map(1);m:2=map(2);m:3=map(3);one:=one();r:1=1;r:2=2;r:3=3)\n");
}

/* By key, then as listed; what has no key comes last. */
static void test_stream(void) {
    set_up();
    rig_prints(READ("r", "r*", "nap = 2ms") STAGE("m", "map", "r", "nap = 2ms") ONE("one")
                   STAGE("s", "sink", "one, m, r"),
               0,
               "sink(m:1=map(1))\nsink(r:1=1)\nsink(m:2=map(2))\nsink(r:2=2)\nsink(m:3=map(3))\n"
               "sink(r:3=3)\nsink(one:=one())\nend of 7\n");
}

static void test_stream_without_items(void) {
    set_up();
    rig_prints("[r]\nuse = flow.read\npath = none*\nrun.missing = ok\n"
               "[s]\nuse = flow.sink\nin = r\n",
               0, "end of 0\n");
}

/* A SINGLE stage sees the keys in their order, whatever order they are ready in. */
static void test_single_order(void) {
    set_up();
    rig_prints(READ("r", "r*", "nap = 5ms") STAGE("s", "serial", "r", "nap = 1ms")
                   STAGE("w", "write", "s"),
               0, "write(map(1)#1)\nwrite(map(2)#2)\nwrite(map(3)#3)\n");
    g_assert_cmpint(seen->clashes, ==, 0);
}

/* What a stage posts in finish goes to those that take it. */
static void test_sum(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("s", "sum", "r") JOIN("j", "r", "s") STAGE("w", "write", "j"),
               0,
               "write(join(1,sum of 3,-))\nwrite(join(2,sum of 3,-))\nwrite(join(3,sum of 3,-))\n");
}

/* ---------------------------------------------------------------- several items of one file */

static void test_items(void) {
    set_up();
    rig_prints(SPLIT("s", "r*", "subs = b, a\ntag = s") STAGE("m", "map", "s", "nap = 2ms")
                   STAGE("l", "list", "m") STAGE("k", "sink", "m"),
               0,
               "sink(m:1:a=map(s().a);m:1:b=map(s().b);m:2:a=map(s().a);m:2:b=map(s().b);"
               "m:3:a=map(s().a);m:3:b=map(s().b))\n"
               "sink(m:1:a=map(s().a))\nsink(m:1:b=map(s().b))\nsink(m:2:a=map(s().a))\n"
               "sink(m:2:b=map(s().b))\nsink(m:3:a=map(s().a))\nsink(m:3:b=map(s().b))\n"
               "end of 6\n");
}

/* Items of one file are joined by their sub-keys, and share the file's other values. */
static void test_items_joined(void) {
    set_up();
    rig_prints(SPLIT("s", "r1", "subs = a, b") STAGE("m", "map", "s") READ("r", "r1")
                   JOIN("j", "s", "m", "in.c = r") STAGE("w", "write", "j"),
               0,
               "write(join(read().a,map(read().a),r1))\nwrite(join(read().b,map(read().b),r1))\n");
}

/* The only item of a run keeps its key, and so fits to what has no sub-keys. */
static void test_items_only(void) {
    set_up();
    const char *ini =
        SPLIT("s", "r*", "subs = only") READ("r", "r*") JOIN("j", "s", "r") STAGE("k", "list", "j");
    rig_prints(ini, 0,
               "sink(j:1=join(read().only,1,-);j:2=join(read().only,2,-);"
               "j:3=join(read().only,3,-))\n");
}

static void test_items_of_one(void) {
    set_up();
    const char *ini = ONE("one") STAGE("c", "cut", "one", "subs = 2, 10, 1") STAGE("m", "map", "c")
        STAGE("w", "write", "m", "tag = w");
    rig_prints(ini, 0, "w(map(map(one()).1))\nw(map(map(one()).2))\nw(map(map(one()).10))\n");
    g_auto(rig_result) r = rig_run(ini, 2);
    g_assert_cmpstr(r.parts, ==,
                    "[w] 1: w(map(map(one()).1))\n[w] 2: w(map(map(one()).2))\n"
                    "[w] 10: w(map(map(one()).10))\n");
}

static void test_no_items(void) {
    set_up();
    rig_prints(SPLIT("s", "r*") STAGE("m", "map", "s") STAGE("k", "sink", "m")
                   STAGE("w", "write", "m"),
               0, "end of 0\n");
}

/* Only at run time is it known that they do not fit. */
static void test_items_unfit(void) {
    set_up();
    const char *ini = SPLIT("s", "r*", "subs = a, b") SPLIT("t", "r*", "subs = a\n")
        JOIN("j", "s", "t") STAGE("k", "sink", "j");
    rig_fails(
        ini, MILL_E_CONFIG,
        "[j] 1 E_CONFIG: input \"b\" takes the items of [t] by key, and [t] gave none with the "
        "key \"1:b\"");
}

/* An item that was lost is no want of fit. */
static void test_items_lost(void) {
    set_up();
    rig_prints(SPLIT("s", "r1", "subs = a, b") STAGE("m", "map", "s", "fail = r1:a")
                   STAGE("n", "map", "m") JOIN("j", "s", "n") STAGE("k", "list", "j"),
               65, "sink(j:r1:b=join(read().b,map(map(read().b)),-)|missing j:r1:a)\n");
}

static void test_items_all_lost(void) {
    set_up();
    rig_prints(SPLIT("s", "r1, r2", "subs = a, b") STAGE("m", "map", "s", "fail = r1:a, r1:b")
                   STAGE("n", "map", "m") STAGE("k", "list", "n"),
               65,
               "sink(n:r2:a=map(map(read().a));n:r2:b=map(map(read().b))"
               "|missing n:r1:a n:r1:b)\n");
}

/* ---------------------------------------------------------------- failures */

static void test_failed_item(void) {
    set_up();
    const char *ini =
        READ("r", "r*") STAGE("m", "map", "r", "fail = 2\nnap = 2ms") STAGE("n", "map", "m")
            STAGE("g", "gather", "n, r") STAGE("w", "write", "g") STAGE("s", "sink", "n");
    rig_prints(ini, 65,
               "write(gather(n:1=map(map(1));n:3=map(map(3));r:1=1;r:2=2;r:3=3|missing n:2))\n"
               "sink(n:1=map(map(1)))\nsink(n:3=map(map(3))|missing n:2)\nend of 2|missing n:2\n");
    g_auto(rig_result) r = rig_run(ini, 3);
    g_assert_cmpstr(r.failures, ==, "[m] 2 E_DATA: told to fail\n");
    g_assert_cmpstr(r.counts, ==, "r 3/0/0 m 2/1/0 n 2/0/1 g 1/0/0 w 1/0/0 s 2/0/1 ");
}

static void test_all_failed(void) {
    set_up();
    rig_prints(READ("r", "r*", "fail = 1, 2, 3") STAGE("g", "gather", "r") STAGE("w", "write", "g")
                   STAGE("s", "sink", "r") STAGE("u", "sum", "r"),
               65, "");
    g_assert_cmpint(seen->opened, ==, seen->closed);
}

/* An input that may be left unconnected is needed all the same once it is connected. */
static void test_failed_optional_input(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("m", "map", "r", "fail = 2") JOIN("j", "r", "r", "in.c = m")
                   STAGE("w", "write", "j"),
               65, "write(join(1,1,map(1)))\nwrite(join(3,3,map(3)))\n");
}

static void test_unset_output(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("y", "maybe", "r", "unset = 2") JOIN("j", "r", "r", "in.c = y")
                   STAGE("w", "write", "j") STAGE("v", "write", "y") STAGE("l", "list", "y"),
               0,
               "write(join(1,1,map(1)))\nwrite(join(2,2,-))\nwrite(join(3,3,map(3)))\n"
               "write(map(1))\nwrite(map(3))\nsink(y:1=map(1);y:3=map(3))\n");
}

/* The first failure in the order of stages, then keys; a gate counts less than any failure. */
static void test_exit_code(void) {
    set_up();
    rig_prints(READ("r", "r*", "nap = 3ms") STAGE("m", "map", "r", "gate = 1, 2")
                   STAGE("w", "write", "m"),
               1, "write(map(1))\nwrite(map(2))\nwrite(map(3))\n");
    rig_prints(READ("r", "r*", "nap = 3ms") STAGE("g", "map", "r", "gate = 1")
                   STAGE("n", "map", "r", "open-fails = yes") STAGE("m", "map", "r", "fail = 2"),
               66, "");
    rig_prints(READ("r", "r*") STAGE("m", "map", "r", "fail = 2\nnap = 3ms")
                   STAGE("n", "map", "r", "open-fails = yes"),
               65, "");
}

/* One message, whatever the number of instances, and nothing more is tried. */
static void test_open_fails(void) {
    set_up();
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        g_auto(rig_result) r = rig_run(READ("r", "r*") STAGE("m", "map", "r", "open-fails = yes")
                                           STAGE("s", "sink", "m"),
                                       jobs);
        g_assert_cmpstr(r.failures, ==, "[m]  E_NOINPUT: told not to open\n");
        g_assert_cmpstr(r.counts, ==, "r 3/0/0 m 0/1/2 s 0/0/3 ");
    }
    g_assert_cmpint(seen->opened, ==, seen->closed);
}

/* Nothing is made of a stream that was cut short. */
static void test_stop_on_error(void) {
    set_up();
    for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
        g_auto(rig_result) r =
            rig_run("[pipeline]\non-error = stop\n" READ("r", "r*", "fail = 1")
                        STAGE("s", "sink", "r") STAGE("u", "sum", "r") STAGE("w", "write", "u"),
                    jobs);
        g_assert_cmpint(r.exit_code, ==, 65);
        g_assert_cmpstr(r.failures, ==, "[r] 1 E_DATA: told to fail\n");
        g_assert_cmpstr(r.printed, ==, "");
    }
    g_assert_cmpint(seen->opened, ==, seen->closed);
}

static void test_all_runs_of_a_stream_fail(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("u", "sum", "r", "fail = 1, 2, 3") STAGE("w", "write", "u"),
               65, "write(sum of 3)\n");
}

/* ---------------------------------------------------------------- reports */

static void test_to_report(void) {
    set_up();
    rig_prints(READ("r", "r*") STAGE("t", "tell", "r") STAGE("u", "tell", "r"), 0,
               "test.item/1 as item: 1\ntest.item/1 as item: 2\ntest.item/1 as item: 3\n"
               "test.item/1 as item: 1\ntest.item/1 as item: 2\ntest.item/1 as item: 3\n");
}

static void test_to_report_fails(void) {
    set_up();
    rig_fails(
        ONE("no-report") STAGE("t", "tell", "no-report"), MILL_E_DATA,
        "cannot make a report of the test.item/1 from [no-report]\n  caused by: the text says "
        "no");
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    seen = rig_symbol("flow", "flow_seen");
    g_test_add_func("/flow/per-item", test_per_item);
    g_test_add_func("/flow/key-order", test_key_order);
    g_test_add_func("/flow/join-and-broadcast", test_join_and_broadcast);
    g_test_add_func("/flow/optional-input", test_optional_input);
    g_test_add_func("/flow/many", test_many);
    g_test_add_func("/flow/stream", test_stream);
    g_test_add_func("/flow/stream-without-items", test_stream_without_items);
    g_test_add_func("/flow/single-order", test_single_order);
    g_test_add_func("/flow/sum", test_sum);
    g_test_add_func("/items/listed", test_items);
    g_test_add_func("/items/joined", test_items_joined);
    g_test_add_func("/items/only", test_items_only);
    g_test_add_func("/items/of-one", test_items_of_one);
    g_test_add_func("/items/none", test_no_items);
    g_test_add_func("/items/unfit", test_items_unfit);
    g_test_add_func("/items/lost", test_items_lost);
    g_test_add_func("/items/all-lost", test_items_all_lost);
    g_test_add_func("/failures/one-item", test_failed_item);
    g_test_add_func("/failures/all-items", test_all_failed);
    g_test_add_func("/failures/optional-input", test_failed_optional_input);
    g_test_add_func("/failures/unset-output", test_unset_output);
    g_test_add_func("/failures/exit-code", test_exit_code);
    g_test_add_func("/failures/open", test_open_fails);
    g_test_add_func("/failures/stop", test_stop_on_error);
    g_test_add_func("/failures/whole-stream", test_all_runs_of_a_stream_fail);
    g_test_add_func("/reports/made", test_to_report);
    g_test_add_func("/reports/failed", test_to_report_fails);
    return rig_finish();
}
