/* SPDX-License-Identifier: Apache-2.0 */
/* The format torch: what PipelineScheduleMulti._load_csv of torch.distributed.pipelining reads
 * (schedules.py, _Action.__repr__). Torch adds sends and receives itself. */
#include "formats.h"

#include <glib.h>

/* Of kinds that torch has an action for. */
static const char letters[] = {
    [MILL_OP_FORWARD] = 'F', [MILL_OP_BACKWARD] = 'B', [MILL_OP_INPUT] = 'I',
    [MILL_OP_WEIGHT] = 'W',  [MILL_OP_PAIR] = 'F',
};

static bool is_computation(uint8_t kind) {
    return kind >= MILL_OP_FORWARD && kind <= MILL_OP_PAIR;
}

static bool is_known(const mill_ops *ops, uint64_t i) {
    bool pair = ops->kind[i] == MILL_OP_PAIR;
    return ops->stage[i] != MILL_NO_OP && ops->micro_batch[i] != MILL_NO_OP &&
           (!pair || (ops->stage_back[i] != MILL_NO_OP && ops->micro_batch_back[i] != MILL_NO_OP));
}

mill_status torch_check(mill_run *run, const mill_schedule *s) {
    if (s->bidirectional)
        return mill_fail(run, MILL_E_DATA,
                         "%s runs each stage on two ranks, which torch's schedules can't; write it "
                         "with format = csv",
                         s->name);
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        uint64_t n = 0;
        for (uint64_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
            if (!is_computation(s->ops.kind[i]))
                continue;
            n++;
            if (!is_known(&s->ops, i))
                return mill_fail(run, MILL_E_DATA,
                                 "%s: stage or micro-batch of operation %" G_GUINT64_FORMAT
                                 " of rank %u is not known, and torch needs both; write it with "
                                 "format = csv",
                                 s->name, i - s->first[rank], rank);
        }
        if (!n)
            return mill_fail(run, MILL_E_DATA,
                             "%s: rank %u computes nothing, so there is nothing to write for torch",
                             s->name, rank);
    }
    return MILL_OK;
}

static void put_action(kit_export *out, uint32_t stage, char letter, uint32_t micro_batch) {
    kit_export_int(out, stage);
    kit_export_char(out, letter);
    kit_export_int(out, micro_batch);
}

static void put_op(kit_export *out, const mill_ops *ops, uint64_t i) {
    bool pair = ops->kind[i] == MILL_OP_PAIR;
    if (pair)
        kit_export_char(out, '(');
    put_action(out, ops->stage[i], letters[ops->kind[i]], ops->micro_batch[i]);
    if (!pair)
        return;
    kit_export_char(out, ';');
    put_action(out, ops->stage_back[i], 'B', ops->micro_batch_back[i]);
    kit_export_text(out, ")OVERLAP_F_B");
}

void torch_rows(kit_export *out, const mill_schedule *s) {
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        bool first = true;
        for (uint64_t i = s->first[rank]; i < s->first[rank + 1]; i++) {
            if (!is_computation(s->ops.kind[i]))
                continue;
            if (!first)
                kit_export_char(out, ',');
            put_op(out, &s->ops, i);
            first = false;
        }
        kit_export_char(out, '\n');
    }
}
