/* SPDX-License-Identifier: Apache-2.0 */
/* Owns what exporters share: opening files, telling what is missing, and text in pieces. */
#include <tracemill/kit/export.h>

#include <string.h>
#include <sys/stat.h>
#include <tracemill/kit/value.h>

#define PIECE ((size_t)64 * 1024)

/* A device or a pipe is not replaced by writing to it. */
static bool is_file(const char *path) {
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* What this stage writes has a temporary name until it ends, so a file of this name is older. */
mill_status kit_export_open(mill_run *run, const char *path, bool overwrite, mill_sink **ret_sink) {
    if (!overwrite && is_file(path))
        return mill_fail(run, MILL_E_IO,
                         "%s is there already: remove it, give another path, or set "
                         "overwrite = yes",
                         path);
    return run->host->sink_open(run, path, ret_sink);
}

void kit_export_tell_missing(mill_run *run, uint32_t port, const char *what) {
    const char *stage, *key;
    size_t n = run->host->missing(run, port, 0, &stage, &key);
    if (n == 0)
        return;
    const char *of = *key ? " for " : "";
    if (n == 1)
        mill_log(run, MILL_WARNING, "no %s from %s%s%s: what makes it failed", what, stage, of,
                 key);
    else
        mill_log(run, MILL_WARNING, "no %s from %s%s%s, and %zu more: what makes them failed", what,
                 stage, of, key, n - 1);
}

/* Whether `key` is `item` or one of those that came from it: "item:sub-key". */
static bool is_within(const char *key, const char *item) {
    size_t length = strlen(item);
    return strncmp(key, item, length) == 0 && (key[length] == '\0' || key[length] == ':');
}

bool kit_export_next_missing(mill_run *run, uint32_t port, const char *key, size_t *i,
                             const char **ret_stage, const char **ret_key) {
    const char *stage = NULL, *missed = NULL;
    while (*i < run->host->missing(run, port, *i, &stage, &missed)) {
        ++*i;
        if (key && *missed && !is_within(key, missed) && !is_within(missed, key))
            continue;
        *ret_stage = stage;
        *ret_key = missed;
        return true;
    }
    return false;
}

mill_status kit_export_init(kit_export *out, mill_run *run, const char *path, bool overwrite) {
    *out = (kit_export){.run = run};
    mill_status status = kit_export_open(run, path, overwrite, &out->sink);
    if (!status)
        out->text = mill_scratch(run, PIECE);
    return status;
}

static void flush(kit_export *out) {
    if (!out->status && mill_cancelled(out->run))
        out->status = MILL_E_CANCELLED;
    if (!out->status && out->n)
        out->status = out->sink->write(out->sink, out->text, out->n);
    out->n = 0;
}

mill_status kit_export_finish(kit_export *out) {
    flush(out);
    return out->status;
}

void kit_export_bytes(kit_export *out, const char *text, size_t length) {
    while (length > 0) {
        if (out->n == PIECE)
            flush(out);
        size_t part = length < PIECE - out->n ? length : PIECE - out->n;
        memcpy(out->text + out->n, text, part);
        out->n += part;
        text += part;
        length -= part;
    }
}

void kit_export_char(kit_export *out, char c) {
    kit_export_bytes(out, &c, 1);
}

void kit_export_text(kit_export *out, const char *text) {
    kit_export_bytes(out, text, strlen(text));
}

static bool needs_quotes(const char *text, size_t length) {
    return length == 0 || strpbrk(text, ",\"\r\n") || text[0] == ' ' || text[length - 1] == ' ';
}

void kit_export_cell(kit_export *out, const char *text) {
    if (!needs_quotes(text, strlen(text))) {
        kit_export_text(out, text);
        return;
    }
    kit_export_char(out, '"');
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        kit_export_bytes(out, text, (size_t)(quote - text));
        kit_export_text(out, "\"\"");
    }
    kit_export_text(out, text);
    kit_export_char(out, '"');
}

void kit_export_int(kit_export *out, int64_t value) {
    char text[KIT_NUMBER_MAX];
    kit_export_text(out, kit_format_int(text, value, 0));
}

void kit_export_real(kit_export *out, double value) {
    char text[KIT_NUMBER_MAX];
    kit_export_text(out, kit_format_real(text, value));
}
