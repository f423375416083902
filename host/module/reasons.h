/* SPDX-License-Identifier: Apache-2.0 */
/* Why a file that is a whole shared object is no module all the same, in words that tell its author
 * what to do. */
#ifndef HOST_MODULE_REASONS_H
#define HOST_MODULE_REASONS_H

/* What dlopen's `message` about the file means. Looks for the libraries that it needs, by loading
 * them: their code runs here. The caller frees it. */
char *reasons_not_loaded(const char *path, const char *message);

/* Why dlsym did not find MILL_MODULE_SYMBOL in the file. The caller frees it. */
char *reasons_no_symbol(const char *path);

#endif
