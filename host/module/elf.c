/* SPDX-License-Identifier: Apache-2.0 */
/* The check of an ELF file's size, before dlopen maps it. */
#include "module/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <link.h>
#include <string.h>
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

/* A machine that plugins are likely to be built for, or NULL. */
static const char *machine_name(unsigned machine) {
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"},  {EM_AARCH64, "AArch64"},     {EM_386, "x86"},
                 {EM_ARM, "ARM"},        {EM_RISCV, "RISC-V"},        {EM_PPC64, "PowerPC"},
                 {EM_S390, "IBM Z"},     {EM_LOONGARCH, "LoongArch"}, {EM_CUDA, "NVIDIA GPUs"},
                 {EM_AMDGPU, "AMD GPUs"}};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (names[i].machine == machine)
            return names[i].name;
    return NULL;
}

static bool refuse_machine(unsigned machine, unsigned own, char **ret_why) {
    const char *theirs = machine_name(machine), *ours = machine_name(own);
    if (theirs != NULL && ours != NULL && machine != own)
        return refuse(ret_why, "is built for %s, and this program for %s: build it again here",
                      theirs, ours);
    return refuse(ret_why, "is built for another machine (ELF number %u, this one is %u)", machine,
                  own);
}

static bool refuse_type(unsigned type, char **ret_why) {
    const char *what = type == ET_EXEC   ? "a program"
                       : type == ET_REL  ? "an object file, not yet linked"
                       : type == ET_CORE ? "a core dump"
                                         : NULL;
    if (what == NULL)
        return refuse(ret_why,
                      "is no shared object (ELF type %u, not %u): link it with -shared "
                      "-fPIC",
                      type, ET_DYN);
    return refuse(ret_why, "is %s, no shared object: link it with -shared -fPIC", what);
}

static bool check_header(const ElfW(Ehdr) * header, char **ret_why) {
    const ElfW(Ehdr) *own = &__ehdr_start;
    if (header->e_ident[EI_CLASS] != own->e_ident[EI_CLASS])
        return refuse(ret_why, "is a %d-bit shared object, this program needs a %d-bit one",
                      header->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
                      own->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32);
    if (header->e_ident[EI_DATA] != own->e_ident[EI_DATA] || header->e_machine != own->e_machine)
        return refuse_machine(header->e_machine, own->e_machine, ret_why);
    if (header->e_type != ET_DYN)
        return refuse_type(header->e_type, ret_why);
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum == 0 ||
        header->e_phnum == PN_XNUM)
        return refuse(ret_why, "is a damaged shared object: its program header table makes no "
                               "sense; build or copy it again");
    return true;
}

static bool check_segments(const ElfW(Phdr) * segments, size_t n, uint64_t size, char **ret_why) {
    uint64_t needed = 0;
    bool dynamic = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t end;
        dynamic |= segments[i].p_type == PT_DYNAMIC;
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
    if (!dynamic)
        return refuse(ret_why,
                      "is no shared object: it has no dynamic section, as when it is linked "
                      "with -static; link it with -shared -fPIC");
    return true;
}

/* What the file is, by its first bytes, if that is known. */
static bool refuse_content(const char *begin, size_t n, char **ret_why) {
    static const struct {
        const char *magic, *what;
    } known[] = {
        {"!<arch>\n", "a static library: link a shared object of it, with -shared"},
        {"!<thin>\n", "a static library: link a shared object of it, with -shared"},
        {"BC\xc0\xde", "LLVM bitcode: link it with -shared"},
        {"MZ", "a program or library for Windows: build it again here"},
        {"\xcf\xfa\xed\xfe", "a program or library for macOS: build it again here"},
        {"\x1f\x8b", "compressed (gzip): unpack it"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (n >= strlen(known[i].magic) &&
            memcmp(begin, known[i].magic, strlen(known[i].magic)) == 0)
            return refuse(ret_why, "is not a shared object but %s", known[i].what);
    return refuse(ret_why, "is not a shared object: it does not begin with an ELF header");
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
        return refuse_content((const char *)&header, MIN(size, sizeof header), ret_why);
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
