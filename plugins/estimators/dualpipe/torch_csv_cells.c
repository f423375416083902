/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the cells of a file. Grammar: torch/distributed/pipelining/schedules.py (_Action.from_str),
 * and Python's csv module for lines and quotes. Stricter than torch in that nothing may follow an
 * action in its cell; wider in that it takes files of torch before 2.6, too: there "B" is Bi where
 * a "W" follows, and "BW" is B.
 */
#include "torch_csv_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

typedef struct text {
    const char *at, *end;
} text;

typedef struct scanner {
    mill_run *run;
    const char *path;
    text left; /* of the file */
    uint32_t line, cell;
    pp_torch_rows *rows;
} scanner;

/* ---------------------------------------------------------------- text */

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_end_of_line(char c) {
    return c == '\n' || c == '\r';
}

static text trim(text t) {
    while (t.at < t.end && is_blank(*t.at))
        t.at++;
    while (t.at < t.end && is_blank(t.end[-1]))
        t.end--;
    return t;
}

/* What t begins with, up to c; t goes on behind that. */
static bool cut_at(text *t, char c, text *ret_head) {
    const char *found = t->at < t->end ? memchr(t->at, c, (size_t)(t->end - t->at)) : NULL;
    if (!found)
        return false;
    *ret_head = (text){t->at, found};
    t->at = found + 1;
    return true;
}

static bool equals(text t, const char *word) {
    size_t n = strlen(word);
    return (size_t)(t.end - t.at) == n && !memcmp(t.at, word, n);
}

/* Digits at the begin of t; below 2^31, so that no count of ours overflows. */
static bool take_number(text *t, uint32_t *ret_number) {
    uint64_t number = 0;
    const char *begin = t->at;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        number = 10 * number + (uint64_t)(*t->at - '0');
        if (number > INT32_MAX)
            return false;
    }
    *ret_number = (uint32_t)number;
    return t->at > begin;
}

static text take_word(text *t) {
    text word = {t->at, t->at};
    while (word.end < t->end && ((*word.end >= 'A' && *word.end <= 'Z') || *word.end == '_'))
        word.end++;
    t->at = word.end;
    return word;
}

/* ---------------------------------------------------------------- actions */

/* kind 0: no computation, but what brings data to one. */
static const struct {
    const char *name;
    uint8_t kind;
} words[] = {
    {"F", MILL_OP_FORWARD}, {"B", MILL_OP_BACKWARD}, {"BW", MILL_OP_BACKWARD},
    {"I", MILL_OP_INPUT},   {"W", MILL_OP_WEIGHT},   {"SEND_F", 0},
    {"RECV_F", 0},          {"SEND_B", 0},           {"RECV_B", 0},
    {"UNSHARD", 0},         {"RESHARD", 0},          {"REDUCE_GRAD", 0},
    {"SEND_F_RECV_B", 0},   {"SEND_B_RECV_F", 0}, /* before 2.6 */
};

static bool single_action(text t, pp_torch_action *ret_action) {
    *ret_action = (pp_torch_action){0};
    if (!take_number(&t, &ret_action->stage[0]))
        return false;
    text word = take_word(&t);
    size_t i = 0, n = sizeof words / sizeof *words;
    while (i < n && !equals(word, words[i].name))
        i++;
    if (i == n)
        return false;
    ret_action->kind = words[i].kind;
    ret_action->whole = equals(word, "BW");
    bool numbered = take_number(&t, &ret_action->mb[0]);
    return t.at == t.end && (numbered || !ret_action->kind);
}

/* "(0F1;1B0)OVERLAP_F_B"; t begins behind the parenthesis. */
static bool pair_of_actions(text t, pp_torch_action *ret_action) {
    text inner, first;
    pp_torch_action x, y;
    if (!cut_at(&t, ')', &inner) || !equals(t, "OVERLAP_F_B") || !cut_at(&inner, ';', &first) ||
        !single_action(trim(first), &x) || !single_action(trim(inner), &y))
        return false;
    const pp_torch_action *forward = x.kind == MILL_OP_FORWARD ? &x : &y;
    const pp_torch_action *backward = forward == &x ? &y : &x;
    *ret_action = (pp_torch_action){.kind = MILL_OP_PAIR,
                                    .stage = {forward->stage[0], backward->stage[0]},
                                    .mb = {forward->mb[0], backward->mb[0]}};
    return forward->kind == MILL_OP_FORWARD && backward->kind == MILL_OP_BACKWARD;
}

static mill_status refuse_cell(const scanner *s, text t) {
    char shown[48];
    size_t n = 0;
    for (; t.at < t.end && n < sizeof shown - 4; t.at++)
        shown[n++] = *t.at >= ' ' && *t.at <= '~' ? *t.at : '?';
    strcpy(shown + n, t.at < t.end ? "..." : "");
    return mill_fail(s->run, MILL_E_DATA,
                     "%s: line %u, cell %u: \"%s\" is no action; expected stage, kind and "
                     "micro-batch, as in 0F0, 1B2, 1I3, 1W3, 0SEND_F1, 0UNSHARD, or "
                     "(0F1;1B0)OVERLAP_F_B",
                     s->path, s->line, s->cell, shown);
}

static mill_status add_cell(scanner *s, text t) {
    pp_torch_rows *rows = s->rows;
    pp_torch_action action;
    if (t.at == t.end)
        return MILL_OK;
    if (*t.at == '(' ? !pair_of_actions((text){t.at + 1, t.end}, &action)
                     : !single_action(t, &action))
        return refuse_cell(s, t);
    if (!action.kind) {
        rows->left_out++;
        return MILL_OK;
    }
    if (rows->n == rows->room) {
        if (mill_cancelled(s->run))
            return MILL_E_CANCELLED;
        rows->room = rows->room ? 2 * rows->room : 1024;
        rows->actions = kit_realloc(rows->actions, rows->room, sizeof *rows->actions);
    }
    action.cell = s->cell;
    rows->actions[rows->n++] = action;
    return MILL_OK;
}

/* ---------------------------------------------------------------- cells and lines */

/* The next cell, without its quotes; what follows it is a comma, or the end of the line. */
static mill_status take_cell(scanner *s, text *ret_cell) {
    text *left = &s->left, cell;
    while (left->at < left->end && is_blank(*left->at))
        left->at++;
    bool quoted = left->at < left->end && *left->at == '"';
    left->at += quoted;
    cell.at = left->at;
    while (left->at < left->end && !is_end_of_line(*left->at) && *left->at != (quoted ? '"' : ','))
        left->at++;
    cell.end = left->at;
    *ret_cell = trim(cell);
    if (!quoted)
        return MILL_OK;
    if (left->at == left->end || *left->at != '"')
        return mill_fail(s->run, MILL_E_DATA,
                         "%s: line %u, cell %u: the quote is not closed in its line", s->path,
                         s->line, s->cell);
    for (left->at++; left->at < left->end && is_blank(*left->at);)
        left->at++;
    if (left->at < left->end && *left->at != ',' && !is_end_of_line(*left->at))
        return mill_fail(s->run, MILL_E_DATA,
                         "%s: line %u, cell %u: expected a comma behind the closing quote", s->path,
                         s->line, s->cell);
    return MILL_OK;
}

static void end_line(text *left) {
    if (left->at == left->end)
        return;
    bool both = *left->at == '\r' && left->at + 1 < left->end && left->at[1] == '\n';
    left->at += both ? 2 : 1;
}

/* One line. *ret_blank: it has nothing in it. */
static mill_status take_line(scanner *s, bool *ret_blank) {
    bool more = true;
    *ret_blank = true;
    for (s->cell = 1; more; s->cell++) {
        text cell;
        mill_status status = take_cell(s, &cell);
        if (!status)
            status = add_cell(s, cell);
        if (status)
            return status;
        more = s->left.at < s->left.end && *s->left.at == ',';
        s->left.at += more;
        *ret_blank = *ret_blank && !more && cell.at == cell.end;
    }
    end_line(&s->left);
    return MILL_OK;
}

static mill_status end_rank(scanner *s) {
    pp_torch_rows *rows = s->rows;
    if (rows->n == (rows->ranks ? rows->first[rows->ranks] : 0))
        return mill_fail(s->run, MILL_E_DATA,
                         "%s: line %u has no computation; each line is a rank, and runs some",
                         s->path, s->line);
    if (rows->ranks + 2 > rows->rank_room) {
        rows->rank_room = rows->rank_room ? 2 * rows->rank_room : 64;
        rows->first = kit_realloc(rows->first, rows->rank_room, sizeof *rows->first);
    }
    if (!rows->ranks)
        rows->first[0] = 0;
    rows->first[++rows->ranks] = rows->n;
    return MILL_OK;
}

/* Blank lines may only be at the end. */
static mill_status take_lines(scanner *s) {
    uint32_t blank_line = 0;
    for (s->line = 1; s->left.at < s->left.end; s->line++) {
        bool blank;
        mill_status status = take_line(s, &blank);
        if (status)
            return status;
        if (blank && !blank_line)
            blank_line = s->line;
        if (blank)
            continue;
        if (blank_line)
            return mill_fail(s->run, MILL_E_DATA,
                             "%s: line %u is blank, and lines follow; each line is a rank", s->path,
                             blank_line);
        status = end_rank(s);
        if (status)
            return status;
    }
    if (!s->rows->ranks)
        return mill_fail(s->run, MILL_E_DATA,
                         "%s: nothing in it; expected a line for each rank, as in 0F0,0F1,0B0,0B1",
                         s->path);
    return MILL_OK;
}

mill_status pp_torch_rows_init(mill_run *run, const char *path, pp_torch_rows *ret_rows) {
    *ret_rows = (pp_torch_rows){0};
    mill_source *source;
    mill_status status = run->host->source_map(run, path, &source);
    if (status)
        return status;
    /* Operations and cells are counted in 32 bits. */
    if (source->length > UINT32_MAX)
        return mill_fail(run, MILL_E_DATA, "%s: larger than 4 GiB, which no schedule is", path);
    const char *data = (const char *)source->data;
    scanner s = {.run = run, .path = path, .rows = ret_rows};
    if (source->length)
        s.left = (text){data, data + source->length};
    if (source->length >= 3 && !memcmp(data, "\xEF\xBB\xBF", 3))
        s.left.at += 3;
    return take_lines(&s);
}

void pp_torch_rows_finish(pp_torch_rows *rows) {
    free(rows->actions);
    free(rows->first);
    *rows = (pp_torch_rows){0};
}
