/* SPDX-License-Identifier: Apache-2.0 */
/* The format csv: a table of operations. */
#include "formats.h"

#include <glib.h>

static const char *const kinds[] = {
    [MILL_OP_FORWARD] = "F",       [MILL_OP_BACKWARD] = "B", [MILL_OP_INPUT] = "Bi",
    [MILL_OP_WEIGHT] = "W",        [MILL_OP_PAIR] = "FB",    [MILL_OP_SEND] = "send",
    [MILL_OP_RECEIVE] = "receive",
};

void table_header(kit_export *out) {
    kit_export_text(out, "item,schedule,rank,op,chunk,stage,micro_batch,chunk_back,stage_back,"
                         "micro_batch_back,start_ns,end_ns,label\n");
}

static void put_text(kit_export *out, const char *text) {
    if (*text != '\0')
        kit_export_cell(out, text);
}

/* A column after the first one; what is not known stays empty. */
static void put_number(kit_export *out, uint32_t number) {
    kit_export_char(out, ',');
    if (number != MILL_NO_OP)
        kit_export_int(out, number);
}

static void put_time(kit_export *out, int64_t ns) {
    kit_export_char(out, ',');
    if (ns != MILL_UNKNOWN)
        kit_export_int(out, ns);
}

/* An unknown kind is of a newer SDK. */
static const char *kind_of(uint8_t kind) {
    return kind < G_N_ELEMENTS(kinds) && kinds[kind] ? kinds[kind] : "other";
}

static void put_row(kit_export *out, const mill_ops *ops, uint64_t i) {
    kit_export_char(out, ',');
    kit_export_text(out, kind_of(ops->kind[i]));
    put_number(out, ops->chunk[i]);
    put_number(out, ops->stage[i]);
    put_number(out, ops->micro_batch[i]);
    put_number(out, ops->chunk_back[i]);
    put_number(out, ops->stage_back[i]);
    put_number(out, ops->micro_batch_back[i]);
    put_time(out, ops->start[i]);
    put_time(out, ops->end[i]);
    kit_export_char(out, ',');
    if (ops->label && ops->label[i])
        put_text(out, ops->label[i]);
    kit_export_char(out, '\n');
}

void table_rows(kit_export *out, const mill_schedule *schedule, const char *item) {
    for (uint32_t rank = 0; rank < schedule->ranks; rank++)
        for (uint64_t i = schedule->first[rank]; i < schedule->first[rank + 1]; i++) {
            put_text(out, item);
            kit_export_char(out, ',');
            put_text(out, schedule->id);
            put_number(out, rank);
            put_row(out, &schedule->ops, i);
        }
}
