/* SPDX-License-Identifier: Apache-2.0 */
/* The table of services that every plugin gets: see tracemill.h for the contract of each. */
#include "engine/state.h"

#include <string.h>

#include "isolate/page.h"
#include "module/load.h"
#include "types/types.h"

/* ---------------------------------------------------------------- messages */

static void service_log(mill_run *public, mill_level level, const char *text) {
    run *r = run_of(public);
    console_log(r != NULL ? r->plan->name : NULL, r != NULL ? r->key : "", level, text);
}

static void service_fail(mill_run *public, mill_status status, const char *file, uint32_t line,
                         const char *text) {
    run *r = run_of(public);
    if (r == NULL) {
        load_init_fail(NULL, status, file, line, text);
        return;
    }
    causes_add(run_causes(r), status, file, line, text);
}

static bool service_cancelled(mill_run *public) {
    run *r = run_of(public);
    return run_asked(r) != ASK_NOTHING;
}

static void service_progress(mill_run *public, uint64_t done, uint64_t total, const char *unit) {
    run *r = run_of(public);
    (void)unit; /* what is shown are shares */
    __atomic_store_n(r->page != NULL ? &r->page->total : &r->total, total, __ATOMIC_RELAXED);
    __atomic_store_n(r->page != NULL ? &r->page->done : &r->done, done, __ATOMIC_RELAXED);
}

static void *service_scratch(mill_run *public, size_t size) {
    run *r = run_of(public);
    void *memory = g_malloc0(MAX(size, 1));
    pthread_mutex_lock(&r->lock);
    g_ptr_array_add(r->scratch, memory);
    r->bytes += size;
    pthread_mutex_unlock(&r->lock);
    return memory;
}

static bool service_option_given(mill_run *public, const char *option) {
    run *r = run_of(public);
    const mill_option *o = stage_class_option(r->plan->cls, option);
    return o != NULL && r->plan->given[o - r->plan->cls->options];
}

/* ---------------------------------------------------------------- inputs */

static const bound *bound_at(run *r, uint32_t port, size_t i) {
    if (r->task == NULL || port >= r->plan->cls->n_inputs || i >= r->task->ports[port]->len)
        return NULL;
    return &g_array_index(r->task->ports[port], bound, i);
}

static size_t service_input_count(mill_run *public, uint32_t port) {
    run *r = run_of(public);
    return r->task == NULL || port >= r->plan->cls->n_inputs ? 0 : r->task->ports[port]->len;
}

static const void *service_input(mill_run *public, uint32_t port, size_t i) {
    const bound *b = bound_at(run_of(public), port, i);
    return b != NULL ? b->value->data : NULL;
}

static const char *service_input_stage(mill_run *public, uint32_t port, size_t i) {
    const bound *b = bound_at(run_of(public), port, i);
    return b != NULL ? b->stage : NULL;
}

static const char *service_input_key(mill_run *public, uint32_t port, size_t i) {
    const bound *b = bound_at(run_of(public), port, i);
    return b != NULL ? b->key : NULL;
}

static const char *service_input_type(mill_run *public, uint32_t port, size_t i) {
    const bound *b = bound_at(run_of(public), port, i);
    return b != NULL ? b->type : NULL;
}

static size_t service_missing(mill_run *public, uint32_t port, size_t i, const char **ret_stage,
                              const char **ret_key) {
    run *r = run_of(public);
    if (r->task == NULL || port >= r->plan->cls->n_inputs)
        return 0;
    const GArray *missing = r->task->missing[port];
    if (i < missing->len && ret_stage != NULL)
        *ret_stage = g_array_index(missing, lost, i).stage;
    if (i < missing->len && ret_key != NULL)
        *ret_key = g_array_index(missing, lost, i).key;
    return missing->len;
}

static const char *service_item_key(mill_run *public) {
    return run_of(public)->key;
}

/* ---------------------------------------------------------------- values and outputs */

static void *service_value_alloc(mill_run *public, void *root, size_t size) {
    run *r = run_of(public);
    if (r->instance == NULL) {
        run_bug(r, "made a value in `check`");
        return service_scratch(public, size);
    }
    value_memory *memory = root == NULL ? value_memory_create(size) : NULL;
    pthread_mutex_lock(&r->lock);
    r->bytes += size;
    if (r->instance->making == NULL)
        r->instance->making = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL,
                                                    (GDestroyNotify)value_memory_destroy);
    if (root == NULL)
        g_hash_table_insert(r->instance->making, value_memory_root(memory), memory);
    else
        memory = g_hash_table_lookup(r->instance->making, root);
    pthread_mutex_unlock(&r->lock);
    if (root == NULL)
        return value_memory_root(memory);
    if (memory == NULL) {
        run_bug(r, "asked for memory of something that is no value it has begun");
        return service_scratch(public, size);
    }
    return value_memory_alloc(memory, size);
}

static mill_status post(run *r, uint32_t port, const char *sub_key, void *data) {
    const mill_port *p = &r->plan->cls->outputs[port];
    const mill_type *type = r->stage->output_types[port];
    value_memory *memory = run_take_value(r, data);
    const char *wrong = value_misfit(type, data, memory);
    if (wrong != NULL) {
        value_discard(type, memory != NULL ? NULL : data, memory);
        return run_bug(r, "posted %s where its output \"%s\" is %s", wrong, p->name, p->type);
    }
    parcel *posted = g_new0(parcel, 1);
    posted->key = sub_key == NULL   ? g_strdup(r->key)
                  : *r->key == '\0' ? g_strdup(sub_key)
                                    : g_strdup_printf("%s:%s", r->key, sub_key);
    posted->value = value_create(type, data, memory);
    posted->type = p->type;
    posted->from = r->stage;
    g_ptr_array_add(r->outputs[port], posted);
    g_hash_table_add(r->posted, data);
    return MILL_OK;
}

static mill_status refuse(run *r, uint32_t port, void *data, const char *why) {
    value_memory *memory = run_take_value(r, data);
    const mill_type *type =
        r->stage != NULL && port < r->plan->cls->n_outputs ? r->stage->output_types[port] : NULL;
    if (!g_hash_table_contains(r->posted, data))
        value_discard(type, memory != NULL ? NULL : data, memory);
    return run_bug(r, "%s", why);
}

static mill_status service_output(mill_run *public, uint32_t port, void *data) {
    run *r = run_of(public);
    if (port >= r->plan->cls->n_outputs)
        return refuse(r, port, data, "posted on an output that it does not have");
    if (!r->may_output)
        return refuse(r, port, data, "posted where it may not");
    if (r->plan->cls->outputs[port].flags & MILL_PORT_ITEMS)
        return refuse(r, port, data, "used output on a port of items, which takes emit");
    if (r->outputs[port]->len > 0)
        return refuse(r, port, data, "posted twice on one output");
    if (g_hash_table_contains(r->posted, data))
        return refuse(r, port, data, "posted one value twice");
    return post(r, port, NULL, data);
}

static bool is_sub_key(const char *text) {
    for (const char *c = text; *c != '\0'; c++)
        if (!g_ascii_isalnum(*c) && strchr("._-", *c) == NULL)
            return false;
    return *text != '\0';
}

/* An item without a sub-key, which must stay alone. */
static bool has_only_item(const run *r, uint32_t port) {
    g_autofree char *none = g_strdup_printf("%u ", port);
    return g_hash_table_contains(r->emitted, none);
}

static mill_status service_emit(mill_run *public, uint32_t port, const char *sub_key, void *data) {
    run *r = run_of(public);
    if (port >= r->plan->cls->n_outputs)
        return refuse(r, port, data, "emitted on an output that it does not have");
    if (!r->may_output || !(r->plan->cls->outputs[port].flags & MILL_PORT_ITEMS))
        return refuse(r, port, data, "emitted where it may not");
    if (sub_key != NULL && !is_sub_key(sub_key))
        return refuse(r, port, data, "emitted an item whose sub-key is not [A-Za-z0-9._-]+");
    if (g_hash_table_contains(r->posted, data))
        return refuse(r, port, data, "emitted one value twice");
    if (r->outputs[port]->len > 0 && (sub_key == NULL || has_only_item(r, port)))
        return refuse(r, port, data, "emitted an item beside one without a sub-key");
    if (!g_hash_table_add(r->emitted, g_strdup_printf("%u %s", port, sub_key ? sub_key : "")))
        return refuse(r, port, data, "emitted two items with one sub-key");
    return post(r, port, sub_key, data);
}

static mill_status service_hold(mill_run *public, const void *data) {
    run *r = run_of(public);
    for (size_t p = 0; r->task != NULL && p < r->plan->cls->n_inputs; p++)
        for (guint i = 0; i < r->task->ports[p]->len; i++) {
            const bound *b = &g_array_index(r->task->ports[p], bound, i);
            if (b->value->data != data)
                continue;
            if (r->instance->held == NULL)
                r->instance->held = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL,
                                                          (GDestroyNotify)value_unref);
            g_hash_table_replace(r->instance->held, (gpointer)data, value_ref(b->value));
            return MILL_OK;
        }
    return run_bug(r, "holds something that is no input of this run");
}

static void service_drop(mill_run *public, const void *data) {
    run *r = run_of(public);
    if (r->instance != NULL && r->instance->held != NULL)
        g_hash_table_remove(r->instance->held, data);
}

/* ---------------------------------------------------------------- the table */

/* None yet; later hosts answer for what plugins ask by id. */
static const void *service_extension(const mill_host *host, const char *id) {
    (void)host;
    (void)id;
    return NULL;
}

const mill_host engine_host = {
    .size = sizeof(mill_host),
    .abi_major = MILL_ABI_MAJOR,
    .abi_minor = MILL_ABI_MINOR,
    .version = TRACEMILL_VERSION,
    .log = service_log,
    .fail = service_fail,
    .cancelled = service_cancelled,
    .progress = service_progress,
    .scratch = service_scratch,
    .option_given = service_option_given,
    .input_count = service_input_count,
    .input = service_input,
    .input_stage = service_input_stage,
    .input_key = service_input_key,
    .input_type = service_input_type,
    .missing = service_missing,
    .item_key = service_item_key,
    .output = service_output,
    .emit = service_emit,
    .hold = service_hold,
    .drop = service_drop,
    .value_alloc = service_value_alloc,
    .sink_open = service_sink_open,
    .source_map = service_source_map,
    .parallel = parallel_run,
    .regex_new = service_regex_new,
    .regex_match = service_regex_match,
    .regex_group = service_regex_group,
    .ini_read = service_ini_read,
    .extension = service_extension,
};
