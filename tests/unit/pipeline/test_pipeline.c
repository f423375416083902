/* SPDX-License-Identifier: Apache-2.0 */
/* The stage classes `pipeline.operations` and `pipeline` on small pipelines whose right values were
 * worked out by hand. */
#include "job.h"
#include "look.h"

#include <string.h>

/* The parts of a stage's span, in µs, in the order of the columns. */
typedef struct right_time {
    int64_t compute, bubble, startup, wait_forward, wait_backward, transfer, inside, own, tail;
} right_time;

static void check_stage(const job *j, int64_t stage, const right_time *right) {
    static const char *const columns[] = {"compute",      "bubble",        "startup",
                                          "wait_forward", "wait_backward", "transfer",
                                          "inside",       "own",           "tail"};
    const mill_table *t = look_table(job_report(j), "stages");
    const int64_t *values = (const int64_t *)right;
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        int64_t ns = look_cell(t, stage, columns[i]).i;
        if (ns != values[i] * 1000)
            g_error("stage %d, %s: %g µs, not %g", (int)stage, columns[i], (double)ns / 1000,
                    (double)values[i]);
    }
}

/* ---------------------------------------------------------------- profiles */

/* Two stages, two micro-batches, F 10 and B 20 µs:
 *
 *     stage 0  F0 [0,10)   send [10,12)  F1 [12,22)  exchange [22,47)  B0 [47,67)
 *              receive [67,79)  B1 [79,99)
 *     stage 1  receive [2,12)  F0 [12,17) and [19,24), an all-reduce between  B0 [24,44)
 *              exchange [44,47)  F1 [47,57)  B1 [57,77)  send [77,79)
 *
 * Transfers take 2, 3 and 2 µs; whoever was there first waited. */
static void add_two_stages(job *j, const char *send, const char *receive) {
    job_compute(j, 0, 'F', 0, 10);
    job_hand_over(j, 0, 10, 12, send, 1);
    job_compute(j, 0, 'F', 12, 22);
    job_hand_over(j, 0, 22, 47, NULL, 0);
    job_compute(j, 0, 'B', 47, 67);
    job_hand_over(j, 0, 67, 79, receive, 1);
    job_compute(j, 0, 'B', 79, 99);
    job_hand_over(j, 1, 2, 12, receive, 0);
    job_compute(j, 1, 'F', 12, 17);
    job_kernel(j, 1, 21, 17, 19, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "work(F)", "");
    job_compute(j, 1, 'F', 19, 24);
    job_compute(j, 1, 'B', 24, 44);
    job_hand_over(j, 1, 44, 47, NULL, 0);
    job_compute(j, 1, 'F', 47, 57);
    job_compute(j, 1, 'B', 57, 77);
    job_hand_over(j, 1, 77, 79, send, 0);
}

static const right_time two_stages[] = {
    {.compute = 60, .bubble = 39, .wait_backward = 32, .transfer = 7},
    {.compute = 60, .bubble = 39, .startup = 10, .transfer = 7, .inside = 2, .tail = 20},
};

static void check_two_stages(const job *j) {
    const mill_report *r = job_report(j);
    for (int64_t s = 0; s < 2; s++)
        check_stage(j, s, &two_stages[s]);
    g_assert_cmpint(look_int(r, "span", NULL), ==, 99000);
    g_assert_cmpint(look_int(r, "transfer", NULL), ==, 2000);
    g_assert_cmpint(look_int(r, "micro_batches", NULL), ==, 2);
    const mill_table *profiles = look_table(r, "profiles");
    g_assert_cmpint(look_cell(profiles, 1, "n").i, ==, 3);
    g_assert_cmpint(look_cell(profiles, 1, "offset").i, ==, j->skew[1] * 1000);
    g_assert_cmpint(look_cell(profiles, 1, "spread").i, ==, 0);
    g_assert_null(look_note(r, "alone"));
    g_assert_null(look_note(r, "clocks"));
    g_assert_null(look_note(r, "counts_differ"));
    g_assert_null(look_note(r, "coverage"));
}

/* Of two stages it is clear who the other end is, whatever the files tell. */
static void test_two_stages(void) {
    static const char *const told[][2] = {{NULL, NULL}, {"send", "recv"}};
    for (size_t i = 0; i < G_N_ELEMENTS(told); i++) {
        g_autoptr(job) j = job_create(2);
        j->skew[1] = 5000;
        add_two_stages(j, told[i][0], told[i][1]);
        g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
        check_two_stages(j);
    }
}

static void test_two_stages_schedule(void) {
    static const struct {
        mill_op_kind kind;
        uint32_t micro_batch;
        int64_t start, end;
    } right[] = {
        {MILL_OP_FORWARD, 0, 0, 10},           {MILL_OP_SEND, MILL_NO_OP, 10, 12},
        {MILL_OP_FORWARD, 1, 12, 22},          {MILL_OP_RECEIVE, MILL_NO_OP, 22, 47},
        {MILL_OP_BACKWARD, 0, 47, 67},         {MILL_OP_RECEIVE, MILL_NO_OP, 67, 79},
        {MILL_OP_BACKWARD, 1, 79, 99},         {MILL_OP_RECEIVE, MILL_NO_OP, 2, 12},
        {MILL_OP_FORWARD, 0, 12, 24},          {MILL_OP_BACKWARD, 0, 24, 44},
        {MILL_OP_RECEIVE, MILL_NO_OP, 44, 47}, {MILL_OP_FORWARD, 1, 47, 57},
        {MILL_OP_BACKWARD, 1, 57, 77},         {MILL_OP_SEND, MILL_NO_OP, 77, 79},
    };
    g_autoptr(job) j = job_create(2);
    add_two_stages(j, "send", "recv");
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    const mill_schedule *s = job_schedule(j);
    g_assert_cmpstr(s->id, ==, "1f1b");
    g_assert_cmpuint(s->ranks, ==, 2);
    g_assert_cmpuint(s->stages, ==, 2);
    g_assert_cmpuint(s->chunks, ==, 1);
    g_assert_cmpuint(s->micro_batches, ==, 2);
    g_assert_cmpint(s->makespan_ns, ==, 99000);
    g_assert_cmpint(s->transfer_ns, ==, 2000);
    g_assert_cmpuint(s->first[1], ==, 7);
    g_assert_cmpint(s->live[0], ==, 2);
    g_assert_cmpint(s->live[1], ==, 1);
    g_assert_cmpuint(s->n_ops, ==, G_N_ELEMENTS(right));
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        g_assert_cmpint(s->ops.kind[i], ==, right[i].kind);
        g_assert_cmpuint(s->ops.micro_batch[i], ==, right[i].micro_batch);
        g_assert_cmpint(s->ops.start[i], ==, right[i].start * 1000);
        g_assert_cmpint(s->ops.end[i], ==, right[i].end * 1000);
        if (right[i].micro_batch != MILL_NO_OP)
            g_assert_cmpuint(s->ops.stage[i], ==, i < 7 ? 0 : 1);
    }
}

/* Stage 1's forwards take 12 and 10 µs, computing 10: the median by nearest rank is the lower. */
static void test_two_stages_times(void) {
    g_autoptr(job) j = job_create(2);
    add_two_stages(j, NULL, NULL);
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    const mill_chunk_times *t = job_times(j);
    g_assert_cmpuint(t->n, ==, 2);
    for (uint64_t s = 0; s < 2; s++)
        for (int basis = 0; basis < MILL_BASES; basis++) {
            const mill_chunk_cost *c = &t->costs[s * MILL_BASES + (uint64_t)basis];
            g_assert_cmpint(c->forward, ==, 10000);
            g_assert_cmpint(c->backward, ==, 20000);
            g_assert_cmpint(c->weight, ==, MILL_UNKNOWN);
            g_assert_cmpint(c->input, ==, MILL_UNKNOWN);
            g_assert_cmpint(c->pair, ==, MILL_UNKNOWN);
        }
    g_assert_cmpint(t->samples[0], ==, 2);
    g_assert_cmpstr(t->methods[0], ==, "annotation");
}

/* Three stages, one micro-batch. Who hands on to whom is what the files tell, or what the work
 * around a hand-over says. Without both, all of a receive counts as waiting, and clocks stay as
 * they are.
 */
static void add_three_stages(job *j, const char *send, const char *receive) {
    job_compute(j, 0, 'F', 0, 10);
    job_hand_over(j, 0, 10, 14, send, 1);
    job_hand_over(j, 0, 14, 80, receive, 1);
    job_compute(j, 0, 'B', 80, 100);
    job_hand_over(j, 1, 0, 14, receive, 0);
    job_compute(j, 1, 'F', 14, 24);
    job_hand_over(j, 1, 24, 27, send, 2);
    job_hand_over(j, 1, 27, 58, receive, 2);
    job_compute(j, 1, 'B', 58, 78);
    job_hand_over(j, 1, 78, 80, send, 0);
    job_hand_over(j, 2, 20, 27, receive, 1);
    job_compute(j, 2, 'F', 27, 37);
    job_compute(j, 2, 'B', 37, 57);
    job_hand_over(j, 2, 57, 58, send, 1);
}

static void test_three_stages(void) {
    static const right_time told[] = {
        {.compute = 30, .bubble = 70, .wait_backward = 64, .transfer = 6},
        {.compute = 30,
         .bubble = 70,
         .startup = 10,
         .wait_backward = 30,
         .transfer = 10,
         .tail = 20},
        {.compute = 30, .bubble = 70, .startup = 24, .transfer = 4, .tail = 42},
    };
    static const right_time not_told[] = {
        {.compute = 30, .bubble = 70, .wait_backward = 70},
        {.compute = 30, .bubble = 70, .startup = 14, .wait_backward = 34, .tail = 22},
        {.compute = 30, .bubble = 70, .startup = 27, .tail = 43},
    };
    g_autoptr(job) j = job_create(3), inferred = job_create(3), alone = job_create(3);
    j->skew[1] = inferred->skew[1] = -300;
    j->skew[2] = inferred->skew[2] = 70;
    add_three_stages(j, "send", "recv");
    add_three_stages(inferred, NULL, NULL);
    add_three_stages(alone, NULL, NULL);
    g_assert_cmpint(job_run(j, "infer-peers=no"), ==, MILL_OK);
    g_assert_cmpint(job_run(inferred, NULL), ==, MILL_OK);
    g_assert_cmpint(job_run(alone, "infer-peers=no"), ==, MILL_OK);
    for (int64_t s = 0; s < 3; s++) {
        check_stage(j, s, &told[s]);
        check_stage(inferred, s, &told[s]);
        check_stage(alone, s, &not_told[s]);
    }
    const mill_table *profiles = look_table(job_report(j), "profiles");
    g_assert_cmpint(look_cell(profiles, 2, "offset").i, ==, 70000);
    g_assert_null(look_note(job_report(j), "alone"));
    g_assert_null(look_note(job_report(j), "peers_inferred"));
    g_assert_nonnull(look_note(job_report(inferred), "peers_inferred"));
    g_assert_nonnull(look_note(job_report(alone), "alone"));
    g_assert_nonnull(look_note(job_report(alone), "clocks"));
}

/* The middle stage of 1F1B with two warm-up forwards: between these it sends, then receives. A
 * third hand-over there can't be told, so that none of the three is. */
static void test_peers(void) {
    for (int third = 0; third < 2; third++) {
        g_autoptr(job) j = job_create(3);
        job_compute(j, 0, 'F', 0, 10);
        job_hand_over(j, 0, 10, 12, NULL, 0); /* F0 to stage 1 */
        job_compute(j, 0, 'F', 12, 22);
        job_hand_over(j, 0, 22, 26, NULL, 0); /* F1 */
        job_hand_over(j, 0, 26, 90, NULL, 0); /* B0 from stage 1 */
        job_compute(j, 0, 'B', 90, 100);
        job_hand_over(j, 1, 5, 12, NULL, 0); /* F0 */
        job_compute(j, 1, 'F', 12, 22);
        job_hand_over(j, 1, 22, 23, NULL, 0); /* F0 to stage 2 */
        job_hand_over(j, 1, 23, 26, NULL, 0); /* F1 from stage 0 */
        if (third)
            job_hand_over(j, 1, 26, 27, NULL, 0);
        job_compute(j, 1, 'F', 27, 37);
        job_hand_over(j, 1, 37, 70, NULL, 0); /* B0 from stage 2 */
        job_compute(j, 1, 'B', 70, 88);
        job_hand_over(j, 1, 88, 90, NULL, 0); /* B0 to stage 0 */
        job_hand_over(j, 2, 20, 23, NULL, 0);
        job_compute(j, 2, 'F', 23, 33);
        job_compute(j, 2, 'B', 33, 68);
        job_hand_over(j, 2, 68, 70, NULL, 0);
        g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
        const mill_table *t = look_table(job_report(j), "stages");
        g_assert_cmpint(look_cell(t, 1, "transfer").i, ==, third ? 0 : (2 + 1 + 3 + 2 + 2) * 1000);
        g_assert_cmpint(look_cell(t, 1, "startup").i, ==, third ? 12000 : 10000);
        g_assert_cmpint(look_cell(t, 1, "wait_backward").i, ==, third ? 33000 : 31000);
        g_assert_cmpint(look_note(job_report(j), "alone") != NULL, ==, third);
    }
}

/* Ranks 0 and 1 are stage 0 of two pipelines, 2 and 3 stage 1. */
static void test_replicas(void) {
    g_autoptr(job) j = job_create(4);
    for (size_t i = 0; i < 2; i++) {
        int64_t later = (int64_t)i * 100;
        job_compute(j, i, 'F', later, later + 10);
        job_hand_over(j, i, later + 10, later + 12, "send", (int64_t)i + 2);
        job_hand_over(j, i, later + 12, later + 44, "recv", (int64_t)i + 2);
        job_compute(j, i, 'B', later + 44, later + 64);
        job_hand_over(j, i + 2, later, later + 12, "recv", (int64_t)i);
        job_compute(j, i + 2, 'F', later + 12, later + 22);
        job_compute(j, i + 2, 'B', later + 22, later + 42);
        job_hand_over(j, i + 2, later + 42, later + 44, "send", (int64_t)i);
    }
    g_assert_cmpint(job_run(j, "ranks-per-stage=2"), ==, MILL_OK);
    const mill_report *r = job_report(j);
    g_assert_cmpint(look_int(r, "replicas", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "stages", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "span", NULL), ==, 64000);
    g_assert_cmpint(look_int(r, "step_time", NULL), ==, 164000);
    g_assert_nonnull(look_note(r, "clocks")); /* nothing joins the two */
}

/* Layers of a forward and a backward chunk take turns: two operations at once, 12 of whose 16 µs
 * are computed in. The exchange before them ended those that came first. */
static void test_woven(void) {
    g_autoptr(job) j = job_create(2);
    for (size_t i = 0; i < 2; i++) {
        job_compute(j, i, 'F', 0, 4);
        job_hand_over(j, i, 4, 10, NULL, 0);
        job_compute(j, i, 'F', 10, 13);
        job_compute(j, i, 'B', 13, 16);
        job_compute(j, i, 'F', 20, 23);
        job_compute(j, i, 'B', 23, 26);
        job_hand_over(j, i, 26, 30, NULL, 0);
        job_compute(j, i, 'B', 30, 34);
    }
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    const mill_table *t = look_table(job_report(j), "stages");
    g_assert_cmpint(look_cell(t, 0, "compute").i, ==, 20000);
    g_assert_cmpint(look_cell(t, 0, "inside").i, ==, 4000);
    g_assert_cmpint(look_cell(t, 0, "transfer").i, ==, 10000);
    g_assert_nonnull(look_note(job_report(j), "at_once"));
    g_assert_null(look_note(job_report(j), "counts_differ"));
    const mill_schedule *s = job_schedule(j);
    g_assert_cmpint(s->ops.kind[2], ==, MILL_OP_FORWARD);
    g_assert_cmpint(s->ops.start[2], ==, 10000);
    g_assert_cmpint(s->ops.end[2], ==, 23000);
    g_assert_cmpint(s->ops.kind[3], ==, MILL_OP_BACKWARD);
    g_assert_cmpint(s->ops.start[3], ==, 13000);
    g_assert_cmpint(s->ops.end[3], ==, 26000);
}

/* ---------------------------------------------------------------- timelines */

/* Two model chunks a rank, and W apart:
 *
 *     rank 0  F(0) [0,5)  send [5,6)  receive [20,21)  F(1) [21,26)  B(1) … */
static void test_chunks(void) {
    g_autoptr(job) j = job_create(1);
    job_timer(j, 0, 0, 0, "forward-compute", 0, 5, 0, 0, 0);
    job_timer(j, 0, 0, 0, "forward-send-backward-recv", 5, 6, -1, -1, 0);
    job_timer(j, 0, 0, 0, "forward-compute", 12, 17, 1, 0, 1);
    job_timer(j, 0, 0, 0, "backward-compute", 30, 36, 1, 0, 0);
    job_timer(j, 0, 0, 0, "backward-wgrad-compute", 36, 40, 1, 0, 0);
    job_timer(j, 0, 0, 0, "backward-compute", 50, 56, 0, 0, 1);
    job_timer(j, 0, 0, 0, "optimizer", 60, 70, -1, -1, 0);
    job_timer(j, 0, 0, 1, "backward-send-forward-recv", 2, 6, -1, -1, 0);
    job_timer(j, 0, 0, 1, "forward-compute", 6, 11, 0, 0, 0);
    job_timer(j, 0, 0, 1, "forward-compute", 18, 23, 1, 0, 1);
    job_timer(j, 0, 0, 1, "backward-compute", 23, 29, 1, 0, 0);
    job_timer(j, 0, 0, 1, "backward-compute", 42, 48, 0, 0, 1);
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    static const right_time right[] = {
        {.compute = 26, .bubble = 30, .wait_forward = 6, .wait_backward = 23, .transfer = 1},
        {.compute = 22,
         .bubble = 34,
         .startup = 5,
         .wait_forward = 7,
         .wait_backward = 13,
         .transfer = 1,
         .tail = 8},
    };
    for (int64_t s = 0; s < 2; s++)
        check_stage(j, s, &right[s]);
    const mill_schedule *s = job_schedule(j);
    g_assert_cmpstr(s->id, ==, "measured");
    g_assert_cmpuint(s->chunks, ==, 2);
    g_assert_cmpuint(s->stages, ==, 4);
    g_assert_cmpuint(s->micro_batches, ==, 1);
    g_assert_cmpint(look_int(job_report(j), "micro_batches", NULL), ==, 1);
    g_assert_cmpint(s->ops.kind[3], ==, MILL_OP_INPUT);
    g_assert_cmpint(s->ops.kind[4], ==, MILL_OP_WEIGHT);
    g_assert_cmpuint(s->ops.stage[2], ==, 2);
    const mill_chunk_cost *c = &job_times(j)->costs[0];
    g_assert_cmpint(c->input, ==, 6000);
    g_assert_cmpint(c->weight, ==, 4000);
    g_assert_cmpint(c->backward, ==, 10000);
    g_assert_cmpint(look_int(job_report(j), "step_time", NULL), ==, 70000);
    g_assert_cmpint(look_int(job_report(j), "span", NULL), ==, 56000);
}

/* A pipeline of p stages and m micro-batches as 1F1B or GPipe runs it, as soon as possible, without
 * transfers; F of a stage takes f[stage], B twice that. Each stage's next operation is tried in
 * turn until none is left. */
static void add_ideal(job *j, int64_t p, int64_t m, const int64_t *f, bool gpipe) {
    enum { MAX = 8 };
    int64_t done[2][MAX][MAX], next[MAX] = {0}, at[MAX] = {0};
    memset(done, 0xff, sizeof done);
    for (int64_t left = 2 * p * m; left > 0;)
        for (int64_t s = 0; s < p; s++) {
            int64_t w = gpipe ? m : MIN(p - 1 - s, m), i = next[s];
            bool forward = i < w || (i < 2 * m - w && (i - w) % 2 == 0);
            int64_t mb = i < w ? i : i < 2 * m - w ? (i - w) / 2 + (forward ? w : 0) : i - m;
            if (i == 2 * m)
                continue;
            int64_t need = forward ? (s ? done[0][s - 1][mb] : 0)
                                   : (s + 1 < p ? done[1][s + 1][mb] : done[0][s][mb]);
            if (need < 0)
                continue;
            int64_t start = MAX(need, at[s]);
            at[s] = done[!forward][s][mb] = start + (forward ? f[s] : 2 * f[s]);
            job_timer(j, 0, 0, s, forward ? "forward-compute" : "backward-compute", start, at[s], 0,
                      mb, mb);
            next[s]++;
            left--;
        }
}

/* The makespan of 1F1B and GPipe with equal stages is (m + p - 1)(F + B): Narayanan et al. 2021. */
static void test_orders(void) {
    static const int64_t even[] = {10, 10, 10, 10};
    for (int gpipe = 0; gpipe < 2; gpipe++)
        for (int64_t p = 1; p <= 4; p++)
            for (int64_t m = 1; m <= 6; m++) {
                g_autoptr(job) j = job_create(1);
                add_ideal(j, p, m, even, gpipe);
                g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
                const mill_report *r = job_report(j);
                bool alike = m <= 1; /* then 1F1B is the name of both */
                g_assert_cmpstr(job_schedule(j)->id, ==, gpipe && !alike ? "gpipe" : "1f1b");
                g_assert_cmpint(look_int(r, "span", NULL), ==, (m + p - 1) * 30000);
                g_assert_cmpint(look_int(r, "replayed", NULL), ==, (m + p - 1) * 30000);
                g_assert_cmpint(look_int(r, "ideal", NULL), ==, (m + p - 1) * 30000);
                g_assert_cmpfloat_with_epsilon(look_ratio(r, "bubble_ratio", NULL),
                                               look_ratio(r, "equal_ratio", NULL), 1e-12);
                g_assert_cmpfloat(look_ratio(r, "slowdown", NULL), ==, 1);
                g_assert_cmpuint(r->n_findings, ==, 0);
                g_assert_cmpuint(r->n_lanes, ==, p);
            }
}

/* Stage 1 of 2 takes 20 instead of 10: with m micro-batches the span is 10 + 60 m + 20; the mean of
 * both is 15, so that even durations give 45 (m + 1). Without stage 0's own durations it is 15 + 60
 * m + 30, without those of stage 1 10 + ... as simulated by hand for m = 2. */
static void test_slow_stage(void) {
    static const int64_t f[] = {10, 20};
    g_autoptr(job) j = job_create(1);
    add_ideal(j, 2, 2, f, false);
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    const mill_report *r = job_report(j);
    g_assert_cmpint(look_int(r, "replayed", NULL), ==, 150000);
    g_assert_cmpint(look_int(r, "ideal", NULL), ==, 135000);
    g_assert_cmpint(look_int(r, "slowest_stage", NULL), ==, 1);
    /* Stage 0 with 15 and 30: F0 15, then stage 1's 120, then B1 30. */
    g_assert_cmpfloat_with_epsilon(look_cell(look_table(r, "stages"), 1, "slowdown").d, 165.0 / 135,
                                   1e-12);
    /* Stage 0 with 10 and 20, stage 1 with 15 and 30: 10 + 90 + 20. */
    g_assert_cmpfloat_with_epsilon(look_cell(look_table(r, "stages"), 0, "slowdown").d, 120.0 / 135,
                                   1e-12);
    g_assert_cmpuint(r->n_findings, ==, 1);
    const mill_finding *finding = r->findings[0];
    g_assert_cmpstr(finding->where, ==, "stage 1");
    g_assert_cmpint(finding->cost_ns, ==, 30000);
    g_assert_cmpint(finding->gain_ns, ==, 30000); /* 150 - 120 */
}

/* ---------------------------------------------------------------- what is wrong */

static void check_failure(job *j, const char *setting, mill_status right, const char *words) {
    g_assert_cmpint(job_run(j, setting), ==, right);
    if (!strstr(bench_causes(j->pipeline), words))
        g_error("\"%s\" does not say \"%s\"", bench_causes(j->pipeline), words);
}

static void test_failures(void) {
    g_autoptr(job) twice = job_create(2), empty = job_create(2), step = job_create(1),
                   far = job_create(1), none = job_create(0);
    static const int64_t f[] = {10, 10};
    add_two_stages(twice, NULL, NULL);
    twice->rank[1] = 0;
    check_failure(twice, NULL, MILL_E_DATA, "both are stage 0");
    job_compute(empty, 0, 'F', 0, 10);
    job_kernel(empty, 1, 7, 0, 10, "gemm", NULL, "");
    check_failure(empty, NULL, MILL_E_DATA, "ranks: 2, profiles: 2, stage 1 never does");
    check_failure(none, NULL, MILL_E_DATA, "profiles: 0");
    add_ideal(step, 2, 2, f, false);
    check_failure(step, "step=6", MILL_E_CONFIG,
                  "step = 6, replica = 0; steps have the numbers 5 to 5");
    job_timer(far, 0, 0, 0, "forward-compute", 0, 5, 0, 0, 0);
    job_timer(far, 0, 0, 0, "backward-compute", INT64_C(9000000000000000),
              INT64_C(9000000000000005), 0, 0, 0);
    check_failure(far, NULL, MILL_E_DATA, "years");
}

/* Numbers that count nothing. */
static void test_numbers(void) {
    static const int64_t chunks[] = {UINT32_MAX, INT64_MAX, 256, 0, 0},
                         micro_batches[] = {0, 0, 0, INT64_MAX, INT64_C(1) << 32};
    for (size_t i = 0; i < G_N_ELEMENTS(chunks); i++) {
        g_autoptr(job) j = job_create(1);
        for (int64_t stage = 0; stage < 2; stage++) {
            job_timer(j, 0, 0, stage, "forward-compute", 10 * stage, 10 * stage + 10, chunks[i],
                      micro_batches[i], 0);
            job_timer(j, 0, 0, stage, "backward-compute", 50 - 20 * stage, 70 - 20 * stage,
                      chunks[i], micro_batches[i], 0);
        }
        check_failure(j, NULL, MILL_E_DATA, "at most 256 chunks");
    }
}

/* Almost no micro-batch passes all stages, so there is nothing to run again; nor without timers. */
static void test_sparse(void) {
    g_autoptr(job) j = job_create(1), empty = job_create(1);
    for (int64_t stage = 0; stage < 40; stage++) {
        job_timer(j, 0, 0, stage, "forward-compute", 10 * stage, 10 * stage + 10, 0, 0, 0);
        job_timer(j, 0, 0, stage, "backward-compute", 2000 - 20 * stage, 2020 - 20 * stage, 0, 0,
                  0);
    }
    for (int64_t k = 1; k < 200; k++)
        job_timer(j, 0, 0, 0, "forward-compute", 10 * k, 10 * k + 10, 0, k, k);
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    g_assert_nonnull(look_note(job_report(j), "no_replay"));
    job_timer(empty, 0, 0, -1, "forward-compute", 0, 10, 0, 0, 0); /* of no stage */
    check_failure(empty, NULL, MILL_E_DATA, "stages here: 0");
}

/* What is lacking is said, not guessed. */
static void test_notes(void) {
    g_autoptr(job) j = job_create(1), k = job_create(2);
    static const int64_t f[] = {10, 10};
    add_ideal(j, 2, 2, f, false);
    job_timer(j, 0, 0, 0, "forward-compute", 200, 210, 0, 7, 7); /* of no backward */
    job_timer(j, 0, 1, 0, "forward-compute", 0, 10, 0, 0, 0);    /* of a pipeline of one stage */
    g_assert_cmpint(job_run(j, NULL), ==, MILL_OK);
    g_assert_nonnull(look_note(job_report(j), "counts_differ"));
    g_assert_nonnull(look_note(job_report(j), "incomplete"));
    add_two_stages(k, NULL, NULL);
    job_kernel(k, 1, 7, 100, 190, "gemm", NULL, "");
    k->rank[1] = MILL_UNKNOWN;
    g_assert_cmpint(job_run(k, NULL), ==, MILL_OK);
    g_assert_nonnull(look_note(job_report(k), "coverage"));
    g_assert_nonnull(look_note(job_report(k), "ranks_counted"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pipeline/two-stages", test_two_stages);
    g_test_add_func("/pipeline/two-stages/schedule", test_two_stages_schedule);
    g_test_add_func("/pipeline/two-stages/times", test_two_stages_times);
    g_test_add_func("/pipeline/three-stages", test_three_stages);
    g_test_add_func("/pipeline/peers", test_peers);
    g_test_add_func("/pipeline/replicas", test_replicas);
    g_test_add_func("/pipeline/woven", test_woven);
    g_test_add_func("/pipeline/chunks", test_chunks);
    g_test_add_func("/pipeline/orders", test_orders);
    g_test_add_func("/pipeline/slow-stage", test_slow_stage);
    g_test_add_func("/pipeline/failures", test_failures);
    g_test_add_func("/pipeline/numbers", test_numbers);
    g_test_add_func("/pipeline/sparse", test_sparse);
    g_test_add_func("/pipeline/notes", test_notes);
    return g_test_run();
}
