/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic loader names the first thing that it misses; an author wants all, and the remedy. */
#include "module/reasons.h"

#include "module/elf_tables.h"
#include <dlfcn.h>
#include <string.h>
#include <tracemill/tracemill.h>

enum { MAX_DEPTH = 8, MAX_NAMED = 4 };

/* ---------------------------------------------------------------- libraries that are not found */

typedef struct walk {
    GHashTable *seen;   /* names, so that each is told once */
    GPtrArray *missing; /* char *, as they are told */
} walk;

static bool loads(const char *name) {
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) != NULL;
}

/* Where a library lies by the run path of the file that needs it, or NULL. */
static char *on_runpath(const elf_tables *t, const char *needs, const char *name) {
    g_autofree char *origin = g_path_get_dirname(needs);
    g_auto(GStrv) folders = g_strsplit(t->runpath != NULL ? t->runpath : "", ":", -1);
    for (char **folder = folders; *folder != NULL; folder++) {
        g_autoptr(GString) at = g_string_new(*folder);
        g_string_replace(at, "$ORIGIN", origin, 0);
        g_string_replace(at, "${ORIGIN}", origin, 0);
        g_autofree char *path = g_build_filename(at->str, name, NULL);
        if (*at->str != '\0' && g_file_test(path, G_FILE_TEST_IS_REGULAR))
            return g_steal_pointer(&path);
    }
    return NULL;
}

/* Adds what `path` needs and the loader does not find; `by` names it if it is a library itself. */
static void look(walk *w, const char *path, const char *by, int depth) {
    g_auto(elf_tables) t;
    if (!elf_tables_read(&t, path))
        return;
    for (guint i = 0; i < t.needed->len; i++) {
        const char *name = t.needed->pdata[i];
        if (!g_hash_table_add(w->seen, g_strdup(name)))
            continue;
        g_autofree char *found = on_runpath(&t, path, name);
        if (loads(found != NULL ? found : name))
            continue;
        if (found != NULL && depth < MAX_DEPTH)
            look(w, found, name, depth + 1);
        else if (by != NULL)
            g_ptr_array_add(w->missing, g_strdup_printf("%s (for %s)", name, by));
        else
            g_ptr_array_add(w->missing, g_strdup(name));
    }
}

/* "a, b and c" */
static char *enumerate(const GPtrArray *names) {
    GString *text = g_string_new(NULL);
    guint shown = names->len > MAX_NAMED ? MAX_NAMED : names->len;
    for (guint i = 0; i < shown; i++)
        g_string_append_printf(text, "%s%s",
                               i == 0                                       ? ""
                               : i + 1 == names->len && shown == names->len ? " and "
                                                                            : ", ",
                               (const char *)names->pdata[i]);
    if (shown < names->len)
        g_string_append_printf(text, " and %u more", names->len - shown);
    return g_string_free(text, FALSE);
}

static char *missing_libraries(const char *path) {
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) missing = g_ptr_array_new_with_free_func(g_free);
    walk w = {seen, missing};
    look(&w, path, NULL, 0);
    if (missing->len == 0)
        return NULL;
    g_autofree char *names = enumerate(missing);
    return g_strdup_printf("it needs %s, which the dynamic loader does not find: install %s, or "
                           "name the folder when linking: -Wl,-rpath,FOLDER",
                           names, missing->len == 1 ? "it" : "them");
}

/* ---------------------------------------------------------------- symbols that are not found */

typedef struct undefined {
    void *handle;
    GPtrArray *names; /* char *, owned */
} undefined;

static void note_undefined(void *arg, const elf_symbol *symbol) {
    undefined *u = arg;
    if (symbol->defined || symbol->weak || !symbol->exported)
        return;
    if (dlsym(u->handle, symbol->name) == NULL && dlsym(RTLD_DEFAULT, symbol->name) == NULL)
        g_ptr_array_add(u->names, g_strdup(symbol->name));
}

/* All of them if the file loads where functions may be missing, else the one that was named. */
static void list_undefined(const char *path, const char *first, GPtrArray *names) {
    g_auto(elf_tables) t;
    undefined u = {dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE), names};
    if (elf_tables_read(&t, path) && u.handle != NULL)
        elf_tables_symbols(&t, note_undefined, &u);
    if (names->len == 0)
        g_ptr_array_add(names, g_strndup(first, strcspn(first, ", ")));
}

static char *undefined_symbols(const char *path, const char *first) {
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    list_undefined(path, first, names);
    const char *one = names->pdata[0];
    g_autofree char *all = enumerate(names);
    g_autofree char *says = g_strdup_printf("the dynamic loader says: undefined symbol%s: %s",
                                            names->len == 1 ? "" : "s", all);
    if (g_str_has_prefix(one, "kit_"))
        return g_strdup_printf("%s: link the kit: pkg-config --libs tracemill", says);
    if (g_str_has_prefix(one, "_Z"))
        return g_strdup_printf("%s: a name of C++: link what defines it with the C++ compiler",
                               says);
    return g_strdup_printf(
        "%s: link what defines %s; with -Wl,--no-undefined the linker tells this "
        "already",
        says, names->len == 1 ? "it" : "them");
}

/* ---------------------------------------------------------------- what the loader says */

/* Its message begins with the name of the file it is about: the module's own, or that of a library
 * it needs. */
char *reasons_not_loaded(const char *path, const char *message) {
    static const char undefined_symbol[] = "undefined symbol: ", version[] = "version `";
    g_autofree char *text = g_strdup(message); /* looking for libraries overwrites it */
    const char *rest = strstr(text, ": ");
    rest = rest != NULL ? rest + strlen(": ") : text;
    g_autofree char *file = g_strndup(text, (size_t)(rest - text));
    if (g_str_has_suffix(file, ": "))
        file[strlen(file) - strlen(": ")] = '\0';

    g_auto(elf_tables) t;
    if (elf_tables_read(&t, path) && t.program)
        return g_strdup("is a program, not a shared object: link it with -shared -fPIC");
    char *libraries = missing_libraries(path);
    if (libraries != NULL)
        return libraries;
    if (g_str_has_prefix(rest, undefined_symbol) && strcmp(file, path) == 0)
        return undefined_symbols(path, rest + strlen(undefined_symbol));
    if (g_str_has_prefix(rest, version)) {
        rest += strlen(version);
        g_autofree char *wanted = g_strndup(rest, strcspn(rest, "'"));
        return g_strdup_printf("it needs version %s of %s, and the one here is older: build it on "
                               "the oldest system that it is to run on",
                               wanted, file);
    }
    if (strcmp(file, path) == 0 || *file == '\0')
        return g_strdup_printf("the dynamic loader says: %s", rest);
    return g_strdup_printf("it needs %s, which the dynamic loader does not take (%s)", file, rest);
}

/* ---------------------------------------------------------------- the symbol of a module */

#define ANY_MAJOR "mill_module_v"

typedef struct nearly {
    bool hidden;
    const char *mangled, *other_major;
} nearly;

static void note_nearly(void *arg, const elf_symbol *symbol) {
    nearly *n = arg;
    if (!symbol->defined)
        return;
    if (strcmp(symbol->name, MILL_MODULE_SYMBOL) == 0)
        n->hidden = true; /* exported, it would have been found */
    else if (g_str_has_prefix(symbol->name, "_Z") && strstr(symbol->name, ANY_MAJOR) != NULL)
        n->mangled = symbol->name;
    else if (g_str_has_prefix(symbol->name, ANY_MAJOR) && symbol->exported)
        n->other_major = symbol->name;
}

char *reasons_no_symbol(const char *path) {
    nearly n = {0};
    g_auto(elf_tables) t;
    if (elf_tables_read(&t, path))
        elf_tables_symbols(&t, note_nearly, &n);
    if (n.hidden)
        return g_strdup_printf("it has %s, but does not export it: define that with MILL_EXPORT, "
                               "and let no version script make it local",
                               MILL_MODULE_SYMBOL);
    if (n.mangled != NULL)
        return g_strdup_printf("it exports no %s, but has %s, a name of C++: define that with "
                               "MILL_EXPORT, outside of any namespace",
                               MILL_MODULE_SYMBOL, n.mangled);
    if (n.other_major != NULL)
        return g_strdup_printf("it exports %s, and this host looks for %s: build it with the SDK "
                               "of ABI %d",
                               n.other_major, MILL_MODULE_SYMBOL, MILL_ABI_MAJOR);
    return g_strdup_printf("it exports no %s: if it is meant as a plugin, define that with "
                           "MILL_EXPORT",
                           MILL_MODULE_SYMBOL);
}
