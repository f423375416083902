/* SPDX-License-Identifier: Apache-2.0 */
/* Loads mill.trace/1 in place. */
#include <inttypes.h>
#include <string.h>

#include "types/trace.h"
#include "types/writing.h"

#define ROWS_MOST UINT32_MAX /* rows are named by uint32 numbers, of which one means none */
#define SEG_SHIFT_MOST 32
#define TEXT_SEG_SHIFT 16 /* of the column that is made here */

static mill_off offset_of(const mill_trace *t, const void *at) {
    return (mill_off)((uintptr_t)at - (uintptr_t)t);
}

/* ---------------------------------------------------------------- the struct */

static bool load_fact(reader *r, mill_trace *t, mill_off *fact) {
    const char *text;
    if (!reader_text(r, (uint64_t)*fact, &text))
        return false;
    *fact = text != NULL ? offset_of(t, text) : 0;
    return true;
}

static bool load_struct(reader *r, mill_trace *t) {
    const uint32_t *begin = reader_take(r, 0, 8);
    if (begin == NULL || !reader_has(r, sizeof *begin, 1))
        return false;
    uint32_t size = *begin;
    if (size < TRACE_LEAST_SIZE || size > sizeof *t)
        return reader_wrong(r,
                            "a struct of %u bytes, expected %u to %zu; use a newer tracemill if it "
                            "was written by one",
                            size, TRACE_LEAST_SIZE, sizeof *t);
    const void *image = reader_take(r, size, 8);
    if (image == NULL)
        return false;
    memcpy(t, image, size);
    return load_fact(r, t, &t->path) && load_fact(r, t, &t->writer) &&
           load_fact(r, t, &t->backend) &&
           (t->complete <= 1 || reader_wrong(r, "complete is %u", t->complete));
}

/* ---------------------------------------------------------------- columns */

static bool load_segments(reader *r, mill_trace *t, const trace_table *table, size_t i) {
    const trace_column *column = &table->columns[i];
    mill_column *c = trace_column_at(t, table, i);
    uint64_t rows = trace_rows(t, table->at), n = trace_segments(c, rows);
    if (!reader_has(r, rows, c->width)) /* before there is memory for the offsets */
        return false;
    mill_off *offsets = reader_alloc(r, n * sizeof *offsets);
    for (uint64_t s = 0; s < n; s++) {
        uint64_t here = mill_segment_rows(c, rows, s);
        const void *cells = reader_array(r, here, c->width);
        if (cells == NULL)
            return false;
        if (!trace_cells_fit(t, column, c->width, cells, s << c->seg_shift, here))
            return reader_wrong(r,
                                "of rows %" PRIu64 " to %" PRIu64
                                " of %s.%s one is not what it may be, or names a row that is not "
                                "there",
                                s << c->seg_shift, (s << c->seg_shift) + here - 1, table->name,
                                column->name);
        offsets[s] = offset_of(t, cells);
    }
    c->segments = offset_of(t, offsets);
    return true;
}

static bool load_column(reader *r, mill_trace *t, const trace_table *table, size_t i) {
    const trace_column *column = &table->columns[i];
    mill_column *c = trace_column_at(t, table, i);
    uint64_t rows = trace_rows(t, table->at);
    bool fits = trace_width_fits(column, c->width) || (rows == 0 && c->width <= 8);
    if (!fits || c->seg_shift > SEG_SHIFT_MOST ||
        c->segments != (rows > 0 && c->width > 0 && column->kind != COLUMN_TEXT))
        return reader_wrong(r, "%s.%s has %u bytes a row, and segments of 2^%u rows", table->name,
                            column->name, c->width, c->seg_shift);
    return c->segments == 0 || load_segments(r, t, table, i);
}

/* Where each text lies, which follows from the lengths. */
static bool place_texts(reader *r, const mill_trace *t, const mill_texts *texts,
                        mill_off *ret_offsets) {
    for (uint32_t i = 0; i < texts->n; i++) {
        uint64_t length = mill_u32(t, &texts->length, i);
        const char *text = reader_take(r, length + 1, 1);
        if (text == NULL)
            return false;
        if (text[length] != '\0')
            return reader_wrong(r, "a text is not ended by a NUL");
        ret_offsets[i] = offset_of(t, text);
    }
    return true;
}

static bool load_texts(reader *r, mill_trace *t, mill_texts *texts) {
    if (texts->n == 0)
        return true;
    mill_off *offsets = reader_alloc(r, texts->n * sizeof *offsets);
    texts->text = (mill_column){.width = sizeof(mill_off), .seg_shift = TEXT_SEG_SHIFT};
    uint64_t n = trace_segments(&texts->text, texts->n);
    mill_off *segments = reader_alloc(r, n * sizeof *segments);
    for (uint64_t s = 0; s < n; s++)
        segments[s] = offset_of(t, offsets + (s << TEXT_SEG_SHIFT));
    texts->text.segments = offset_of(t, segments);
    return place_texts(r, t, texts, offsets);
}

static bool load_table(reader *r, mill_trace *t, const trace_table *table) {
    for (size_t i = 0; i < table->n; i++)
        if (!load_column(r, t, table, i))
            return false;
    if (table->columns[0].kind == COLUMN_TEXT &&
        !load_texts(r, t, (mill_texts *)(void *)((char *)t + table->at)))
        return false;
    return table->times == TIMES_NONE || trace_check_times(r, t, table);
}

/* All numbers of rows before any of the columns that name rows. A row takes a byte at least, but
 * for threads of which nothing is known, and of those there are not many. */
static bool check_rows(reader *r, const mill_trace *t) {
    uint64_t most = MIN(ROWS_MOST, r->length);
    for (size_t k = 0; k < trace_n_tables && trace_has(&trace_tables[k], t->size); k++)
        if (trace_rows(t, trace_tables[k].at) > most)
            return reader_wrong(r, "%s has %" PRIu64 " rows", trace_tables[k].name,
                                trace_rows(t, trace_tables[k].at));
    return true;
}

static bool load_tables(reader *r, mill_trace *t) {
    bool good = check_rows(r, t);
    for (size_t k = 0; good && k < trace_n_tables && trace_has(&trace_tables[k], t->size); k++)
        good = load_table(r, t, &trace_tables[k]);
    return good;
}

mill_status trace_load(mill_run *run, mill_source *source, void **ret_data) {
    reader r;
    bool good = reader_init(&r, run, source, MILL_TYPE_TRACE, sizeof(mill_trace));
    mill_trace *t = r.value;
    good = good && load_struct(&r, t) && load_tables(&r, t);
    return reader_finish(&r, good, ret_data);
}
