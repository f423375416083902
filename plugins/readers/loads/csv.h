/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text cut into fields: by semicolons, commas, tabs or blanks, whatever the first line
 * has. */
#ifndef LOADS_CSV_H
#define LOADS_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct csv_field {
    const char *text; /* without quotes and the blanks around it; not NUL-terminated */
    size_t length;
} csv_field;

typedef struct csv {
    const char *at, *end;
    char separator; /* ' ': any number of blanks and tabs; '\0': not known yet */
    uint64_t line;  /* that of the fields, from 1 */
    csv_field *fields;
    size_t n, room;
} csv;

void csv_init(csv *c, const char *text, size_t length);
void csv_finish(csv *c);

/* Cuts the next line. Empty lines and comments (#) are passed over, but that a comment on the first
 * line may be the header, as numpy.savetxt writes it. False: there is none. */
bool csv_next(csv *c);

/* Decimal, or nan, inf and the like. */
bool csv_number(csv_field field, double *ret);

#endif
