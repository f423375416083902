/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that are two sequences of operations, woven: interleaved 1F1B, Chimera and Hanayo.
 *
 * Each operation has a slot of its rank's time, as if F and B took one slot each; an order is the
 * operations by their slots. Operations in slots that respect all dependencies can't deadlock,
 * however long they are in truth.
 */
#include "families_private.h"

#include <stdlib.h>
#include <tracemill/kit/arena.h>

/* n operations alike, in every other slot from `slot` on. */
typedef struct span {
    mill_op_kind kind;
    uint32_t chunk, n;
    uint64_t slot;
} span;

/* Spans of even slots, or of odd ones, in order. */
typedef struct strand {
    span *at;
    size_t left; /* spans */
} strand;

static void put(strand *s, mill_op_kind kind, uint32_t chunk, uint64_t slot, uint32_t n) {
    s->at[s->left++] = (span){.kind = kind, .chunk = chunk, .n = n, .slot = slot};
}

static void take(pp_builder *b, strand *s, uint32_t n) {
    pp_add(b, s->at->kind, s->at->chunk);
    s->at->n -= n;
    s->at->slot += 2 * (uint64_t)n;
    if (!s->at->n) {
        s->at++;
        s->left--;
    }
}

/* Adds the operations of both by their slots. */
static void weave(pp_builder *b, strand x, strand y) {
    while (x.left || y.left) {
        bool x_first = !y.left || (x.left && x.at->slot < y.at->slot);
        strand *first = x_first ? &x : &y, *second = x_first ? &y : &x;
        uint64_t gap = second->left ? second->at->slot - first->at->slot : UINT64_MAX;
        uint32_t n = first->at->n;
        if (gap == 1)
            n = pp_min(n, second->at->n);
        else if (gap / 2 < n)
            n = (uint32_t)(gap / 2);
        pp_loop_begin(b, n);
        take(b, first, n);
        if (gap == 1)
            take(b, second, n);
    }
}

/* ---------------------------------------------------------------- interleaved 1F1B */

/* Megatron-LM, schedules.py (get_pp_rank_microbatches, get_schedule_table): groups of PP
 * micro-batches pass through the chunks in turn. The fill is 2 (PP - 1 - r) + (v - 1) PP forwards,
 * but all of them if m = PP (newer versions of Megatron-LM lack this case). */
static uint32_t interleaved_fill(const pp_sizes *s, uint32_t rank) {
    uint32_t all = s->micro_batches * s->chunks;
    if (s->micro_batches == s->ranks)
        return all;
    return pp_min(all, 2 * (s->ranks - 1 - rank) + (s->chunks - 1) * s->ranks);
}

static const pp_plan *plan_interleaved(mill_run *run, const pp_sizes *sizes) {
    uint32_t ranks = sizes->ranks, v = sizes->chunks;
    uint32_t turns = sizes->micro_batches / ranks * v;
    pp_builder *b = pp_begin(run, pp_interleaved.id, pp_interleaved.name, PP_PLACE_LOOP, ranks, v,
                             sizes->micro_batches);
    span *spans = kit_alloc(2 * (size_t)turns, sizeof *spans);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        strand forward = {.at = spans}, backward = {.at = spans + turns};
        uint64_t fill = interleaved_fill(sizes, rank);
        for (uint32_t turn = 0; turn < turns; turn++) {
            uint64_t done = (uint64_t)turn * ranks;
            put(&forward, MILL_OP_FORWARD, turn % v, 2 * done, ranks);
            put(&backward, MILL_OP_BACKWARD, v - 1 - turn % v, 2 * (fill + done) + 1, ranks);
        }
        pp_rank(b);
        weave(b, forward, backward);
    }
    free(spans);
    return pp_end(b);
}

static bool takes_interleaved(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest = *sizes;
    nearest.ranks = pp_max(nearest.ranks, 1);
    nearest.micro_batches = pp_multiple(nearest.micro_batches, nearest.ranks);
    nearest.chunks = pp_min(pp_max(nearest.chunks, 2), UINT8_MAX);
    return pp_answer(sizes, nearest, ret_nearest);
}

const pp_family pp_interleaved = {
    .id = "interleaved",
    .name = "Interleaved",
    .source = "Narayanan et al. 2021, arXiv:2104.04473, section 2.2; Megatron-LM, schedules.py",
    .rule = "m is a multiple of PP, with at least 2 chunks a rank",
    .choosable = true,
    .copies = 1,
    .takes = takes_interleaved,
    .plan = plan_interleaved,
};

/* ---------------------------------------------------------------- waves */

/* A wave placement of S = chunks * ranks stages runs units of `ranks` micro-batches. In a unit the
 * k-th one has its forward of stage s in slot s + 2k, its backward in slot 2S - 1 - s + 2k. Slots
 * of stages that go down have the parity of the rank, those of stages that go up the other one, and
 * on each parity one chunk follows the other without a gap. A unit has 2S operations a rank, and
 * begins 2S slots after the one before, so that its forwards fill the slots where that one drains.
 * The last unit may be smaller.
 *
 * mirrored: the two chunks change places. */
static void wave_rank(pp_builder *b, span *spans, const pp_sizes *s, uint32_t rank, bool mirrored) {
    uint64_t stages = (uint64_t)s->chunks * s->ranks;
    uint32_t units = s->micro_batches / s->ranks + (s->micro_batches % s->ranks > 0);
    strand strands[2] = {{.at = spans}, {.at = spans + (size_t)units * s->chunks}};
    for (uint32_t unit = 0; unit < units; unit++) {
        uint32_t n = pp_min(s->ranks, s->micro_batches - unit * s->ranks);
        uint64_t start = 2 * stages * unit;
        for (uint32_t i = 0; i < 2 * s->chunks; i++) {
            bool back = i >= s->chunks;
            uint32_t chunk = back ? 2 * s->chunks - 1 - i : i;
            uint64_t stage = chunk * s->ranks + (chunk % 2 ? s->ranks - 1 - rank : rank);
            put(&strands[i % 2], back ? MILL_OP_BACKWARD : MILL_OP_FORWARD, chunk ^ mirrored,
                start + (back ? 2 * stages - 1 - stage : stage), n);
        }
    }
    pp_rank(b);
    weave(b, strands[0], strands[1]);
}

static span *wave_spans(const pp_sizes *s) {
    return kit_alloc(2 * (s->micro_batches / s->ranks + 1) * (size_t)s->chunks, sizeof(span));
}

/* One wave is Chimera's two directions, folded; more waves and more units are the same rule. We
 * know of no independent record of this order: tests check what must hold of it. */
static const pp_plan *plan_hanayo(mill_run *run, const pp_sizes *sizes) {
    pp_builder *b = pp_begin(run, pp_hanayo.id, pp_hanayo.name, PP_PLACE_WAVE, sizes->ranks,
                             sizes->chunks, sizes->micro_batches);
    span *spans = wave_spans(sizes);
    for (uint32_t rank = 0; rank < sizes->ranks; rank++)
        wave_rank(b, spans, sizes, rank, false);
    free(spans);
    return pp_end(b);
}

static bool takes_hanayo(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest = *sizes;
    nearest.ranks = pp_max(nearest.ranks, 1);
    nearest.micro_batches = pp_max(nearest.micro_batches, 1);
    nearest.chunks = pp_min(pp_max(nearest.chunks & ~1u, 2), UINT8_MAX - 1);
    return pp_answer(sizes, nearest, ret_nearest);
}

const pp_family pp_hanayo = {
    .id = "hanayo",
    .name = "Hanayo",
    .source = "Liu et al. 2023, arXiv:2308.15762, section 3 (order of several units: ours)",
    .rule = "any PP and m, with 2 chunks a rank for each wave",
    .choosable = true,
    .copies = 1,
    .takes = takes_hanayo,
    .plan = plan_hanayo,
};

/* Chimera is one wave over half of the ranks, unfolded: a rank and its mirror image run the same
 * order with the two directions changed, so that each direction has half of the micro-batches and
 * its units have PP / 2. More than PP micro-batches are several units, as the paper concatenates
 * them. */
static const pp_plan *plan_chimera(mill_run *run, const pp_sizes *sizes) {
    pp_builder *b = pp_begin(run, pp_chimera.id, pp_chimera.name, PP_PLACE_BOTH, sizes->ranks, 2,
                             sizes->micro_batches);
    pp_sizes half = {
        .ranks = sizes->ranks / 2,
        .micro_batches = sizes->micro_batches / 2,
        .chunks = 2,
    };
    span *spans = wave_spans(&half);
    for (uint32_t rank = 0; rank < sizes->ranks; rank++)
        wave_rank(b, spans, &half, pp_min(rank, sizes->ranks - 1 - rank), rank >= half.ranks);
    free(spans);
    return pp_end(b);
}

static bool takes_chimera(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest = *sizes;
    nearest.ranks = pp_max(nearest.ranks & ~1u, 2);
    nearest.micro_batches = pp_max(nearest.micro_batches & ~1u, 2);
    return pp_answer(sizes, nearest, ret_nearest);
}

const pp_family pp_chimera = {
    .id = "chimera",
    .name = "Chimera",
    .source = "Li and Hoefler 2021, arXiv:2107.06925, section 3",
    .rule = "PP and m are even",
    .chunks = 2,
    .copies = 2,
    .takes = takes_chimera,
    .plan = plan_chimera,
};
