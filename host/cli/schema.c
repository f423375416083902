/* SPDX-License-Identifier: Apache-2.0 */
/* A stage class as JSON: a JSON Schema of its options, whose values are typed as JSON has them
 * (yes: true), durations and sizes as texts with a unit. */
#include "cli/class.h"

#include "config/items.h"
#include "config/values.h"
#include <stdlib.h>
#include <string.h>

static void add_text(cJSON *json, const char *key, const char *text) {
    if (text)
        cJSON_AddStringToObject(json, key, text);
    else
        cJSON_AddNullToObject(json, key);
}

/* ---------------------------------------------------------------- one option in the schema */

/* The texts that config/units.h reads. */
#define PATTERN_DURATION "^[0-9]+(\\.[0-9]+)?[ \\t]*(ns|us|µs|ms|s|min|h)$"
#define PATTERN_BYTES "^[0-9]+(\\.[0-9]+)?[ \\t]*(B|KB|MB|GB|KiB|MiB|GiB)$"

#define LIMIT 9.2e18

static const struct {
    const char *type, *keyword, *value;
} schema_types[] = {
    [MILL_OPT_BOOL] = {"boolean", NULL, NULL},
    [MILL_OPT_INT] = {"integer", NULL, NULL},
    [MILL_OPT_NUM] = {"number", NULL, NULL},
    [MILL_OPT_STR] = {"string", NULL, NULL},
    [MILL_OPT_PATH] = {"string", NULL, NULL},
    [MILL_OPT_REGEX] = {"string", NULL, NULL}, /* PCRE: "format": "regex" means another language */
    [MILL_OPT_ENUM] = {"string", NULL, NULL},
    [MILL_OPT_DURATION] = {"string", "pattern", PATTERN_DURATION},
    [MILL_OPT_BYTES] = {"string", "pattern", PATTERN_BYTES},
};

/* What one value must be: that of the option, or each element of a list. */
static void add_value_rules(cJSON *json, const mill_option *o, mill_opt_type type) {
    bool number = type == MILL_OPT_INT || type == MILL_OPT_NUM;
    cJSON_AddStringToObject(json, "type", schema_types[type].type);
    if (schema_types[type].keyword)
        cJSON_AddStringToObject(json, schema_types[type].keyword, schema_types[type].value);
    /* Of durations and sizes, which are texts here: in ns and bytes. A bound at the end of what
     * int64_t holds is none. */
    if (o->min < o->max && o->min > -LIMIT)
        cJSON_AddNumberToObject(json, number ? "minimum" : "x-minimum", o->min);
    if (o->min < o->max && o->max < LIMIT)
        cJSON_AddNumberToObject(json, number ? "maximum" : "x-maximum", o->max);
    if (type != MILL_OPT_ENUM)
        return;
    cJSON *choices = cJSON_AddArrayToObject(json, "enum");
    for (size_t i = 0; o->choices[i]; i++)
        cJSON_AddItemToArray(choices, cJSON_CreateString(o->choices[i]));
}

/* A text that values.h accepts for the type. */
static cJSON *typed(mill_opt_type type, const char *text) {
    static const char *const yes[] = {"yes", "true", "on", NULL};
    if (type == MILL_OPT_BOOL)
        return cJSON_CreateBool(g_strv_contains(yes, text));
    if (type == MILL_OPT_INT || type == MILL_OPT_NUM)
        return cJSON_CreateNumber(g_ascii_strtod(text, NULL));
    return cJSON_CreateString(text);
}

static cJSON *typed_default(const mill_option *o) {
    g_autoptr(problems) none = problems_create();
    const setting written = {.section = "", .key = o->name, .value = o->def};
    bool list = o->type == MILL_OPT_LIST;
    g_autoptr(GPtrArray) items = items_split(&written, list ? ITEMS_COMMAS : ITEMS_ONE, none);
    if (items == NULL || (!list && items->len != 1))
        return NULL;
    if (!list)
        return typed(o->type, ((value_item *)items->pdata[0])->text);
    cJSON *array = cJSON_CreateArray();
    for (guint i = 0; i < items->len; i++)
        cJSON_AddItemToArray(array, typed(o->elem, ((value_item *)items->pdata[i])->text));
    return array;
}

static cJSON *option_schema(const mill_option *o) {
    cJSON *json = cJSON_CreateObject();
    if (o->help)
        cJSON_AddStringToObject(json, "description", o->help);
    if (o->type == MILL_OPT_LIST) {
        cJSON_AddStringToObject(json, "type", "array");
        add_value_rules(cJSON_AddObjectToObject(json, "items"), o, o->elem);
    } else {
        add_value_rules(json, o, o->type);
    }
    cJSON *fallback = o->def ? typed_default(o) : NULL;
    if (fallback)
        cJSON_AddItemToObject(json, "default", fallback);
    if (o->flags & MILL_OPT_DEPRECATED)
        cJSON_AddBoolToObject(json, "deprecated", true);
    cJSON_AddStringToObject(json, "x-type", class_type_id(o->type));
    if (o->unit)
        cJSON_AddStringToObject(json, "x-unit", o->unit);
    return json;
}

static void add_options_schema(cJSON *json, const stage_class *c) {
    cJSON_AddStringToObject(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cJSON_AddStringToObject(json, "title", c->stage.name);
    if (c->stage.summary)
        cJSON_AddStringToObject(json, "description", c->stage.summary);
    cJSON_AddStringToObject(json, "type", "object");
    cJSON *properties = cJSON_AddObjectToObject(json, "properties");
    cJSON *required = cJSON_AddArrayToObject(json, "required");
    for (size_t i = 0; i < c->n_options; i++) {
        const mill_option *o = &c->options[i];
        cJSON_AddItemToObject(properties, o->name, option_schema(o));
        if (o->flags & MILL_OPT_REQUIRED)
            cJSON_AddItemToArray(required, cJSON_CreateString(o->name));
    }
    cJSON_AddBoolToObject(json, "additionalProperties", false);
}

/* ---------------------------------------------------------------- the class as it is declared */

static const struct {
    uint32_t flag;
    const char *id;
} option_flags[] = {{MILL_OPT_REQUIRED, "required"},
                    {MILL_OPT_DEPRECATED, "deprecated"},
                    {MILL_OPT_GLOB, "glob"},
                    {MILL_OPT_ITEM, "item"}},
  port_flags[] = {{MILL_PORT_OPTIONAL, "optional"},
                  {MILL_PORT_MANY, "many"},
                  {MILL_PORT_STREAM, "stream"},
                  {MILL_PORT_ITEMS, "items"}};

static void add_ports(cJSON *json, const char *key, const mill_port *ports, size_t n) {
    cJSON *list = cJSON_AddArrayToObject(json, key);
    for (size_t i = 0; i < n; i++) {
        cJSON *port = cJSON_CreateObject();
        cJSON_AddItemToArray(list, port);
        add_text(port, "name", ports[i].name);
        add_text(port, "type", ports[i].type);
        for (size_t j = 0; j < G_N_ELEMENTS(port_flags); j++)
            cJSON_AddBoolToObject(port, port_flags[j].id, ports[i].flags & port_flags[j].flag);
        add_text(port, "help", ports[i].help);
    }
}

static cJSON *option_json(const mill_option *o) {
    cJSON *json = cJSON_CreateObject();
    add_text(json, "name", o->name);
    add_text(json, "type", class_type_id(o->type));
    if (o->type == MILL_OPT_LIST)
        add_text(json, "elem", class_type_id(o->elem));
    for (size_t i = 0; i < G_N_ELEMENTS(option_flags); i++)
        cJSON_AddBoolToObject(json, option_flags[i].id, o->flags & option_flags[i].flag);
    add_text(json, "default", o->def);
    if (o->min < o->max) {
        cJSON_AddNumberToObject(json, "min", o->min);
        cJSON_AddNumberToObject(json, "max", o->max);
    }
    if (o->choices) {
        cJSON *choices = cJSON_AddArrayToObject(json, "choices");
        for (size_t i = 0; o->choices[i]; i++)
            cJSON_AddItemToArray(choices, cJSON_CreateString(o->choices[i]));
    }
    add_text(json, "unit", o->unit);
    add_text(json, "help", o->help);
    return json;
}

cJSON *class_schema(const stage_class *c) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "schema", "tracemill.inspect/1");
    add_options_schema(json, c);
    add_text(json, "name", c->stage.name);
    add_text(json, "summary", c->stage.summary);
    add_text(json, "help", c->stage.help);
    cJSON_AddBoolToObject(json, "single", c->stage.flags & MILL_STAGE_SINGLE);
    cJSON_AddItemToObject(json, "module", module_to_json(c->module));
    add_ports(json, "inputs", c->inputs, c->n_inputs);
    add_ports(json, "outputs", c->outputs, c->n_outputs);
    cJSON *options = cJSON_AddArrayToObject(json, "options");
    for (size_t i = 0; i < c->n_options; i++)
        cJSON_AddItemToArray(options, option_json(&c->options[i]));
    g_autofree char *ini = class_stanza(c);
    add_text(json, "stanza", ini);
    return json;
}
