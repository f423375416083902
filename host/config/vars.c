/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of ${…}. */
#include "config/vars.h"

#include <string.h>

#include "config/suggest.h"

enum {
    DEPTH_MAX = 32,       /* variables in variables, and defaults in defaults */
    GROWTH_MAX = 1 << 20, /* bytes that one setting may grow to: few lines could make billions */
    STEP_COST = 16, /* of them for each item, variable and default: empty ones take time too */
};

struct vars {
    const section *sec;
    const char *data_dir;
    const char *const *args;
    bool used_args;
};

/* The expansion of one setting. */
typedef struct expansion {
    vars *v;
    const setting *root;
    items_form form;
    unsigned flags;
    problems *p;
    size_t left; /* of GROWTH_MAX */
    unsigned depth;
} expansion;

/* The text at hand: of the setting itself or of a variable that it refers to, directly or not. */
typedef struct level {
    const setting *s;
    const struct level *up;
} level;

/* "${name}" or "${name:-fallback}". */
typedef struct reference {
    char *name, *fallback; /* fallback: NULL if there is none */
} reference;

static void reference_finish(reference *r) {
    g_free(r->name);
    g_free(r->fallback);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(reference, reference_finish)

vars *vars_create(const section *sec, const char *data_dir, const char *const *args) {
    vars *v = g_new(vars, 1);
    *v = (vars){.sec = sec, .data_dir = data_dir, .args = args};
    return v;
}

void vars_destroy(vars *v) {
    g_free(v);
}

bool vars_used_args(const vars *v) {
    return v->used_args;
}

static void error_at(expansion *x, const level *l, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
static void error_at(expansion *x, const level *l, const char *hint, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    problems_add(x->p, PROBLEM_CONFIG, MILL_ERROR, l->s->at, hint, "%s", text);
}

/* Reads the reference at `text` ("${…"), whose fallback may hold others. Returns where it ends, or
 * NULL if it has no "}". */
static const char *reference_parse(const char *text, reference *ret) {
    const char *name = text + 2, *fallback = NULL, *c;
    unsigned open = 1;
    for (c = name; *c; c++) {
        if (c[0] == '$' && c[1] == '$')
            c++;
        else if (c[0] == '$' && c[1] == '{')
            open++;
        else if (*c == '}' && --open == 0)
            break;
        else if (!fallback && open == 1 && c[0] == ':' && c[1] == '-')
            fallback = c + 2;
    }
    if (!*c)
        return NULL;
    const char *name_end = fallback ? fallback - 2 : c;
    ret->name = g_strndup(name, (gsize)(name_end - name));
    ret->fallback = fallback ? g_strndup(fallback, (gsize)(c - fallback)) : NULL;
    return c + 1;
}

/* Takes `n` bytes off what the setting may still grow by. Returns false if it is too much. */
static bool spend(expansion *x, const level *l, size_t n) {
    if (n > x->left) {
        error_at(x, l, NULL, "[%s] %s grows over %d bytes by its variables", x->root->section,
                 x->root->key, GROWTH_MAX);
        return false;
    }
    x->left -= n;
    return true;
}

/* Appends text that is not to be expanded again, neither here nor by vars_item. */
static bool append(expansion *x, const level *l, GString *out, const char *text, size_t n) {
    if (!spend(x, l, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '$' && (x->flags & VARS_ITEM))
            g_string_append_c(out, '$');
        g_string_append_c(out, text[i]);
    }
    return true;
}

/* ---------------------------------------------------------------- what a name stands for */

static void not_set(expansion *x, const level *l, const char *name) {
    if (g_str_has_prefix(name, "env:")) {
        g_autofree char *how =
            g_strdup_printf("export %s, or write ${%s:-default}", name + strlen("env:"), name);
        error_at(x, l, how, "${%s} is not set", name);
        return;
    }
    if (strchr(name, ':')) {
        error_at(x, l, "the installed data files were not found", "${%s} is not set", name);
        return;
    }
    if (x->flags & VARS_OUTSIDE) {
        error_at(x, l, "an include may hold ${env:X} and ${tracemill:data}, not what [vars] sets",
                 "${%s} is not set", name);
        return;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; x->v->sec && i < x->v->sec->settings->len; i++)
        g_ptr_array_add(names, (gpointer)((setting *)x->v->sec->settings->pdata[i])->key);
    g_ptr_array_add(names, (gpointer) "args");
    g_ptr_array_add(names, (gpointer) "item");
    g_ptr_array_add(names, NULL);
    const char *near = suggest_nearest(name, (const char *const *)names->pdata);
    g_autofree char *upper = g_ascii_strup(name, -1);
    g_autofree char *hint =
        near ? g_strdup_printf("did you mean ${%s}? environment needs ${env:%s}", near, upper)
             : g_strdup_printf("set it in [vars], or by --set vars.%s=…; environment needs "
                               "${env:%s}",
                               name, upper);
    error_at(x, l, hint, "${%s} is not set", name);
}

/* The value of ${env:…}; NULL where it is not set. */
static const char *environment(expansion *x, const level *l, const char *name, bool *ret_wrong) {
    const char *value = g_getenv(name);
    if (value && !g_utf8_validate(value, -1, NULL)) {
        error_at(x, l, NULL, "${env:%s} is not UTF-8 text", name);
        *ret_wrong = true;
    }
    return value;
}

/* True if `var` is being expanded, which is told with the variables in between. */
static bool is_cycle(expansion *x, const level *l, const setting *var) {
    g_autoptr(GString) chain = g_string_new(var->key);
    for (const level *up = l; up; up = up->up) {
        g_string_prepend(chain, " -> ");
        g_string_prepend(chain, up->s->key);
        if (up->s == var) {
            error_at(x, l, NULL, "${%s} refers to itself: %s", var->key, chain->str);
            return true;
        }
    }
    return false;
}

static const setting *find_var(const expansion *x, const char *name) {
    return x->v->sec && !(x->flags & VARS_OUTSIDE) ? section_get(x->v->sec, name) : NULL;
}

static bool expand_text(expansion *x, const level *l, const char *text, GString *out);

/* Appends what [vars] has as `var`, where it is a part of a text. */
static bool expand_var(expansion *x, const level *l, const setting *var, GString *out) {
    if (strchr(var->value, '\n')) {
        error_at(x, l, NULL, "${%s} is a list: it can stand only as a whole item of a list",
                 var->key);
        return false;
    }
    if (is_cycle(x, l, var))
        return false;
    g_autoptr(GPtrArray) items = items_split(var, ITEMS_ONE, x->p);
    level inner = {.s = var, .up = l};
    return items && expand_text(x, &inner, ((value_item *)items->pdata[0])->text, out);
}

/* Appends what the name stands for. *ret_found is false where it is not set. */
static bool expand_name(expansion *x, const level *l, const char *name, GString *out,
                        bool *ret_found) {
    const char *value = NULL;
    *ret_found = true;
    if (g_str_has_prefix(name, "env:")) {
        bool wrong = false;
        value = environment(x, l, name + strlen("env:"), &wrong);
        if (wrong)
            return false;
    } else if (strcmp(name, "tracemill:data") == 0) {
        value = x->v->data_dir;
    } else if (strchr(name, ':')) {
        error_at(x, l, "there are ${x} of [vars], ${env:X}, ${tracemill:data}, ${args}, ${item}",
                 "${%s} has no meaning", name);
        return false;
    } else if (strcmp(name, "item") == 0) {
        if (x->flags & VARS_ITEM)
            g_string_append(out, "${item}");
        else
            error_at(x, l, "see: tracemill inspect", "[%s] %s can't hold ${item}", x->root->section,
                     x->root->key);
        return x->flags & VARS_ITEM;
    } else if (strcmp(name, "args") == 0) {
        error_at(x, l, "write it alone, one item of the list",
                 "${args} can stand only as a whole item of a list of files");
        return false;
    } else if (find_var(x, name)) {
        return expand_var(x, l, find_var(x, name), out);
    }
    *ret_found = value != NULL;
    return !value || append(x, l, out, value, strlen(value));
}

static bool expand_reference(expansion *x, const level *l, const reference *r, GString *out) {
    size_t before = out->len;
    bool found;
    if (!expand_name(x, l, r->name, out, &found))
        return false;
    if (r->fallback && out->len == before)
        return expand_text(x, l, r->fallback, out);
    if (!found)
        not_set(x, l, r->name);
    return found;
}

/* Goes one level deeper, into a variable or a fallback. */
static bool descend(expansion *x, const level *l) {
    if (x->depth == DEPTH_MAX) {
        error_at(x, l, NULL, "[%s] %s: variables refer to each other more than %d deep",
                 x->root->section, x->root->key, DEPTH_MAX);
        return false;
    }
    x->depth++;
    return spend(x, l, STEP_COST);
}

static void unclosed(expansion *x, const level *l, const char *text) {
    g_autofree char *quoted = problems_quote(text);
    error_at(x, l, "write $${ for the text ${", "%s has no \"}\"", quoted);
}

static bool expand_text(expansion *x, const level *l, const char *text, GString *out) {
    if (!descend(x, l))
        return false;
    bool good = true;
    while (good && *text) {
        if (text[0] == '$' && text[1] == '{') {
            g_auto(reference) r = {0};
            const char *end = reference_parse(text, &r);
            if (!end)
                unclosed(x, l, text);
            good = end && expand_reference(x, l, &r, out);
            text = end;
        } else if (text[0] == '$') {
            good = append(x, l, out, "$", 1);
            text += text[1] == '$' ? 2 : 1;
        } else {
            size_t n = strcspn(text, "$");
            good = append(x, l, out, text, n);
            text += n;
        }
    }
    x->depth--;
    return good;
}

/* ---------------------------------------------------------------- items */

static bool expand_items(expansion *x, const level *l, const setting *s, GPtrArray *out);

/* The files of the command line, as items. */
static bool expand_args(expansion *x, const level *l, bool has_fallback, GPtrArray *out) {
    if (!(x->flags & VARS_ARGS)) {
        error_at(x, l, NULL, "[%s] %s can't hold ${args}: it is not a list of files",
                 x->root->section, x->root->key);
        return false;
    }
    x->v->used_args = true;
    const char *const *arg = x->v->args;
    if ((!arg || !*arg) && !has_fallback) {
        problems_add(x->p, PROBLEM_NOINPUT, MILL_ERROR, l->s->at,
                     "name them after the pipeline: tracemill run FILE.ini FILES…",
                     "${args} is empty: no files are named on the command line");
        return false;
    }
    for (; arg && *arg; arg++)
        g_ptr_array_add(out, items_new(g_strdup(*arg), false, true));
    return true;
}

/* The items of the whole item ${args} or ${x}; `var` is NULL for ${args}. */
static bool expand_whole(expansion *x, const level *l, const reference *r, const setting *var,
                         GPtrArray *out) {
    guint before = out->len;
    level inner = {.s = var, .up = l};
    bool good = var ? !is_cycle(x, l, var) && expand_items(x, &inner, var, out)
                    : expand_args(x, l, r->fallback, out);
    if (!good || !r->fallback || out->len > before)
        return good;
    setting fallback = *l->s;
    fallback.value = r->fallback;
    return expand_items(x, l, &fallback, out);
}

static bool expand_item(expansion *x, const level *l, const value_item *it, GPtrArray *out) {
    if (x->form != ITEMS_ONE && !it->quoted && g_str_has_prefix(it->text, "${")) {
        g_auto(reference) r = {0};
        const char *end = reference_parse(it->text, &r);
        const setting *var = end ? find_var(x, r.name) : NULL;
        if (end && *end == '\0' && (var || strcmp(r.name, "args") == 0))
            return expand_whole(x, l, &r, var, out);
    }
    g_autoptr(GString) text = g_string_new(NULL);
    if (!expand_text(x, l, it->text, text))
        return false;
    char *all = g_string_free(g_steal_pointer(&text), false);
    g_ptr_array_add(out, items_new(all, it->quoted, false));
    return true;
}

static bool expand_items(expansion *x, const level *l, const setting *s, GPtrArray *out) {
    if (!descend(x, l))
        return false;
    g_autoptr(GPtrArray) items = items_split(s, x->form, x->p);
    bool good = items != NULL;
    for (guint i = 0; good && i < items->len; i++)
        good = expand_item(x, l, items->pdata[i], out);
    x->depth--;
    return good;
}

GPtrArray *vars_expand(vars *v, const setting *s, items_form form, unsigned flags, problems *p) {
    expansion x = {.v = v, .root = s, .form = form, .flags = flags, .p = p, .left = GROWTH_MAX};
    level l = {.s = s};
    g_autoptr(GPtrArray) out = items_array();
    return expand_items(&x, &l, s, out) ? g_steal_pointer(&out) : NULL;
}

/* ---------------------------------------------------------------- ${item} */

bool vars_has_item(const char *text) {
    for (; *text; text++) {
        if (g_str_has_prefix(text, "${item}"))
            return true;
        if (text[0] == '$' && text[1] == '$')
            text++;
    }
    return false;
}

char *vars_item(const char *text, const char *key) {
    GString *out = g_string_new(NULL);
    while (*text) {
        if (g_str_has_prefix(text, "${item}")) {
            g_string_append(out, key);
            text += strlen("${item}");
        } else {
            g_string_append_c(out, *text);
            text += text[0] == '$' && text[1] == '$' ? 2 : 1;
        }
    }
    return g_string_free(out, false);
}
