/* SPDX-License-Identifier: Apache-2.0 */
/* The words that names must hold to fit a rule, against GLib's expressions. */
#include "words.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

static bool may_fit(const word_set *words, const char *text) {
    uint64_t owners = 0;
    words_find(words, text, strlen(text), &owners);
    return owners & 1;
}

static void test_needs(void) {
    static const struct {
        const char *pattern;
        words_need need;
        const char *words; /* joined by '|', in lower case */
    } cases[] = {
        {"triton_[a-z]+_fused", WORDS_ONE, "triton_"},
        {"(nccl|rccl)[a-z]*kernel", WORDS_ONE, "nccl|rccl"},
        {"(?:all_?reduce)|(?:HCCL\\.x)", WORDS_ONE, "reduce|hccl.x"},
        {"^(batch_?)?(i?send|i?recv)$", WORDS_ONE, "send|recv"},
        {"abcdef*gh", WORDS_ONE, "abcde"},
        {"abcdef+gh", WORDS_ONE, "abcdef"},
        {"(one|two)_shot_all", WORDS_ONE, "_shot_all"},
        {"abcdefghijklmnopqrstuvwxyz", WORDS_ONE, "abcdefghijklmnopqrstuvwx"},
        {"(deep|[a-z]*)", WORDS_NONE, ""},
        {"abc", WORDS_NONE, ""},
        {"deepep|abc", WORDS_NONE, ""},
        {"(deepep)?", WORDS_NONE, ""},
        {"", WORDS_NONE, ""},
        {"(", WORDS_UNKNOWN, ""},
        {"deepep)", WORDS_UNKNOWN, ""},
        {"deepep{2}", WORDS_UNKNOWN, ""},
        {"deepep\\d", WORDS_UNKNOWN, ""},
        {"(?i)deepep", WORDS_UNKNOWN, ""},
        {"(?=deepep)", WORDS_UNKNOWN, ""},
        {"[[:alpha:]]deepep", WORDS_UNKNOWN, ""},
        {"[z-a]deepep", WORDS_UNKNOWN, ""},
        {"[abc", WORDS_UNKNOWN, ""},
        {"deepep**", WORDS_UNKNOWN, ""},
        {"dee\xc3\xa4pep", WORDS_UNKNOWN, ""},
        {"deepep\\", WORDS_UNKNOWN, ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        word_set words = {0};
        g_test_message("%s", cases[i].pattern);
        g_assert_cmpint(words_add(&words, cases[i].pattern, 0), ==, cases[i].need);
        g_autoptr(GString) found = g_string_new(NULL);
        for (uint32_t k = 0; k < words.n; k++)
            g_string_append_printf(found, "%s%.*s", k ? "|" : "", words.v[k].length,
                                   words.v[k].text);
        g_autofree char *folded = g_strdup(cases[i].words);
        for (char *c = folded; *c; c++)
            *c |= 0x20;
        g_assert_cmpstr(found->str, ==, folded);
        words_finish(&words);
    }
}

static void test_owners(void) {
    word_set words = {0};
    g_assert_cmpint(words_add(&words, "ncclKernel|ncclDev", 3), ==, WORDS_ONE);
    g_assert_cmpint(words_add(&words, "nccl", 70), ==, WORDS_ONE);
    uint64_t owners[2] = {0};
    words_find(&words, "void NCCLdev_x", 14, owners);
    g_assert_cmpuint(owners[0], ==, UINT64_C(1) << 3);
    g_assert_cmpuint(owners[1], ==, UINT64_C(1) << 6);
    owners[0] = owners[1] = 0;
    words_find(&words, "void ncclDev_x", 11, owners); /* the text ends before the word does */
    g_assert_cmpuint(owners[0], ==, 0);
    g_assert_cmpuint(owners[1], ==, UINT64_C(1) << 6);
    words_find(&words, "ncc", 3, owners);
    words_finish(&words);
}

static void fill(GRand *rand, const char *alphabet, char *text, int longest) {
    int length = g_rand_int_range(rand, 0, longest + 1);
    for (int i = 0; i < length; i++)
        text[i] = alphabet[g_rand_int_range(rand, 0, (int)strlen(alphabet))];
    text[length] = '\0';
}

/* An expression that is read is a right one, and no text that fits it lacks the words. */
static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    unsigned fitting = 0, needing = 0;
    for (int i = 0; i < 100000; i++) {
        char pattern[32], text[32];
        word_set words = {0};
        fill(rand, i % 2 ? "aaabbbAB(((|)))?*+." : "aab_-[[]]^$\\.:=(?)|+{2}", pattern, 20);
        words_need need = words_add(&words, pattern, 0);
        if (need != WORDS_UNKNOWN) {
            g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW | G_REGEX_CASELESS, 0, NULL);
            g_test_message("%s", pattern);
            g_assert_nonnull(regex);
            needing += need == WORDS_ONE;
            for (int k = 0; need == WORDS_ONE && k < 50; k++) {
                fill(rand, "abAB", text, 30);
                bool fits = g_regex_match(regex, text, 0, NULL);
                fitting += fits;
                g_assert_true(!fits || may_fit(&words, text));
            }
        }
        words_finish(&words);
    }
    g_assert_cmpuint(needing, >, 500);
    g_assert_cmpuint(fitting, >, 500);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/words/needs", test_needs);
    g_test_add_func("/kineto/words/owners", test_owners);
    g_test_add_func("/kineto/words/random", test_random);
    return g_test_run();
}
