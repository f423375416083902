/* SPDX-License-Identifier: Apache-2.0 */
/* Text in columns: loads one a line, matrices of loads, and the experts that tokens were sent to.
 *
 * Source of the last: pytorch/torchtitan, torchtitan/experiments/deepseek_v3/expert_assignments.csv
 * (token_pos[, token_value], layer_1, layer_2, …). */
#include "csv.h"
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/number.h>

/* What a column holds. */
typedef enum role {
    ROLE_VALUE,   /* of a matrix: the load of the next expert; of assignments: an expert */
    ROLE_LAYER,   /* number of the layer */
    ROLE_STEP,    /* of the step */
    ROLE_EXPERT,  /* of the expert */
    ROLE_LOAD,    /* its load */
    ROLE_RANK,    /* the rank that recorded it */
    ROLE_IGNORED, /* something else */
} role;

typedef enum form { FORM_MATRIX, FORM_LIST, FORM_ASSIGNMENTS } form;

typedef struct table {
    csv text;
    ld_reading *r;
    ld_gather g;
    form form;
    role *roles;    /* of each column */
    int64_t *layer; /* FORM_ASSIGNMENTS: of each column */
    size_t n;       /* columns */
    bool has_rank, has_layer;
    kit_intern *ranks;
    uint64_t ignored; /* columns */
    uint64_t none;    /* assignments below 0 */
    int64_t row;      /* rows read */
} table;

/* ---------------------------------------------------------------- the header */

static const struct {
    const char *name;
    role role;
} known[] = {
    {"layer", ROLE_LAYER},    {"layer_id", ROLE_LAYER},
    {"", ROLE_LAYER}, /* an index, by pandas */
    {"expert", ROLE_EXPERT},  {"expert_id", ROLE_EXPERT},
    {"load", ROLE_LOAD},      {"count", ROLE_LOAD},
    {"tokens", ROLE_LOAD},    {"step", ROLE_STEP},
    {"iteration", ROLE_STEP}, {"rank", ROLE_RANK},
};

static role role_of(csv_field name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == name.length &&
            strncasecmp(known[i].name, name.text, name.length) == 0)
            return known[i].role;
    return ROLE_IGNORED;
}

/* "layer_12" is 12. */
static bool layer_column(csv_field name, int64_t *ret) {
    return name.length > 6 && strncasecmp(name.text, "layer_", 6) == 0 &&
           kit_parse_int(name.text + 6, name.length - 6, false, ret);
}

static bool is_number(csv_field f) {
    double value;
    return csv_number(f, &value);
}

static bool is_header(const csv *text) {
    for (size_t i = 0; i < text->n; i++)
        if (!is_number(text->fields[i]))
            return true;
    return false;
}

/* No two columns say the same. An index without a name gives way to a column of layers. */
static mill_status check_roles(table *t) {
    size_t at[ROLE_IGNORED] = {0}; /* column + 1 */
    for (size_t i = 0; i < t->n; i++) {
        csv_field name = t->text.fields[i];
        role what = t->roles[i];
        if (what == ROLE_IGNORED)
            continue;
        size_t before = at[what];
        at[what] = i + 1;
        if (before == 0)
            continue;
        if (t->text.fields[before - 1].length == 0 && name.length > 0)
            t->roles[before - 1] = ROLE_IGNORED;
        else
            return mill_fail(t->r->run, MILL_E_DATA,
                             "%s:%llu: columns %zu and %zu, \"%.*s\", say the same: leave one out",
                             t->r->name, (unsigned long long)t->text.line, before, i + 1,
                             (int)name.length, name.text);
    }
    return MILL_OK;
}

/* Which form the named columns make. */
static mill_status understand_header(table *t) {
    bool has[ROLE_IGNORED + 1] = {false}, layers = false;
    for (size_t i = 0; i < t->n; i++)
        t->roles[i] = role_of(t->text.fields[i]);
    mill_status status = check_roles(t);
    for (size_t i = 0; i < t->n; i++) {
        has[t->roles[i]] = true;
        layers |= layer_column(t->text.fields[i], &t->layer[i]);
    }
    t->has_rank = has[ROLE_RANK];
    t->has_layer = has[ROLE_LAYER];
    t->form = has[ROLE_EXPERT] && has[ROLE_LOAD]             ? FORM_LIST
              : layers && t->r->options->content != LD_LOADS ? FORM_ASSIGNMENTS
              : t->r->options->content == LD_ASSIGNMENTS     ? FORM_ASSIGNMENTS
                                                             : FORM_MATRIX;
    for (size_t i = 0; i < t->n; i++) {
        int64_t layer;
        if (t->form == FORM_ASSIGNMENTS)
            t->roles[i] = layer_column(t->text.fields[i], &layer) ? ROLE_VALUE : ROLE_IGNORED;
        else if (t->form == FORM_MATRIX && t->roles[i] == ROLE_IGNORED)
            t->roles[i] = ROLE_VALUE;
        t->ignored += t->form == FORM_LIST && t->roles[i] == ROLE_IGNORED;
    }
    return status;
}

static mill_status begin(table *t, bool *ret_header) {
    t->n = t->text.n;
    t->roles = mill_scratch(t->r->run, t->n * sizeof *t->roles);
    t->layer = mill_scratch(t->r->run, t->n * sizeof *t->layer);
    *ret_header = is_header(&t->text);
    if (*ret_header && understand_header(t) != MILL_OK)
        return MILL_E_DATA;
    if (!*ret_header)
        t->form = t->r->options->content == LD_ASSIGNMENTS ? FORM_ASSIGNMENTS : FORM_MATRIX;
    for (size_t i = 0; !*ret_header && i < t->n; i++)
        t->layer[i] = (int64_t)i + t->r->options->first_layer;
    size_t values = 0;
    for (size_t i = 0; i < t->n; i++)
        values += t->roles[i] == ROLE_VALUE;
    t->g.counts = t->form == FORM_ASSIGNMENTS;
    if ((t->form == FORM_LIST && t->has_layer) || (t->form != FORM_LIST && values > 0))
        return MILL_OK;
    return mill_fail(
        t->r->run, MILL_E_DATA,
        "%s:%llu: expected columns layer, expert, load (and step or rank), a matrix of "
        "loads, or columns layer_0, layer_1 … with the experts of tokens",
        t->r->name, (unsigned long long)t->text.line);
}

/* ---------------------------------------------------------------- rows */

static mill_status bad_field(const table *t, size_t column, const char *expected) {
    csv_field f = t->text.fields[column];
    return mill_fail(t->r->run, MILL_E_DATA, "%s:%llu: column %zu is \"%.*s\"; expected %s",
                     t->r->name, (unsigned long long)t->text.line, column + 1,
                     f.length > 40 ? 40 : (int)f.length, f.text, expected);
}

/* The numbers that say of what a row is. */
typedef struct place {
    int64_t number[ROLE_IGNORED];
} place;

static mill_status read_place(table *t, place *ret) {
    *ret = (place){{0}};
    ret->number[ROLE_LAYER] = t->row + t->r->options->first_layer;
    for (size_t i = 0; i < t->n; i++) {
        role what = t->roles[i];
        if (what == ROLE_VALUE || what == ROLE_LOAD || what == ROLE_IGNORED)
            continue;
        csv_field f = t->text.fields[i];
        if (!kit_parse_int(f.text, f.length, false, &ret->number[what]))
            return bad_field(t, i, "a whole number");
    }
    if (ret->number[ROLE_LAYER] < 0)
        return mill_fail(t->r->run, MILL_E_DATA, "%s:%llu: layer %lld; layers are numbered from 0",
                         t->r->name, (unsigned long long)t->text.line,
                         (long long)ret->number[ROLE_LAYER]);
    if (t->has_rank)
        kit_intern_add(t->ranks, (const char *)&ret->number[ROLE_RANK], sizeof(int64_t), 0);
    return MILL_OK;
}

static mill_status add_load(table *t, const place *p, size_t row, int64_t expert, size_t column) {
    double load, *cell;
    if (!csv_number(t->text.fields[column], &load))
        return bad_field(t, column, "a number");
    load = ld_valid(t->r, load, p->number[ROLE_STEP], p->number[ROLE_LAYER], expert);
    mill_status status = ld_gather_cell(&t->g, row, expert, &cell);
    if (status != MILL_OK)
        return status;
    if (!isnan(*cell) && !t->has_rank)
        return mill_fail(
            t->r->run, MILL_E_DATA,
            "%s:%llu: step %lld, layer %lld, expert %lld comes twice; if ranks recorded "
            "it, a column `rank` says so, and they are added up",
            t->r->name, (unsigned long long)t->text.line, (long long)p->number[ROLE_STEP],
            (long long)p->number[ROLE_LAYER], (long long)expert);
    *cell = isnan(*cell) ? load : *cell + load;
    return MILL_OK;
}

static mill_status add_loads(table *t) {
    place p;
    mill_status status = read_place(t, &p);
    if (status != MILL_OK)
        return status;
    size_t row = ld_gather_row(&t->g, p.number[ROLE_STEP], p.number[ROLE_LAYER]);
    int64_t expert = t->form == FORM_LIST ? p.number[ROLE_EXPERT] : 0;
    for (size_t i = 0; i < t->n && status == MILL_OK; i++)
        if (t->roles[i] == ROLE_LOAD || (t->roles[i] == ROLE_VALUE && t->form == FORM_MATRIX))
            status = add_load(t, &p, row, expert++, i);
    return status;
}

static mill_status add_token(table *t) {
    int64_t expert, batch = t->r->options->tokens_per_step;
    mill_status status = MILL_OK;
    for (size_t i = 0; i < t->n && status == MILL_OK; i++) {
        csv_field f = t->text.fields[i];
        if (t->roles[i] != ROLE_VALUE)
            continue;
        if (!kit_parse_int(f.text, f.length, false, &expert))
            return bad_field(t, i, "the number of an expert");
        size_t row = ld_gather_row(&t->g, batch ? t->row / batch : 0, t->layer[i]);
        if (expert < 0)
            t->none++;
        else
            status = ld_gather_add(&t->g, row, expert, 1);
    }
    return status;
}

static mill_status add_line(table *t) {
    if (t->text.n != t->n)
        return mill_fail(t->r->run, MILL_E_DATA, "%s:%llu: %zu columns; the first line has %zu",
                         t->r->name, (unsigned long long)t->text.line, t->text.n, t->n);
    mill_status status = t->form == FORM_ASSIGNMENTS ? add_token(t) : add_loads(t);
    t->row++;
    if (status == MILL_OK && t->row % 1024 == 0 && mill_cancelled(t->r->run))
        return MILL_E_CANCELLED;
    return status;
}

/* ---------------------------------------------------------------- the file */

static const char *const forms[] = {
    [FORM_MATRIX] = "CSV, a matrix",
    [FORM_LIST] = "CSV, a load a line",
    [FORM_ASSIGNMENTS] = "CSV, assignments of tokens",
};

static void tell(table *t, bool header) {
    ld_remarks *m = &t->r->remarks;
    t->r->format = forms[t->form];
    if (t->has_rank)
        t->r->ranks = kit_intern_count(t->ranks);
    if (t->ignored > 0)
        ld_remark_add(m, MILL_INFO, "other_columns",
                      "Columns that say nothing of loads and were left out: %llu.",
                      (unsigned long long)t->ignored);
    if (t->none > 0)
        ld_remark_add(m, MILL_INFO, "unassigned",
                      "Assignments below 0 are padding and were left out: %llu.",
                      (unsigned long long)t->none);
    if (t->form == FORM_MATRIX && !header && (t->n == 3 || t->n == 4))
        ld_remark_add(m, MILL_WARNING, "maybe_list",
                      "Read as a matrix of %zu experts. If the columns are layer, expert and load, "
                      "give them these names in a first line.",
                      t->n);
}

mill_status ld_read_csv(ld_reading *r) {
    table t = {.r = r, .ranks = kit_intern_create()};
    bool header = false;
    csv_init(&t.text, (const char *)r->bytes, r->n);
    ld_gather_init(&t.g, r);
    mill_status status = MILL_OK;
    for (bool first = true; status == MILL_OK && csv_next(&t.text); first = false) {
        if (first)
            status = begin(&t, &header);
        if (status == MILL_OK && !(first && header))
            status = add_line(&t);
    }
    if (status == MILL_OK) {
        tell(&t, header);
        status = ld_gather_value(&t.g);
    }
    ld_gather_finish(&t.g);
    kit_intern_destroy(t.ranks);
    csv_finish(&t.text);
    return status;
}
