/* SPDX-License-Identifier: Apache-2.0 */
/* The fast engine against the reference engine on other processors than this one: plain C without
 * GLib, to be run by an emulator. Its argument is a trace as plain text, which is read whole, and
 * in pieces with damaged bytes. */
#include "demangle.h"
#include "engines.h"
#include "same_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what the reader asks of a host
 */

typedef struct block {
    struct block *next;
    max_align_t memory[];
} block;

static block *blocks; /* all that the values of this round own */

static void *value_alloc(mill_run *run, void *value, size_t size) {
    (void)run, (void)value;
    block *b = calloc(1, sizeof *b + size);
    if (!b)
        abort();
    b->next = blocks;
    blocks = b;
    return b->memory;
}

static void free_values(void) {
    while (blocks) {
        block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

static bool never_cancelled(mill_run *run) {
    (void)run;
    return false;
}

static void no_message(mill_run *run, mill_status status, const char *file, uint32_t line,
                       const char *text) {
    (void)run, (void)status, (void)file, (void)line, (void)text;
}

static mill_status one_by_one(mill_run *run, size_t n, mill_parallel_fn fn, void *arg) {
    mill_status status = MILL_OK;
    for (size_t i = 0; i < n && status == MILL_OK; i++)
        status = fn(run, arg, i);
    return status;
}

static const mill_host host = {
    .size = sizeof host,
    .fail = no_message,
    .cancelled = never_cancelled,
    .value_alloc = value_alloc,
    .parallel = one_by_one,
};
static mill_run run = {&host};

/* In place of the one that needs the library of C++ for that processor: names stay as they are. */
char *demangle(const char *mangled) {
    (void)mangled;
    return NULL;
}

/* ---------------------------------------------------------------- the test */

#define MANY 1000 /* events; of fewer, those that are odd may be most */

/* Reads the text by all versions of the fast engine that this processor has. Returns how many rows
 * it has. */
static uint64_t check_text(const char *text, size_t length, size_t window) {
    const engines_config reference = {ENGINES_REFERENCE, 1 << 18, 1 << 18, true};
    const mill_trace *right = engines_read(&run, &reference, text, length, NULL);
    for (int isa = FAST_SCALAR; isa <= FAST_BASE; isa++) {
        const engines_config config = {isa, window, window, true};
        uint64_t left;
        const mill_trace *t = engines_read(&run, &config, text, length, &left);
        if (!right != !t) {
            fprintf(stderr, "version %d of the fast engine disagrees\n", isa);
            abort();
        }
        if (t)
            same_trace(right, t);
        if (t && t->events > MANY && 2 * left > t->events) {
            fprintf(stderr, "version %d leaves most events to the reference engine\n", isa);
            abort();
        }
    }
    uint64_t n = right ? right->gpu.n + right->cpu.n : 0;
    free_values();
    return n;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Pieces of the text, with a few other bytes in them, through small windows. */
static void check_damaged(const char *text, size_t length) {
    static const char bytes[] = "\"\\{}[],: 0x\n\xff";
    static char piece[4096];
    uint64_t state = 1;
    for (int round = 0; round < 2000; round++) {
        size_t n = 200 + next_random(&state) % (sizeof piece - 200);
        piece[0] = '[';
        memcpy(piece + 1, text + next_random(&state) % (length - n), n - 1);
        char *brace = memchr(piece + 1, '{', n - 1);
        size_t begin = brace ? (size_t)(brace - piece) - 1 : 0;
        piece[begin] = '[';
        for (uint64_t i = next_random(&state) % 4; i > 0; i--)
            piece[begin + 1 + next_random(&state) % (n - begin - 1)] =
                bytes[next_random(&state) % (sizeof bytes - 1)];
        check_text(piece + begin, n - begin, 64 + next_random(&state) % 600);
    }
}

static char *read_file(const char *path, size_t *ret_length) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return NULL;
    long size = ftell(f);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    rewind(f);
    *ret_length = text ? fread(text, 1, (size_t)size, f) : 0;
    fclose(f);
    return text;
}

int main(int argc, char **argv) {
    size_t length = 0;
    char *text = argc == 2 ? read_file(argv[1], &length) : NULL;
    if (length < 8192) {
        printf("Bail out! expected the path of a trace\n");
        return 1;
    }
    printf("1..2\n");
    bool whole = check_text(text, length, 1 << 18) > 0 && check_text(text, length, 5000) > 0;
    printf("%s 1 - whole\n", whole ? "ok" : "not ok");
    check_damaged(text, length);
    printf("ok 2 - damaged\n");
    free(text);
    return !whole;
}
