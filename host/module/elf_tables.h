/* SPDX-License-Identifier: Apache-2.0 */
/* What a shared object says in its tables: the libraries it needs, its symbols. Read from the file,
 * so that it can be asked of one that the dynamic loader refuses. */
#ifndef HOST_MODULE_ELF_TABLES_H
#define HOST_MODULE_ELF_TABLES_H

#include <glib.h>
#include <stdbool.h>

typedef struct elf_tables {
    char *data; /* the file; names below point into it */
    gsize size;
    GPtrArray *needed;   /* const char *: DT_NEEDED, in order */
    const char *runpath; /* DT_RUNPATH, else DT_RPATH, or NULL */
    bool program;        /* a position-independent executable */
} elf_tables;

/* Reads a file that elf_check passes. False where it can't be read, is over 256 MiB, or its tables
 * make no sense. Finish it in any case. */
bool elf_tables_read(elf_tables *t, const char *path);
/* The same for bytes in memory, which are taken. */
bool elf_tables_take(elf_tables *t, char *data, gsize size);
void elf_tables_finish(elf_tables *t);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(elf_tables, elf_tables_finish)

typedef struct elf_symbol {
    const char *name;
    bool defined;  /* here, not in a library */
    bool exported; /* others can find it by name */
    bool weak;
} elf_symbol;

typedef void (*elf_symbol_fn)(void *arg, const elf_symbol *symbol);

/* Every symbol with a name, of the dynamic table and of the one that `strip` removes: one that is
 * in both comes twice. */
void elf_tables_symbols(const elf_tables *t, elf_symbol_fn fn, void *arg);

#endif
