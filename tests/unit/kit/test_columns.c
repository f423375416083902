/* SPDX-License-Identifier: Apache-2.0 */
/* Columns read in blocks against the same rows one by one, over all widths and segments. */
#include <tracemill/kit/columns.h>

#include <glib.h>
#include <string.h>

#define ROWS 40
#define SHIFT 3 /* segments of 8 rows */
#define SEGMENTS (ROWS >> SHIFT)

/* A trace of one column: offsets count from its start. */
typedef struct memory {
    mill_trace trace;
    mill_off segments[SEGMENTS];
    uint8_t cells[SEGMENTS][(1 << SHIFT) * 8];
} memory;

/* Random cells of which some say that they are unknown. */
static mill_column fill(memory *m, uint32_t width) {
    static const uint8_t unknown_i64[] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    for (int s = 0; s < SEGMENTS; s++) {
        m->segments[s] = (mill_off)((char *)m->cells[s] - (char *)m);
        for (size_t i = 0; i < sizeof m->cells[s]; i++)
            m->cells[s][i] = (uint8_t)g_test_rand_int();
        for (uint32_t i = 0; i + width <= sizeof m->cells[s] && width; i += 3 * width)
            memcpy(m->cells[s] + i, unknown_i64 + 8 - width, width);
        for (uint32_t i = width; i + width <= sizeof m->cells[s] && width; i += 4 * width)
            memset(m->cells[s] + i, 0xff, width);
    }
    return (mill_column){.segments = (mill_off)((char *)m->segments - (char *)m),
                         .width = width,
                         .seg_shift = SHIFT};
}

static void check(const memory *m, const mill_column *column, uint64_t first, size_t n) {
    int64_t i64[ROWS];
    uint32_t u32[ROWS];
    uint8_t u8[ROWS];
    kit_read_i64(&m->trace, column, first, n, i64);
    if (column->width <= 4)
        kit_read_u32(&m->trace, column, first, n, u32);
    if (column->width == 1)
        kit_read_u8(&m->trace, column, first, n, u8);
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpint(i64[i], ==, mill_i64(&m->trace, column, first + i));
        if (column->width <= 4)
            g_assert_cmpuint(u32[i], ==, mill_u32(&m->trace, column, first + i));
        if (column->width == 1)
            g_assert_cmpuint(u8[i], ==, mill_u8(&m->trace, column, first + i));
    }
}

static void test_widths(void) {
    static const uint32_t widths[] = {0, 1, 2, 4, 8};
    for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
        memory *m = g_new0(memory, 1);
        mill_column column = fill(m, widths[w]);
        for (uint64_t first = 0; first < ROWS; first++)
            for (size_t n = 0; first + n <= ROWS; n++)
                check(m, &column, first, n);
        g_free(m);
    }
}

static void test_blocks(void) {
    g_assert_cmpuint(kit_block_rows(10, 0), ==, 10);
    g_assert_cmpuint(kit_block_rows(KIT_BLOCK + 3, KIT_BLOCK), ==, 3);
    g_assert_cmpuint(kit_block_rows(3 * KIT_BLOCK, KIT_BLOCK), ==, KIT_BLOCK);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/columns/widths", test_widths);
    g_test_add_func("/kit/columns/blocks", test_blocks);
    return g_test_run();
}
