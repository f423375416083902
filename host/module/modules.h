/* SPDX-License-Identifier: Apache-2.0 */
/* All modules that this run of the program can use: found, probed, and loaded when first needed. */
#ifndef HOST_MODULE_MODULES_H
#define HOST_MODULE_MODULES_H

#include "module/module.h"

typedef struct modules modules;

typedef struct modules_options {
    const char *const *plugin_paths; /* --plugin-path, in order; NULL-terminated, or NULL */
    bool trust_writable;             /* --trust-writable */
    const mill_host *host; /* given to each module's init; NULL: modules are loaded but not
                            * initialised, which is enough to describe them, not to run them */
    int probe_timeout_ms;  /* 0: PROBE_TIMEOUT_MS */
} modules_options;

/* Searches and probes; loads nothing into this process. Never NULL. */
modules *modules_scan(const modules_options *options);
/* Calls fini of what was initialised, in reverse order. Code stays loaded; classes and types don't
 * outlive this. Takes NULL. */
void modules_destroy(modules *all);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(modules, modules_destroy)

/* module *, in the order of the search. */
const GPtrArray *modules_list(const modules *all);

/* The class that `use = …` means: "class" (the first module that has it) or "module:class". Loads
 * and initialises its module. NULL if there is none: *ret_why (to be freed) is then NULL when no
 * such class is known, else one sentence: "/x/acme.so was found but not loaded: built for ABI 1.4,
 * host speaks 1.2". It says so of the module that declares the class or is named before the colon;
 * where a file hides what it declares, of acme.so for "acme" and "acme.fit". One thread at a time.
 */
const stage_class *modules_class(modules *all, const char *use, char **ret_why);

/* The hint for a class that is not known: the nearest name, and the first few files and folders
 * that were found but can't be used, since one may hold it. NULL: nothing. The caller frees it. */
char *modules_hint(const modules *all, const char *use);

/* Names that modules_class finds, each once, sorted; NULL-terminated, g_strfreev. */
char **modules_class_names(const modules *all);

/* The module whose class a plain `use = NAME` means, or NULL. */
const module *modules_class_owner(const modules *all, const char *name);

/* The descriptor of a third-party type for a value posted by a class of `poster`: its own, else
 * that of the first module that declares it (loaded if need be). NULL: nobody does, or it can't be
 * loaded. One thread at a time. */
const mill_type *modules_type(modules *all, const module *poster, const char *id);
/* The module that such a descriptor lies in; NULL: none, it is the host's. */
const module *modules_type_module(const modules *all, const mill_type *type);

#endif
