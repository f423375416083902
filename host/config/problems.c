/* SPDX-License-Identifier: Apache-2.0 */
/* The list of problems of one check: order, printing, exit code. */
#include "config/problems.h"

#include <string.h>

#include "config/visible.h"

enum {
    SHOWN_MAX = 50,
    KEPT_MAX = 1000, /* a file of rubbish has a problem a line: the rest is only counted */
    QUOTED_MAX = 80, /* bytes */
    TEXT_MAX = 1000, /* characters of a problem's text or hint: it may quote anything */
};

struct problems {
    GPtrArray *list;  /* of entry * */
    GPtrArray *files; /* names in the order of reading */
    GHashTable *seen; /* place and text of each in `list` */
    bool sorted;
    size_t count, errors, errors_of[PROBLEM_KINDS];
};

/* A problem with its place in the order of showing. */
typedef struct entry {
    problem shown; /* first: problems_get gives its address */
    guint file;    /* index in `files`; --set arguments come after all files */
    size_t number; /* order of adding, the last word */
} entry;

static void entry_free(gpointer data) {
    entry *e = data;
    g_free((char *)e->shown.at.text);
    g_free(e->shown.text);
    g_free(e->shown.hint);
    g_free(e);
}

problems *problems_create(void) {
    problems *p = g_new0(problems, 1);
    p->list = g_ptr_array_new_with_free_func(entry_free);
    p->files = g_ptr_array_new_with_free_func(g_free);
    p->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return p;
}

void problems_destroy(problems *p) {
    if (!p)
        return;
    g_ptr_array_unref(p->list);
    g_ptr_array_unref(p->files);
    g_hash_table_unref(p->seen);
    g_free(p);
}

/* Valid UTF-8, cut when long. Names of files may be any bytes. */
static char *presentable(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (g_utf8_strlen(valid, -1) <= TEXT_MAX)
        return g_steal_pointer(&valid);
    *g_utf8_offset_to_pointer(valid, TEXT_MAX) = '\0';
    return g_strconcat(valid, "…", NULL);
}

static guint file_index(problems *p, const char *file) {
    guint i;
    g_autofree char *valid = g_utf8_make_valid(file, -1);
    if (g_ptr_array_find_with_equal_func(p->files, valid, g_str_equal, &i))
        return i;
    g_ptr_array_add(p->files, g_steal_pointer(&valid));
    return p->files->len - 1;
}

void problems_note_file(problems *p, const char *file) {
    file_index(p, file);
}

char *origin_format(origin at) {
    if (!at.file)
        return g_strdup(at.text ? at.text : "");
    return at.line ? g_strdup_printf("%s:%u", at.file, at.line) : g_strdup(at.file);
}

void problems_add(problems *p, problem_kind kind, mill_level level, origin at, const char *hint,
                  const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *written = g_strdup_vprintf(format, args);
    va_end(args);

    g_autofree char *text = presentable(written);
    g_autofree char *at_all = origin_format(at), *where = presentable(at_all);
    bool kept = p->list->len < KEPT_MAX;
    if (kept && !g_hash_table_add(p->seen, g_strconcat(where, "\n", text, NULL)))
        return;
    p->count++;
    if (level == MILL_ERROR) {
        p->errors++;
        p->errors_of[kind]++;
    }
    if (!kept)
        return;
    entry *e = g_new0(entry, 1);
    e->number = p->count;
    e->file = G_MAXUINT;
    e->shown = (problem){.kind = kind, .level = level, .hint = hint ? presentable(hint) : NULL};
    e->shown.text = g_steal_pointer(&text);
    e->shown.at = (origin){.line = at.line, .text = at.file ? NULL : g_steal_pointer(&where)};
    if (at.file) {
        e->file = file_index(p, at.file);
        e->shown.at.file = g_ptr_array_index(p->files, e->file);
    }
    g_ptr_array_add(p->list, e);
    p->sorted = false;
}

static gint compare_entries(gconstpointer a, gconstpointer b) {
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->shown.at.line != y->shown.at.line)
        return x->shown.at.line < y->shown.at.line ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

size_t problems_errors(const problems *p) {
    return p->errors;
}

const problem *problems_get(problems *p, size_t i) {
    if (!p->sorted) {
        g_ptr_array_sort(p->list, compare_entries);
        p->sorted = true;
    }
    return i < p->list->len ? &((entry *)g_ptr_array_index(p->list, i))->shown : NULL;
}

int problems_exit_code(const problems *p) {
    if (p->errors == 0)
        return 0;
    if (p->errors_of[PROBLEM_PLUGIN] > 0)
        return 70;
    if (p->errors_of[PROBLEM_TIMEOUT] > 0)
        return 75;
    if (p->errors_of[PROBLEM_NOINPUT] == p->errors)
        return 66;
    return p->errors_of[PROBLEM_MODULE] == p->errors ? 69 : 78;
}

char *problems_format(problems *p, bool colour) {
    GString *out = g_string_new(NULL);
    const problem *q;
    for (size_t i = 0; i < SHOWN_MAX && (q = problems_get(p, i)); i++) {
        g_autofree char *at = origin_format(q->at), *where = visible(at), *text = visible(q->text);
        const char *word = q->level == MILL_ERROR ? "error" : "warning";
        if (colour)
            g_string_append_printf(out, "\033[1m%s:\033[0m \033[1;%dm%s:\033[0m %s\n", where,
                                   q->level == MILL_ERROR ? 31 : 35, word, text);
        else
            g_string_append_printf(out, "%s: %s: %s\n", where, word, text);
        if (q->hint) {
            g_autofree char *hint = visible(q->hint);
            g_string_append_printf(out, "  hint: %s\n", hint);
        }
    }
    if (p->count > SHOWN_MAX)
        g_string_append_printf(out, "… and %zu more\n", p->count - SHOWN_MAX);
    return g_string_free(out, false);
}

cJSON *problems_to_json(problems *p) {
    static const char *const kinds[] = {"config", "no-input", "module", "plugin", "timeout"};
    cJSON *array = cJSON_CreateArray();
    const problem *q;
    for (size_t i = 0; (q = problems_get(p, i)); i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "level", q->level == MILL_ERROR ? "error" : "warning");
        cJSON_AddStringToObject(object, "kind", kinds[q->kind]);
        if (q->at.file)
            cJSON_AddStringToObject(object, "file", q->at.file);
        else
            cJSON_AddStringToObject(object, "origin", q->at.text);
        if (q->at.line)
            cJSON_AddNumberToObject(object, "line", q->at.line);
        cJSON_AddStringToObject(object, "text", q->text);
        if (q->hint)
            cJSON_AddStringToObject(object, "hint", q->hint);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

char *problems_quote(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)strnlen(text, QUOTED_MAX * 4));
    GString *out = g_string_new("\"");
    for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
        if (out->len > QUOTED_MAX) {
            g_string_append(out, "…");
            break;
        }
        if (*c == '\n')
            g_string_append(out, "\\n");
        else
            visible_append(out, g_utf8_get_char(c));
    }
    g_string_append_c(out, '"');
    return g_string_free(out, false);
}
