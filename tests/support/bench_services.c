/* SPDX-License-Identifier: Apache-2.0 */
/* The services of the miniature host: the mill_host table that a stage on the bench calls. */
#include "bench_private.h"

#include <errno.h>
#include <string.h>

struct mill_regex {
    GRegex *regex;
};

typedef struct mapping {
    mill_source source;
    GMappedFile *file;
} mapping;

static bench *bench_of(mill_run *run) {
    return (bench *)run;
}

/* For services without "[any thread]": the thread that runs the callback. */
static bench *own_thread(mill_run *run, const char *service) {
    bench *b = bench_of(run);
    if (!pthread_equal(b->thread, pthread_self()))
        g_error("bench: %s was called from another thread than the callback's", service);
    return b;
}

/* ---------------------------------------------------------------- messages */

static void host_log(mill_run *run, mill_level level, const char *text) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    bench *b = bench_of(run);
    pthread_mutex_lock(&b->lock);
    g_string_append_printf(b->log, "%s: %s\n", names[level], text);
    pthread_mutex_unlock(&b->lock);
}

static void host_fail(mill_run *run, mill_status status, const char *file, uint32_t line,
                      const char *text) {
    g_test_message("cause: %s:%u: %s (%d)", file, line, text, status);
    if (!run)
        return;
    bench *b = bench_of(run);
    pthread_mutex_lock(&b->lock);
    g_string_prepend(b->causes, b->causes->len > 0 ? "; " : "");
    g_string_prepend(b->causes, text);
    pthread_mutex_unlock(&b->lock);
}

static bool host_cancelled(mill_run *run) {
    bench *b = bench_of(run);
    pthread_mutex_lock(&b->lock);
    unsigned calls = ++b->cancel_calls;
    pthread_mutex_unlock(&b->lock);
    return b->cancel_at > 0 && calls >= b->cancel_at;
}

static void host_progress(mill_run *run, uint64_t done, uint64_t total, const char *unit) {
    if (total > 0 && done > total)
        bench_blame(bench_of(run), "progress: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s",
                    done, total, unit);
}

/* ---------------------------------------------------------------- inputs */

static void *host_scratch(mill_run *run, size_t size) {
    bench *b = bench_of(run);
    void *memory = g_malloc0(MAX(size, 1));
    pthread_mutex_lock(&b->lock);
    g_ptr_array_add(b->scratch, memory);
    pthread_mutex_unlock(&b->lock);
    return memory;
}

static bool host_option_given(mill_run *run, const char *option) {
    bench *b = bench_of(run);
    if (!bench_find_option(b->stage, option))
        g_error("bench: option_given asks for \"%s\", which the class does not have", option);
    return g_hash_table_contains(b->given, option);
}

static bool is_stream(const bench *b, uint32_t port) {
    return bench_port_at(b->stage, b->stage->inputs, port)->flags & MILL_PORT_STREAM;
}

/* Item i of the port in this run; for missing ones: i-th missing one. NULL: none. */
static const bench_item_in *find_item(const bench *b, uint32_t port, size_t i, bool missing) {
    if (!b->stage || !bench_port_at(b->stage, b->stage->inputs, port) ||
        (!missing && b->phase == BENCH_FINISH))
        return NULL;
    if (!missing && is_stream(b, port)) {
        if (i > 0)
            return NULL;
        i = b->stream_at;
    }
    for (guint k = 0; k < b->inputs->len; k++) {
        const bench_item_in *item = &g_array_index(b->inputs, bench_item_in, k);
        if (item->port == port && !item->data == missing && i-- == 0)
            return item;
    }
    return NULL;
}

static size_t host_input_count(mill_run *run, uint32_t port) {
    bench *b = own_thread(run, "input_count");
    size_t n = 0;
    while (find_item(b, port, n, false))
        n++;
    return n;
}

static const void *host_input(mill_run *run, uint32_t port, size_t i) {
    const bench_item_in *item = find_item(bench_of(run), port, i, false);
    return item ? item->data : NULL;
}

static const char *host_input_stage(mill_run *run, uint32_t port, size_t i) {
    const bench_item_in *item = find_item(own_thread(run, "input_stage"), port, i, false);
    return item ? item->stage : NULL;
}

static const char *host_input_key(mill_run *run, uint32_t port, size_t i) {
    const bench_item_in *item = find_item(own_thread(run, "input_key"), port, i, false);
    return item ? item->key : NULL;
}

static const char *host_input_type(mill_run *run, uint32_t port, size_t i) {
    const bench_item_in *item = find_item(own_thread(run, "input_type"), port, i, false);
    return item ? item->type : NULL;
}

static size_t host_missing(mill_run *run, uint32_t port, size_t i, const char **ret_stage,
                           const char **ret_key) {
    bench *b = own_thread(run, "missing");
    const bench_item_in *item = find_item(b, port, i, true);
    if (item && ret_stage)
        *ret_stage = item->stage;
    if (item && ret_key)
        *ret_key = item->key;
    size_t n = 0;
    while (find_item(b, port, n, true))
        n++;
    return n;
}

static const char *host_item_key(mill_run *run) {
    return own_thread(run, "item_key")->item_key;
}

/* ---------------------------------------------------------------- values */

static void *host_value_alloc(mill_run *run, void *data, size_t size) {
    bench *b = bench_of(run);
    void *memory = g_malloc0(MAX(size, 1));
    pthread_mutex_lock(&b->lock);
    bench_value *value = data ? g_hash_table_lookup(b->values, data) : NULL;
    if (data && !value)
        g_error("bench: value_alloc was given a value that it did not begin");
    if (!value) {
        value = g_new0(bench_value, 1);
        value->blocks = g_ptr_array_new_with_free_func(g_free);
        value->in_callback = b->phase != BENCH_OUTSIDE;
        g_hash_table_insert(b->values, memory, value);
    }
    g_ptr_array_add(value->blocks, memory);
    pthread_mutex_unlock(&b->lock);
    return memory;
}

static const bench_item_out *find_output(const bench *b, uint32_t port, const char *key) {
    for (size_t i = b->posted_before; i < b->outputs->len; i++) {
        const bench_item_out *item = &g_array_index(b->outputs, bench_item_out, i);
        if (item->port == port && g_strcmp0(item->key, key) == 0)
            return item;
    }
    return NULL;
}

static bool has_posted(const bench *b, uint32_t port) {
    for (size_t i = b->posted_before; i < b->outputs->len; i++)
        if (g_array_index(b->outputs, bench_item_out, i).port == port)
            return true;
    return false;
}

static const mill_type *module_type(const bench *b, const char *id) {
    for (const mill_type *const *t = b->module->types; t && *t; t++)
        if (strcmp((*t)->id, id) == 0)
            return *t;
    return NULL;
}

/* Takes the value, whether the post is right or not. */
static mill_status post(bench *b, uint32_t at, const char *key, void *data, const char *wrong) {
    const mill_port *port = bench_port_at(b->stage, b->stage->outputs, at);
    bench_value *value = g_hash_table_lookup(b->values, data);
    const mill_type *type = port ? module_type(b, port->type) : NULL;
    if (!value && (!type || !type->free))
        g_error("bench: a value was posted that is not from value_alloc, and its type has no free");
    if (value)
        value->posted = true;
    bench_item_out item = {at, g_strdup(key), data, value ? NULL : type->free};
    if (!wrong && !port)
        wrong = "there is no such port";
    if (!wrong && find_output(b, at, key))
        wrong = "it was posted before";
    if (wrong) {
        bench_blame(b, "output port %u: %s", at, wrong);
        item.port = BENCH_NO_PORT;
    }
    g_array_append_val(b->outputs, item);
    return wrong ? MILL_E_PLUGIN : MILL_OK;
}

static bool has_items(const bench *b, uint32_t at) {
    const mill_port *port = bench_port_at(b->stage, b->stage->outputs, at);
    return port && port->flags & MILL_PORT_ITEMS;
}

static mill_status host_output(mill_run *run, uint32_t port, void *data) {
    bench *b = own_thread(run, "output");
    return post(b, port, NULL, data, has_items(b, port) ? "it has ITEMS and needs emit" : NULL);
}

static mill_status host_emit(mill_run *run, uint32_t port, const char *sub_key, void *data) {
    bench *b = own_thread(run, "emit");
    const char *wrong = NULL;
    if (!has_items(b, port))
        wrong = "it has no ITEMS and needs output";
    else if (find_output(b, port, NULL) || (!sub_key && has_posted(b, port)))
        wrong = "an item without a sub-key must be the only one";
    else if (sub_key &&
             !g_regex_match_simple("^[A-Za-z0-9._-]+$", sub_key, G_REGEX_DOLLAR_ENDONLY, 0))
        wrong = "the sub-key is not made of [A-Za-z0-9._-]";
    return post(b, port, sub_key, data, wrong);
}

static mill_status host_hold(mill_run *run, const void *data) {
    bench *b = own_thread(run, "hold");
    for (guint k = 0; k < b->inputs->len; k++)
        if (g_array_index(b->inputs, bench_item_in, k).data == data) {
            g_hash_table_add(b->held, (void *)data);
            return MILL_OK;
        }
    return mill_fail(run, MILL_E_PLUGIN, "hold was given what is no input of this run");
}

static void host_drop(mill_run *run, const void *data) {
    bench *b = own_thread(run, "drop");
    if (!g_hash_table_remove(b->held, data))
        bench_blame(b, "drop was given what is not held");
}

/* ---------------------------------------------------------------- files */

static mill_status sink_write(mill_sink *base, const void *data, size_t n) {
    bench_sink *sink = (bench_sink *)base;
    bench *b = own_thread(&sink->owner->run, "write");
    sink->used = true;
    if (n > b->disk_size - sink->bytes->len)
        return mill_fail(&b->run, MILL_E_IO, "cannot write \"%s\": no space left on device",
                         sink->path);
    g_string_append_len(sink->bytes, data, (gssize)n);
    return MILL_OK;
}

static mill_status host_sink_open(mill_run *run, const char *path, mill_sink **ret_sink) {
    bench *b = own_thread(run, "sink_open");
    bench_sink *sink = g_hash_table_lookup(b->sinks, path);
    if (!sink) {
        sink = g_new0(bench_sink, 1);
        sink->sink = (mill_sink){sizeof(mill_sink), 0, sink_write};
        sink->owner = b;
        sink->path = g_strdup(path);
        sink->bytes = g_string_new(NULL);
        g_hash_table_insert(b->sinks, sink->path, sink);
    }
    sink->used = true;
    *ret_sink = &sink->sink;
    return MILL_OK;
}

static mill_status host_source_map(mill_run *run, const char *path, mill_source **ret_source) {
    bench *b = own_thread(run, "source_map");
    g_autoptr(GError) error = NULL;
    GMappedFile *file = g_mapped_file_new(path, FALSE, &error);
    if (!file) {
        bool absent = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                      g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES);
        return mill_fail(run, absent ? MILL_E_NOINPUT : MILL_E_IO, "%s", error->message);
    }
    mapping *map = g_new0(mapping, 1);
    map->file = file;
    map->source =
        (mill_source){sizeof(mill_source), 0, (const uint8_t *)g_mapped_file_get_contents(file),
                      g_mapped_file_get_length(file)};
    g_ptr_array_add(b->mapped, map);
    *ret_source = &map->source;
    return MILL_OK;
}

void bench_unmap(void *data) {
    mapping *map = data;
    g_mapped_file_unref(map->file);
    g_free(map);
}

/* ---------------------------------------------------------------- parallel work */

typedef struct work {
    mill_run *run;
    mill_parallel_fn fn;
    void *arg;
    size_t n, next, failed_at;
    mill_status status; /* of the lowest failed one */
    pthread_mutex_t lock;
} work;

static void *worker(void *data) {
    work *w = data;
    pthread_mutex_lock(&w->lock);
    while (w->next < w->n && w->status == MILL_OK) {
        size_t i = w->next++;
        pthread_mutex_unlock(&w->lock);
        mill_status status = w->fn(w->run, w->arg, i);
        pthread_mutex_lock(&w->lock);
        if (status != MILL_OK && (w->status == MILL_OK || i < w->failed_at)) {
            w->status = status;
            w->failed_at = i;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static mill_status host_parallel(mill_run *run, size_t n, mill_parallel_fn fn, void *arg) {
    bench *b = own_thread(run, "parallel");
    work w = {.run = run, .fn = fn, .arg = arg, .n = n};
    pthread_mutex_init(&w.lock, NULL);
    size_t helpers = MIN(b->jobs, n) > 1 ? MIN(b->jobs, n) - 1 : 0;
    g_autofree pthread_t *threads = g_new(pthread_t, helpers);
    for (size_t i = 0; i < helpers; i++)
        if (pthread_create(&threads[i], NULL, worker, &w) != 0)
            g_error("bench: no more threads");
    worker(&w);
    for (size_t i = 0; i < helpers; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&w.lock);
    return w.status;
}

/* ---------------------------------------------------------------- regular expressions */

static mill_status host_regex_new(mill_run *run, const char *pattern, uint32_t flags,
                                  mill_regex **ret_regex) {
    bench *b = bench_of(run);
    g_autoptr(GError) error = NULL;
    GRegexCompileFlags how = G_REGEX_RAW;
    if (flags & MILL_REGEX_CASELESS)
        how |= G_REGEX_CASELESS;
    GRegex *regex = g_regex_new(pattern, how, 0, &error);
    if (!regex)
        return mill_fail(run, MILL_E_CONFIG, "%s", error->message);
    mill_regex *made = g_new0(mill_regex, 1);
    made->regex = regex;
    pthread_mutex_lock(&b->lock);
    g_ptr_array_add(b->regexes, made);
    pthread_mutex_unlock(&b->lock);
    *ret_regex = made;
    return MILL_OK;
}

void bench_free_regex(void *data) {
    mill_regex *regex = data;
    g_regex_unref(regex->regex);
    g_free(regex);
}

static bool host_regex_match(const mill_regex *regex, const char *text, size_t length,
                             mill_span *groups, size_t n_groups) {
    g_autoptr(GMatchInfo) info = NULL;
    if (!g_regex_match_full(regex->regex, text, (gssize)length, 0, 0, &info, NULL))
        return false;
    for (size_t i = 0; i < n_groups; i++) {
        gint start, end;
        if (!g_match_info_fetch_pos(info, (gint)i, &start, &end))
            start = end = -1;
        groups[i] = (mill_span){start, end};
    }
    return true;
}

static int host_regex_group(const mill_regex *regex, const char *name) {
    return g_regex_get_string_number(regex->regex, name);
}

/* ---------------------------------------------------------------- INI */

typedef struct ini {
    mill_run *run;
    mill_ini_fn fn;
    void *arg;
    char *section, *key;
    GString *value;
    uint32_t line; /* of the key */
} ini;

static bool ini_flush(ini *r) {
    bool more = !r->key || r->fn(r->arg, r->section, r->key, r->value->str, r->line);
    g_clear_pointer(&r->key, g_free);
    return more;
}

static bool begins_key(const char *text) {
    gsize key = strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-");
    return key > 0 && text[key + strspn(text + key, " \t")] == '=';
}

/* An indented line without "key =" goes on with the value above, as in the host's own reader. */
static bool ini_line(ini *r, const char *raw, uint32_t line) {
    g_autofree char *text = g_strdup(raw);
    char *comment = strstr(text, " ;");
    if (comment)
        *comment = '\0';
    bool indented = g_ascii_isspace(text[0]);
    g_strstrip(text);
    if (text[0] == '\0' || text[0] == ';' || text[0] == '#')
        return true;
    if (text[0] == '[' && g_str_has_suffix(text, "]")) {
        if (!ini_flush(r))
            return false;
        g_free(r->section);
        r->section = g_strndup(text + 1, strlen(text) - 2);
        return r->fn(r->arg, r->section, NULL, NULL, line);
    }
    if (indented && r->key && !begins_key(text)) {
        g_string_append_printf(r->value, "%s%s", r->value->len > 0 ? "\n" : "", text);
        return true;
    }
    if (!ini_flush(r))
        return false;
    char *equals = strchr(text, '=');
    if (!equals) {
        mill_fail(r->run, MILL_E_DATA, "line %u is not key = value: %s", line, text);
        return false;
    }
    r->key = g_strstrip(g_strndup(text, (gsize)(equals - text)));
    g_string_assign(r->value, g_strchug(equals + 1));
    r->line = line;
    return true;
}

static mill_status host_ini_read(mill_run *run, const char *path, mill_ini_fn fn, void *arg) {
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    own_thread(run, "ini_read");
    if (!g_file_get_contents(path, &text, NULL, &error))
        return mill_fail(run, MILL_E_NOINPUT, "%s", error->message);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    ini r = {
        .run = run, .fn = fn, .arg = arg, .section = g_strdup(""), .value = g_string_new(NULL)};
    bool more = true;
    for (uint32_t i = 0; more && lines[i]; i++)
        more = ini_line(&r, lines[i], i + 1);
    more = more && ini_flush(&r);
    g_free(r.key);
    g_free(r.section);
    g_string_free(r.value, TRUE);
    return more ? MILL_OK : MILL_E_DATA;
}

static const void *host_extension(const mill_host *host, const char *id) {
    (void)host, (void)id;
    return NULL;
}

const mill_host bench_services_table = {
    .size = sizeof(mill_host),
    .abi_major = MILL_ABI_MAJOR,
    .abi_minor = MILL_ABI_MINOR,
    .version = "0 (bench)",
    .log = host_log,
    .fail = host_fail,
    .cancelled = host_cancelled,
    .progress = host_progress,
    .scratch = host_scratch,
    .option_given = host_option_given,
    .input_count = host_input_count,
    .input = host_input,
    .input_stage = host_input_stage,
    .input_key = host_input_key,
    .input_type = host_input_type,
    .missing = host_missing,
    .item_key = host_item_key,
    .output = host_output,
    .emit = host_emit,
    .hold = host_hold,
    .drop = host_drop,
    .value_alloc = host_value_alloc,
    .sink_open = host_sink_open,
    .source_map = host_source_map,
    .parallel = host_parallel,
    .regex_new = host_regex_new,
    .regex_match = host_regex_match,
    .regex_group = host_regex_group,
    .ini_read = host_ini_read,
    .extension = host_extension,
};
