/* SPDX-License-Identifier: Apache-2.0 */
/* Services that reach outside: sinks, which are kept in memory, files to read, and INI files. */
#include "private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---------------------------------------------------------------- sinks */

static mill_status sink_write(mill_sink *public, const void *data, size_t n) {
    kt_sink *s = (kt_sink *)public;
    kt_pass *p = kt_own_thread(&s->owner->run, "write of a sink");
    s->used = true;
    if (++p->writes >= p->plan.write_fails_at && p->plan.write_fails_at > 0)
        return mill_fail(&p->run, MILL_E_IO, "cannot write %s: no space left on device", s->path);
    kt_text_add(&s->bytes, data, n);
    return MILL_OK;
}

mill_status kt_service_sink_open(mill_run *run, const char *path, mill_sink **ret_sink) {
    kt_pass *p = kt_own_thread(run, "sink_open");
    bool each = kt_is_keyed(p->test) && !(p->test->stage->flags & MILL_STAGE_SINGLE);
    if (p->callback && strcmp(p->callback, "check") == 0)
        return kt_pass_blame(p, "opens a file in `check`");
    if (each && !p->may_output)
        return kt_pass_blame(p,
                             "opens a file outside of `run`, though its runs are shared out among "
                             "instances");
    size_t at = each ? p->at : SIZE_MAX;
    bool all = strcmp(path, "-") == 0;
    kt_sink *s = p->sinks;
    while (s && (strcmp(s->path, path) != 0 || (all && s->item != at)))
        s = s->next;
    if (s && s->item != at)
        return mill_fail(run, MILL_E_CONFIG,
                         "%s is written by another item already: give each its own path, for "
                         "instance with ${item}",
                         path);
    if (!s) {
        s = kt_alloc(sizeof *s);
        *s = (kt_sink){
            {sizeof(mill_sink), 0, sink_write}, p, p->sinks, kt_copy(path), {0}, 0, 0, at};
        kt_text_add(&s->bytes, "", 0);
        p->sinks = s;
    }
    s->used = true;
    *ret_sink = &s->public;
    return MILL_OK;
}

void kt_sinks_destroy(kt_sink *all) {
    for (kt_sink *next; all; all = next) {
        next = all->next;
        kt_text_clear(&all->bytes);
        free(all->path);
        free(all);
    }
}

/* ---------------------------------------------------------------- sources */

static mill_status read_file(mill_run *run, const char *path, kt_text *out) {
    FILE *file = fopen(path, "rb");
    char part[65536];
    size_t n;
    if (!file)
        return mill_fail(run, errno == ENOENT || errno == EACCES ? MILL_E_NOINPUT : MILL_E_IO,
                         "%s: %s", path, strerror(errno));
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        kt_text_add(out, part, n);
    bool good = !ferror(file);
    int error = errno;
    fclose(file);
    return good ? MILL_OK : mill_fail(run, MILL_E_IO, "%s: %s", path, strerror(error));
}

mill_status kt_service_source_map(mill_run *run, const char *path, mill_source **ret_source) {
    kt_pass *p = kt_own_thread(run, "source_map");
    kt_text content = {0};
    mill_status status = read_file(run, path, &content);
    if (status == MILL_OK) {
        kt_source *s = kt_alloc(sizeof *s);
        s->memory = kt_watched_create();
        uint8_t *data = kt_watched_alloc(s->memory, content.n);
        memcpy(data, kt_text_of(&content), content.n);
        kt_watched_protect(s->memory, PROT_READ);
        s->public = (mill_source){sizeof(mill_source), 0, data, content.n};
        s->next = p->sources;
        p->sources = s;
        *ret_source = &s->public;
    }
    kt_text_clear(&content);
    return status;
}

void kt_sources_destroy(kt_source *all) {
    for (kt_source *next; all; all = next) {
        next = all->next;
        kt_watched_destroy(all->memory);
        free(all);
    }
}

/* ---------------------------------------------------------------- INI */

typedef struct ini {
    mill_run *run;
    const char *path;
    mill_ini_fn fn;
    void *arg;
    char *section, *key;
    kt_text value;
    uint32_t line; /* of the key */
} ini;

static bool flush(ini *r) {
    bool more = !r->key || r->fn(r->arg, r->section, r->key, kt_text_of(&r->value), r->line);
    free(r->key);
    r->key = NULL;
    kt_text_clear(&r->value);
    return more;
}

/* The line without blanks at its ends and without its comment; changes it. */
static char *strip(char *line) {
    char *end = line;
    for (char *c = line; *c; c++) {
        if ((*c == ';' || *c == '#') && (c == line || c[-1] == ' ' || c[-1] == '\t') &&
            (*c == ';' || line + strspn(line, " \t") == c))
            break;
        end = c + 1;
    }
    while (end > line && strchr(" \t\r", end[-1]))
        end--;
    *end = '\0';
    return line + strspn(line, " \t");
}

/* "key =" begins a value; the indented rest goes on with the one above. */
static char *key_end(char *line) {
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    size_t blank = strspn(line + n, " \t");
    return n > 0 && line[n + blank] == '=' ? line + n + blank : NULL;
}

static bool wrong_line(ini *r, uint32_t at, const char *line) {
    mill_fail(r->run, MILL_E_DATA, "%s:%u: not `key = value`: %s", r->path, at, line);
    return false;
}

static bool begin_section(ini *r, char *line, uint32_t at) {
    if (!flush(r))
        return false;
    free(r->section);
    line[strlen(line) - 1] = '\0';
    r->section = kt_copy(line + 1);
    return r->fn(r->arg, r->section, NULL, NULL, at);
}

static bool take_line(ini *r, char *raw, uint32_t at) {
    bool indented = *raw == ' ' || *raw == '\t';
    char *line = strip(raw);
    if (!*line)
        return true;
    if (*line == '[' && line[strlen(line) - 1] == ']')
        return begin_section(r, line, at);
    char *equals = key_end(line);
    if (indented && r->key && !equals) {
        kt_text_addf(&r->value, "%s%s", r->value.n > 0 ? "\n" : "", line);
        return true;
    }
    if (!flush(r))
        return false;
    if (!equals)
        return wrong_line(r, at, line);
    char *value = equals + 1 + strspn(equals + 1, " \t");
    line[strcspn(line, " \t=")] = '\0';
    r->key = kt_copy(line);
    kt_text_add(&r->value, value, strlen(value));
    r->line = at;
    return true;
}

mill_status kt_service_ini_read(mill_run *run, const char *path, mill_ini_fn fn, void *arg) {
    kt_own_thread(run, "ini_read");
    kt_text content = {0};
    mill_status status = read_file(run, path, &content);
    ini r = {.run = run, .path = path, .fn = fn, .arg = arg, .section = kt_copy("")};
    bool more = status == MILL_OK;
    uint32_t line = 1;
    kt_text_add(&content, "", 0);
    for (char *at = content.s, *next; more && at; at = next, line++) {
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        more = take_line(&r, at, line);
    }
    more = more && flush(&r);
    free(r.key);
    free(r.section);
    kt_text_clear(&r.value);
    kt_text_clear(&content);
    return status != MILL_OK ? status : more ? MILL_OK : MILL_E_DATA;
}
