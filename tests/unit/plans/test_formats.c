/* SPDX-License-Identifier: Apache-2.0 */
/* Every format reads back to the plan that was written, as far as it holds it, and files as the
 * engines have them are what they were found to be. */
#include "exchange.h"

#include <string.h>
#include <tracemill/kit/expert_plan.h>

/* ---------------------------------------------------------------- random plans */

typedef struct shape {
    uint32_t layers, gpus, each, nodes;
    bool distinct; /* no expert twice on a GPU */
    bool shuffled; /* ranks in another order than slots */
    bool uneven;   /* GPUs with unequal numbers of slots */
    bool empty;    /* a slot that holds nothing, where there are more slots than experts */
    int64_t first_layer;
} shape;

static void shuffle(int32_t *v, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)g_test_rand_int_range(0, (gint32)i);
        int32_t x = v[i - 1];
        v[i - 1] = v[j];
        v[j] = x;
    }
}

/* All experts once, then any of them. Distinct: each GPU has a run of experts, one after the last
 * one, so none is there twice while there are as many experts as slots on a GPU. */
static void fill_layer(const shape *s, uint32_t experts, int32_t *expert) {
    uint32_t slots = s->gpus * s->each, filled = s->empty && slots > experts ? slots - 1 : slots;
    for (uint32_t i = 0; i < slots; i++)
        expert[i] = i >= filled                  ? MILL_NO_EXPERT
                    : i < experts || s->distinct ? (int32_t)(i % experts)
                                                 : g_test_rand_int_range(0, (gint32)experts);
    if (!s->distinct)
        shuffle(expert, slots);
    for (uint32_t g = 0; s->distinct && g < s->gpus; g++)
        shuffle(expert + (size_t)g * s->each, s->each);
}

/* Replicas numbered against the order of their slots. */
static void reverse_ranks(mill_expert_plan *p) {
    uint32_t *rank = g_new(uint32_t, (size_t)p->layers * p->slots);
    for (size_t i = 0; i < (size_t)p->layers * p->slots; i++) {
        size_t e = i / p->slots * p->experts + (size_t)p->expert[i];
        rank[i] = p->expert[i] == MILL_NO_EXPERT ? 0 : p->replicas[e] - 1 - p->rank[i];
    }
    p->rank = rank;
}

static const mill_expert_plan *random_plan(bench *b, const shape *s, bool nodes) {
    uint32_t slots = s->gpus * s->each;
    uint32_t experts = (uint32_t)g_test_rand_int_range((gint32)s->each, (gint32)slots + 1);
    g_autofree int32_t *expert = g_new(int32_t, (size_t)s->layers * slots);
    g_autofree uint32_t *node = g_new(uint32_t, s->gpus), *first = g_new0(uint32_t, s->gpus + 1);
    g_autofree int64_t *layer = g_new(int64_t, s->layers);
    for (uint32_t l = 0; l < s->layers; l++) {
        layer[l] = s->first_layer + l;
        fill_layer(s, experts, expert + (size_t)l * slots);
    }
    for (uint32_t g = 0; g < s->gpus; g++) {
        node[g] = g * s->nodes / s->gpus;
        first[g + 1] = s->uneven ? (first[g] + slots) / 2 : (g + 1) * s->each;
    }
    first[s->gpus] = slots;
    mill_expert_plan *p = kit_expert_plan(
        bench_services(b), &(mill_expert_plan){.layers = s->layers,
                                               .experts = experts,
                                               .slots = slots,
                                               .gpus = s->gpus,
                                               .nodes = nodes ? s->nodes : 0,
                                               .subject = "random \"plan\"",
                                               .policy = "any",
                                               .node = nodes ? node : NULL,
                                               .first = first,
                                               .expert = expert,
                                               .layer = s->first_layer ? layer : NULL});
    if (!s->shuffled)
        return p;
    g_autofree uint32_t *rank = NULL;
    reverse_ranks(p);
    rank = (uint32_t *)p->rank;
    return kit_expert_plan(bench_services(b), p);
}

/* ---------------------------------------------------------------- there and back */

static const char *const extensions[] = {"json",        "sglang.json", "yaml",
                                         "ascend.json", "vllm.json",   "phy2log.npy"};
static const char *const formats[] = {"json", "sglang", "trtllm", "vllm-ascend", "vllm", "npy"};

/* What plan.read must be told beside the file. */
static GPtrArray *settings_of(const mill_expert_plan *p, const char *format) {
    GPtrArray *settings = g_ptr_array_new_with_free_func(g_free);
    bool own = strcmp(format, "json") == 0, ascend = strcmp(format, "vllm-ascend") == 0;
    if (!own && !ascend)
        g_ptr_array_add(settings, g_strdup_printf("gpus=%u", p->gpus));
    if (!own && p->nodes)
        g_ptr_array_add(settings, g_strdup_printf("nodes=%u", p->nodes));
    if (!own && strcmp(format, "trtllm") != 0 && p->layer)
        g_ptr_array_add(settings, g_strdup_printf("first-layer=%" G_GINT64_FORMAT, p->layer[0]));
    g_ptr_array_add(settings, NULL);
    return settings;
}

static void put_written(bench *writer, const char *path) {
    const GString *bytes = bench_written(writer, path);
    g_assert_nonnull(bytes);
    g_assert_true(g_file_set_contents(path, bytes->str, (gssize)bytes->len, NULL));
}

static void there_and_back(const mill_expert_plan *p, unsigned f) {
    g_autofree char *name = g_strconcat("there.", extensions[f], NULL);
    g_autofree char *path = g_build_filename(exchange_folder(), name, NULL);
    g_autofree char *to = g_strconcat("path=", path, NULL);
    g_autofree char *format = g_strconcat("format=", formats[f], NULL);
    bench *writer = exchange_write(p, SETTINGS(to, format));
    g_assert_cmpint(bench_run(writer), ==, MILL_OK);
    put_written(writer, path);
    static const char *const others[] = {"log2phy.npy", "logcnt.npy"};
    for (unsigned i = 0; strcmp(formats[f], "npy") == 0 && i < 2; i++) {
        g_autofree char *other = g_strconcat(exchange_folder(), "/there.", others[i], NULL);
        put_written(writer, other);
    }
    g_autoptr(GPtrArray) settings = settings_of(p, formats[f]);
    for (int told = 0; told < 2; told++) { /* by content, then by the option */
        if (told)
            g_ptr_array_insert(settings, 0, g_strdup(format));
        mill_status status;
        bench *reader = exchange_read(path, (const char *const *)settings->pdata, &status);
        exchange_assert_same(p, exchange_plan(reader));
        if (f == 0) {
            g_assert_cmpstr(exchange_plan(reader)->subject, ==, p->subject);
            g_assert_cmpstr(exchange_plan(reader)->policy, ==, p->policy);
        }
        bench_destroy(reader);
    }
    bench_destroy(writer);
}

static void test_round_trip(gconstpointer data) {
    unsigned f = GPOINTER_TO_UINT(data);
    bool own = f == 0, npy = f == 5;
    for (int i = 0; i < 30; i++) {
        shape s = {
            .layers = (uint32_t)g_test_rand_int_range(1, 5),
            .nodes = (uint32_t)g_test_rand_int_range(1, 4),
            .each = (uint32_t)g_test_rand_int_range(1, 7),
            .distinct = strcmp(formats[f], "vllm-ascend") == 0,
            .shuffled = (own || npy) && i % 2,
            .uneven = own && i % 3 == 0,
            .empty = (own || npy) && i % 7 == 0,
            .first_layer = i % 4 ? 0 : 3,
        };
        s.gpus = s.nodes * (uint32_t)g_test_rand_int_range(1, 5);
        bench *b = bench_create(NULL, NULL);
        there_and_back(random_plan(b, &s, i % 5 != 0), f);
        bench_destroy(b);
    }
}

/* ---------------------------------------------------------------- files of engines */

static void assert_read(const char *name, const char *text, const char *const *settings,
                        const mill_expert_plan *right) {
    g_autofree char *path = exchange_put(name, text, strlen(text));
    mill_status status;
    bench *b = exchange_read(path, settings, &status);
    exchange_assert_same(exchange_plan(b), right);
    bench_destroy(b);
}

/* Two layers of four experts in six slots on two GPUs. */
static const int32_t experts[] = {0, 1, 2, 3, 0, 1, 0, 2, 0, 1, 0, 3};
static const uint32_t ranks[] = {0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 2, 0};
static const uint32_t replicas[] = {2, 2, 1, 1, 3, 1, 1, 1};
static const uint32_t first[] = {0, 3, 6};
static const mill_expert_plan two_layers = {.size = sizeof two_layers,
                                            .layers = 2,
                                            .experts = 4,
                                            .slots = 6,
                                            .gpus = 2,
                                            .first = first,
                                            .expert = experts,
                                            .rank = ranks,
                                            .replicas = replicas};

/* A list of lists, as in vLLM's own description of its map. */
static void test_vllm(void) {
    assert_read("v.json", "[[0, 1, 2, 3, 0, 1],\n [0, 2, 0, 1, 0, 3]]", SETTINGS("gpus=2"),
                &two_layers);
    static const int32_t same[] = {0, 1, 2, 3, 0, 1, 0, 1, 2, 3, 0, 1};
    static const uint32_t same_ranks[] = {0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1};
    static const uint32_t same_replicas[] = {2, 2, 1, 1, 2, 2, 1, 1};
    mill_expert_plan right = two_layers;
    right.expert = same;
    right.rank = same_ranks;
    right.replicas = same_replicas;
    assert_read("one.json", "[0, 1, 2, 3, 0, 1]", SETTINGS("gpus=2", "layers=2"), &right);
    right.layers = 1;
    assert_read("one.json", "[0, 1, 2, 3, 0, 1]", SETTINGS("gpus=2"), &right);
}

static void test_sglang(void) {
    static const int64_t layer[] = {1, 2};
    mill_expert_plan right = two_layers;
    right.layer = layer;
    assert_read("s.json",
                "{\"physical_to_logical_map\": [[0, 1, 2, 3, 0, 1], [0, 1, 2, 3, 0, 1], "
                "[0, 2, 0, 1, 0, 3]]}",
                SETTINGS("gpus=2", "first-layer=1"), &right);
}

/* As PyYAML writes it in each of its styles, with and without width. */
static void test_trtllm(void) {
    static const int64_t layer[] = {3, 4};
    static const char *const styles[] = {
        "initial_global_assignments:\n  3: [0, 1, 2, 3, 0, 1]\n  4: [0, 2, 0, 1, 0, 3]\n"
        "layer_updates_per_iter: 0\nnum_slots: 6\n",
        "---\n# a comment\ninitial_global_assignments:\r\n  4:\r\n  - 0\r\n  - 2\r\n  - 0\r\n  - "
        "1\r\n"
        "  - 0\r\n  - 3\r\n  3:\r\n  - 0\r\n  - 1\r\n  - 2\r\n  - 3\r\n  - 0\r\n  - 1\r\n"
        "num_slots: 6 # all\r\n",
        "num_slots: 6\ninitial_global_assignments: {3: [0, 1, 2,\n    3, 0, 1], '4': [0, 2, 0, 1, "
        "0,"
        " 3]}",
        "layer_updates_per_iter: 2\n\ninitial_global_assignments:\n\n   3: [0, 1, 2,\n      3, 0, "
        "1,]"
        "\n   4:\n      - 0\n      - 2\n      - 0\n      - 1\n      - 0\n      - 3\n",
    };
    mill_expert_plan right = two_layers;
    right.layer = layer;
    for (unsigned i = 0; i < G_N_ELEMENTS(styles); i++)
        assert_read("t.yaml", styles[i], SETTINGS("gpus=2"), &right);
}

/* ---------------------------------------------------------------- golden files */

static void test_golden(gconstpointer data) {
    unsigned f = GPOINTER_TO_UINT(data);
    static const int64_t layer[] = {3, 4};
    static const int32_t spread[] = {0, 1, 2, 3, 0, 1, 0, 2, 1, 1, 0, 3};
    static const uint32_t node[] = {0, 1};
    bench *b = bench_create(NULL, NULL);
    mill_expert_plan like = two_layers;
    like.layer = layer;
    like.expert = spread;
    like.rank = NULL;
    like.node = node;
    like.nodes = 2;
    like.subject = "a plan";
    const mill_expert_plan *p = kit_expert_plan(bench_services(b), &like);
    g_autofree char *format = g_strconcat("format=", formats[f], NULL);
    bench *writer = exchange_write(p, SETTINGS(format));
    g_assert_cmpint(bench_run(writer), ==, MILL_OK);
    g_autofree char *name = g_strconcat("plan.", extensions[f], NULL), *right = NULL;
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/plans", name, NULL);
    const GString *found = bench_written(writer, "-");
    if (g_strcmp0(g_getenv("TRACEMILL_GOLDEN"), "update") == 0)
        g_assert_true(g_file_set_contents(path, found->str, (gssize)found->len, NULL));
    g_assert_true(g_file_get_contents(path, &right, NULL, NULL));
    g_assert_cmpstr(found->str, ==, right);
    bench_destroy(writer);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (unsigned f = 0; f < G_N_ELEMENTS(formats); f++) {
        g_autofree char *there = g_strconcat("/plans/round-trip/", formats[f], NULL);
        g_autofree char *golden = g_strconcat("/plans/golden/", formats[f], NULL);
        g_test_add_data_func(there, GUINT_TO_POINTER(f), test_round_trip);
        if (strcmp(formats[f], "npy") != 0)
            g_test_add_data_func(golden, GUINT_TO_POINTER(f), test_golden);
    }
    g_test_add_func("/plans/vllm", test_vllm);
    g_test_add_func("/plans/sglang", test_sglang);
    g_test_add_func("/plans/trtllm", test_trtllm);
    int result = g_test_run();
    exchange_remove_folder();
    return result;
}
