/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions, by the very library that the host has them from, which is loaded once an
 * expression is used: a plugin's test need not be built with it. */
#include "private.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libglib-2.0.so.0"
#define CASELESS 1u /* G_REGEX_CASELESS */
#define RAW 2048u   /* G_REGEX_RAW: bytes, as in the host */

/* GLib's GError. */
typedef struct error {
    uint32_t domain;
    int code;
    char *message;
} error;

typedef struct library {
    void *(*make)(const char *pattern, unsigned how, unsigned match, error **e);
    void (*unref)(void *regex);
    int (*match)(const void *regex, const char *s, ssize_t n, int start, unsigned how, void **info,
                 error **e);
    int (*position)(const void *info, int group, int *start, int *end);
    void (*end)(void *info);
    int (*number)(const void *regex, const char *name);
    void (*error_free)(error *e);
} library;

typedef struct regex regex;
struct mill_regex {
    void *compiled;
};
struct regex {
    mill_regex public; /* first, so that a mill_regex is its regex */
    regex *next;
};

static library glib;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void *handle, const char *name, void *function) {
    void *address = dlsym(handle, name);
    if (!address)
        kt_mistake("%s has no %s", LIBRARY, name);
    memcpy(function, &address, sizeof address);
}

static void load(void) {
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        kt_mistake("regular expressions need the library that Tracemill has them from: %s",
                   dlerror());
    find(handle, "g_regex_new", &glib.make);
    find(handle, "g_regex_unref", &glib.unref);
    find(handle, "g_regex_match_full", &glib.match);
    find(handle, "g_match_info_fetch_pos", &glib.position);
    find(handle, "g_match_info_unref", &glib.end);
    find(handle, "g_regex_get_string_number", &glib.number);
    find(handle, "g_error_free", &glib.error_free);
    dlclose(handle);
}

static void *compile(const char *pattern, uint32_t flags, char **ret_problem) {
    error *e = NULL;
    pthread_once(&once, load);
    void *made = glib.make(pattern, RAW | (flags & MILL_REGEX_CASELESS ? CASELESS : 0), 0, &e);
    *ret_problem = made ? NULL : kt_copy(e->message);
    if (e)
        glib.error_free(e);
    return made;
}

char *kt_regex_problem(const char *pattern) {
    char *problem;
    void *made = compile(pattern, 0, &problem);
    if (made)
        glib.unref(made);
    return problem;
}

mill_status kt_service_regex_new(mill_run *run, const char *pattern, uint32_t flags,
                                 mill_regex **ret_regex) {
    kt_pass *p = (kt_pass *)run;
    char *problem;
    if (p->callback && strcmp(p->callback, "check") == 0)
        return kt_pass_blame(p, "compiles an expression in `check`, where the host has done so");
    void *made = compile(pattern, flags, &problem);
    if (!made) {
        mill_fail(run, MILL_E_CONFIG, "%s", problem);
        free(problem);
        return MILL_E_CONFIG;
    }
    regex *r = kt_alloc(sizeof *r);
    r->public.compiled = made;
    pthread_mutex_lock(&p->lock);
    r->next = p->regexes;
    p->regexes = r;
    pthread_mutex_unlock(&p->lock);
    *ret_regex = &r->public;
    return MILL_OK;
}

bool kt_service_regex_match(const mill_regex *r, const char *s, size_t length, mill_span *groups,
                            size_t n_groups) {
    void *info = NULL;
    error *e = NULL;
    if (length > INT32_MAX)
        return false;
    bool found = glib.match(r->compiled, s, (ssize_t)length, 0, 0, &info, &e);
    for (size_t i = 0; found && i < n_groups; i++) {
        int start = -1, end = -1;
        if (!glib.position(info, (int)i, &start, &end))
            start = end = -1;
        groups[i] = (mill_span){start, end};
    }
    if (info)
        glib.end(info);
    if (e)
        glib.error_free(e);
    return found;
}

int kt_service_regex_group(const mill_regex *r, const char *name) {
    return glib.number(r->compiled, name);
}

void kt_regexes_destroy(regex *all) {
    for (regex *next; all; all = next) {
        next = all->next;
        glib.unref(all->public.compiled);
        free(all);
    }
}
