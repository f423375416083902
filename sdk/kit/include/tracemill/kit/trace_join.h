/* SPDX-License-Identifier: Apache-2.0 */
/* Building one trace from parts that several threads read: each part has a builder of its own, and
 * they are joined in the order of the file.
 *
 * After all joins the builder is as if it had been given everything itself, in that order: numbers
 * of texts, devices, streams and threads are those of their first appearance. A reader that keeps
 * such numbers must map those it got from the part.
 */
#ifndef TRACEMILL_KIT_TRACE_JOIN_H
#define TRACEMILL_KIT_TRACE_JOIN_H

#include <tracemill/kit/trace_builder.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A builder without a value, for rows and what they refer to, but no facts: no kit_trace_value,
 * _text, _describe_device, _finish. */
kit_trace *kit_trace_create_part(mill_run *run);

/* No more rows come: gives back the memory that was for them, since a part may wait for its join.
 */
void kit_trace_end_part(kit_trace *part);

/* What the numbers that a part gave have become, each by the old number. */
typedef struct kit_join {
    uint32_t *strings, *kinds, *names, *streams, *collectives;
    uint32_t
        *threads; /* for the caller to fill: what makes two threads one is not in the builder */
    uint32_t n_threads;
} kit_join;

/* First step: takes over the texts, devices and streams of a part. */
void kit_join_init(kit_join *j, kit_trace *b, const kit_trace *part);
void kit_join_finish(kit_join *j);

/* Second step: moves the rows of the part behind those of b, and adds what it diagnosed. tracks:
 * what the `track` of its GPU rows becomes. The part is then good for kit_trace_destroy only. */
void kit_trace_join(kit_trace *b, kit_trace *part, const kit_join *j, const uint32_t *tracks);

#ifdef __cplusplus
}
#endif
#endif
