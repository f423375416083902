/* SPDX-License-Identifier: Apache-2.0 */
/* The user's rules, from an INI file: which annotations, ops and kernels belong to which place. */
#include "attribution.h"

#include <string.h>

typedef struct loading {
    mill_run *run;
    const char *path;
    rule_set *set;
    uint32_t line; /* of the last section */
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

/* What a rule must have, once its section has ended. */
static bool end_rule(loading *l) {
    if (l->set->n == 0)
        return true;
    const rule *r = &l->set->rules[l->set->n - 1];
    bool matches = false;
    for (int f = 0; f < RULE_FIELDS; f++)
        matches |= r->patterns[f].regex != NULL;
    return matches ||
           fail_at(l, l->line, "[%s] matches nothing: add annotation, op or kernel", r->name);
}

static bool begin_rule(loading *l, const char *section, uint32_t line) {
    rule_set *set = l->set;
    if (!end_rule(l))
        return false;
    if (set->n == MAX_RULES)
        return fail_at(l, line, "too many rules: at most %d are allowed", MAX_RULES);
    set->rules[set->n++] = (rule){
        .name = kit_arena_text(&set->memory, section, strlen(section)),
        .fixed = MEANS_NOTHING,
    };
    l->line = line;
    return true;
}

static bool set_field(loading *l, rule *r, rule_field field, const char *value, uint32_t line) {
    l->status = pattern_init(l->run, value, &r->patterns[field]);
    return l->status == MILL_OK || fail_at(l, line, "not a regular expression");
}

static bool set_meaning(loading *l, rule *r, const char *key, const char *value, uint32_t line) {
    size_t length = strlen(value);
    if (!strcmp(key, "stage")) {
        r->fixed.stage = kit_arena_text(&l->set->memory, value, length);
        r->fixed.stage_length = length;
        return length > 0 || fail_at(l, line, "stage is empty: leave it out, or name it");
    }
    if (!strcmp(key, "chunk"))
        return chunk_parse(value, length, &r->fixed.chunk) ||
               fail_at(l, line, "chunk = \"%s\": expected F, B, W or F&B", value);
    if (!strcmp(key, "layer"))
        return ordinal_parse(value, length, &r->fixed.layer) ||
               fail_at(l, line, "layer = \"%s\": expected a number from 0 up", value);
    if (!strcmp(key, "micro-batch"))
        return ordinal_parse(value, length, &r->fixed.micro_batch) ||
               fail_at(l, line, "micro-batch = \"%s\": expected a number from 0 up", value);
    return fail_at(l, line,
                   "unknown key \"%s\": a rule has annotation, op, kernel, stage, chunk, layer and "
                   "micro-batch",
                   key);
}

static bool on_line(void *arg, const char *section, const char *key, const char *value,
                    uint32_t line) {
    static const char *const fields[] = {
        [RULE_ANNOTATION] = "annotation", [RULE_OP] = "op", [RULE_KERNEL] = "kernel"};
    loading *l = arg;
    if (!key)
        return begin_rule(l, section, line);
    if (l->set->n == 0)
        return fail_at(l, line, "\"%s\" stands before the first rule: begin with [NAME]", key);
    rule *r = &l->set->rules[l->set->n - 1];
    for (int f = 0; f < RULE_FIELDS; f++)
        if (!strcmp(key, fields[f]))
            return set_field(l, r, (rule_field)f, value, line);
    return set_meaning(l, r, key, value, line);
}

mill_status rules_load(mill_run *run, const char *path, rule_set *set) {
    loading l = {.run = run, .path = path, .set = set};
    mill_status status = run->host->ini_read(run, path, on_line, &l);
    if (status == MILL_OK)
        end_rule(&l);
    for (size_t r = 0; r < set->n; r++)
        for (int f = 0; f < RULE_FIELDS; f++)
            if (!set->rules[r].patterns[f].regex)
                set->without[f] |= (rule_mask)1 << r;
    return l.status != MILL_OK ? l.status : status;
}

rule_mask rules_find(mill_run *run, const rule_set *set, rule_field field, const char *text) {
    rule_mask found = 0;
    place_meaning ignored;
    for (size_t r = 0; r < set->n; r++)
        if (pattern_match(run, &set->rules[r].patterns[field], text, &ignored))
            found |= (rule_mask)1 << r;
    return found;
}
