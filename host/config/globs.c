/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of file patterns, and the keys of what they match. */
#include "config/globs.h"

#include <errno.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "config/natural.h"

/* One GLOB setting being expanded. */
typedef struct expansion {
    const setting *s;
    bool missing_ok;
    bool has_args; /* some are named on the command line */
    problems *p;
    GPtrArray *files;  /* of globs_file * */
    GHashTable *paths; /* those of `files` */
    bool failed;
} expansion;

static void file_free(gpointer data) {
    globs_file *file = data;
    g_free(file->path);
    g_free(file->key);
    g_free(file);
}

static bool has_wildcard(const char *text) {
    return text[strcspn(text, "*?[")] != '\0';
}

/* Adds a file, unless it is there already. Takes `key`. */
static void add_file(expansion *x, const char *path, char *key) {
    if (g_hash_table_contains(x->paths, path)) {
        g_free(key);
        return;
    }
    globs_file *file = g_new(globs_file, 1);
    *file = (globs_file){.path = g_strdup(path), .key = key};
    g_hash_table_add(x->paths, file->path);
    g_ptr_array_add(x->files, file);
}

static void missing(expansion *x, const char *pattern, const char *why) {
    if (x->missing_ok)
        return;
    x->failed = true;
    g_autofree char *folder = g_get_current_dir();
    g_autofree char *quoted = problems_quote(pattern);
    bool relative = !g_path_is_absolute(pattern);
    problems_add(x->p, PROBLEM_NOINPUT, MILL_ERROR, x->s->at, NULL, "%s = %s: %s%s%s", x->s->key,
                 quoted, why, relative ? ", searched from " : "", relative ? folder : "");
}

/* ---------------------------------------------------------------- keys */

/* The end of the bracket expression at `c`, or NULL if it is not closed. */
static const char *bracket_end(const char *c) {
    c += 1 + (c[1] == '!' || c[1] == '^');
    return *c ? strchr(c + 1, ']') : NULL;
}

/* Appends the wildcard at `c` as a part of a regular expression; returns where it ends, or NULL if
 * the '[' there is no wildcard. */
static const char *wildcard(const char *c, GString *out) {
    if (*c != '[') {
        g_string_append(out, *c == '*' ? "[^/]*" : "[^/]");
        return c + 1;
    }
    const char *end = bracket_end(c);
    if (!end)
        return NULL;
    bool negated = c[1] == '!' || c[1] == '^';
    g_string_append(out, negated ? "[^/" : "[");
    for (c += 1 + negated; c < end; c++) {
        if (strchr("[]\\^", *c))
            g_string_append_c(out, '\\');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, ']');
    return end + 1;
}

/* A regular expression whose groups are the pattern's runs of wildcards; NULL if it makes none. */
static GRegex *pattern_regex(const char *pattern) {
    if (!g_utf8_validate(pattern, -1, NULL))
        return NULL;
    g_autoptr(GString) out = g_string_new("^");
    bool in_group = false;
    for (const char *c = pattern; *c;) {
        g_autoptr(GString) part = g_string_new(NULL);
        const char *end = strchr("*?[", *c) ? wildcard(c, part) : NULL;
        if (in_group != (end != NULL))
            g_string_append_c(out, end ? '(' : ')');
        in_group = end != NULL;
        if (!end) {
            g_string_append(part, g_ascii_ispunct(*c) ? "\\" : "");
            g_string_append_c(part, *c);
            end = c + 1;
        }
        g_string_append_len(out, part->str, (gssize)part->len);
        c = end;
    }
    g_string_append(out, in_group ? ")$" : "$");
    return g_regex_new(out->str, G_REGEX_DOLLAR_ENDONLY | G_REGEX_DOTALL, 0, NULL);
}

/* What the wildcards matched in `path`, or its base name where that gives nothing to tell it by. */
static char *key_of(GRegex *regex, const char *path) {
    g_autoptr(GString) key = g_string_new(NULL);
    g_autoptr(GMatchInfo) match = NULL;
    if (regex && g_utf8_validate(path, -1, NULL) && g_regex_match(regex, path, 0, &match))
        for (int i = 1; i < g_match_info_get_match_count(match); i++) {
            g_autofree char *part = g_match_info_fetch(match, i);
            if (key->len > 0 && *part)
                g_string_append_c(key, '-');
            g_string_append(key, part);
        }
    /* A key can be a part of a file's name: "", "." and ".." can't. */
    g_autofree char *base = g_path_get_basename(path);
    bool nothing = key->str[strspn(key->str, ".")] == '\0';
    return g_utf8_make_valid(nothing ? base : key->str, -1);
}

/* ---------------------------------------------------------------- files */

static void add_literal(expansion *x, const char *path) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        add_file(x, path, g_strdup("stdin"));
    else if (stat(path, &st) < 0)
        missing(x, path, errno == ENOENT ? "no such file" : g_strerror(errno));
    else if (S_ISDIR(st.st_mode))
        missing(x, path, "it is a folder, not a file");
    else
        add_file(x, path, key_of(NULL, path));
}

static void add_pattern(expansion *x, const char *pattern) {
    bool any = false;
    glob_t found = {0};
    /* GLOB_MARK puts '/' after folders, which are no input. */
    int result = glob(pattern, GLOB_MARK | GLOB_NOSORT | GLOB_NOESCAPE, NULL, &found);
    g_autoptr(GRegex) regex = pattern_regex(pattern);
    for (size_t i = 0; result == 0 && i < found.gl_pathc; i++)
        if (!g_str_has_suffix(found.gl_pathv[i], "/")) {
            add_file(x, found.gl_pathv[i], key_of(regex, found.gl_pathv[i]));
            any = true;
        }
    globfree(&found);
    if (!any)
        missing(x, pattern, "no file matches");
}

static gint compare_files(gconstpointer a, gconstpointer b) {
    const globs_file *x = *(globs_file *const *)a, *y = *(globs_file *const *)b;
    int order = natural_compare(x->key, y->key);
    return order ? order : natural_compare(x->path, y->path);
}

/* Whether '*' matches a part of a path: not "..", nor what is hidden. */
static bool star_matches(const char *part) {
    return *part != '\0' && *part != '.';
}

/* A pattern that matches both paths and keeps them apart, or NULL where there is no obvious one. */
static char *common_pattern(const char *a, const char *b) {
    g_auto(GStrv) first = g_strsplit(a, "/", -1), second = g_strsplit(b, "/", -1);
    if (g_strv_length(first) != g_strv_length(second))
        return NULL;
    for (guint i = 0; first[i]; i++) {
        bool differ = strcmp(first[i], second[i]) != 0;
        if (differ ? !star_matches(first[i]) || !star_matches(second[i]) : has_wildcard(first[i]))
            return NULL;
        if (differ) {
            g_free(first[i]);
            first[i] = g_strdup("*");
        }
    }
    return g_strjoinv("/", first);
}

/* What gives the files keys of their own. Names on the command line are no patterns. */
static char *keys_hint(const expansion *x, const globs_file *a, const globs_file *b) {
    g_autofree char *pattern = common_pattern(a->path, b->path);
    if (!pattern)
        return g_strdup("a key is the file's name: link or rename one of them");
    if (!x->has_args)
        return g_strdup_printf("write a wildcard for the part that differs, such as %s", pattern);
    return g_strdup_printf("instead of the files, give a pattern: --set '%s.%s=%s'", x->s->section,
                           x->s->key, pattern);
}

/* Tells the first pair of files with one key. */
static void check_keys(expansion *x) {
    for (guint i = 1; i < x->files->len; i++) {
        const globs_file *a = x->files->pdata[i - 1], *b = x->files->pdata[i];
        if (strcmp(a->key, b->key) != 0)
            continue;
        g_autofree char *first = problems_quote(a->path), *second = problems_quote(b->path);
        g_autofree char *key = problems_quote(b->key);
        g_autofree char *hint = keys_hint(x, a, b);
        problems_add(x->p, PROBLEM_CONFIG, MILL_ERROR, x->s->at, hint,
                     "%s: %s and %s have the same key %s", x->s->key, first, second, key);
        x->failed = true;
        return;
    }
}

GPtrArray *globs_expand(const setting *s, vars *v, bool missing_ok, problems *p) {
    g_autoptr(GPtrArray) items = vars_expand(v, s, ITEMS_COMMAS, VARS_ARGS, p);
    if (!items)
        return NULL;
    g_autoptr(GHashTable) paths = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(file_free);
    expansion x = {.s = s, .missing_ok = missing_ok, .p = p, .files = files, .paths = paths};
    for (guint i = 0; i < items->len; i++) {
        const value_item *it = items->pdata[i];
        x.has_args |= it->literal;
        if (!it->literal && has_wildcard(it->text))
            add_pattern(&x, it->text);
        else
            add_literal(&x, it->text);
    }
    if (items->len == 0 && !missing_ok) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, s->at, NULL, "%s: expected a file name",
                     s->key);
        return NULL;
    }
    g_ptr_array_sort(files, compare_files);
    check_keys(&x);
    return x.failed ? NULL : g_steal_pointer(&files);
}
