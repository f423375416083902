/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of detail: see levels.h. */
#include "levels.h"

/* ---------------------------------------------------------------- adding up */

/* The bin that is being filled, and whole bins that may go on. */
typedef struct walk {
    levels_take take;
    void *arg;
    uint64_t width, bin;
    uint64_t ticks[KINDS_CLASSES];
    uint32_t touched[KINDS_CLASSES]; /* the classes in the bin, sorted */
    unsigned n_touched;
    levels_piece whole; /* run 0: none */
} walk;

static void end_whole(walk *w) {
    if (w->whole.run)
        w->take(w->arg, &w->whole);
    w->whole.run = 0;
}

static void add_whole(walk *w, uint64_t bin, uint64_t run, uint32_t cls) {
    if (w->whole.run && w->whole.cls == cls && w->whole.bin + w->whole.run == bin) {
        w->whole.run += run;
        return;
    }
    end_whole(w);
    w->whole = (levels_piece){bin, run, cls, w->width};
}

static void end_bin(walk *w) {
    if (w->n_touched == 1 && w->ticks[w->touched[0]] == w->width) {
        add_whole(w, w->bin, 1, w->touched[0]);
    } else if (w->n_touched) {
        end_whole(w);
        for (unsigned i = 0; i < w->n_touched; i++) {
            levels_piece piece = {w->bin, 1, w->touched[i], w->ticks[w->touched[i]]};
            w->take(w->arg, &piece);
        }
    }
    for (unsigned i = 0; i < w->n_touched; i++)
        w->ticks[w->touched[i]] = 0;
    w->n_touched = 0;
}

static void add_part(walk *w, uint64_t bin, uint32_t cls, uint64_t ticks) {
    if (bin != w->bin)
        end_bin(w);
    w->bin = bin;
    if (w->ticks[cls] == 0) {
        unsigned i = w->n_touched++;
        for (; i > 0 && w->touched[i - 1] > cls; i--)
            w->touched[i] = w->touched[i - 1];
        w->touched[i] = cls;
    }
    w->ticks[cls] += ticks;
}

void levels_walk(const lanes_row *row, const kinds *k, uint64_t width, levels_take take,
                 void *arg) {
    walk w = {.take = take, .arg = arg, .width = width};
    for (size_t i = 0; i < row->n; i++) {
        uint64_t start = (uint64_t)row->v[i].start, end = (uint64_t)row->v[i].end;
        uint32_t cls = kinds_at(k, row->v[i].kind).cls;
        uint64_t first = start / width, last = (end - 1) / width;
        if (first == last) {
            add_part(&w, first, cls, end - start);
            continue;
        }
        add_part(&w, first, cls, (first + 1) * width - start);
        if (last > first + 1) {
            end_bin(&w);
            add_whole(&w, first + 1, last - first - 1, cls);
        }
        add_part(&w, last, cls, end - last * width);
    }
    end_bin(&w);
    end_whole(&w);
}

/* ---------------------------------------------------------------- bytes */

static void put(GByteArray *bytes, uint64_t value) {
    guint8 out[10];
    guint n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (guint8)(value | 0x80);
    out[n++] = (guint8)value;
    g_byte_array_append(bytes, out, n);
}

static unsigned length(uint64_t value) {
    return value < 0x80 ? 1 : (unsigned)(64 - __builtin_clzll(value) + 6) / 7;
}

void levels_exact(const lanes_row *row, GByteArray *bytes) {
    int64_t end = 0;
    for (size_t i = 0; i < row->n; i++) {
        put(bytes, (uint64_t)(row->v[i].start - end));
        put(bytes, (uint64_t)(row->v[i].end - row->v[i].start));
        put(bytes, row->v[i].kind);
        end = row->v[i].end;
    }
}

typedef struct writing {
    GByteArray *bytes; /* NULL: only the length is wanted */
    uint64_t length, last, width;
} writing;

static void write_piece(void *arg, const levels_piece *piece) {
    writing *w = arg;
    bool whole = piece->ticks == w->width;
    uint64_t head = 2 * (piece->bin - w->last) + whole, amount = whole ? piece->run : piece->ticks;
    w->last = piece->bin + piece->run - 1;
    if (!w->bytes) {
        w->length += length(head) + length(piece->cls) + length(amount);
        return;
    }
    put(w->bytes, head);
    put(w->bytes, piece->cls);
    put(w->bytes, amount);
}

void levels_bins(const lanes_row *row, const kinds *k, uint64_t width, GByteArray *bytes) {
    writing w = {.bytes = bytes, .width = width};
    levels_walk(row, k, width, write_piece, &w);
}

uint64_t levels_bins_size(const lanes_row *row, const kinds *k, uint64_t width) {
    writing w = {.width = width};
    levels_walk(row, k, width, write_piece, &w);
    return w.length;
}

/* Wider bins take less, but for small differences, so that halving finds the place, and a few steps
 * mend it. */
uint64_t levels_fit(const lanes_row *row, const kinds *k, int64_t span, uint64_t limit) {
    unsigned fine = 0, coarse = 0;
    while (coarse < 53 && (INT64_C(1) << coarse) < span)
        coarse++;
    unsigned most = coarse;
    while (fine < coarse) {
        unsigned middle = (fine + coarse) / 2;
        if (levels_bins_size(row, k, UINT64_C(1) << middle) <= limit)
            coarse = middle;
        else
            fine = middle + 1;
    }
    for (; fine <= most; fine++)
        if (levels_bins_size(row, k, UINT64_C(1) << fine) <= limit)
            return UINT64_C(1) << fine;
    return 0;
}
