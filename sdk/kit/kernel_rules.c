/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the names of GPU activities: see kit/kernel_rules.h. */
#include <tracemill/kit/kernel_rules.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tracemill/kit/arena.h>

typedef struct rule {
    const char *name;     /* the section */
    const char *kind;     /* NULL: none */
    mill_regex **matches; /* one of them must be found */
    size_t n_matches;     /* 0: any name fits */
    uint8_t cat;          /* mill_gpu_cat; 0: any */
    uint8_t cls;          /* mill_class; 0: none was given yet */
} rule;

struct kit_kernel_rules {
    kit_arena texts;
    rule *v;
    size_t n;
};

typedef struct loading {
    mill_run *run;
    const char *path;
    kit_kernel_rules *rules;
    size_t first;  /* number of the file's first rule */
    uint32_t line; /* of the last rule's section */
    mill_status status;
} loading;

kit_kernel_rules *kit_kernel_rules_create(void) {
    return kit_alloc(1, sizeof(kit_kernel_rules));
}

void kit_kernel_rules_destroy(kit_kernel_rules *rules) {
    if (!rules)
        return;
    for (size_t i = 0; i < rules->n; i++)
        free(rules->v[i].matches);
    free(rules->v);
    kit_arena_finish(&rules->texts);
    free(rules);
}

/* ---------------------------------------------------------------- reading */

#define fail_at(l, line, format, ...)                                                              \
    ((l)->status = mill_fail((l)->run, MILL_E_CONFIG, "%s:%u: " format, (l)->path,                 \
                             (unsigned)(line), __VA_ARGS__),                                       \
     false)

/* The categories in the words of profilers, new and old. */
static bool set_category(loading *l, rule *r, const char *value, uint32_t line) {
    static const struct {
        const char *word;
        uint8_t cat;
    } words[] = {
        {"kernel", MILL_GPU_KERNEL},     {"gpu_memcpy", MILL_GPU_MEMCPY},
        {"gpu_memset", MILL_GPU_MEMSET}, {"memcpy", MILL_GPU_MEMCPY},
        {"memset", MILL_GPU_MEMSET},
    };
    r->cat = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(value, words[i].word) == 0)
            r->cat = words[i].cat;
    return r->cat || fail_at(l, line,
                             "category = \"%s\": expected kernel, gpu_memcpy or gpu_memset; leave "
                             "it out for all three",
                             value);
}

static bool set_class(loading *l, rule *r, const char *value, uint32_t line) {
    static const char *const words[] = {
        [MILL_CLASS_COMPUTATION] = "computation",
        [MILL_CLASS_COMMUNICATION] = "communication",
        [MILL_CLASS_MEMORY] = "memory",
        [MILL_CLASS_OTHER] = "other",
    };
    r->cls = 0;
    for (uint8_t i = MILL_CLASS_COMPUTATION; i <= MILL_CLASS_OTHER; i++)
        if (strcmp(value, words[i]) == 0)
            r->cls = i;
    return r->cls ||
           fail_at(l, line, "class = \"%s\": expected computation, communication, memory or other",
                   value);
}

/* Each line of `value` is an expression. */
static bool set_match(loading *l, rule *r, const char *value, uint32_t line) {
    mill_run *run = l->run;
    r->n_matches = 0;
    for (const char *at = value, *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, "\n");
        const char *text = kit_arena_text(&l->rules->texts, at, (size_t)(end - at));
        r->matches = kit_realloc(r->matches, r->n_matches + 1, sizeof *r->matches);
        mill_regex **regex = &r->matches[r->n_matches];
        if (run->host->regex_new(run, text, MILL_REGEX_CASELESS, regex) != MILL_OK)
            return fail_at(l, line, "match: \"%s\" is not a regular expression", text);
        r->n_matches++;
    }
    return true;
}

/* What a rule must have, once its section has ended. */
static bool end_rule(loading *l) {
    const kit_kernel_rules *rules = l->rules;
    if (rules->n == l->first || rules->v[rules->n - 1].cls)
        return true;
    return fail_at(l, l->line,
                   "[%s] has no class: add `class = computation` (or communication, memory, other)",
                   rules->v[rules->n - 1].name);
}

static bool begin_rule(loading *l, const char *section, uint32_t line) {
    kit_kernel_rules *rules = l->rules;
    if (!end_rule(l))
        return false;
    if (rules->n == UINT16_MAX)
        return fail_at(l, line, "too many rules: at most %d are allowed in all", UINT16_MAX);
    rules->v = kit_realloc(rules->v, rules->n + 1, sizeof *rules->v);
    rules->v[rules->n++] = (rule){.name = kit_arena_text(&rules->texts, section, strlen(section))};
    l->line = line;
    return true;
}

static bool on_line(void *arg, const char *section, const char *key, const char *value,
                    uint32_t line) {
    loading *l = arg;
    kit_kernel_rules *rules = l->rules;
    if (!key)
        return begin_rule(l, section, line);
    if (rules->n == l->first)
        return fail_at(l, line, "\"%s\" stands before the first rule: begin with [NAME]", key);
    rule *r = &rules->v[rules->n - 1];
    if (strcmp(key, "match") == 0)
        return set_match(l, r, value, line);
    if (strcmp(key, "category") == 0)
        return set_category(l, r, value, line);
    if (strcmp(key, "class") == 0)
        return set_class(l, r, value, line);
    if (strcmp(key, "kind") != 0)
        return fail_at(l, line,
                       "unknown key \"%s\": a rule of this file has category, match, class and "
                       "kind",
                       key);
    r->kind = kit_arena_text(&rules->texts, value, strlen(value));
    return true;
}

mill_status kit_kernel_rules_load(mill_run *run, kit_kernel_rules *rules, const char *path) {
    loading l = {.run = run, .path = path, .rules = rules, .first = rules->n};
    mill_status status = run->host->ini_read(run, path, on_line, &l);
    if (status == MILL_OK)
        end_rule(&l);
    return l.status != MILL_OK ? l.status : status;
}

/* ---------------------------------------------------------------- applying */

static bool fits(mill_run *run, const rule *r, uint32_t cat, const char *name, size_t length) {
    if (r->cat && r->cat != cat)
        return false;
    for (size_t i = 0; i < r->n_matches; i++)
        if (run->host->regex_match(r->matches[i], name, length, NULL, 0))
            return true;
    return r->n_matches == 0;
}

/* All of them, so that their order is that of the rules, whatever comes first in the trace. */
static void add_texts(const kit_kernel_rules *rules, kit_trace *b) {
    for (size_t i = 0; i < rules->n; i++) {
        kit_trace_rule(b, rules->v[i].name);
        if (rules->v[i].kind)
            kit_trace_kind(b, rules->v[i].kind);
    }
}

mill_status kit_kernel_rules_apply(mill_run *run, const kit_kernel_rules *rules, kit_trace *b) {
    add_texts(rules, b);
    for (uint32_t i = 0; i < kit_trace_name_count(b); i++) {
        size_t length;
        uint32_t cat;
        const char *name = kit_trace_name_text(b, i, &length, &cat);
        const rule *found = NULL;
        if (cat == 0)
            continue;
        if (mill_cancelled(run)) /* a name of many bytes can take ms */
            return MILL_E_CANCELLED;
        for (size_t k = 0; k < rules->n && !found; k++)
            if (fits(run, &rules->v[k], cat, name, length))
                found = &rules->v[k];
        kit_trace_classify(b, i, found ? (mill_class)found->cls : MILL_CLASS_OTHER,
                           found && found->kind ? kit_trace_kind(b, found->kind) : UINT16_MAX,
                           found ? kit_trace_rule(b, found->name) : UINT16_MAX);
    }
    return MILL_OK;
}
