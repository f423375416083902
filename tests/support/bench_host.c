/* SPDX-License-Identifier: Apache-2.0 */
/* The miniature host: takes one instance of a stage class through its life, checks that it keeps
 * the contract, and keeps what it gave. */
#include "bench_host.h"

#include "bench_private.h"

#include <dlfcn.h>
#include <string.h>

/* ---------------------------------------------------------------- modules */

const mill_module *bench_open(const char *path) {
    const char *build = g_getenv("TRACEMILL_TEST_BUILD");
    g_autofree char *full =
        g_path_is_absolute(path) ? g_strdup(path) : g_build_filename(build ?: ".", path, NULL);
    void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        g_error("bench: %s", dlerror());
    const mill_module *module = dlsym(handle, MILL_MODULE_SYMBOL);
    if (!module || module->magic != MILL_MAGIC || module->abi_major != MILL_ABI_MAJOR ||
        module->abi_minor > MILL_ABI_MINOR)
        g_error("bench: %s is no module for ABI %d.%d", full, MILL_ABI_MAJOR, MILL_ABI_MINOR);
    dlclose(handle); /* it stays loaded: RTLD_NODELETE */
    return module;
}

static void init_module(const mill_module *module) {
    static GHashTable *done;
    if (!done)
        done = g_hash_table_new(NULL, NULL);
    if (!g_hash_table_add(done, (void *)module) || !module->init)
        return;
    if (module->init(&bench_services_table) != MILL_OK)
        g_error("bench: init of module %s failed", module->id);
}

static const mill_stage *find_stage(const mill_module *module, const char *name) {
    for (const mill_stage *const *stage = module->stages; *stage; stage++)
        if (strcmp((*stage)->name, name) == 0)
            return *stage;
    g_error("bench: module %s has no class \"%s\"", module->id, name);
}

const mill_port *bench_port_at(const mill_stage *stage, const mill_port *ports, uint32_t i) {
    for (uint32_t k = 0; ports && ports->name; k++) {
        if (k == i)
            return ports;
        ports = (const mill_port *)((const char *)ports + stage->port_stride);
    }
    return NULL;
}

static uint32_t port_index(const mill_stage *stage, const mill_port *ports, const char *name) {
    const mill_port *port;
    for (uint32_t i = 0; (port = bench_port_at(stage, ports, i)); i++)
        if (strcmp(port->name, name) == 0)
            return i;
    g_error("bench: class %s has no such port: \"%s\"", stage->name, name);
}

/* ---------------------------------------------------------------- life */

static void free_value(void *data) {
    bench_value *value = data;
    g_ptr_array_unref(value->blocks);
    g_free(value);
}

static void free_sink(void *data) {
    bench_sink *sink = data;
    g_string_free(sink->bytes, TRUE);
    g_free(sink->path);
    g_free(sink);
}

static void clear_item_in(void *data) {
    bench_item_in *item = data;
    g_free(item->type);
    g_free(item->stage);
    g_free(item->key);
}

static void clear_item_out(void *data) {
    bench_item_out *item = data;
    if (item->free)
        item->free(item->data);
    g_free(item->key);
}

bench *bench_create(const mill_module *module, const char *stage) {
    bench *b = g_new0(bench, 1);
    b->run.host = &bench_services_table;
    pthread_mutex_init(&b->lock, NULL);
    b->thread = pthread_self();
    b->module = module;
    b->given = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    b->option_memory = g_ptr_array_new_with_free_func(g_free);
    b->inputs = g_array_new(FALSE, TRUE, sizeof(bench_item_in));
    g_array_set_clear_func(b->inputs, clear_item_in);
    b->outputs = g_array_new(FALSE, TRUE, sizeof(bench_item_out));
    g_array_set_clear_func(b->outputs, clear_item_out);
    b->item_key = g_strdup("");
    b->scratch = g_ptr_array_new_with_free_func(g_free);
    b->mapped = g_ptr_array_new_with_free_func(bench_unmap);
    b->regexes = g_ptr_array_new_with_free_func(bench_free_regex);
    b->values = g_hash_table_new_full(NULL, NULL, NULL, free_value);
    b->sinks = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_sink);
    b->held = g_hash_table_new(NULL, NULL);
    b->causes = g_string_new(NULL);
    b->log = g_string_new(NULL);
    b->disk_size = SIZE_MAX;
    b->jobs = 1;
    if (module) {
        init_module(module);
        b->stage = find_stage(module, stage);
        b->opts = b->own_opts = g_malloc0(MAX(b->stage->options_size, 1));
        b->state = g_malloc0(MAX(b->stage->state_size, 1));
        bench_set_defaults(b);
    }
    return b;
}

void bench_destroy(bench *b) {
    if (!b)
        return;
    if (b->open)
        bench_end(b);
    g_array_unref(b->outputs);
    g_array_unref(b->inputs);
    g_hash_table_unref(b->given);
    g_ptr_array_unref(b->option_memory);
    g_ptr_array_unref(b->scratch);
    g_ptr_array_unref(b->mapped);
    g_ptr_array_unref(b->regexes);
    g_hash_table_unref(b->values);
    g_hash_table_unref(b->sinks);
    g_hash_table_unref(b->held);
    g_string_free(b->causes, TRUE);
    g_string_free(b->log, TRUE);
    pthread_mutex_destroy(&b->lock);
    g_free(b->item_key);
    g_free(b->own_opts);
    g_free(b->state);
    g_free(b);
}

/* ---------------------------------------------------------------- before the run */

void bench_option(bench *b, const char *setting) {
    const char *equals = strchr(setting, '=');
    if (!equals)
        g_error("bench: a setting is key=value, not \"%s\"", setting);
    g_autofree char *name = g_strstrip(g_strndup(setting, (gsize)(equals - setting)));
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    const mill_option *option = bench_find_option(b->stage, name);
    if (!option)
        g_error("bench: class %s has no option \"%s\"", b->stage->name, name);
    bench_set_option(b, option, value);
    g_hash_table_add(b->given, g_steal_pointer(&name));
}

void bench_options(bench *b, const void *opts) {
    b->opts = opts;
}

static void add_input(bench *b, const char *port, bench_item_in item) {
    item.port = port_index(b->stage, b->stage->inputs, port);
    g_array_append_val(b->inputs, item);
}

void bench_input(bench *b, const char *port, const char *type, const void *data, const char *stage,
                 const char *key) {
    if (!data)
        g_error("bench: an item is a value; see bench_missing");
    add_input(b, port, (bench_item_in){0, g_strdup(type), g_strdup(stage), g_strdup(key), data});
}

void bench_missing(bench *b, const char *port, const char *stage, const char *key) {
    add_input(b, port, (bench_item_in){0, NULL, g_strdup(stage), g_strdup(key), NULL});
}

void bench_clear_inputs(bench *b) {
    g_array_set_size(b->inputs, 0);
}

void bench_item_key(bench *b, const char *key) {
    g_free(b->item_key);
    b->item_key = g_strdup(key);
}

void bench_cancel_at(bench *b, unsigned n) {
    b->cancel_at = n;
}

void bench_disk_size(bench *b, size_t limit) {
    b->disk_size = limit;
}

void bench_jobs(bench *b, unsigned n) {
    b->jobs = n;
}

mill_run *bench_services(bench *b) {
    return &b->run;
}

/* ---------------------------------------------------------------- the run */

void bench_blame(bench *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    mill_fail(&b->run, MILL_E_PLUGIN, "%s", text);
    pthread_mutex_lock(&b->lock);
    b->blamed = true;
    pthread_mutex_unlock(&b->lock);
}

static void enter(bench *b, bench_phase phase) {
    b->phase = phase;
    b->thread = pthread_self();
}

/* Ends a callback: judges its status, and takes back what was lent to it. */
static mill_status leave(bench *b, const char *callback, mill_status status) {
    if (status < MILL_OK && status != MILL_E_CANCELLED && b->causes->len == 0)
        bench_blame(b, "%s of %s failed and gave no cause", callback, b->stage->name);
    if (b->blamed)
        status = MILL_E_PLUGIN;
    GHashTableIter at;
    void *data;
    g_hash_table_iter_init(&at, b->sinks);
    while (g_hash_table_iter_next(&at, NULL, &data)) {
        bench_sink *sink = data;
        sink->spoiled |= sink->used && status < MILL_OK;
        sink->used = false;
    }
    g_ptr_array_set_size(b->scratch, 0);
    g_ptr_array_set_size(b->mapped, 0);
    b->phase = BENCH_OUTSIDE;
    if (b->status == MILL_OK)
        b->status = status;
    return status;
}

static bool has_stream(const bench *b) {
    const mill_port *port;
    for (uint32_t i = 0; (port = bench_port_at(b->stage, b->stage->inputs, i)); i++)
        if (port->flags & MILL_PORT_STREAM)
            return true;
    return false;
}

mill_status bench_begin(bench *b) {
    if (b->opts == b->own_opts)
        bench_need_options(b);
    b->open = true;
    if (b->stage->check) {
        enter(b, BENCH_CALLBACK);
        mill_status status = leave(b, "check", b->stage->check(&b->run, b->opts));
        if (status != MILL_OK) {
            b->open = false;
            return status;
        }
    }
    if (!b->stage->open)
        return MILL_OK;
    enter(b, BENCH_CALLBACK);
    return leave(b, "open", b->stage->open(&b->run, b->opts, b->state));
}

mill_status bench_item(bench *b) {
    b->runs++;
    if (!has_stream(b))
        b->posted_before = b->outputs->len;
    enter(b, BENCH_CALLBACK);
    return leave(b, "run", b->stage->run(&b->run, b->opts, b->state));
}

/* Each output port that must be posted has one item a run, and one in all behind a STREAM. */
static void check_outputs(bench *b) {
    size_t expected = has_stream(b) ? 1 : b->runs;
    const mill_port *port;
    for (uint32_t i = 0; (port = bench_port_at(b->stage, b->stage->outputs, i)); i++) {
        size_t n = bench_output_count(b, port->name);
        if (!(port->flags & (MILL_PORT_OPTIONAL | MILL_PORT_ITEMS)) && n != expected)
            bench_blame(b, "%zu of %zu items were posted on output \"%s\"", n, expected,
                        port->name);
    }
}

mill_status bench_end(bench *b) {
    if (!b->open)
        return b->status;
    b->open = false;
    enter(b, BENCH_FINISH);
    if (b->stage->finish && b->status >= MILL_OK)
        leave(b, "finish", b->stage->finish(&b->run, b->opts, b->state));
    if (b->status >= MILL_OK) {
        check_outputs(b);
        leave(b, "the end", MILL_OK);
    }
    if (b->stage->close) {
        enter(b, BENCH_FINISH);
        b->stage->close(&b->run, b->state);
        leave(b, "close", MILL_OK);
    }
    g_ptr_array_set_size(b->regexes, 0);
    g_hash_table_remove_all(b->held);
    return b->status;
}

/* Items that were given for the STREAM ports. */
static size_t count_stream(const bench *b) {
    size_t n = 0;
    for (guint i = 0; i < b->inputs->len; i++) {
        const bench_item_in *item = &g_array_index(b->inputs, bench_item_in, i);
        const mill_port *port = bench_port_at(b->stage, b->stage->inputs, item->port);
        n += item->data && port->flags & MILL_PORT_STREAM;
    }
    return n;
}

mill_status bench_run(bench *b) {
    mill_status status = bench_begin(b);
    size_t n = has_stream(b) ? count_stream(b) : 1;
    for (b->stream_at = 0; b->stream_at < n && status >= MILL_OK; b->stream_at++)
        status = bench_item(b);
    bench_end(b);
    return b->status;
}

/* ---------------------------------------------------------------- afterwards */

static const bench_item_out *output_at(const bench *b, const char *port, size_t i) {
    uint32_t at = port_index(b->stage, b->stage->outputs, port);
    for (guint k = 0; k < b->outputs->len; k++) {
        const bench_item_out *item = &g_array_index(b->outputs, bench_item_out, k);
        if (item->port == at && i-- == 0)
            return item;
    }
    return NULL;
}

size_t bench_output_count(const bench *b, const char *port) {
    size_t n = 0;
    while (output_at(b, port, n))
        n++;
    return n;
}

const void *bench_output(const bench *b, const char *port, size_t i) {
    const bench_item_out *item = output_at(b, port, i);
    return item ? item->data : NULL;
}

const char *bench_output_key(const bench *b, const char *port, size_t i) {
    const bench_item_out *item = output_at(b, port, i);
    return item ? item->key : NULL;
}

const char *bench_causes(const bench *b) {
    return b->causes->str;
}

const char *bench_log(const bench *b) {
    return b->log->str;
}

const GString *bench_written(const bench *b, const char *path) {
    const bench_sink *sink = g_hash_table_lookup(b->sinks, path);
    return sink && !sink->spoiled ? sink->bytes : NULL;
}

unsigned bench_leaked(const bench *b) {
    unsigned n = 0;
    GHashTableIter at;
    void *data;
    g_hash_table_iter_init(&at, b->values);
    while (g_hash_table_iter_next(&at, NULL, &data)) {
        const bench_value *value = data;
        n += value->in_callback && !value->posted;
    }
    return n;
}
