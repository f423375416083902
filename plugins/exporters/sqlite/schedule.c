/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pipeline schedules as rows. */
#include "values.h"

static const char *const op_kinds[] = {
    [MILL_OP_FORWARD] = "forward", [MILL_OP_BACKWARD] = "backward", [MILL_OP_INPUT] = "input",
    [MILL_OP_WEIGHT] = "weight",   [MILL_OP_PAIR] = "pair",         [MILL_OP_SEND] = "send",
    [MILL_OP_RECEIVE] = "receive", [MILL_OP_OTHER] = "other",
};

static const char *op_kind(uint8_t kind) {
    return kind < sizeof op_kinds / sizeof *op_kinds ? op_kinds[kind] : NULL;
}

static void put_number(database *d, uint32_t number) {
    database_int(d, number == MILL_NO_OP ? MILL_UNKNOWN : (int64_t)number);
}

static void put_operation(database *d, int64_t item, const mill_schedule *s, uint32_t rank,
                          uint64_t i) {
    const mill_ops *ops = &s->ops;
    database_row(d, TABLE_OPERATION);
    database_int(d, item);
    database_int(d, rank);
    database_int(d, (int64_t)(i - s->first[rank]));
    database_text(d, op_kind(ops->kind[i]));
    put_number(d, ops->chunk[i]);
    put_number(d, ops->stage[i]);
    put_number(d, ops->micro_batch[i]);
    put_number(d, ops->chunk_back[i]);
    put_number(d, ops->stage_back[i]);
    put_number(d, ops->micro_batch_back[i]);
    database_int(d, ops->start[i]);
    database_int(d, ops->end[i]);
    database_text(d, ops->label ? ops->label[i] : NULL);
    database_end(d);
}

mill_status write_schedule(database *d, int64_t item, const mill_schedule *s) {
    database_row(d, TABLE_SCHEDULE);
    database_int(d, item);
    database_text(d, s->id);
    database_text(d, s->name);
    database_text(d, s->subject);
    database_text(d, s->communication);
    database_int(d, s->simulated);
    database_int(d, s->ranks);
    database_int(d, s->chunks);
    database_int(d, s->stages);
    database_int(d, s->micro_batches);
    database_int(d, s->bidirectional);
    database_int(d, s->transfer_ns);
    database_int(d, s->makespan_ns);
    database_end(d);
    for (uint32_t rank = 0; rank < s->ranks; rank++)
        for (uint64_t i = s->first[rank]; !d->status && i < s->first[rank + 1]; i++) {
            put_operation(d, item, s, rank, i);
            if (i % 1024 == 0 && mill_cancelled(d->run))
                d->status = MILL_E_CANCELLED;
        }
    return d->status;
}
