/* SPDX-License-Identifier: Apache-2.0 */
/* Takes one of the methods, and gives each activity its place by it. */
#include "attribution.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/columns.h>

#define CANCEL_ROWS (1u << 16)
#define MAX_SPAN (INT64_MAX / 2) /* keeps kit/measure.h's promise */

/* What a place is known by; no padding, since its bytes are interned. */
typedef struct place {
    int64_t layer, micro_batch;
    uint32_t annotation, stage, step;
    uint16_t chunk, method;
} place;
_Static_assert(sizeof(place) == 32, "interned by its bytes");

/* What a site says to all activities launched there. */
typedef struct site_facts {
    rule_mask rules; /* that fit, but for their kernel patterns */
    uint32_t step;
    uint32_t place;   /* of activities of which nothing else matters, once it was asked for */
    uint32_t methods; /* bits of the methods that place all of them */
    bool backward, asked;
} site_facts;

/* What the name of an annotation tells, by the method that is used. */
typedef struct name_meaning {
    place_meaning meaning;
    uint32_t stage; /* its number */
    bool asked, numbered;
} name_meaning;

/* Columns of some rows of the trace's gpu. */
typedef struct block {
    int64_t start[KIT_BLOCK], dur[KIT_BLOCK];
    uint32_t stream[KIT_BLOCK], name[KIT_BLOCK];
} block;

typedef struct placing {
    mill_run *run;
    const mill_trace *trace;
    const attribution_options *options;
    const pattern_set *patterns;
    site_table *sites;
    site_facts *facts; /* of each site */
    kernel_sequence sequence;
    size_t next;         /* of the sequence: at or after the row that is looked at */
    rule_mask *kernels;  /* of each name: rules whose kernel pattern it fits; NULL without rules */
    uint8_t *weight;     /* of each name: 0 not asked, 1 no, 2: makes gradients of weights */
    name_meaning *names; /* of each name, as one of an annotation */
    uint32_t *site_of;   /* of each row, in which the value's places come later */
    kit_intern *stages, *places;
    kit_intern *variants;     /* of (site, what else matters) */
    uint32_t *variant_places; /* place of each of them */
    mill_method used;
} placing;

/* ---------------------------------------------------------------- what the methods would place */

static rule_mask site_rules(const placing *p, const site *here) {
    const rule_set *set = &p->patterns->rules;
    rule_mask by_annotation = set->without[RULE_ANNOTATION], by_op = set->without[RULE_OP];
    uint32_t around = here->innermost[ROLE_RULE];
    if (around != MILL_NONE)
        by_annotation |= rules_find(p->run, set, RULE_ANNOTATION,
                                    mill_name(p->trace, p->sites->annotations[around].name));
    if (here->op != MILL_NONE)
        by_op |= rules_find(p->run, set, RULE_OP, mill_name(p->trace, here->op));
    return by_annotation & by_op;
}

static void find_facts(placing *p) {
    uint32_t n = kit_intern_count(p->sites->table);
    p->facts = mill_scratch(p->run, n * sizeof *p->facts);
    for (uint32_t i = 0; i < n; i++) {
        site here = sites_get(p->sites, i);
        site_facts *to = &p->facts[i];
        *to = (site_facts){
            .rules = p->patterns->rules.n > 0 ? site_rules(p, &here) : 0,
            .step = here.step,
            .backward = here.backward,
        };
        if (here.innermost[ROLE_STAGE] != MILL_NONE)
            to->methods |= 1u << MILL_METHOD_ANNOTATION;
        if (here.launched && p->sites->autograd)
            to->methods |= 1u << MILL_METHOD_AUTOGRAD;
        if (here.innermost[ROLE_PIPELINE] != MILL_NONE)
            to->methods |= 1u << MILL_METHOD_PIPELINE;
    }
}

static void find_kernels(placing *p) {
    const rule_set *set = &p->patterns->rules;
    if (set->n == 0)
        return;
    uint64_t n = p->trace->names.texts.n;
    uint8_t *seen = mill_scratch(p->run, n);
    p->kernels = mill_scratch(p->run, n * sizeof *p->kernels);
    for (uint64_t row = 0; row < p->trace->gpu.n; row++)
        seen[mill_u32(p->trace, &p->trace->gpu.name, row)] = 1;
    for (uint32_t name = 0; name < n; name++)
        if (seen[name])
            p->kernels[name] = rules_find(p->run, set, RULE_KERNEL, mill_name(p->trace, name));
}

/* The rules that fit an activity. */
static rule_mask rules_of(const placing *p, const site_facts *facts, uint32_t name) {
    if (!p->kernels)
        return 0;
    return facts->rules & (p->kernels[name] | p->patterns->rules.without[RULE_KERNEL]);
}

/* What the order of communication says of the row, or NULL. Rows come in order. */
static const sequenced *in_sequence(placing *p, uint64_t row) {
    while (p->next < p->sequence.n && p->sequence.v[p->next].row < row)
        p->next++;
    if (p->next == p->sequence.n || p->sequence.v[p->next].row != row)
        return NULL;
    return p->sequence.v[p->next].stage ? &p->sequence.v[p->next] : NULL;
}

static uint32_t methods_of(placing *p, const site_facts *facts, uint64_t row, uint32_t name) {
    uint32_t methods = facts->methods;
    if (rules_of(p, facts, name))
        methods |= 1u << MILL_METHOD_RULE;
    if (in_sequence(p, row))
        methods |= 1u << MILL_METHOD_SEQUENCE;
    return methods;
}

static mill_status broken_timer(const placing *p, uint32_t device) {
    char number[KIT_NUMBER_MAX];
    kit_format_int(number, mill_i64(p->trace, &p->trace->devices.id, device), 0);
    return mill_fail(p->run, MILL_E_DATA,
                     "device %s: its activities span more than 146 years: a broken timer; take "
                     "those with wrong times out of the trace",
                     number);
}

/* Adds some rows. tallies: of each device MILL_METHODS of them. */
static mill_status weigh_block(placing *p, const block *b, uint64_t first, size_t n,
                               const uint32_t *device_of, kit_tally *tallies) {
    for (size_t i = 0; i < n; i++) {
        uint32_t device = device_of[b->stream[i]];
        kit_tally *to = &tallies[device * MILL_METHODS];
        const site_facts *facts = &p->facts[p->site_of[first + i]];
        int64_t start = b->start[i], end, span;
        if (__builtin_add_overflow(start, b->dur[i], &end) ||
            __builtin_sub_overflow(end, to->n ? to->first : start, &span) || span > MAX_SPAN)
            return broken_timer(p, device);
        kit_tally_add(&to[MILL_METHOD_NONE], start, end);
        for (uint32_t m = methods_of(p, facts, first + i, b->name[i]); m; m &= m - 1)
            kit_tally_add(&to[__builtin_ctz(m)], start, end);
        if (facts->step != MILL_NONE)
            p->sites->steps[facts->step].n++;
    }
    return MILL_OK;
}

/* How much each method would place, and the activities of each step. */
static mill_status weigh(placing *p, method_outcome *o) {
    const mill_trace *trace = p->trace;
    const mill_gpu *gpu = &trace->gpu;
    kit_tally *tallies = mill_scratch(p->run, trace->devices.n * MILL_METHODS * sizeof *tallies);
    uint32_t *device_of = mill_scratch(p->run, trace->streams.n * sizeof *device_of);
    mill_status status = MILL_OK;
    block b;
    kit_read_u32(trace, &trace->streams.device, 0, trace->streams.n, device_of);
    for (uint64_t first = 0; first < gpu->n && status == MILL_OK; first += KIT_BLOCK) {
        size_t n = kit_block_rows(gpu->n, first);
        if (first % CANCEL_ROWS == 0 && mill_cancelled(p->run))
            return MILL_E_CANCELLED;
        sites_of(p->sites, trace, first, n, p->site_of + first);
        kit_read_i64(trace, &gpu->start, first, n, b.start);
        kit_read_i64(trace, &gpu->dur, first, n, b.dur);
        kit_read_u32(trace, &gpu->stream, first, n, b.stream);
        kit_read_u32(trace, &gpu->name, first, n, b.name);
        status = weigh_block(p, &b, first, n, device_of, tallies);
    }
    for (uint64_t i = 0; i < trace->devices.n * MILL_METHODS; i++) {
        o->n[i % MILL_METHODS] += (uint64_t)tallies[i].n;
        o->busy[i % MILL_METHODS] += tallies[i].busy;
    }
    return status;
}

/* The best method that places enough, else the one that places most. */
static mill_method choose(const attribution_options *options, const method_outcome *o) {
    mill_method most = MILL_METHOD_NONE;
    if (options->method != METHOD_AUTO)
        return (mill_method)options->method;
    for (int m = MILL_METHOD_ANNOTATION; m < MILL_METHODS; m++) {
        if (o->n[m] > 0 &&
            (double)o->busy[m] * 100 >= options->min_coverage * (double)o->busy[MILL_METHOD_NONE])
            return (mill_method)m;
        if (o->n[m] > 0 && (most == MILL_METHOD_NONE || o->busy[m] > o->busy[most]))
            most = (mill_method)m;
    }
    return most;
}

/* ---------------------------------------------------------------- the place of one activity */

static bool makes_weights(placing *p, uint32_t name) {
    place_meaning ignored;
    if (!p->weight[name])
        p->weight[name] =
            1 + pattern_match(p->run, &p->patterns->wgrad, mill_name(p->trace, name), &ignored);
    return p->weight[name] == 2;
}

static const annotation *annotation_at(const placing *p, uint32_t index) {
    return index == MILL_NONE ? NULL : &p->sites->annotations[index];
}

/* What the pattern of the method finds in an annotation's name. */
static void mean_name(const placing *p, const annotation *a, const pattern *names,
                      place_meaning *m) {
    name_meaning *known = &p->names[a->name];
    if (!known->asked) {
        known->meaning = MEANS_NOTHING;
        pattern_match(p->run, names, mill_name(p->trace, a->name), &known->meaning);
        known->asked = true;
    }
    *m = known->meaning;
}

/* A layer is the ordinal of its annotation, where nothing else tells it: a name that holds one that
 * can't be read is not mixed with ordinals. */
static void number_layer(const annotation *a, place_meaning *m) {
    if (m->layer == MILL_UNKNOWN && !m->layer_named)
        m->layer = a->ordinal;
}

static void mean_rule(const placing *p, const site *here, rule_mask fitting, uint32_t name,
                      place_meaning *m) {
    const rule *r = &p->patterns->rules.rules[__builtin_ctzll(fitting)];
    const annotation *a = annotation_at(p, here->innermost[ROLE_RULE]);
    if (r->patterns[RULE_KERNEL].regex)
        pattern_match(p->run, &r->patterns[RULE_KERNEL], mill_name(p->trace, name), m);
    if (r->patterns[RULE_OP].regex)
        pattern_match(p->run, &r->patterns[RULE_OP], mill_name(p->trace, here->op), m);
    if (r->patterns[RULE_ANNOTATION].regex) {
        pattern_match(p->run, &r->patterns[RULE_ANNOTATION], mill_name(p->trace, a->name), m);
        number_layer(a, m);
    }
    if (r->fixed.stage) {
        m->stage = r->fixed.stage;
        m->stage_length = r->fixed.stage_length;
    } else if (!m->stage) {
        m->stage = r->name;
        m->stage_length = strlen(r->name);
    }
    m->chunk = r->fixed.chunk ? r->fixed.chunk : m->chunk;
    m->layer = r->fixed.layer != MILL_UNKNOWN ? r->fixed.layer : m->layer;
    m->micro_batch = r->fixed.micro_batch != MILL_UNKNOWN ? r->fixed.micro_batch : m->micro_batch;
}

static void mean_text(place_meaning *m, const char *stage, mill_chunk chunk) {
    m->stage = stage;
    m->stage_length = strlen(stage);
    m->chunk = chunk;
}

static void mean_autograd(placing *p, const site *here, uint32_t name, place_meaning *m) {
    if (here->backward)
        mean_text(m, "backward", makes_weights(p, name) ? MILL_CHUNK_WEIGHT : MILL_CHUNK_BACKWARD);
    else if (here->innermost[ROLE_OPTIMIZER] != MILL_NONE)
        mean_text(m, "optimizer", MILL_CHUNK_NONE);
    else
        mean_text(m, "forward", MILL_CHUNK_FORWARD);
}

static void mean_pipeline(const placing *p, const site *here, place_meaning *m) {
    const annotation *a = annotation_at(p, here->innermost[ROLE_PIPELINE]);
    mean_name(p, a, &p->patterns->pipeline, m);
    if (!m->stage)
        mean_text(m, mill_name(p->trace, a->name), m->chunk);
}

/* What the method says, if it says anything of the activity. */
static bool mean(placing *p, const site *here, uint32_t number, uint64_t row, place_meaning *m) {
    uint32_t name = mill_u32(p->trace, &p->trace->gpu.name, row);
    if (p->used == MILL_METHOD_NONE ||
        !(methods_of(p, &p->facts[number], row, name) >> p->used & 1))
        return false;
    switch (p->used) {
    case MILL_METHOD_ANNOTATION: {
        const annotation *a = annotation_at(p, here->innermost[ROLE_STAGE]);
        mean_name(p, a, &p->patterns->stage, m);
        number_layer(a, m);
        break;
    }
    case MILL_METHOD_RULE:
        mean_rule(p, here, rules_of(p, &p->facts[number], name), name, m);
        break;
    case MILL_METHOD_AUTOGRAD:
        mean_autograd(p, here, name, m);
        break;
    case MILL_METHOD_SEQUENCE: {
        const sequenced *s = in_sequence(p, row);
        mean_text(m, s->stage, s->chunk);
        m->layer = s->ordinal;
        break;
    }
    default:
        mean_pipeline(p, here, m);
    }
    return true;
}

/* Names of annotations are asked for often, and always tell the same stage. */
static uint32_t number_stage(placing *p, const site *here, const place_meaning *m) {
    const annotation *a = annotation_at(p, here->innermost[ROLE_STAGE]);
    if (p->used != MILL_METHOD_ANNOTATION || !a)
        return stage_number(p->stages, m);
    name_meaning *known = &p->names[a->name];
    if (!known->numbered)
        known->stage = stage_number(p->stages, m);
    known->numbered = true;
    return known->stage;
}

static uint32_t make_place(placing *p, uint32_t number, uint64_t row) {
    site here = sites_get(p->sites, number);
    const annotation *a = annotation_at(p, here.innermost[ROLE_ANY]);
    place_meaning m = MEANS_NOTHING;
    bool told = mean(p, &here, number, row, &m);
    place made = {
        .layer = m.layer,
        .micro_batch = m.micro_batch,
        .annotation = a ? a->row : MILL_NONE,
        .stage = number_stage(p, &here, &m),
        .step = here.step,
        .chunk = (uint16_t)m.chunk,
        .method = told ? (uint16_t)p->used : MILL_METHOD_NONE,
    };
    if (!told && !a && here.step == MILL_NONE)
        return MILL_NONE;
    return kit_intern_add(p->places, (const char *)&made, sizeof made, 0);
}

/* What matters beside the site: 0 is nothing. */
static uint32_t variant_of(placing *p, const site_facts *facts, uint64_t row) {
    uint32_t name;
    switch (p->used) {
    case MILL_METHOD_RULE:
        name = mill_u32(p->trace, &p->trace->gpu.name, row);
        return p->kernels && p->kernels[name] ? name + 1 : 0;
    case MILL_METHOD_AUTOGRAD:
        return facts->backward && makes_weights(p, mill_u32(p->trace, &p->trace->gpu.name, row));
    case MILL_METHOD_SEQUENCE:
        return in_sequence(p, row) ? (uint32_t)p->next + 1 : 0;
    default:
        return 0;
    }
}

static uint32_t place_of(placing *p, uint64_t row) {
    uint32_t number = p->site_of[row];
    site_facts *facts = &p->facts[number];
    uint32_t key[2] = {number, variant_of(p, facts, row)};
    if (key[1] == 0) {
        if (!facts->asked)
            facts->place = make_place(p, number, row);
        facts->asked = true;
        return facts->place;
    }
    uint32_t count = kit_intern_count(p->variants);
    uint32_t variant = kit_intern_add(p->variants, (const char *)key, sizeof key, 0);
    if (variant == count) {
        if ((count & (count - 1)) == 0) /* grows at powers of two */
            p->variant_places = kit_realloc(p->variant_places, count ? 2 * (size_t)count : 1,
                                            sizeof *p->variant_places);
        p->variant_places[variant] = make_place(p, number, row);
    }
    return p->variant_places[variant];
}

/* ---------------------------------------------------------------- the value */

static void *column(mill_run *run, mill_attribution *value, uint64_t n, size_t size) {
    return mill_value_alloc(run, value, n * size);
}

static void put_places(placing *p, mill_attribution *value) {
    uint32_t n = kit_intern_count(p->places);
    uint32_t *annotations = column(p->run, value, n, sizeof *annotations);
    uint32_t *stages = column(p->run, value, n, sizeof *stages);
    uint32_t *steps = column(p->run, value, n, sizeof *steps);
    uint8_t *chunks = column(p->run, value, n, sizeof *chunks);
    uint8_t *methods = column(p->run, value, n, sizeof *methods);
    int64_t *layers = column(p->run, value, n, sizeof *layers);
    int64_t *micro_batches = column(p->run, value, n, sizeof *micro_batches);
    for (uint32_t i = 0; i < n; i++) {
        place from;
        memcpy(&from, kit_intern_text(p->places, i, NULL), sizeof from);
        annotations[i] = from.annotation;
        stages[i] = from.stage;
        steps[i] = from.step;
        chunks[i] = (uint8_t)from.chunk;
        methods[i] = (uint8_t)from.method;
        layers[i] = from.layer;
        micro_batches[i] = from.micro_batch;
    }
    value->n_places = n;
    value->annotation = annotations;
    value->stage = stages;
    value->step = steps;
    value->chunk = chunks;
    value->method = methods;
    value->layer = layers;
    value->micro_batch = micro_batches;
}

static void put_stages(placing *p, mill_attribution *value) {
    uint32_t n = kit_intern_count(p->stages);
    const char **names = column(p->run, value, n, sizeof *names);
    for (uint32_t i = 0; i < n; i++) {
        size_t length;
        const char *text = kit_intern_text(p->stages, i, &length);
        names[i] = kit_text_utf8(p->run, value, text, length);
    }
    value->n_stages = n;
    value->stages = names;
}

/* In the place of the rows' sites. */
static mill_status put_rows(placing *p, mill_attribution *value) {
    uint64_t n = p->trace->gpu.n;
    p->next = 0;
    for (uint64_t row = 0; row < n; row++) {
        if (row % CANCEL_ROWS == 0 && mill_cancelled(p->run))
            return MILL_E_CANCELLED;
        p->site_of[row] = place_of(p, row);
    }
    value->n_rows = n;
    value->place = p->site_of;
    return MILL_OK;
}

static void put_coverage(placing *p, mill_attribution *value, const method_outcome *o) {
    int64_t *busy = column(p->run, value, MILL_METHODS, sizeof *busy);
    if (o->used != MILL_METHOD_NONE)
        busy[o->used] = o->busy[o->used];
    value->method_busy = busy;
    value->busy = o->busy[MILL_METHOD_NONE];
}

mill_status places_find(mill_run *run, const mill_trace *trace, const attribution_options *options,
                        const pattern_set *patterns, site_table *sites, mill_attribution *value,
                        method_outcome *ret_outcome) {
    placing p = {
        .run = run,
        .trace = trace,
        .options = options,
        .patterns = patterns,
        .sites = sites,
        .weight = mill_scratch(run, trace->names.texts.n),
        .names = mill_scratch(run, trace->names.texts.n * sizeof *p.names),
        .site_of = column(run, value, trace->gpu.n, sizeof *p.site_of),
        .stages = kit_intern_create(),
        .places = kit_intern_create(),
        .variants = kit_intern_create(),
    };
    *ret_outcome = (method_outcome){0};
    find_facts(&p);
    find_kernels(&p);
    sequence_find(run, trace, patterns, sites, &p.sequence);
    mill_status status = weigh(&p, ret_outcome);
    if (status == MILL_OK) {
        p.used = ret_outcome->used = choose(options, ret_outcome);
        status = put_rows(&p, value);
    }
    if (status == MILL_OK) {
        put_places(&p, value);
        put_stages(&p, value);
        put_coverage(&p, value, ret_outcome);
    }
    free(p.variant_places);
    kit_intern_destroy(p.stages);
    kit_intern_destroy(p.places);
    kit_intern_destroy(p.variants);
    return status;
}
