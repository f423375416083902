/* SPDX-License-Identifier: Apache-2.0 */
/* The regular expressions of stages. */
#include "engine/state.h"

#include <stdatomic.h>

/* Machine code costs as much as some hundred matches without it. */
#define MATCHES_BEFORE_MACHINE_CODE 256

/* Any number of threads may match at once. */
struct mill_regex {
    GRegex *plain;
    _Atomic(GRegex *) fast; /* compiled to machine code; NULL: not yet */
    atomic_uint matches;    /* with `plain` */
    atomic_bool told;       /* that it gave up */
    GRegexCompileFlags flags;
    const char *stage;
};

static void regex_free(void *data) {
    mill_regex *regex = data;
    GRegex *fast = atomic_load(&regex->fast);
    if (fast != NULL)
        g_regex_unref(fast);
    g_regex_unref(regex->plain);
    g_free(regex);
}

mill_status service_regex_new(mill_run *public, const char *pattern, uint32_t flags,
                              mill_regex **ret_regex) {
    run *r = run_of(public);
    if (r->instance == NULL)
        return run_bug(r, "compiled a regular expression in `check`, where the host has done so");
    g_autoptr(GError) error = NULL;
    GRegexCompileFlags compile = G_REGEX_RAW;
    if (flags & MILL_REGEX_CASELESS)
        compile |= G_REGEX_CASELESS;
    GRegex *plain = g_regex_new(pattern, compile, 0, &error);
    if (plain == NULL) {
        causes_addf(run_causes(r), MILL_E_CONFIG, "\"%s\" is no regular expression: %s", pattern,
                    error->message);
        return MILL_E_CONFIG;
    }
    mill_regex *regex = g_new0(mill_regex, 1);
    regex->plain = plain;
    regex->flags = compile;
    regex->stage = r->plan->name;
    pthread_mutex_lock(&r->lock);
    if (r->instance->regexes == NULL)
        r->instance->regexes = g_ptr_array_new_with_free_func(regex_free);
    g_ptr_array_add(r->instance->regexes, regex);
    pthread_mutex_unlock(&r->lock);
    *ret_regex = regex;
    return MILL_OK;
}

/* The one that answers soonest in the long run. */
static const GRegex *to_match_with(mill_regex *regex) {
    GRegex *fast = atomic_load(&regex->fast);
    if (fast != NULL || atomic_fetch_add(&regex->matches, 1) != MATCHES_BEFORE_MACHINE_CODE)
        return fast != NULL ? fast : regex->plain;
    fast = g_regex_new(g_regex_get_pattern(regex->plain), regex->flags | G_REGEX_OPTIMIZE, 0, NULL);
    if (fast == NULL)
        return regex->plain;
    /* GLib makes the code at the first match: not when threads share it already. */
    g_regex_match(fast, "", 0, NULL);
    atomic_store(&regex->fast, fast);
    return fast;
}

/* PCRE gives up where an expression such as (a+)+$ has too many ways to fit: unknown is no match,
 * but it must be said. Once for each expression, since there may be many texts. */
static void tell_gave_up(mill_regex *regex, const char *text, size_t length) {
    if (atomic_exchange(&regex->told, true))
        return;
    g_autofree char *start = g_strndup(text, MIN(length, 60));
    g_autofree char *valid = g_utf8_make_valid(start, -1);
    g_autofree char *words = g_strdup_printf(
        "\"%s\" took too long on \"%s%s\" and counts as not found there: make the expression "
        "simpler (repeats inside repeats take the time)",
        g_regex_get_pattern(regex->plain), valid, length > 60 ? "…" : "");
    console_log(regex->stage, "", MILL_WARNING, words);
}

bool service_regex_match(const mill_regex *shared, const char *text, size_t length,
                         mill_span *groups, size_t n_groups) {
    if (length > G_MAXINT32)
        return false;                         /* positions are 32 bits; no name is that long */
    mill_regex *regex = (mill_regex *)shared; /* what changes in it is atomic */
    g_autoptr(GMatchInfo) match = NULL;
    g_autoptr(GError) error = NULL;
    bool found = g_regex_match_full(to_match_with(regex), text, (gssize)length, 0, 0,
                                    n_groups > 0 ? &match : NULL, &error);
    if (error != NULL)
        tell_gave_up(regex, text, length);
    for (size_t i = 0; found && i < n_groups; i++) {
        int start = -1, end = -1;
        if (!g_match_info_fetch_pos(match, (int)i, &start, &end))
            start = end = -1;
        groups[i] = (mill_span){start, end};
    }
    return found;
}

int service_regex_group(const mill_regex *regex, const char *name) {
    return g_regex_get_string_number(regex->plain, name);
}
