/* SPDX-License-Identifier: Apache-2.0 */
/* The line reader in front of inih.
 *
 * inih asks for line after line; we read the physical line, judge it, and hand over one or more
 * lines that inih can't misread. Debian builds inih with a line buffer of 200 bytes, so a value
 * goes over in pieces, each as a continuation line, between guard bytes that say how it joins and
 * keep its blanks. inih's handler runs before it asks for the next line: so `line` is right in it.
 *
 * What a line is:
 *  - blank, or ';' or '#' after any blanks: nothing, also between the lines of a list;
 *  - `[name]`: a section; `name = value`: a key. Either may be indented;
 *  - any other indented line below a key: one more line of its value. A list item that itself looks
 *    like a section or like `name = …` (a letter, then letters, digits, '_', '-', '.') must
 *    therefore be in quotes.
 * A blank and a ';' begin a comment in every line. */
#include "config/lines.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

/* Bytes that no line may hold, so that they can mark what goes through inih. */
#define MARK_SECTION "\001" /* as a key: a section begins */
#define MARK_START '\001'   /* before a value's first piece */
#define MARK_JOIN '\002'    /* before a piece that goes on where the last ended */
#define MARK_LINE '\003'    /* before the first piece of the value's next line */
#define MARK_END '\004'     /* after each piece */

enum { PIECE = 128 }; /* with the longest key and the marks this fits inih's buffer */

typedef struct reader {
    const char *name;
    const char *rest, *end; /* what is not yet read */
    uint32_t line;          /* of the last line read */
    GQueue feed;            /* char *: lines for inih */
    bool stopped, failed;

    /* What the next lines belong to. */
    bool in_section;             /* false after a wrong header, whose keys are skipped */
    bool seen_header;            /* a key before the first header has been told, or there was one */
    bool in_key;                 /* an indented line may follow */
    bool skip_items;             /* they follow a key with an error */
    GHashTable *sections, *keys; /* name -> line */
    uint32_t section_line;

    /* The value that inih's handler puts together. */
    GString *section, *key, *value;
    uint32_t key_line;
    bool has_value;

    lines_fn fn;
    void *arg;
    problems *p;
} reader;

/* A part of the line at hand. */
typedef struct span {
    const char *s;
    size_t n;
} span;

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static span trim(span t) {
    while (t.n > 0 && is_blank(t.s[0])) {
        t.s++;
        t.n--;
    }
    while (t.n > 0 && is_blank(t.s[t.n - 1]))
        t.n--;
    return t;
}

static void error_at(reader *r, const char *hint, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void error_at(reader *r, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    r->failed = true;
    problems_add(r->p, PROBLEM_CONFIG, MILL_ERROR, (origin){.file = r->name, .line = r->line}, hint,
                 "%s", text);
}

/* ---------------------------------------------------------------- from inih to the caller */

static void flush_value(reader *r) {
    if (!r->has_value)
        return;
    r->has_value = false;
    if (!r->fn(r->arg, r->section->str, r->section_line, r->key->str, r->value->str, r->key_line))
        r->stopped = true;
}

static int on_pair(void *user, const char *section, const char *key, const char *value) {
    reader *r = user;
    if (r->stopped)
        return 1;
    if (strcmp(key, MARK_SECTION) == 0) {
        flush_value(r);
        g_string_assign(r->section, section);
        r->section_line = r->line;
        if (!r->stopped && !r->fn(r->arg, section, r->line, NULL, NULL, r->line))
            r->stopped = true;
        return 1;
    }
    if (value[0] == MARK_START) {
        flush_value(r);
        g_string_assign(r->key, key);
        g_string_truncate(r->value, 0);
        r->key_line = r->line;
        r->has_value = true;
    } else if (value[0] == MARK_LINE && r->value->len > 0) {
        g_string_append_c(r->value, '\n');
    }
    g_string_append_len(r->value, value + 1, (gssize)strlen(value) - 2);
    return 1;
}

/* ---------------------------------------------------------------- from the text to inih */

static void feed(reader *r, char *line) {
    g_queue_push_tail(&r->feed, line);
}

/* Feeds `value` in pieces, the first as that of `key`, or as a continuation if key is empty. */
static void feed_value(reader *r, span key, span value) {
    char mark = key.n > 0 ? MARK_START : MARK_LINE;
    do {
        int n = (int)MIN(value.n, PIECE);
        if (mark == MARK_START)
            feed(r,
                 g_strdup_printf("%.*s=%c%.*s%c", (int)key.n, key.s, mark, n, value.s, MARK_END));
        else
            feed(r, g_strdup_printf(" %c%.*s%c", mark, n, value.s, MARK_END));
        mark = MARK_JOIN;
        value.s += n;
        value.n -= (size_t)n;
    } while (value.n > 0);
}

/* Checks that the name of a section or key fits inih's buffer. */
static bool name_fits(reader *r, const char *what, span name) {
    if (name.n <= LINES_MAX_NAME)
        return true;
    error_at(r, NULL, "%s name is %zu bytes, the limit is %d", what, name.n, LINES_MAX_NAME);
    return false;
}

/* Notes that `name` is found here; returns the line where it was before, or 0. */
static uint32_t first_seen(reader *r, GHashTable *table, const char *name) {
    uint32_t before = GPOINTER_TO_UINT(g_hash_table_lookup(table, name));
    if (!before)
        g_hash_table_insert(table, g_strdup(name), GUINT_TO_POINTER(r->line));
    return before;
}

/* Leaves the section: what follows belongs to a header that may prove wrong. */
static void leave_section(reader *r) {
    r->seen_header = true;
    r->in_section = r->in_key = r->skip_items = false;
}

/* A header: `line` begins with '['. */
static void take_section(reader *r, span line) {
    const char *close = memchr(line.s, ']', line.n);
    if (!close) {
        error_at(r, NULL, "section header has no \"]\"");
        return;
    }
    if (close + 1 < line.s + line.n) {
        error_at(r, "begin a comment with a blank and \";\"", "text after the section header");
        return;
    }
    span name = trim((span){line.s + 1, (size_t)(close - line.s - 1)});
    if (name.n == 0) {
        error_at(r, NULL, "section header has no name");
        return;
    }
    if (!name_fits(r, "section", name))
        return;
    g_autofree char *text = g_strndup(name.s, name.n);
    uint32_t before = first_seen(r, r->sections, text);
    if (before) {
        error_at(r, NULL, "[%s] is already defined at %s:%u", text, r->name, before);
        return;
    }
    r->in_section = true;
    g_hash_table_remove_all(r->keys);
    feed(r, g_strdup_printf("[%s]", text));
    feed(r, g_strdup(MARK_SECTION "="));
}

static void expected_key(reader *r, span line) {
    const char *hint = NULL;
    if (memchr(line.s, ':', line.n))
        hint = "write \"=\" for \":\"";
    else if (r->in_key)
        hint = "a further line of a list begins with blanks";
    error_at(r, hint, "expected key = value");
}

/* `key = value`. Returns false if it is wrong or belongs to no section. */
static bool take_key(reader *r, span line) {
    const char *equals = memchr(line.s, '=', line.n);
    span key = equals ? trim((span){line.s, (size_t)(equals - line.s)}) : (span){line.s, 0};
    if (key.n == 0) {
        expected_key(r, line);
        return false;
    }
    if (memchr(key.s, ':', key.n)) { /* inih would end the key there */
        error_at(r, NULL, "a key can't hold \":\"");
        return false;
    }
    if (!name_fits(r, "key", key))
        return false;
    if (!r->seen_header) {
        r->seen_header = true;
        error_at(r, NULL, "expected a [section] before the first key");
    }
    if (!r->in_section)
        return false;
    g_autofree char *text = g_strndup(key.s, key.n);
    uint32_t before = first_seen(r, r->keys, text);
    if (before) {
        error_at(r, NULL, "\"%s\" is set twice, first at line %u", text, before);
        return false;
    }
    feed_value(r, key, trim((span){equals + 1, (size_t)(line.s + line.n - equals - 1)}));
    return true;
}

/* What an indented line must look like to be no further line of a value. */
static bool looks_like_section(span t) {
    return t.s[0] == '[' && memchr(t.s, ']', t.n) == t.s + t.n - 1;
}

static bool looks_like_key(span t) {
    const char *equals = memchr(t.s, '=', t.n);
    if (!equals || !g_ascii_isalpha(t.s[0]))
        return false;
    span name = trim((span){t.s, (size_t)(equals - t.s)});
    for (size_t i = 0; i < name.n; i++)
        if (!g_ascii_isalnum(name.s[i]) && !strchr("_-.", name.s[i]))
            return false;
    return true;
}

/* Cuts a comment off. Returns false if it begins inside quotes, where the user meant none. */
static bool cut_comment(reader *r, span *line) {
    bool quoted = false;
    for (size_t i = 0; i < line->n; i++) {
        if (line->s[i] == '"')
            quoted = !quoted;
        if (line->s[i] != ';' || i == 0 || !is_blank(line->s[i - 1]))
            continue;
        if (quoted && memchr(line->s + i, '"', line->n - i)) {
            error_at(r, "write it without the blank before \";\"",
                     "\" ;\" starts a comment even inside quotes");
            return false;
        }
        line->n = i;
        return true;
    }
    return true;
}

static void take_line(reader *r, span line) {
    span text = trim(line);
    if (text.n == 0 || text.s[0] == ';' || text.s[0] == '#')
        return;
    bool indented = text.s > line.s;
    bool good = cut_comment(r, &text);
    text = trim(text);
    bool item = indented && r->in_key && !looks_like_key(text) && !looks_like_section(text);
    if (item) {
        if (good && !r->skip_items)
            feed_value(r, (span){NULL, 0}, text);
    } else if (text.s[0] == '[') {
        leave_section(r);
        if (good)
            take_section(r, text);
    } else {
        good = good && take_key(r, text);
        r->skip_items = !good;
        r->in_key = true;
    }
}

/* Bytes that a line can't hold whatever it says. Returns false if one is found, which is told. */
static bool check_bytes(reader *r, span line) {
    if (line.n > LINES_MAX_LINE) {
        error_at(r, "one list item per indented line, or a [vars] prefix",
                 "line is %zu bytes, the limit is %d", line.n, LINES_MAX_LINE);
        return false;
    }
    if (memchr(line.s, 0, line.n)) {
        error_at(r, "save it as UTF-8 text", "expected text, found a NUL byte");
        r->rest = r->end; /* no text: what follows would only be more of the same */
        return false;
    }
    const char *bad;
    if (!g_utf8_validate(line.s, (gssize)line.n, &bad)) {
        error_at(r, "save it as UTF-8 text", "byte 0x%02X at column %td is not UTF-8",
                 (unsigned char)*bad, bad - line.s + 1);
        return false;
    }
    for (size_t i = 0; i < line.n; i++)
        if (g_ascii_iscntrl(line.s[i]) && line.s[i] != '\t') {
            error_at(r, "lines end with LF or CR LF; blanks are spaces and tabs",
                     "control character 0x%02X at column %zu", (unsigned char)line.s[i], i + 1);
            return false;
        }
    return true;
}

/* Reads one physical line. Returns false at the end. */
static bool next_line(reader *r) {
    if (r->stopped || r->rest == r->end)
        return false;
    span line = {r->rest, (size_t)(r->end - r->rest)};
    const char *newline = memchr(line.s, '\n', line.n);
    if (newline)
        line.n = (size_t)(newline - line.s);
    r->rest = newline ? newline + 1 : r->end;
    r->line++;
    if (line.n > 0 && line.s[line.n - 1] == '\r')
        line.n--;
    if (check_bytes(r, line)) {
        take_line(r, line);
        return true;
    }
    span text = trim(line);
    if (text.n > 0 && text.s[0] == '[')
        leave_section(r);
    else
        r->in_key = r->skip_items = true; /* it may have been a key: its items tell nothing new */
    return true;
}

/* inih's reader function: the next line, or NULL at the end. */
static char *next_fed(char *buffer, int size, void *stream) {
    reader *r = stream;
    while (g_queue_is_empty(&r->feed))
        if (!next_line(r))
            return NULL;
    g_autofree char *line = g_queue_pop_head(&r->feed);
    gsize length = g_strlcpy(buffer, line, (gsize)size);
    g_assert(length < (gsize)size);
    return buffer;
}

bool lines_read_memory(const char *name, const char *data, size_t size, lines_fn fn, void *arg,
                       problems *p) {
    static const char bom[] = "\xEF\xBB\xBF";
    reader r = {.name = name, .rest = data, .end = data + size, .fn = fn, .arg = arg, .p = p};
    problems_note_file(p, name);
    if (size >= 3 && memcmp(data, bom, 3) == 0)
        r.rest += 3;
    r.sections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r.keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    r.section = g_string_new(NULL);
    r.key = g_string_new(NULL);
    r.value = g_string_new(NULL);
    g_queue_init(&r.feed);

    int failed_at = ini_parse_stream(next_fed, &r, on_pair, &r);
    g_assert(failed_at == 0); /* we feed it only lines that it takes */
    if (!r.stopped)
        flush_value(&r);

    g_queue_clear_full(&r.feed, g_free);
    g_string_free(r.section, true);
    g_string_free(r.key, true);
    g_string_free(r.value, true);
    g_hash_table_unref(r.sections);
    g_hash_table_unref(r.keys);
    return !r.stopped && !r.failed;
}

/* Reads the whole file, pipes too. Returns NULL with errno set. */
static GByteArray *read_file(const char *path) {
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    g_autoptr(GByteArray) data = g_byte_array_new();
    guint8 block[16384];
    size_t n;
    while (data->len <= LINES_MAX_FILE && (n = fread(block, 1, sizeof block, f)) > 0)
        g_byte_array_append(data, block, (guint)n);
    int error = ferror(f) ? errno : 0;
    fclose(f);
    if (error) {
        errno = error;
        return NULL;
    }
    return g_steal_pointer(&data);
}

bool lines_read(const char *path, origin from, lines_fn fn, void *arg, problems *p) {
    g_autoptr(GByteArray) data = read_file(path);
    if (!data) {
        problems_add(p, PROBLEM_NOINPUT, MILL_ERROR, from, NULL, "cannot read %s: %s", path,
                     g_strerror(errno));
        return false;
    }
    if (data->len > LINES_MAX_FILE) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, from, "is it an INI file?",
                     "cannot read %s: it is larger than %d MiB", path, LINES_MAX_FILE >> 20);
        return false;
    }
    return lines_read_memory(path, (const char *)data->data, data->len, fn, arg, p);
}
