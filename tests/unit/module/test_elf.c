/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ELF check: real files pass, every cut that matters and every broken field is told.
 */
#include "module/elf.h"
#include "module/elf_tables.h"
#include "module/reasons.h"

#include <elf.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tracemill/tracemill.h>
#include <unistd.h>

static char *good; /* the bytes of a real module */
static gsize good_size;

static bool check_bytes(const void *data, size_t size, char **ret_why) {
    int fd = memfd_create("elf", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, data, size), ==, (gssize)size);
    bool ok = elf_check(fd, ret_why);
    close(fd);
    return ok;
}

static void refuses(const void *data, size_t size, const char *part) {
    g_autofree char *why = NULL;
    g_assert_false(check_bytes(data, size, &why));
    if (!strstr(why, part))
        g_error("\"%s\" does not say \"%s\"", why, part);
}

/* Bytes that the segments need. */
static size_t needed_size(void) {
    const ElfW(Ehdr) *header = (const void *)good;
    const ElfW(Phdr) *segments = (const void *)(good + header->e_phoff);
    size_t needed = 0;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            needed = MAX(needed, segments[i].p_offset + segments[i].p_filesz);
    return needed;
}

static void test_every_cut(void) {
    size_t needed = needed_size(), step = MAX(good_size / 4000, 1);
    g_assert_cmpuint(needed, <, good_size);
    for (size_t size = 0; size < needed; size += step)
        refuses(good, size, size == 0 ? "is empty" : "is cut short");
    refuses(good, needed - 1, "is cut short");
    g_autofree char *why = NULL;
    g_assert_true(check_bytes(good, needed, &why)); /* only section headers are lost */
    g_assert_true(check_bytes(good, good_size, &why));
}

static void test_cut_sentence(void) {
    g_autofree char *part = g_strdup_printf("is cut short: %zu bytes, needs %zu; copy it again",
                                            needed_size() - 1, needed_size());
    refuses(good, needed_size() - 1, part);
}

static void test_header(void) {
    g_autofree char *copy = g_memdup2(good, good_size);
    ElfW(Ehdr) *header = (void *)copy, kept = *header;
    header->e_ident[EI_CLASS] = kept.e_ident[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    refuses(copy, good_size, "-bit shared object, this program needs a");
    *header = kept;
    header->e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
    refuses(copy, good_size, "is built for another machine");
    *header = kept;
    header->e_machine = EM_68K;
    refuses(copy, good_size, "is built for another machine (ELF number 4,");
    header->e_machine = kept.e_machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
    refuses(copy, good_size,
            kept.e_machine == EM_AARCH64 ? "is built for x86-64, and this program for AArch64"
                                         : "is built for AArch64, and this program for ");
    *header = kept;
    header->e_type = ET_EXEC;
    refuses(copy, good_size, "is a program, no shared object: link it with -shared");
    header->e_type = ET_REL;
    refuses(copy, good_size, "is an object file, not yet linked, no shared object: link");
    header->e_type = 77;
    refuses(copy, good_size, "is no shared object (ELF type 77");
    *header = kept;
    header->e_phentsize++;
    refuses(copy, good_size, "program header table makes no sense");
    *header = kept;
    header->e_phnum = 0;
    refuses(copy, good_size, "program header table makes no sense");
    *header = kept;
    header->e_phnum = PN_XNUM;
    refuses(copy, good_size, "program header table makes no sense");
    *header = kept;
    header->e_phnum = PN_XNUM - 1;
    refuses(copy, good_size, "do not reach its program headers");
    *header = kept;
    header->e_phoff = (ElfW(Off)) - 8; /* plus the table it wraps around */
    refuses(copy, good_size, "do not reach its program headers");
}

static void test_segments(void) {
    g_autofree char *copy = g_memdup2(good, good_size);
    const ElfW(Ehdr) *header = (void *)copy;
    ElfW(Phdr) *segments = (void *)(copy + header->e_phoff), *load = segments;
    while (load->p_type != PT_LOAD)
        load++;
    ElfW(Phdr) kept = *load;
    load->p_filesz = (ElfW(Xword)) - 1;
    load->p_offset = 2;
    refuses(copy, good_size, "ends beyond any file");
    *load = kept;
    load->p_offset = good_size;
    refuses(copy, good_size, "is cut short");
    *load = kept;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_DYNAMIC)
            segments[i].p_type = PT_NOTE;
    refuses(copy, good_size, "is no shared object: it has no dynamic section");
    for (unsigned i = 0; i < header->e_phnum; i++)
        segments[i].p_type = PT_NULL;
    refuses(copy, good_size, "nothing to load");
}

/* ---------------------------------------------------------------- tables */

static void note_module(void *arg, const elf_symbol *symbol) {
    if (strcmp(symbol->name, MILL_MODULE_SYMBOL) == 0 && symbol->defined && symbol->exported)
        ++*(int *)arg;
}

static void test_tables(void) {
    g_auto(elf_tables) t;
    g_assert_true(elf_tables_take(&t, g_memdup2(good, good_size), good_size));
    g_assert_false(t.program);
    int n = 0;
    elf_tables_symbols(&t, note_module, &n);
    g_assert_cmpint(n, ==, 1); /* in the dynamic table; in the other one nothing is exported */
    g_auto(elf_tables) own;
    g_assert_true(elf_tables_read(&own, "/proc/self/exe"));
    g_assert_true(own.program);
    g_assert_true(
        g_ptr_array_find_with_equal_func(own.needed, "libglib-2.0.so.0", g_str_equal, NULL));
}

/* FILE in the message stands for the module. */
static void says(const char *message, const char *expected) {
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), "tests/unit/module/good.so", NULL);
    g_autoptr(GString) from = g_string_new(message);
    g_string_replace(from, "FILE", path, 0);
    g_autofree char *text = reasons_not_loaded(path, from->str);
    g_assert_cmpstr(text, ==, expected);
}

/* What the loader says in cases that no file here provokes. */
static void test_loader_words(void) {
    says("/lib/libc.so.6: version `GLIBC_2.99' not found (required by FILE)",
         "it needs version GLIBC_2.99 of /lib/libc.so.6, and the one here is older: build it on "
         "the oldest system that it is to run on");
    says("FILE: cannot enable executable stack as shared object requires: Invalid argument",
         "the dynamic loader says: cannot enable executable stack as shared object requires: "
         "Invalid argument");
    says("libx.so: file too short",
         "it needs libx.so, which the dynamic loader does not take (file too short)");
    says("out of luck", "the dynamic loader says: out of luck");
    says("FILE: undefined symbol: _ZN4acme3runEv",
         "the dynamic loader says: undefined symbol: _ZN4acme3runEv: a name of C++: link what "
         "defines it with the C++ compiler");
}

static void test_not_elf(void) {
    refuses("hello, world, this is a text and no module whatever its name says it is\n", 72,
            "is not a shared object");
    refuses("\x7f", 1, "is cut short");
}

static void test_not_a_file(void) {
    g_autofree char *dir = g_dir_make_tmp("tracemill-elf-XXXXXX", NULL);
    g_autofree char *pipe = g_build_filename(dir, "pipe.so", NULL), *why = NULL;
    g_assert_false(elf_check_file(dir, &why));
    g_assert_cmpstr(why, ==, "is not a file but a folder");
    g_clear_pointer(&why, g_free);
    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
    g_assert_false(elf_check_file(pipe, &why)); /* does not wait for a writer */
    g_assert_cmpstr(why, ==, "is not a file but a device, pipe or socket");
    g_clear_pointer(&why, g_free);
    g_unlink(pipe);
    g_assert_false(elf_check_file(pipe, &why));
    g_assert_cmpstr(why, ==, "can't be opened: No such file or directory");
    g_rmdir(dir);
}

/* Every shared object of the build passes. */
static unsigned check_tree(const char *path) {
    unsigned n = 0;
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *child = g_build_filename(path, name, NULL), *why = NULL;
        if (g_file_test(child, G_FILE_TEST_IS_SYMLINK))
            continue;
        if (g_file_test(child, G_FILE_TEST_IS_DIR)) {
            n += check_tree(child);
        } else if (g_str_has_suffix(name, ".so")) {
            if (!elf_check_file(child, &why))
                g_error("%s %s", child, why);
            n++;
        }
    }
    return n;
}

static void test_build(void) {
    g_assert_cmpuint(check_tree(g_getenv("TRACEMILL_TEST_BUILD")), >=, 5);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), "tests/unit/module/good.so", NULL);
    g_assert_true(g_file_get_contents(path, &good, &good_size, NULL));
    g_test_add_func("/elf/every-cut", test_every_cut);
    g_test_add_func("/elf/cut-sentence", test_cut_sentence);
    g_test_add_func("/elf/header", test_header);
    g_test_add_func("/elf/segments", test_segments);
    g_test_add_func("/elf/tables", test_tables);
    g_test_add_func("/elf/loader-words", test_loader_words);
    g_test_add_func("/elf/not-elf", test_not_elf);
    g_test_add_func("/elf/not-a-file", test_not_a_file);
    g_test_add_func("/elf/build", test_build);
    int failed = g_test_run();
    g_free(good);
    return failed;
}
