/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels' names without what differs between builds of the same code: arguments, addresses, the
 * numbers of lambdas, and if asked for numbers in templates. */
#include "compare.h"

#include <ctype.h>
#include <string.h>

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The parenthesis that closes the one at `text`, or its end. */
static const char *closing(const char *text) {
    int open = 0;
    for (; *text; text++) {
        open += *text == '(';
        if (*text == ')' && --open == 0)
            return text;
    }
    return text;
}

static size_t digits(const char *text) {
    return strspn(text, "0123456789");
}

/* After which digits count something that the compiler made up. */
static bool is_made_up(const char *out, size_t n) {
    static const char *const marks[] = {"lambda", "#", "$_"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(marks[i]);
        if (n >= length && memcmp(out + n - length, marks[i], length) == 0)
            return true;
    }
    return false;
}

const char *compare_plain_name(mill_run *run, const char *name, bool template_numbers) {
    char *out = mill_scratch(run, strlen(name) + 1);
    size_t n = 0;
    int templates = 0;
    for (const char *c = name; *c;) {
        bool word = n > 0 && (isalnum((unsigned char)out[n - 1]) || out[n - 1] == '_');
        if (*c == '(' && templates == 0 && !starts(c, "(anonymous namespace)") &&
            !(n >= 8 && memcmp(out + n - 8, "operator", 8) == 0)) {
            const char *end = closing(c);
            c = *end ? end + 1 : end;
        } else if (*c == '(') { /* a part of the name or of a template argument */
            const char *end = closing(c);
            while (c < end)
                out[n++] = *c++;
        } else if (starts(c, "0x") && !word) {
            c += 2 + strspn(c + 2, "0123456789abcdefABCDEF");
        } else if (digits(c) > 0 && is_made_up(out, n)) {
            c += digits(c);
        } else if (digits(c) > 0 && !word && templates > 0 && !template_numbers) {
            out[n++] = '#';
            c += digits(c);
        } else {
            templates += *c == '<';
            templates -= *c == '>' && templates > 0 && !(n > 0 && out[n - 1] == '-');
            out[n++] = *c++;
        }
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    return out;
}
