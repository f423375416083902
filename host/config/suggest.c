/* SPDX-License-Identifier: Apache-2.0 */
/* The edit distance behind "did you mean". */
#include "config/suggest.h"

#include <glib.h>
#include <string.h>

enum { WORD_MAX = 64 }; /* bytes; nobody mistypes longer names than that by a letter */

/* The Damerau-Levenshtein distance in its restricted form (optimal string alignment): no part is
 * edited twice. Both words are at most WORD_MAX bytes. */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);
            row[j] = MIN(MIN(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && y == g_ascii_tolower(a[i - 2]))
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

const char *suggest_nearest(const char *word, const char *const *names) {
    size_t n = strlen(word);
    if (n > WORD_MAX)
        return NULL;
    size_t least = MAX(1, n / 3) + 1;
    const char *nearest = NULL;
    for (; names && *names; names++) {
        size_t m = strlen(*names);
        if (m > WORD_MAX)
            continue;
        size_t d = distance(word, n, *names, m);
        /* A word all of whose letters differ is no typing mistake. */
        if (d < least && d < MAX(n, m)) {
            least = d;
            nearest = *names;
        }
    }
    return nearest;
}

char *suggest_hint(const char *word, const char *const *names) {
    const char *nearest = suggest_nearest(word, names);
    return nearest ? g_strdup_printf("did you mean \"%s\"?", nearest) : NULL;
}
