/* SPDX-License-Identifier: Apache-2.0 */
/* Makes up events of all shapes, and damages them. */
#include "random_text.h"

/* What an event may look like beside the usual: each must be read as the reference engine does. */
static const char *const odd_members[] = {
    "\"pid\": \"CUDA functions\"",
    "\"tid\": \"stream 7\"",
    "\"pid\": -3",
    "\"tid\": 007",
    "\"ts\": \"123.456\"",
    "\"ts\": 123.4567",
    "\"ts\": 1e3",
    "\"ts\": 9223372036854775.807",
    "\"ts\": 99999999999999999999",
    "\"dur\": -1",
    "\"dur\": 0.0005",
    "\"dur\": null",
    "\"dur\": NaN",
    "\"name\": \"a\\u00e9\\\\b\"",
    "\"name\": \"caf\xc3\xa9\"",
    "\"name\": \"bad \xff byte\"",
    "\"name\": \"\"",
    "\"name\": 7",
    "\"name\": \"_ZN4fooEi\"",
    "\"cat\": \"Kernel\"",
    "\"cat\": \"python_function\"",
    "\"cat\": 7",
    "\"ph\": \"XX\"",
    "\"ph\": \"i\"",
    "\"ph\": \"B\"",
    "\"ph\": \"E\"",
    "\"ph\": \"b\", \"id\": 1",
    "\"ph\": \"e\", \"id\": \"1\"",
    "\"ph\": \"C\"",
    "\"ph\": \"f\", \"id\": 3",
    "\"args\": {\"Collective name\": \"allreduce\", \"dtype\": \"Float\"}",
    "\"id\": [1, {\"a\": \"}\"}, -2.5e3, true, null]",
    "\"s\": \"quote \\\" inside\"",
    "\"x\": Infinity",
    "\"args\": 7",
    "\"args\": {}",
    "\"args\": {\"stream\": \"0x0\", \"correlation\": 18446744073709551615}",
    "\"args\": {\"grid\": [2,3, 4], \"block\": \"grid(100,)\"}",
    "\"args\": {\"grid\": [], \"block\": [1, 2.0]}",
    "\"args\": {\"bytes\": -5, \"device\": 1.0, \"stream\": 4294967295}",
    "\"cat\": \"CUDA_sync\", \"args\": {\"stream\": 4294967295, \"correlation\": 5}",
    "\"cat\": \"cuda_sync\", \"args\": {\"wait_on_stream\": \"7\"}",
    "\"args\": {\"Input Dims\": [[1, 2], []], \"name\": \"n\", \"External id\" : 12}",
};

void random_event(GString *text, GRand *rand, bool odd) {
    static const char *const cats[] = {"\"cat\": \"kernel\", ",
                                       "\"cat\": \"gpu_memcpy\", ",
                                       "\"cat\": \"cpu_op\", ",
                                       "\"cat\": \"cuda_runtime\", ",
                                       "\"cat\": \"cuda_sync\", ",
                                       "\"cat\": \"Trace\", ",
                                       ""};
    static const char *const gaps[] = {"", " ", "\n    ", "\t"};
    const char *gap = gaps[g_rand_int_range(rand, 0, 16) == 0 ? g_rand_int_range(rand, 0, 4) : 2];
    g_string_append_printf(text,
                           "{%s\"ph\": \"X\", %s\"name\": \"name %d\", \"pid\": %d, "
                           "\"tid\": %d,%s\"ts\": "
                           "%u.%03d,%s\"dur\": %d",
                           gap, cats[g_rand_int_range(rand, 0, G_N_ELEMENTS(cats))],
                           g_rand_int_range(rand, 0, 40), g_rand_int_range(rand, 0, 3),
                           g_rand_int_range(rand, 0, 5), gap, g_rand_int_range(rand, 1, 1000000),
                           g_rand_int_range(rand, 0, 1000), gap, g_rand_int_range(rand, 0, 500));
    if (g_rand_boolean(rand))
        g_string_append_printf(text,
                               ",%s\"args\": {%s\"External id\": %d,%s\"correlation\": %d, "
                               "\"stream\": %d, \"wait_on_stream\": %d, "
                               "\"wait_on_cuda_event_record_corr_id\": %d, \"device\": 0, "
                               "\"grid\": [%d, 1, 1]%s}",
                               gap, gap, g_rand_int_range(rand, 0, 1 << 30), gap,
                               g_rand_int_range(rand, 0, 300), g_rand_int_range(rand, 0, 9),
                               g_rand_int_range(rand, -1, 9), g_rand_int_range(rand, -1, 300),
                               g_rand_int_range(rand, 0, 5000), gap);
    for (int n = odd ? g_rand_int_range(rand, 0, 12) - 9 : 0; n > 0; n--)
        g_string_append_printf(text, ", %s",
                               odd_members[g_rand_int_range(rand, 0, G_N_ELEMENTS(odd_members))]);
    g_string_append_printf(text, "%s},%s", gap, gap);
}

void random_damage(GString *text, GRand *rand) {
    static const char bytes[] = "\"\\{}[],: 0x\n\xff";
    for (int n = g_rand_int_range(rand, 0, 5) - 1; n > 0 && text->len > 0; n--) {
        gsize at = (gsize)g_rand_int_range(rand, 0, (gint32)text->len);
        if (g_rand_boolean(rand))
            text->str[at] = bytes[g_rand_int_range(rand, 0, sizeof bytes - 1)];
        else
            g_string_erase(text, (gssize)at, MIN(20, (gssize)(text->len - at)));
    }
}
