/* SPDX-License-Identifier: Apache-2.0 */
/* The check of an ELF file's size, before dlopen maps it. */
#include "module/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

/* This program's own ELF header, placed by the linker: what a plugin has to agree with. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool refuse(char **ret_why, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse(char **ret_why, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *ret_why = g_strdup_vprintf(format, args);
    va_end(args);
    return false;
}

static bool read_at(int fd, void *data, size_t n, uint64_t offset, char **ret_why) {
    char *at = data;
    while (n > 0) {
        ssize_t got = pread(fd, at, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(ret_why, "can't be read: %s", g_strerror(errno));
        if (got == 0)
            return refuse(ret_why, "became shorter while it was read: is it still being copied?");
        at += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

static bool check_header(const ElfW(Ehdr) * header, char **ret_why) {
    const ElfW(Ehdr) *own = &__ehdr_start;
    if (header->e_ident[EI_CLASS] != own->e_ident[EI_CLASS])
        return refuse(ret_why, "is a %d-bit shared object, this program needs a %d-bit one",
                      header->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
                      own->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32);
    if (header->e_ident[EI_DATA] != own->e_ident[EI_DATA] || header->e_machine != own->e_machine)
        return refuse(ret_why, "is built for another machine (ELF number %u, this one is %u)",
                      header->e_machine, own->e_machine);
    if (header->e_type != ET_DYN)
        return refuse(ret_why,
                      "is no shared object (ELF type %u, not %u): link it with -shared -fPIC",
                      header->e_type, ET_DYN);
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum == 0 ||
        header->e_phnum == PN_XNUM)
        return refuse(ret_why, "is a damaged shared object: its program header table makes no "
                               "sense; build or copy it again");
    return true;
}

static bool check_segments(const ElfW(Phdr) * segments, size_t n, uint64_t size, char **ret_why) {
    uint64_t needed = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t end;
        if (segments[i].p_type != PT_LOAD)
            continue;
        if (__builtin_add_overflow((uint64_t)segments[i].p_offset, (uint64_t)segments[i].p_filesz,
                                   &end))
            return refuse(ret_why,
                          "is a damaged shared object: segment %zu ends beyond any file; "
                          "build or copy it again",
                          i);
        needed = MAX(needed, end);
    }
    if (needed == 0)
        return refuse(ret_why, "is a damaged shared object: it has nothing to load; build or copy "
                               "it again");
    if (needed > size)
        return refuse(ret_why,
                      "is cut short: %" G_GUINT64_FORMAT " bytes, needs %" G_GUINT64_FORMAT
                      "; copy it again",
                      size, needed);
    return true;
}

bool elf_check(int fd, char **ret_why) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return refuse(ret_why, "can't be examined: %s", g_strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse(ret_why, "is not a file but a %s",
                      S_ISDIR(st.st_mode) ? "folder" : "device, pipe or socket");
    uint64_t size = (uint64_t)st.st_size;
    if (size == 0)
        return refuse(ret_why, "is empty");

    ElfW(Ehdr) header = {0};
    if (!read_at(fd, &header, MIN(size, sizeof header), 0, ret_why))
        return false;
    if (memcmp(header.e_ident, ELFMAG, MIN(size, SELFMAG)) != 0)
        return refuse(ret_why, "is not a shared object: it does not begin with an ELF header");
    if (size < sizeof header)
        return refuse(ret_why,
                      "is cut short: %" G_GUINT64_FORMAT " bytes, its header alone needs %zu; copy "
                      "it again",
                      size, sizeof header);
    if (!check_header(&header, ret_why))
        return false;

    uint64_t table = (uint64_t)header.e_phnum * sizeof(ElfW(Phdr)), end;
    if (__builtin_add_overflow((uint64_t)header.e_phoff, table, &end) || end > size)
        return refuse(ret_why,
                      "is cut short: %" G_GUINT64_FORMAT " bytes, which do not reach its program "
                      "headers; copy it again",
                      size);
    g_autofree ElfW(Phdr) *segments = g_malloc(table);
    return read_at(fd, segments, table, header.e_phoff, ret_why) &&
           check_segments(segments, header.e_phnum, size, ret_why);
}

bool elf_check_file(const char *path, char **ret_why) {
    /* O_NONBLOCK: opening a named pipe would wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return refuse(ret_why, "can't be opened: %s", g_strerror(errno));
    bool ok = elf_check(fd, ret_why);
    close(fd);
    return ok;
}
