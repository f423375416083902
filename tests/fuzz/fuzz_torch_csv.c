/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of schedules in torch's CSV: what it takes is whole, and written in torch's way
 * it is read as the same; what it does not take is told with a cause that names the file. */
#include "bench_host.h"
#include "fuzz.h"
#include "torch_csv.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH_FORMAT "/proc/self/fd/%d"

static mill_status read_bytes(mill_run *run, const void *bytes, size_t length,
                              const pp_plan **ret_plan) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, bytes, length), ==, (ssize_t)length);
    char path[64];
    g_snprintf(path, sizeof path, PATH_FORMAT, fd);
    uint64_t left_out;
    mill_status status = pp_torch_read(run, path, ret_plan, &left_out);
    close(fd);
    return status;
}

static void put(GString *text, const pp_plan *plan, uint32_t rank, const pp_item *item) {
    static const char kinds[] = "?FBIW";
    const uint32_t *stage = plan->stage + rank * plan->chunks;
    if (item->op.kind == MILL_OP_PAIR)
        g_string_append_printf(text, "(%uF%u;%uB%u)OVERLAP_F_B,", stage[item->op.chunk], item->mb,
                               stage[item->op.chunk2], item->mb2);
    else
        g_string_append_printf(text, "%u%c%u,", stage[item->op.chunk], kinds[item->op.kind],
                               item->mb);
}

/* Also the order of a rank, as a text to compare. */
static GString *written(mill_run *run, const pp_plan *plan) {
    GString *text = g_string_new(NULL);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        pp_cursor *c = pp_cursor_at(run, plan, rank);
        for (pp_item item; pp_next(c, &item);)
            put(text, plan, rank, &item);
        g_string_append_c(text, '\n');
    }
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    const pp_plan *plan, *again;
    const char *fault;
    mill_status status = read_bytes(run, data, size, &plan);
    if (status == MILL_OK) {
        g_assert_true(pp_whole(run, plan, &fault));
        g_autoptr(GString) text = written(run, plan);
        g_assert_cmpint(read_bytes(run, text->str, text->len, &again), ==, MILL_OK);
        g_autoptr(GString) same = written(run, again);
        g_assert_cmpstr(text->str, ==, same->str);
    } else {
        g_assert_cmpint(status, ==, MILL_E_DATA);
        g_assert_true(g_str_has_prefix(bench_causes(b), "/proc/self/fd/"));
        g_assert_true(g_utf8_validate(bench_causes(b), -1, NULL));
    }
    bench_destroy(b);
    return 0;
}
