/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two lives gave the same, and whether values of the module's own types survive being saved
 * and loaded. */
#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A sink that keeps what `save` writes. */
typedef struct memory_sink {
    mill_sink public;
    kt_text bytes;
} memory_sink;

static mill_status keep(mill_sink *public, const void *data, size_t n) {
    kt_text_add(&((memory_sink *)public)->bytes, data, n);
    return MILL_OK;
}

/* False, with a breach, if the value can't be saved. */
static bool save(kit_test *t, const mill_type *type, const void *data, kt_text *ret) {
    memory_sink s = {{sizeof(mill_sink), 0, keep}, {0}};
    mill_status status = type->save(&t->maker->run, data, &s.public);
    if (status != MILL_OK)
        kt_breach(t, "`save` of %s returns %d: %s", type->id, (int)status,
                  kt_text_of(&t->maker->causes));
    kt_text_add(&s.bytes, "", 0);
    *ret = s.bytes;
    return status == MILL_OK;
}

static char *differ(const char *format, const char *a, const char *b) {
    kt_text words = {0};
    kt_text_addf(&words, "%s: \"%s\" and \"%s\"", format, a, b);
    return words.s;
}

/* The first line in which two texts differ; NULL: none. */
static char *compare_lines(const char *a, const char *b) {
    while (*a || *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0) {
            kt_text x = {0}, y = {0};
            kt_text_add(&x, a, n);
            kt_text_add(&y, b, m);
            char *words = differ("a line of the report", kt_text_of(&x), kt_text_of(&y));
            kt_text_clear(&x);
            kt_text_clear(&y);
            return words;
        }
        a += n + (a[n] == '\n');
        b += m + (b[m] == '\n');
    }
    return NULL;
}

static char *compare_reports(const mill_report *a, const mill_report *b) {
    char *x = a ? kit_test_dump(a) : NULL, *y = b ? kit_test_dump(b) : NULL;
    char *words = x && y ? compare_lines(x, y) : NULL;
    free(x);
    free(y);
    return words;
}

static char *compare_saved(kit_test *t, const mill_type *type, const void *a, const void *b) {
    kt_text x = {0}, y = {0};
    bool good = save(t, type, a, &x) && save(t, type, b, &y);
    bool same = !good || (x.n == y.n && memcmp(x.s, y.s, x.n) == 0);
    kt_text_clear(&x);
    kt_text_clear(&y);
    return same ? NULL : kt_copy("its saved bytes");
}

char *kt_compare_values(kit_test *t, const kt_value *a, const kt_value *b) {
    const mill_type *type = a->type;
    if (type && type->save)
        return compare_saved(t, type, a->data, b->data);
    if (type && type->to_report)
        return compare_reports(kt_pass_to_report(t->maker, type, a->data),
                               kt_pass_to_report(t->maker, type, b->data));
    if (!a->memory || !b->memory || kt_watched_equal(a->memory, a->data, b->memory, b->data))
        return NULL;
    return kt_copy("its bytes");
}

/* ---------------------------------------------------------------- lives */

static const kt_posted *next_of(const kt_pass *p, size_t *at, size_t item) {
    for (; *at < p->n_outputs; ++*at)
        if (item == SIZE_MAX || p->outputs[*at].item == item)
            return &p->outputs[(*at)++];
    return NULL;
}

static char *compare_posted(kit_test *t, const kt_posted *x, const kt_posted *y) {
    if (!x || !y)
        return kt_copy("the number of outputs");
    const mill_port *port = kt_port(t->stage, t->stage->outputs, x->port);
    if (x->port != y->port || strcmp(x->key, y->key) != 0)
        return differ("the outputs' keys", x->key, y->key);
    char *words = strcmp(port->type, MILL_TYPE_REPORT) == 0
                      ? compare_reports(x->v->data, y->v->data)
                      : kt_compare_values(t, x->v, y->v);
    if (!words)
        return NULL;
    kt_text where = {0};
    kt_text_addf(&where, "output \"%s\"%s%s, %s", port->name, *x->key ? " of " : "", x->key, words);
    free(words);
    return where.s;
}

/* The sink of the other life that is this one's; NULL: none. */
static const kt_sink *same_sink(const kt_pass *p, const kt_sink *like) {
    const kt_sink *s = p->sinks;
    while (s && (strcmp(s->path, like->path) != 0 || s->item != like->item))
        s = s->next;
    return s;
}

static char *compare_sinks(const kt_pass *a, const kt_pass *b, size_t item) {
    for (const kt_sink *s = a->sinks; s; s = s->next) {
        if (item != SIZE_MAX && s->item != item)
            continue;
        const kt_sink *other = same_sink(b, s);
        if (!other || s->spoiled != other->spoiled ||
            (!s->spoiled &&
             (s->bytes.n != other->bytes.n || memcmp(s->bytes.s, other->bytes.s, s->bytes.n) != 0)))
            return differ("what is written", s->path, other ? other->path : "nothing");
    }
    return NULL;
}

char *kt_compare_passes(kit_test *t, const kt_pass *a, const kt_pass *b, size_t item) {
    size_t i = 0, k = 0;
    for (;;) {
        const kt_posted *x = next_of(a, &i, item), *y = next_of(b, &k, item);
        if (!x && !y)
            return compare_sinks(a, b, item);
        char *words = compare_posted(t, x, y);
        if (words)
            return words;
    }
}

/* ---------------------------------------------------------------- saved and loaded */

/* Loads `n` bytes; NULL if they are refused, which they may have to be. */
static void *load(kit_test *t, const mill_type *type, const kt_text *bytes, size_t n,
                  kt_watched *memory) {
    void *data = NULL;
    uint8_t *copy = kt_watched_alloc(memory, n);
    memcpy(copy, kt_text_of(bytes), n);
    mill_source *source = kt_watched_alloc(memory, sizeof *source);
    *source = (mill_source){sizeof *source, 0, copy, n};
    kt_watched_protect(memory, PROT_READ);
    kt_text_clear(&t->maker->causes);
    mill_status status = type->load(&t->maker->run, source, &data);
    if (status < MILL_OK && t->maker->causes.n == 0)
        kt_breach(t, "`load` of %s fails with %d and gives no cause (use mill_fail)", type->id,
                  (int)status);
    if (status == MILL_OK && !data)
        kt_breach(t, "`load` of %s returns MILL_OK and no value", type->id);
    return status == MILL_OK ? data : NULL;
}

static void end_loaded(kit_test *t, const mill_type *type, void *data) {
    if (data && !kt_pass_value(t->maker, data) && type->free)
        type->free(data);
}

static void tell_misuse(kit_test *t, kt_watched *memory, const mill_type *type) {
    bool write;
    size_t offset, block;
    if (kt_watched_misuse(memory, &write, &offset, &block))
        kt_breach(t, "`load` of %s writes to its source", type->id);
}

/* A file may have been cut: that is refused, with a cause. */
static void load_cut(kit_test *t, const mill_type *type, const kt_text *bytes, size_t n) {
    kt_watched *memory = kt_watched_create();
    void *data = load(t, type, bytes, n, memory);
    if (data)
        kt_breach(t, "`load` of %s takes the first %zu of the %zu bytes that `save` wrote",
                  type->id, n, bytes->n);
    end_loaded(t, type, data);
    tell_misuse(t, memory, type);
    kt_watched_destroy(memory);
}

static void load_whole(kit_test *t, const kt_value *v, const kt_text *bytes) {
    const mill_type *type = v->type;
    kt_watched *memory = kt_watched_create();
    void *data = load(t, type, bytes, bytes->n, memory);
    if (!data) {
        kt_breach(t, "`load` of %s refuses what `save` wrote: %s", type->id,
                  kt_text_of(&t->maker->causes));
    } else {
        char *words = compare_saved(t, type, v->data, data);
        if (!words && type->to_report)
            words = compare_reports(kt_pass_to_report(t->maker, type, v->data),
                                    kt_pass_to_report(t->maker, type, data));
        if (words)
            kt_breach(t, "a %s is another one after `save` and `load`: %s", type->id, words);
        free(words);
    }
    end_loaded(t, type, data);
    tell_misuse(t, memory, type);
    kt_watched_destroy(memory);
}

void kt_compare_round_trip(kit_test *t, const kt_value *v, const char *port) {
    const mill_type *type = v->type;
    kt_text bytes = {0};
    if (!type)
        return;
    kt_text_clear(&t->maker->causes);
    if (type->to_report)
        kt_pass_to_report(t->maker, type, v->data);
    if (!type->save != !type->load) {
        kt_breach(t, "%s, of output \"%s\", has only one of `save` and `load`", type->id, port);
    } else if (type->save && save(t, type, v->data, &bytes)) {
        load_whole(t, v, &bytes);
        load_cut(t, type, &bytes, 0);
        if (bytes.n > 1)
            load_cut(t, type, &bytes, bytes.n / 2);
    }
    kt_text_clear(&bytes);
    kt_text_clear(&t->maker->causes);
}
