/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the ELF check: the input is a file. What passes must lie in the file as far as the dynamic
 * loader maps it; its tables may say anything. */
#include <elf.h>
#include <glib.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "module/elf.h"
#include "module/elf_tables.h"

/* The same rule in other words: bytes are counted one way only, in a type that can't overflow. */
static void check_promise(const uint8_t *data, size_t size) {
    ElfW(Ehdr) header;
    g_assert_cmpuint(size, >=, sizeof header);
    memcpy(&header, data, sizeof header);
    g_assert_cmpint(header.e_type, ==, ET_DYN);
    unsigned loads = 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        unsigned __int128 at = (unsigned __int128)header.e_phoff + i * sizeof segment;
        g_assert_true(at + sizeof segment <= size);
        memcpy(&segment, data + (size_t)at, sizeof segment);
        if (segment.p_type != PT_LOAD)
            continue;
        g_assert_true((unsigned __int128)segment.p_offset + segment.p_filesz <= size);
        loads++;
    }
    g_assert_cmpuint(loads, >, 0);
}

static void read_name(void *arg, const elf_symbol *symbol) {
    *(size_t *)arg += strlen(symbol->name);
}

/* Whatever the tables say, nothing beyond the file is read. */
static void check_tables(const uint8_t *data, size_t size) {
    g_auto(elf_tables) t;
    size_t length = 0;
    elf_tables_take(&t, g_memdup2(data, size), size);
    for (guint i = 0; i < t.needed->len; i++)
        length += strlen(t.needed->pdata[i]);
    length += t.runpath != NULL ? strlen(t.runpath) : 0;
    elf_tables_symbols(&t, read_name, &length);
    g_assert_true(length < SIZE_MAX / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, data, size), ==, (gssize)size);
    g_autofree char *why = NULL;
    if (elf_check(fd, &why)) {
        check_promise(data, size);
        check_tables(data, size);
        g_assert_null(why);
    } else {
        g_assert_true(why && *why && g_utf8_validate(why, -1, NULL));
    }
    close(fd);
    return 0;
}
