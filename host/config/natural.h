/* SPDX-License-Identifier: Apache-2.0 */
/* The natural order of texts: numbers in them compare by value, so rank2 comes before rank10. */
#ifndef TRACEMILL_CONFIG_NATURAL_H
#define TRACEMILL_CONFIG_NATURAL_H

/* Below, equal to or above 0 as `a` comes before, is, or comes after `b`. Total: 0 only for the
 * same text, and the same on every machine and in every locale. */
int natural_compare(const char *a, const char *b);
/* The same for elements of an array of texts, as g_ptr_array_sort and qsort hand them over. */
int natural_compare_elements(const void *a, const void *b);

#endif
