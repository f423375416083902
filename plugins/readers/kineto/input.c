/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of sources: a file, and what is unpacked from it, layer by layer, as the bytes say. */
#include "input.h"

#include "input_source.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define LAYERS 6   /* the file, what a zip holds, and compressed texts that were compressed again */
#define SNIFFED 64 /* bytes by which a member is known to be JSON, or not */

struct input {
    const char *path;
    source *file;
    buffer *layers[LAYERS]; /* each looks ahead in the one before, the first in the file */
    size_t n;
    zip *archive; /* in the layer `base` - 1; NULL: the file is none */
    size_t base;  /* layers that stay from text to text */
    char *name;
    bool begun;
    uint64_t skipped;
};

static buffer *top(const input *in) {
    return in->layers[in->n - 1];
}

static void push(input *in, source *from) {
    in->layers[in->n++] = buffer_create(from);
}

static void pop_to(input *in, size_t n) {
    while (in->n > n)
        buffer_destroy(in->layers[--in->n]);
}

/* What compresses the top layer, or NULL. */
static source *decoder(buffer *below) {
    return gzip_begins(below) ? gzip_create(below) : zstd_begins(below) ? zstd_create(below) : NULL;
}

static mill_status unpack(mill_run *run, input *in) {
    size_t room = in->archive ? LAYERS : LAYERS - 1; /* a zip needs one more, for its members */
    for (;;) {
        mill_status status = buffer_need(run, top(in), 6);
        source *unpacked = status == MILL_OK && in->n < room ? decoder(top(in)) : NULL;
        if (!unpacked)
            return status;
        push(in, unpacked);
    }
}

/* Containers that are known, but not read. */
static mill_status refuse(mill_run *run, const input *in) {
    static const struct {
        const char *magic, *what;
    } others[] = {{"BZh", "compressed with bzip2"},
                  {"\xfd"
                   "7zXZ",
                   "compressed with xz"},
                  {"7z\xbc\xaf\x27\x1c", "a 7z archive"}};
    const buffer *b = top(in);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        size_t length = strlen(others[i].magic);
        if (buffer_has(b) >= length && !memcmp(b->bytes + b->at, others[i].magic, length))
            return mill_fail(run, MILL_E_DATA,
                             "%s: the file is %s: unpack it and give the .json in it, plain, as "
                             ".json.gz, .json.zst or in a .zip",
                             in->path, others[i].what);
    }
    return MILL_OK;
}

mill_status input_open(mill_run *run, const char *path, input **ret_input) {
    source *file;
    mill_status status = file_open(run, path, &file);
    if (status != MILL_OK)
        return status;
    input *in = kit_alloc(1, sizeof *in);
    in->path = path;
    in->file = file;
    push(in, file);
    status = unpack(run, in);
    if (status == MILL_OK && zip_begins(top(in)))
        in->archive = zip_create(top(in));
    else if (status == MILL_OK)
        status = refuse(run, in);
    in->base = in->n;
    if (status == MILL_OK)
        *ret_input = in;
    else
        input_close(in);
    return status;
}

void input_close(input *in) {
    if (!in)
        return;
    pop_to(in, 0);
    zip_destroy(in->archive);
    free(in->name);
    free(in);
}

/* ---------------------------------------------------------------- the texts of an archive */

static bool begins_as_json(const buffer *b) {
    const char *at = (const char *)b->bytes + b->at, *end = (const char *)b->bytes + b->end;
    if (end - at >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
        at += 3;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at < end && (*at == '{' || *at == '[');
}

static void set_name(input *in, const char *name) {
    free(in->name);
    in->name = kit_alloc(strlen(name) + 1, 1);
    for (size_t i = 0; name[i]; i++)
        in->name[i] = name[i];
    for (char *c = in->name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '_';
}

mill_status input_next(mill_run *run, input *in, bool *ret_more) {
    *ret_more = !in->archive && !in->begun;
    in->begun = true;
    while (in->archive) {
        pop_to(in, in->base);
        mill_status status = zip_next(run, in->archive, ret_more);
        if (status != MILL_OK || !*ret_more)
            return status;
        push(in, zip_member(in->archive));
        status = unpack(run, in);
        if (status == MILL_OK)
            status = buffer_need(run, top(in), SNIFFED);
        if (status != MILL_OK || begins_as_json(top(in))) {
            set_name(in, zip_name(in->archive));
            return status;
        }
        in->skipped++;
    }
    return MILL_OK;
}

const char *input_name(const input *in) {
    return in->name ? in->name : "";
}

mill_status input_read(mill_run *run, input *in, char *to, size_t room, size_t *ret_length) {
    return buffer_read(run, top(in), (uint8_t *)to, room, ret_length);
}

bool input_is_plain(const input *in) {
    return in->n == 1 && !in->archive && input_size(in) > 0;
}

mill_status input_read_at(mill_run *run, const input *in, uint64_t byte, char *to, size_t room,
                          size_t *ret_length) {
    return file_read_at(run, in->file, byte, to, room, ret_length);
}

/* ---------------------------------------------------------------- what is known of it */

input_state input_get_state(const input *in) {
    for (size_t i = 0; i < in->n; i++)
        if (in->layers[i]->from->state != INPUT_WHOLE)
            return in->layers[i]->from->state;
    return in->archive ? zip_get_state(in->archive) : INPUT_WHOLE;
}

bool input_is_archive(const input *in) {
    return in->archive != NULL;
}

bool input_is_packed(const input *in) {
    return in->n > 1;
}

uint64_t input_skipped(const input *in) {
    return in->skipped + (in->archive ? zip_skipped(in->archive) : 0);
}

uint64_t input_done(const input *in) {
    return file_done(in->file);
}

uint64_t input_size(const input *in) {
    return file_size(in->file);
}
