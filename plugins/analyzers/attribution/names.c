/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of annotations and kernels say of a place, by regular expressions. */
#include "attribution.h"

#include <stdio.h>
#include <string.h>

#define STAGE_MAX 200 /* bytes of a stage's name that are kept: reports have no room for more */

static int group_of(mill_run *run, const mill_regex *regex, const char *name) {
    int group = run->host->regex_group(regex, name);
    return group < MAX_GROUPS ? group : -1;
}

mill_status pattern_init(mill_run *run, const char *text, pattern *ret_pattern) {
    pattern p = {0};
    if (text[0] != '\0') {
        mill_status status = run->host->regex_new(run, text, 0, &p.regex);
        if (status != MILL_OK)
            return status;
        p.stage = group_of(run, p.regex, "stage");
        p.chunk = group_of(run, p.regex, "chunk");
        p.layer = group_of(run, p.regex, "layer");
        p.micro_batch = group_of(run, p.regex, "mb");
        p.step = group_of(run, p.regex, "step");
    }
    *ret_pattern = p;
    return MILL_OK;
}

static const mill_span *span_of(const mill_span *groups, int group) {
    return group >= 0 && groups[group].start >= 0 ? &groups[group] : NULL;
}

bool pattern_match(mill_run *run, const pattern *p, const char *text, place_meaning *meaning) {
    mill_span groups[MAX_GROUPS];
    if (!p->regex || !run->host->regex_match(p->regex, text, strlen(text), groups, MAX_GROUPS))
        return false;
    const mill_span *span = span_of(groups, p->stage);
    if (span) {
        meaning->stage = text + span->start;
        meaning->stage_length = (size_t)(span->end - span->start);
    }
    if ((span = span_of(groups, p->chunk)))
        chunk_parse(text + span->start, (size_t)(span->end - span->start), &meaning->chunk);
    if ((span = span_of(groups, p->layer)) && span->end > span->start) {
        meaning->layer_named = true;
        ordinal_parse(text + span->start, (size_t)(span->end - span->start), &meaning->layer);
    }
    if ((span = span_of(groups, p->micro_batch)))
        ordinal_parse(text + span->start, (size_t)(span->end - span->start), &meaning->micro_batch);
    return true;
}

bool chunk_parse(const char *text, size_t length, mill_chunk *ret_chunk) {
    static const struct {
        const char *word;
        mill_chunk chunk;
    } words[] = {
        {"F", MILL_CHUNK_FORWARD},
        {"forward", MILL_CHUNK_FORWARD},
        {"fwd", MILL_CHUNK_FORWARD},
        {"B", MILL_CHUNK_BACKWARD},
        {"backward", MILL_CHUNK_BACKWARD},
        {"bwd", MILL_CHUNK_BACKWARD},
        {"W", MILL_CHUNK_WEIGHT},
        {"weight", MILL_CHUNK_WEIGHT},
        {"wgrad", MILL_CHUNK_WEIGHT},
        {"F&B", MILL_CHUNK_PAIR},
        {"forward_backward", MILL_CHUNK_PAIR},
        {"1F1B", MILL_CHUNK_PAIR},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == length && !strncasecmp(words[i].word, text, length)) {
            *ret_chunk = words[i].chunk;
            return true;
        }
    return false;
}

bool ordinal_parse(const char *text, size_t length, int64_t *ret_ordinal) {
    int64_t value = 0;
    if (length == 1 && ((text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z')) {
        *ret_ordinal = (text[0] | 0x20) - 'a';
        return true;
    }
    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *ret_ordinal = value;
    return true;
}

uint32_t stage_number(kit_intern *stages, const place_meaning *meaning) {
    static const char *const letters[] = {
        [MILL_CHUNK_NONE] = "",      [MILL_CHUNK_FORWARD] = "(F)", [MILL_CHUNK_BACKWARD] = "(B)",
        [MILL_CHUNK_WEIGHT] = "(W)", [MILL_CHUNK_PAIR] = "(F&B)",
    };
    if (!meaning->stage)
        return MILL_NONE;
    size_t length = meaning->stage_length < STAGE_MAX ? meaning->stage_length : STAGE_MAX;
    char text[STAGE_MAX + 8];
    int n =
        snprintf(text, sizeof text, "%.*s%s", (int)length, meaning->stage, letters[meaning->chunk]);
    return kit_intern_add(stages, text, (size_t)n, 0);
}
