/* SPDX-License-Identifier: Apache-2.0 */
/* Reads TensorRT-LLM's moe_load_balancer.yaml: a mapping of numbers, and of layers to lists of
 * experts, in the block and flow styles that YAML writers give them. No more of YAML than that. */
#include "plans.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

typedef struct layer_row {
    int64_t layer;
    unsigned line;
    uint32_t n;
    size_t first; /* in `experts` */
} layer_row;

typedef struct yaml {
    const pl_file *file;
    const char *at, *end;
    unsigned line; /* from 1 */
    layer_row *rows;
    size_t n_rows, rows_room;
    int32_t *experts;
    size_t n_experts, experts_room;
    int64_t slots; /* num_slots, or 0 */
    bool assigned; /* initial_global_assignments was there */
} yaml;

/* ---------------------------------------------------------------- text */

static int peek(const yaml *y) {
    return y->at < y->end ? (unsigned char)*y->at : -1;
}

static mill_status expected(const yaml *y, const char *what) {
    const char *stop = y->at;
    while (stop < y->end && stop - y->at < 20 && *stop != '\n' && *stop != '\r')
        stop++;
    if (y->at == y->end)
        return pl_fail(y->file, "line %u: expected %s, found the end of the file", y->line, what);
    return pl_fail(y->file, "line %u: expected %s, found \"%.*s\"", y->line, what,
                   (int)(stop - y->at), y->at);
}

/* Blanks and comments, to the end of the line. */
static void skip_line(yaml *y) {
    while (peek(y) == ' ' || peek(y) == '\t' || peek(y) == '\r')
        y->at++;
    if (peek(y) == '#')
        while (y->at < y->end && *y->at != '\n')
            y->at++;
}

/* The same, and line breaks: to the next thing that tells anything. */
static void skip_lines(yaml *y) {
    for (skip_line(y); peek(y) == '\n'; skip_line(y)) {
        y->at++;
        y->line++;
    }
}

/* Goes to the next line with anything on it; returns its indent, or -1 at the end. */
static int next_line(yaml *y) {
    skip_lines(y);
    if (peek(y) < 0)
        return -1;
    const char *begin = y->at;
    while (begin > (const char *)y->file->data && begin[-1] != '\n')
        begin--;
    return (int)(y->at - begin);
}

static mill_status end_line(yaml *y) {
    skip_line(y);
    return peek(y) < 0 || peek(y) == '\n' ? MILL_OK : expected(y, "the end of the line");
}

static bool take(yaml *y, char c) {
    if (peek(y) != c)
        return false;
    y->at++;
    return true;
}

/* Digits; with quotes around them, where a writer took a key for text. */
static mill_status read_number(yaml *y, const char *what, int64_t *ret) {
    const char *begin = y->at;
    char quote = take(y, '\'') ? '\'' : take(y, '"') ? '"' : 0;
    int64_t value = 0;
    const char *digits = y->at;
    while (peek(y) >= '0' && peek(y) <= '9' && value < INT32_MAX)
        value = value * 10 + (*y->at++ - '0');
    if (y->at == digits || value >= INT32_MAX || (quote && !take(y, quote)) ||
        (peek(y) >= 0 && !strchr(" \t\r\n,:]}#", peek(y)))) {
        y->at = begin;
        return expected(y, what);
    }
    *ret = value;
    return MILL_OK;
}

/* ---------------------------------------------------------------- lists of experts */

static mill_status begin_row(yaml *y) {
    layer_row row = {.line = y->line, .first = y->n_experts};
    mill_status status = read_number(y, "the number of a layer", &row.layer);
    if (status)
        return status;
    skip_line(y);
    if (!take(y, ':'))
        return expected(y, "\":\" after the number of a layer");
    if (y->n_rows == y->rows_room) {
        y->rows_room = 2 * y->rows_room + 16;
        y->rows = kit_realloc(y->rows, y->rows_room, sizeof *y->rows);
    }
    y->rows[y->n_rows++] = row;
    return MILL_OK;
}

static mill_status add_expert(yaml *y) {
    int64_t expert;
    mill_status status = read_number(y, "an expert, a whole number from 0", &expert);
    if (status)
        return status;
    if (y->n_experts == y->experts_room) {
        y->experts_room = 2 * y->experts_room + 256;
        y->experts = kit_realloc(y->experts, y->experts_room, sizeof *y->experts);
    }
    y->experts[y->n_experts++] = (int32_t)expert;
    y->rows[y->n_rows - 1].n++;
    return MILL_OK;
}

/* [138, 81, …] over any number of lines; the bracket was taken. */
static mill_status read_flow_list(yaml *y) {
    for (skip_lines(y); !take(y, ']'); skip_lines(y)) {
        mill_status status = add_expert(y);
        if (status)
            return status;
        skip_lines(y);
        if (!take(y, ',') && peek(y) != ']')
            return expected(y, "\",\" or \"]\" after an expert");
    }
    return MILL_OK;
}

/* "- 138" and so on, a line each, indented no less than the key above. */
static mill_status read_block_list(yaml *y, int indent) {
    int column = next_line(y), first = column;
    if (column < indent || peek(y) != '-')
        return expected(y, "a list of experts: [138, 81, …], or a line \"- 138\" for each");
    while (column == first && take(y, '-')) {
        skip_line(y);
        mill_status status = add_expert(y);
        if (!status)
            status = end_line(y);
        if (status)
            return status;
        column = next_line(y);
    }
    return MILL_OK;
}

/* {3: […], 4: […]}; the brace was taken. */
static mill_status read_flow_rows(yaml *y) {
    for (skip_lines(y); !take(y, '}'); skip_lines(y)) {
        mill_status status = begin_row(y);
        if (status)
            return status;
        skip_lines(y);
        if (!take(y, '['))
            return expected(y, "a list of experts: [138, 81, …]");
        status = read_flow_list(y);
        if (status)
            return status;
        skip_lines(y);
        if (!take(y, ',') && peek(y) != '}')
            return expected(y, "\",\" or \"}\" after a layer");
    }
    return end_line(y);
}

/* A layer a line, all with one indent. */
static mill_status read_block_rows(yaml *y) {
    int indent = peek(y) == '\n' ? next_line(y) : -1, column = indent;
    if (indent < 1)
        return expected(y, "indented lines \"3: [138, 81, …]\", one for each layer");
    while (column == indent) {
        mill_status status = begin_row(y);
        if (status)
            return status;
        skip_line(y);
        status = take(y, '[') ? read_flow_list(y) : read_block_list(y, indent);
        if (status)
            return status;
        column = next_line(y);
    }
    return column < indent ? MILL_OK : expected(y, "a line with the indent of the first layer");
}

/* ---------------------------------------------------------------- document */

/* The value of a key that is not ours: the rest of its line, and what is indented below. */
static void skip_value(yaml *y) {
    do
        while (y->at < y->end && *y->at != '\n')
            y->at++;
    while (next_line(y) > 0 || peek(y) == '-');
}

static mill_status read_entry(yaml *y) {
    static const char slots[] = "num_slots", assignments[] = "initial_global_assignments",
                      updates[] = "layer_updates_per_iter";
    const char *key = y->at;
    while (y->at < y->end && !strchr(":\n#", *y->at))
        y->at++;
    int length = (int)(y->at - key < 60 ? y->at - key : 60);
    if (!take(y, ':')) {
        y->at = key;
        return expected(y, "a key and \":\", such as \"num_slots: 288\"");
    }
    size_t n = (size_t)(y->at - 1 - key);
    skip_line(y);
    if (n == strlen(assignments) && memcmp(key, assignments, n) == 0) {
        if (y->assigned)
            return pl_fail(y->file, "line %u: a second %s", y->line, assignments);
        y->assigned = true;
        return take(y, '{') ? read_flow_rows(y) : read_block_rows(y);
    }
    if (n == strlen(slots) && memcmp(key, slots, n) == 0) {
        mill_status status = read_number(y, "the number of slots", &y->slots);
        return status ? status : end_line(y);
    }
    if (n != strlen(updates) || memcmp(key, updates, n) != 0)
        mill_log(y->file->run, MILL_WARNING, "%s: line %u: \"%.*s\" is left out", y->file->path,
                 y->line, length, key);
    skip_value(y);
    return MILL_OK;
}

static int by_layer(const void *a, const void *b) {
    const layer_row *x = a, *y = b;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

static mill_status fill(yaml *y, pl_draft *d) {
    const pl_file *f = y->file;
    if (y->n_rows == 0)
        return pl_fail(f, "no plan: expected initial_global_assignments with a list of experts for "
                          "each layer");
    qsort(y->rows, y->n_rows, sizeof *y->rows, by_layer);
    d->format = PL_TRTLLM;
    d->layers = (uint32_t)y->n_rows;
    d->slots = y->slots ? (uint32_t)y->slots : y->rows[0].n;
    for (uint32_t l = 0; l < d->layers; l++) {
        const layer_row *row = &y->rows[l];
        if (l > 0 && row->layer == row[-1].layer)
            return pl_fail(f, "line %u: a second list for layer %lld", row->line,
                           (long long)row->layer);
        if (row->n != d->slots)
            return pl_fail(f, "line %u: layer %lld: expected %u experts, as %s, found %u",
                           row->line, (long long)row->layer, d->slots,
                           y->slots ? "num_slots says" : "the first layer has", row->n);
    }
    d->layer = mill_scratch(f->run, d->layers * sizeof *d->layer);
    d->expert = mill_scratch(f->run, y->n_experts * sizeof *d->expert + 1);
    for (size_t l = 0; l < d->layers; l++) {
        d->layer[l] = y->rows[l].layer;
        if (d->slots)
            memcpy(d->expert + l * d->slots, y->experts + y->rows[l].first,
                   d->slots * sizeof *d->expert);
    }
    return MILL_OK;
}

mill_status pl_read_yaml(const pl_file *f, pl_draft *ret) {
    const char *text = (const char *)f->data;
    yaml y = {.file = f, .at = text, .end = text + f->length, .line = 1};
    mill_status status = MILL_OK;
    for (int indent = next_line(&y); !status && indent >= 0; indent = next_line(&y)) {
        if (indent > 0)
            status = expected(&y, "a key at the start of the line");
        else if (y.end - y.at >= 3 && memcmp(y.at, "---", 3) == 0)
            y.at += 3;
        else
            status = read_entry(&y);
    }
    if (!status)
        status = fill(&y, ret);
    free(y.rows);
    free(y.experts);
    return status;
}
