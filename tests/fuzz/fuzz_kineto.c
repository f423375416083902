/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the Kineto reader: whatever the text, its two engines, all instructions, windows and
 * containers make the same trace, the one that cJSON would make. The first bytes of the input
 * choose how the rest is read. */
#include "bench_host.h"
#include "document.h"
#include "engines.h"
#include "fuzz.h"
#include "input.h"
#include "kineto_oracle.h"
#include "order.h"
#include "pack.h"
#include "rows.h"
#include "same_trace.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef enum container { PLAIN, PACKED, DAMAGED, RAW_FILE, N_CONTAINERS } container;

/* Shares are of 256. */
typedef struct plan {
    uint8_t window, step, isa_and_container, kind, cut, flip;
} plan;

static const mill_trace *read_text(bench *b, int isa, size_t window, size_t step, bool all,
                                   const char *text, size_t length) {
    const engines_config config = {isa, window, step, all};
    return engines_read(bench_services(b), &config, text, length, NULL);
}

/* ---------------------------------------------------------------- cJSON */

static uint64_t count_of(const mill_trace *t, const char *kind) {
    for (uint64_t i = 0; i < t->diagnostics.n; i++)
        if (!strcmp(mill_string(t, mill_u32(t, &t->diagnostics.kind, i)), kind))
            return mill_u64(t, &t->diagnostics.count, i);
    return 0;
}

static int64_t sum_of(const mill_trace *t, const mill_column *dur, uint64_t n) {
    int64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += mill_i64(t, dur, i);
    return sum;
}

static void check_oracle(const mill_trace *t, const char *text, size_t length) {
    oracle right;
    if (!oracle_read(text, length, &right))
        return;
    g_assert_nonnull(t);
    g_assert_cmpuint(t->complete, ==, 1);
    g_assert_cmpuint(t->events, ==, right.events);
    g_assert_cmpuint(t->cpu.n, ==, right.cpu.n);
    g_assert_cmpint(sum_of(t, &t->cpu.dur, t->cpu.n), ==, right.cpu.dur);
    uint64_t duplicates = count_of(t, "duplicate");
    g_assert_cmpuint(t->gpu.n + duplicates, ==, right.gpu.n);
    if (duplicates == 0 && count_of(t, "clipped-timer") == 0)
        g_assert_cmpint(sum_of(t, &t->gpu.dur, t->gpu.n), ==, right.gpu.dur);
}

/* ---------------------------------------------------------------- text */

/* From each of the first brackets on, in memory that ends where the text does: the reference parser
 * reads nothing beyond, the fast one no more than it says. */
static void check_bounds(bench *b, int isa, const char *text, size_t length) {
    static const rule_set no_rules;
    static const rows_config slices = {.kernels = &no_rules, .cpu = true, .python = true};
    g_autofree char *exact = g_memdup2(text, length);
    g_autofree char *padded = g_malloc0(length + FAST_BEYOND);
    memcpy(padded, text, length);
    kit_trace *builder = kit_trace_create(bench_services(b));
    rows *r = rows_create(bench_services(b), builder, &slices);
    fast *f = fast_create(r, (fast_isa)isa);
    const char *at = exact, *end = exact + length;
    for (int i = 0; i < 4 && (at = memchr(at, '{', (size_t)(end - at))); i++, at++) {
        event e;
        json j = {.at = at, .end = end};
        if (event_parse(&j, &e) == JSON_OK)
            g_assert_true(j.at > at && j.at <= end && j.at[-1] == '}');
        uint64_t n = 0;
        const char *same = padded + (at - exact);
        size_t used = f ? fast_events(f, same, padded + length, 0, &n) : 0;
        g_assert_true((used > 0) == (n > 0));
        g_assert_true(used == 0 || (used <= (size_t)(end - at) && same[used - 1] == '}'));
    }
    fast_destroy(f);
    rows_destroy(r);
    kit_trace_destroy(builder);
}

static void check_text(const plan *p, const char *text, size_t length) {
    int isa = FAST_SCALAR + p->isa_and_container / N_CONTAINERS % (FAST_BEST - FAST_SCALAR);
    size_t window = 64 + (size_t)p->window * 16;
    bench *b = bench_create(NULL, NULL);
    bool all = p->step & 1; /* more than the slices, which cJSON has no opinion on */
    const mill_trace *right = read_text(b, ENGINES_REFERENCE, 8192, 8192, all, text, length);
    const mill_trace *left = read_text(b, isa, window, 1 + (size_t)p->step * 8, all, text, length);
    g_assert_true((left != NULL) == (right != NULL));
    g_assert_true(right || *bench_causes(b));
    if (right) {
        same_trace(right, left);
        order_check(right);
    }
    if (!all)
        check_oracle(right, text, length);
    check_bounds(b, isa, text, length);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- containers */

/* The text of a file as the reader sees it, `room` bytes at a time; NULL: it refuses the file. */
static GByteArray *unpack(const char *path, size_t room, input_state *ret_state) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    g_autofree char *part = g_malloc(room); /* exactly, to see what is written beyond */
    GByteArray *text = NULL;
    input *in;
    if (input_open(run, path, &in) == MILL_OK) {
        size_t length;
        bool more;
        text = g_byte_array_new();
        mill_status status = input_next(run, in, &more);
        for (length = 1; status == MILL_OK && more && length > 0;) {
            status = input_read(run, in, part, room, &length);
            g_byte_array_append(text, (const guint8 *)part, (guint)length);
        }
        g_assert_true(status == MILL_OK || (status == MILL_E_DATA && *bench_causes(b)));
        *ret_state = input_get_state(in);
        input_close(in);
    } else {
        g_assert_true(*bench_causes(b));
    }
    bench_destroy(b);
    return text;
}

/* The same with rooms of two sizes. */
static GByteArray *unpack_bytes(const plan *p, const void *bytes, size_t length,
                                input_state *ret_state) {
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    g_assert_cmpint(ftruncate(fd, 0), ==, 0);
    g_assert_cmpint(pwrite(fd, bytes, length, 0), ==, (ssize_t)length);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    input_state state;
    g_autoptr(GByteArray) small = unpack(path, 1 + (size_t)p->step, &state);
    GByteArray *large = unpack(path, 65536, ret_state);
    g_assert_true((small != NULL) == (large != NULL));
    if (large) {
        guint least = MIN(small->len, large->len);
        g_assert_cmpint(state, ==, *ret_state);
        g_assert_cmpmem(small->data, least, large->data, least);
        /* Of the last bytes before a damage the inflater gives as many as the room lets it. */
        g_assert_true(small->len == large->len || state == INPUT_CORRUPT);
    }
    return large;
}

static void check_packed(const plan *p, const char *text, size_t length, bool damage) {
    g_autoptr(GByteArray) packed = pack_containers[p->kind % PACK_N_CONTAINERS].pack(text, length);
    size_t kept = damage ? packed->len - (size_t)packed->len * p->cut / 256 : packed->len;
    if (damage && p->flip && packed->len)
        packed->data[(size_t)packed->len * p->flip / 256] ^= (uint8_t)(1 << p->flip % 8);
    input_state state;
    g_autoptr(GByteArray) seen = unpack_bytes(p, packed->data, kept, &state);
    bool plain = pack_is_json(text, length); /* else it may be a container itself */
    if (plain && !damage) {
        g_assert_cmpint(state, ==, INPUT_WHOLE);
        g_assert_cmpmem(seen->data, seen->len, text, length);
    } else if (plain && p->flip == 0 && kept >= 4) { /* only cut */
        g_assert_cmpint(state, !=, INPUT_CORRUPT);
        /* What is behind the data of a zip's member may be data, until it is whole. */
        guint good = MIN(seen->len, (guint)length);
        g_assert_cmpuint(seen->len, <, length + 24);
        g_assert_cmpmem(seen->data, good, text, good);
    }
    if (seen && seen->len)
        check_text(p, (const char *)seen->data, seen->len);
}

static void check_raw(const plan *p, const char *bytes, size_t length) {
    input_state state;
    g_autoptr(GByteArray) seen = unpack_bytes(p, bytes, length, &state);
    if (seen && seen->len)
        check_text(p, (const char *)seen->data, seen->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    plan p;
    if (size <= sizeof p)
        return 0;
    memcpy(&p, data, sizeof p);
    const char *text = (const char *)data + sizeof p;
    size_t length = size - sizeof p;
    switch ((container)(p.isa_and_container % N_CONTAINERS)) {
    case PACKED:
        check_packed(&p, text, length, false);
        break;
    case DAMAGED:
        check_packed(&p, text, length, true);
        break;
    case RAW_FILE:
        check_raw(&p, text, length);
        break;
    default:
        check_text(&p, text, length);
    }
    return 0;
}
