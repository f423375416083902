/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of output with the text that was once looked at and found right. */
#ifndef EXPORTERS_GOLDEN_H
#define EXPORTERS_GOLDEN_H

#include <glib.h>

/* Fails unless `text` equals NAME.golden in this folder, byte for byte. With
 * TRACEMILL_GOLDEN=update in the environment it writes that file instead. */
void golden_check(const char *name, const GString *text);

#endif
