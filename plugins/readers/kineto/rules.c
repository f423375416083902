/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rules and applies them. */
#include "rules.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct loading {
    mill_run *run;
    const char *path;
    rule_set *set;
    rule_form form;
    size_t first;  /* number of the file's first rule */
    uint32_t line; /* of the rule's section */
    mill_status status;
} loading;

#define fail_at(l, line, ...) fail_in_file((l), (line), __LINE__, __VA_ARGS__)

MILL_PRINTF(4, 5)
static bool fail_in_file(loading *l, uint32_t line, int source_line, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    l->status = mill_fail_at(l->run->host, l->run, MILL_E_CONFIG, __FILE__, source_line,
                             "%s:%u: %s", l->path, line, text);
    return false;
}

static bool set_category(loading *l, rule *to, const char *value, uint32_t line) {
    to->category = category_find(value, strlen(value));
    if (l->form == RULES_KERNELS && !to->category->gpu)
        return fail_at(l, line,
                       "category = \"%s\": expected kernel, gpu_memcpy or gpu_memset; leave it out "
                       "for all three",
                       value);
    return to->category->gpu || to->category->cpu ||
           fail_at(l, line,
                   "category = \"%s\": expected kernel, gpu_memcpy, gpu_memset, cpu_op, "
                   "user_annotation, cuda_runtime or cuda_driver",
                   value);
}

static bool set_class(loading *l, rule *to, const char *value, uint32_t line) {
    static const char *const words[] = {
        [MILL_CLASS_COMPUTATION] = "computation",
        [MILL_CLASS_COMMUNICATION] = "communication",
        [MILL_CLASS_MEMORY] = "memory",
        [MILL_CLASS_OTHER] = "other",
    };
    for (uint8_t i = MILL_CLASS_COMPUTATION; i <= MILL_CLASS_OTHER; i++)
        if (!strcmp(words[i], value))
            to->cls = i;
    return to->cls || fail_at(l, line,
                              "class = \"%s\": expected computation, communication, memory or "
                              "other",
                              value);
}

static mill_regex *compile(mill_run *run, alternative *a) {
    mill_regex *regex = NULL;
    if (run->host->regex_new(run, a->text, MILL_REGEX_CASELESS, &regex) == MILL_OK)
        atomic_store(&a->regex, regex);
    return regex;
}

/* Each line of `value` is a regular expression; one of them must be found. Those that may be wrong
 * are compiled at once, to say so. */
static bool set_match(loading *l, rule *r, const char *value, uint32_t line) {
    expression_set *set = &l->set->expressions;
    r->first = set->n;
    for (const char *end; value; value = *end ? end + 1 : NULL) {
        end = strchrnul(value, '\n');
        if (!expressions_add(set, &l->set->memory, value, (size_t)(end - value)) &&
            !compile(l->run, &set->v[set->n - 1]))
            return fail_at(l, line, "match: not a regular expression");
    }
    r->n = set->n - r->first;
    return true;
}

/* What a rule must have, once its section has ended. */
static bool end_rule(loading *l) {
    if (l->set->n == l->first)
        return true;
    const rule *last = &l->set->rules[l->set->n - 1];
    if (l->form == RULES_KERNELS && !last->cls)
        return fail_at(l, l->line,
                       "[%s] has no class: add `class = computation` (or communication, memory, "
                       "other)",
                       last->name);
    if (l->form == RULES_COLLECTIVES && !last->kind)
        return fail_at(l, l->line, "[%s] has no kind: add `kind = all-reduce`, or another word",
                       last->name);
    if (l->form == RULES_PLANES && !last->category)
        return fail_at(l, l->line, "[%s] has no category: add `category = kernel` (or cpu_op, …)",
                       last->name);
    return true;
}

static bool begin_rule(loading *l, const char *section, uint32_t line) {
    rule_set *set = l->set;
    if (!end_rule(l))
        return false;
    if (set->n == UINT16_MAX)
        return fail_at(l, line, "too many rules: at most %d are allowed in all", UINT16_MAX);
    set->rules = kit_realloc(set->rules, set->n + 1, sizeof *set->rules);
    set->rules[set->n++] = (rule){.name = kit_arena_text(&set->memory, section, strlen(section))};
    l->line = line;
    return true;
}

static bool on_line(void *arg, const char *section, const char *key, const char *value,
                    uint32_t line) {
    static const char *const keys[] = {
        [RULES_KERNELS] = "category, match, class and kind",
        [RULES_COLLECTIVES] = "match and kind",
        [RULES_PLANES] = "match, category and class",
    };
    loading *l = arg;
    rule_set *set = l->set;
    if (!key)
        return begin_rule(l, section, line);
    if (set->n == l->first)
        return fail_at(l, line, "\"%s\" stands before the first rule: begin with [NAME]", key);
    rule *to = &set->rules[set->n - 1];
    if (!strcmp(key, "match"))
        return set_match(l, to, value, line);
    if (!strcmp(key, "category") && l->form != RULES_COLLECTIVES)
        return set_category(l, to, value, line);
    if (!strcmp(key, "class") && l->form != RULES_COLLECTIVES)
        return set_class(l, to, value, line);
    if (strcmp(key, "kind") != 0 || l->form == RULES_PLANES)
        return fail_at(l, line, "unknown key \"%s\": a rule of this file has %s", key,
                       keys[l->form]);
    to->kind = kit_arena_text(&set->memory, value, strlen(value));
    return true;
}

mill_status rules_load(mill_run *run, rule_set *set, rule_form form, const char *path) {
    loading l = {.run = run, .path = path, .set = set, .form = form, .first = set->n};
    mill_status status = run->host->ini_read(run, path, on_line, &l);
    if (status == MILL_OK)
        end_rule(&l);
    return l.status != MILL_OK ? l.status : status;
}

void rules_finish(rule_set *set) {
    kit_arena_finish(&set->memory);
    expressions_finish(&set->expressions);
    free(set->rules);
    *set = (rule_set){0};
}

/* Threads that are here at once may compile an expression twice, which only costs time. */
static bool fits(mill_run *run, alternative *a, const char *name, size_t length) {
    nfa_answer answer = a->nfa ? nfa_find(a->nfa, name, length) : NFA_UNKNOWN;
    if (answer != NFA_UNKNOWN)
        return answer == NFA_YES;
    mill_regex *regex = atomic_load(&a->regex);
    if (!regex)
        regex = compile(run, a);
    assert(regex); /* it was compiled when it was loaded, or read and so is a right one */
    return run->host->regex_match(regex, name, length, NULL, 0);
}

static bool has_words(const alternative *a, const uint64_t *groups) {
    for (uint16_t i = a->group; i < a->after_group; i++)
        if (!(groups[i / 64] >> i % 64 & 1))
            return false;
    return true;
}

const rule *rules_find(mill_run *run, const rule_set *set, uint8_t cat, const char *name,
                       size_t length) {
    const expression_set *x = &set->expressions;
    uint64_t groups[UINT16_MAX / 64 + 1];
    memset(groups, 0, ((size_t)x->words.groups + 63) / 64 * sizeof groups[0]);
    words_find(&x->words, name, length, groups);
    for (size_t i = 0; i < set->n; i++) {
        const rule *r = &set->rules[i];
        if (cat && r->category && r->category->gpu != cat)
            continue;
        if (r->n == 0)
            return r;
        for (alternative *a = &x->v[r->first], *end = a + r->n; a < end; a++)
            if (has_words(a, groups) && fits(run, a, name, length))
                return r;
    }
    return NULL;
}
