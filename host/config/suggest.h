/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the nearest of some names by edit distance. */
#ifndef TRACEMILL_CONFIG_SUGGEST_H
#define TRACEMILL_CONFIG_SUGGEST_H

/* The name nearest to `word` (insertions, deletions, substitutions and swaps of neighbours; case
 * ignored), the first such; NULL if all differ in more than a third of the word, at least one byte.
 * `names` ends with NULL, or is NULL. Borrowed from `names`. */
const char *suggest_nearest(const char *word, const char *const *names);

/* "did you mean "x"?", or NULL. The caller frees it. */
char *suggest_hint(const char *word, const char *const *names);

#endif
