/* SPDX-License-Identifier: Apache-2.0 */
/* Options from text, by the rules of the host (host/config): what it takes, this takes with the
 * same value; what it refuses, this refuses. A unit test compares the two over many texts. */
#include "private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* of defaults in defaults */

/* One option being read. */
typedef struct reading {
    const mill_option *o;
    const char *data_dir;
    kt_watched *memory;
    kt_text *wrong;
    unsigned depth;
    char **items; /* expanded */
    size_t n_items;
} reading;

typedef enum form { FORM_ONE, FORM_LINES, FORM_COMMAS } form;

static mill_opt_type value_type(const mill_option *o) {
    return o->type == MILL_OPT_LIST ? o->elem : o->type;
}

static form form_of(const mill_option *o) {
    if (o->type != MILL_OPT_LIST)
        return FORM_ONE;
    return o->elem == MILL_OPT_REGEX ? FORM_LINES : FORM_COMMAS;
}

MILL_PRINTF(2, 3) static bool refuse(reading *r, const char *format, ...) {
    char words[512];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (r->wrong->n == 0)
        kt_text_addf(r->wrong, "%s: %s", r->o->name, words);
    return false;
}

/* ---------------------------------------------------------------- variables */

/* Where the reference "${…}" at `s` ends, behind its brace, or NULL; *ret_fallback: behind ":-". */
static const char *reference_end(const char *s, const char **ret_fallback) {
    unsigned open = 1;
    *ret_fallback = NULL;
    for (const char *c = s + 2; *c; c++) {
        if (c[0] == '$' && c[1] == '$')
            c++;
        else if (c[0] == '$' && c[1] == '{')
            open++;
        else if (*c == '}' && --open == 0)
            return c + 1;
        else if (!*ret_fallback && open == 1 && c[0] == ':' && c[1] == '-')
            *ret_fallback = c + 2;
    }
    return NULL;
}

/* Text that must not be expanded again by option_for_item. */
static void add_plain(reading *r, kt_text *out, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '$' && r->o->flags & MILL_OPT_ITEM)
            kt_text_add(out, "$", 1);
        kt_text_add(out, s + i, 1);
    }
}

/* What a name stands for; *ret_found: whether it stands for anything. */
static bool expand_name(reading *r, const char *name, kt_text *out, bool *ret_found) {
    const char *found = NULL;
    if (strncmp(name, "env:", 4) == 0)
        found = getenv(name + 4);
    else if (strcmp(name, "tracemill:data") == 0)
        found = r->data_dir;
    else if (strchr(name, ':'))
        return refuse(r, "${%s} has no meaning", name);
    else if (strcmp(name, "args") == 0)
        return refuse(r, "${args} can stand only as a whole item of a list of files");
    else if (strcmp(name, "item") == 0 && !(r->o->flags & MILL_OPT_ITEM))
        return refuse(r, "it can't hold ${item}");
    else if (strcmp(name, "item") == 0)
        kt_text_add(out, "${item}", 7);
    if (found)
        add_plain(r, out, found, strlen(found));
    *ret_found = found || strcmp(name, "item") == 0;
    return true;
}

static bool expand(reading *r, const char *s, size_t n, kt_text *out);

static bool expand_reference(reading *r, const char *s, const char **ret_end, kt_text *out) {
    const char *fallback, *end = reference_end(s, &fallback);
    if (!end)
        return refuse(r, "\"%s\" has no \"}\"", s);
    *ret_end = end;
    size_t length = (size_t)((fallback ? fallback - 2 : end - 1) - (s + 2)), before = out->n;
    char *name = kt_alloc(length + 1);
    memcpy(name, s + 2, length);
    bool found = false, good = expand_name(r, name, out, &found);
    if (good && fallback && out->n == before)
        good = expand(r, fallback, (size_t)(end - 1 - fallback), out);
    else if (good && !found)
        good = refuse(r, "${%s} is not set", name);
    free(name);
    return good;
}

static bool expand(reading *r, const char *s, size_t n, kt_text *out) {
    char *copy = kt_alloc(n + 1);
    bool good = r->depth++ < DEPTH_MAX || refuse(r, "its variables are too deep");
    memcpy(copy, s, n);
    for (const char *at = copy; good && *at;) {
        if (at[0] == '$' && at[1] == '{') {
            good = expand_reference(r, at, &at, out);
        } else if (*at == '$') {
            add_plain(r, out, "$", 1);
            at += at[1] == '$' ? 2 : 1;
        } else {
            size_t plain = strcspn(at, "$");
            add_plain(r, out, at, plain);
            at += plain;
        }
    }
    r->depth--;
    free(copy);
    return good;
}

/* ---------------------------------------------------------------- items */

static bool take_items(reading *r, const char *s, form f);

static bool keep(reading *r, kt_text *t) {
    r->items = kt_grow(r->items, r->n_items, sizeof *r->items);
    r->items[r->n_items++] = kt_copy(kt_text_of(t));
    kt_text_clear(t);
    return true;
}

/* ${args} as a whole item: there are none here but those of its default. */
static bool take_args(reading *r, const char *s, form f, bool *ret_taken) {
    const char *fallback, *end = reference_end(s, &fallback);
    bool files = r->o->type == MILL_OPT_LIST && r->o->elem == MILL_OPT_PATH;
    *ret_taken = end && !*end && strncmp(s, "${args", 6) == 0 && (s[6] == '}' || s + 8 == fallback);
    if (!*ret_taken)
        return true;
    if (!files || !fallback)
        return refuse(r, files ? "${args} is empty" : "it can't hold ${args}");
    char *inner = kt_alloc((size_t)(end - fallback));
    memcpy(inner, fallback, (size_t)(end - fallback) - 1);
    bool good =
        r->depth++ < DEPTH_MAX ? take_items(r, inner, f) : refuse(r, "its variables are too deep");
    r->depth--;
    free(inner);
    return good;
}

static bool take_item(reading *r, kt_text *raw, bool quoted, form f) {
    kt_text out = {0};
    bool taken = false, good = true;
    if (f != FORM_ONE && !quoted && strncmp(kt_text_of(raw), "${", 2) == 0)
        good = take_args(r, kt_text_of(raw), f, &taken);
    if (good && !taken)
        good = expand(r, kt_text_of(raw), raw->n, &out) && keep(r, &out);
    kt_text_clear(&out);
    kt_text_clear(raw);
    return good;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* A text in quotes, up to behind the closing one. */
static bool take_quoted(reading *r, const char **at, kt_text *out) {
    for (const char *c = *at + 1; *c && *c != '\n'; c++) {
        if (*c == '"' && c[1] != '"') {
            *at = c + 1;
            return true;
        }
        if (*c == '"')
            c++;
        kt_text_add(out, c, 1);
    }
    return refuse(r, "the closing quote is missing");
}

/* A text without quotes, up to a separator that is not within ${…}. */
static void take_plain(const char **at, form f, kt_text *out) {
    const char *c = *at;
    for (unsigned open = 0; *c && *c != '\n'; c++) {
        if (c[0] == '$' && c[1] == '$')
            c++;
        else if (c[0] == '$' && c[1] == '{')
            open++;
        else if (*c == '}' && open > 0)
            open--;
        else if (open == 0 && f == FORM_COMMAS && *c == ',')
            break;
    }
    size_t n = (size_t)(c - *at);
    while (n > 0 && strchr(" \t\n\r\v\f", (*at)[n - 1]))
        n--;
    kt_text_add(out, *at, n);
    *at = c;
}

static bool take_one(reading *r, const char **at, form f) {
    kt_text raw = {0};
    bool quoted = **at == '"';
    if (!quoted) {
        take_plain(at, f, &raw);
    } else {
        bool closed = take_quoted(r, at, &raw);
        while (closed && is_blank(**at))
            ++*at;
        if (closed && **at && **at != '\n' && !(f == FORM_COMMAS && **at == ','))
            closed = refuse(r, "text after the closing quote");
        if (!closed) {
            kt_text_clear(&raw);
            return false;
        }
    }
    if (f != FORM_ONE && raw.n == 0 && !quoted) {
        kt_text_clear(&raw);
        return refuse(r, "an item is empty; write \"\" if that is meant");
    }
    return take_item(r, &raw, quoted, f);
}

static bool take_items(reading *r, const char *s, form f) {
    unsigned lines = 0;
    for (const char *at = s;; at++) {
        while (is_blank(*at))
            at++;
        bool none = f != FORM_ONE && (!*at || *at == '\n');
        if (f == FORM_ONE && lines++ > 0)
            return refuse(r, "it takes one value, several lines are given");
        if (!none && !take_one(r, &at, f))
            return false;
        if (!*at)
            return true;
    }
}

/* ---------------------------------------------------------------- numbers */

static bool in_bounds(reading *r, double value) {
    const mill_option *o = r->o;
    bool bounded = o->min < o->max;
    if (bounded && o->max < 9.2e18 && value > o->max)
        return refuse(r, "%g is over the maximum %g", value, o->max);
    if (bounded && o->min > -9.2e18 && value < o->min)
        return refuse(r, "%g is under the minimum %g", value, o->min);
    return true;
}

static bool read_int(reading *r, const char *s, int64_t *ret) {
    const char *digits = s + (*s == '-' || *s == '+');
    if (!*digits || digits[strspn(digits, "0123456789")])
        return refuse(r, "\"%s\" is not a whole number", s);
    errno = 0;
    long long value = strtoll(s, NULL, 10);
    if (errno)
        return refuse(r, "\"%s\" is out of range", s);
    *ret = value;
    return in_bounds(r, (double)value);
}

static bool read_num(reading *r, const char *s, double *ret) {
    char *end = NULL;
    bool plain = *s && !s[strspn(s, "0123456789.+-eE")];
    *ret = plain ? strtod(s, &end) : 0;
    if (!plain || *end)
        return refuse(r, "\"%s\" is not a number", s);
    if (!isfinite(*ret))
        return refuse(r, "\"%s\" is out of range", s);
    return in_bounds(r, *ret);
}

typedef struct unit {
    const char *name;
    int64_t size;
} unit;

static const unit durations[] = {
    {"h", 3600000000000}, {"min", 60000000000}, {"s", 1000000000}, {"ms", 1000000},
    {"us", 1000},         {"µs", 1000},         {"ns", 1},         {NULL, 0}};
static const unit sizes[] = {{"GiB", 1 << 30},   {"MiB", 1 << 20}, {"KiB", 1 << 10},
                             {"GB", 1000000000}, {"MB", 1000000},  {"KB", 1000},
                             {"B", 1},           {NULL, 0}};

/* The digits `s`, with a point among them or not, times `size`: exact or false. */
static bool scale(const char *s, size_t n, int64_t size, int64_t *ret) {
    unsigned __int128 total = 0, part = 0, ten = 1;
    const char *point = memchr(s, '.', n);
    size_t whole = point ? (size_t)(point - s) : n;
    for (size_t i = 0; i < whole; i++)
        if ((total = total * 10 + (unsigned)(s[i] - '0')) > INT64_MAX)
            return false;
    while (point && n > 0 && s[n - 1] == '0')
        n--;
    if (point && n - whole - 1 > 18)
        return false;
    for (size_t i = whole + 1; i < n; i++, ten *= 10)
        part = part * 10 + (unsigned)(s[i] - '0');
    part *= (unsigned __int128)size;
    total = total * (unsigned __int128)size + part / ten;
    *ret = (int64_t)total;
    return part % ten == 0 && total <= INT64_MAX;
}

static bool read_unit(reading *r, const char *s, const unit *u, int64_t *ret) {
    size_t n = strspn(s, "0123456789"), whole = n;
    if (s[n] == '.')
        n += 1 + strspn(s + n + 1, "0123456789");
    if (whole == 0 || n == whole + 1)
        return refuse(r, "\"%s\" is not a number with a unit", s);
    const char *name = s + n + strspn(s + n, " \t");
    if (!*name)
        return refuse(r, "%s needs a unit", s);
    while (u->name && strcmp(u->name, name) != 0)
        u++;
    if (!u->name)
        return refuse(r, "\"%s\": unknown unit", s);
    if (!scale(s, n, u->size, ret))
        return refuse(r, "\"%s\" is too fine or too large", s);
    return in_bounds(r, (double)*ret);
}

/* ---------------------------------------------------------------- words and texts */

static bool equal_word(const char *a, const char *b) {
    for (; *a && *b; a++, b++)
        if ((*a >= 'A' && *a <= 'Z' ? *a + 32 : *a) != *b)
            return false;
    return *a == *b;
}

static bool read_bool(reading *r, const char *s, bool *ret) {
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (equal_word(s, words[i])) {
            *ret = i % 2;
            return true;
        }
    return refuse(r, "\"%s\" is not yes or no", s);
}

static bool read_enum(reading *r, const char *s, int *ret) {
    for (int i = 0; r->o->choices[i]; i++)
        if (strcmp(s, r->o->choices[i]) == 0) {
            *ret = i;
            return true;
        }
    return refuse(r, "\"%s\" is none of its choices", s);
}

static const char *keep_text(kt_watched *memory, const char *s) {
    size_t n = strlen(s) + 1;
    return memcpy(kt_watched_alloc(memory, n), s, n);
}

static bool read_text(reading *r, const char *s, const char **ret) {
    mill_opt_type type = value_type(r->o);
    if (type == MILL_OPT_PATH && !*s)
        return refuse(r, "a file name is expected");
    char *problem = type == MILL_OPT_REGEX ? kt_regex_problem(s) : NULL;
    if (problem)
        refuse(r, "%s", problem);
    free(problem);
    *ret = keep_text(r->memory, s);
    return !problem;
}

static size_t field_size(mill_opt_type type) {
    switch (type) {
    case MILL_OPT_BOOL:
        return sizeof(mill_field_BOOL);
    case MILL_OPT_ENUM:
        return sizeof(mill_field_ENUM);
    case MILL_OPT_LIST:
        return sizeof(mill_field_LIST);
    default:
        return sizeof(int64_t); /* INT, NUM, DURATION, BYTES, and pointers */
    }
}

static bool read_value(reading *r, const char *s, void *field) {
    switch (value_type(r->o)) {
    case MILL_OPT_BOOL:
        return read_bool(r, s, field);
    case MILL_OPT_INT:
        return read_int(r, s, field);
    case MILL_OPT_NUM:
        return read_num(r, s, field);
    case MILL_OPT_ENUM:
        return read_enum(r, s, field);
    case MILL_OPT_DURATION:
        return read_unit(r, s, durations, field);
    case MILL_OPT_BYTES:
        return read_unit(r, s, sizes, field);
    default:
        return read_text(r, s, field);
    }
}

static bool read_items(reading *r, void *field) {
    if (r->o->type != MILL_OPT_LIST)
        return read_value(r, r->items[0], field);
    size_t size = field_size(r->o->elem);
    char *values = kt_watched_alloc(r->memory, r->n_items * size);
    for (size_t i = 0; i < r->n_items; i++)
        if (!read_value(r, r->items[i], values + i * size))
            return false;
    *(mill_list *)field = (mill_list){.v = values, .n = r->n_items};
    return true;
}

bool kt_option_set(const mill_option *o, const char *s, const char *data_dir, kt_watched *memory,
                   void *opts, kt_text *wrong) {
    void *field = (char *)opts + o->offset;
    if (o->flags & MILL_OPT_GLOB) {
        *(const char **)field = keep_text(memory, s);
        return true;
    }
    int64_t read[2] = {0}; /* room for any field: the old one stays where the text is wrong */
    reading r = {.o = o, .data_dir = data_dir, .memory = memory, .wrong = wrong};
    bool good = take_items(&r, s, form_of(o)) && read_items(&r, read);
    if (good)
        memcpy(field, read, field_size(o->type));
    for (size_t i = 0; i < r.n_items; i++)
        free(r.items[i]);
    free(r.items);
    return good;
}

const char *kt_option_for_item(const char *s, const char *key, kt_watched *memory) {
    kt_text out = {0};
    while (*s) {
        if (strncmp(s, "${item}", 7) == 0) {
            kt_text_add(&out, key, strlen(key));
            s += 7;
        } else {
            kt_text_add(&out, s, 1);
            s += s[0] == '$' && s[1] == '$' ? 2 : 1;
        }
    }
    const char *kept = keep_text(memory, kt_text_of(&out));
    kt_text_clear(&out);
    return kept;
}
