/* SPDX-License-Identifier: Apache-2.0 */
/* The format csv: a table of operations. */
#include "formats.h"

#include <string.h>

static const char *const kinds[] = {
    [MILL_OP_FORWARD] = "F",       [MILL_OP_BACKWARD] = "B", [MILL_OP_INPUT] = "Bi",
    [MILL_OP_WEIGHT] = "W",        [MILL_OP_PAIR] = "FB",    [MILL_OP_SEND] = "send",
    [MILL_OP_RECEIVE] = "receive",
};

void table_header(output *out) {
    output_text(out, "item,schedule,rank,op,chunk,stage,micro_batch,chunk_back,stage_back,"
                     "micro_batch_back,start_ns,end_ns,label\n");
}

/* Quoted where it has to be (RFC 4180). */
static void put_text(output *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        output_text(out, text);
        return;
    }
    output_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            output_char(out, '"');
        output_char(out, *text);
    }
    output_char(out, '"');
}

/* A column after the first one; what is not known stays empty. */
static void put_number(output *out, uint32_t number) {
    output_char(out, ',');
    if (number != MILL_NO_OP)
        output_number(out, number);
}

static void put_time(output *out, int64_t ns) {
    output_char(out, ',');
    if (ns != MILL_UNKNOWN)
        output_number(out, ns);
}

/* An unknown kind is of a newer SDK. */
static const char *kind_of(uint8_t kind) {
    return kind < G_N_ELEMENTS(kinds) && kinds[kind] ? kinds[kind] : "other";
}

static void put_row(output *out, const mill_ops *ops, uint64_t i) {
    output_char(out, ',');
    output_text(out, kind_of(ops->kind[i]));
    put_number(out, ops->chunk[i]);
    put_number(out, ops->stage[i]);
    put_number(out, ops->micro_batch[i]);
    put_number(out, ops->chunk_back[i]);
    put_number(out, ops->stage_back[i]);
    put_number(out, ops->micro_batch_back[i]);
    put_time(out, ops->start[i]);
    put_time(out, ops->end[i]);
    output_char(out, ',');
    if (ops->label && ops->label[i])
        put_text(out, ops->label[i]);
    output_char(out, '\n');
}

void table_rows(output *out, const mill_schedule *schedule, const char *item) {
    for (uint32_t rank = 0; rank < schedule->ranks; rank++)
        for (uint64_t i = schedule->first[rank]; i < schedule->first[rank + 1]; i++) {
            put_text(out, item);
            output_char(out, ',');
            put_text(out, schedule->id);
            put_number(out, rank);
            put_row(out, &schedule->ops, i);
        }
}
