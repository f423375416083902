/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and adds up the slices of a trace with cJSON, and with exact numbers of its own. */
#include "kineto_oracle.h"

#include <cjson/cJSON.h>
#include <glib.h>
#include <string.h>

#define DAY G_GINT64_CONSTANT(86400000000000)
#define UNKNOWN G_MININT64

/* ---------------------------------------------------------------- numbers as text */

/* Behind the digits at p; NULL if there are none, or p is NULL. NUL ends the text. */
static const char *pass_digits(const char *p) {
    const char *begin = p;
    while (p && g_ascii_isdigit(*p))
        p++;
    return p == begin ? NULL : p;
}

/* Behind the number of strict JSON that begins at p, or NULL. */
static const char *pass_number(const char *p) {
    p += *p == '-';
    p = *p == '0' ? p + 1 : pass_digits(p);
    if (p && *p == '.')
        p = pass_digits(p + 1);
    if (p && (*p == 'e' || *p == 'E'))
        p = pass_digits(p + 1 + (p[1] == '-' || p[1] == '+'));
    return p;
}

/* Behind the string whose quote is at p, or NULL. What would look like a number of ours, or what
 * cJSON would end at a NUL, is left alone. */
static const char *pass_string(const char *p) {
    if (*++p == '#')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20 || g_str_has_prefix(p, "\\u0000"))
            return NULL;
        p += *p == '\\' && (unsigned char)p[1] >= 0x20;
    }
    return p + 1;
}

/* The text with each number as a string "#…", since cJSON would round it; NULL if it is not strict.
 * cJSON itself checks the rest. */
static GString *quote_numbers(const char *text, size_t length) {
    g_autofree char *whole = g_strndup(text, length); /* with a NUL at its end */
    g_autoptr(GString) to = g_string_new(NULL);
    for (const char *p = whole, *next; p < whole + length; p = next) {
        next = p + 1;
        bool number = *p == '-' || g_ascii_isdigit(*p);
        if (number)
            next = pass_number(p);
        else if (*p == '"')
            next = pass_string(p);
        else if (!strchr("{}[]:, \t\r\n", *p) && !g_ascii_islower(*p))
            return NULL;
        if (!next || *p == '\0')
            return NULL;
        if (number)
            g_string_append(to, "\"#");
        g_string_append_len(to, p, next - p);
        if (number)
            g_string_append_c(to, '"');
    }
    return g_steal_pointer(&to);
}

/* Microseconds as ns, half a ns up. False: not of the usual form, so that nothing is said. */
static bool ns_of(const cJSON *value, int64_t *ret_ns) {
    *ret_ns = UNKNOWN;
    if (!cJSON_IsString(value))
        return true;
    const char *p = value->valuestring;
    if (*p++ != '#')
        return false;
    bool negative = *p == '-';
    p += negative;
    if (strlen(p) > 30 || strpbrk(p, "eE"))
        return false;
    __int128 ns = 0;
    for (; g_ascii_isdigit(*p); p++)
        ns = ns * 10 + (*p - '0');
    p += *p == '.';
    for (int i = 0; i < 3; i++)
        ns = ns * 10 + (g_ascii_isdigit(*p) ? *p++ - '0' : 0);
    ns += *p >= '5';
    if (ns <= G_MAXINT64)
        *ret_ns = negative ? -(int64_t)ns : (int64_t)ns;
    return true;
}

/* ---------------------------------------------------------------- events */

/* The last one of that key counts. */
static const cJSON *member(const cJSON *object, const char *key) {
    const cJSON *item, *found = NULL;
    cJSON_ArrayForEach(item, object) {
        if (!strcmp(item->string, key))
            found = item;
    }
    return found;
}

static bool one_of(const cJSON *value, const char *const *texts) {
    for (; cJSON_IsString(value) && *texts; texts++)
        if (!g_ascii_strcasecmp(value->valuestring, *texts))
            return true;
    return false;
}

static bool take_event(oracle *o, const cJSON *e) {
    static const char *const gpu[] = {"kernel", "gpu_memcpy", "gpu_memset",
                                      "memcpy", "memset",     NULL};
    static const char *const cpu[] = {
        "cpu_op",      "operator",     "user_annotation",     "python_function",
        "runtime",     "cuda_driver",  "hip_runtime",         "cuda_runtime",
        "xpu_runtime", "mtia_runtime", "privateuse1_runtime", NULL};
    const cJSON *ph = member(e, "ph"), *cat = member(e, "cat");
    int64_t ts, dur, end;
    o->events++;
    /* How ends find their begins is not worked out here a second time. */
    if (cJSON_IsString(ph) && strlen(ph->valuestring) == 1 && strchr("BEbeSFTpn", *ph->valuestring))
        return false;
    if (!cJSON_IsString(ph) || strcmp(ph->valuestring, "X"))
        return true;
    oracle_rows *rows = one_of(cat, gpu) ? &o->gpu : one_of(cat, cpu) ? &o->cpu : NULL;
    if (!rows)
        return true;
    if (!ns_of(member(e, "ts"), &ts) || !ns_of(member(e, "dur"), &dur))
        return false;
    bool good = ts != UNKNOWN && dur >= 0 && dur <= DAY && (ts != 0 || dur != 0) &&
                !__builtin_add_overflow(ts, dur, &end);
    rows->n += good;
    rows->dur += good ? dur : 0;
    return true;
}

static bool take_events(oracle *o, const cJSON *array) {
    const cJSON *e;
    if (!cJSON_IsArray(array))
        return false;
    cJSON_ArrayForEach(e, array) {
        if (!cJSON_IsObject(e) || !take_event(o, e))
            return false;
    }
    return true;
}

static bool take_top(oracle *o, const cJSON *top) {
    const cJSON *item;
    if (!cJSON_IsObject(top))
        return take_events(o, top);
    cJSON_ArrayForEach(item, top) {
        if (!strcmp(item->string, "traceEvents") && !take_events(o, item))
            return false;
    }
    return true;
}

bool oracle_read(const char *text, size_t length, oracle *ret_oracle) {
    g_autoptr(GString) quoted = quote_numbers(text, length);
    if (!quoted)
        return false;
    cJSON *top = cJSON_ParseWithLengthOpts(quoted->str, quoted->len + 1, NULL, true);
    *ret_oracle = (oracle){0};
    bool sure = top && take_top(ret_oracle, top);
    cJSON_Delete(top);
    return sure;
}
