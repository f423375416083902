/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of files that hold no plan, half of one, or one that can't be; and of plans that a
 * format can't hold. */
#include "exchange.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/kit/expert_plan.h>
#include <tracemill/kit/npy.h>

/* The cause is told with the path before it, or after it where the options are wrong. */
static void fails(const char *text, const char *const *settings, mill_status right,
                  const char *cause) {
    g_autofree char *path = exchange_put("plan", text, strlen(text));
    mill_status status;
    bench *b = exchange_read(path, settings, &status);
    g_auto(GStrv) parts = g_strsplit(bench_causes(b), path, 2);
    g_assert_cmpuint(g_strv_length(parts), ==, 2);
    g_autofree char *told = g_strjoinv("PLAN", parts);
    g_assert_cmpstr(told, ==, cause);
    g_assert_cmpint(status, ==, right);
    g_assert_cmpuint(bench_output_count(b, "plan"), ==, 0);
    bench_destroy(b);
}

typedef struct fault {
    const char *text, *cause;
} fault;

static void all_fail(const fault *faults, size_t n) {
    for (size_t i = 0; i < n; i++)
        fails(faults[i].text, SETTINGS("gpus=2"), MILL_E_DATA, faults[i].cause);
}

static void test_json(void) {
    static const fault faults[] = {
        {"", "PLAN: expected a plan, found an empty file"},
        {"[[0, 1, 2", "PLAN: byte 8: the document is cut short, or not JSON"},
        {"{\"a\" 1}", "PLAN: byte 5: not JSON; it goes on with \"1}\""},
        {"[0, 1] x", "PLAN: byte 7: expected the end of the document"},
        {"{\"x\": 1}", "PLAN: no plan: expected one of the keys \"schema\", "
                       "\"physical_to_logical_map\" and \"layer_list\""},
        {"{\"logical_count\": [[1]]}", "PLAN: \"logical_count\" holds loads, of which SGLang makes "
                                       "a plan of its own: read it with "
                                       "loads.read, and plan with eplb"},
        {"[]",
         "PLAN: the document: expected a list with a list for each layer, found an empty one"},
        {"[[0, 1], [1]]", "PLAN: the document, layer 1: expected 2 slots, as layer 0 has, found 1"},
        {"[[0, 1], 5]",
         "PLAN: the document, layer 1: expected a list with an expert for each slot, "
         "found another number"},
        {"[[0, 1], [0, 1.5]]",
         "PLAN: layer 1, slot 1: expected a whole number from 0, found another number"},
        {"[[0, -1]]",
         "PLAN: layer 0, slot 1: expected a whole number from 0, found another number"},
        {"[[0, \"1\"]]", "PLAN: layer 0, slot 1: expected a whole number from 0, found a text"},
        {"[[0, 1e300]]",
         "PLAN: layer 0, slot 1: expected a whole number from 0, found another number"},
        {"[[]]", "PLAN: expected slots, found a layer without any"},
        {"[[0, 5]]",
         "PLAN: 6 experts don't fit in 2 slots a layer: expected experts 0 to 1 at most"},
        {"[[0, 2, 2, 0]]",
         "PLAN: layer 0: expert 1 is in no slot; expected each of 0 to 2 in one at least"},
        {"[[0, 1, 2]]",
         "PLAN: 3 slots can't be divided among 2 GPUs equally; 1 or 3 could have them"},
        {"[0]", "PLAN: 1 slots can't be divided among 2 GPUs: there can be at most 1"},
        {"{\"physical_to_logical_map\": [[0]], \"physical_to_logical_map\": [[0]]}",
         "PLAN: a second \"physical_to_logical_map\""},
        {"{\"physical_to_logical_map\": 3}",
         "PLAN: \"physical_to_logical_map\": expected a list with a list for each layer, found "
         "another number"},
    };
    all_fail(faults, G_N_ELEMENTS(faults));
}

#define LAYER(id, count, devices)                                                                  \
    "{\"layer_id\": " id ", \"device_count\": " count ", \"device_list\": [" devices "]}"
#define DEVICE(id, experts) "{\"device_id\": " id ", \"device_expert\": [" experts "]}"
#define ASCEND(count, layers) "{\"moe_layer_count\": " count ", \"layer_list\": [" layers "]}"

static void test_ascend(void) {
    static const fault faults[] = {
        {ASCEND("2", LAYER("0", "1", DEVICE("0", "0"))),
         "PLAN: \"moe_layer_count\" is 2, \"layer_list\" has 1 layers"},
        {ASCEND("1", LAYER("0", "3", DEVICE("0", "0") "," DEVICE("1", "1"))),
         "PLAN: layer 0: expected 2 devices, as layer 0 has, found \"device_count\" 3 and a "
         "\"device_list\" of 2"},
        {ASCEND("1", LAYER("0", "2", DEVICE("0", "0, 1") "," DEVICE("1", "1"))),
         "PLAN: layer 0, device 1: expected a list \"device_expert\" of 2 experts, as that of the "
         "first device, found a list of 1"},
        {ASCEND("1", LAYER("0", "2", DEVICE("1", "0") "," DEVICE("0", "1"))),
         "PLAN: layer 0: \"device_id\" 1 is in place 0 of \"device_list\"; vllm-ascend goes by "
         "places"},
        {ASCEND("1", LAYER("0", "2", DEVICE("0", "0") "," DEVICE("1", "null"))),
         "PLAN: layer 0, slot 1: expected a whole number from 0, found null"},
        {ASCEND("1", "5"), "PLAN: layer 0: expected a \"device_list\" of devices with "
                           "\"device_expert\", a list of experts"},
        {ASCEND("2", LAYER("4", "2", DEVICE("0", "0") "," DEVICE("1", "1")) "," LAYER(
                         "4", "2", DEVICE("0", "0") "," DEVICE("1", "1"))),
         "PLAN: row 1: layer 4 after layer 4; expected rising numbers"},
    };
    all_fail(faults, G_N_ELEMENTS(faults));
}

#define OWN(rest) "{\"schema\": \"tracemill.expert-plan/1\"" rest "}"

static void test_own(void) {
    static const fault faults[] = {
        {"{\"schema\": \"x/2\"}",
         "PLAN: \"schema\": expected \"tracemill.expert-plan/1\", found x/2"},
        {OWN(", \"expert\": [[0, 1]]"),
         "PLAN: \"gpus\": expected the number of GPUs, found nothing"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 1]], \"first\": [0, 2]"),
         "PLAN: \"first\": expected a list of 3 numbers, found a list of 2"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 1]], \"first\": [0, 3, 2]"),
         "PLAN: \"first\", number 1: expected from 0 to 2, found 3"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 1]], \"first\": [0, 1, 1]"),
         "PLAN: \"first\": expected 0 as the first number and 2, all slots, as the last"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 1]], \"node\": [1, 1]"),
         "PLAN: \"node\", GPU 0: expected node 0, found 1"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 1]], \"node\": [0, 2]"),
         "PLAN: \"node\", GPU 1: expected node 0 or the one after it, found 2"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 0]], \"rank\": [[1, 1]]"),
         "PLAN: layer 0, slot 1: expert 0 has 2 replicas, expected their ranks to be 0 to 1, each "
         "once, found 1 again"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 0]], \"rank\": [[0]]"),
         "PLAN: \"rank\": expected 1 layers of 2 slots, as \"expert\" has"},
        {OWN(", \"gpus\": 2, \"expert\": [[0, 1]], \"groups\": 3"),
         "PLAN: \"groups\": 2 experts can't be divided into 3 groups equally"},
        {OWN(", \"gpus\": 2, \"experts\": 1, \"expert\": [[0, 1]]"),
         "PLAN: layer 0, slot 1: expert 1; expected one of 0 to 0"},
    };
    all_fail(faults, G_N_ELEMENTS(faults));
}

static void test_yaml(void) {
    static const fault faults[] = {
        {"what is this",
         "PLAN: line 1: expected a key and \":\", such as \"num_slots: 288\", found "
         "\"what is this\""},
        {"num_slots: 2\n", "PLAN: no plan: expected initial_global_assignments with a list of "
                           "experts for each layer"},
        {"num_slots: many\n", "PLAN: line 1: expected the number of slots, found \"many\""},
        {"initial_global_assignments:\n  3: [0, 1",
         "PLAN: line 2: expected \",\" or \"]\" after an expert, found the end of the file"},
        {"initial_global_assignments:\n  3: [0, -1]\n",
         "PLAN: line 2: expected an expert, a whole number from 0, found \"-1]\""},
        {"initial_global_assignments:\n  3: [0, 1]\n    4: [0, 1]\n",
         "PLAN: line 3: expected a line with the indent of the first layer, found \"4: [0, 1]\""},
        {"initial_global_assignments:\n  3: [0, 1]\n  3: [1, 0]\n",
         "PLAN: line 3: a second list for layer 3"},
        {"initial_global_assignments:\n  3: [0, 1]\n  4: [0]\n",
         "PLAN: line 3: layer 4: expected 2 experts, as the first layer has, found 1"},
        {"num_slots: 4\ninitial_global_assignments:\n  3: [0, 1]\n",
         "PLAN: line 3: layer 3: expected 4 experts, as num_slots says, found 2"},
        {"initial_global_assignments:\n  three: [0]\n",
         "PLAN: line 2: expected the number of a layer, found \"three: [0]\""},
        {"initial_global_assignments: null\n",
         "PLAN: line 1: expected indented lines \"3: [138, 81, …]\", one for each layer, found "
         "\"null\""},
    };
    all_fail(faults, G_N_ELEMENTS(faults));
}

static void test_options(void) {
    static const char list[] = "[[0, 1, 2, 3], [0, 1, 2, 3]]";
    fails(list, SETTINGS("gpus=0"), MILL_E_CONFIG,
          "PLAN does not tell how many GPUs share its 4 slots: set gpus");
    fails(list, SETTINGS("gpus=4", "nodes=3"), MILL_E_DATA,
          "PLAN: 4 GPUs can't be divided among 3 nodes equally; 2 or 4 could have them");
    fails(list, SETTINGS("gpus=2", "experts=5"), MILL_E_DATA,
          "PLAN: 5 experts don't fit in 4 slots a layer: expected experts 0 to 3 at most");
    fails(list, SETTINGS("gpus=2", "layers=3"), MILL_E_DATA,
          "PLAN: expected 3 layers, as the option layers says, found 2");
    fails(list, SETTINGS("gpus=2", "format=sglang"), MILL_E_DATA,
          "PLAN: expected the format sglang, as the option says, found vllm");
    fails("initial_global_assignments: {3: [0, 1]}", SETTINGS("gpus=2", "first-layer=3"),
          MILL_E_CONFIG, "PLAN numbers its layers itself, from 3: leave first-layer out");
    fails("{\"physical_to_logical_map\": [[0, 1]]}", SETTINGS("gpus=2", "first-layer=1"),
          MILL_E_CONFIG, "first-layer: PLAN has a row for each of 1 layers; expected less");
    fails(ASCEND("1", LAYER("0", "2", DEVICE("0", "0") "," DEVICE("1", "1"))), SETTINGS("gpus=4"),
          MILL_E_CONFIG, "PLAN has 2 gpus, the option gpus says 4");
}

/* ---------------------------------------------------------------- npy */

static char *put_array(const char *name, unsigned dimensions, const uint64_t *shape,
                       const int64_t *v) {
    size_t n = 1;
    for (unsigned i = 0; i < dimensions; i++)
        n *= shape[i];
    GString *bytes = g_string_new(NULL);
    char head[KIT_NPY_HEAD];
    kit_npy_head(head, dimensions, shape);
    g_string_append_len(bytes, head, sizeof head);
    g_string_append_len(bytes, (const char *)v, (gssize)(n * sizeof *v));
    char *path = exchange_put(name, bytes->str, bytes->len);
    g_string_free(bytes, TRUE);
    return path;
}

/* Two slots, expert 0 and 1, and beside them what log2phy and logcnt say. */
static void npy_fails(const int64_t slots[2], const int64_t counts[2], const char *cause) {
    static const int64_t plan[] = {0, 1};
    g_autofree char *path = put_array("n.phy2log.npy", 2, (const uint64_t[]){1, 2}, plan);
    g_free(put_array("n.log2phy.npy", 3, (const uint64_t[]){1, 2, 1}, slots));
    g_free(put_array("n.logcnt.npy", 2, (const uint64_t[]){1, 2}, counts));
    mill_status status;
    bench *b = exchange_read(path, SETTINGS("gpus=2"), &status);
    g_assert_true(g_str_has_suffix(bench_causes(b), cause));
    g_assert_cmpint(status, ==, MILL_E_DATA);
    bench_destroy(b);
}

static void test_npy(void) {
    npy_fails(
        (const int64_t[]){1, 0}, (const int64_t[]){1, 1},
        "n.log2phy.npy: layer 0, expert 0, replica 0: slot 1 holds another expert in phy2log");
    npy_fails(
        (const int64_t[]){0, 2}, (const int64_t[]){1, 1},
        "n.log2phy.npy: layer 0, expert 1, replica 0: expected a slot below 2, or -1 for none");
    npy_fails((const int64_t[]){0, -1}, (const int64_t[]){1, 0},
              "n.log2phy.npy: layer 0: slot 1, which holds expert 1 in phy2log, is missing");
    npy_fails((const int64_t[]){0, 1}, (const int64_t[]){1, 2},
              "n.logcnt.npy: layer 0, expert 1: expected 1 replicas, as log2phy has");
    static const int64_t plan[] = {0, 1};
    g_autofree char *flat = put_array("plan", 1, (const uint64_t[]){2}, plan), *bytes = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(flat, &bytes, &length, NULL));
    mill_status status;
    bench *b = exchange_read(flat, SETTINGS("gpus=2"), &status);
    g_assert_true(g_str_has_suffix(bench_causes(b), "expected an array of 2 dimensions, found 1"));
    bench_destroy(b);
    g_autofree char *cut = exchange_put("plan", bytes, length - 1);
    b = exchange_read(cut, SETTINGS("gpus=2"), &status);
    g_assert_true(g_str_has_suffix(bench_causes(b),
                                   "byte 128: expected 2 numbers of 8 bytes, found 15 bytes"));
    g_assert_cmpint(status, ==, MILL_E_DATA);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- what a format can't hold */

static const mill_expert_plan *plan_of(bench *b, uint32_t slots, const int32_t *expert,
                                       const uint32_t *first, const int64_t *layer) {
    return kit_expert_plan(bench_services(b), &(mill_expert_plan){.layers = 1,
                                                                  .experts = 2,
                                                                  .slots = slots,
                                                                  .gpus = 2,
                                                                  .first = first,
                                                                  .expert = expert,
                                                                  .layer = layer});
}

static void write_fails(const mill_expert_plan *p, const char *const *settings, mill_status right,
                        const char *cause) {
    bench *b = exchange_write(p, settings);
    g_assert_cmpint(bench_run(b), ==, right);
    g_assert_cmpstr(bench_causes(b), ==, cause);
    g_assert_null(bench_written(b, "-"));
    bench_destroy(b);
}

static void test_write(void) {
    bench *b = bench_create(NULL, NULL);
    static const int32_t twice[] = {0, 0, 0, 1}, empty[] = {0, 1, 0, -1};
    static const uint32_t uneven[] = {0, 1, 4};
    static const int64_t far[] = {1000000};
    const mill_expert_plan *p = plan_of(b, 4, twice, NULL, NULL);
    write_fails(p, SETTINGS("format=vllm-ascend"), MILL_E_DATA,
                "layer 0: GPU 0 holds expert 0 twice, and vllm-ascend has one slot for each expert "
                "of a device; plan without duplicates (distinct = yes of eplb)");
    write_fails(p, SETTINGS("format=npy"), MILL_E_CONFIG,
                "format = npy writes three files: expected a path that ends in phy2log.npy, beside "
                "which log2phy.npy and logcnt.npy go");
    write_fails(p, SETTINGS("format=vllm", "layer-updates-per-iter=2"), MILL_E_CONFIG,
                "layer-updates-per-iter is of format = trtllm alone");
    write_fails(p, SETTINGS("model-layers=2"), MILL_E_CONFIG,
                "model-layers is of format = sglang alone");
    write_fails(plan_of(b, 4, empty, NULL, NULL), SETTINGS("format=sglang"), MILL_E_DATA,
                "layer 0: slot 3 is empty, which SGLang can't say; format = json holds the plan");
    write_fails(plan_of(b, 4, twice, uneven, NULL), SETTINGS("format=trtllm"), MILL_E_DATA,
                "GPU 1 has 3 slots, GPU 0 has 1: TensorRT-LLM takes as many on each GPU; format = "
                "json holds the plan");
    write_fails(
        plan_of(b, 4, twice, uneven, NULL), SETTINGS("format=npy", "path=a.phy2log.npy"),
        MILL_E_DATA,
        "GPU 1 has 3 slots, GPU 0 has 1: npy takes as many on each GPU; format = json holds "
        "the plan");
    write_fails(plan_of(b, 4, twice, NULL, far), SETTINGS("format=sglang"), MILL_E_DATA,
                "row 0 is layer 1000000: SGLang takes layers that rise, below 10000");
    bench_destroy(b);
}

/* Of the three files of npy one is enough. */
static void test_overwrite(void) {
    static const int32_t experts[] = {0, 1};
    bench *b = bench_create(NULL, NULL);
    g_autofree char *folder = g_dir_make_tmp("tracemill-plans-XXXXXX", NULL);
    g_autofree char *json = g_build_filename(folder, "plan.json", NULL);
    g_autofree char *first = g_build_filename(folder, "a.phy2log.npy", NULL);
    g_autofree char *other = g_build_filename(folder, "a.logcnt.npy", NULL);
    const char *const old[] = {json, other}, *const named[] = {json, first};
    for (int npy = 0; npy < 2; npy++) {
        g_assert_true(g_file_set_contents(old[npy], "old", -1, NULL));
        g_autofree char *path = g_strconcat("path=", named[npy], NULL);
        g_autofree char *cause = g_strdup_printf("%s is there already: remove it, give another "
                                                 "path, or set overwrite = yes",
                                                 old[npy]);
        const char *format = npy ? "format=npy" : "format=json";
        write_fails(plan_of(b, 2, experts, NULL, NULL), SETTINGS(format, path, "overwrite=no"),
                    MILL_E_IO, cause);
        bench *w = exchange_write(plan_of(b, 2, experts, NULL, NULL), SETTINGS(format, path));
        g_assert_cmpint(bench_run(w), ==, MILL_OK);
        g_assert_nonnull(bench_written(w, old[npy]));
        bench_destroy(w);
        g_assert_cmpint(g_remove(old[npy]), ==, 0);
    }
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    bench_destroy(b);
}

/* A full disk is no file. */
static void test_disk(void) {
    bench *b = bench_create(NULL, NULL);
    static const int32_t experts[] = {0, 1};
    for (int npy = 0; npy < 2; npy++) {
        bench *w = exchange_write(plan_of(b, 2, experts, NULL, NULL),
                                  npy ? SETTINGS("format=npy", "path=a.phy2log.npy")
                                      : SETTINGS("path=a.phy2log.npy"));
        bench_disk_size(w, npy ? 130 : 20);
        g_assert_cmpint(bench_run(w), ==, MILL_E_IO);
        g_assert_null(bench_written(w, "a.phy2log.npy"));
        bench_destroy(w);
    }
    bench_destroy(b);
}

/* What is odd but can be read is told. */
static void test_warnings(void) {
    static const fault odd[] = {
        {"{\"physical_to_logical_map\": [[0, 1]], \"more\": 1}",
         "\"more\" is left out; SGLang takes a file with physical_to_logical_map alone\n"},
        {ASCEND("1", LAYER("0", "2", DEVICE("0", "0, 0") "," DEVICE("1", "0, 1"))),
         "layer 0: device 0 holds expert 0 twice; vllm-ascend would use the last of its slots "
         "alone\n"},
        {"mode: static\ninitial_global_assignments: {3: [0, 1]}", "line 1: \"mode\" is left out\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
        g_autofree char *path = exchange_put("plan", odd[i].text, strlen(odd[i].text));
        mill_status status;
        bench *b = exchange_read(path, SETTINGS("gpus=2"), &status);
        g_assert_cmpuint(exchange_plan(b)->experts, ==, 2);
        g_assert_true(g_str_has_suffix(bench_log(b), odd[i].cause));
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plans/faults/json", test_json);
    g_test_add_func("/plans/faults/vllm-ascend", test_ascend);
    g_test_add_func("/plans/faults/own", test_own);
    g_test_add_func("/plans/faults/yaml", test_yaml);
    g_test_add_func("/plans/faults/options", test_options);
    g_test_add_func("/plans/faults/npy", test_npy);
    g_test_add_func("/plans/faults/write", test_write);
    g_test_add_func("/plans/faults/overwrite", test_overwrite);
    g_test_add_func("/plans/faults/disk", test_disk);
    g_test_add_func("/plans/faults/warnings", test_warnings);
    int result = g_test_run();
    exchange_remove_folder();
    return result;
}
