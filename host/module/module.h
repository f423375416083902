/* SPDX-License-Identifier: Apache-2.0 */
/* The record of one plugin file: where it is, whether it may be used, what it declares. */
#ifndef HOST_MODULE_MODULE_H
#define HOST_MODULE_MODULE_H

#include <cjson/cJSON.h>
#include <glib.h>
#include <tracemill/tracemill.h>

typedef enum module_state {
    MODULE_LOADED,   /* may be used: it has been loaded once, in a child process, without harm */
    MODULE_SHADOWED, /* a module found before it has the same id */
    MODULE_REFUSED,  /* can't be used */
} module_state;

typedef struct module module;

/* A stage class, in structs of this host's size whatever the module was built with. The arrays
 * `stage` points to are the ones listed here; each also ends with a zeroed element. The memory
 * lives as long as its module; texts and functions lie in the plugin, which is never unloaded. */
typedef struct stage_class {
    const module *module;
    mill_stage stage;
    mill_port *inputs, *outputs;
    mill_option *options;
    size_t n_inputs, n_outputs, n_options;
} stage_class;

/* The option of that name, or NULL. */
const mill_option *stage_class_option(const stage_class *c, const char *name);

/* What a module says of a type of its own. */
typedef struct module_type {
    char *id;
    uint32_t size; /* of its mill_type */
} module_type;

struct module {
    char *path;       /* absolute */
    const char *from; /* which part of the search led to it: "--plugin-path"; NULL: none */
    module_state state;
    char *why; /* unless loaded: the reason, which completes "FILE was found but not loaded: …" */

    /* What the file declares. Of a refused module as far as it could be read. */
    char *id, *version, *license, *author, *summary, *built_with; /* NULL: unknown, or not said */
    bool has_abi;
    uint16_t abi_major, abi_minor;
    GPtrArray *class_names; /* char *, in the module's order; NULL: unknown */
    GArray *own_types;      /* module_type */

    /* In this process, once load_module has succeeded. */
    const mill_module *exports; /* as it lies in the file: its size may be smaller than ours */
    GPtrArray *classes;         /* stage_class * */
    GPtrArray *types;           /* mill_type *, of this host's size */
    bool initialised;           /* its `init` was called, so `fini` is due */
};

module *module_create(const char *path);
void module_destroy(module *m); /* does not call fini: load_fini does */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(module, module_destroy)

/* Drops what is known of the file's declarations. */
void module_forget(module *m);

/* Sets the state to refused and the reason, the first one given; returns false. */
bool module_refuse(module *m, const char *format, ...) G_GNUC_PRINTF(2, 3);

const char *module_state_name(const module *m); /* "loaded", "shadowed", "refused" */

/* What crosses the pipe from the probing child, and what `list --json` shows. */
cJSON *module_to_json(const module *m);
/* Takes state, reason and declarations from `json`. False if that is not what module_to_json
 * writes; `m` is then to be destroyed or refused. */
bool module_from_json(module *m, const cJSON *json);

#endif
