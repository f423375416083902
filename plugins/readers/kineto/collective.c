/* SPDX-License-Identifier: Apache-2.0 */
/* From the args of an event to a row of the collectives. The keys are those of Kineto's
 * output_json.cpp and PyTorch's profiler/util.cpp. */
#include "collective.h"

#include "facts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tracemill/kit/intern.h>

struct collectives {
    mill_run *run;
    kit_trace *b;
    const rule_set *rules;
    kit_intern *operations;
    uint16_t *kinds; /* by number of operations */
};

collectives *collectives_create(mill_run *run, kit_trace *b, const rule_set *rules) {
    collectives *c = kit_alloc(1, sizeof *c);
    *c = (collectives){.run = run, .b = b, .rules = rules, .operations = kit_intern_create()};
    return c;
}

void collectives_destroy(collectives *c) {
    if (!c)
        return;
    kit_intern_destroy(c->operations);
    free(c->kinds);
    free(c);
}

static uint16_t kind_of(collectives *c, json_value operation) {
    uint32_t n = kit_intern_count(c->operations);
    uint32_t found = kit_intern_add(c->operations, operation.at, operation.length, 0);
    if (found == n) {
        const rule *fits = rules_find(c->run, c->rules, 0, operation.at, operation.length);
        c->kinds = kit_realloc(c->kinds, n + 1, sizeof *c->kinds);
        c->kinds[n] = fits ? kit_trace_kind(c->b, fits->kind) : UINT16_MAX;
    }
    return c->kinds[found];
}

/* By the names of c10::ScalarType, which is what PyTorch writes. */
static int64_t bytes_of(json_value dtype) {
    static const struct {
        const char *name;
        int8_t bytes;
    } types[] = {
        {"Bool", 1},
        {"Byte", 1},
        {"Char", 1},
        {"Short", 2},
        {"Int", 4},
        {"Long", 8},
        {"UInt16", 2},
        {"UInt32", 4},
        {"UInt64", 8},
        {"Half", 2},
        {"BFloat16", 2},
        {"Float", 4},
        {"Double", 8},
        {"ComplexHalf", 4},
        {"ComplexFloat", 8},
        {"ComplexDouble", 16},
        {"Float8_e5m2", 1},
        {"Float8_e4m3fn", 1},
        {"Float8_e5m2fnuz", 1},
        {"Float8_e4m3fnuz", 1},
        {"Float8_e8m0fnu", 1},
        {"QInt8", 1},
        {"QUInt8", 1},
        {"QInt32", 4},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (dtype.kind == JSON_STRING && json_is(dtype, types[i].name))
            return types[i].bytes;
    return MILL_UNKNOWN;
}

/* PyTorch writes the peer of a send as Dst Rank and that of a recv as Src Rank; where both are
 * given, one of them is the rank itself. */
static int64_t peer_of(json_value operation, int64_t from, int64_t to) {
    if (from == MILL_UNKNOWN || to == MILL_UNKNOWN)
        return from == MILL_UNKNOWN ? to : from;
    bool receives = operation.length >= 4 && !strncasecmp(operation.at, "recv", 4);
    return receives ? from : to;
}

uint32_t collectives_add(collectives *c, json_value args) {
    enum {
        OPERATION,
        IN,
        OUT,
        DTYPE,
        SIZE,
        GROUP,
        DESCRIPTION,
        ID,
        RANKS,
        SEQUENCE,
        FROM,
        TO,
        N_KEYS
    };
    static const char *const keys[N_KEYS] = {
        [OPERATION] = "Collective name",
        [IN] = "In msg nelems",
        [OUT] = "Out msg nelems",
        [DTYPE] = "dtype",
        [SIZE] = "Group size",
        [GROUP] = "Process Group Name",
        [DESCRIPTION] = "Process Group Description",
        [ID] = "Process Group ID", /* of PyTorch before 2.4 */
        [RANKS] = "Process Group Ranks",
        [SEQUENCE] = "Seq",
        [FROM] = "Src Rank",
        [TO] = "Dst Rank",
    };
    json_value v[N_KEYS];
    facts_pick(args, keys, v, N_KEYS);
    if (v[OPERATION].kind != JSON_STRING || v[OPERATION].length == 0)
        return MILL_NONE;
    kit_collective_row row = {
        .operation = facts_string(c->b, v[OPERATION]),
        .kind = kind_of(c, v[OPERATION]),
        .in_elems = facts_int(v[IN]),
        .out_elems = facts_int(v[OUT]),
        .dtype = facts_string(c->b, v[DTYPE]),
        .elem_bytes = bytes_of(v[DTYPE]),
        .group_size = facts_int(v[SIZE]),
        .ranks = facts_string(c->b, v[RANKS]),
        .sequence = facts_int(v[SEQUENCE]),
        .peer = peer_of(v[OPERATION], facts_int(v[FROM]), facts_int(v[TO])),
        .group = facts_string(c->b, v[GROUP]),
    };
    for (int key = DESCRIPTION; key <= ID && row.group == MILL_NONE; key++)
        row.group = facts_string(c->b, v[key]);
    return kit_trace_collective(c->b, &row);
}
