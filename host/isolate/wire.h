/* SPDX-License-Identifier: Apache-2.0 */
/* The wire between the host and the process of a stage: frames over a socket pair, each with a
 * kind, a body, and at most one file descriptor. Both ends are the same program, so numbers go as
 * they lie in memory; but what comes from a stage is never trusted. */
#ifndef HOST_ISOLATE_WIRE_H
#define HOST_ISOLATE_WIRE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum wire_kind {
    /* from the host */
    WIRE_HELLO = 1, /* who you are; with the page */
    WIRE_VALUE,     /* a saved value that a call will name; with its memory */
    WIRE_CALL,      /* call this callback */
    WIRE_SINK_IS,   /* the answer to WIRE_SINK; with the file if there is one */
    WIRE_BYE,       /* end */
    /* from the stage */
    WIRE_READY,        /* the module is loaded, or why not */
    WIRE_LOG,          /* a line for the log */
    WIRE_SINK,         /* open this path */
    WIRE_PARALLEL,     /* there is work for several threads */
    WIRE_PARALLEL_END, /* no more */
    WIRE_OUTPUT, /* a value that the callback posted; with its memory unless nobody takes it */
    WIRE_RETURN, /* the callback has ended */
    WIRE_KINDS
} wire_kind;

/* ---------------------------------------------------------------- bodies */

GByteArray *wire_body(void);
void wire_put_u32(GByteArray *to, uint32_t number);
void wire_put_u64(GByteArray *to, uint64_t number);
void wire_put_text(GByteArray *to, const char *text); /* NULL too */

/* Reads what was put, in the same order. What is not there reads as 0 or "", and sets `bad`. */
typedef struct wire_reader {
    const uint8_t *at;
    size_t left;
    bool bad;
} wire_reader;

wire_reader wire_read(const GByteArray *body);
uint32_t wire_get_u32(wire_reader *r);
uint64_t wire_get_u64(wire_reader *r);
/* Lies in the body. NULL where NULL was put. */
const char *wire_get_text(wire_reader *r);
/* True if all was read, and nothing was missing. */
bool wire_done(const wire_reader *r);

/* ---------------------------------------------------------------- frames */

typedef struct wire_frame {
    wire_kind kind;
    GByteArray *body;
    int fd; /* -1: none */
} wire_frame;

/* Sends a frame; takes the body (NULL: empty), not the descriptor (-1: none). False: errno is set.
 * One thread at a time for each end. */
bool wire_send(int socket, wire_kind kind, GByteArray *body, int fd);

typedef enum wire_result { WIRE_GOT, WIRE_END, WIRE_GARBAGE } wire_result;
/* Waits for a frame. WIRE_END: the other end is closed. WIRE_GARBAGE: these are no frames. */
wire_result wire_receive(int socket, wire_frame *ret_frame);
void wire_frame_clear(wire_frame *frame);

#endif
