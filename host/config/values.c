/* SPDX-License-Identifier: Apache-2.0 */
/* Typed values of options. */
#include "config/values.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "config/suggest.h"
#include "config/units.h"

/* One value being parsed. */
typedef struct parse {
    const mill_option *o;
    const setting *s;
    const char *text;
    GPtrArray *memory;
    problems *p;
} parse;

GPtrArray *values_memory(void) {
    return g_ptr_array_new_with_free_func(g_free);
}

/* The type of a value: that of the elements in a list. */
static mill_opt_type value_type(const mill_option *o) {
    return o->type == MILL_OPT_LIST ? o->elem : o->type;
}

/* How the option's text falls into items. */
static items_form form_of(const mill_option *o) {
    if (o->flags & MILL_OPT_GLOB)
        return ITEMS_COMMAS;
    if (o->type != MILL_OPT_LIST)
        return ITEMS_ONE;
    return o->elem == MILL_OPT_REGEX ? ITEMS_LINES : ITEMS_COMMAS; /* a{1,2} is one expression */
}

unsigned values_vars(const mill_option *o) {
    bool files = o->flags & MILL_OPT_GLOB || (o->type == MILL_OPT_LIST && o->elem == MILL_OPT_PATH);
    return (files ? VARS_ARGS : 0) | (o->flags & MILL_OPT_ITEM ? VARS_ITEM : 0);
}

/* ---------------------------------------------------------------- messages */

static bool wrong(const parse *v, const char *hint, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Tells what is wrong with the value; `format` follows "[section] key". Returns false. */
static bool wrong(const parse *v, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    problems_add(v->p, PROBLEM_CONFIG, MILL_ERROR, v->s->at, hint, "[%s] %s%s", v->s->section,
                 v->s->key, text);
    return false;
}

/* `[section] key = "text": not …` with what is allowed. */
static bool wrong_type(const parse *v, const char *expected) {
    g_autofree char *quoted = problems_quote(v->text);
    g_autofree char *allowed = values_allowed(v->o);
    return wrong(v, allowed, " = %s: %s", quoted, expected);
}

/* A bound in the unit of the field, as a user would write it. */
static char *format_bound(mill_opt_type type, double bound) {
    if (type == MILL_OPT_DURATION)
        return units_format(UNITS_DURATION, (int64_t)bound);
    if (type == MILL_OPT_BYTES)
        return units_format(UNITS_BYTES, (int64_t)bound);
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    return g_strdup(g_ascii_formatd(buffer, sizeof buffer, "%.15g", bound));
}

/* Whether the option is bounded on a side; a bound at the end of what int64_t holds is none. */
static bool has_min(const mill_option *o) {
    return o->min < o->max && o->min > -9.2e18;
}

static bool has_max(const mill_option *o) {
    return o->min < o->max && o->max < 9.2e18;
}

static char *format_range(const mill_option *o) {
    g_autofree char *min = has_min(o) ? format_bound(value_type(o), o->min) : NULL;
    g_autofree char *max = has_max(o) ? format_bound(value_type(o), o->max) : NULL;
    if (min && max)
        return g_strdup_printf("%s to %s", min, max);
    if (min)
        return g_strdup_printf("at least %s", min);
    return max ? g_strdup_printf("at most %s", max) : NULL;
}

static char *format_type(const mill_option *o) {
    switch (value_type(o)) {
    case MILL_OPT_BOOL:
        return g_strdup("yes or no");
    case MILL_OPT_ENUM: {
        g_autofree char *choices = g_strjoinv(", ", (char **)o->choices);
        return g_strdup_printf("one of %s", choices);
    }
    case MILL_OPT_DURATION:
    case MILL_OPT_BYTES: {
        bool bytes = value_type(o) == MILL_OPT_BYTES;
        char *range = format_range(o);
        return range
                   ? range
                   : g_strdup(bytes ? "such as 512B, 64KiB or 10MB" : "such as 250us, 1.5ms or 3s");
    }
    case MILL_OPT_INT:
    case MILL_OPT_NUM:
        return format_range(o);
    default:
        return NULL;
    }
}

char *values_allowed(const mill_option *o) {
    g_autofree char *type = format_type(o);
    if (!o->def)
        return g_steal_pointer(&type);
    return type ? g_strdup_printf("%s, default %s", type, o->def)
                : g_strdup_printf("default %s", o->def);
}

/* ---------------------------------------------------------------- numbers */

static bool check_bounds(const parse *v, double value) {
    if (has_max(v->o) && value > v->o->max) {
        g_autofree char *max = format_bound(value_type(v->o), v->o->max);
        return wrong(v, NULL, " = %s is over the maximum %s", v->text, max);
    }
    if (has_min(v->o) && value < v->o->min) {
        g_autofree char *min = format_bound(value_type(v->o), v->o->min);
        return wrong(v, NULL, " = %s is under the minimum %s", v->text, min);
    }
    return true;
}

static bool parse_int(const parse *v, int64_t *ret) {
    const char *digits = v->text + (*v->text == '-' || *v->text == '+');
    if (!*digits || digits[strspn(digits, "0123456789")])
        return wrong_type(v, "not a whole number");
    gint64 value;
    if (!g_ascii_string_to_signed(v->text, 10, G_MININT64, G_MAXINT64, &value, NULL))
        return wrong_type(v, "a whole number, but out of range");
    if (!check_bounds(v, (double)value))
        return false;
    *ret = value;
    return true;
}

static bool parse_num(const parse *v, double *ret) {
    /* What else g_ascii_strtod takes, 0x10 and nan and leading blanks, has other letters. */
    char *end = NULL;
    bool plain = *v->text && !v->text[strspn(v->text, "0123456789.+-eE")];
    errno = 0;
    double value = plain ? g_ascii_strtod(v->text, &end) : 0;
    if (!plain || *end)
        return wrong_type(v, "not a number");
    if (!isfinite(value))
        return wrong_type(v, "a number, but out of range");
    if (!check_bounds(v, value))
        return false;
    *ret = value;
    return true;
}

static bool parse_unit(const parse *v, units_kind kind, int64_t *ret) {
    const char *what = kind == UNITS_BYTES ? "size" : "duration";
    const char *names = units_names(kind);
    g_autofree char *text = NULL;
    int64_t value;
    switch (units_parse(kind, v->text, &value)) {
    case UNITS_OK:
        if (!check_bounds(v, (double)value))
            return false;
        *ret = value;
        return true;
    case UNITS_NO_UNIT:
        text = kind == UNITS_BYTES
                   ? g_strdup_printf("%sB, %sKiB or %sMiB", v->text, v->text, v->text)
                   : g_strdup_printf("%sus, %sms or %ss", v->text, v->text, v->text);
        return wrong(v, text, " = %s needs a unit", v->text);
    case UNITS_BAD_UNIT:
        text = g_strdup_printf("unknown unit, expected %s", names);
        return wrong_type(v, text);
    case UNITS_FINE:
        return wrong_type(v,
                          kind == UNITS_BYTES ? "not a whole number of bytes" : "finer than 1ns");
    case UNITS_RANGE:
        text = g_strdup_printf("a %s, but out of range", what);
        return wrong_type(v, text);
    case UNITS_MALFORMED:
        break;
    }
    text = g_strdup_printf("not a %s", what);
    return wrong_type(v, text);
}

/* ---------------------------------------------------------------- words and texts */

static bool parse_bool(const parse *v, bool *ret) {
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_ascii_strcasecmp(v->text, words[i]) == 0) {
            *ret = i % 2;
            return true;
        }
    return wrong_type(v, "not yes or no");
}

static bool parse_enum(const parse *v, int *ret) {
    for (int i = 0; v->o->choices[i]; i++)
        if (strcmp(v->text, v->o->choices[i]) == 0) {
            *ret = i;
            return true;
        }
    g_autofree char *choices = g_strjoinv(", ", (char **)v->o->choices);
    g_autofree char *near = suggest_hint(v->text, v->o->choices);
    g_autofree char *allowed = v->o->def ? g_strdup_printf("default %s", v->o->def) : NULL;
    g_autofree char *quoted = problems_quote(v->text);
    return wrong(v, near ? near : allowed, " = %s: not one of %s", quoted, choices);
}

/* Checks the pattern as mill_host.regex_new compiles it, on bytes. */
static bool check_regex(const parse *v) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GRegex) regex = g_regex_new(v->text, G_REGEX_RAW, 0, &error);
    if (regex)
        return true;
    /* GLib's message repeats the pattern, and ends with " at char N: reason". */
    g_autofree char *text = g_strdup_printf("not a regular expression: %s", error->message);
    const char *at = g_strrstr(error->message, " at char ");
    char *reason = NULL;
    guint64 offset = at ? g_ascii_strtoull(at + strlen(" at char "), &reason, 10) : 0;
    if (reason && g_str_has_prefix(reason, ": ")) {
        g_free(text);
        text = g_strdup_printf("not a regular expression: %s at character %" G_GUINT64_FORMAT,
                               reason + 2, offset + 1);
    }
    return wrong_type(v, text);
}

static bool parse_text(const parse *v, const char **ret) {
    mill_opt_type type = value_type(v->o);
    if (type == MILL_OPT_PATH && !*v->text)
        return wrong_type(v, "expected a file name");
    if (type == MILL_OPT_REGEX && !check_regex(v))
        return false;
    char *kept = g_strdup(v->text);
    g_ptr_array_add(v->memory, kept);
    *ret = kept;
    return true;
}

/* ---------------------------------------------------------------- fields */

static size_t field_size(mill_opt_type type) {
    switch (type) {
    case MILL_OPT_BOOL:
        return sizeof(mill_field_BOOL);
    case MILL_OPT_ENUM:
        return sizeof(mill_field_ENUM);
    case MILL_OPT_NUM:
        return sizeof(mill_field_NUM);
    case MILL_OPT_INT:
    case MILL_OPT_DURATION:
    case MILL_OPT_BYTES:
        return sizeof(mill_field_INT);
    default:
        return sizeof(mill_field_STR);
    }
}

static bool parse_value(const parse *v, void *field) {
    switch (value_type(v->o)) {
    case MILL_OPT_BOOL:
        return parse_bool(v, field);
    case MILL_OPT_INT:
        return parse_int(v, field);
    case MILL_OPT_NUM:
        return parse_num(v, field);
    case MILL_OPT_ENUM:
        return parse_enum(v, field);
    case MILL_OPT_DURATION:
        return parse_unit(v, UNITS_DURATION, field);
    case MILL_OPT_BYTES:
        return parse_unit(v, UNITS_BYTES, field);
    default:
        return parse_text(v, field);
    }
}

/* Parses all items, so that each wrong one is told. */
static bool parse_list(parse *v, const GPtrArray *items, mill_list *ret) {
    size_t size = field_size(v->o->elem);
    char *values = g_malloc0_n(MAX(items->len, 1), size);
    g_ptr_array_add(v->memory, values);
    bool good = true;
    for (guint i = 0; i < items->len; i++) {
        v->text = ((const value_item *)items->pdata[i])->text;
        good = parse_value(v, values + i * size) && good;
    }
    if (good)
        *ret = (mill_list){.v = values, .n = items->len};
    return good;
}

bool values_set(const mill_option *o, const setting *s, vars *v, GPtrArray *memory, void *opts,
                problems *p) {
    void *field = (char *)opts + o->offset;
    if (o->flags & MILL_OPT_GLOB) {
        char *kept = g_strdup(s->value);
        g_ptr_array_add(memory, kept);
        *(const char **)field = kept;
        return true;
    }
    g_autoptr(GPtrArray) items = vars_expand(v, s, form_of(o), values_vars(o), p);
    if (!items)
        return false;
    parse value = {.o = o, .s = s, .memory = memory, .p = p};
    if (o->type == MILL_OPT_LIST)
        return parse_list(&value, items, field);
    value.text = ((const value_item *)items->pdata[0])->text;
    return parse_value(&value, field);
}

/* ---------------------------------------------------------------- back to text */

/* Doubles each '$' that expansion would otherwise take for its own. */
static char *escape_dollars(const char *text) {
    GString *out = g_string_new(NULL);
    for (; *text; text++) {
        if (text[0] == '$' && (text[1] == '$' || text[1] == '{'))
            g_string_append_c(out, '$');
        g_string_append_c(out, *text);
    }
    return g_string_free(out, false);
}

static char *format_text(const mill_option *o, const char *text) {
    if (!text)
        text = "";
    if (o->flags & MILL_OPT_GLOB) /* the whole is as written, quotes and all */
        return g_strdup(text);
    g_autofree char *escaped = o->flags & MILL_OPT_ITEM ? g_strdup(text) : escape_dollars(text);
    return items_format(escaped, form_of(o));
}

static char *format_value(const mill_option *o, const void *field) {
    switch (value_type(o)) {
    case MILL_OPT_BOOL:
        return g_strdup(*(const bool *)field ? "yes" : "no");
    case MILL_OPT_INT:
        return g_strdup_printf("%" G_GINT64_FORMAT, *(const int64_t *)field);
    case MILL_OPT_NUM: {
        char buffer[G_ASCII_DTOSTR_BUF_SIZE];
        double value = *(const double *)field;
        g_ascii_formatd(buffer, sizeof buffer, "%.15g", value);
        if (g_ascii_strtod(buffer, NULL) != value)
            g_ascii_dtostr(buffer, sizeof buffer, value);
        return g_strdup(buffer);
    }
    case MILL_OPT_ENUM:
        return g_strdup(o->choices[*(const int *)field]);
    case MILL_OPT_DURATION:
        return units_format(UNITS_DURATION, *(const int64_t *)field);
    case MILL_OPT_BYTES:
        return units_format(UNITS_BYTES, *(const int64_t *)field);
    default:
        return format_text(o, *(const char *const *)field);
    }
}

char *values_format(const mill_option *o, const void *opts) {
    const void *field = (const char *)opts + o->offset;
    if (o->type != MILL_OPT_LIST)
        return format_value(o, field);
    const mill_list *list = field;
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < list->n; i++) {
        g_autofree char *text = format_value(o, (const char *)list->v + i * field_size(o->elem));
        if (i > 0)
            g_string_append(out, form_of(o) == ITEMS_LINES ? "\n" : ", ");
        g_string_append(out, text);
    }
    return g_string_free(out, false);
}
