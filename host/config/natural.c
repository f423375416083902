/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of texts with numbers in them. */
#include "config/natural.h"

#include <glib.h>
#include <string.h>

/* Compares the numbers at the start of *a and *b, of any length, and steps over them. */
static int compare_numbers(const char **a, const char **b) {
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    size_t n = strspn(*a, "0123456789"), m = strspn(*b, "0123456789");
    int order = n != m ? (n < m ? -1 : 1) : memcmp(*a, *b, n);
    *a += n;
    *b += m;
    return order;
}

int natural_compare(const char *a, const char *b) {
    const char *x = a, *y = b;
    while (*x && *y) {
        if (g_ascii_isdigit(*x) && g_ascii_isdigit(*y)) {
            int order = compare_numbers(&x, &y);
            if (order)
                return order;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++;
            y++;
        }
    }
    if (*x || *y)
        return *x ? 1 : -1;
    return strcmp(a, b); /* the same but for leading zeros */
}

int natural_compare_elements(const void *a, const void *b) {
    return natural_compare(*(const char *const *)a, *(const char *const *)b);
}
