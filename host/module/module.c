/* SPDX-License-Identifier: Apache-2.0 */
/* The record of one plugin file, and its JSON form. */
#include "module/module.h"

static void stage_class_destroy(void *data) {
    stage_class *c = data;
    g_free(c->inputs);
    g_free(c->outputs);
    g_free(c->options);
    g_free(c);
}

static void module_type_finish(void *data) {
    g_free(((module_type *)data)->id);
}

const mill_option *stage_class_option(const stage_class *c, const char *name) {
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].name, name) == 0)
            return &c->options[i];
    return NULL;
}

module *module_create(const char *path) {
    module *m = g_new0(module, 1);
    m->path = g_strdup(path);
    m->own_types = g_array_new(FALSE, TRUE, sizeof(module_type));
    g_array_set_clear_func(m->own_types, module_type_finish);
    m->classes = g_ptr_array_new_with_free_func(stage_class_destroy);
    m->types = g_ptr_array_new_with_free_func(g_free);
    return m;
}

/* What the file says of itself, in the order it is shown. */
static const struct {
    const char *key;
    size_t offset;
} texts[] = {
    {"id", offsetof(module, id)},           {"version", offsetof(module, version)},
    {"license", offsetof(module, license)}, {"author", offsetof(module, author)},
    {"summary", offsetof(module, summary)}, {"built_with", offsetof(module, built_with)},
};

static char **text_field(const module *m, size_t i) {
    return &G_STRUCT_MEMBER(char *, m, texts[i].offset);
}

void module_forget(module *m) {
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_clear_pointer(text_field(m, i), g_free);
    m->has_abi = false;
    g_clear_pointer(&m->class_names, g_ptr_array_unref);
    g_array_set_size(m->own_types, 0);
    g_ptr_array_set_size(m->classes, 0);
    g_ptr_array_set_size(m->types, 0);
}

void module_destroy(module *m) {
    if (!m)
        return;
    module_forget(m);
    g_array_unref(m->own_types);
    g_ptr_array_unref(m->classes);
    g_ptr_array_unref(m->types);
    g_free(m->path);
    g_free(m->why);
    g_free(m);
}

bool module_refuse(module *m, const char *format, ...) {
    m->state = MODULE_REFUSED;
    if (m->why)
        return false;
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    /* It may quote what the file says, which can be any bytes; a reason is one line. */
    m->why = g_utf8_make_valid(text, -1);
    for (char *at = m->why; *at; at++)
        if (g_ascii_iscntrl(*at))
            *at = ' ';
    return false;
}

static const char *const state_names[] = {"loaded", "shadowed", "refused"};

const char *module_state_name(const module *m) {
    return state_names[m->state];
}

cJSON *module_to_json(const module *m) {
    cJSON *json = cJSON_CreateObject();
    g_autofree char *path = g_utf8_make_valid(m->path, -1);
    cJSON_AddStringToObject(json, "path", path);
    cJSON_AddStringToObject(json, "state", module_state_name(m));
    if (m->why)
        cJSON_AddStringToObject(json, "why", m->why);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (*text_field(m, i))
            cJSON_AddStringToObject(json, texts[i].key, *text_field(m, i));
    if (m->has_abi) {
        cJSON_AddNumberToObject(json, "abi_major", m->abi_major);
        cJSON_AddNumberToObject(json, "abi_minor", m->abi_minor);
    }
    if (m->class_names) {
        cJSON *list = cJSON_AddArrayToObject(json, "classes");
        for (guint i = 0; i < m->class_names->len; i++)
            cJSON_AddItemToArray(list, cJSON_CreateString(m->class_names->pdata[i]));
    }
    cJSON *list = cJSON_AddArrayToObject(json, "types");
    for (guint i = 0; i < m->own_types->len; i++) {
        const module_type *t = &g_array_index(m->own_types, module_type, i);
        cJSON *type = cJSON_CreateObject();
        cJSON_AddStringToObject(type, "id", t->id);
        cJSON_AddNumberToObject(type, "size", t->size);
        cJSON_AddItemToArray(list, type);
    }
    return json;
}

static bool state_from_json(module *m, const cJSON *json) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(json, "state"));
    for (size_t i = 0; name && i < G_N_ELEMENTS(state_names); i++)
        if (strcmp(name, state_names[i]) == 0) {
            m->state = (module_state)i;
            return true;
        }
    return false;
}

/* A whole number in [0, max]. */
static bool number_from_json(const cJSON *json, const char *key, double max, double *ret_number) {
    const cJSON *item = cJSON_GetObjectItem(json, key);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= max))
        return false;
    *ret_number = item->valuedouble;
    return true;
}

static bool lists_from_json(module *m, const cJSON *json) {
    const cJSON *list = cJSON_GetObjectItem(json, "classes"), *item;
    if (list)
        m->class_names = g_ptr_array_new_with_free_func(g_free);
    cJSON_ArrayForEach(item, list) {
        if (!cJSON_IsString(item))
            return false;
        g_ptr_array_add(m->class_names, g_strdup(item->valuestring));
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "types")) {
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(item, "id"));
        double size;
        if (!id || !number_from_json(item, "size", UINT32_MAX, &size))
            return false;
        module_type type = {g_strdup(id), (uint32_t)size};
        g_array_append_val(m->own_types, type);
    }
    return true;
}

bool module_from_json(module *m, const cJSON *json) {
    if (!state_from_json(m, json))
        return false;
    module_forget(m);
    g_free(m->why);
    m->why = g_strdup(cJSON_GetStringValue(cJSON_GetObjectItem(json, "why")));
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        *text_field(m, i) = g_strdup(cJSON_GetStringValue(cJSON_GetObjectItem(json, texts[i].key)));
    double major, minor;
    m->has_abi = number_from_json(json, "abi_major", UINT16_MAX, &major) &&
                 number_from_json(json, "abi_minor", UINT16_MAX, &minor);
    if (m->has_abi) {
        m->abi_major = (uint16_t)major;
        m->abi_minor = (uint16_t)minor;
    }
    return lists_from_json(m, json) &&
           (m->state == MODULE_REFUSED ? m->why != NULL : m->id && m->version && m->class_names);
}
