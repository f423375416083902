/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a plugin file into this process, begins and ends the module. */
#ifndef HOST_MODULE_LOAD_H
#define HOST_MODULE_LOAD_H

#include "module/module.h"

/* Checks the ELF file, loads it (RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), checks what it declares
 * and copies that into m->classes and m->types. The file's own code runs here (constructors), so a
 * bad one can end the process: call it where the probe has vouched for the file. False: `m` is
 * refused with the reason. It is never unloaded. One thread at a time. */
bool load_module(module *m);
/* The same in its two halves: the file, and what the module in it declares. NULL: refused. */
const mill_module *load_file(module *m);
bool load_tables(module *m, const mill_module *exports);

/* Calls the module's `init` with `host`, which must outlive the process's use of the module. False:
 * `m` is refused with the cause. */
bool load_init(module *m, const mill_host *host);
/* Calls `fini` if `init` succeeded. */
void load_fini(module *m);

/* What mill_host.fail does when its `run` is NULL: keeps the text as the cause of the failing
 * `init`. The signature is that of mill_host.fail, so that a table may use it directly. */
void load_init_fail(mill_run *run, mill_status status, const char *file, uint32_t line,
                    const char *text);

#endif
