/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the families, and how one is found by name. */
#include "families_private.h"

#include <string.h>

const pp_family *const pp_families[] = {
    &pp_gpipe,  &pp_1f1b,  &pp_interleaved, &pp_eager_1f1b, &pp_zb_h1,    &pp_zb_h2,     &pp_zb_v,
    &pp_v_half, &pp_v_min, &pp_chimera,     &pp_hanayo,     &pp_dualpipe, &pp_dualpipev, NULL,
};

/* Names that papers and programs use, without case and punctuation. */
static const struct {
    const char *name, *id;
} other_names[] = {
    {"interleaved1f1b", "interleaved"}, /* torch.distributed.pipelining */
    {"1f1binterleaved", "interleaved"},
    {"vpp", "interleaved"}, /* Megatron-LM's virtual pipeline */
    {"zb1p", "zb-h1"},
    {"zbvzerobubble", "zb-v"}, /* torch.distributed.pipelining */
};

/* Letters in lower case and digits; cut where no name is as long. */
static void plain(const char *name, char ret_plain[32]) {
    size_t n = 0;
    for (; *name && n < 31; name++) {
        bool upper = *name >= 'A' && *name <= 'Z', lower = *name >= 'a' && *name <= 'z';
        if (upper || lower || (*name >= '0' && *name <= '9'))
            ret_plain[n++] = (char)(upper ? *name - 'A' + 'a' : *name);
    }
    ret_plain[n] = '\0';
}

const pp_family *pp_family_of(const char *id) {
    char asked[32], known[32];
    plain(id, asked);
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (!strcmp(asked, other_names[i].name))
            plain(other_names[i].id, asked);
    for (const pp_family *const *f = pp_families; *f; f++) {
        plain((*f)->id, known);
        if (!strcmp(asked, known))
            return *f;
    }
    return NULL;
}

uint32_t pp_multiple(uint32_t n, uint32_t of) {
    uint32_t over = n % of;
    return over == n ? of : over > of / 2 && n <= UINT32_MAX - of ? n - over + of : n - over;
}

bool pp_answer(const pp_sizes *sizes, pp_sizes nearest, pp_sizes *ret_nearest) {
    *ret_nearest = nearest;
    return nearest.ranks == sizes->ranks && nearest.micro_batches == sizes->micro_batches &&
           nearest.chunks == sizes->chunks;
}

bool pp_takes_any(const pp_sizes *sizes, pp_sizes *ret_nearest) {
    pp_sizes nearest = *sizes;
    nearest.ranks = pp_max(nearest.ranks, 1);
    nearest.micro_batches = pp_max(nearest.micro_batches, 1);
    return pp_answer(sizes, nearest, ret_nearest);
}
