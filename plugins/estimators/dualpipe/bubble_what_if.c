/* SPDX-License-Identifier: Apache-2.0 */
/* What a change would be worth: the schedules in detail again, each with one thing changed. */
#include "bubble.h"

#define CHANGES_MAX 12

static bool transfers_take_time(const bubble_case *c) {
    return c->latency > 0 || c->occupied > 0;
}

/* One more micro-batch, or the next number of them that the schedule takes. */
static uint32_t next_m(const bubble_case *c) {
    pp_sizes sizes = c->sizes, nearest;
    for (uint32_t more = 1; c->family && more <= 2 * c->sizes.ranks; more++) {
        sizes.micro_batches = c->sizes.micro_batches + more;
        if (c->family->takes(&sizes, &nearest))
            return sizes.micro_batches;
    }
    return 0;
}

static bubble_case *add(bubble_case **at, const bubble_case *as_is, const char *change) {
    bubble_case *c = (*at)++;
    *c = (bubble_case){
        .family = as_is->family,
        .id = as_is->id,
        .name = as_is->name,
        .sizes = as_is->sizes,
        .basis = as_is->basis,
        .change = change,
        .latency = as_is->latency,
        .occupied = as_is->occupied,
    };
    return c;
}

static void add_transfers(bubble_case **at, const bubble_case *c) {
    if (!transfers_take_time(c))
        return;
    bubble_case *half = add(at, c, "transfers half as long");
    half->latency /= 2;
    half->occupied /= 2;
    bubble_case *none = add(at, c, BUBBLE_NO_TRANSFERS);
    none->latency = none->occupied = 0;
}

/* With as many micro-batches, or if the schedule does not take them, the nearest that it takes. */
static void add_devices(bubble_case **at, const bubble_case *c, const char *change, uint32_t pp) {
    pp_sizes sizes = c->sizes, nearest;
    sizes.ranks = pp;
    if (c->family->takes(&sizes, &nearest))
        nearest = sizes;
    if (nearest.ranks == pp)
        add(at, c, change)->sizes = nearest;
}

/* The same model on other devices. Schedules of a file, and ranks with speeds of their own, have
 * their sizes. */
static void add_sizes(mill_run *run, const bubble_analysis *a, bubble_case **at,
                      const bubble_case *c) {
    uint32_t pp = c->sizes.ranks, m = next_m(c);
    if (!c->family)
        return;
    if (m > 0)
        add(at, c, bubble_text(run, "m + %u", m - c->sizes.micro_batches))->sizes.micro_batches = m;
    add(at, c, "m doubled")->sizes.micro_batches *= 2;
    if (a->options->slowness.n > 0)
        return;
    if (pp % 2 == 0)
        add_devices(at, c, "PP halved", pp / 2);
    add_devices(at, c, "PP doubled", 2 * pp);
}

mill_status bubble_ask_what_if(mill_run *run, bubble_analysis *a) {
    bool uneven = !bubble_equal(&a->in) || a->options->slowness.n > 0;
    bubble_case *at = mill_scratch(run, CHANGES_MAX * a->n_detail * sizeof *at);
    a->what_if = at;
    for (size_t i = 0; i < a->n_detail; i++) {
        const bubble_case *c = a->detail[i];
        add(&at, c, BUBBLE_AS_IS);
        if (c->family && c->family->pairs && bubble_can_hide(a))
            add(&at, c, BUBBLE_HIDDEN)->hidden = true;
        if (uneven)
            add(&at, c, BUBBLE_ALIKE)->alike = true;
        add_transfers(&at, c);
        add_sizes(run, a, &at, c);
    }
    a->n_what_if = (size_t)(at - a->what_if);
    return bubble_simulate(run, a, a->what_if, a->n_what_if);
}

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "change", "change", "What is not as it is; all else stays."},
    {MILL_KIND_COUNT, "pp", "PP", "Devices. With others, each has another share of the model."},
    {MILL_KIND_COUNT, "m", "m", "Micro-batches of a step."},
    {MILL_KIND_NS, "makespan", "step", "From the first start to the last end."},
    {MILL_KIND_RATIO, "bubble", "bubble", "Σ of idle times / (PP x step)"},
    {MILL_KIND_NS, "per_micro_batch", "step / m", NULL},
    {MILL_KIND_NS, "device_time", "PP step / m", "Time of all devices for one micro-batch."},
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {0},
};

void bubble_tell_what_if(kit_report *r, const bubble_analysis *a) {
    kit_table *t = kit_table_of(r, "what_if", "What if", NULL, columns);
    for (size_t i = 0; i < a->n_what_if; i++) {
        const bubble_case *c = &a->what_if[i];
        int64_t m = c->sizes.micro_batches, pp = c->sizes.ranks;
        if (c->reason)
            continue;
        kit_table_row(t);
        kit_cell_text(t, c->change);
        kit_cell_int(t, pp);
        kit_cell_int(t, m);
        kit_cell_int(t, c->makespan);
        bubble_cell_share(t, c);
        kit_cell_int(t, bubble_scaled(c->makespan, 1, m));
        kit_cell_int(t, bubble_scaled(c->makespan, pp, m));
        kit_cell_text(t, c->name);
    }
}
