/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the dynamic section and the symbol tables of a shared object. The file may say anything:
 * each offset is checked before it is followed. */
#include "module/elf_tables.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE ((off_t)256 << 20)

/* Copies `n` bytes at `offset`; false where they do not lie in the file. */
static bool copy_at(const elf_tables *t, uint64_t offset, void *to, size_t n) {
    if (offset > t->size || n > t->size - offset)
        return false;
    memcpy(to, t->data + offset, n);
    return true;
}

/* The text at `at` in a table of `size` bytes at `table`, or NULL if it does not end there. */
static const char *text_at(const elf_tables *t, uint64_t table, uint64_t size, uint64_t at) {
    if (table > t->size || size > t->size - table || at >= size)
        return NULL;
    const char *text = t->data + table + at;
    return memchr(text, '\0', (size_t)(size - at)) != NULL ? text : NULL;
}

/* ---------------------------------------------------------------- the dynamic section */

static bool segment_at(const elf_tables *t, unsigned i, ElfW(Phdr) * ret) {
    ElfW(Ehdr) header;
    return copy_at(t, 0, &header, sizeof header) && i < header.e_phnum &&
           header.e_phoff <= t->size &&
           copy_at(t, header.e_phoff + (uint64_t)i * sizeof *ret, ret, sizeof *ret);
}

/* Where an address lies in the file. */
static bool offset_of(const elf_tables *t, uint64_t address, uint64_t *ret_offset) {
    ElfW(Phdr) segment;
    for (unsigned i = 0; segment_at(t, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz) {
            *ret_offset = segment.p_offset + (address - segment.p_vaddr);
            return true;
        }
    return false;
}

/* Value `i` of the tag in the dynamic section. */
static bool dynamic_value(const elf_tables *t, const ElfW(Phdr) * dynamic, ElfW(Sxword) tag,
                          unsigned i, uint64_t *ret_value) {
    ElfW(Dyn) entry;
    for (uint64_t at = 0; at + sizeof entry <= dynamic->p_filesz; at += sizeof entry) {
        if (dynamic->p_offset > t->size || at > t->size ||
            !copy_at(t, dynamic->p_offset + at, &entry, sizeof entry) || entry.d_tag == DT_NULL)
            return false;
        if (entry.d_tag == tag && i-- == 0) {
            *ret_value = entry.d_un.d_val;
            return true;
        }
    }
    return false;
}

static bool read_dynamic(elf_tables *t, const ElfW(Phdr) * dynamic) {
    uint64_t strings, size, table, value;
    if (!dynamic_value(t, dynamic, DT_STRTAB, 0, &strings) ||
        !dynamic_value(t, dynamic, DT_STRSZ, 0, &size) || !offset_of(t, strings, &table))
        return false;
    for (unsigned i = 0; dynamic_value(t, dynamic, DT_NEEDED, i, &value); i++) {
        const char *name = text_at(t, table, size, value);
        if (name != NULL && *name != '\0')
            g_ptr_array_add(t->needed, (gpointer)name);
    }
    if (dynamic_value(t, dynamic, DT_RUNPATH, 0, &value) ||
        dynamic_value(t, dynamic, DT_RPATH, 0, &value))
        t->runpath = text_at(t, table, size, value);
    t->program = dynamic_value(t, dynamic, DT_FLAGS_1, 0, &value) && (value & DF_1_PIE) != 0;
    return true;
}

bool elf_tables_take(elf_tables *t, char *data, gsize size) {
    *t = (elf_tables){.data = data, .size = size, .needed = g_ptr_array_new()};
    ElfW(Phdr) segment;
    for (unsigned i = 0; segment_at(t, i, &segment); i++)
        if (segment.p_type == PT_DYNAMIC)
            return read_dynamic(t, &segment);
    return false;
}

bool elf_tables_read(elf_tables *t, const char *path) {
    *t = (elf_tables){0};
    struct stat st;
    char *data;
    gsize size;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_FILE &&
           g_file_get_contents(path, &data, &size, NULL) && elf_tables_take(t, data, size);
}

void elf_tables_finish(elf_tables *t) {
    g_clear_pointer(&t->needed, g_ptr_array_unref);
    g_clear_pointer(&t->data, g_free);
}

/* ---------------------------------------------------------------- symbols */

static bool section_at(const elf_tables *t, unsigned i, ElfW(Shdr) * ret) {
    ElfW(Ehdr) header;
    return copy_at(t, 0, &header, sizeof header) && i < header.e_shnum &&
           header.e_shentsize == sizeof *ret && header.e_shoff <= t->size &&
           copy_at(t, header.e_shoff + (uint64_t)i * sizeof *ret, ret, sizeof *ret);
}

static void table_symbols(const elf_tables *t, const ElfW(Shdr) * table, elf_symbol_fn fn,
                          void *arg) {
    ElfW(Shdr) names;
    ElfW(Sym) symbol;
    if (!section_at(t, table->sh_link, &names) || table->sh_offset > t->size)
        return;
    for (uint64_t at = 0; at + sizeof symbol <= table->sh_size; at += sizeof symbol) {
        if (at > t->size || !copy_at(t, table->sh_offset + at, &symbol, sizeof symbol))
            return;
        const char *name = text_at(t, names.sh_offset, names.sh_size, symbol.st_name);
        unsigned binding = ELF64_ST_BIND(symbol.st_info),
                 visibility = ELF64_ST_VISIBILITY(symbol.st_other);
        if (name == NULL || *name == '\0')
            continue;
        fn(arg, &(elf_symbol){
                    .name = name,
                    .defined = symbol.st_shndx != SHN_UNDEF,
                    .exported = table->sh_type == SHT_DYNSYM && binding != STB_LOCAL &&
                                (visibility == STV_DEFAULT || visibility == STV_PROTECTED),
                    .weak = binding == STB_WEAK,
                });
    }
}

void elf_tables_symbols(const elf_tables *t, elf_symbol_fn fn, void *arg) {
    ElfW(Shdr) section;
    for (unsigned i = 0; section_at(t, i, &section); i++)
        if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM)
            table_symbols(t, &section, fn, arg);
}
