/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target on each file of a folder, without libFuzzer: replay FOLDER. */
#include <glib.h>

#include "fuzz.h"

int main(int argc, char **argv) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) folder = argc == 2 ? g_dir_open(argv[1], 0, &error) : NULL;
    if (!folder) {
        g_printerr("expected a folder to replay%s%s\n", error ? ": " : "",
                   error ? error->message : "");
        return 2;
    }
    unsigned count = 0;
    for (const char *name; (name = g_dir_read_name(folder)); count++) {
        g_autofree char *path = g_build_filename(argv[1], name, NULL);
        g_autofree char *data = NULL;
        gsize size;
        if (!g_file_get_contents(path, &data, &size, &error)) {
            g_printerr("%s\n", error->message);
            return 2;
        }
        g_print("%s\n", name); /* the last one is to blame when it aborts */
        LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    }
    if (count == 0)
        g_printerr("%s: no files to replay\n", argv[1]);
    return count == 0;
}
