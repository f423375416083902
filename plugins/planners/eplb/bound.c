/* SPDX-License-Identifier: Apache-2.0 */
/* What no plan can be better than. */
#include "bound.h"

/* What the GPUs of a domain can take. */
typedef struct room {
    uint32_t slots, live, least; /* slots in all; GPUs; slots of the GPU with the fewest */
    double speed, fastest;
} room;

static room room_of(const ep_task *t, const ep_domain *domain) {
    room r = {.least = UINT32_MAX};
    for (uint32_t g = domain->gpu; g < domain->gpu_end; g++) {
        if (t->inverse[g] <= 0)
            continue;
        uint32_t slots = t->shape->first[g + 1] - t->shape->first[g];
        double speed = 1 / t->inverse[g];
        r.slots += slots;
        r.live++;
        r.least = slots < r.least ? slots : r.least;
        r.speed += speed;
        r.fastest = fmax(r.fastest, speed);
    }
    return r;
}

static double load_of(const ep_task *t, const ep_domain *domain, uint32_t k, uint32_t dim) {
    return t->load[(size_t)domain->expert[k] * t->dims + dim];
}

/* Replicas to bring all shares to a limit or below; one more than there are slots: too many. */
static uint64_t replicas_for(const ep_task *t, const ep_domain *domain, uint32_t dim, double limit,
                             const room *r) {
    uint64_t sum = 0, cap = t->distinct ? r->live : r->slots;
    for (uint32_t k = 0; k < domain->n && sum <= r->slots; k++) {
        double need = ceil(load_of(t, domain, k, dim) / limit);
        if (need > (double)cap)
            return (uint64_t)r->slots + 1;
        sum += need < 1 ? 1 : (uint64_t)need;
    }
    return sum;
}

/* The least limit that all shares can be brought to, from below: bisection to 1e-9, then the
 * infeasible end. */
static double even_share(const ep_task *t, const ep_domain *domain, uint32_t dim, const room *r,
                         double from) {
    double most = 0;
    for (uint32_t k = 0; k < domain->n; k++)
        most = fmax(most, load_of(t, domain, k, dim));
    double low = from, high = most;
    if (high <= low || replicas_for(t, domain, dim, low, r) <= r->slots)
        return low;
    while (high - low > 1e-10 * high) {
        double middle = low + (high - low) / 2;
        if (replicas_for(t, domain, dim, middle, r) <= r->slots)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Without spare slots the hottest expert shares its GPU with others, at best the coldest ones. */
static double hottest_gpu(const ep_task *t, const ep_domain *domain, uint32_t dim, const room *r) {
    if (domain->n != r->slots || r->least == 0)
        return 0;
    double most = 0, *load = kit_alloc(domain->n, sizeof *load);
    for (uint32_t k = 0; k < domain->n; k++) {
        load[k] = load_of(t, domain, k, dim);
        most = fmax(most, load[k]);
    }
    for (uint32_t i = 0; i + 1 < r->least; i++) { /* the coldest are moved to the front */
        uint32_t coldest = i;
        for (uint32_t k = i; k < domain->n; k++)
            if (load[k] < load[coldest])
                coldest = k;
        most += load[coldest];
        load[coldest] = load[i];
    }
    free(load);
    return most / r->fastest;
}

double ep_bound_simple(const ep_task *t, const ep_domain *domain, uint32_t dim) {
    room r = room_of(t, domain);
    double sum = 0;
    for (uint32_t k = 0; k < domain->n; k++)
        sum += load_of(t, domain, k, dim);
    double bound = sum / r.speed;
    if (!(bound > 0))
        return 0;
    /* The even share lies on some GPU; at the fastest it makes the least load. */
    bound = even_share(t, domain, dim, &r, bound * r.fastest) / r.fastest;
    return fmax(bound, hottest_gpu(t, domain, dim, &r));
}
