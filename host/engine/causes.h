/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of causes: why a run failed, outermost first. */
#ifndef HOST_ENGINE_CAUSES_H
#define HOST_ENGINE_CAUSES_H

#include <cjson/cJSON.h>
#include <glib.h>
#include <pthread.h>
#include <tracemill/tracemill.h>

typedef struct cause {
    mill_status status;
    char *text;
    char *file; /* of the source that recorded it */
    uint32_t line;
} cause;

/* In the order they were recorded: the innermost first. Any thread may add to it. */
typedef struct causes {
    pthread_mutex_t lock; /* guards the list while causes are being added */
    GPtrArray *list;      /* of cause * */
} causes;

void causes_init(causes *c);
void causes_finish(causes *c);
void causes_add(causes *c, mill_status status, const char *file, uint32_t line, const char *text);
/* Adds one that the host itself records. */
void causes_addf(causes *c, mill_status status, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* Moves all of `from` to the end of `c`. */
void causes_move(causes *c, causes *from);
void causes_clear(causes *c);
bool causes_empty(const causes *c);

/* "a\n  caused by: b\n  caused by: c": outermost first. With `places` each has (file:line). Owner:
 * the caller. */
char *causes_text(const causes *c, bool places);
cJSON *causes_json(const causes *c);

/* "E_DATA" and the like, and the exit code of a run that ends by it. */
const char *status_name(mill_status status);
int status_exit_code(mill_status status);

#endif
