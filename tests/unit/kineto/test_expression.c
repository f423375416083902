/* SPDX-License-Identifier: Apache-2.0 */
/* The expressions of rules, and the words that names must hold to fit them, against GLib's. */
#include "bench_host.h"
#include "rules.h"

#include <string.h>

/* What is needed: "one|two & three" for each alternative, ", " between them; "-": nothing; '!'
 * before it: no automaton. */
static char *tell(const expression_set *set) {
    GString *all = g_string_new(NULL);
    for (const alternative *a = set->v; a < set->v + set->n; a++) {
        g_string_append_printf(all, "%s%s", a > set->v ? ", " : "", a->nfa ? "" : "!");
        for (uint16_t group = a->group; group < a->after_group; group++) {
            const char *between = group > a->group ? " & " : "";
            for (size_t k = 0; k < set->words.n; k++) {
                const needed_word *word = &set->words.v[k];
                if (word->group != group)
                    continue;
                g_string_append_printf(all, "%s%.*s", between, word->length, word->text);
                between = "|";
            }
        }
        if (a->group == a->after_group)
            g_string_append_c(all, '-');
    }
    return g_string_free(all, FALSE);
}

static void test_read(void) {
    static const struct {
        const char *pattern, *needs; /* needs NULL: not read */
    } cases[] = {
        {"triton_[a-z]+_fused", "triton_ & _fused"},
        {"(nccl|rccl)[a-z]*kernel", "nccl|rccl & kernel"},
        {"all_?reduce|HCCL\\.x", "all & reduce, hccl.x"},
        {"^(batch_?)?(i?send|i?recv)$", "send|recv"},
        {"abcdef*gh", "abcde"},
        {"abcdef+gh", "abcdef"},
        {"(one|two)_shot_all", "one|two & _shot_all"},
        {"x(one[a-z]two|three)", "one|three"},
        {"((one|two)three|four)", "one|two|four"},
        {"abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwx"},
        {"(deep|[a-z]*)", "-"},
        {"ab", "-"},
        {"deepep|ab", "deepep, -"},
        {"(deepep)?", "-"},
        {"", "-"},
        {"^(?!bmm_).*swiglu", "!swiglu"},
        {"one(?=two)", "!one"},
        {"^(^|a)one", "!one"},
        {"(one$)*^", "!-"},
        {"^$", "!-"},
        {"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyzab",
         "abcdefghijklmnopqrstuvwx"},
        {"abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyzabc",
         "!abcdefghijklmnopqrstuvwx"},
        {"(", NULL},
        {"deepep)", NULL},
        {"deepep{2}", NULL},
        {"deepep\\d", NULL},
        {"one|(?i)deepep", NULL},
        {"(?<=one)deepep", NULL},
        {"[[:alpha:]]deepep", NULL},
        {"[z-a]deepep", NULL},
        {"[abc", NULL},
        {"deepep**", NULL},
        {"dee\xc3\xa4pep", NULL},
        {"deepep\\", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        expression_set set = {0};
        kit_arena memory = {0};
        const char *pattern = cases[i].pattern, *needs = cases[i].needs;
        g_test_message("%s", pattern);
        g_assert_cmpint(expressions_add(&set, &memory, pattern, strlen(pattern)), ==,
                        needs != NULL);
        g_autofree char *told = tell(&set), *right = g_strdup(needs ? needs : "!-");
        for (char *c = right; *c; c++)
            *c = *c == '_' ? '_' | 0x20 : *c;
        g_assert_cmpstr(told, ==, right);
        if (!needs)
            g_assert_cmpstr(set.v[0].text, ==, pattern);
        expressions_finish(&set);
        kit_arena_finish(&memory);
    }
}

static void test_words(void) {
    expression_set set = {0};
    kit_arena memory = {0};
    g_assert_true(expressions_add(&set, &memory, "ncclKernel|ncclDev", 18));
    for (int i = 2; i < 70; i++)
        g_assert_true(expressions_add(&set, &memory, "other", 5));
    g_assert_true(expressions_add(&set, &memory, "nccl", 4));
    uint64_t groups[2] = {0};
    words_find(&set.words, "void NCCLdev_x", 14, groups);
    g_assert_cmpuint(groups[0], ==, UINT64_C(1) << 1);
    g_assert_cmpuint(groups[1], ==, UINT64_C(1) << 6);
    groups[0] = groups[1] = 0;
    words_find(&set.words, "void ncclDev_x", 11, groups); /* the text ends before the word does */
    g_assert_cmpuint(groups[0], ==, 0);
    g_assert_cmpuint(groups[1], ==, UINT64_C(1) << 6);
    words_find(&set.words, "nc", 2, groups);
    expressions_finish(&set);
    kit_arena_finish(&memory);
}

static void test_find(void) {
    static const struct {
        const char *pattern, *text;
        nfa_answer right;
    } cases[] = {
        {"gemm", "void GEMM_x", NFA_YES},
        {"gemm", "gem", NFA_NO},
        {"gemm", "gem\xc3\xa4m", NFA_UNKNOWN},
        {"gemm", "gemm\n", NFA_YES},
        {"^gemm$", "gemm", NFA_YES},
        {"^gemm$", "gemm\n", NFA_UNKNOWN},
        {"^gemm$", "a gemm", NFA_NO},
        {"(^|[^a-z])rope($|[^a-z])", "rope", NFA_YES},
        {"(^|[^a-z])rope($|[^a-z])", "k_Rope<", NFA_YES},
        {"(^|[^a-z])rope($|[^a-z])", "Krope<", NFA_NO},
        {"(^|[^a-z])rope($|[^a-z])", "ropes", NFA_NO},
        {"a+b?[C-D]*_", "xaad_", NFA_YES},
        {"a+b?[C-D]*_", "xabbd_", NFA_NO},
        {"x^", "x", NFA_NO},
        {"", "", NFA_YES},
        {".", "", NFA_NO},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        expression_set set = {0};
        kit_arena memory = {0};
        g_test_message("%s in %s", cases[i].pattern, cases[i].text);
        g_assert_true(expressions_add(&set, &memory, cases[i].pattern, strlen(cases[i].pattern)));
        g_assert_cmpint(nfa_find(set.v[0].nfa, cases[i].text, strlen(cases[i].text)), ==,
                        cases[i].right);
        expressions_finish(&set);
        kit_arena_finish(&memory);
    }
}

static void fill(GRand *rand, const char *alphabet, char *text, int longest) {
    int length = g_rand_int_range(rand, 0, longest + 1);
    for (int i = 0; i < length; i++)
        text[i] = alphabet[g_rand_int_range(rand, 0, (int)strlen(alphabet))];
    text[length] = '\0';
}

/* What was told of the texts of one round. */
typedef struct tally {
    unsigned yes, no, unknown, lacking;
} tally;

/* Whether one alternative fits, as rules find it out. */
static bool fits(const expression_set *set, const char *text, tally *told) {
    uint64_t groups[2] = {0};
    g_assert_cmpuint(set->words.groups, <=, 128);
    words_find(&set->words, text, strlen(text), groups);
    bool any = false;
    for (const alternative *a = set->v; a < set->v + set->n; a++) {
        g_autoptr(GRegex) regex = g_regex_new(a->text, G_REGEX_RAW | G_REGEX_CASELESS, 0, NULL);
        bool fits = g_regex_match(regex, text, 0, NULL);
        for (uint16_t i = a->group; i < a->after_group; i++)
            if (!(groups[i / 64] >> i % 64 & 1)) {
                g_assert_false(fits);
                told->lacking++;
            }
        nfa_answer answer = a->nfa ? nfa_find(a->nfa, text, strlen(text)) : NFA_UNKNOWN;
        if (answer == NFA_UNKNOWN)
            told->unknown++;
        else
            g_assert_cmpint(answer == NFA_YES, ==, fits);
        told->yes += answer == NFA_YES;
        told->no += answer == NFA_NO;
        any |= fits;
    }
    return any;
}

/* An expression that is read is a right one, fits what its alternatives fit, and they tell so. */
static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    tally told = {0};
    for (int i = 0; i < 100000; i++) {
        char pattern[32], text[32];
        expression_set set = {0};
        kit_arena memory = {0};
        fill(rand, i % 2 ? "aaabbbAB(((|)))?*+.^$" : "aab_-[[]]^$\\.:=!(?)|+{2}", pattern, 20);
        if (expressions_add(&set, &memory, pattern, strlen(pattern))) {
            g_test_message("%s", pattern);
            g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW | G_REGEX_CASELESS, 0, NULL);
            g_assert_nonnull(regex);
            for (int k = 0; k < 20; k++) {
                fill(rand, k < 18 ? "abAB_" : "aB\n\x85\xe4", text, k < 10 ? 5 : 30);
                g_assert_cmpint(fits(&set, text, &told), ==, g_regex_match(regex, text, 0, NULL));
            }
        }
        expressions_finish(&set);
        kit_arena_finish(&memory);
    }
    g_test_message("%u fit, %u don't, %u unknown, %u lack words", told.yes, told.no, told.unknown,
                   told.lacking);
    g_assert_cmpuint(told.yes, >, 10000);
    g_assert_cmpuint(told.no, >, 10000);
    g_assert_cmpuint(told.unknown, >, 1000);
    g_assert_cmpuint(told.lacking, >, 1000);
}

/* The bundled rules keep off what costs time. */
static void test_bundled(void) {
    static const char *const files[] = {"kernels", "collectives", "planes"};
    bench *b = bench_create(NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        rule_set set = {0};
        g_autofree char *path =
            g_strdup_printf("%s/etc/rules/%s.ini", g_getenv("TRACEMILL_TEST_SOURCE"), files[i]);
        g_assert_cmpint(rules_load(bench_services(b), &set, (rule_form)i, path), ==, MILL_OK);
        g_assert_cmpuint(set.expressions.n, >, 0);
        for (size_t k = 0; k < set.expressions.n; k++) {
            const alternative *a = &set.expressions.v[k];
            g_test_message("%s", a->text);
            g_assert_true(a->nfa || strstr(a->text, "(?!"));
            if (i == RULES_KERNELS)
                g_assert_cmpuint(a->group, <, a->after_group);
        }
        rules_finish(&set);
    }
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/expression/read", test_read);
    g_test_add_func("/kineto/expression/words", test_words);
    g_test_add_func("/kineto/expression/find", test_find);
    g_test_add_func("/kineto/expression/random", test_random);
    g_test_add_func("/kineto/expression/bundled", test_bundled);
    return g_test_run();
}
