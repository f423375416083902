/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of each stage from a CSV file. */
#include "bubble.h"

#include <string.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>

#define COLUMNS_MAX 16
#define STAGES_MAX 65536

enum { STAGE = -1, FIELDS = 5 }; /* else a column's field is its place in mill_chunk_cost */

static const char *const names[FIELDS] = {"forward", "backward", "input", "weight", "pair"};

static const struct {
    const char *suffix, *exponent; /* what makes µs of it */
} units[] = {{"_ns", "e-3"}, {"_us", ""}, {"_ms", "e3"}, {"_s", "e6"}};

typedef struct text {
    const char *at;
    size_t n;
} text;

typedef struct reader {
    mill_run *run;
    const char *path;
    text rest;
    unsigned line;
    size_t n_columns;
    int fields[COLUMNS_MAX];
    const char *exponents[COLUMNS_MAX];
    mill_chunk_cost *costs;
    bool *seen; /* stages with a row */
    size_t n;   /* rows */
} reader;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static text trimmed(text t) {
    while (t.n > 0 && is_blank(t.at[0]))
        t.at++, t.n--;
    while (t.n > 0 && is_blank(t.at[t.n - 1]))
        t.n--;
    return t;
}

/* What stands before the separator, which is taken off with it. */
static text cut(text *rest, char separator) {
    const char *end = rest->n > 0 ? memchr(rest->at, separator, rest->n) : NULL;
    text part = {rest->at, end ? (size_t)(end - rest->at) : rest->n};
    size_t taken = part.n + (end != NULL);
    rest->at += taken;
    rest->n -= taken;
    return trimmed(part);
}

/* The next line that is neither empty nor a comment. */
static bool next_line(reader *r, text *ret_line) {
    while (r->rest.n > 0) {
        *ret_line = cut(&r->rest, '\n');
        r->line++;
        if (ret_line->n > 0 && ret_line->at[0] != '#')
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- the heading */

static bool read_name(text name, int *ret_field, const char **ret_exponent) {
    if (name.n == strlen("stage") && memcmp(name.at, "stage", name.n) == 0) {
        *ret_field = STAGE;
        return true;
    }
    for (int f = 0; f < FIELDS; f++)
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            size_t n = strlen(names[f]), suffix = strlen(units[u].suffix);
            if (name.n != n + suffix || memcmp(name.at, names[f], n) != 0 ||
                memcmp(name.at + n, units[u].suffix, suffix) != 0)
                continue;
            *ret_field = f;
            *ret_exponent = units[u].exponent;
            return true;
        }
    return false;
}

static mill_status read_heading(reader *r) {
    text line;
    if (!next_line(r, &line))
        return mill_fail(r->run, MILL_E_DATA, "%s is empty: its first line names the columns",
                         r->path);
    for (bool more = true; more; more = line.n > 0) {
        text name = cut(&line, ',');
        if (r->n_columns == COLUMNS_MAX)
            return mill_fail(r->run, MILL_E_DATA, "%s:%u: too many columns", r->path, r->line);
        size_t k = r->n_columns++;
        if (!read_name(name, &r->fields[k], &r->exponents[k]))
            return mill_fail(r->run, MILL_E_DATA,
                             "%s:%u: column \"%.*s\": there are stage, forward, backward, input, "
                             "weight and pair, each but the first with its unit: forward_us (ns, "
                             "us, ms, s)",
                             r->path, r->line, (int)name.n, name.at);
        for (size_t i = 0; i < k; i++)
            if (r->fields[i] == r->fields[k])
                return mill_fail(r->run, MILL_E_DATA, "%s:%u: column \"%.*s\" comes twice", r->path,
                                 r->line, (int)name.n, name.at);
    }
    for (size_t i = 0; i < r->n_columns; i++)
        if (r->fields[i] == STAGE)
            return MILL_OK;
    return mill_fail(r->run, MILL_E_DATA, "%s:%u: there is no column \"stage\"", r->path, r->line);
}

/* ---------------------------------------------------------------- rows */

/* Exact, since the number is read in the unit that it has. */
static bool read_duration(text cell, const char *exponent, int64_t *ret_ns) {
    char number[64];
    if (cell.n > 40 || memchr(cell.at, 'e', cell.n) || memchr(cell.at, 'E', cell.n) ||
        memchr(cell.at, '\0', cell.n))
        return false;
    int n = snprintf(number, sizeof number, "%.*s%s", (int)cell.n, cell.at, exponent);
    return kit_parse_us(number, (size_t)n, ret_ns) && *ret_ns >= 0;
}

static mill_status read_stage(reader *r, text cell, int64_t *ret_stage) {
    if (!kit_parse_int(cell.at, cell.n, false, ret_stage) || *ret_stage < 0 ||
        *ret_stage >= STAGES_MAX)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s:%u: \"%.*s\" is no stage: they count from 0 to %d", r->path, r->line,
                         (int)cell.n, cell.at, STAGES_MAX - 1);
    if (r->seen[*ret_stage])
        return mill_fail(r->run, MILL_E_DATA, "%s:%u: stage %lld comes twice", r->path, r->line,
                         (long long)*ret_stage);
    r->seen[*ret_stage] = true;
    return MILL_OK;
}

static mill_status check_row(reader *r, mill_chunk_cost *c) {
    if (!bubble_complete_cost(c))
        return mill_fail(r->run, MILL_E_DATA, "%s:%u: backward must be input + weight", r->path,
                         r->line);
    if (c->forward == MILL_UNKNOWN || c->backward == MILL_UNKNOWN)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s:%u: a stage needs forward, and backward or both input and weight",
                         r->path, r->line);
    return MILL_OK;
}

/* An empty cell is unknown. */
static mill_status read_row(reader *r, text line) {
    int64_t stage = MILL_UNKNOWN, found[FIELDS];
    for (int f = 0; f < FIELDS; f++)
        found[f] = MILL_UNKNOWN;
    size_t k = 0;
    for (bool more = true; more; more = line.n > 0, k++) {
        text cell = cut(&line, ',');
        mill_status status = MILL_OK;
        if (k == r->n_columns)
            return mill_fail(r->run, MILL_E_DATA, "%s:%u: more cells than columns", r->path,
                             r->line);
        if (r->fields[k] == STAGE)
            status = read_stage(r, cell, &stage);
        else if (cell.n > 0 && !read_duration(cell, r->exponents[k], &found[r->fields[k]]))
            status = mill_fail(r->run, MILL_E_DATA,
                               "%s:%u: \"%.*s\" is no duration: a number without sign, unit and "
                               "exponent, below 292 years",
                               r->path, r->line, (int)cell.n, cell.at);
        if (status != MILL_OK)
            return status;
    }
    if (stage == MILL_UNKNOWN)
        return mill_fail(r->run, MILL_E_DATA, "%s:%u: the stage is missing", r->path, r->line);
    mill_chunk_cost *c = &r->costs[stage];
    *c = (mill_chunk_cost){found[0], found[1], found[2], found[3], found[4]};
    r->n++;
    return check_row(r, c);
}

mill_status bubble_read_table(mill_run *run, const char *path, mill_chunk_cost **ret_costs,
                              size_t *ret_n) {
    mill_source *source;
    mill_status status = run->host->source_map(run, path, &source);
    if (status != MILL_OK)
        return status;
    reader r = {.run = run, .path = path, .rest = {(const char *)source->data, source->length}};
    if (r.rest.n >= 3 && memcmp(r.rest.at, "\xef\xbb\xbf", 3) == 0)
        r.rest = (text){r.rest.at + 3, r.rest.n - 3};
    r.costs = mill_scratch(run, STAGES_MAX * sizeof *r.costs);
    r.seen = mill_scratch(run, STAGES_MAX * sizeof *r.seen);
    status = read_heading(&r);
    text line;
    while (status == MILL_OK && next_line(&r, &line))
        status = read_row(&r, line);
    if (status != MILL_OK)
        return status;
    if (r.n == 0)
        return mill_fail(run, MILL_E_DATA, "%s has no stages below its heading", path);
    for (size_t i = 0; i < r.n; i++)
        if (!r.seen[i])
            return mill_fail(run, MILL_E_DATA,
                             "%s: stage %zu is missing: %zu rows are the stages 0 to %zu", path, i,
                             r.n, r.n - 1);
    *ret_costs = r.costs;
    *ret_n = r.n;
    return MILL_OK;
}
