/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the processes and threads that are added. */
#include "added.h"

static void put_line(out *o, const char *what, int64_t pid, int64_t tid) {
    OUT(o, ",\n{\"ph\":\"M\",\"name\":\"");
    out_bytes(o, what, strlen(what));
    OUT(o, "\",\"pid\":");
    out_number(o, pid);
    OUT(o, ",\"tid\":");
    out_number(o, tid < 0 ? 0 : tid);
    OUT(o, ",\"args\":{\"");
}

void added_name(out *o, int64_t pid, int64_t tid, const char *name) {
    put_line(o, tid < 0 ? "process_name" : "thread_name", pid, tid);
    OUT(o, "name\":");
    added_text(o, name);
    OUT(o, "}}");
    put_line(o, tid < 0 ? "process_sort_index" : "thread_sort_index", pid, tid);
    OUT(o, "sort_index\":");
    out_number(o, tid < 0 ? pid : tid);
    OUT(o, "}}");
}

/* A profile's own bytes stay as they are, so that they read back; what is told of it is UTF-8,
 * which programs that read JSON insist on. */
void added_text(out *o, const char *text) {
    bool valid = g_utf8_validate(text, -1, NULL);
    g_autofree char *mended = valid ? NULL : g_utf8_make_valid(text, -1);
    text = mended ? mended : text;
    out_quoted(o, text, strlen(text));
}

void added_int(out *o, const char *key, int64_t value) {
    if (value == MILL_UNKNOWN)
        return;
    OUT(o, ",\"");
    out_bytes(o, key, strlen(key));
    OUT(o, "\":");
    out_number(o, value);
}
