/* SPDX-License-Identifier: Apache-2.0 */
/* Copies what a file declares into structs of this host's size. */
#include "module/declare.h"

#include "module/validate.h"
#include <inttypes.h>

/* No struct of the ABI comes near this: a size over it is no size. */
#define MAX_STRUCT_SIZE 4096

/* Size of a struct in ABI 1.0, the least that any module can have; `last` was its last field. */
#define SIZE_1_0(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

static bool is_size(uint32_t size, size_t least) {
    return size >= least && size <= MAX_STRUCT_SIZE;
}

/* Elements of an array hold pointers, so they must lie where pointers may. */
static bool is_stride(uint32_t stride, size_t least) {
    return is_size(stride, least) && stride % _Alignof(void *) == 0;
}

void *declare_copy_array(const void *from, size_t stride, size_t size, size_t *ret_n) {
    const char *at = from;
    size_t n = 0;
    while (at && *(const void *const *)(at + n * stride))
        if (++n > DECLARE_MAX_ELEMENTS)
            return NULL;
    char *copy = g_malloc0((n + 1) * size);
    for (size_t i = 0; i < n; i++)
        memcpy(copy + i * size, at + i * stride, MIN(size, stride));
    *ret_n = n;
    return copy;
}

static bool copy_arrays(module *m, stage_class *c, const mill_stage *from) {
    const char *what = NULL;
    c->inputs =
        declare_copy_array(from->inputs, from->port_stride, sizeof *c->inputs, &c->n_inputs);
    c->outputs =
        declare_copy_array(from->outputs, from->port_stride, sizeof *c->outputs, &c->n_outputs);
    c->options =
        declare_copy_array(from->options, from->option_stride, sizeof *c->options, &c->n_options);
    if (!c->inputs)
        what = "inputs";
    else if (!c->outputs)
        what = "outputs";
    else if (!c->options)
        what = "options";
    if (what)
        return module_refuse(m, "class \"%s\" has more than %d %s: end the array with {0}",
                             from->name, DECLARE_MAX_ELEMENTS, what);
    c->stage.inputs = c->inputs;
    c->stage.outputs = c->outputs;
    c->stage.options = c->options;
    c->stage.port_stride = sizeof(mill_port);
    c->stage.option_stride = sizeof(mill_option);
    return true;
}

static bool declare_class(module *m, const mill_stage *from) {
    guint index = m->class_names->len + 1;
    if (!is_size(from->size, SIZE_1_0(mill_stage, close)))
        return module_refuse(m,
                             "class %u gives its size as %" PRIu32 " bytes, not %zu or a little "
                             "more: begin it with MILL_STAGE_HEAD",
                             index, from->size, SIZE_1_0(mill_stage, close));
    if (!validate_name(from->name))
        return module_refuse(m,
                             "class %u has %s%s%s as its name, not [a-z][a-z0-9-]* parts joined "
                             "by dots",
                             index, from->name ? "\"" : "", from->name ? from->name : "NULL",
                             from->name ? "\"" : "");
    if (!is_stride(from->option_stride, SIZE_1_0(mill_option, help)) ||
        !is_stride(from->port_stride, SIZE_1_0(mill_port, reserved)))
        return module_refuse(m,
                             "class \"%s\" gives the size of an option as %" PRIu32
                             " bytes and of a port as %" PRIu32
                             ", not %zu and %zu or a little more: begin it with MILL_STAGE_HEAD",
                             from->name, from->option_stride, from->port_stride,
                             SIZE_1_0(mill_option, help), SIZE_1_0(mill_port, reserved));
    for (guint i = 0; i < m->class_names->len; i++)
        if (strcmp(m->class_names->pdata[i], from->name) == 0)
            return module_refuse(m, "it declares class \"%s\" twice: rename one", from->name);
    g_ptr_array_add(m->class_names, g_strdup(from->name));

    stage_class *c = g_new0(stage_class, 1);
    g_ptr_array_add(m->classes, c);
    c->module = m;
    memcpy(&c->stage, from, MIN(from->size, sizeof c->stage));
    c->stage.size = (uint32_t)MIN(from->size, sizeof c->stage);
    return copy_arrays(m, c, from) && validate_class(m, c);
}

static bool declare_type(module *m, const mill_type *from) {
    if (!is_size(from->size, SIZE_1_0(mill_type, load)))
        return module_refuse(m,
                             "type %u gives its size as %" PRIu32
                             " bytes, not %zu or a little more: begin it with sizeof(mill_type)",
                             m->types->len + 1, from->size, SIZE_1_0(mill_type, load));
    mill_type *t = g_new0(mill_type, 1);
    g_ptr_array_add(m->types, t);
    memcpy(t, from, MIN(from->size, sizeof *t));
    t->size = (uint32_t)MIN(from->size, sizeof *t);
    if (!validate_type(m, t))
        return false;
    for (guint i = 0; i < m->own_types->len; i++)
        if (strcmp(g_array_index(m->own_types, module_type, i).id, t->id) == 0)
            return module_refuse(m, "it declares type \"%s\" twice: remove one", t->id);
    module_type own = {g_strdup(t->id), from->size};
    g_array_append_val(m->own_types, own);
    return true;
}

/* Both lists end with NULL; a missing end is found by the limit, or by a crash of the probe. */
static bool declare_lists(module *m, const mill_module *exports) {
    m->class_names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; exports->stages && exports->stages[i]; i++) {
        if (i == DECLARE_MAX_ELEMENTS)
            return module_refuse(m, "it declares more than %d classes: end `stages` with NULL",
                                 DECLARE_MAX_ELEMENTS);
        if (!declare_class(m, exports->stages[i]))
            return false;
    }
    for (size_t i = 0; exports->types && exports->types[i]; i++) {
        if (i == DECLARE_MAX_ELEMENTS)
            return module_refuse(m, "it declares more than %d types: end `types` with NULL",
                                 DECLARE_MAX_ELEMENTS);
        if (!declare_type(m, exports->types[i]))
            return false;
    }
    return m->class_names->len > 0 ||
           module_refuse(m, "it declares no stage class: list at least one in `stages`");
}

static bool copy_text(module *m, const char *field, const char *text, char **ret_copy) {
    if (text && !g_utf8_validate(text, -1, NULL))
        return module_refuse(m, "its %s is not UTF-8 text", field);
    *ret_copy = g_strdup(text);
    return true;
}

static bool declare_identity(module *m, const mill_module *exports) {
    if (!validate_name(exports->id))
        return module_refuse(m, "its id is not [a-z][a-z0-9-]* parts joined by dots, such as "
                                "org.acme.fit");
    m->id = g_strdup(exports->id);
    return copy_text(m, "version", exports->version, &m->version) &&
           copy_text(m, "license", exports->license, &m->license) &&
           copy_text(m, "author", exports->author, &m->author) &&
           copy_text(m, "summary", exports->summary, &m->summary) &&
           copy_text(m, "built_with", exports->built_with, &m->built_with) &&
           (m->version || module_refuse(m, "it has no version: set it, such as \"1.0.0\""));
}

/* Both sides can mend it: the one who uses the module, and the one who builds it. */
static bool refuse_abi(module *m) {
    bool newer = m->abi_major > MILL_ABI_MAJOR ||
                 (m->abi_major == MILL_ABI_MAJOR && m->abi_minor > MILL_ABI_MINOR);
    return module_refuse(m, "built for ABI %u.%u, host speaks %u.%u: %s", m->abi_major,
                         m->abi_minor, MILL_ABI_MAJOR, MILL_ABI_MINOR,
                         newer ? "update tracemill, or build the module with this host's SDK"
                               : "build the module again, with this host's SDK");
}

/* Only the first 12 bytes may be read before the major versions are known to be equal. */
bool declare_module(module *m, const mill_module *exports) {
    module_forget(m);
    if (exports->magic != MILL_MAGIC)
        return module_refuse(m,
                             "its %s begins with 0x%08" PRIx32
                             " instead of 0x%08x: begin it with MILL_MODULE_HEAD",
                             MILL_MODULE_SYMBOL, exports->magic, MILL_MAGIC);
    m->has_abi = true;
    m->abi_major = exports->abi_major;
    m->abi_minor = exports->abi_minor;
    bool speaks = m->abi_major == MILL_ABI_MAJOR && m->abi_minor <= MILL_ABI_MINOR;
    if (m->abi_major == MILL_ABI_MAJOR) {
        if (!is_size(exports->size, SIZE_1_0(mill_module, fini)))
            return module_refuse(m,
                                 "its %s gives its size as %" PRIu32
                                 " bytes, not %zu or a little more: begin it with MILL_MODULE_HEAD",
                                 MILL_MODULE_SYMBOL, exports->size, SIZE_1_0(mill_module, fini));
        if (!declare_identity(m, exports))
            return false;
    }
    if (!speaks)
        return refuse_abi(m);
    return declare_lists(m, exports);
}
