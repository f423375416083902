/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a file as the reader's own containers inflate it. */
#ifndef TRACEMILL_TESTS_INFLATED_H
#define TRACEMILL_TESTS_INFLATED_H

#include <glib.h>

/* NULL: they refuse the file. Freed by the caller. */
GByteArray *inflated(const char *path);

#endif
