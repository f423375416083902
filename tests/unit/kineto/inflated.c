/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a file as the reader's own containers inflate it. */
#include "inflated.h"

#include "bench_host.h"
#include "input.h"

GByteArray *inflated(const char *path) {
    bench *b = bench_create(NULL, NULL);
    input *in = NULL;
    GByteArray *text = NULL;
    if (input_open(bench_services(b), path, &in) == MILL_OK) {
        static char window[1 << 16];
        size_t length;
        text = g_byte_array_new();
        while (input_read(bench_services(b), in, window, sizeof window, &length) == MILL_OK &&
               length)
            g_byte_array_append(text, (const guint8 *)window, (guint)length);
        input_close(in);
    }
    bench_destroy(b);
    return text;
}
