/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the whole stage kineto.read: options, rules files, containers, archives and what is said
 * of them. The first bytes of the input choose how it is run; then come the text of a rules file, a
 * NUL, and the profile. */
#include "bench_host.h"
#include "fuzz.h"
#include "order.h"
#include "pack.h"
#include "same_trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef enum container { PLAIN, PACKED, DAMAGED, ARCHIVE, N_CONTAINERS } container;

/* Shares are of 256. */
typedef struct plan {
    uint8_t switches, more, container, kind, max_event, cut, flip;
} plan;

/* Options by the bits of `switches`, and what the bits of `more` mean. */
static const char *const switches[] = {"metadata", "cpu", "python", "counters", "flows", "memory"};
enum { NO_PLANES = 1, TWO_JOBS = 2, CANCEL = 4, NO_OVERLAP = 8, RULES_FILE = 16, STRICT = 64 };

/* One gets the input's rules, by `more` / RULES_FILE. The others have no expressions, which take
 * their time to compile. */
static const struct {
    const char *option, *text;
} rules_files[] = {
    {"kernel-rules", "[copy]\ncategory = gpu_memcpy\nclass = memory\n[rest]\nclass = other\n"},
    {"collective-rules", "[all]\nkind = all-reduce\n"},
    {"plane-rules", "[all]\ncategory = kernel\n"},
    {"rules", "[set]\ncategory = gpu_memset\nclass = communication\nkind = own\n"},
};

/* ---------------------------------------------------------------- files in memory */

static int new_file(void) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    return fd;
}

static void fill_file(int fd, const void *bytes, size_t length) {
    g_assert_cmpint(ftruncate(fd, 0), ==, 0);
    g_assert_cmpint(pwrite(fd, bytes, length, 0), ==, (ssize_t)length);
}

static void set_path(bench *b, const char *option, int fd) {
    g_autofree char *setting = g_strdup_printf("%s=/proc/self/fd/%d", option, fd);
    bench_option(b, setting);
}

static int profile_file(const void *bytes, size_t length) {
    static int fd = -1;
    if (fd < 0)
        fd = new_file();
    fill_file(fd, bytes, length);
    return fd;
}

/* ---------------------------------------------------------------- one run */

typedef struct subject {
    const plan *p;
    const char *rules; /* of the input; NULL: it has none */
    size_t rules_length;
} subject;

typedef struct outcome {
    bench *b;
    mill_status status;
} outcome;

static void set_rules(bench *b, const subject *s) {
    static int own[G_N_ELEMENTS(rules_files)], from_input;
    if (!from_input) {
        from_input = new_file();
        for (size_t i = 0; i < G_N_ELEMENTS(own); i++) {
            own[i] = new_file();
            fill_file(own[i], rules_files[i].text, strlen(rules_files[i].text));
        }
    }
    size_t chosen = s->rules ? s->p->more / RULES_FILE % G_N_ELEMENTS(own) : SIZE_MAX;
    if (s->rules)
        fill_file(from_input, s->rules, s->rules_length);
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
        set_path(b, rules_files[i].option, i == chosen ? from_input : own[i]);
}

static void set_options(bench *b, const plan *p) {
    for (size_t i = 0; i < G_N_ELEMENTS(switches); i++) {
        g_autofree char *setting =
            g_strdup_printf("%s=%s", switches[i], p->switches >> i & 1 ? "yes" : "no");
        bench_option(b, setting);
    }
    g_autofree char *limit = g_strdup_printf("max-event=%dB", 4096 + p->max_event * 16);
    bench_option(b, limit);
    bench_option(b, p->more & NO_PLANES ? "planes=off" : "planes=auto");
    bench_option(b, p->more & NO_OVERLAP ? "max-overlap=0ns" : "max-overlap=1ms");
    bench_jobs(b, p->more & TWO_JOBS ? 2 : 1);
}

/* The stage with an engine ("engine=fast") and one more setting. */
static bench *prepare(const subject *s, const char *engine, const char *setting) {
    bench *b = bench_create(&mill_module_v1, "kineto.read");
    set_options(b, s->p);
    set_rules(b, s);
    bench_option(b, engine);
    bench_option(b, setting);
    return b;
}

static outcome read_file(bench *b, const void *bytes, size_t length) {
    set_path(b, "path", profile_file(bytes, length));
    mill_status status = bench_run(b);
    g_assert_cmpint(status, !=, MILL_E_PLUGIN);
    g_assert_true((status == MILL_OK) == (bench_output_count(b, "trace") > 0));
    for (size_t i = 0; i < bench_output_count(b, "trace"); i++)
        order_check(bench_output(b, "trace", i));
    return (outcome){b, status};
}

static void same_outcome(outcome x, outcome y, bool same_words) {
    g_assert_cmpint(x.status, ==, y.status);
    size_t n = bench_output_count(x.b, "trace");
    g_assert_cmpuint(n, ==, bench_output_count(y.b, "trace"));
    for (size_t i = 0; i < n; i++)
        same_trace(bench_output(x.b, "trace", i), bench_output(y.b, "trace", i));
    if (same_words) {
        g_assert_cmpstr(bench_causes(x.b), ==, bench_causes(y.b));
        g_assert_cmpstr(bench_log(x.b), ==, bench_log(y.b));
    }
}

/* ---------------------------------------------------------------- strict */

/* Whether something of the file is in no column. */
static bool has_lost(outcome o) {
    for (size_t k = 0; k < bench_output_count(o.b, "trace"); k++) {
        const mill_trace *t = bench_output(o.b, "trace", k);
        for (uint64_t i = 0; i < t->diagnostics.n; i++)
            if (mill_u8(t, &t->diagnostics.lost, i))
                return true;
    }
    return false;
}

/* The line that a message names is that of the byte it names. */
static void check_line(outcome o, const char *text, size_t length) {
    unsigned long long line, byte;
    const char *words = strstr(bench_causes(o.b), ": line ");
    if (!words || sscanf(words, ": line %llu, byte %llu", &line, &byte) != 2)
        return;
    g_assert_cmpuint(byte, <=, length);
    for (size_t i = 0; i < byte; i++)
        line -= text[i] == '\n';
    g_assert_cmpuint(line, ==, 1);
}

/* ---------------------------------------------------------------- containers */

/* `strict` forbids what is lost, and nothing else; of an archive it also wants each member to be a
 * trace, and the end. text NULL: it may be an archive, or its text is not known. */
static void check_strict(const subject *s, outcome easy, const GByteArray *file, const char *text,
                         size_t length) {
    outcome hard = read_file(prepare(s, "engine=fast", "strict=yes"), file->data, file->len);
    if (easy.status != MILL_OK) {
        g_assert_cmpint(hard.status, ==, easy.status);
    } else if (hard.status == MILL_OK) {
        same_outcome(easy, hard, true);
        g_assert_false(has_lost(easy));
    } else {
        g_assert_cmpint(hard.status, ==, MILL_E_DATA);
        g_assert_true(has_lost(easy) || !text);
    }
    if (text)
        check_line(hard, text, length);
    bench_destroy(hard.b);
}

/* A file of bytes, and its text where that is known: what is packed is read as the text is, by
 * both engines. */
static void check_file(const subject *s, const GByteArray *file, const char *text, size_t length) {
    bool packed = !pack_is_json((const char *)file->data, file->len);
    outcome fast = read_file(prepare(s, "engine=fast", "strict=no"), file->data, file->len);
    bench *reference = prepare(s, "engine=reference", "strict=no");
    outcome plain =
        text ? read_file(reference, text, length) : read_file(reference, file->data, file->len);
    same_outcome(fast, plain, !packed || !text); /* an archive is named in what is said */
    if (text)
        check_line(plain, text, length);
    if (s->p->more & STRICT)
        check_strict(s, fast, file, packed ? NULL : text, length);
    bench_destroy(fast.b);
    bench_destroy(plain.b);
}

static void check_packed(const subject *s, const char *text, size_t length) {
    const plan *p = s->p;
    g_autoptr(GByteArray) file = pack_containers[p->kind % PACK_N_CONTAINERS].pack(text, length);
    bool whole = p->container % N_CONTAINERS == PACKED;
    if (!whole && file->len > 0) {
        file->data[(size_t)file->len * p->flip / 256] ^= (uint8_t)(p->flip ? 1 << p->flip % 8 : 0);
        g_byte_array_set_size(file, file->len - (guint)((size_t)file->len * p->cut / 256));
    }
    check_file(s, file, whole && pack_is_json(text, length) ? text : NULL, length);
}

/* The parts of a text between form feeds, as members of a zip: each must become what it is alone.
 */
static void check_archive(const subject *s, const char *text, size_t length) {
    static const char *const names[] = {"runs/a b.json", "runs/a_b.json", "", "c/\xc3\xa9"};
    g_autoptr(GByteArray) zip = g_byte_array_new();
    g_autoptr(GPtrArray) traces = g_ptr_array_new(), alone = g_ptr_array_new();
    const char *end = text + length;
    bool sure = true;
    for (guint i = 0; text < end && i < 6; i++) {
        const char *stop = memchr(text, '\f', (size_t)(end - text));
        size_t part = (size_t)((stop ? stop : end) - text);
        int how = (s->p->kind + (int)i * s->p->flip) & 15;
        if (!(how & PACK_DEFLATE)) /* not without a signature */
            how &= ~PACK_BARE_DESCRIPTOR;
        pack_zip_add(zip, names[i % G_N_ELEMENTS(names)], text, part, how);
        sure &= part == 0 || pack_is_json(text, part);
        outcome one = read_file(prepare(s, "engine=reference", "strict=no"), text, part);
        for (size_t k = 0; k < bench_output_count(one.b, "trace"); k++)
            g_ptr_array_add(traces, (void *)bench_output(one.b, "trace", k));
        g_ptr_array_add(alone, one.b);
        text += part + (stop != NULL);
    }
    pack_zip_end(zip);
    if (sure) {
        outcome all = read_file(prepare(s, "engine=fast", "strict=no"), zip->data, zip->len);
        g_assert_cmpuint(bench_output_count(all.b, "trace"), ==, traces->len);
        for (guint i = 0; i < traces->len; i++)
            same_trace(bench_output(all.b, "trace", i), traces->pdata[i]);
        bench_destroy(all.b);
    }
    g_ptr_array_foreach(alone, (GFunc)(void (*)(void))bench_destroy, NULL);
    check_file(s, zip, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    plan p;
    if (size <= sizeof p)
        return 0;
    memcpy(&p, data, sizeof p);
    const char *text = (const char *)data + sizeof p, *end = (const char *)data + size;
    const char *nul = memchr(text, '\0', (size_t)(end - text));
    subject s = {.p = &p, .rules = nul ? text : NULL};
    if (nul) {
        s.rules_length = (size_t)(nul - text);
        text = nul + 1;
    }
    size_t length = (size_t)(end - text);
    g_autoptr(GByteArray) bytes =
        g_byte_array_append(g_byte_array_new(), (const guint8 *)text, (guint)length);
    if (p.more & CANCEL) {
        bench *b = prepare(&s, "engine=auto", "strict=no");
        bench_cancel_at(b, 1 + p.cut);
        bench_destroy(read_file(b, bytes->data, bytes->len).b);
    }
    switch ((container)(p.container % N_CONTAINERS)) {
    case PACKED:
    case DAMAGED:
        check_packed(&s, text, length);
        break;
    case ARCHIVE:
        check_archive(&s, text, length);
        break;
    default:
        check_file(&s, bytes, pack_is_json(text, length) ? text : NULL, length);
    }
    return 0;
}
