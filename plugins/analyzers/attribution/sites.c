/* SPDX-License-Identifier: Apache-2.0 */
/* What each launch call stands in: annotations of its thread or its process, ops, the step.
 *
 * One sweep over time keeps, for each role and each thread and process, a heap of the annotations
 * that are open, the shortest on top; those that ended are dropped when they come to the top. So
 * the innermost annotation costs O(log n), even where annotations are not nested. */
#include "attribution.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/columns.h>

#define CANCEL_ROWS (1u << 16)
#define ENGINE_OP "autograd::engine::evaluate_function"

typedef struct heap {
    uint32_t *v; /* of the list of annotations */
    size_t n, size;
} heap;

typedef struct sweep {
    mill_run *run;
    const mill_trace *trace;
    const attribution_options *options;
    const pattern_set *patterns;
    site_table *sites;
    uint8_t *name_roles; /* of each name: bits of roles, 0 while not asked */
    uint8_t *name_ops;   /* of each name of an op: OP_… bits, 0 while not asked */
    uint32_t *process;   /* of each thread */
    size_t n_threads, n_processes;
    heap *heaps[ROLES];     /* of each thread, then of each process */
    kit_intern *ordinals;   /* of (process, step, name) */
    uint32_t *next_ordinal; /* of each of them */
    uint32_t n_ordinals;
    uint8_t *backward; /* of each cpu row: under an op of the autograd engine; NULL: none is */
    uint32_t *op;      /* of each cpu row: name of the innermost op that a rule knows; or NULL */
    uint8_t *engine;   /* of each thread: it is the autograd engine's */
    uint8_t all_roles; /* bits of the roles that any annotation has */
} sweep;

/* ---------------------------------------------------------------- the innermost of many */

static bool inner(const annotation *list, uint32_t a, uint32_t b) {
    int64_t x = list[a].end - list[a].start, y = list[b].end - list[b].start;
    return x != y ? x < y : a > b; /* the list is by start: of equals the latest */
}

static void heap_sift(const annotation *list, heap *h, size_t i) {
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        for (size_t c = child; c < h->n && c < child + 2; c++)
            if (inner(list, h->v[c], h->v[least]))
                least = c;
        if (least == i)
            return;
        uint32_t swap = h->v[i];
        h->v[i] = h->v[least];
        h->v[least] = swap;
        i = least;
    }
}

static void heap_push(const annotation *list, heap *h, uint32_t item) {
    if (h->n == h->size) {
        h->size = h->size ? 2 * h->size : 8;
        h->v = kit_realloc(h->v, h->size, sizeof *h->v);
    }
    size_t i = h->n++;
    for (; i > 0 && inner(list, item, h->v[(i - 1) / 2]); i = (i - 1) / 2)
        h->v[i] = h->v[(i - 1) / 2];
    h->v[i] = item;
}

/* The innermost at a time; times never go back. */
static uint32_t heap_at(const annotation *list, heap *h, int64_t time) {
    while (h->n > 0 && list[h->v[0]].end <= time) {
        h->v[0] = h->v[--h->n];
        heap_sift(list, h, 0);
    }
    return h->n > 0 ? h->v[0] : MILL_NONE;
}

/* ---------------------------------------------------------------- names and processes */

static uint8_t roles_of(sweep *s, uint32_t name) {
    uint8_t *roles = &s->name_roles[name];
    const char *text = mill_name(s->trace, name);
    place_meaning ignored;
    if (*roles)
        return *roles;
    *roles = 1u << ROLE_ANY;
    if (pattern_match(s->run, &s->patterns->stage, text, &ignored))
        *roles |= 1u << ROLE_STAGE;
    if (pattern_match(s->run, &s->patterns->pipeline, text, &ignored))
        *roles |= 1u << ROLE_PIPELINE;
    if (pattern_match(s->run, &s->patterns->optimizer, text, &ignored))
        *roles |= 1u << ROLE_OPTIMIZER;
    if (pattern_match(s->run, &s->patterns->step, text, &ignored))
        *roles |= 1u << ROLE_STEP;
    if (rules_find(s->run, &s->patterns->rules, RULE_ANNOTATION, text))
        *roles |= 1u << ROLE_RULE;
    return *roles;
}

enum { OP_ASKED = 1, OP_ENGINE = 2, OP_OF_RULE = 4 };

/* What the name of an op says. */
static uint8_t op_bits(sweep *s, uint32_t name) {
    uint8_t *bits = &s->name_ops[name];
    if (*bits)
        return *bits;
    const char *text = mill_name(s->trace, name);
    *bits = OP_ASKED;
    if (strncmp(text, ENGINE_OP, strlen(ENGINE_OP)) == 0)
        *bits |= OP_ENGINE;
    if (s->op && rules_find(s->run, &s->patterns->rules, RULE_OP, text))
        *bits |= OP_OF_RULE;
    return *bits;
}

/* Threads of one pid, or where the file has a word instead, of one word. */
static void number_processes(sweep *s) {
    const mill_threads *threads = &s->trace->threads;
    kit_intern *table = kit_intern_create();
    s->process = mill_scratch(s->run, threads->n * sizeof *s->process);
    for (uint64_t i = 0; i < threads->n; i++) {
        int64_t key[2] = {mill_i64(s->trace, &threads->pid, i), 0};
        if (key[0] == MILL_UNKNOWN)
            key[1] = mill_u32(s->trace, &threads->process, i);
        s->process[i] = kit_intern_add(table, (const char *)key, sizeof key, 0);
    }
    s->n_threads = threads->n;
    s->n_processes = kit_intern_count(table);
    kit_intern_destroy(table);
}

/* ---------------------------------------------------------------- first: what there is */

static void mark_launches(sweep *s) {
    const mill_gpu *gpu = &s->trace->gpu;
    uint32_t *of_launch = s->sites->of_launch, launch[KIT_BLOCK];
    memset(of_launch, 0xff, s->trace->cpu.n * sizeof *of_launch);
    for (uint64_t first = 0; first < gpu->n; first += KIT_BLOCK) {
        size_t n = kit_block_rows(gpu->n, first);
        kit_read_u32(s->trace, &gpu->launch, first, n, launch);
        for (size_t i = 0; i < n; i++) {
            if (launch[i] == MILL_NONE)
                continue;
            of_launch[launch[i]] = 0;
            s->sites->launched++;
        }
    }
}

/* Columns of some rows of the trace's cpu. */
typedef struct block {
    uint8_t kind[KIT_BLOCK];
    uint32_t name[KIT_BLOCK], parent[KIT_BLOCK];
} block;

/* What the ops around a row say; parents come before their children. */
static void note_op(sweep *s, uint64_t row, uint32_t parent, uint32_t name, bool is_op) {
    uint8_t bits = is_op ? op_bits(s, name) : 0;
    if (s->backward) {
        s->backward[row] = bits & OP_ENGINE || (parent != MILL_NONE && s->backward[parent]);
        s->sites->autograd |= is_op && s->backward[row];
    }
    if (s->op)
        s->op[row] = bits & OP_OF_RULE ? name : parent != MILL_NONE ? s->op[parent] : MILL_NONE;
}

static mill_status note_ops(sweep *s) {
    const mill_cpu *cpu = &s->trace->cpu;
    block b;
    for (uint64_t first = 0; (s->backward || s->op) && first < cpu->n; first += KIT_BLOCK) {
        size_t n = kit_block_rows(cpu->n, first);
        if (first % CANCEL_ROWS == 0 && mill_cancelled(s->run))
            return MILL_E_CANCELLED;
        kit_read_u8(s->trace, &cpu->kind, first, n, b.kind);
        kit_read_u32(s->trace, &cpu->name, first, n, b.name);
        kit_read_u32(s->trace, &cpu->parent, first, n, b.parent);
        for (size_t i = 0; i < n; i++)
            note_op(s, first + i, b.parent[i], b.name[i], b.kind[i] == MILL_CPU_OP);
    }
    return MILL_OK;
}

static annotation read_annotation(const sweep *s, uint64_t row) {
    const mill_cpu *cpu = &s->trace->cpu;
    int64_t start = mill_i64(s->trace, &cpu->start, row);
    return (annotation){
        .start = start,
        .end = start + mill_i64(s->trace, &cpu->dur, row),
        .row = (uint32_t)row,
        .name = mill_u32(s->trace, &cpu->name, row),
        .process = s->process[mill_u32(s->trace, &cpu->thread, row)],
    };
}

/* Once to count them, and once to list them. */
static mill_status list_annotations(sweep *s) {
    const mill_cpu *cpu = &s->trace->cpu;
    site_table *to = s->sites;
    uint8_t kind[KIT_BLOCK];
    for (int fill = 0; fill < 2; fill++) {
        to->n_annotations *= (size_t)!fill;
        for (uint64_t first = 0; first < cpu->n; first += KIT_BLOCK) {
            size_t n = kit_block_rows(cpu->n, first);
            if (first % CANCEL_ROWS == 0 && mill_cancelled(s->run))
                return MILL_E_CANCELLED;
            kit_read_u8(s->trace, &cpu->kind, first, n, kind);
            for (size_t i = 0; i < n; i++) {
                if (kind[i] != MILL_CPU_ANNOTATION)
                    continue;
                if (fill)
                    to->annotations[to->n_annotations] = read_annotation(s, first + i);
                to->n_annotations++;
            }
        }
        if (!fill)
            to->annotations = mill_scratch(s->run, to->n_annotations * sizeof *to->annotations);
    }
    size_t n_steps = 0;
    for (size_t i = 0; i < to->n_annotations; i++) {
        uint8_t roles = roles_of(s, to->annotations[i].name);
        s->all_roles |= roles;
        n_steps += roles >> ROLE_STEP & 1;
    }
    to->steps = mill_scratch(s->run, n_steps * sizeof *to->steps);
    return MILL_OK;
}

/* The engine's threads are those most of whose launches are under its ops: other threads run some
 * of its ops too, and it launches some work (communication above all) beside them. */
static void find_engine(sweep *s) {
    const mill_cpu *cpu = &s->trace->cpu;
    int64_t *balance = mill_scratch(s->run, s->n_threads * sizeof *balance);
    s->engine = mill_scratch(s->run, s->n_threads);
    for (uint64_t row = 0; s->sites->autograd && row < cpu->n; row++)
        if (s->sites->of_launch[row] != MILL_NONE)
            balance[mill_u32(s->trace, &cpu->thread, row)] += s->backward[row] ? 1 : -1;
    for (size_t t = 0; t < s->n_threads; t++)
        s->engine[t] = balance[t] > 0;
}

/* ---------------------------------------------------------------- then: the sweep */

static void push(sweep *s, uint32_t index) {
    annotation *list = s->sites->annotations, *a = &list[index];
    uint32_t thread = mill_u32(s->trace, &s->trace->cpu.thread, a->row);
    uint8_t roles = roles_of(s, a->name);
    for (int r = 0; r < ROLES; r++)
        if (roles >> r & 1) {
            heap_push(list, &s->heaps[r][thread], index);
            heap_push(list, &s->heaps[r][s->n_threads + a->process], index);
        }
    if (roles >> ROLE_STEP & 1) {
        a->step = (uint32_t)s->sites->n_steps;
        s->sites->steps[s->sites->n_steps++] = (step){.annotation = index};
    } else {
        uint32_t around = heap_at(list, &s->heaps[ROLE_STEP][s->n_threads + a->process], a->start);
        a->step = around == MILL_NONE ? MILL_NONE : list[around].step;
    }
    uint32_t key[3] = {a->process, a->step, a->name};
    uint32_t number = kit_intern_add(s->ordinals, (const char *)key, sizeof key, 0);
    if (number == s->n_ordinals)
        s->n_ordinals++; /* its count is zero, as scratch memory is */
    a->ordinal = s->next_ordinal[number]++;
}

static bool is_backward(const sweep *s, uint64_t row, uint32_t thread) {
    return s->engine[thread] || (s->backward && s->backward[row]);
}

/* A thread takes what stands around it on another thread of its process only where nothing does on
 * its own; steps are those of the process. All this holds until one of those found ends, or another
 * annotation begins. */
static site look_around(sweep *s, uint64_t row, int64_t time, int64_t *ret_until) {
    const annotation *list = s->sites->annotations;
    uint32_t thread = mill_u32(s->trace, &s->trace->cpu.thread, row);
    size_t process = s->n_threads + s->process[thread];
    site found = {
        .op = s->op ? s->op[row] : MILL_NONE,
        .launched = 1,
        .backward = is_backward(s, row, thread),
    };
    *ret_until = INT64_MAX;
    for (int r = 0; r < ROLES; r++) {
        found.innermost[r] = MILL_NONE;
        if (!(s->all_roles >> r & 1))
            continue;
        found.innermost[r] = heap_at(list, &s->heaps[r][thread], time);
        if (found.innermost[r] == MILL_NONE && (s->options->inherit || r == ROLE_STEP))
            found.innermost[r] = heap_at(list, &s->heaps[r][process], time);
        if (found.innermost[r] != MILL_NONE && list[found.innermost[r]].end < *ret_until)
            *ret_until = list[found.innermost[r]].end;
    }
    uint32_t around = found.innermost[ROLE_STEP];
    found.step = around == MILL_NONE ? MILL_NONE : list[around].step;
    return found;
}

/* Launches of a thread that follow each other mostly stand in the same. */
typedef struct last_site {
    site site;
    uint32_t number;
    uint32_t next; /* annotations that had begun */
    int64_t until;
} last_site;

static bool same_as_before(const sweep *s, const last_site *before, uint64_t row, int64_t time,
                           uint32_t next, uint32_t thread) {
    return before->site.launched && before->next == next && time < before->until &&
           before->site.backward == is_backward(s, row, thread) &&
           before->site.op == (s->op ? s->op[row] : MILL_NONE);
}

static mill_status sweep_launches(sweep *s) {
    const mill_cpu *cpu = &s->trace->cpu;
    site_table *to = s->sites;
    uint32_t next = 0;
    last_site *last = mill_scratch(s->run, s->n_threads * sizeof *last); /* of each thread */
    for (uint64_t row = 0; row < cpu->n; row++) {
        if (row % CANCEL_ROWS == 0 && mill_cancelled(s->run))
            return MILL_E_CANCELLED;
        if (to->of_launch[row] == MILL_NONE)
            continue;
        int64_t time = mill_i64(s->trace, &cpu->start, row);
        while (next < to->n_annotations && to->annotations[next].start <= time)
            push(s, next++);
        uint32_t thread = mill_u32(s->trace, &cpu->thread, row);
        last_site *before = &last[thread];
        if (!same_as_before(s, before, row, time, next, thread)) {
            site here = look_around(s, row, time, &before->until);
            before->next = next;
            if (memcmp(&here, &before->site, sizeof here) != 0) {
                before->site = here;
                before->number = kit_intern_add(to->table, (const char *)&here, sizeof here, 0);
            }
        }
        to->of_launch[row] = before->number;
    }
    while (next < to->n_annotations)
        push(s, next++);
    return MILL_OK;
}

static void add_sites_without_launch(sweep *s) {
    site_table *to = s->sites;
    to->by_start = s->options->steps_by_start && to->launched == 0 && to->n_steps > 0;
    to->of_step = mill_scratch(s->run, (to->n_steps + 1) * sizeof *to->of_step);
    for (uint32_t i = 0; i <= to->n_steps; i++) {
        site nowhere = {.op = MILL_NONE, .step = i < to->n_steps ? i : MILL_NONE};
        memset(nowhere.innermost, 0xff, sizeof nowhere.innermost);
        to->of_step[i] = kit_intern_add(to->table, (const char *)&nowhere, sizeof nowhere, 0);
    }
}

/* Some name is of an op of the autograd engine; many profiles have none. */
static bool any_engine_op(const mill_trace *trace) {
    for (uint32_t name = 0; name < trace->names.texts.n; name++)
        if (strncmp(mill_name(trace, name), ENGINE_OP, strlen(ENGINE_OP)) == 0)
            return true;
    return false;
}

static void set_up(sweep *s) {
    uint64_t n_cpu = s->trace->cpu.n, n_names = s->trace->names.texts.n;
    s->name_roles = mill_scratch(s->run, n_names);
    s->name_ops = mill_scratch(s->run, n_names);
    if (any_engine_op(s->trace))
        s->backward = mill_scratch(s->run, n_cpu);
    if (s->patterns->rules.n > 0)
        s->op = mill_scratch(s->run, n_cpu * sizeof *s->op);
    s->sites->of_launch = mill_scratch(s->run, n_cpu * sizeof *s->sites->of_launch);
    s->sites->table = kit_intern_create();
    s->ordinals = kit_intern_create();
    number_processes(s);
    for (int r = 0; r < ROLES; r++)
        s->heaps[r] = kit_alloc(s->n_threads + s->n_processes, sizeof *s->heaps[r]);
}

static void tear_down(sweep *s) {
    for (int r = 0; r < ROLES; r++) {
        for (size_t i = 0; i < s->n_threads + s->n_processes; i++)
            free(s->heaps[r][i].v);
        free(s->heaps[r]);
    }
    kit_intern_destroy(s->ordinals);
}

mill_status sites_find(mill_run *run, const mill_trace *trace, const attribution_options *options,
                       const pattern_set *patterns, site_table *ret_sites) {
    *ret_sites = (site_table){0};
    sweep s = {
        .run = run, .trace = trace, .options = options, .patterns = patterns, .sites = ret_sites};
    set_up(&s);
    mark_launches(&s);
    mill_status status = note_ops(&s);
    if (status == MILL_OK)
        status = list_annotations(&s);
    if (status == MILL_OK) {
        s.next_ordinal = mill_scratch(run, (ret_sites->n_annotations + 1) * sizeof *s.next_ordinal);
        find_engine(&s);
        status = sweep_launches(&s);
    }
    if (status == MILL_OK)
        add_sites_without_launch(&s);
    tear_down(&s);
    if (status != MILL_OK)
        sites_finish(ret_sites);
    return status;
}

void sites_finish(site_table *sites) {
    kit_intern_destroy(sites->table);
    sites->table = NULL;
}

/* ---------------------------------------------------------------- questions */

/* The last step begun at a time, if it still goes on. */
static size_t step_at(const site_table *sites, int64_t time) {
    size_t low = 0, high = sites->n_steps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sites->annotations[sites->steps[middle].annotation].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    bool inside = low > 0 && time < sites->annotations[sites->steps[low - 1].annotation].end;
    return inside ? low - 1 : sites->n_steps;
}

static uint32_t site_without_launch(const site_table *sites, const mill_trace *trace,
                                    uint64_t row) {
    size_t at = sites->n_steps;
    if (sites->by_start)
        at = step_at(sites, mill_i64(trace, &trace->gpu.start, row));
    return sites->of_step[at];
}

void sites_of(const site_table *sites, const mill_trace *trace, uint64_t first, size_t n,
              uint32_t *ret_sites) {
    kit_read_u32(trace, &trace->gpu.launch, first, n, ret_sites);
    for (size_t i = 0; i < n; i++)
        ret_sites[i] = ret_sites[i] != MILL_NONE ? sites->of_launch[ret_sites[i]]
                                                 : site_without_launch(sites, trace, first + i);
}

site sites_get(const site_table *sites, uint32_t number) {
    site copy; /* texts are not aligned */
    memcpy(&copy, kit_intern_text(sites->table, number, NULL), sizeof copy);
    return copy;
}
