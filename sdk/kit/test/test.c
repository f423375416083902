/* SPDX-License-Identifier: Apache-2.0 */
/* A test as its author sees it: the class, what it is given, and what came of it. */
#include "private.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- modules */

static void init_module(const mill_module *module) {
    static const mill_module **done;
    static size_t n;
    for (size_t i = 0; i < n; i++)
        if (done[i] == module)
            return;
    done = kt_grow(done, n, sizeof(mill_module *));
    done[n++] = module;
    if (module->init && module->init(&kt_host) != MILL_OK)
        kt_mistake("`init` of module %s fails", module->id);
}

static const mill_stage *find_stage(const mill_module *module, const char *name) {
    kt_text names = {0};
    for (const mill_stage *const *s = module->stages; s && *s; s++) {
        if (strcmp((*s)->name, name) == 0) {
            kt_text_clear(&names);
            return *s;
        }
        kt_text_addf(&names, "%s%s", names.n > 0 ? ", " : "", (*s)->name);
    }
    kt_mistake("module %s has no class \"%s\"; it has: %s", module->id, name, kt_text_of(&names));
}

kit_test *kit_test_create(const mill_module *module, const char *stage) {
    static const kt_plan making = {.what = "", .jobs = 1};
    if (module->magic != MILL_MAGIC || module->abi_major != MILL_ABI_MAJOR ||
        module->abi_minor > MILL_ABI_MINOR)
        kt_mistake("the module is for ABI %u.%u, the harness for %d.%d", module->abi_major,
                   module->abi_minor, MILL_ABI_MAJOR, MILL_ABI_MINOR);
    init_module(module);
    kit_test *t = kt_alloc(sizeof *t);
    const char *data = getenv("TRACEMILL_TEST_DATA_DIR");
    t->module = module;
    t->stage = find_stage(module, stage);
    t->data_dir = kt_copy(data ? data : KIT_TEST_DATA_DIR);
    t->common.key = kt_copy("");
    t->maker = kt_pass_create(t, &making);
    t->maker->making = true;
    return t;
}

kit_test *kit_test_open(const char *path, const char *stage) {
    kt_text full = {0};
    kt_text_addf(&full, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *handle = dlopen(kt_text_of(&full), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    kt_text_clear(&full);
    if (!handle)
        kt_mistake("%s", dlerror());
    const mill_module *module = dlsym(handle, MILL_MODULE_SYMBOL);
    if (!module)
        kt_mistake("%s exports no " MILL_MODULE_SYMBOL, path);
    dlclose(handle); /* it stays: RTLD_NODELETE */
    return kit_test_create(module, stage);
}

static void item_finish(kt_item *i) {
    for (size_t k = 0; k < i->n_inputs; k++) {
        free(i->inputs[k].type);
        free(i->inputs[k].stage);
        free(i->inputs[k].key);
    }
    free(i->inputs);
    free(i->key);
    free(i->path);
}

void kit_test_destroy(kit_test *t) {
    if (!t)
        return;
    kt_pass_destroy(t->result);
    kt_pass_destroy(t->maker);
    item_finish(&t->common);
    for (size_t i = 0; i < t->n_items; i++)
        item_finish(&t->items[i]);
    free(t->items);
    for (size_t i = 0; i < t->n_settings; i++) {
        free(t->settings[i].name);
        free(t->settings[i].value);
    }
    free(t->settings);
    kt_watched_found(NULL);
    kt_text_clear(&t->breaches);
    kt_text_clear(&t->written);
    free(t->data_dir);
    free(t);
}

/* ---------------------------------------------------------------- the class's tables */

const mill_port *kt_port(const mill_stage *stage, const mill_port *ports, uint32_t i) {
    for (uint32_t k = 0; ports && ports->name; k++) {
        if (k == i)
            return ports;
        ports = (const mill_port *)(const void *)((const char *)ports + stage->port_stride);
    }
    return NULL;
}

uint32_t kt_port_index(const mill_stage *stage, const mill_port *ports, const char *name) {
    const mill_port *port;
    for (uint32_t i = 0; (port = kt_port(stage, ports, i)); i++)
        if (strcmp(port->name, name) == 0)
            return i;
    kt_mistake("class %s has no such %s: \"%s\"", stage->name,
               ports == stage->inputs ? "input" : "output", name);
}

const mill_option *kt_option(const mill_stage *stage, size_t i) {
    const char *options = (const char *)stage->options;
    for (size_t k = 0; options; k++, options += stage->option_stride) {
        const mill_option *o = (const mill_option *)(const void *)options;
        if (!o->name || k == i)
            return o->name ? o : NULL;
    }
    return NULL;
}

const mill_type *kt_type(const kit_test *t, const char *id) {
    for (const mill_type *const *type = t->module->types; type && *type; type++)
        if (strcmp((*type)->id, id) == 0)
            return *type;
    return NULL;
}

bool kt_takes(const kit_test *t, uint32_t flag) {
    const mill_port *port;
    for (uint32_t i = 0; (port = kt_port(t->stage, t->stage->inputs, i)); i++)
        if (port->flags & flag)
            return true;
    return false;
}

bool kt_is_keyed(const kit_test *t) {
    return !kt_takes(t, MILL_PORT_STREAM) && t->n_items > 0 && (t->n_items > 1 || *t->items[0].key);
}

const char *kt_first_file(const kit_test *t) {
    for (size_t i = 0; i < t->n_items; i++)
        if (t->items[i].path)
            return t->items[i].path;
    return NULL;
}

void kt_breach(kit_test *t, const char *format, ...) {
    kt_text line = {0};
    char words[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    kt_text_addf(&line, "%s\n", words);
    if (!strstr(kt_text_of(&t->breaches), kt_text_of(&line)))
        kt_text_add(&t->breaches, line.s, line.n);
    kt_watched_found(kt_text_of(&t->breaches));
    kt_text_clear(&line);
}

/* ---------------------------------------------------------------- what it is given */

static char *cut(const char *from, const char *to) {
    while (from < to && strchr(" \t\n", *from))
        from++;
    while (to > from && strchr(" \t\n", to[-1]))
        to--;
    char *s = kt_alloc((size_t)(to - from) + 1);
    memcpy(s, from, (size_t)(to - from));
    return s;
}

void kit_test_option(kit_test *t, const char *s) {
    const char *equals = strchr(s, '=');
    if (!equals)
        kt_mistake("an option is given as \"key = value\", not \"%s\"", s);
    char *name = cut(s, equals), *value = cut(equals + 1, s + strlen(s));
    const mill_option *o;
    size_t i = 0;
    while ((o = kt_option(t->stage, i)) && strcmp(o->name, name) != 0)
        i++;
    if (!o)
        kt_mistake("class %s has no option \"%s\"", t->stage->name, name);
    for (i = 0; i < t->n_settings; i++)
        if (strcmp(t->settings[i].name, name) == 0) {
            free(name);
            free(t->settings[i].value);
            t->settings[i].value = value;
            return;
        }
    t->settings = kt_grow(t->settings, t->n_settings, sizeof *t->settings);
    t->settings[t->n_settings++] = (kt_setting){name, value};
}

void kit_test_data(kit_test *t, const char *folder) {
    free(t->data_dir);
    t->data_dir = kt_copy(folder);
}

mill_run *kit_test_maker(kit_test *t) {
    return &t->maker->run;
}

static void add_given(kit_test *t, kt_item *to, const char *port, kt_given g) {
    g.port = kt_port_index(t->stage, t->stage->inputs, port);
    to->inputs = kt_grow(to->inputs, to->n_inputs, sizeof *to->inputs);
    to->inputs[to->n_inputs++] = g;
}

static kt_item *at_hand(kit_test *t) {
    return t->n_items > 0 ? &t->items[t->n_items - 1] : &t->common;
}

void kit_test_input(kit_test *t, const char *port, const char *type, const void *data) {
    if (!data)
        kt_mistake("input \"%s\" is given no value", port);
    add_given(t, at_hand(t), port, (kt_given){0, kt_copy(type), kt_copy("input"), NULL, data});
}

void kit_test_input_from(kit_test *t, const char *port, const char *type, const void *data,
                         const char *stage, const char *key) {
    if (!data)
        kt_mistake("input \"%s\" is given no value; see kit_test_missing", port);
    add_given(t, at_hand(t), port,
              (kt_given){0, kt_copy(type), kt_copy(stage), kt_copy(key), data});
}

void kit_test_missing(kit_test *t, const char *port, const char *stage, const char *key) {
    add_given(t, &t->common, port, (kt_given){0, NULL, kt_copy(stage), kt_copy(key), NULL});
}

void kit_test_item(kit_test *t, const char *key) {
    for (size_t i = 0; i < t->n_items; i++)
        if (strcmp(t->items[i].key, key) == 0)
            kt_mistake("two items have the key \"%s\"", key);
    t->items = kt_grow(t->items, t->n_items, sizeof *t->items);
    t->items[t->n_items++] = (kt_item){.key = kt_copy(key)};
}

void kit_test_file(kit_test *t, const char *key, const char *path) {
    kit_test_item(t, key);
    t->items[t->n_items - 1].path = kt_copy(path);
}

void kit_test_without(kit_test *t, uint32_t checks) {
    t->without |= checks;
}

/* ---------------------------------------------------------------- the run */

static size_t count_given(const kt_item *i, uint32_t port) {
    size_t n = 0;
    for (size_t k = 0; k < i->n_inputs; k++)
        n += i->inputs[k].port == port && i->inputs[k].data;
    return n;
}

static void need_inputs(const kit_test *t, const kt_item *i) {
    static const kt_item none;
    const mill_port *port;
    for (uint32_t k = 0; (port = kt_port(t->stage, t->stage->inputs, k)); k++) {
        size_t n = count_given(&t->common, k) + count_given(i ? i : &none, k);
        const char *of = i ? i->key : "";
        if (n == 0 && !(port->flags & (MILL_PORT_OPTIONAL | MILL_PORT_MANY)))
            kt_mistake("input \"%s\" of %s is given no value%s%s", port->name, t->stage->name,
                       *of ? " in item " : "", of);
        if (n > 1 && !(port->flags & MILL_PORT_MANY))
            kt_mistake("input \"%s\" of %s takes one value a run, %zu are given%s%s", port->name,
                       t->stage->name, n, *of ? " in item " : "", of);
    }
}

mill_status kit_test_run(kit_test *t) {
    static const kt_plan as_asked = {.what = "", .jobs = 1};
    for (size_t i = 0; i < t->n_items || i == 0; i++)
        need_inputs(t, t->n_items > 0 ? &t->items[i] : NULL);
    kt_watched_found(NULL);
    kt_text_clear(&t->breaches);
    kt_pass_destroy(t->result);
    t->result = kt_pass_create(t, &as_asked);
    kt_pass_perform(t->result);
    kt_rounds(t);
    return t->breaches.n > 0 ? MILL_E_PLUGIN : t->result->status;
}

const char *kit_test_causes(const kit_test *t) {
    return t->result ? kt_text_of(&t->result->kept) : "";
}

const char *kit_test_breaches(const kit_test *t) {
    return kt_text_of(&t->breaches);
}

const char *kit_test_log(const kit_test *t) {
    return t->result ? kt_text_of(&t->result->log) : "";
}

static const kt_posted *posted_at(const kit_test *t, const char *port, size_t i) {
    uint32_t at = kt_port_index(t->stage, t->stage->outputs, port);
    for (size_t k = 0; t->result && k < t->result->n_outputs; k++)
        if (t->result->outputs[k].port == at && i-- == 0)
            return &t->result->outputs[k];
    return NULL;
}

size_t kit_test_count(const kit_test *t, const char *port) {
    size_t n = 0;
    while (posted_at(t, port, n))
        n++;
    return n;
}

const void *kit_test_output(const kit_test *t, const char *port, size_t i) {
    const kt_posted *o = posted_at(t, port, i);
    return o ? o->v->data : NULL;
}

const char *kit_test_key(const kit_test *t, const char *port, size_t i) {
    const kt_posted *o = posted_at(t, port, i);
    return o ? o->key : NULL;
}

const mill_report *kit_test_report(kit_test *t, const char *port, size_t i) {
    const kt_posted *o = posted_at(t, port, i);
    const mill_port *p =
        kt_port(t->stage, t->stage->outputs, kt_port_index(t->stage, t->stage->outputs, port));
    if (!o || strcmp(p->type, MILL_TYPE_REPORT) == 0)
        return o ? o->v->data : NULL;
    return kt_pass_to_report(t->maker, o->v->type, o->v->data);
}

const char *kit_test_written(kit_test *t, const char *path, size_t *ret_length) {
    bool found = false;
    kt_text_clear(&t->written);
    for (size_t item = 0; t->result && item <= t->n_items; item++)
        for (const kt_sink *s = t->result->sinks; s; s = s->next) {
            size_t order = s->item < t->n_items ? s->item : t->n_items;
            if (order != item || s->spoiled || strcmp(s->path, path) != 0)
                continue;
            kt_text_add(&t->written, s->bytes.s, s->bytes.n);
            found = true;
        }
    if (ret_length)
        *ret_length = t->written.n;
    return found ? t->written.s : NULL;
}
