/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the ELF check: the input is a file. What passes must lie in the file as far as the dynamic
 * loader maps it. */
#include <elf.h>
#include <glib.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "module/elf.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(write(fd, data, size), ==, (gssize)size);
    g_autofree char *why = NULL;
    if (elf_check(fd, &why)) {
        check_promise(data, size);
        g_assert_null(why);
    } else {
        g_assert_true(why && *why && g_utf8_validate(why, -1, NULL));
    }
    close(fd);
    return 0;
}
