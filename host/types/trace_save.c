/* SPDX-License-Identifier: Apache-2.0 */
/* Saves mill.trace/1: segments go to the sink from where they lie. */
#include <string.h>

#include "types/trace.h"
#include "types/writing.h"

/* Offsets of the facts that are texts. */
static const size_t facts[] = {offsetof(mill_trace, path), offsetof(mill_trace, writer),
                               offsetof(mill_trace, backend)};

static const char *fact_at(const mill_trace *t, size_t i) {
    return mill_at(t, *(const mill_off *)(const void *)((const char *)t + facts[i]));
}

/* There may be segments without, which nobody reads. */
static bool has_cells(const mill_column *c, uint64_t rows) {
    return c->segments != 0 && c->width > 0 && rows > 0;
}

static void save_struct(writer *w, const mill_trace *t, uint32_t size) {
    mill_trace image = {0};
    memcpy(&image, t, size);
    image.size = size;
    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++) {
        mill_off number = (mill_off)writer_number(w, fact_at(t, i));
        memcpy((char *)&image + facts[i], &number, sizeof number);
    }
    for (size_t k = 0; k < trace_n_tables && trace_has(&trace_tables[k], size); k++)
        for (size_t i = 0; i < trace_tables[k].n; i++) {
            mill_column *c = trace_column_at(&image, &trace_tables[k], i);
            c->segments = has_cells(c, trace_rows(t, trace_tables[k].at));
            if (trace_tables[k].columns[i].kind == COLUMN_TEXT)
                *c = (mill_column){0};
        }
    writer_align(w, 8);
    writer_put(w, &image, size);
    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++)
        writer_text(w, fact_at(t, i));
}

static void save_column(writer *w, const mill_trace *t, const mill_column *c, uint64_t rows) {
    for (uint64_t s = 0; has_cells(c, rows) && s < trace_segments(c, rows); s++)
        writer_array(w, mill_segment(t, c, s), mill_segment_rows(c, rows, s) * c->width);
}

/* Texts hold NULs of their own, for all that is known, and are no UTF-8. */
static void save_texts(writer *w, const mill_trace *t, const mill_texts *texts) {
    for (uint32_t i = 0; i < texts->n; i++)
        writer_put(w, mill_text(t, texts, i), (uint64_t)mill_u32(t, &texts->length, i) + 1);
}

mill_status trace_save(mill_run *run, const void *data, mill_sink *sink) {
    (void)run;
    const mill_trace *t = data;
    uint32_t size = (uint32_t)MIN(t->size, sizeof *t);
    writer w;
    writer_init(&w, sink, MILL_TYPE_TRACE);
    save_struct(&w, t, size);
    for (size_t k = 0; k < trace_n_tables && trace_has(&trace_tables[k], size); k++) {
        const trace_table *table = &trace_tables[k];
        for (size_t i = 0; i < table->n; i++)
            if (table->columns[i].kind != COLUMN_TEXT)
                save_column(&w, t, trace_column_at(t, table, i), trace_rows(t, table->at));
        if (table->columns[0].kind == COLUMN_TEXT)
            save_texts(&w, t, (const mill_texts *)(const void *)((const char *)t + table->at));
    }
    return writer_finish(&w);
}
