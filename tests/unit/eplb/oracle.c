/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of expert placement with what eplb.py makes of them, and the best plans known. */
#include "oracle.h"

#include <math.h>
#include <string.h>

#define FOLDER "oracle/eplb/"

static void case_free(void *data) {
    oracle_case *c = data;
    g_free(c->name);
    g_free(c->load);
    g_free(c->plan);
    g_free(c->first);
    g_free(c->node);
    g_free(c->known);
    g_free(c);
}

static uint32_t number(const cJSON *json, const char *name) {
    return (uint32_t)data_integer(json, name);
}

/* false: a load is NaN, infinite (these are texts) or negative. */
static bool read_loads(oracle_case *c, const cJSON *json) {
    const cJSON *row, *cell;
    double *at = c->load = g_new(double, (size_t)c->layers * c->shape.experts);
    cJSON_ArrayForEach(row, data_field(json, "weights")) {
        cJSON_ArrayForEach(cell, row) {
            if (!cJSON_IsNumber(cell) || cell->valuedouble < 0)
                return false;
            *at++ = cell->valuedouble;
        }
    }
    return true;
}

static void read_shape(oracle_case *c, const cJSON *json) {
    uint32_t gpus = number(json, "gpus"), nodes = number(json, "nodes");
    uint32_t slots = number(json, "replicas"), groups = number(json, "groups");
    uint32_t experts = number(json, "experts");
    c->hierarchical = strcmp(data_field(json, "policy")->valuestring, "hierarchical") == 0;
    if (gpus % nodes)
        nodes = 1;
    c->first = g_new(uint32_t, gpus + 1);
    c->node = g_new(uint32_t, gpus);
    for (uint32_t g = 0; g <= gpus; g++)
        c->first[g] = g * (slots / gpus);
    for (uint32_t g = 0; g < gpus; g++)
        c->node[g] = g / (gpus / nodes);
    c->shape = (ep_shape){
        .experts = experts,
        .slots = slots,
        .gpus = gpus,
        .nodes = nodes,
        .groups = experts % groups ? 1 : groups,
        .first = c->first,
        .node = c->node,
    };
}

static void read_plans(oracle_case *c, const cJSON *json) {
    const cJSON *row, *cell;
    int32_t *at = c->plan = g_new(int32_t, (size_t)c->layers * c->shape.slots);
    cJSON_ArrayForEach(row, data_field(json, "phy2log")) cJSON_ArrayForEach(cell, row) *at++ =
        (int32_t)cell->valuedouble;
}

static oracle_case *read_case(const char *folder, const char *name) {
    g_autofree char *path = g_strconcat(FOLDER, name, ".json", NULL);
    cJSON *json = data_json(folder, path);
    oracle_case *c = g_new0(oracle_case, 1);
    c->name = g_strdup(name);
    c->layers = number(json, "layers");
    read_shape(c, json);
    if (read_loads(c, json)) {
        read_plans(c, json);
        c->layer_ms = data_field(json, "seconds_eplb_py")->valuedouble * 1e3 / c->layers;
        c->known = g_new(struct oracle_layer, c->layers);
        for (uint32_t l = 0; l < c->layers; l++)
            c->known[l] = (struct oracle_layer){NAN, NAN, NAN, NAN};
    } else {
        g_clear_pointer(&c, case_free);
    }
    cJSON_Delete(json);
    return c;
}

/* Lines of a table without its head, as fields. */
static GPtrArray *read_table(const char *folder, const char *name) {
    g_autofree char *path = g_build_filename(folder, FOLDER, name, NULL), *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
    GPtrArray *table = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    for (char **line = lines + 1; *line; line++)
        if (**line)
            g_ptr_array_add(table, g_strsplit(*line, "\t", 0));
    return table;
}

static struct oracle_layer *find_layer(GPtrArray *cases, char **fields) {
    for (guint i = 0; i < cases->len; i++) {
        oracle_case *c = cases->pdata[i];
        if (strcmp(c->name, fields[0]) == 0)
            return &c->known[atoi(fields[1])];
    }
    return NULL;
}

GPtrArray *oracle_cases(const char *folder) {
    GPtrArray *cases = g_ptr_array_new_with_free_func(case_free);
    g_autoptr(GPtrArray) index = read_table(folder, "index.tsv");
    g_autoptr(GPtrArray) bounds = read_table(folder, "bounds.tsv");
    g_autoptr(GPtrArray) exact = read_table(folder, "exact_small.tsv");
    for (guint i = 0; i < index->len; i++) {
        char **fields = index->pdata[i];
        oracle_case *c = g_str_has_prefix(fields[1], "error") ? NULL : read_case(folder, fields[0]);
        if (c)
            g_ptr_array_add(cases, c);
    }
    for (guint i = 0; i < bounds->len; i++) {
        char **fields = bounds->pdata[i];
        struct oracle_layer *known = find_layer(cases, fields);
        known->lower_bound = g_ascii_strtod(fields[3], NULL);
        known->best = g_ascii_strtod(fields[5], NULL);
        known->best_distinct = g_ascii_strtod(fields[6], NULL);
    }
    for (guint i = 0; i < exact->len; i++) {
        char **fields = exact->pdata[i];
        find_layer(cases, fields)->optimum = g_ascii_strtod(fields[3], NULL);
    }
    return cases;
}
