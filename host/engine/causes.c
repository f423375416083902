/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of causes: why a run failed, outermost first. */
#include "engine/causes.h"

/* A chain longer than this is a plugin in a loop: what comes after is not kept. */
#define MAX_CAUSES 64

static void cause_destroy(gpointer data) {
    cause *c = data;
    g_free(c->text);
    g_free(c->file);
    g_free(c);
}

void causes_init(causes *c) {
    pthread_mutex_init(&c->lock, NULL);
    c->list = g_ptr_array_new_with_free_func(cause_destroy);
}

void causes_finish(causes *c) {
    g_clear_pointer(&c->list, g_ptr_array_unref);
    pthread_mutex_destroy(&c->lock);
}

void causes_add(causes *c, mill_status status, const char *file, uint32_t line, const char *text) {
    cause *added = g_new0(cause, 1);
    added->status = status;
    added->text = g_utf8_make_valid(text, -1);
    added->file = file != NULL ? g_path_get_basename(file) : NULL;
    added->line = line;
    pthread_mutex_lock(&c->lock);
    if (c->list->len < MAX_CAUSES)
        g_ptr_array_add(c->list, g_steal_pointer(&added));
    pthread_mutex_unlock(&c->lock);
    if (added != NULL)
        cause_destroy(added);
}

void causes_addf(causes *c, mill_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    causes_add(c, status, NULL, 0, text);
}

void causes_move(causes *c, causes *from) {
    while (from->list->len > 0)
        g_ptr_array_add(c->list, g_ptr_array_steal_index(from->list, 0));
}

void causes_clear(causes *c) {
    g_ptr_array_set_size(c->list, 0);
}

bool causes_empty(const causes *c) {
    return c->list->len == 0;
}

char *causes_text(const causes *c, bool places) {
    GString *text = g_string_new(NULL);
    for (guint i = c->list->len; i-- > 0;) {
        const cause *one = g_ptr_array_index(c->list, i);
        if (text->len > 0)
            g_string_append(text, "\n  caused by: ");
        g_string_append(text, one->text);
        if (places && one->file != NULL)
            g_string_append_printf(text, " (%s:%u)", one->file, one->line);
    }
    return g_string_free(text, FALSE);
}

cJSON *causes_json(const causes *c) {
    cJSON *array = cJSON_CreateArray();
    for (guint i = c->list->len; i-- > 0;) {
        const cause *one = g_ptr_array_index(c->list, i);
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "status", status_name(one->status));
        cJSON_AddStringToObject(object, "text", one->text);
        if (one->file != NULL) {
            cJSON_AddStringToObject(object, "file", one->file);
            cJSON_AddNumberToObject(object, "line", one->line);
        }
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

static const struct {
    mill_status status;
    const char *name;
    int exit_code;
} statuses[] = {
    {MILL_OK, "OK", 0},
    {MILL_GATE, "GATE", 1},
    {MILL_E_DATA, "E_DATA", 65},
    {MILL_E_NOINPUT, "E_NOINPUT", 66},
    {MILL_E_PLUGIN, "E_PLUGIN", 70},
    {MILL_E_IO, "E_IO", 74},
    {MILL_E_TIMEOUT, "E_TIMEOUT", 75},
    {MILL_E_CONFIG, "E_CONFIG", 78},
    {MILL_E_CANCELLED, "E_CANCELLED", 130},
};

const char *status_name(mill_status status) {
    for (gsize i = 0; i < G_N_ELEMENTS(statuses); i++)
        if (statuses[i].status == status)
            return statuses[i].name;
    return "unknown";
}

int status_exit_code(mill_status status) {
    for (gsize i = 0; i < G_N_ELEMENTS(statuses); i++)
        if (statuses[i].status == status)
            return statuses[i].exit_code;
    return 70; /* no status of ours: the module's bug */
}
