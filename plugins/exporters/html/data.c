/* SPDX-License-Identifier: Apache-2.0 */
/* What the script of a timeline reads: see data.h. */
#include "data.h"
#include "escape.h"
#include "levels.h"
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>

#define LABEL_CHARS 200
#define ROW_BYTES 48 /* of JSON around the bytes of a row */

static const lanes_lane *lane_at(const lanes *l, guint i) {
    return g_ptr_array_index(l->lanes, i);
}

static void append_label(GString *json, const char *text) {
    g_autofree char *label = escape_cut(text, LABEL_CHARS);
    escape_json(json, label);
}

/* ---------------------------------------------------------------- the head */

static void append_classes(const lanes *l, GString *json) {
    g_string_append(json, "\"classes\":[");
    for (size_t i = 0; i < kinds_n_classes(l->kinds); i++) {
        const kinds_class *cls = kinds_class_at(l->kinds, i);
        g_string_append_printf(json, "%s{\"name\":", i ? "," : "");
        append_label(json, cls->name);
        g_string_append_printf(json, ",\"colour\":%u,\"hatched\":%s}", cls->colour,
                               cls->hatched ? "true" : "false");
    }
    g_string_append(json, "],\n\"texts\":[");
    for (size_t i = 0; i < kinds_n_texts(l->kinds); i++) {
        g_autofree char *text = kinds_text_at(l->kinds, i);
        g_string_append(json, i ? "," : "");
        escape_json(json, text);
    }
    g_string_append(json, "],\n\"kinds\":[");
    for (size_t i = 0; i < kinds_n(l->kinds); i++) {
        kinds_kind kind = kinds_at(l->kinds, i);
        g_string_append_printf(json, "%s%u,%d", i ? "," : "", kind.cls,
                               kind.text == KINDS_NO_TEXT ? -1 : (int)kind.text);
    }
    g_string_append(json, "],\n");
}

static uint64_t append_marks(const lanes *l, uint64_t limit, GString *json) {
    gsize begin = json->len;
    uint64_t left_out = 0;
    g_string_append(json, "\"marks\":[");
    for (guint i = 0; i < l->marks->len; i++) {
        const lanes_mark *mark = &g_array_index(l->marks, lanes_mark, i);
        if (json->len - begin > limit) {
            left_out = l->marks->len - i;
            break;
        }
        g_string_append_printf(json, "%s{\"at\":%" PRId64 ",\"level\":%d,\"rule\":", i ? "," : "",
                               mark->at, (int)mark->finding->level);
        append_label(json, mark->finding->rule);
        g_string_append(json, ",\"where\":");
        append_label(json, mark->finding->where);
        g_string_append_c(json, '}');
    }
    g_string_append(json, "],\n");
    return left_out;
}

/* n_lanes: so many are there. */
static uint64_t append_waits(const GArray *waits, guint n_lanes, uint64_t limit, GString *json) {
    gsize begin = json->len;
    uint64_t left_out = 0;
    g_string_append(json, "\"waits\":[");
    for (guint i = 0, n = 0; i < waits->len; i++) {
        const waits_gap *gap = &g_array_index(waits, waits_gap, i);
        if (json->len - begin > limit) {
            left_out = waits->len - i;
            break;
        }
        if (gap->lane >= n_lanes)
            continue;
        g_autofree char *text = waits_text(gap);
        g_string_append_printf(json,
                               "%s{\"lane\":%u,\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"cause\":",
                               n++ ? "," : "", gap->lane, gap->start, gap->end);
        append_label(json, waits_cause(gap));
        g_string_append(json, ",\"text\":");
        append_label(json, text);
        if (gap->blocker_lane >= 0 && (guint)gap->blocker_lane < n_lanes)
            g_string_append_printf(json, ",\"other\":%d,\"at\":%" PRId64, gap->blocker_lane,
                                   gap->blocker_end);
        g_string_append_c(json, '}');
    }
    g_string_append(json, "],\n");
    return left_out;
}

/* ---------------------------------------------------------------- rows */

/* A row as it stands in the page. width 0: exact; bytes NULL: nothing of it fits. */
typedef struct packed {
    const lanes_row *row;
    GByteArray *bytes;
    uint64_t width;
} packed;

static int compare_sizes(const void *a, const void *b) {
    guint x = *(const guint *)a, y = *(const guint *)b;
    return (x > y) - (x < y);
}

/* The most that a row may take, so that all together take `limit`: those that need less leave the
 * rest to the others. */
static uint64_t share_of(const packed *rows, guint n, uint64_t limit) {
    g_autofree guint *sizes = g_new(guint, n + 1u);
    for (guint i = 0; i < n; i++)
        sizes[i] = rows[i].bytes->len;
    qsort(sizes, n, sizeof *sizes, compare_sizes);
    for (guint i = 0; i < n; i++) {
        if (sizes[i] > limit / (n - i))
            return limit / (n - i);
        limit -= sizes[i];
    }
    return UINT64_MAX;
}

/* limit: of bytes before base64. */
static void pack(const lanes *l, packed *rows, guint n, uint64_t limit, data_limits *limits) {
    for (guint i = 0; i < n; i++) {
        rows[i].bytes = g_byte_array_new();
        levels_exact(rows[i].row, rows[i].bytes);
        limits->whole += (rows[i].bytes->len + 2) / 3 * 4;
    }
    uint64_t share = share_of(rows, n, limit);
    for (guint i = 0; i < n; i++) {
        if (rows[i].bytes->len <= share) {
            limits->exact++;
            continue;
        }
        g_byte_array_unref(rows[i].bytes);
        rows[i].bytes = NULL;
        rows[i].width = levels_fit(rows[i].row, l->kinds, l->span, share);
        if (rows[i].width == 0) {
            limits->omitted++;
            continue;
        }
        rows[i].bytes = g_byte_array_new();
        levels_bins(rows[i].row, l->kinds, rows[i].width, rows[i].bytes);
        limits->coarse++;
        limits->coarsest_ns = MAX(limits->coarsest_ns, (int64_t)rows[i].width * l->tick_ns);
    }
}

/* Which intervals belong to which marks. left: how many more may be told. */
static void append_row_marks(const lanes_row *row, unsigned *left, GString *json) {
    bool any = false;
    for (size_t i = 0; i<row->n && * left> 0; i++) {
        if (row->v[i].mark < 0)
            continue;
        g_string_append_printf(json, any ? ",%zu,%d" : ",\"marks\":[%zu,%d", i, row->v[i].mark);
        any = true;
        --*left;
    }
    if (any)
        g_string_append_c(json, ']');
}

static void append_row(const packed *p, unsigned *left, GString *json) {
    if (!p->bytes) {
        g_string_append(json, "{}");
        return;
    }
    g_autofree char *text = g_base64_encode(p->bytes->data, p->bytes->len);
    if (p->width)
        g_string_append_printf(json, "{\"width\":%" PRIu64 ",\"bins\":\"%s\"}", p->width, text);
    else
        g_string_append_printf(json, "{\"exact\":\"%s\"", text);
    if (!p->width) {
        append_row_marks(p->row, left, json);
        g_string_append_c(json, '}');
    }
}

static void append_lane_head(const lanes *l, guint i, GString *json) {
    g_autofree char *group = picture_group(l, i);
    g_string_append(json, i ? ",\n{\"label\":" : "{\"label\":");
    append_label(json, lane_at(l, i)->lane->label);
    if (group) {
        g_string_append(json, ",\"group\":");
        append_label(json, group);
    }
    g_string_append(json, ",\"rows\":[");
}

/* How many lanes have room for their labels, in half of what is left. */
static guint lanes_that_fit(const lanes *l, uint64_t limit, guint *ret_rows, uint64_t *ret_bytes) {
    GString *head = g_string_new(NULL);
    guint n = 0, rows = 0;
    for (; n < l->lanes->len; n++) {
        gsize before = head->len;
        append_lane_head(l, n, head);
        if (head->len + (uint64_t)(rows + lane_at(l, n)->n_rows) * ROW_BYTES > limit) {
            g_string_truncate(head, before);
            break;
        }
        rows += lane_at(l, n)->n_rows;
    }
    *ret_bytes = head->len + (uint64_t)rows * ROW_BYTES;
    *ret_rows = rows;
    g_string_free(head, TRUE);
    return n;
}

void data_append(const lanes *l, const GArray *waits, uint64_t budget, GString *page,
                 data_limits *ret_limits) {
    gsize begin = page->len;
    data_limits limits = {0};
    unsigned row_marks = l->marks->len ? (unsigned)MIN(budget / 256, 1000) : 0;
    g_string_append_printf(page,
                           "{\"tick\":%" PRId64 ",\"span\":%" PRId64 ",\"from\":%" PRId64 ",\n",
                           l->tick_ns, l->span, lanes_from(l));
    append_classes(l, page);
    limits.marks = append_marks(l, budget / 16, page);
    limits.waits = append_waits(waits, l->lanes->len, budget / 16, page);
    uint64_t left = budget > page->len - begin ? budget - (page->len - begin) : 0, heads;
    left -= MIN(left, row_marks * 16u);
    guint n_rows, n = lanes_that_fit(l, left / 2, &n_rows, &heads);
    limits.lanes = l->lanes->len - n;
    limits.whole = (page->len - begin) + heads;
    g_autofree packed *rows = g_new0(packed, n_rows + 1);
    for (guint i = 0, r = 0; i < n; i++)
        for (unsigned k = 0; k < lane_at(l, i)->n_rows; k++)
            rows[r++].row = &lane_at(l, i)->rows[k];
    pack(l, rows, n_rows, (left - heads) / 4 * 3, &limits);
    g_string_append(page, "\"lanes\":[");
    for (guint i = 0, r = 0; i < n; i++) {
        append_lane_head(l, i, page);
        for (unsigned k = 0; k < lane_at(l, i)->n_rows; k++, r++) {
            g_string_append(page, k ? "," : "");
            append_row(&rows[r], &row_marks, page);
            if (rows[r].bytes)
                g_byte_array_unref(rows[r].bytes);
        }
        g_string_append(page, "]}");
    }
    g_string_append(page, "]}");
    *ret_limits = limits;
}
