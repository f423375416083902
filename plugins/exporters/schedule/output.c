/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers text until there is enough to write. */
#include "output.h"

#include <tracemill/kit/number.h>

#define PIECE (64 * 1024)

mill_status output_init(output *out, mill_run *run, const char *path) {
    *out = (output){.run = run};
    mill_status status = run->host->sink_open(run, path, &out->sink);
    if (!status)
        out->text = g_string_sized_new(PIECE + 256);
    return status;
}

static void flush(output *out) {
    if (!out->status && mill_cancelled(out->run))
        out->status = MILL_E_CANCELLED;
    if (!out->status && out->text->len)
        out->status = out->sink->write(out->sink, out->text->str, out->text->len);
    g_string_truncate(out->text, 0);
}

mill_status output_finish(output *out) {
    flush(out);
    g_string_free(out->text, TRUE);
    return out->status;
}

void output_char(output *out, char c) {
    if (out->text->len >= PIECE)
        flush(out);
    g_string_append_c(out->text, c);
}

void output_text(output *out, const char *text) {
    g_string_append(out->text, text);
}

void output_number(output *out, int64_t number) {
    char text[KIT_NUMBER_MAX];
    g_string_append(out->text, kit_format_int(text, number, 0));
}
