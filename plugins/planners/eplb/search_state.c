/* SPDX-License-Identifier: Apache-2.0 */
/* A plan under change: counts, shares and loads that follow each move. */
#include "search_private.h"

void ep_state_init(ep_state *s, const ep_task *task) {
    size_t rows = (size_t)task->experts + 1;
    *s = (ep_state){
        .task = task,
        .expert = kit_alloc(task->slots, sizeof *s->expert),
        .count = kit_alloc(rows, sizeof *s->count),
        .share = kit_alloc(rows * task->dims, sizeof *s->share),
        .gpu_load = kit_alloc((size_t)task->gpus * task->dims, sizeof *s->gpu_load),
        .held = kit_alloc(task->gpus * rows, sizeof *s->held),
        .head = kit_alloc(rows, sizeof *s->head),
        .next = kit_alloc(task->slots, sizeof *s->next),
        .prev = kit_alloc(task->slots, sizeof *s->prev),
    };
}

void ep_state_finish(ep_state *s) {
    free(s->expert);
    free(s->count);
    free(s->share);
    free(s->gpu_load);
    free(s->held);
    free(s->head);
    free(s->next);
    free(s->prev);
}

/* From the slots, so that no rounding adds up. */
static void refresh_gpu(ep_state *s, uint32_t gpu) {
    const ep_task *t = s->task;
    double *load = s->gpu_load + (size_t)gpu * t->dims;
    for (uint32_t d = 0; d < t->dims; d++) {
        double sum = 0;
        for (uint32_t i = t->shape->first[gpu]; i < t->shape->first[gpu + 1]; i++)
            sum += s->share[(size_t)s->expert[i] * t->dims + d];
        load[d] = sum * t->inverse[gpu];
    }
}

static void refresh_share(ep_state *s, uint32_t e) {
    uint32_t dims = s->task->dims, count = s->count[e] ? s->count[e] : 1;
    for (uint32_t d = 0; d < dims; d++)
        s->share[(size_t)e * dims + d] = s->task->load[(size_t)e * dims + d] / count;
}

static void link_slot(ep_state *s, uint32_t slot, uint32_t e) {
    s->expert[slot] = e;
    s->next[slot] = s->head[e];
    s->prev[slot] = EP_END;
    if (s->head[e] != EP_END)
        s->prev[s->head[e]] = slot;
    s->head[e] = slot;
    s->count[e]++;
    uint32_t gpu = s->task->gpu[slot];
    s->held[(size_t)gpu * (s->task->experts + 1) + e]++;
    s->moves += ep_move_cost(s->task, gpu, e);
}

static void unlink_slot(ep_state *s, uint32_t slot) {
    uint32_t e = s->expert[slot], gpu = s->task->gpu[slot];
    if (s->prev[slot] == EP_END)
        s->head[e] = s->next[slot];
    else
        s->next[s->prev[slot]] = s->next[slot];
    if (s->next[slot] != EP_END)
        s->prev[s->next[slot]] = s->prev[slot];
    s->count[e]--;
    s->held[(size_t)gpu * (s->task->experts + 1) + e]--;
    s->moves -= ep_move_cost(s->task, gpu, e);
}

void ep_state_set(ep_state *s, const int32_t *plan) {
    const ep_task *t = s->task;
    size_t rows = (size_t)t->experts + 1;
    memset(s->count, 0, rows * sizeof *s->count);
    memset(s->held, 0, t->gpus * rows * sizeof *s->held);
    memset(s->head, 0xff, rows * sizeof *s->head);
    s->moves = 0;
    for (uint32_t i = t->slots; i-- > 0;)
        link_slot(s, i, plan[i] < 0 ? t->experts : (uint32_t)plan[i]);
    for (uint32_t e = 0; e <= t->experts; e++)
        refresh_share(s, e);
    for (uint32_t g = 0; g < t->gpus; g++)
        refresh_gpu(s, g);
}

void ep_state_get(const ep_state *s, int32_t *ret_plan) {
    for (uint32_t i = 0; i < s->task->slots; i++)
        ret_plan[i] = s->expert[i] == s->task->experts ? MILL_NO_EXPERT : (int32_t)s->expert[i];
}

static void refresh_holders(ep_state *s, uint32_t e) {
    refresh_share(s, e);
    if (e < s->task->experts)
        for (uint32_t i = s->head[e]; i != EP_END; i = s->next[i])
            refresh_gpu(s, s->task->gpu[i]);
}

void ep_state_put(ep_state *s, uint32_t slot, uint32_t expert) {
    uint32_t old = s->expert[slot];
    unlink_slot(s, slot);
    link_slot(s, slot, expert);
    refresh_holders(s, old);
    refresh_holders(s, expert);
    refresh_gpu(s, s->task->gpu[slot]);
}

void ep_state_swap(ep_state *s, uint32_t i, uint32_t j) {
    uint32_t e = s->expert[i], f = s->expert[j];
    unlink_slot(s, i);
    unlink_slot(s, j);
    link_slot(s, i, f);
    link_slot(s, j, e);
    refresh_gpu(s, s->task->gpu[i]);
    refresh_gpu(s, s->task->gpu[j]);
}

double ep_task_value(const ep_task *t, const double *most) {
    double value = 0;
    for (uint32_t d = 0; d < t->dims; d++)
        if (t->objective == EP_STEP_MAX)
            value += most[d] / t->dims;
        else if (most[d] > value)
            value = most[d];
    return value;
}

double ep_state_value(const ep_state *s, double *ret_most) {
    const ep_task *t = s->task;
    double value = 0;
    for (uint32_t d = 0; d < t->dims; d++) {
        double most = 0;
        for (uint32_t g = 0; g < t->gpus; g++)
            if (s->gpu_load[(size_t)g * t->dims + d] > most)
                most = s->gpu_load[(size_t)g * t->dims + d];
        if (ret_most)
            ret_most[d] = most;
        if (t->objective == EP_STEP_MAX)
            value += most / t->dims;
        else if (most > value)
            value = most;
    }
    return value;
}
