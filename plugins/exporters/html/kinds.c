/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of intervals and their colours: see kinds.h. */
#include "kinds.h"
#include "escape.h"

#include <string.h>

#define LABEL_CHARS 200 /* what a tooltip can hold */

typedef struct found {
    uint32_t cls, text;
    uint64_t n;
} found;

struct kinds {
    GHashTable *text_index;  /* text → its number + 1 */
    GPtrArray *texts;        /* const char * */
    GHashTable *class_index; /* number of a text → of a class, + 1 */
    GArray *classes;         /* kinds_class */
    GHashTable *kind_index;  /* class and text in one → number + 1 */
    GArray *found;           /* found */
    uint64_t last_key;
    uint32_t last;

    GArray *kinds;      /* kinds_kind, final */
    GArray *listed;     /* uint32_t: the final texts, as numbers of `texts` */
    uint32_t *final_of; /* preliminary → final */
    char *other;
    uint64_t left_out;
};

kinds *kinds_create(void) {
    kinds *k = g_new0(kinds, 1);
    k->text_index = g_hash_table_new(g_str_hash, g_str_equal);
    k->texts = g_ptr_array_new();
    k->class_index = g_hash_table_new(NULL, NULL);
    k->classes = g_array_new(FALSE, FALSE, sizeof(kinds_class));
    k->kind_index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    k->found = g_array_new(FALSE, FALSE, sizeof(found));
    k->kinds = g_array_new(FALSE, FALSE, sizeof(kinds_kind));
    k->listed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    k->last_key = UINT64_MAX;
    return k;
}

void kinds_destroy(kinds *k) {
    if (!k)
        return;
    g_hash_table_unref(k->text_index);
    g_ptr_array_unref(k->texts);
    g_hash_table_unref(k->class_index);
    g_array_unref(k->classes);
    g_hash_table_unref(k->kind_index);
    g_array_unref(k->found);
    g_array_unref(k->kinds);
    g_array_unref(k->listed);
    g_free(k->final_of);
    g_free(k->other);
    g_free(k);
}

uint32_t kinds_text(kinds *k, const char *text) {
    gpointer number = g_hash_table_lookup(k->text_index, text);
    if (number)
        return GPOINTER_TO_UINT(number) - 1;
    g_ptr_array_add(k->texts, (gpointer)text);
    g_hash_table_insert(k->text_index, (gpointer)text, GUINT_TO_POINTER(k->texts->len));
    return k->texts->len - 1;
}

static uint32_t class_of(kinds *k, uint32_t text) {
    gpointer number = g_hash_table_lookup(k->class_index, GUINT_TO_POINTER(text));
    if (number)
        return GPOINTER_TO_UINT(number) - 1;
    kinds_class cls = {.name = g_ptr_array_index(k->texts, text)};
    g_array_append_val(k->classes, cls);
    g_hash_table_insert(k->class_index, GUINT_TO_POINTER(text), GUINT_TO_POINTER(k->classes->len));
    return k->classes->len - 1;
}

uint32_t kinds_add(kinds *k, uint32_t cls_text, uint32_t label_text, uint64_t ns) {
    uint64_t key = (uint64_t)cls_text << 32 | label_text;
    if (key != k->last_key) {
        gpointer number = g_hash_table_lookup(k->kind_index, &key);
        if (!number) {
            found kind = {class_of(k, cls_text), label_text, 0};
            g_array_append_val(k->found, kind);
            number = GUINT_TO_POINTER(k->found->len);
            g_hash_table_insert(k->kind_index, g_memdup2(&key, sizeof key), number);
        }
        k->last_key = key;
        k->last = GPOINTER_TO_UINT(number) - 1;
    }
    found *kind = &g_array_index(k->found, found, k->last);
    kinds_class *cls = &g_array_index(k->classes, kinds_class, kind->cls);
    kind->n++;
    cls->ns = ns > UINT64_MAX - cls->ns ? UINT64_MAX : cls->ns + ns;
    return k->last;
}

/* ---------------------------------------------------------------- classes */

static gint by_time(gconstpointer a, gconstpointer b, gpointer data) {
    const kinds_class *classes = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (classes[x].ns != classes[y].ns)
        return classes[x].ns > classes[y].ns ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Keeps the classes that take most time, in the order in which they were found; the others are one.
 */
static void merge_classes(kinds *k) {
    uint32_t n = k->classes->len;
    if (n <= KINDS_CLASSES)
        return;
    g_autofree uint32_t *order = g_new(uint32_t, n), *to = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, by_time, k->classes->data);
    for (uint32_t i = 0; i < n; i++)
        to[order[i]] = i < KINDS_CLASSES - 1 ? 0 : 1;
    k->other = g_strdup_printf("other (%u classes)", (unsigned)(n - (KINDS_CLASSES - 1)));
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(kinds_class));
    kinds_class other = {.name = k->other};
    for (uint32_t i = 0; i < n; i++) {
        kinds_class *cls = &g_array_index(k->classes, kinds_class, i);
        if (to[i] == 0) {
            to[i] = kept->len;
            g_array_append_val(kept, *cls);
        } else {
            to[i] = KINDS_CLASSES - 1;
            other.ns = cls->ns > UINT64_MAX - other.ns ? UINT64_MAX : other.ns + cls->ns;
        }
    }
    g_array_append_val(kept, other);
    g_array_unref(k->classes);
    k->classes = kept;
    for (guint i = 0; i < k->found->len; i++) {
        found *kind = &g_array_index(k->found, found, i);
        kind->cls = to[kind->cls];
    }
}

/* Classes of which readers know the colour from page to page. */
static const struct {
    const char *name;
    unsigned colour;
    bool hatched;
} known[] = {
    {"computation", 0, false},
    {"compute", 0, false},
    {"compute only", 0, false},
    {"F", 1, false},
    {"forward", 1, false},
    {"B", 2, false},
    {"backward", 2, false},
    {"Bi", 2, true},
    {"W", 4, false},
    {"weights", 4, false},
    {"F&B", 3, true},
    {"both", 3, false},
    {"communication", 5, false},
    {"comm only", 5, false},
    {"dispatch", 5, false},
    {"combine", 6, false},
    {"notify", 5, true},
    {"barrier", 6, true},
    {"layout", 7, true},
    {"memory", 7, false},
    {"memory only", 7, false},
    {"poll", 7, true},
    {"polls", 7, true},
    {"idle", KINDS_NEUTRAL, false},
    {"bubble", KINDS_NEUTRAL, true},
};

static bool colour_known(kinds_class *cls) {
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].name, cls->name) == 0) {
            cls->colour = known[i].colour;
            cls->hatched = known[i].hatched;
            return true;
        }
    return false;
}

/* Well-known classes have their colour; the others take what is free, first plain, then hatched,
 * and then colours come again. */
static void colour_classes(kinds *k) {
    unsigned uses[2 * KINDS_COLOURS] = {0};
    g_autofree bool *done = g_new0(bool, k->classes->len);
    for (guint i = 0; i < k->classes->len; i++) {
        kinds_class *cls = &g_array_index(k->classes, kinds_class, i);
        done[i] = colour_known(cls);
        if (done[i] && cls->colour < KINDS_COLOURS)
            uses[cls->colour + (cls->hatched ? KINDS_COLOURS : 0)]++;
    }
    for (guint i = 0; i < k->classes->len; i++) {
        kinds_class *cls = &g_array_index(k->classes, kinds_class, i);
        unsigned best = 0;
        for (unsigned c = 1; c < 2 * KINDS_COLOURS; c++)
            if (uses[c] < uses[best])
                best = c;
        if (done[i])
            continue;
        uses[best]++;
        cls->colour = best % KINDS_COLOURS;
        cls->hatched = best >= KINDS_COLOURS;
    }
}

/* ---------------------------------------------------------------- labels */

static gint by_number(gconstpointer a, gconstpointer b, gpointer data) {
    const found *v = data;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (v[x].n != v[y].n)
        return v[x].n > v[y].n ? -1 : 1;
    return x < y ? -1 : 1;
}

/* The texts that are listed, and where. */
typedef struct listing {
    GHashTable *index; /* number of a text → place in `listed`, + 1 */
    uint64_t bytes, limit;
} listing;

static uint32_t list_text(kinds *k, listing *l, uint32_t text) {
    gpointer at = g_hash_table_lookup(l->index, GUINT_TO_POINTER(text));
    uint64_t cost = 12;
    if (!at)
        cost += 3 + MIN(strlen(g_ptr_array_index(k->texts, text)), 4 * LABEL_CHARS);
    if (cost > l->limit - l->bytes)
        return KINDS_NO_TEXT;
    l->bytes += cost;
    if (at)
        return GPOINTER_TO_UINT(at) - 1;
    g_array_append_val(k->listed, text);
    g_hash_table_insert(l->index, GUINT_TO_POINTER(text), GUINT_TO_POINTER(k->listed->len));
    return k->listed->len - 1;
}

void kinds_finish(kinds *k, uint64_t bytes) {
    merge_classes(k);
    colour_classes(k);
    for (uint32_t i = 0; i < k->classes->len; i++) {
        kinds_kind bare = {i, KINDS_NO_TEXT};
        g_array_append_val(k->kinds, bare);
    }
    uint32_t n = k->found->len;
    g_autofree uint32_t *order = g_new(uint32_t, n + 1u);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, by_number, k->found->data);
    k->final_of = g_new(uint32_t, n + 1u);
    listing l = {g_hash_table_new(NULL, NULL), 0, bytes};
    for (uint32_t i = 0; i < n; i++) {
        const found *f = &g_array_index(k->found, found, order[i]);
        const char *text = g_ptr_array_index(k->texts, f->text);
        bool bare = strcmp(text, g_array_index(k->classes, kinds_class, f->cls).name) == 0;
        kinds_kind kind = {f->cls, bare ? KINDS_NO_TEXT : list_text(k, &l, f->text)};
        if (kind.text == KINDS_NO_TEXT) {
            k->left_out += !bare;
            k->final_of[order[i]] = f->cls;
            continue;
        }
        k->final_of[order[i]] = k->kinds->len;
        g_array_append_val(k->kinds, kind);
    }
    g_hash_table_unref(l.index);
}

/* ---------------------------------------------------------------- what was decided */

uint32_t kinds_final(const kinds *k, uint32_t preliminary) {
    return k->final_of[preliminary];
}

size_t kinds_n_classes(const kinds *k) {
    return k->classes->len;
}

const kinds_class *kinds_class_at(const kinds *k, size_t i) {
    return &g_array_index(k->classes, kinds_class, i);
}

size_t kinds_n(const kinds *k) {
    return k->kinds->len;
}

kinds_kind kinds_at(const kinds *k, size_t i) {
    return g_array_index(k->kinds, kinds_kind, i);
}

size_t kinds_n_texts(const kinds *k) {
    return k->listed->len;
}

char *kinds_text_at(const kinds *k, size_t i) {
    const char *text = g_ptr_array_index(k->texts, g_array_index(k->listed, uint32_t, i));
    return escape_cut(text, LABEL_CHARS);
}

uint64_t kinds_left_out(const kinds *k) {
    return k->left_out;
}
