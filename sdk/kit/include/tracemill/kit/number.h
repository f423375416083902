/* SPDX-License-Identifier: Apache-2.0 */
/* Exact numbers as text and back: nanoseconds and counts, without floating point. */
#ifndef TRACEMILL_KIT_NUMBER_H
#define TRACEMILL_KIT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIT_NUMBER_MAX 48 /* bytes that hold any result, with its NUL */

/* Groups of three digits are set apart with a space: for people, not for scripts. */
#define KIT_GROUP 1u

/* Nanoseconds in µs or ms with up to three or six decimals, trailing zeros dropped: 1500 is "1.5".
 * INT64_MIN is "unknown". Returns text. */
const char *kit_format_us(char text[KIT_NUMBER_MAX], int64_t ns, uint32_t flags);
const char *kit_format_ms(char text[KIT_NUMBER_MAX], int64_t ns, uint32_t flags);
/* A whole number. INT64_MIN is "unknown". */
const char *kit_format_int(char text[KIT_NUMBER_MAX], int64_t value, uint32_t flags);

/* part / whole as "12.3 %"; "unknown" where whole is not above 0 or either is INT64_MIN. */
const char *kit_format_percent(char text[KIT_NUMBER_MAX], int64_t part, int64_t whole);

/* Decimal text of microseconds ("12", "-0.5", "1.25e3"; JSON's number grammar, with a leading '+'
 * or zeros allowed) as nanoseconds, exact; decimals beyond ns round half away from zero. False, and
 * *ret_ns not touched, if it is not a number or does not fit; INT64_MIN, the unknown, never does.
 */
bool kit_parse_us(const char *text, size_t length, int64_t *ret_ns);

/* A whole number in the same grammar: "7.0" and "1e3" are, "7.5" is not. wrap: values from 2^63 to
 * 2^64-1 are taken as their two's complement. False if it is not one or does not fit. */
bool kit_parse_int(const char *text, size_t length, bool wrap, int64_t *ret_value);

/* A number in the same grammar times `scale`, which is above 0: "1.5" times 1000 is 1500. False if
 * it is not a number, or the product is not whole or does not fit. */
bool kit_parse_scaled(const char *text, size_t length, int64_t scale, int64_t *ret_value);

#ifdef __cplusplus
}
#endif
#endif
