/* SPDX-License-Identifier: Apache-2.0 */
/* Finds plugin files in the order that decides which one wins, and refuses those that someone else
 * could have replaced. */
#ifndef HOST_MODULE_SEARCH_H
#define HOST_MODULE_SEARCH_H

#include "module/place.h"

#define SEARCH_ENV "TRACEMILL_PLUGIN_PATH" /* absolute folders, separated by ':' */

/* All *.so of: `plugin_paths` (NULL-terminated or NULL; relative ones count from the working
 * directory), `env_paths` (the text of SEARCH_ENV, or NULL), the folders of `where`. Within a
 * folder in byte order of the names. Returns module * (of module.h); those that may not be tried,
 * and folders that can't be read, are refused with the reason. A file reached twice is listed once.
 * A build tree's own folders are trusted whoever may write to them. */
GPtrArray *search_modules(const char *const *plugin_paths, const char *env_paths,
                          const place *where, bool trust_writable);

#endif
